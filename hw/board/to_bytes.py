"""Words to bytes, lowest first."""

from amaranth.hdl import Module, Signal, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

__all__ = ["ToBytes"]


class ToBytes(wiring.Component):
    """Send the lowest bytes of a word, a byte per clock.

    Parameters
    ----------
    word_bytes : int
        Room of a word.

    Members
    -------
    i : In(stream.Signature(StructLayout(word, count)))
        `count` bytes, 1 or more.
    o : Out(stream.Signature(8))
    idle : Out(1)
        Everything taken was sent.
    """

    i: stream.Interface
    o: stream.Interface
    idle: Signal

    def __init__(self, word_bytes: int):
        self.word_bytes = word_bytes
        word = data.StructLayout(
            {"word": unsigned(8 * word_bytes), "count": unsigned(word_bytes.bit_length())}
        )
        super().__init__(
            {
                "i": In(stream.Signature(word)),
                "o": Out(stream.Signature(unsigned(8))),
                "idle": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        word = Signal(8 * self.word_bytes)
        left = Signal.like(self.i.payload.count)
        m.d.comb += [
            self.idle.eq(left == 0),
            self.i.ready.eq(self.idle),
            self.o.valid.eq(~self.idle),
            self.o.payload.eq(word[:8]),
        ]
        with m.If(self.i.valid & self.i.ready):
            m.d.sync += [word.eq(self.i.payload.word), left.eq(self.i.payload.count)]
        with m.Elif(self.o.valid & self.o.ready):
            m.d.sync += [word.eq(word >> 8), left.eq(left - 1)]
        return m
