"""Queue whose beats are read twice: ahead, to prepare for them, and in the end."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

__all__ = ["ReplayQueue"]


class ReplayQueue(wiring.Component):
    """Hold beats until they are `done`; give them out ahead of that, and once more when asked to.

    One beat per clock at each port. `i.ready` is a register; `head`, `ahead`, `ahead_valid` and
    `empty` follow registers.

    Parameters
    ----------
    shape : ShapeLike
        Payload.
    depth : int
        Rows, a power of two from 2.

    Members
    -------
    i : In(stream.Signature(shape))
    head : Out(shape)
        The oldest beat.
    done : In(1)
        It may go.
    ahead : Out(shape)
        The next beat to prepare for.
    ahead_valid : Out(1)
        There is one.
    go : In(1)
        It is taken, if there is one.
    again : In(1)
        With `done`: go back to the beat behind the oldest.
    empty : Out(1)
    """

    i: stream.Interface
    done: Signal
    ahead_valid: Signal
    go: Signal
    again: Signal
    empty: Signal

    def __init__(self, shape, depth: int):
        if depth < 2 or depth & (depth - 1):
            raise ValueError(f"depth must be a power of two from 2, not {depth}")
        self.shape = shape
        self.depth = depth
        super().__init__(
            {
                "i": In(stream.Signature(shape)),
                "head": Out(shape),
                "done": In(1),
                "ahead": Out(shape),
                "ahead_valid": Out(1),
                "go": In(1),
                "again": In(1),
                "empty": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.rows = rows = Memory(
            shape=self.shape, depth=self.depth, init=[], attrs={"ram_style": "distributed"}
        )
        write = rows.write_port()
        head, ahead = rows.read_port(domain="comb"), rows.read_port(domain="comb")
        # One bit more than the address tells full from empty.
        write_at, head_at, ahead_at = (
            Signal(range(2 * self.depth), name=f"{name}_at") for name in ("write", "head", "ahead")
        )
        free = Signal(range(-1, self.depth), init=self.depth - 1)  # free rows, less one
        push = Signal()
        m.d.comb += [
            self.i.ready.eq(~free[-1]),
            push.eq(self.i.valid & self.i.ready),
            write.en.eq(self.i.ready),
            write.addr.eq(write_at),
            write.data.eq(self.i.payload),
            head.addr.eq(head_at),
            self.head.eq(head.data),
            ahead.addr.eq(ahead_at),
            self.ahead.eq(ahead.data),
            self.ahead_valid.eq(ahead_at != write_at),
            self.empty.eq(head_at == write_at),
        ]
        with m.If(push):
            m.d.sync += write_at.eq(write_at + 1)
        with m.If(self.done):
            m.d.sync += head_at.eq(head_at + 1)
        with m.If(push != self.done):
            m.d.sync += free.eq(free + Mux(push, -1, 1))
        with m.If(self.again):
            m.d.sync += ahead_at.eq(head_at + 1)
        with m.Elif(self.go & self.ahead_valid):
            m.d.sync += ahead_at.eq(ahead_at + 1)
        return m
