"""Answers in the order of the requests: those of filter quads with their filtered values."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.beats import quad_answer
from minmip.hw.config import UnitConfig
from minmip.hw.lib.queue import Queue
from minmip.hw.word_beats import filter_result, retired

__all__ = ["AnswerJoin"]


class AnswerJoin(wiring.Component):
    """Hold each answer until it is complete: one with `read` waits for the next filter result.

    Other answers have filtered values of 0; all stay in order.

    One answer per clock, latency 3 from `i`, 1 from `i_filter`. `i.ready` is a register;
    `i_filter.ready` follows `o.ready` and the oldest answer combinationally.

    Parameters
    ----------
    cfg : UnitConfig
        Whether the MinMip filter is built in (`linked_types`).
    quads : int
        Answers that may wait for the filter, a power of two from 2: as many as it has quads inside,
        so that it is kept busy.

    Members
    -------
    i : In(stream.Signature(retired()))
    i_filter : In(stream.Signature(filter_result()))
        One for each answer with `read`, in order.
    o : Out(stream.Signature(quad_answer()))
    """

    latency = 3

    i: stream.Interface
    i_filter: stream.Interface
    o: stream.Interface

    def __init__(self, cfg: UnitConfig, quads: int = 64):
        self.cfg = cfg
        self.quads = quads
        self.queue = Queue(retired(), quads if cfg.filters else 4, early=True)
        super().__init__(
            {
                "i": In(stream.Signature(retired())),
                "i_filter": In(stream.Signature(filter_result())),
                "o": Out(stream.Signature(quad_answer())),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.queue = queue = self.queue
        wiring.connect(m, wiring.flipped(self.i), queue.i)
        oldest, filtered = queue.o.payload, self.i_filter.payload.filtered
        go, complete = Signal(), Signal()
        m.d.comb += [
            go.eq(~self.o.valid | self.o.ready),
            complete.eq(~oldest.read | self.i_filter.valid),
            queue.o.ready.eq(go & complete),
            self.i_filter.ready.eq(go & queue.o.valid & oldest.read),
        ]
        with m.If(go):
            answer = self.o.payload
            m.d.sync += self.o.valid.eq(queue.o.valid & complete)
            m.d.sync += [answer[name].eq(oldest[name]) for name in ("code", "flush", "tag")]
            m.d.sync += [
                value.eq(Mux(oldest.read, source, 0))
                for value, source in zip(answer.filtered, filtered, strict=True)
            ]
        return m
