"""Retire: the end of the pipeline, where quads are answered, and flushes and reads wait."""

from amaranth.hdl import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.config import UnitConfig
from minmip.hw.shapes import context_index
from minmip.hw.word_beats import addressed_beat, read_request, retired, words_request

__all__ = ["Retire"]


class Retire(wiring.Component):
    """Hand the words of each beat on, answer each quad at its `last` beat and give its context
    back.

    The answer to a quad says that its words are on their way. A flush is answered when every word
    that was handed on before is in memory (spec 03 "Combine"): it asks the buffer behind `o_words`
    to write all out, waits for `drained` and `memory_idle`, and holds up what follows. So does a
    read beat, unless no word was handed on since the last such wait: the filter sees every earlier
    write. It sees no later one if it reads the memory sooner than a word gets there, since no beat
    is taken before the one ahead has left its output.

    One beat per clock, latency 1; a wait takes as long as the writes, and 3 clocks. In order.
    `i.ready` follows all outputs' `ready` combinationally.

    `drained` must be low from the clock after a transfer of `o_words` until the last word has left
    the buffer, and `memory_idle` from then until it is in memory: connect without queues between.

    Parameters
    ----------
    cfg : UnitConfig

    Members
    -------
    i : In(stream.Signature(addressed_beat(cfg)))
        A flush has no words. All beats of a quad are read beats, or none.
    o_words : Out(stream.Signature(words_request(cfg)))
        Beats with a word that are no read beats.
    o_reads : Out(stream.Signature(read_request(cfg)))
        Read beats, also those without a word.
    o_answer : Out(stream.Signature(retired()))
        One for each `last`.
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
    o_reads: stream.Interface
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
                "o_reads": Out(stream.Signature(read_request(cfg))),
                "o_answer": Out(stream.Signature(retired())),
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
        outputs = (self.o_words, self.o_reads, self.o_answer)
        go_words, go_reads, go_answer = go = Signal(len(outputs))
        for n, o in enumerate(outputs):
            m.d.comb += go[n].eq(~o.valid | o.ready)

        # `written` counts for the beat that waits; nothing is handed on while it does.
        unwritten, written = Signal(), Signal()
        behind_writes, waits = Signal(), Signal()
        m.d.comb += [
            behind_writes.eq(beat.ends | (beat.read & unwritten)),
            self.i.ready.eq(go.all() & (~behind_writes | written)),
            waits.eq(self.i.valid & behind_writes & ~self.i.ready),
        ]
        m.d.sync += [
            self.drain.eq(waits),
            written.eq(waits & ~self.o_words.valid & self.drained & self.memory_idle),
        ]

        taken, writes = Signal(), Signal()
        m.d.comb += [
            taken.eq(self.i.valid & self.i.ready),
            writes.eq(taken & beat.writes),
        ]
        with m.If(written):
            m.d.sync += unwritten.eq(0)
        with m.Elif(writes):
            m.d.sync += unwritten.eq(1)

        with m.If(go_words):
            m.d.sync += [
                self.o_words.valid.eq(writes),
                self.o_words.payload.op.eq(beat.op),
                self.o_words.payload.word.eq(beat.word),
            ]
        with m.If(go_reads):
            request = self.o_reads.payload
            m.d.sync += self.o_reads.valid.eq(taken & beat.read)
            m.d.sync += [request[name].eq(beat[name]) for name in ("last", "lane", "kernel")]
            for word, source in zip(request.word, beat.word, strict=True):
                m.d.sync += [word.valid.eq(source.valid), word.address.eq(source.address)]
        with m.If(go_answer):
            answer = self.o_answer.payload
            m.d.sync += self.o_answer.valid.eq(taken & beat.last)
            m.d.sync += [answer[name].eq(beat[name]) for name, _ in answer.shape()]
        m.d.sync += [
            self.released_valid.eq(taken & beat.last & ~beat.flush),
            self.released.eq(beat.context),
        ]
        return m
