"""One lane of the MinMip filter, from texels and weights to the filtered value (spec 04)."""

from amaranth.hdl import Const, Module, Mux, Signal, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.beats import FILTERED_BITS
from minmip.hw.config import UnitConfig
from minmip.hw.filter_blend import DepthBlend, PlaneBlend, larger
from minmip.hw.filter_ramp import WEIGHT_BITS
from minmip.hw.lib.arithmetic import add_carry
from minmip.hw.lib.delay import delay
from minmip.hw.word_beats import TEXELS

__all__ = ["FilterLane"]


class FilterLane(wiring.Component):
    """Texels of one depth to the filtered value, rounded once to U5.8, ties to even.

    One depth per clock. A lane of a volume has two: the second one gives the value, of the first
    depth's texels and the larger ones of both.

    Parameters
    ----------
    cfg : UnitConfig
        `axes`: 2 or 3; without volumes nothing is kept between clocks.

    Attributes
    ----------
    latency : int
        14, or 21 with volumes.

    Members
    -------
    texel : In(ArrayLayout(8, 4))
        2 * row + column; row and column 0 have the own texel.
    near : In(ArrayLayout(WEIGHT_BITS, axes))
        Weight of the near neighbour on each axis, 0 to 512.
    first, second : In(1)
        Which depth this is; neither: of no lane.
    o : Out(FILTERED_BITS)
        With the first depth: as if there were no second one.
    """

    texel: data.View
    near: data.View
    first: Signal
    second: Signal
    o: Signal

    round_latency = 2

    def __init__(self, cfg: UnitConfig):
        self.cfg = cfg
        self.latency = PlaneBlend.latency + self.round_latency
        if cfg.volumes:
            self.latency += 1 + DepthBlend.latency
        super().__init__(
            {
                "texel": In(data.ArrayLayout(unsigned(8), TEXELS)),
                "near": In(data.ArrayLayout(unsigned(WEIGHT_BITS), cfg.axes)),
                "first": In(1),
                "second": In(1),
                "o": Out(FILTERED_BITS),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.plane = plane = PlaneBlend()
        blend = plane.o
        if self.cfg.volumes:
            m.submodules.depth = depth = DepthBlend()
            self._larger_texels(m, plane.texel)
            for n in range(2):
                m.d.comb += plane.near[n].eq(delay(m, self.near[n], 1, name=f"near{n}"))
            clocks = 1 + PlaneBlend.latency
            m.d.comb += [
                depth.plane.eq(plane.o),
                depth.near.eq(delay(m, self.near[2], clocks, name="near2")),
                depth.second.eq(delay(m, self.second, clocks, name="second")),
                # What is kept is written over before it is used: reset need not clear this.
                depth.first.eq(delay(m, self.first, clocks, name="first")),
            ]
            blend = depth.o
        else:
            m.d.comb += [plane.texel.eq(self.texel), plane.near.eq(self.near)]
        self._round(m, blend)
        return m

    def _larger_texels(self, m, texel):
        """Drive `texel` one clock later: with the second depth, the larger of both."""
        for n in range(TEXELS):
            kept = Signal(8, reset_less=True, name=f"kept{n}")
            with m.If(self.first):
                m.d.sync += kept.eq(self.texel[n])
            deep = larger(self.texel[n], kept)
            found = Mux(self.second, deep, self.texel[n])
            m.d.comb += texel[n].eq(delay(m, found, 1, name=f"texel{n}"))

    def _round(self, m, blend):
        cut = len(blend) - FILTERED_BITS
        whole_q1 = delay(m, blend[cut:], 1, name="whole")
        half_q1 = delay(m, blend[cut - 1], 1, name="half")
        below_q1 = delay(m, blend[: cut - 1].any(), 1, name="below")
        up = half_q1 & (below_q1 | whole_q1[0])
        # 255/8 is far below 32: no carry out.
        m.d.sync += self.o.eq(add_carry(whole_q1, Const(0, FILTERED_BITS), up))
