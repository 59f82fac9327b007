"""What the requests of the host do: the unit's streams and registers behind a line of bytes."""

from amaranth.hdl import Module, Signal, Value, unsigned
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from minmip.hw.beats import quad_answer, quad_request
from minmip.hw.board.config import BoardConfig, identity
from minmip.hw.board.memory_commands import MemoryCommands
from minmip.hw.board.packet_receiver import LENGTH
from minmip.hw.board.protocol import (
    ANSWER_BYTES,
    COUNTER_BYTES,
    MAX_ANSWERS,
    MAX_PAYLOAD,
    NUMBER_BYTES,
    PAYLOAD_BYTES,
    Command,
    Status,
)
from minmip.hw.board.quad_loader import QuadLoader
from minmip.hw.board.to_bytes import ToBytes
from minmip.hw.shapes import (
    BLOCK_BITS,
    clear_request,
    clear_result,
    host_request,
    host_response,
)
from minmip.hw.vendor.parts import Rom

__all__ = ["SETTLE", "Commands"]

SETTLE = 16
"""Clocks from a plain input of the unit to all that follows from it: the window, a counter."""
_MEMORY = (Command.CLEAR, Command.WRITE, Command.READ)


class Commands(wiring.Component):
    """Carry out one request at a time; `Command` says what each does.

    A request whose length does not fit its command does nothing. A record of QUADS that is not
    whole, or has no place for its answer, and what comes behind it, is not sent; those before it
    are.

    Parameters
    ----------
    cfg : BoardConfig
        The board.
    counters : int
        Event counters of the unit.

    Members
    -------
    start : In(1)
        A request begins, for one clock.
    code, length : In
        Of the request, until `done`.
    i_payload : In(stream.Signature(8))
    empty : In(1)
        All of the payload was taken.
    o_payload : Out(stream.Signature(8))
        The reply; what takes it is always ready.
    done : Out(1)
        For one clock, when all of the reply was sent.
    status : Out(8)
        With `done`.
    o_quads, i_answers, o_host, i_host, o_clear, i_clear
        The streams of the unit.
    memory_base, memory_limit, counter_select : Out
        Inputs of the unit.
    counter_value : In(48)
    """

    def __init__(self, cfg: BoardConfig, counters: int):
        if not 2 <= counters <= MAX_PAYLOAD // COUNTER_BYTES:
            raise ValueError(
                f"counters must be in 2..{MAX_PAYLOAD // COUNTER_BYTES}, not {counters}"
            )
        self.cfg = cfg
        self.counters = counters
        self.identity = identity(cfg)
        unit = cfg.unit
        super().__init__(
            {
                "start": In(1),
                "code": In(8),
                "length": In(LENGTH),
                "i_payload": In(stream.Signature(unsigned(8))),
                "empty": In(1),
                "o_payload": Out(stream.Signature(unsigned(8))),
                "done": Out(1),
                "status": Out(8),
                "o_quads": Out(stream.Signature(quad_request(unit))),
                "i_answers": In(stream.Signature(quad_answer())),
                "o_host": Out(stream.Signature(host_request(unit))),
                "i_host": In(stream.Signature(host_response(unit))),
                "o_clear": Out(stream.Signature(clear_request())),
                "i_clear": In(stream.Signature(clear_result())),
                "memory_base": Out(BLOCK_BITS),
                "memory_limit": Out(BLOCK_BITS + 1),
                "counter_select": Out(ceil_log2(counters)),
                "counter_value": In(8 * COUNTER_BYTES),
            }
        )

    def elaborate(self, platform):
        m = Module()
        word_bytes, word_log2 = self.cfg.unit.word_bytes, self.cfg.unit.word_log2
        m.submodules.loader = loader = QuadLoader(self.cfg.unit)
        m.submodules.memory = memory = MemoryCommands(self.cfg.unit)
        m.submodules.out = out = ToBytes(self.cfg.unit)
        m.submodules.text = text = Rom(unsigned(8), self.identity)
        for inner, outer in (
            (out.o, self.o_payload),
            (loader.o, self.o_quads),
            (memory.o_host, self.o_host),
            (memory.i_host, self.i_host),
            (memory.o_clear, self.o_clear),
            (memory.i_clear, self.i_clear),
        ):
            wiring.connect(m, wiring.flipped(outer), inner)
        records = Signal(range(MAX_ANSWERS + 1))  # quads and flushes sent
        answers = Signal(range(MAX_ANSWERS + 1))  # those whose answer is in the reply
        numbers = Signal(8 * NUMBER_BYTES)
        want = Signal(range(NUMBER_BYTES + 1))  # how many bytes they are
        at = Signal(range(NUMBER_BYTES + 1))
        count = Signal(range(max(self.counters, len(self.identity)) + 1))  # counters or characters
        settle = Signal(range(SETTLE))
        quads_over = Signal()
        status = Signal(8)
        m.d.comb += [
            self.status.eq(status),
            loader.i.valid.eq(0),
            loader.i.payload.eq(self.i_payload.payload),
            loader.empty.eq(self.empty),
            loader.room.eq(records != MAX_ANSWERS),
            memory.code.eq(self.code),
            memory.numbers.eq(numbers),
            memory.i_payload.valid.eq(self.i_payload.valid),
            memory.i_payload.payload.eq(self.i_payload.payload),
            memory.empty.eq(self.empty),
            out.i.valid.eq(memory.o.valid),
            out.i.payload.eq(memory.o.payload),
            memory.o.ready.eq(out.i.ready),
            text.addr.eq(count),
            self.counter_select.eq(count),
        ]

        def send(value, size, then):
            """Put a word into the reply."""
            m.d.comb += [out.i.valid.eq(1), out.i.payload.word.eq(value)]
            m.d.comb += out.i.payload.count.eq(size)
            with m.If(out.i.ready):
                then()

        with m.FSM():
            with m.State("rest"):
                m.d.sync += [at.eq(0), count.eq(0), settle.eq(SETTLE - 1)]
                m.d.sync += [status.eq(Status.DONE), quads_over.eq(0), records.eq(0)]
                with m.If(self.start):
                    m.next = "check"
            with m.State("check"):
                m.next = "finish"
                m.d.sync += status.eq(Status.MALFORMED)
                for command, sizes in PAYLOAD_BYTES.items():
                    size = sum(sizes)
                    fits = self.length == size
                    if command is Command.WRITE:
                        fits = (self.length[:word_log2] == size % word_bytes) & (
                            self.length >= size
                        )
                    elif command is Command.QUADS:
                        fits = 1
                    with m.If((self.code == command) & fits):
                        m.d.sync += [want.eq(size), status.eq(Status.DONE)]
                        m.next = "numbers"
            with m.State("numbers"):
                with m.If(at != want):
                    m.d.comb += self.i_payload.ready.eq(1)
                    with m.If(self.i_payload.valid):
                        m.d.sync += numbers.word_select(at, 8).eq(self.i_payload.payload)
                        m.d.sync += at.eq(at + 1)
                with m.Else():
                    with m.Switch(self.code):
                        for command in Command:
                            with m.Case(command):
                                m.next = "memory" if command in _MEMORY else command.name
                    m.d.comb += [
                        loader.start.eq(self.code == Command.QUADS),
                        memory.start.eq(1),
                    ]

            # Characters; the ROM takes two clocks, the sender many more for each.
            with m.State("HELLO"):
                m.d.sync += settle.eq(settle - 1)
                with m.If(count == len(self.identity)):
                    m.next = "finish"
                with m.Elif(settle == 0):

                    def next_character():
                        m.d.sync += [count.eq(count + 1), settle.eq(SETTLE - 1)]

                    send(text.data, 1, next_character)

            with m.State("BOUNDS"):
                base, limit = numbers[:BLOCK_BITS], numbers[BLOCK_BITS:]
                with m.If(limit > 1 << BLOCK_BITS):
                    m.d.sync += status.eq(Status.MALFORMED)
                    m.next = "finish"
                with m.Else():
                    m.d.sync += [
                        *(self.memory_base.eq(base), self.memory_limit.eq(limit)),
                        settle.eq(settle - 1),
                    ]
                    with m.If(settle == 0):
                        m.next = "finish"

            with m.State("memory"):
                m.d.comb += self.i_payload.ready.eq(memory.i_payload.ready)
                with m.If(memory.done):
                    m.d.sync += status.eq(memory.status)
                    m.next = "finish"

            with m.State("QUADS"):
                m.d.comb += [
                    loader.i.valid.eq(self.i_payload.valid),
                    self.i_payload.ready.eq(loader.i.ready),
                ]
                with m.If(loader.done):
                    m.d.sync += quads_over.eq(1)
                    with m.If(loader.broken):
                        m.d.sync += status.eq(Status.MALFORMED)
                with m.If(loader.o.valid & loader.o.ready):
                    m.d.sync += records.eq(records + 1)
                with m.If(self.i_answers.valid):

                    def answered():
                        m.d.comb += self.i_answers.ready.eq(1)
                        m.d.sync += answers.eq(answers + 1)

                    send(Value.cast(self.i_answers.payload), ANSWER_BYTES, answered)
                with m.If(quads_over & (answers == records)):
                    m.d.sync += answers.eq(0)
                    m.next = "finish"

            with m.State("COUNTERS"):
                m.d.sync += settle.eq(settle - 1)
                with m.If(count == self.counters):
                    m.next = "finish"
                with m.Elif(settle == 0):

                    def next_counter():
                        m.d.sync += [count.eq(count + 1), settle.eq(SETTLE - 1)]

                    send(self.counter_value, COUNTER_BYTES, next_counter)

            with m.State("finish"):
                with m.If(out.idle):
                    m.d.comb += self.done.eq(1)
                    m.next = "rest"
        return m
