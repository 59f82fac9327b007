"""Retire: the end of the pipeline, where quads are answered and flushes wait."""

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.beats import addressed_beat, quad_answer, words_request
from minmip.hw.config import UnitConfig
from minmip.hw.shapes import context_index

__all__ = ["Retire"]


class Retire(wiring.Component):
    """Hand the words of each beat on, answer each quad at its `last` beat and give its context
    back.

    The answer to a quad says that its words are on their way. A flush is answered when every word
    that was handed on before is in memory (spec 03 "Combine"): it asks the buffer behind `o_words`
    to write all out, waits for `drained` and `memory_idle`, and holds up what follows.

    One beat per clock, latency 1; a flush takes as long as the writes, and 3 clocks. In order.
    `i.ready` follows both outputs' `ready` combinationally.

    `drained` must be low from the clock after a transfer of `o_words` until the last word has left
    the buffer, and `memory_idle` from then until it is in memory: connect without queues between.

    Parameters
    ----------
    cfg : UnitConfig

    Members
    -------
    i : In(stream.Signature(addressed_beat(cfg)))
        A flush has no words.
    o_words : Out(stream.Signature(words_request(cfg)))
        Beats with a word.
    o_answer : Out(stream.Signature(quad_answer()))
        One for each `last`; `filtered` is 0.
    released_valid : Out(1)
        High for one clock for each quad that is no flush.
    released : Out(context_index(cfg))
        Its context.
    drain : Out(1)
        Write out everything.
    drained : In(1)
        `CombiningBuffer.drained`.
    memory_idle : In(1)
        `MemoryPort.idle`.
    """

    latency = 1

    i: stream.Interface
    o_words: stream.Interface
    o_answer: stream.Interface
    released_valid: Signal
    released: Signal
    drain: Signal
    drained: Signal
    memory_idle: Signal

    def __init__(self, cfg: UnitConfig):
        self.cfg = cfg
        super().__init__(
            {
                "i": In(stream.Signature(addressed_beat(cfg))),
                "o_words": Out(stream.Signature(words_request(cfg))),
                "o_answer": Out(stream.Signature(quad_answer())),
                "released_valid": Out(1),
                "released": Out(context_index(cfg)),
                "drain": Out(1),
                "drained": In(1),
                "memory_idle": In(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        beat = self.i.payload
        flush, written = Signal(), Signal()
        go_words, go_answer = Signal(), Signal()
        m.d.comb += [
            go_words.eq(~self.o_words.valid | self.o_words.ready),
            go_answer.eq(~self.o_answer.valid | self.o_answer.ready),
            flush.eq(beat.flush & beat.last),
            self.i.ready.eq(go_words & go_answer & (~flush | written)),
        ]

        # `written` counts for the flush that waits; nothing is handed on while it does.
        waits = Signal()
        m.d.comb += waits.eq(self.i.valid & flush & ~self.i.ready)
        m.d.sync += [
            self.drain.eq(waits),
            written.eq(waits & ~self.o_words.valid & self.drained & self.memory_idle),
        ]

        taken = Signal()
        m.d.comb += taken.eq(self.i.valid & self.i.ready)
        with m.If(go_words):
            m.d.sync += [
                self.o_words.valid.eq(taken & Cat(word.valid for word in beat.word).any()),
                self.o_words.payload.op.eq(beat.op),
                self.o_words.payload.word.eq(beat.word),
            ]
        with m.If(go_answer):
            m.d.sync += [
                self.o_answer.valid.eq(taken & beat.last),
                self.o_answer.payload.code.eq(beat.code),
                self.o_answer.payload.flush.eq(beat.flush),
                self.o_answer.payload.tag.eq(beat.tag),
            ]
        m.d.sync += [
            self.released_valid.eq(taken & beat.last & ~beat.flush),
            self.released.eq(beat.context),
        ]
        return m
