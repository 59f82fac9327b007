"""Proofs of the host's side of memory: requests and answers of each client, words of a clear.

Queues are replaced by wires: `queue-beats` is their proof, and `host_port-answers` says that those
of the answers never overflow.
"""

from __future__ import annotations

from amaranth.hdl import Assert, Assume, Cat, Module, Mux, Signal, Value, signed
from formal_splits import Wire
from kit.formal import Proof, Spec
from memory_bench import SMALL

from minmip.hw.clear_engine import ClearEngine
from minmip.hw.host_port import HostPort
from minmip.hw.shapes import TAG_BITS

__all__ = ["proofs"]


class Switched(Spec):
    """A request goes on as it is taken, once, with its client's number; so does each answer back.

    No client waits for more than one request of each other one. The queue of the requests has as
    much room as it likes to say.
    """

    def __init__(self):
        block = HostPort(SMALL, clients=3)
        rows = len(block.requests.free)
        block.requests = Wire(block.requests.shape)
        block.answers = [Wire(queue.shape) for queue in block.answers]
        super().__init__(block)
        block.requests.free = self.free(signed(rows), "room")

    def properties(self, m: Module) -> None:
        self.assume_inputs(m)
        block, port, count = self.block, self.block.o_port, self.block.clients
        taken = Signal(count)
        m.d.comb += [
            taken.eq(Cat(i.valid & i.ready for i in block.i)),
            Assert((taken & (taken - 1)) == 0),
            Assert(port.valid == taken.any()),
        ]
        for n, (i, o) in enumerate(zip(block.i, block.o, strict=True)):
            with m.If(taken[n]):
                m.d.comb += Assert(port.payload.tag == Cat(i.payload.tag, block.turn))
                m.d.comb += Assert(block.turn == n)
                for name in ("address", "data", "mask"):
                    m.d.comb += Assert(
                        Value.cast(port.payload[name]) == Value.cast(i.payload[name])
                    )
            answer = block.i_port
            mine = block.i_port_valid & (answer.tag[TAG_BITS:] == n)
            m.d.comb += Assert(o.valid == mine)
            with m.If(mine):
                m.d.comb += [
                    Assert(o.payload.tag == answer.tag[:TAG_BITS]),
                    Assert(Value.cast(o.payload.data) == Value.cast(answer.data)),
                    Assert(o.payload.error == answer.error),
                ]
            # Those who go first while this one could.
            others = Signal(range(count + 1), name=f"others{n}")
            waits = i.valid & block.credits[n].ready & ~taken[n]
            m.d.sync += others.eq(Mux(waits, others + taken.any(), 0))
            m.d.comb += Assert(others < count)


class Cleared(Spec):
    """Each word of a range is sent once, upwards, with the mask of its bytes; then the result.

    One result for each request, with its tag, and an error if an answer had one.
    """

    def __init__(self):
        block = ClearEngine(SMALL)
        block.words = Wire(block.words.shape)
        super().__init__(block)

    def properties(self, m: Module) -> None:
        self.assume_inputs(m)
        block, word_bytes = self.block, self.block.cfg.word_bytes
        word_log2 = self.block.cfg.word_log2
        i, o, request = block.i, block.o, block.o_request
        start, length = i.payload.start, i.payload.length
        taken, sent, heard, given = Signal(), Signal(), Signal(), Signal()
        m.d.comb += [
            taken.eq(i.valid & i.ready),
            sent.eq(request.valid & request.ready),
            heard.eq(block.i_response.valid & block.i_response.ready),
            given.eq(o.valid & o.ready),
        ]
        # The range; the first byte of the word that comes next; bytes that are heard of.
        busy, error = Signal(), Signal()
        first, span = Signal(word_log2), Signal(len(length) + 1)
        value, tag = Signal(8), Signal(len(i.payload.tag))
        place, answered = Signal(len(span) + 1), Signal(len(span) + 1)
        word = Signal(len(request.payload.address))
        with m.If(taken):
            m.d.sync += [
                busy.eq(1),
                error.eq(0),
                first.eq(start[:word_log2]),
                span.eq(Mux(length == 0, 0, start[:word_log2] + length)),
                word.eq(start[word_log2:]),
                place.eq(0),
                answered.eq(0),
                value.eq(i.payload.value),
                tag.eq(i.payload.tag),
            ]
        with m.If(sent):
            m.d.sync += [place.eq(place + word_bytes), word.eq(word + 1)]
        with m.If(heard):
            m.d.sync += [
                answered.eq(answered + word_bytes),
                error.eq(error | block.i_response.payload.error),
            ]
        with m.If(given):
            m.d.sync += busy.eq(0)
        m.d.comb += Assume(~heard | (answered != place))
        m.d.comb += [Assert(busy | ~(o.valid | request.valid)), Assert(i.ready == ~busy)]
        with m.If(request.valid):
            m.d.comb += [
                Assert(place < span),
                Assert(request.payload.address == word),
                *(Assert(byte == value) for byte in request.payload.data),
            ]
            for n in range(word_bytes):
                inside = (place + n >= first) & (place + n < span)
                m.d.comb += Assert(request.payload.mask[n] == inside)
        with m.If(o.valid):
            m.d.comb += Assert((place >= span) & (answered == place))
        m.d.comb += Assert(~busy | ((o.payload.error == error) & (o.payload.tag == tag)))
        self._inductive(m, busy, word, place, answered, span)

    def _inductive(self, m: Module, busy, word, place, answered, span) -> None:
        """Relate the block's counters to those above."""
        block = self.block
        log2 = block.cfg.word_log2
        left = (span - 1 - place) >> log2
        unheard = (span - 1 - answered) >> log2
        m.d.comb += [
            Assert((place[:log2] == 0) & (answered[:log2] == 0) & (answered <= place)),
            Assert(~block.sending | (block.hearing & (block.to_send == left - 1))),
            Assert(~block.hearing | (busy & (block.to_hear == unheard - 1))),
            Assert(~block.hearing | block.sending | (place >= span)),
            Assert(block.hearing | (answered == place)),
            Assert(block.hearing | ~busy | block.o.valid | (place == 0)),
            Assert((place == 0) | (place < span + block.cfg.word_bytes)),
            Assert(~block.sending | (block.is_first == (place == 0))),
            Assert(~block.sending | (block.wraps == block.low.all())),
        ]
        for n in range(block.cfg.word_bytes):
            m.d.comb += Assert(~block.sending | (block.to_last[n] == ((span - 1)[:log2] >= n)))


def proofs() -> list[Proof]:
    return [
        Proof(
            block="host_port",
            name="once",
            says=Switched.__doc__.split("\n")[0],
            make=Switched,
            engine="abc pdr",
        ),
        Proof(
            block="clear_engine",
            name="words",
            says=" ".join(Cleared.__doc__.split()),
            make=Cleared,
            depth=5,
        ),
    ]
