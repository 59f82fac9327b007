"""Proof of the pattern router: each side gets what is meant for it, once."""

from __future__ import annotations

from amaranth.hdl import Assert, Module, Signal
from kit.formal import Proof, StreamContract

from minmip.hw.beats import footprint_beat
from minmip.hw.config import PRESETS
from minmip.hw.pattern_router import PatternRouter

__all__ = ["proofs"]

CONFIG = PRESETS["small"]


class RoutedOnce(StreamContract):
    """A beat is offered to each side from the clock after it came until the side takes it."""

    def __init__(self):
        super().__init__(PatternRouter(CONFIG))

    def properties(self, m: Module) -> None:
        super().properties(m)
        i, o, pattern = self.block.i, self.block.o, self.block.o_pattern
        beat = Signal(footprint_beat(CONFIG))  # the latest
        owed, owed_pattern = Signal(), Signal()
        plain = beat.linked == 0
        with m.If(i.valid & i.ready):
            came = i.payload
            m.d.sync += [
                beat.eq(came),
                owed.eq(1),
                owed_pattern.eq((came.linked == 0) & came.active.any()),
            ]
            m.d.comb += [Assert(~owed | o.ready), Assert(~owed_pattern | pattern.ready)]
        with m.Else():
            m.d.sync += [owed.eq(owed & ~o.ready), owed_pattern.eq(owed_pattern & ~pattern.ready)]
        m.d.comb += [
            Assert(o.valid == owed),
            Assert(pattern.valid == owed_pattern),
            Assert(i.ready | ~((o.ready | ~owed) & (pattern.ready | ~owed_pattern))),
        ]
        with m.If(owed):
            m.d.comb += Assert((o.payload.active == 0) | ~plain)
            m.d.comb += Assert((o.payload.active == beat.active) | plain)
            for name in ("context", "code", "flush", "tag", "first_lane", "tap", "slot", "last"):
                m.d.comb += Assert(o.payload[name] == beat[name])
            for name in ("linked", "packing"):
                m.d.comb += Assert(o.payload[name] == beat[name])
            m.d.comb += Assert(o.payload.ramp.as_value() == beat.ramp.as_value())
            m.d.comb += Assert(o.payload.lane.as_value() == beat.lane.as_value())
        with m.If(owed_pattern):
            for name in ("first_lane", "tap", "slot", "active", "tag"):
                m.d.comb += Assert(pattern.payload[name] == beat[name])
            for shown, lane in zip(pattern.payload.lane, beat.lane, strict=True):
                m.d.comb += Assert(shown.axis.as_value() == lane.axis.as_value())
                for name in ("slice", "mip", "lod"):
                    m.d.comb += Assert(shown[name] == lane[name])


def proofs() -> list[Proof]:
    return [
        Proof(
            block="pattern_router",
            name="once",
            says="every beat goes on once, and once to the pattern stream if it has to",
            make=RoutedOnce,
        )
    ]
