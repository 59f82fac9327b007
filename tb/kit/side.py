"""Stream contract of a block that is a `SideBuffer`: its side data is there when the result is."""

from __future__ import annotations

from amaranth.hdl import Assert, Module, Shape, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from kit.formal import StreamContract
from minmip.hw.lib.side_buffer import SideBuffer

__all__ = ["AnyDatapath", "SideContract"]


class AnyDatapath(wiring.Component):
    """Any results with the right valid bits, which are `valids` by age."""

    def __init__(self, datapath):
        self.latency = datapath.latency
        self.valids = [Signal(name=f"valid_q{n + 1}") for n in range(self.latency)]
        members = datapath.signature.members
        self.any_result = Signal(Shape.cast(members["o"].shape).width, name="any_result")
        super().__init__(
            {
                "i": In(members["i"].shape),
                "i_valid": In(1),
                "o": Out(members["o"].shape),
                "o_valid": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        for younger, older in zip([self.i_valid, *self.valids], self.valids, strict=False):
            m.d.sync += older.eq(younger)
        m.d.comb += [Value.cast(self.o).eq(self.any_result), self.o_valid.eq(self.valids[-1])]
        return m


class SideContract(StreamContract):
    """The stream contract, by what makes it inductive: every beat inside `side` is in its datapath
    or response queue, and once in its side queue.

    `side` is the `SideBuffer` of the block; its datapath is replaced, so the result is for any.
    """

    def __init__(self, block, side: SideBuffer):
        super().__init__(block)
        self.side = side
        side.buffer.datapath = self.datapath = AnyDatapath(side.buffer.datapath)
        self.ports.append(self.datapath.any_result)

    def properties(self, m: Module) -> None:
        super().properties(m)
        response, credits = self.side.buffer.queue, self.side.buffer.credits
        inside = sum(self.datapath.valids) + response.more + 1 + response.o.valid
        free = Signal(range(credits.places + 1), name="free_places")
        m.d.comb += [
            free.eq(credits.credit + 2),
            Assert(free + inside == credits.places),
            Assert(~credits.ready | (free != 0)),
        ]
        self.queue_is_sound(m, response)
        self.waits_beside(m, self.side.queue, 0)

    def queue_is_sound(self, m: Module, queue) -> None:
        """What is always true of a queue that never overflows."""
        used = queue.more + 1
        m.d.comb += [
            Assert((used >= 0) & (used <= queue.depth)),
            Assert(queue.o.valid | (used <= 1)),
            Assert(queue.vacant == ~queue.o.valid),
        ]

    def waits_beside(self, m: Module, queue, clocks: int) -> None:
        """`queue` gets every beat `clocks` after the datapath does, and keeps it as long."""
        valids, response = self.datapath.valids, self.side.buffer.queue
        behind = sum(valids[clocks:]) + response.more + 1 + response.o.valid
        self.queue_is_sound(m, queue)
        m.d.comb += Assert(behind == queue.more + 1 + queue.o.valid)
        # What is not at its output came in a clock ago.
        with m.If(~queue.o.valid):
            m.d.comb += Assert(queue.more + 1 == valids[clocks])
