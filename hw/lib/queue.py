"""First-in first-out queue with registers on both sides."""

from amaranth.hdl import Module, Mux, Signal
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
    never_full : bool
        The producer counts, so that there is always room: `i.ready` is 1.
    early : bool
        `i.ready` is decided a clock early, by a register that may lie far from the counters; for
        that a row is kept back. Needs 4 rows.

    Attributes
    ----------
    more, free, vacant : Signal
    rows : Memory
    write, read
        The state that proofs look at: counters, the rows and their two ports.

    Members
    -------
    i : In(stream.Signature(shape))
    o : Out(stream.Signature(shape))
    """

    i: stream.Interface
    o: stream.Interface

    def __init__(self, shape, depth: int, *, never_full: bool = False, early: bool = False):
        least = 4 if early else 2
        if depth < least or depth & (depth - 1):
            raise ValueError(f"depth must be a power of two from {least}, not {depth}")
        self.shape = shape
        self.depth = depth
        self.never_full = never_full
        self.early = early
        # Beats in the rows and free rows, each less one: the signs say "empty" and "full".
        self.more = Signal(range(-1, depth), init=-1)
        self.free = Signal(range(-1, depth), init=depth - 1)
        # The opposite of o.valid, for the counters alone: o.valid has the whole payload to enable.
        self.vacant = Signal(init=1)
        # Unasked, Yosys makes a block RAM with a slow output of 64 rows and their register.
        self.rows = Memory(shape=shape, depth=depth, init=[], attrs={"ram_style": "distributed"})
        self.write, self.read = self.rows.write_port(), self.rows.read_port(domain="comb")
        super().__init__({"i": In(stream.Signature(shape)), "o": Out(stream.Signature(shape))})

    def elaborate(self, platform):
        m = Module()
        m.submodules.rows = self.rows
        write, read = self.write, self.read
        push, pop, go = Signal(), Signal(), Signal()
        if self.early:
            ready = Signal(init=1)
            # Two rows were free, and one beat may have come since.
            m.d.sync += ready.eq(self.free > 0)
        else:
            ready = 1 if self.never_full else ~self.free[-1]
        m.d.comb += [
            self.i.ready.eq(ready),
            push.eq(self.i.valid & self.i.ready),
            go.eq(~self.o.valid | self.o.ready),
            pop.eq(~self.more[-1] & (self.vacant | self.o.ready)),
            # A free row may be written with anything, until a beat moves the address on.
            write.en.eq(push if self.never_full else self.i.ready),
            write.data.eq(self.i.payload),
        ]
        with m.If(push):
            m.d.sync += write.addr.eq(write.addr + 1)
        with m.If(pop):
            m.d.sync += read.addr.eq(read.addr + 1)
        with m.If(self.vacant | self.o.ready):
            m.d.sync += self.vacant.eq(self.more[-1])
        with m.If(push != pop):
            m.d.sync += self.more.eq(self.more + Mux(push, 1, -1))
            if not self.never_full:
                m.d.sync += self.free.eq(self.free + Mux(push, -1, 1))

        # The payload is loaded even of an empty queue: `go` alone is a shorter path than `pop`.
        with m.If(go):
            m.d.sync += [self.o.payload.eq(read.data), self.o.valid.eq(~self.more[-1])]
        return m
