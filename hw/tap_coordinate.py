"""A tap on the anisotropic line, range reduced by address mode: step 1 of spec 02 "Coordinates"."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, signed, unsigned
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.float_to_fixed import MAGNITUDE_BITS
from minmip.hw.lib.delay import delay
from minmip.hw.vendor.parts import Multiplier

__all__ = ["CLAMP_LIMIT", "REDUCED_BITS", "STEP", "TAP_FRACTION", "RangeReduction", "TapSum"]

TAP_FRACTION = 32 + 5
"""Fraction bits of a tap: the offset of one of 16 taps is a whole number of them."""
CLAMP_LIMIT = 10
"""Where the clamping modes clamp a coordinate."""
REDUCED_BITS = TAP_FRACTION + 4
"""Width of a reduced coordinate: 0 to 10."""
STEP = signed(5)
"""Distance of a tap from the line's middle in 1/32 of the line: -15 to 15."""
TAP = signed(MAGNITUDE_BITS + 5 + 1)
"""Coordinate and offset with 37 fraction bits: 2**52 + 15 * 2**47 at most, and a sign."""
LIMB = 18
"""Width of a multiplier."""


class TapSum(wiring.Component):
    """Coordinate plus `step / 32` of the line's component, exactly.

    One tap per clock, latency 5 from `line`, 2 from `coordinate`.

    Members
    -------
    line : In(MAGNITUDE_BITS)
        Component of the line, 32 fraction bits, 2**47 at most.
    step : In(STEP)
        With `line`. Takes the sign of the component, too.
    coordinate : In(MAGNITUDE_BITS)
        32 fraction bits, 2**47 at most; 3 clocks after `line`.
    o : Out(TAP)
    """

    line: In(MAGNITUDE_BITS)
    step: In(STEP)
    coordinate: In(MAGNITUDE_BITS)
    o: Out(TAP)

    coordinate_latency = 2
    latency = 3 + coordinate_latency  # of the multipliers and of the sums

    def elaborate(self, platform):
        m = Module()
        # Limbs of the component, low to high: 18, 18 and 12 bits.
        limbs = []
        for low in range(0, MAGNITUDE_BITS, LIMB):
            part = self.line[low : low + LIMB]
            m.submodules[f"limb{low}"] = limb = Multiplier(unsigned(len(part)), STEP)
            m.d.comb += [limb.a.eq(part), limb.b.eq(self.step)]
            limbs.append(limb.p)
        low, middle, high = limbs

        # Clock 1: the limbs in two numbers, high and coordinate, middle and low.
        upper_q1 = Signal(signed(TAP.width - 2 * LIMB), reset_less=True)
        lower_q1 = Signal(signed(LIMB + STEP.width + 1), reset_less=True)  # carry into the middle
        coordinate = Cat(Const(0, 5), self.coordinate)
        m.d.sync += [
            upper_q1.eq(coordinate[2 * LIMB :] + high),
            lower_q1.eq(middle + low[LIMB:].as_signed()),
        ]
        upper_low_q1 = delay(m, coordinate[: 2 * LIMB], 1, name="upper_low")
        lower_low_q1 = delay(m, low[:LIMB], 1, name="lower_low")

        # Clock 2: all of it.
        m.d.sync += self.o.eq(
            Cat(upper_low_q1, upper_q1).as_signed() + Cat(lower_low_q1, lower_q1).as_signed()
        )
        return m


class RangeReduction(wiring.Component):
    """Reduce a tap's range by address mode, to sign and magnitude.

    One tap per clock, latency 4.

    Members
    -------
    i : In(TAP)
        Tap, with its sign turned when `negative`.
    negative : In(1)
    wrap, mirror : In(1)
        Address mode 0 and 1. Neither: the clamping modes.
    o, o_negative : Out
        37 fraction bits. Wrap: fraction part in [0, 1). Mirror: remainder of a division by 2, in
        (-2, 2). Else clamped to [-10, 10].
    """

    i: In(TAP)
    negative: In(1)
    wrap: In(1)
    mirror: In(1)
    o: Out(REDUCED_BITS)
    o_negative: Out(1)

    latency = 4

    def elaborate(self, platform):
        m = Module()
        width = TAP.width - 1  # a magnitude has no sign
        wrap_q3 = delay(m, self.wrap, 3, name="wrap")
        mirror_q3 = delay(m, self.mirror, 3, name="mirror")

        # Clocks 1 and 2: the magnitude, or for wrap the tap itself, whose low bits are the fraction
        # part. Inverting has a clock of its own, for the adder is long.
        below = self.i[-1]
        turn = Mux(self.wrap, self.negative, below)
        tap_q1 = Signal(width, reset_less=True)
        tap_q2 = Signal(width, reset_less=True)
        turn_q1 = delay(m, turn, 1, name="turn")
        m.d.sync += [
            tap_q1.eq(self.i[:width] ^ turn.replicate(width)),
            tap_q2.eq(tap_q1 + turn_q1),
        ]

        # Clocks 3 and 4: keep the fraction, one integer bit more, or clamp.
        beyond_q3 = delay(m, tap_q2[TAP_FRACTION:] >= CLAMP_LIMIT, 1, name="beyond")
        tap_q3 = delay(m, tap_q2[:REDUCED_BITS], 1, name="tap")
        m.d.sync += self.o.eq(tap_q3)
        with m.If(wrap_q3 | mirror_q3):
            m.d.sync += self.o[TAP_FRACTION:].eq(tap_q3[TAP_FRACTION] & mirror_q3)
        with m.Elif(beyond_q3):
            m.d.sync += self.o.eq(CLAMP_LIMIT << TAP_FRACTION)
        negative = (self.negative ^ below) & ~self.wrap
        m.d.comb += self.o_negative.eq(delay(m, negative, self.latency, name="negative"))
        return m
