"""Words to bytes, lowest first."""

from amaranth.hdl import Module, Signal, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.board.protocol import ANSWER_BYTES
from minmip.hw.config import UnitConfig

__all__ = ["ToBytes", "reply_word"]


def reply_word(cfg: UnitConfig) -> data.StructLayout:
    """The lowest `count` bytes of a word, 1 or more: an answer, or a word of the map memory."""
    room = max(cfg.word_bytes, ANSWER_BYTES)
    return data.StructLayout({"word": unsigned(8 * room), "count": unsigned(room.bit_length())})


class ToBytes(wiring.Component):
    """Send the lowest bytes of a word, a byte per clock.

    Parameters
    ----------
    cfg : UnitConfig
        Words of the map memory.

    Members
    -------
    i : In(stream.Signature(reply_word(cfg)))
    o : Out(stream.Signature(8))
    idle : Out(1)
        Everything taken was sent.
    """

    i: stream.Interface
    o: stream.Interface
    idle: Signal

    def __init__(self, cfg: UnitConfig):
        super().__init__(
            {
                "i": In(stream.Signature(reply_word(cfg))),
                "o": Out(stream.Signature(unsigned(8))),
                "idle": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        word = Signal.like(self.i.payload.word)
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
