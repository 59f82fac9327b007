"""The clear engine: fills a range of bytes, one memory word per clock (spec 03 "Clear")."""

from amaranth.hdl import C, Cat, Module, Mux, Signal, signed
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.config import UnitConfig
from minmip.hw.lib.delay import delay
from minmip.hw.lib.queue import Queue
from minmip.hw.shapes import (
    ADDRESS_BITS,
    clear_request,
    clear_result,
    host_request,
    host_response,
)

__all__ = ["ClearEngine"]

_LOW = 8
"""Bits of the lower part of the word address."""


class ClearEngine(wiring.Component):
    """Write one value to every byte of a range, as a client of the host port.

    One memory word per clock. One range at a time; its result comes when every word is answered,
    that is in memory: about `words + memory latency + 16` clocks after the request. Bytes beside
    the range stay as they are. A range that reaches outside the memory is filled as far as it lies
    inside, and its result says `error`; one that runs over the end of the address space goes on at
    address 0. A range of no bytes writes nothing.

    `ready` and `valid` of its own depend on registers alone; answers are always taken.

    Parameters
    ----------
    cfg : UnitConfig
        Word of the memory.

    Attributes
    ----------
    to_send, to_hear, sending, hearing, is_first, to_last, low, wraps : Signal
    words : Queue
        The state that proofs look at.

    Members
    -------
    i : In(stream.Signature(clear_request()))
    o : Out(stream.Signature(clear_result()))
    o_request : Out(stream.Signature(host_request(cfg)))
    i_response : In(stream.Signature(host_response(cfg)))
    """

    i: stream.Interface
    o: stream.Interface
    o_request: stream.Interface
    i_response: stream.Interface

    def __init__(self, cfg: UnitConfig):
        self.cfg = cfg
        span_bits = clear_request()["length"].width + 1
        # Words less 2 to send and to hear of: the sign says that the next one is the last.
        self.to_send = Signal(signed(span_bits - cfg.word_log2 + 1))
        self.to_hear = Signal.like(self.to_send)
        self.sending, self.hearing = Signal(), Signal()
        self.is_first, self.to_last = Signal(), Signal(cfg.word_bytes)
        # The address counts in two parts; `wraps` says that the lower one is all ones. By then the
        # next upper one is made.
        self.low, self.wraps = Signal(_LOW), Signal()
        shape = data.StructLayout({"address": ADDRESS_BITS - cfg.word_log2, "mask": cfg.word_bytes})
        self.words = Queue(shape, 4, early=True)
        super().__init__(
            {
                "i": In(stream.Signature(clear_request())),
                "o": Out(stream.Signature(clear_result())),
                "o_request": Out(stream.Signature(host_request(cfg))),
                "i_response": In(stream.Signature(host_response(cfg))),
            }
        )

    def elaborate(self, platform):
        m = Module()
        word_log2, word_bytes = self.cfg.word_log2, self.cfg.word_bytes
        request, response, result = self.o_request, self.i_response, self.o.payload
        start, length = self.i.payload.start, self.i.payload.length

        # Bytes from the start of the first word to the end of the range: one bit of growth.
        span = Signal(len(length) + 1)
        below = Signal(signed(len(span) + 1))  # span - 1, less one word
        m.d.sync += below.eq(span - (1 + word_bytes))
        first = Signal(word_log2)  # byte of the first word
        from_first = Signal(word_bytes)
        is_first, to_last = self.is_first, self.to_last
        to_send, to_hear, sending = self.to_send, self.to_hear, self.sending
        value = Signal(8)

        low, high = self.low, Signal(ADDRESS_BITS - word_log2 - _LOW)
        wraps = self.wraps
        half = len(high) // 2
        carried = delay(m, high[:half] + 1, 1, name="carried")
        next_high = Cat(carried[:half], (high[half:] + carried[half])[: len(high) - half])
        next_high = delay(m, next_high, 1, name="next_high")

        # The queue cuts the path of `ready`. The value stays until the last answer.
        m.submodules.words = words = self.words
        m.d.comb += [
            words.i.valid.eq(sending),
            words.i.payload.address.eq(Cat(low, high)),
            words.i.payload.mask.eq(
                (from_first | ~is_first.replicate(word_bytes))
                & (to_last | ~to_send[-1].replicate(word_bytes))
            ),
            words.o.ready.eq(request.ready),
            request.valid.eq(words.o.valid),
            request.payload.address.eq(words.o.payload.address),
            request.payload.mask.eq(words.o.payload.mask),
            *(byte.eq(value) for byte in request.payload.data),
            response.ready.eq(1),
        ]

        with m.FSM() as fsm:
            m.d.comb += self.hearing.eq(fsm.ongoing("hear"))
            with m.State("wait"):
                m.d.comb += self.i.ready.eq(1)
                m.d.sync += [
                    span.eq(start[:word_log2] + length),
                    first.eq(start[:word_log2]),
                    Cat(low, high).eq(start[word_log2:]),
                    value.eq(self.i.payload.value),
                    result.error.eq(0),
                    result.tag.eq(self.i.payload.tag),
                ]
                with m.If(self.i.valid):
                    m.next = "subtract"
                    with m.If(length == 0):
                        m.next = "done"
            with m.State("subtract"):
                m.d.sync += wraps.eq(low.all())
                m.next = "count"
            with m.State("count"):
                m.d.sync += [
                    from_first.eq(C(-1, word_bytes) << first),
                    to_last.eq(~(C(-2, word_bytes) << below[:word_log2])),
                    is_first.eq(1),
                    sending.eq(1),
                    to_send.eq(below[word_log2:].as_signed()),
                    to_hear.eq(below[word_log2:].as_signed()),
                ]
                m.next = "hear"
            with m.State("hear"):
                with m.If(response.valid):
                    m.d.sync += [
                        to_hear.eq(to_hear - 1),
                        result.error.eq(result.error | response.payload.error),
                    ]
                    with m.If(to_hear[-1]):
                        m.next = "done"
            with m.State("done"):
                m.d.comb += self.o.valid.eq(1)
                with m.If(self.o.ready):
                    m.next = "wait"

        # A flag beside the states, so that one look-up table enables these registers.
        with m.If(sending & words.i.ready):
            m.d.sync += [
                low.eq(low + 1),
                wraps.eq(low[1:].all() & ~low[0]),
                high.eq(Mux(wraps, next_high, high)),
                to_send.eq(to_send - 1),
                is_first.eq(0),
                sending.eq(~to_send[-1]),
            ]
        return m
