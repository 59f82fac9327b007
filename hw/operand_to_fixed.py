"""float32 operand to a fixed-point number of at most 16 bits (spec 02 "LOD", "Coordinates")."""

from amaranth.hdl import Cat, Const, Module, Signal, signed, unsigned
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.lib.delay import delay
from minmip.hw.shapes import FLOAT

__all__ = ["OperandToFixed"]


class OperandToFixed(wiring.Component):
    """float32 to fixed point, rounded to nearest even, saturating; NaN and denormals are 0.

    Free running, one value per clock, latency 5, no handshake.

    The significand stands on top of a window, one bit longer than the magnitude, and moves right by
    the distance of the value to the largest one: the lowest bit then says how to round.

    Parameters
    ----------
    magnitude_bits : int
        14 or 15: the magnitude stays below `2**magnitude_bits`, but for the least negative number.
    fraction_bits : int
        Bits below the point, 0 to `magnitude_bits`.
    negative : bool
        True: signed, from `-2**magnitude_bits`. False: negative values are 0.

    Members
    -------
    i : In(FLOAT)
    o : Out(signed(magnitude_bits + 1) or unsigned(magnitude_bits))
    nan : Out(1)
        The operand was a NaN.
    """

    i: Signal
    o: Signal
    nan: Signal

    latency = 5

    def __init__(self, magnitude_bits: int, fraction_bits: int, *, negative: bool):
        if not 14 <= magnitude_bits <= 15:
            raise ValueError(f"magnitude_bits must be 14 or 15, not {magnitude_bits}")
        if not 0 <= fraction_bits <= magnitude_bits:
            raise ValueError(f"fraction_bits must be in 0..{magnitude_bits}, not {fraction_bits}")
        self.magnitude_bits = magnitude_bits
        self.fraction_bits = fraction_bits
        self.negative = negative
        result = signed(magnitude_bits + 1) if negative else unsigned(magnitude_bits)
        super().__init__({"i": In(FLOAT), "o": Out(result), "nan": Out(1)})

    def elaborate(self, platform):
        m = Module()
        bits = self.magnitude_bits
        width = bits + 1  # the magnitude, and half of its last place
        fraction, exponent = self.i[:23], self.i[23:31]

        # Clock 1: how far the leading one lies below the top of the window.
        below = 24 - width
        distance_q1 = Signal(signed(9), reset_less=True)
        window_q1 = delay(m, Cat(fraction[below:], Const(1, 1)), 1, name="window")
        special_q1 = delay(m, exponent.all(), 1, name="special")
        cut = [fraction[n : min(n + 4, below)] for n in range(0, below, 4)]
        parts = [*cut, *(fraction[n : n + 4] for n in range(below, 23, 4))]
        some_q1 = Signal(len(parts), reset_less=True)  # ones of the fraction
        m.d.sync += [
            distance_q1.eq(127 + bits - self.fraction_bits - 1 - exponent),
            some_q1.eq(Cat(part.any() for part in parts)),
        ]
        sign_q1 = delay(m, self.i[31], 1, name="sign")

        # Clock 2: the shift by 0 to 3.
        ones = distance_q1[:2]
        lost = Cat(window_q1[0] & ones.any(), window_q1[1] & ones[1], window_q1[2] & ones.all())
        window_q2 = Signal(width, reset_less=True)
        sticky_q2 = Signal(reset_less=True)
        zero_q2 = Signal(reset_less=True)
        large_q2 = delay(m, distance_q1[-1], 1, name="large")
        nan_q2 = delay(m, special_q1 & some_q1.any(), 1, name="nan")
        far = distance_q1[4:8].any() & ~distance_q1[-1]  # under a quarter of the last place
        m.d.sync += [
            window_q2.eq(window_q1 >> ones),
            sticky_q2.eq(some_q1[: len(cut)].any() | lost.any()),
            zero_q2.eq(far if self.negative else far | sign_q1),
        ]
        fours_q2 = delay(m, distance_q1[2:4], 1, name="fours")

        # Clock 3: by 0, 4, 8 or 12.
        some = [window_q2[n : n + 4].any() for n in range(0, 12, 4)]
        window_q3 = Signal(width, reset_less=True)
        sticky_q3 = Signal(2, reset_less=True)
        m.d.sync += [
            window_q3.eq(window_q2 >> Cat(Const(0, 2), fours_q2)),
            sticky_q3.eq(
                Cat(
                    sticky_q2 | (some[0] & fours_q2.any()),
                    (some[1] & fours_q2[1]) | (some[2] & fours_q2.all()),
                )
            ),
        ]
        zero_q3 = delay(m, zero_q2 | nan_q2, 1, name="zero")
        large_q3 = delay(m, large_q2, 1, name="large_late")

        # Clock 4: whether to round up. A large value is all ones and rounds up, like the largest
        # one below it. The negative of k + up is ~k + ~up, `up` being one bit.
        negate_q3 = delay(m, sign_q1, 2, name="negate") if self.negative else Const(0, 1)
        up = window_q3[0] & (sticky_q3.any() | window_q3[1])
        kept_q4 = Signal(width, reset_less=True)
        up_q4 = Signal(reset_less=True)
        kept = (window_q3[1:] | large_q3.replicate(bits)) & ~zero_q3.replicate(bits)
        m.d.sync += [
            kept_q4.eq(Cat(kept, Const(0, 1)) ^ negate_q3.replicate(width)),
            up_q4.eq(((up | large_q3) & ~zero_q3) ^ negate_q3),
        ]

        # Clock 5: the sum. A positive one that reaches the top bit saturates.
        sum_q5 = Signal(width, reset_less=True)
        m.d.sync += sum_q5.eq(kept_q4 + up_q4)
        if self.negative:
            negative_q5 = delay(m, negate_q3, 2, name="negative")
            top = sum_q5[-1]
            low = sum_q5[:-1] | (top & ~negative_q5).replicate(bits)
            m.d.comb += self.o.eq(Cat(low, top & negative_q5))
        else:
            m.d.comb += self.o.eq(sum_q5[:-1] | sum_q5[-1].replicate(bits))
        m.d.comb += self.nan.eq(delay(m, nan_q2, self.latency - 2, name="nan_late"))
        return m
