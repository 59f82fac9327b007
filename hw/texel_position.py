"""Reduced coordinate times grid size, rounded once: step 2 of spec 02 "Coordinates"."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, signed, unsigned
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.lib.arithmetic import add_carry
from minmip.hw.lib.delay import delay
from minmip.hw.shapes import SIZE_BITS
from minmip.hw.tap_coordinate import REDUCED_BITS, TAP_FRACTION
from minmip.hw.vendor.parts import Multiplier

__all__ = ["POSITION_BITS", "TexelPosition"]

POSITION_BITS = 24
"""Width of a texel position: sign, 15 integer and 8 fraction bits."""
LIMB = 18
"""Width of a multiplier."""
CUT = TAP_FRACTION - 8
"""Fraction bits that rounding takes off."""
WHOLE_BITS = 26
"""Width of 10 * 2**14 texels with 8 fraction bits."""
HALF_TEXEL = 128


class TexelPosition(wiring.Component):
    """Texel position with 8 fraction bits, saturated to 24 bits.

    One position per clock, latency 8. Magnitudes are rounded and the sign is put on later: rounding
    to nearest even is symmetric, and half a texel is a whole even number of 1/256, so it may
    be taken off after rounding.

    Members
    -------
    magnitude, negative : In
        Reduced coordinate, 37 fraction bits, 10 at most.
    size : In(SIZE_BITS)
        Side of the grid, 1 to 16384.
    linear : In(1)
        Take half a texel off.
    truncate : In(1)
        TRUNC_COORD: floor instead of nearest even.
    position : Out(signed(POSITION_BITS))
    """

    magnitude: In(REDUCED_BITS)
    negative: In(1)
    size: In(SIZE_BITS)
    linear: In(1)
    truncate: In(1)
    position: Out(signed(POSITION_BITS))

    product_latency = 3
    latency = product_latency + 5

    def elaborate(self, platform):
        m = Module()
        # Limbs of the magnitude, low to high: 18, 18 and 5 bits.
        limbs = []
        for low in range(0, REDUCED_BITS, LIMB):
            part = self.magnitude[low : low + LIMB]
            m.submodules[f"limb{low}"] = limb = Multiplier(unsigned(len(part)), unsigned(SIZE_BITS))
            m.d.comb += [limb.a.eq(part), limb.b.eq(self.size)]
            limbs.append(limb.p)
        low, middle, high = limbs

        # Clocks 1 and 2 after the multipliers: the sum of the limbs. 10 * 2**37 * 2**14 is below
        # 2**55; the lowest 18 bits of a limb take no part in the sum.
        middle_q1 = Signal(LIMB + SIZE_BITS, reset_less=True)  # (2**36 - 1) * 2**14 >> 18
        high_q2 = Signal(WHOLE_BITS + CUT - 2 * LIMB, reset_less=True)
        high_q1 = delay(m, high, 1, name="high")
        low_q1 = delay(m, low[:LIMB], 1, name="low")
        m.d.sync += [
            middle_q1.eq(middle + low[LIMB:]),
            high_q2.eq(high_q1 + middle_q1[LIMB:]),
        ]
        known_q1 = Cat(low_q1, middle_q1[:LIMB])  # the lowest 36 bits of the product
        known_q2 = delay(m, known_q1[CUT - 1 :], 1, name="known")
        below_q2 = delay(
            m,
            Cat(known_q1[: CUT // 2].any(), known_q1[CUT // 2 : CUT - 1].any()),
            1,
            name="below",
        )

        # Clock 3: does the magnitude go up?
        negative_q2 = delay(m, self.negative, self.product_latency + 2, name="negative")
        truncate_q2 = delay(m, self.truncate, self.product_latency + 2, name="truncate")
        linear_q3 = delay(m, self.linear, self.product_latency + 3, name="linear")
        half, odd, below = known_q2[0], known_q2[1], below_q2.any()
        up = Mux(truncate_q2, negative_q2 & (half | below), half & (odd | below))
        # Turning over takes the carry-in for itself: -(x + 1) is ~x.
        carry_q3 = delay(m, up ^ negative_q2, 1, name="carry")
        negative_q3 = delay(m, negative_q2, 1, name="negative_2")
        whole_q3 = delay(m, Cat(known_q2[1:], high_q2), 1, name="whole")

        # Clock 4: round, sign and half a texel, all in one adder.
        position_q4 = Signal(signed(WHOLE_BITS + 1), reset_less=True)
        m.d.sync += position_q4.eq(
            add_carry(
                Cat(whole_q3, Const(0, 1)) ^ negative_q3.replicate(WHOLE_BITS + 1),
                Mux(linear_q3, Const(-HALF_TEXEL, WHOLE_BITS + 1), 0),
                carry_q3,
            )
        )

        # Clock 5: saturate.
        sign, over = position_q4[-1], position_q4[POSITION_BITS - 1 : -1]
        saturated = Mux(
            (over ^ sign.replicate(len(over))).any(),
            (~sign).replicate(POSITION_BITS - 1),
            position_q4[: POSITION_BITS - 1],
        )
        m.d.sync += self.position.eq(Cat(saturated, sign))
        return m
