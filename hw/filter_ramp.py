"""The ramp of the MinMip filter on one axis (spec 04)."""

from amaranth.hdl import Const, Module, Mux, Signal, signed, unsigned
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.lib.delay import delay
from minmip.hw.vendor.parts import Multiplier

__all__ = ["ONE", "ONE_LOG2", "WEIGHT_BITS", "FilterRamp"]

ONE_LOG2 = 9
ONE = 1 << ONE_LOG2
"""Weight 1."""
WEIGHT_BITS = ONE_LOG2 + 1


class FilterRamp(wiring.Component):
    """Weight of the near neighbour: 1 at the border, 0 where the own texel stands alone.

    One position per clock, latency 6. The distance to the nearer border, less the offset, times
    twice the slope, is the weight of the own texel in 1/512, limited to 0 and 1.

    Members
    -------
    fraction : In(8)
        Position inside the texel, in 1/256.
    slope2 : In(8)
        Twice the slope.
    offset : In(7)
        In 1/256.
    near : Out(WEIGHT_BITS)
        0 to 512.
    """

    fraction: In(8)
    slope2: In(8)
    offset: In(7)
    near: Out(WEIGHT_BITS)

    latency = 6

    def elaborate(self, platform):
        m = Module()
        # Clock 1: the distance. 256 - fraction is at most 128.
        right = self.fraction[-1]
        distance_q1 = Signal(8, reset_less=True)
        m.d.sync += distance_q1.eq((self.fraction ^ right.replicate(8)) + right)

        # Clock 2: how far inside the ramp.
        inside_q2 = Signal(signed(9), reset_less=True)
        m.d.sync += inside_q2.eq(distance_q1 - delay(m, self.offset, 1, name="offset"))

        # Clocks 3 to 5.
        m.submodules.product = product = Multiplier(unsigned(8), unsigned(8))
        m.d.comb += [
            product.a.eq(Mux(inside_q2[-1], 0, inside_q2[:8])),
            product.b.eq(delay(m, self.slope2, 2, name="slope2")),
        ]

        # Clock 6: what the own texel leaves.
        beyond = product.p[ONE_LOG2:].any()
        m.d.sync += self.near.eq(Mux(beyond, 0, Const(ONE) - product.p[:ONE_LOG2]))
        return m
