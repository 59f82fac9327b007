"""Proofs of the stream kit: no beat lost, doubled, invented or overtaken."""

from __future__ import annotations

from amaranth.hdl import Assert, Module, Mux, Signal
from kit.beats import Credits, QueueBeats, WatchedBeat
from kit.formal import Proof, Spec

from minmip.hw.lib.arbiter import Arbiter
from minmip.hw.lib.fork import Fork
from minmip.hw.lib.join import Join
from minmip.hw.lib.stage import Stage

__all__ = ["proofs"]


class ForkOnce(Spec):
    """Each output gets each beat exactly once."""

    def properties(self, m: Module) -> None:
        self.assume_inputs(m)
        i = self.block.i
        for n, o in enumerate(self.block.o):
            had = Signal(name=f"had{n}")
            given = o.valid & o.ready
            m.d.sync += had.eq(Mux(i.valid & i.ready, 0, had | given))
            m.d.comb += Assert(~(had & given))
            with m.If(given):
                m.d.comb += [Assert(i.valid), Assert(o.payload == i.payload)]
            with m.If(i.valid):
                m.d.comb += Assert(had == ~o.valid)
            with m.If(i.valid & i.ready):
                m.d.comb += Assert(had | given)
            with m.Else():
                m.d.comb += Assert(~had | i.valid)


class JoinTogether(Spec):
    """Every input gives a beat when the output does, and at no other time."""

    def properties(self, m: Module) -> None:
        self.assume_inputs(m)
        o = self.block.o
        for name in self.block.shapes:
            i = getattr(self.block, f"i_{name}")
            m.d.comb += Assert((i.valid & i.ready) == (o.valid & o.ready))
            with m.If(o.valid):
                m.d.comb += Assert(o.payload[name] == i.payload)


class ArbiterFair(Spec):
    """One beat is taken at most and comes out next; who waits sees fewer than `count` others."""

    def properties(self, m: Module) -> None:
        self.assume_inputs(m)
        o, count = self.block.o, self.block.count
        taken = Signal(count)
        m.d.comb += taken.eq(sum((i.valid & i.ready) << n for n, i in enumerate(self.block.i)))
        m.d.comb += Assert((taken & (taken - 1)) == 0)
        held, beat, source = Signal(), Signal.like(o.p.beat), Signal.like(o.p.source)
        m.d.comb += Assert(o.valid == held)
        with m.If(held):
            m.d.comb += [Assert(o.p.beat == beat), Assert(o.p.source == source)]
        m.d.sync += held.eq(taken.any() | (held & ~o.ready))
        for n, i in enumerate(self.block.i):
            others = Signal(range(count + 1), name=f"others{n}")
            with m.If(taken[n]):
                m.d.sync += [beat.eq(i.payload), source.eq(n)]
            with m.If(taken[n] | ~i.valid):
                m.d.sync += others.eq(0)
            with m.Elif(taken.any()):
                m.d.sync += others.eq(others + 1)
            m.d.comb += Assert(others < count)


def proofs() -> list[Proof]:
    beats = "no beat is lost, doubled, invented or overtaken"
    made = [
        Proof(
            block="stage",
            name="beats",
            says=beats,
            make=lambda: WatchedBeat(Stage(1), capacity=1, patience=0),
            engine="abc pdr",
        ),
        Proof(
            block="stream_fork",
            name="once",
            says=ForkOnce.__doc__,
            make=lambda: ForkOnce(Fork(2, 3)),
            engine="abc pdr",
        ),
        Proof(
            block="stream_join",
            name="together",
            says=JoinTogether.__doc__,
            make=lambda: JoinTogether(Join({"a": 2, "b": 3})),
        ),
        Proof(
            block="arbiter",
            name="fair",
            says=ArbiterFair.__doc__,
            make=lambda: ArbiterFair(Arbiter(2, 3)),
            engine="abc pdr",
        ),
    ]
    made += [
        Proof(
            block="queue",
            name=f"beats{depth}",
            says=f"{beats}; {depth} rows",
            make=lambda depth=depth: QueueBeats(depth),
        )
        for depth in (2, 4, 16, 32)
    ]
    made += [
        Proof(
            block="queue",
            name="beats-early",
            says=f"{beats}; 4 rows, `ready` decided a clock early",
            make=lambda: QueueBeats(4, early=True),
        )
    ]
    made += [
        Proof(
            block="credit",
            name=f"credits{latency}",
            says=f"the response queue never overflows; datapath of {latency} clocks",
            make=lambda latency=latency: Credits(latency),
        )
        for latency in (1, 3, 4, 5, 13)  # of 3 and 4 the counter has 2 and 1 registers
    ]
    return made
