"""Rescale unit: from the paired texture to the grid of a footprint, and the byte (spec 03)."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.config import UnitConfig
from minmip.hw.descriptor_words import LINKED_OR
from minmip.hw.lib.credit import CreditBuffer
from minmip.hw.lib.delay import delay
from minmip.hw.shapes import SIZE_BITS, rescale_request, rescale_result

__all__ = ["GridSide", "RescaleDatapath", "RescaleUnit"]

USED = 0x01
"""The byte that MipRegionUsed sets."""
REGION_SHIFT = 5
"""From 1/256 of a level to the 1/8 of a MinMip byte."""


class GridSide(wiring.Component):
    """Halve a side `halvings` times: `max(1, side >> halvings)`.

    One side per clock, latency 3.

    Members
    -------
    side : In(SIZE_BITS)
        1 to 16384.
    halvings : In(5)
    o : Out(SIZE_BITS)
    """

    side: In(SIZE_BITS)
    halvings: In(5)
    o: Out(SIZE_BITS)

    latency = 3

    def elaborate(self, platform):
        m = Module()
        halvings_q1 = delay(m, self.halvings[:2], 1, name="halvings")
        side_q1 = Signal(SIZE_BITS, reset_less=True)
        m.d.sync += side_q1.eq(self.side >> Cat(Const(0, 2), self.halvings[2:]))
        side_q2 = delay(m, (side_q1 >> halvings_q1)[:SIZE_BITS], 1, name="side_2")
        m.d.sync += self.o.eq(Cat(side_q2[0] | ~side_q2.any(), side_q2[1:]))
        return m


class RescaleDatapath(wiring.Component):
    """Grid of the footprint on every axis, and the map byte.

    One request per clock, latency 4. Halving twice, with a floor and at least 1 each time, is
    halving once by the sum.

    Parameters
    ----------
    cfg : UnitConfig
        `axes`: 2 or 3.

    Members
    -------
    i : In(rescale_request(cfg))
        Sizes 1 to 16384.
    i_valid : In(1)
    o : Out(rescale_result(cfg))
    o_valid : Out(1)
    """

    def __init__(self, cfg: UnitConfig):
        self.cfg = cfg
        self.latency = 1 + GridSide.latency
        super().__init__(
            {
                "i": In(rescale_request(cfg)),
                "i_valid": In(1),
                "o": Out(rescale_result(cfg)),
                "o_valid": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        request = self.i
        # All others keep LODs in a map of one level.
        plain, region_used = request.linked == 0, request.linked == LINKED_OR
        level = Mux(plain | region_used, request.mip, 0)
        for axis in range(self.cfg.axes):
            m.submodules[f"side{axis}"] = side = GridSide()
            scale = Mux(plain, 0, request.scale[axis])
            m.d.comb += [
                side.side.eq(delay(m, request.size[axis], 1, name=f"size{axis}")),
                side.halvings.eq(delay(m, scale + level, 1, name=f"halvings{axis}")),
                self.o.grid[axis].eq(side.o),
            ]

        # U5.3: the view's first level has no fraction.
        value_q1 = Signal(8, reset_less=True)
        m.d.sync += value_q1.eq(
            (request.limited_lod >> REGION_SHIFT) + (request.base_level << 8 - REGION_SHIFT)
        )
        region_used_q1 = delay(m, region_used, 1, name="region_used")
        value_q2 = delay(m, Mux(region_used_q1, USED, value_q1), 1, name="value")
        m.d.comb += [
            self.o.value.eq(delay(m, value_q2, self.latency - 2, name="value_3")),
            self.o.tag.eq(delay(m, request.tag, self.latency, name="tag")),
            self.o_valid.eq(delay(m, self.i_valid, self.latency, name="valid", reset_less=False)),
        ]
        return m


class RescaleUnit(CreditBuffer):
    """Stream block of `RescaleDatapath`.

    One request per clock, latency 6. No `ready` runs through it (`CreditBuffer`).

    Parameters
    ----------
    cfg : UnitConfig
        `axes`: 2 or 3.

    Members
    -------
    i : In(stream.Signature(rescale_request(cfg)))
    o : Out(stream.Signature(rescale_result(cfg)))
    """

    def __init__(self, cfg: UnitConfig):
        self.cfg = cfg
        super().__init__(RescaleDatapath(cfg))
