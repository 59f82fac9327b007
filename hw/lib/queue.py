"""First-in first-out queue with registers on both sides."""

from amaranth.hdl import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

__all__ = ["Queue"]


class Queue(wiring.Component):
    """Hold beats of a stream in order; cut the path of `ready`.

    One beat per clock, latency 2. `i.ready`, `o.valid` and `o.payload` are registers; `o.ready`
    reaches nothing but registers. The rows are read without a clock, so they become look-up table
    memory (16 rows each on ECP5) and not block RAM.

    Parameters
    ----------
    shape : ShapeLike
        Payload.
    depth : int
        Rows, a power of two from 2. The output register holds one beat more.

    Members
    -------
    i : In(stream.Signature(shape))
    o : Out(stream.Signature(shape))
    """

    i: stream.Interface
    o: stream.Interface

    def __init__(self, shape, depth: int):
        if depth < 2 or depth & (depth - 1):
            raise ValueError(f"depth must be a power of two from 2, not {depth}")
        self.shape = shape
        self.depth = depth
        super().__init__({"i": In(stream.Signature(shape)), "o": Out(stream.Signature(shape))})

    def elaborate(self, platform):
        m = Module()
        m.submodules.rows = rows = Memory(shape=self.shape, depth=self.depth, init=[])
        write, read = rows.write_port(), rows.read_port(domain="comb")

        level = Signal(range(self.depth + 1))  # beats in the rows
        some = Signal()  # level != 0
        room = Signal(init=1)  # level != depth
        push, pop = Signal(), Signal()
        m.d.comb += [
            self.i.ready.eq(room),
            push.eq(self.i.valid & room),
            pop.eq(some & (~self.o.valid | self.o.ready)),
            write.en.eq(push),
            write.data.eq(self.i.payload),
        ]
        with m.If(push):
            m.d.sync += write.addr.eq(write.addr + 1)
        with m.If(push & ~pop):
            m.d.sync += [level.eq(level + 1), some.eq(1), room.eq(level != self.depth - 1)]
        with m.If(pop & ~push):
            m.d.sync += [level.eq(level - 1), some.eq(level != 1), room.eq(1)]

        with m.If(pop):
            m.d.sync += [read.addr.eq(read.addr + 1), self.o.payload.eq(read.data)]
        with m.If(~self.o.valid | self.o.ready):
            m.d.sync += self.o.valid.eq(some)
        return m
