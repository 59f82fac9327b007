"""Mutants of the pattern router."""

from kit.mutants import Mutant

MUTANTS = [
    Mutant(
        "plain_writes",
        "pattern_router",
        "self.i.payload.active & ~plain.replicate(self.cfg.lanes)",
        "self.i.payload.active",
        "plain requests write nothing",
    ),
    Mutant(
        "linked_leaves_too",
        "pattern_router",
        "self.i.valid & plain & self.i.payload.active.any()",
        "self.i.valid & self.i.payload.active.any()",
        "only plain requests have a pattern stream",
    ),
    Mutant(
        "idle_beat_leaves",
        "pattern_router",
        "self.i.valid & plain & self.i.payload.active.any()",
        "self.i.valid & plain",
        "no pattern beat without an active lane",
    ),
    Mutant(
        "pattern_lost",
        "pattern_router",
        "(~o.valid | o.ready) & (~pattern.valid | pattern.ready)",
        "~o.valid | o.ready",
        "a pattern beat waits for its taker",
    ),
    Mutant(
        "beat_lost",
        "pattern_router",
        "(~o.valid | o.ready) & (~pattern.valid | pattern.ready)",
        "~pattern.valid | pattern.ready",
        "a beat waits for its taker",
    ),
    Mutant(
        "pattern_doubled",
        "pattern_router",
        "m.d.sync += pattern.valid.eq(0)",
        "pass",
        "a side that has taken the beat gets it once",
    ),
    Mutant(
        "pattern_without_lanes",
        "pattern_router",
        "pattern.payload[name].eq(beat[name])",
        "pattern.payload[name].eq(o.payload[name])",
        "the pattern keeps its active lanes",
    ),
]
