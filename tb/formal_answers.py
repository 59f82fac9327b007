"""Proofs of the blocks that answer and count quads: each is answered once, in order."""

from __future__ import annotations

from amaranth.hdl import Assert, Assume, Cat, Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out
from formal_context_table import SmallTable
from formal_splits import Wire
from kit.beats import WatchedBeat
from kit.formal import Proof, Spec

from minmip.hw.answer_join import AnswerJoin
from minmip.hw.config import SMALL
from minmip.hw.retire import Retire

__all__ = ["proofs"]


class Retired(Spec):
    """Each beat is handed on once, in order: its words, its read, its answer if it is the last.

    Nothing else comes out; a context is given back once for each quad. Between a word and a later
    read or flush lies a clock in which the word was in memory.
    """

    def __init__(self):
        super().__init__(Retire(SMALL))

    def properties(self, m: Module) -> None:
        self.assume_inputs(m)
        block, beat = self.block, self.block.i.payload
        taken, word = Signal(), Cat(word.valid for word in beat.word).any()
        writes = word & ~beat.read
        m.d.comb += [taken.eq(block.i.valid & block.i.ready), Assume(~beat.flush | ~word)]
        # `word_addresses` says so.
        m.d.comb += [Assume(beat.writes == writes), Assume(beat.ends == (beat.flush & beat.last))]
        for o, wanted in (
            (block.o_words, writes),
            (block.o_reads, beat.read),
            (block.o_answer, beat.last),
        ):
            owed = Signal(name="owed")
            m.d.sync += owed.eq((taken & wanted) | (owed & ~o.ready))
            m.d.comb += [Assert(o.valid == owed), Assert(~taken | ~owed | o.ready)]
            for shown, source in _same(o.payload, beat):
                kept = Signal(len(source), name="kept")
                with m.If(taken & wanted):
                    m.d.sync += kept.eq(source)
                m.d.comb += Assert(~owed | (shown == kept))

        left, context = Signal(), Signal.like(beat.context)
        m.d.sync += [left.eq(taken & beat.last & ~beat.flush), context.eq(beat.context)]
        m.d.comb += Assert(block.released_valid == left)
        m.d.comb += Assert(~left | (block.released == context))

        unwritten = Signal()
        in_memory = ~block.o_words.valid & block.drained & block.memory_idle
        m.d.sync += unwritten.eq((taken & writes) | (unwritten & ~in_memory))
        m.d.comb += Assert(~taken | ~unwritten | ~((beat.flush & beat.last) | beat.read))


def _same(shown, beat):
    """Pairs of what an output shows and where it comes from: one bit of the wide ones."""
    for name, _ in shown.shape():
        if name == "word":
            for one, source in zip(shown.word, beat.word, strict=True):
                yield one.valid, source.valid
                yield one.address[0], source.address[0]
        elif name in ("last", "tag", "code", "flush", "read"):
            yield shown[name], beat[name]


class Joined(Spec):
    """Each answer comes out once, in order; one with `read` takes one filter result, others none.

    The queue in front is replaced by a wire: `queue-beats` is its proof.
    """

    def __init__(self):
        block = AnswerJoin(SMALL)
        block.queue = Wire(block.queue.shape)
        super().__init__(block)

    def properties(self, m: Module) -> None:
        self.assume_inputs(m)
        i, result, o = self.block.i, self.block.i_filter, self.block.o
        taken, used = Signal(), Signal()
        m.d.comb += [taken.eq(i.valid & i.ready), used.eq(result.valid & result.ready)]
        owed, before = Signal(), Signal(i.payload.shape())
        filtered = Signal.like(Value.cast(result.payload))
        m.d.sync += owed.eq(taken | (owed & ~o.ready))
        with m.If(taken):
            m.d.sync += [
                before.eq(i.payload),
                filtered.eq(Mux(i.payload.read, Value.cast(result.payload), 0)),
            ]
        m.d.comb += [
            Assert(o.valid == owed),
            Assert(~taken | ~owed | o.ready),
            Assert(used == (taken & i.payload.read)),
        ]
        with m.If(owed):
            m.d.comb += Assert(Value.cast(o.payload.filtered) == filtered)
            for name in ("code", "flush", "tag"):
                m.d.comb += Assert(o.payload[name] == before[name])


class OneCode(wiring.Component):
    """Of a context table one bit of the code is looked at; the rest of an answer is anything."""

    def __init__(self):
        super().__init__({"i": In(stream.Signature(1)), "o": Out(stream.Signature(1))})
        self.table = SmallTable(SMALL, ())
        inputs = (
            self.table.i.payload.entry,
            self.table.i.payload.fresh,
            self.table.released_valid,
            self.table.released,
        )
        self.free = [(Signal(len(value), name="any"), value) for value in inputs]

    def elaborate(self, platform):
        m = Module()
        m.submodules.table = table = self.table
        m.d.comb += [
            table.i.payload.code[0].eq(self.i.payload),
            table.i.valid.eq(self.i.valid),
            self.i.ready.eq(table.i.ready),
            self.o.payload.eq(table.o.payload.code[0]),
            self.o.valid.eq(table.o.valid),
            table.o.ready.eq(self.o.ready),
            *(value.eq(free) for free, value in self.free),
        ]
        return m


def table_beats() -> WatchedBeat:
    block = OneCode()
    spec = WatchedBeat(block, capacity=block.table.rows + 1, patience=1)
    spec.ports += [free for free, _ in block.free]
    return spec


def proofs() -> list[Proof]:
    return [
        Proof(
            block="retire",
            name="once",
            says=" ".join(Retired.__doc__.split()),
            make=Retired,
            engine="abc pdr",
        ),
        Proof(block="answer_join", name="once", says=Joined.__doc__.split("\n")[0], make=Joined),
        Proof(
            block="context_table",
            name="beats",
            says="no answer is lost, doubled, invented or overtaken, fresh or not",
            make=table_beats,
            engine="abc pdr",
        ),
    ]
