"""Last part of the MinMip filter: the lanes of a quad, as they come, to one result."""

from amaranth.hdl import Module, Mux, Signal, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.beats import FILTERED_BITS
from minmip.hw.config import UnitConfig
from minmip.hw.word_beats import filter_result

__all__ = ["FilterGather", "filtered_lanes"]


def filtered_lanes(cfg: UnitConfig) -> data.StructLayout:
    """Values of the `given` lanes of a part; lane n of the beat is lane `first_lane` + n."""
    lane = data.StructLayout({"given": unsigned(1), "value": unsigned(FILTERED_BITS)})
    return data.StructLayout(
        {
            "last": unsigned(1),
            "first_lane": unsigned(2),
            "lane": data.ArrayLayout(lane, cfg.lanes),
        }
    )


class FilterGather(wiring.Component):
    """Gather the values of a quad; lanes that never come give 0.

    One beat per clock, latency 1 from the `last` beat of a quad. `i.ready` follows `o.ready`
    combinationally.

    Parameters
    ----------
    cfg : UnitConfig
        `lanes`.

    Members
    -------
    i : In(stream.Signature(filtered_lanes(cfg)))
    o : Out(stream.Signature(filter_result()))
    """

    i: stream.Interface
    o: stream.Interface

    def __init__(self, cfg: UnitConfig):
        self.cfg = cfg
        super().__init__(
            {
                "i": In(stream.Signature(filtered_lanes(cfg))),
                "o": Out(stream.Signature(filter_result())),
            }
        )

    def elaborate(self, platform):
        m = Module()
        beat, lanes = self.i.payload, self.cfg.lanes
        m.d.comb += self.i.ready.eq(~self.o.valid | self.o.ready)
        with m.If(self.o.ready):
            m.d.sync += self.o.valid.eq(0)
        with m.If(self.i.valid & self.i.ready):
            m.d.sync += self.o.valid.eq(beat.last)
        for quad_lane in range(4):
            lane = beat.lane[quad_lane % lanes]
            held = Signal(FILTERED_BITS, name=f"held{quad_lane}")
            value = Signal(FILTERED_BITS, name=f"value{quad_lane}")
            here = lane.given & (beat.first_lane == quad_lane - quad_lane % lanes)
            m.d.comb += value.eq(Mux(here, lane.value, held))
            with m.If(self.i.valid & self.i.ready):
                m.d.sync += held.eq(Mux(beat.last, 0, value))
                m.d.sync += self.o.payload.filtered[quad_lane].eq(value)
        return m
