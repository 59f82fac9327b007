"""float32 subtraction, rounded to nearest even."""

from amaranth.hdl import C, Cat, Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.lib.delay import delay
from minmip.hw.normalise import Normaliser
from minmip.hw.shapes import FLOAT

__all__ = ["FloatSub"]

SIGNIFICAND = 24
SUM_BITS = 28
"""Significand, guard, round and sticky bit, and one bit of growth."""


class FloatSub(wiring.Component):
    """`a - b` of float32 numbers (spec 02 "Floats").

    Round to nearest, ties to even; denormal inputs and results are zero, with the sign of the
    exact result (+0 if that is zero); every NaN result is 0x7FC00000.

    Free running, one difference per clock, latency `FloatSub.latency`, no handshake.

    Members
    -------
    a, b : In(FLOAT)
    o : Out(FLOAT)
    """

    a: In(FLOAT)
    b: In(FLOAT)
    o: Out(FLOAT)

    latency = 13

    def elaborate(self, platform):
        m = Module()
        self._compare(m)
        self._swap(m)
        self._align(m)
        self._add(m)
        self._round(m)
        self._pack(m)
        return m

    def _compare(self, m):
        """Stage 1: which magnitude is larger, both differences of the exponents, classes."""
        self.a_q1 = Signal(32, reset_less=True)
        self.b_q1 = Signal(32, reset_less=True)
        self.less_q1 = Signal(reset_less=True)
        self.a_over_b_q1 = Signal(8, reset_less=True)
        self.b_over_a_q1 = Signal(8, reset_less=True)
        self.zero_q1 = Signal(2, reset_less=True)
        self.infinite_q1 = Signal(2, reset_less=True)
        a_exponent, b_exponent = self.a[23:31], self.b[23:31]
        m.d.sync += [
            self.a_q1.eq(self.a),
            self.b_q1.eq(self.b),
            self.less_q1.eq(self.a[:31] < self.b[:31]),
            # Only the difference that is not negative is used: 8 bits hold it.
            self.a_over_b_q1.eq(a_exponent - b_exponent),
            self.b_over_a_q1.eq(b_exponent - a_exponent),
            self.zero_q1.eq(Cat(~a_exponent.any(), ~b_exponent.any())),
            self.infinite_q1.eq(Cat(a_exponent.all(), b_exponent.all())),
        ]

    def _swap(self, m):
        """Stage 2: the larger magnitude, the smaller significand, the sign, the special cases."""
        less = self.less_q1
        self.big_q2 = Signal(31, reset_less=True)
        self.small_q2 = Signal(SIGNIFICAND, reset_less=True)
        self.distance_q2 = Signal(8, reset_less=True)
        self.sign_q2 = Signal(reset_less=True)
        self.subtract_q2 = Signal(reset_less=True)
        self.infinite_q2 = Signal(reset_less=True)
        self.small_infinite_q2 = Signal(reset_less=True)
        small_zero = Signal()
        m.d.comb += small_zero.eq(Mux(less, self.zero_q1[0], self.zero_q1[1]))
        m.d.sync += [
            self.big_q2.eq(Mux(less, self.b_q1[:31], self.a_q1[:31])),
            self.small_q2.eq(Cat(Mux(less, self.a_q1[:23], self.b_q1[:23]), 1)),
            self.distance_q2.eq(Mux(less, self.b_over_a_q1, self.a_over_b_q1)),
            self.sign_q2.eq(Mux(less, ~self.b_q1[31], self.a_q1[31])),
            self.subtract_q2.eq(self.a_q1[31] == self.b_q1[31]),
            self.infinite_q2.eq(self.infinite_q1.any()),
            self.small_infinite_q2.eq(self.infinite_q1.all()),
        ]
        with m.If(small_zero):
            m.d.sync += self.small_q2.eq(0)

    def _align(self, m):
        """Stages 3 and 4: the smaller significand to the exponent of the larger.

        Two bits below the significand are kept, what leaves them is gathered in `sticky`.
        """
        kept = SIGNIFICAND + 2
        eights = self.distance_q2[3:5]
        far = self.distance_q2[5:].any()
        coarse_q3 = Signal(kept, reset_less=True)
        lost_q3 = Signal(4, reset_less=True)
        fine_q3 = Signal(3, reset_less=True)
        subtract_q3 = Signal(reset_less=True)
        small = self.small_q2
        m.d.sync += [
            coarse_q3.eq(Mux(far, 0, Cat(C(0, 2), small) >> (eights << 3))),
            lost_q3.eq(
                Cat(
                    small[:6].any() & (far | eights.any()),
                    small[6:14].any() & (far | eights[1]),
                    small[14:22].any() & (far | eights.all()),
                    small[22:].any() & far,
                )
            ),
            fine_q3.eq(self.distance_q2[:3]),
            subtract_q3.eq(self.subtract_q2),
        ]

        fine = Signal(kept)
        lost = Signal()
        m.d.comb += [
            fine.eq(coarse_q3 >> fine_q3),
            lost.eq(Cat(coarse_q3[n] & (fine_q3 > n) for n in range(7)).any()),
        ]
        # Inverted here already, for the adder of the next stage to be nothing but carry chain.
        self.addend_q4 = Signal(SUM_BITS, reset_less=True)
        self.subtract_q4 = Signal(reset_less=True)
        m.d.sync += [
            self.addend_q4.eq(Cat(lost_q3.any() | lost, fine, 0) ^ subtract_q3.replicate(SUM_BITS)),
            self.subtract_q4.eq(subtract_q3),
        ]
        self.big_q4 = delay(m, self.big_q2, 2, name="big_q2")

    def _add(self, m):
        """Stages 5 to 10: sum or difference, leading one to the top."""
        addend = Cat(self.subtract_q4, self.addend_q4)
        augend = Cat(self.subtract_q4, C(0, 3), self.big_q4[:23], C(1, 2))
        total = Signal(SUM_BITS + 1)  # bit 0 only makes the carry; the larger is first: no borrow
        total_q5 = Signal(SUM_BITS, reset_less=True)
        m.d.comb += total.eq(augend + addend)
        m.d.sync += total_q5.eq(total[1:])
        m.submodules.normaliser = normaliser = Normaliser(SUM_BITS, SUM_BITS)
        m.d.comb += normaliser.i.eq(total_q5)
        self.sum_q10 = normaliser.o
        self.count_q10 = normaliser.count

        # Beside it the exponent of a leading one on top, and the special cases.
        exponent_q5 = Signal(9, reset_less=True)
        nan_q5 = Signal(reset_less=True)
        infinite_q5 = Signal(reset_less=True)
        infinite = delay(m, self.infinite_q2, 2, name="infinite_q2")
        small_infinite = delay(m, self.small_infinite_q2, 2, name="small_infinite_q2")
        m.d.sync += [
            exponent_q5.eq(self.big_q4[23:] + 1),
            infinite_q5.eq(infinite),
            # A NaN is the larger magnitude; the other way is infinity minus infinity.
            nan_q5.eq(infinite & (self.big_q4[:23].any() | (small_infinite & self.subtract_q4))),
        ]
        self.exponent_q10 = delay(m, exponent_q5, 5, name="exponent_q5")
        self.nan_q11 = delay(m, nan_q5, 6, name="nan_q5")
        self.infinite_q11 = delay(m, infinite_q5, 6, name="infinite_q5")
        self.sign_q11 = delay(m, self.sign_q2, 9, name="sign_q2")

    def _round(self, m):
        """Stages 11 and 12: to 24 bits, ties to even."""
        low = SUM_BITS - SIGNIFICAND
        up = self.sum_q10[low - 1] & (self.sum_q10[: low - 1].any() | self.sum_q10[low])
        rounded_q11 = Signal(SIGNIFICAND + 1, reset_less=True)
        exponent_q11 = Signal(signed(10), reset_less=True)
        zero_q11 = Signal(reset_less=True)
        m.d.sync += [
            rounded_q11.eq(self.sum_q10[low:] + up),
            exponent_q11.eq(self.exponent_q10 - self.count_q10),
            # Of two zeros or denormals the larger has an exponent of 0, here 1.
            zero_q11.eq(~self.sum_q10[-1] | (self.exponent_q10 == 1)),
        ]

        carry = rounded_q11[-1]
        over = Signal()
        under = Signal()
        m.d.comb += [
            # 255 and 256, the largest here. A carry from 254 to 255 makes an infinity by itself.
            over.eq(
                self.infinite_q11 | (~exponent_q11[9] & (exponent_q11[8] | exponent_q11[:8].all()))
            ),
            # Results this small are exact: there is no carry to bring them back.
            under.eq(exponent_q11[9] | ~exponent_q11.any() | zero_q11),
        ]
        self.fraction_q12 = Signal(23, reset_less=True)
        self.exponent_q12 = Signal(8, reset_less=True)
        self.sign_q12 = Signal(reset_less=True)
        self.nan_q12 = Signal(reset_less=True)
        self.all_ones_q12 = Signal(reset_less=True)
        self.normal_q12 = Signal(reset_less=True)
        special = self.nan_q11 | over
        m.d.sync += [
            # A carry out leaves a fraction of zeros.
            self.fraction_q12.eq(rounded_q11[:23]),
            self.exponent_q12.eq(exponent_q11 + carry),
            self.sign_q12.eq(self.sign_q11 & ~self.nan_q11 & (over | ~zero_q11)),
            self.nan_q12.eq(self.nan_q11),
            self.all_ones_q12.eq(special),
            self.normal_q12.eq(~special & ~under),
        ]

    def _pack(self, m):
        """Stage 13: overflow, underflow and special cases replace what was computed."""
        fraction_q13 = Signal(23, reset_less=True)
        exponent_q13 = Signal(8, reset_less=True)
        sign_q13 = Signal(reset_less=True)
        m.d.sync += [
            fraction_q13.eq(Mux(self.normal_q12, self.fraction_q12, Cat(C(0, 22), self.nan_q12))),
            exponent_q13.eq(
                Mux(self.normal_q12, self.exponent_q12, self.all_ones_q12.replicate(8))
            ),
            sign_q13.eq(self.sign_q12),
        ]
        m.d.comb += self.o.eq(Cat(fraction_q13, exponent_q13, sign_q13))
