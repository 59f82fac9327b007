"""Pattern router: footprints of plain requests leave on a stream of their own (spec 02)."""

from amaranth.hdl import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.beats import footprint_beat, pattern_beat
from minmip.hw.config import UnitConfig

__all__ = ["PatternRouter"]

PLACE = ("first_lane", "tap", "slot", "active", "tag")
SHOWN = ("slice", "mip", "lod")


class PatternRouter(wiring.Component):
    """Send the beats of plain requests with an active lane to `o_pattern`, and every beat to `o`.

    Spec 02 "Output". Plain beats have no active lane at `o`: they only carry their quad on.

    One beat per clock while both sides take, latency 1. One register feeds both outputs: the next
    beat is taken when each that was offered this one has taken it. `i.ready` follows both `ready`
    combinationally.

    Parameters
    ----------
    cfg : UnitConfig
        `lanes` and `axes`.

    Members
    -------
    i : In(stream.Signature(footprint_beat(cfg)))
    o : Out(stream.Signature(footprint_beat(cfg)))
    o_pattern : Out(stream.Signature(pattern_beat(cfg)))
    """

    i: stream.Interface
    o: stream.Interface
    o_pattern: stream.Interface

    def __init__(self, cfg: UnitConfig):
        self.cfg = cfg
        self.latency = 1
        super().__init__(
            {
                "i": In(stream.Signature(footprint_beat(cfg))),
                "o": Out(stream.Signature(footprint_beat(cfg))),
                "o_pattern": Out(stream.Signature(pattern_beat(cfg))),
            }
        )

    def elaborate(self, platform):
        m = Module()
        o, pattern = self.o, self.o_pattern
        beat = Signal(footprint_beat(self.cfg), reset_less=True)
        writes = Signal(self.cfg.lanes, reset_less=True)  # active lanes of a linked request
        plain = self.i.payload.linked == 0

        # The valid bits fall one by one; both are 0 before the next beat.
        with m.If(o.ready):
            m.d.sync += o.valid.eq(0)
        with m.If(pattern.ready):
            m.d.sync += pattern.valid.eq(0)
        with m.If((~o.valid | o.ready) & (~pattern.valid | pattern.ready)):
            m.d.comb += self.i.ready.eq(1)
            m.d.sync += [
                beat.eq(self.i.payload),
                writes.eq(self.i.payload.active & ~plain.replicate(self.cfg.lanes)),
                o.valid.eq(self.i.valid),
                pattern.valid.eq(self.i.valid & plain & self.i.payload.active.any()),
            ]

        m.d.comb += [o.payload.eq(beat), o.payload.active.eq(writes)]
        m.d.comb += [pattern.payload[name].eq(beat[name]) for name in PLACE]
        for lane, shown in zip(beat.lane, pattern.payload.lane, strict=True):
            m.d.comb += [shown[name].eq(lane[name]) for name in SHOWN]
            m.d.comb += shown.axis.eq(lane.axis)
        return m
