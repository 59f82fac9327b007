"""Queue whose beats are read twice: ahead, to prepare for them, and in the end."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from minmip.hw.lib.delay import delay

__all__ = ["ReplayQueue"]


class ReplayQueue(wiring.Component):
    """Hold beats until they are `done`; give them out ahead of that, and once more when asked to.

    One beat per clock at each port, latency 2 to `ahead`; a row that is `done` is free 2 clocks
    later. `i.ready` is a register; `head`, `ahead`, `ahead_valid` and `empty` follow registers.

    Parameters
    ----------
    shape : ShapeLike
        Payload.
    depth : int
        Rows, a power of two from 4.

    Attributes
    ----------
    rows : Memory
    write_at, head_at, ahead_at, free : Signal
        The state that proofs look at: the rows, three places in them, and free rows less one.

    Members
    -------
    i : In(stream.Signature(shape))
    head : Out(shape)
        The oldest beat.
    done : In(1)
        It may go.
    ahead : Out(shape)
        The next beat to prepare for; in each clock it is taken, if there is one.
    ahead_valid : Out(1)
        There is one.
    again : In(1)
        Go back to the beat behind the oldest instead.
    empty : Out(1)
    """

    i: stream.Interface
    done: Signal
    ahead_valid: Signal
    again: Signal
    empty: Signal

    def __init__(self, shape, depth: int):
        if depth < 4 or depth & (depth - 1):
            raise ValueError(f"depth must be a power of two from 4, not {depth}")
        self.shape = shape
        self.depth = depth
        self.rows = Memory(shape=shape, depth=depth, init=[], attrs={"ram_style": "distributed"})
        # One bit more than the address tells full from empty.
        self.write_at, self.head_at, self.ahead_at = (
            Signal(range(2 * depth), name=f"{name}_at") for name in ("write", "head", "ahead")
        )
        self.free = Signal(range(-1, depth), init=depth - 1)
        super().__init__(
            {
                "i": In(stream.Signature(shape)),
                "head": Out(shape),
                "done": In(1),
                "ahead": Out(shape),
                "ahead_valid": Out(1),
                "again": In(1),
                "empty": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.rows = rows = self.rows
        write = rows.write_port()
        head, ahead = rows.read_port(domain="comb"), rows.read_port(domain="comb")
        write_at, head_at, ahead_at = self.write_at, self.head_at, self.ahead_at
        free = self.free
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
            # The place ahead is never a whole round behind, so the address is enough. A clock late:
            # `write_at` has all rows to address.
            self.ahead_valid.eq(ahead.addr != delay(m, write.addr, 1, name="written_at")),
            self.empty.eq(head_at == write_at),
        ]
        with m.If(push):
            m.d.sync += write_at.eq(write_at + 1)
        with m.If(self.done):
            m.d.sync += head_at.eq(head_at + 1)
        # What makes `done` may come late.
        done = delay(m, self.done, 1, name="done", reset_less=False)
        with m.If(push != done):
            m.d.sync += free.eq(free + Mux(push, -1, 1))
        with m.If(self.again | self.ahead_valid):
            m.d.sync += ahead_at.eq(Mux(self.again, head_at, ahead_at) + 1)
        return m
