"""What requests do to the map memory: clear, write, read."""

from amaranth.hdl import Cat, Module, Mux, Signal, Value, unsigned
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.board.protocol import MAX_PAYLOAD, NUMBER_BYTES, Command, Status
from minmip.hw.board.to_bytes import reply_word
from minmip.hw.config import UnitConfig
from minmip.hw.shapes import clear_request, clear_result, host_request, host_response

__all__ = ["MemoryCommands"]


class MemoryCommands(wiring.Component):
    """Carry out CLEAR, WRITE and READ. A range that is partly outside is done where it is inside.

    Parameters
    ----------
    cfg : UnitConfig
        Words of the map memory.

    Attributes
    ----------
    resting : Signal
        There is no request; for proofs.

    Members
    -------
    start : In(1)
        A request begins, for one clock; `code` and `numbers` are its own.
    code : In(8)
        Another one than these three does nothing, and does not end.
    numbers : In
        Its first bytes.
    i_payload : In(stream.Signature(8))
        The bytes behind.
    empty : In(1)
        There are no more.
    o : Out(stream.Signature(reply_word(cfg)))
        Words of the reply.
    done : Out(1)
        For one clock: all is done, and its last word was taken from `o`.
    status : Out(8)
        With `done`.
    o_host, i_host, o_clear, i_clear
        The streams of the unit.
    """

    start: Signal
    code: Signal
    numbers: Signal
    i_payload: stream.Interface
    empty: Signal
    o: stream.Interface
    done: Signal
    status: Signal
    o_host: stream.Interface
    i_host: stream.Interface
    o_clear: stream.Interface
    i_clear: stream.Interface

    def __init__(self, cfg: UnitConfig):
        self.cfg = cfg
        self.resting = Signal()
        super().__init__(
            {
                "start": In(1),
                "code": In(8),
                "numbers": In(8 * NUMBER_BYTES),
                "i_payload": In(stream.Signature(unsigned(8))),
                "empty": In(1),
                "o": Out(stream.Signature(reply_word(cfg))),
                "done": Out(1),
                "status": Out(8),
                "o_host": Out(stream.Signature(host_request(cfg))),
                "i_host": In(stream.Signature(host_response(cfg))),
                "o_clear": Out(stream.Signature(clear_request())),
                "i_clear": In(stream.Signature(clear_result())),
            }
        )

    def elaborate(self, platform):
        m = Module()
        word_bytes = self.cfg.word_bytes
        address = Signal(self.o_host.payload.address.shape())
        word = Signal(8 * word_bytes)
        byte = Signal(range(word_bytes))
        writing = Signal()
        words, count = self.numbers[48:64], Signal(16)
        m.d.comb += [
            self.o_host.payload.address.eq(address),
            Value.cast(self.o_host.payload.data).eq(word),
            self.o_host.payload.mask.eq(writing.replicate(word_bytes)),
            self.o_clear.payload.start.eq(self.numbers[:48]),
            self.o_clear.payload.length.eq(self.numbers[48:80]),
            self.o_clear.payload.value.eq(self.numbers[80:88]),
            self.i_host.ready.eq(1),
            self.i_clear.ready.eq(1),
            self.o.payload.word.eq(word),
            self.o.payload.count.eq(word_bytes),
        ]

        def answered():
            """Go on to the next word."""
            m.d.sync += address.eq(address + 1)
            with m.If(self.i_host.payload.error):
                m.d.sync += self.status.eq(Status.OUTSIDE)

        with m.FSM() as fsm:
            m.d.comb += self.resting.eq(fsm.ongoing("rest"))
            with m.State("rest"):
                m.d.sync += [
                    *(byte.eq(0), count.eq(0), self.status.eq(Status.DONE)),
                    address.eq(self.numbers[self.cfg.word_log2 : 48]),
                ]
                with m.If(self.start):
                    with m.Switch(self.code):
                        for command in (Command.CLEAR, Command.WRITE, Command.READ):
                            with m.Case(command):
                                m.next = command.name
            with m.State("CLEAR"):
                # The engine would go on for seconds, a word per clock.
                with m.If(self.numbers[48:80] > self.cfg.memory_bytes):
                    m.d.sync += self.status.eq(Status.MALFORMED)
                    m.next = "finish"
                with m.Else():
                    m.d.comb += self.o_clear.valid.eq(1)
                    with m.If(self.o_clear.ready):
                        m.next = "cleared"
            with m.State("cleared"):
                with m.If(self.i_clear.valid):
                    error = self.i_clear.payload.error
                    m.d.sync += self.status.eq(Mux(error, Status.OUTSIDE, Status.DONE))
                    m.next = "finish"

            with m.State("WRITE"):
                m.d.comb += self.i_payload.ready.eq(1)
                with m.If(self.i_payload.valid):
                    m.d.sync += [
                        word.eq(Cat(word[8:], self.i_payload.payload)),
                        byte.eq(byte + 1),
                    ]
                    with m.If(byte == word_bytes - 1):
                        m.next = "write"
                with m.Elif(self.empty):
                    m.next = "finish"
            with m.State("write"):
                m.d.comb += [self.o_host.valid.eq(1), writing.eq(1)]
                with m.If(self.o_host.ready):
                    m.next = "written"
            with m.State("written"):
                with m.If(self.i_host.valid):
                    answered()
                    m.next = "WRITE"

            with m.State("READ"):
                with m.If(words > MAX_PAYLOAD // word_bytes):
                    m.d.sync += self.status.eq(Status.MALFORMED)
                    m.next = "finish"
                with m.Elif(count == words):
                    m.next = "finish"
                with m.Else():
                    m.d.comb += self.o_host.valid.eq(1)
                    with m.If(self.o_host.ready):
                        m.next = "read"
            with m.State("read"):
                with m.If(self.i_host.valid):
                    answered()
                    m.d.sync += word.eq(Value.cast(self.i_host.payload.data))
                    m.next = "give"
            with m.State("give"):
                m.d.comb += self.o.valid.eq(1)
                with m.If(self.o.ready):
                    m.d.sync += count.eq(count + 1)
                    m.next = "READ"

            with m.State("finish"):
                m.d.comb += self.done.eq(1)
                m.next = "rest"
        return m
