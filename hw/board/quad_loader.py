"""Quads out of the bytes of the host link: only what differs from the quad before is sent."""

from itertools import pairwise

from amaranth.hdl import Array, Cat, Const, Module, Signal, Value, unsigned
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.beats import QUAD_TAG_BITS, quad_request
from minmip.hw.config import UnitConfig

__all__ = ["GROUPS", "QuadLoader", "group_words"]

GROUPS = ("t_sharp", "s_sharp", "uvw", "slice", "ddx", "ddy", "lod", "clamp", "opcode")
"""First field of each part of a request that is sent or left out as a whole; the last has all the
small fields. Group n is bit n of a record's mask."""


def group_words(cfg: UnitConfig) -> list[range]:
    """32-bit words of the request that each group is."""
    layout = quad_request(cfg)
    ends = (layout.size + 31) // 32
    starts = [layout[name].offset for name in GROUPS]
    if any(start % 32 for start in starts) or sorted(starts) != starts:
        raise ValueError("the groups of a quad must be whole words, in their order")
    return [range(a, b) for a, b in pairwise([*(start // 32 for start in starts), ends])]


class QuadLoader(wiring.Component):
    """Read records and send a quad for each.

    A record is a mask of 16 bits, then the words of every group that it names, 4 bytes each. The
    words of other groups stay as they were; after reset all are 0. The tag is not taken from the
    record: quads and flushes are numbered from 0 on.

    Parameters
    ----------
    cfg : UnitConfig
        Axes of the coordinates.

    Members
    -------
    start : In(1)
        Read records.
    i : In(stream.Signature(8))
    empty : In(1)
        No more bytes will come.
    room : In(1)
        Another record may be read: there is a place for its answer.
    o : Out(stream.Signature(quad_request(cfg)))
    done : Out(1)
        For one clock: no more records.
    broken : Out(1)
        With `done`: a record was not whole, or there was no room; it is not sent.
    """

    start: Signal
    i: stream.Interface
    empty: Signal
    room: Signal
    o: stream.Interface
    done: Signal
    broken: Signal

    def __init__(self, cfg: UnitConfig):
        self.cfg = cfg
        super().__init__(
            {
                "start": In(1),
                "i": In(stream.Signature(unsigned(8))),
                "empty": In(1),
                "room": In(1),
                "o": Out(stream.Signature(quad_request(cfg))),
                "done": Out(1),
                "broken": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        groups = group_words(self.cfg)
        words = [Signal(32, name=f"word{n}") for n in range(groups[-1].stop)]
        group_of = Array(
            Const(group, range(len(GROUPS))) for group, span in enumerate(groups) for _ in span
        )
        mask = Signal(16)
        index = Signal(range(len(words) + 1))
        word = Signal(24)  # its first bytes
        at = Signal(2)
        tag = Signal(QUAD_TAG_BITS)
        request = Value.cast(self.o.payload)
        m.d.comb += [request.eq(Cat(words)), self.o.payload.tag.eq(tag)]

        def take(next_byte):
            """Wait for a byte of a record that has begun."""
            with m.If(self.i.valid):
                m.d.comb += self.i.ready.eq(1)
                next_byte()
            with m.Elif(self.empty):
                m.d.comb += [self.done.eq(1), self.broken.eq(1)]
                m.next = "rest"

        def mask_high():
            m.d.sync += [mask[8:].eq(self.i.payload), index.eq(0), at.eq(0)]
            m.next = "scan"

        def word_byte():
            m.d.sync += [word.eq(Cat(word[8:], self.i.payload)), at.eq(at + 1)]
            with m.If(at == 3):
                with m.Switch(index):
                    for n, target in enumerate(words):
                        with m.Case(n):
                            m.d.sync += target.eq(Cat(word, self.i.payload))
                m.d.sync += index.eq(index + 1)
                m.next = "scan"

        with m.FSM():
            with m.State("rest"):
                with m.If(self.start):
                    m.next = "mask"
            with m.State("mask"):
                with m.If(self.i.valid & self.room):
                    m.d.comb += self.i.ready.eq(1)
                    m.d.sync += mask[:8].eq(self.i.payload)
                    m.next = "mask_high"
                with m.Elif(self.i.valid | self.empty):
                    m.d.comb += [self.done.eq(1), self.broken.eq(self.i.valid)]
                    m.next = "rest"
            with m.State("mask_high"):
                take(mask_high)
            with m.State("scan"):
                with m.If(index == len(words)):
                    m.next = "send"
                with m.Elif(mask.bit_select(group_of[index], 1)):
                    m.next = "word"
                with m.Else():
                    m.d.sync += index.eq(index + 1)
            with m.State("word"):
                take(word_byte)
            with m.State("send"):
                m.d.comb += self.o.valid.eq(1)
                with m.If(self.o.ready):
                    m.d.sync += tag.eq(tag + 1)
                    m.next = "mask"
        return m
