"""A tap on the anisotropic line, range reduced by address mode: step 1 of spec 02 "Coordinates"."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.float_to_fixed import MAGNITUDE_BITS
from minmip.hw.lib.arithmetic import add_carry
from minmip.hw.lib.delay import delay

__all__ = ["CLAMP_LIMIT", "REDUCED_BITS", "TAP_FRACTION", "TapCoordinate", "TapOffset"]

TAP_FRACTION = 32 + 5
"""Fraction bits of a tap: the offset of one of 16 taps is a whole number of them."""
CLAMP_LIMIT = 10
"""Where the clamping modes clamp a coordinate."""
REDUCED_BITS = TAP_FRACTION + 4
"""Width of a reduced coordinate: 0 to 10."""
OFFSET_BITS = MAGNITUDE_BITS + 3
"""Up to 15 times a component of the line."""
SUM_BITS = MAGNITUDE_BITS + 5 + 1
"""Coordinate and offset in 37 fraction bits: 2**52 + 15 * 2**47 at most."""


class TapOffset(wiring.Component):
    """Multiply a component of the line by an odd step of 0 to 15, exactly.

    One product per clock, latency 2. Shifted adders: a step has only four bits.

    Members
    -------
    magnitude : In(MAGNITUDE_BITS)
        Component of the line, 32 fraction bits, 2**47 at most.
    step : In(4)
        Distance from the line's middle, in 1/32 of the line.
    o : Out(OFFSET_BITS)
        37 fraction bits.
    """

    magnitude: In(MAGNITUDE_BITS)
    step: In(4)
    o: Out(OFFSET_BITS)

    latency = 2

    def elaborate(self, platform):
        m = Module()
        pairs = []
        for first in (0, 2):
            pair = Signal(MAGNITUDE_BITS + 1, name=f"pair{first}", reset_less=True)  # 3 * 2**47
            once = Mux(self.step[first], self.magnitude, 0)
            twice = Mux(self.step[first + 1], self.magnitude << 1, 0)
            m.d.sync += pair.eq(once + twice)
            pairs.append(pair)
        m.d.sync += self.o.eq(pairs[0] + (pairs[1] << 2))
        return m


class TapCoordinate(wiring.Component):
    """Add the offset to a coordinate and reduce the range, exactly, as sign and magnitude.

    One tap per clock, latency 4.

    Members
    -------
    coordinate, coordinate_negative : In
        32 fraction bits; below 2**33 for wrap and mirror, 2**47 at most.
    offset, offset_negative : In
        37 fraction bits, 15 * 2**47 at most.
    wrap, mirror : In(1)
        Address mode 0 and 1. Neither: the clamping modes.
    magnitude, negative : Out
        37 fraction bits. Wrap: fraction part in [0, 1). Mirror: remainder of a division by 2, in
        (-2, 2). Else clamped to [-10, 10].
    """

    coordinate: In(MAGNITUDE_BITS)
    coordinate_negative: In(1)
    offset: In(OFFSET_BITS)
    offset_negative: In(1)
    wrap: In(1)
    mirror: In(1)
    magnitude: Out(REDUCED_BITS)
    negative: Out(1)

    latency = 4

    def elaborate(self, platform):
        m = Module()
        # Clock 1: the sum, turned over when the coordinate is negative.
        along_q1 = Signal(signed(SUM_BITS), reset_less=True)
        coordinate = Cat(Const(0, 5), self.coordinate)
        against = self.coordinate_negative ^ self.offset_negative
        m.d.sync += along_q1.eq(
            add_carry(
                Cat(coordinate, Const(0, 1)),
                Cat(self.offset, Const(0, SUM_BITS - OFFSET_BITS)) ^ against.replicate(SUM_BITS),
                against,
            )
        )

        # Clock 2: its magnitude, or for wrap the true sum, whose low bits are the fraction part.
        turned_q1 = delay(m, self.coordinate_negative, 1, name="turned")
        wrap_q1 = delay(m, self.wrap, 1, name="wrap")
        below_q1 = along_q1[-1]
        turn = Mux(wrap_q1, turned_q1, below_q1)
        sum_q2 = Signal(SUM_BITS - 1, reset_less=True)  # a magnitude has no sign
        m.d.sync += sum_q2.eq((along_q1[: SUM_BITS - 1] ^ turn.replicate(SUM_BITS - 1)) + turn)
        negative_q2 = delay(m, (turned_q1 ^ below_q1) & ~wrap_q1, 1, name="negative")

        # Clocks 3 and 4: keep the fraction, one integer bit more, or clamp.
        beyond_q3 = Signal(reset_less=True)
        sum_q3 = delay(m, sum_q2[:REDUCED_BITS], 1, name="sum")
        wrap_q3 = delay(m, wrap_q1, 2, name="wrap_2")
        mirror_q3 = delay(m, self.mirror, 3, name="mirror")
        m.d.sync += [
            beyond_q3.eq(sum_q2[TAP_FRACTION:] >= CLAMP_LIMIT),
            self.magnitude.eq(sum_q3),
        ]
        with m.If(wrap_q3 | mirror_q3):
            m.d.sync += self.magnitude[TAP_FRACTION:].eq(sum_q3[TAP_FRACTION] & mirror_q3)
        with m.Elif(beyond_q3):
            m.d.sync += self.magnitude.eq(CLAMP_LIMIT << TAP_FRACTION)
        m.d.comb += self.negative.eq(delay(m, negative_q2, 2, name="negative_2"))
        return m
