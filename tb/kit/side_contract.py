"""Stream contract of a block with queues beside its credit buffer."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from amaranth.hdl import Assert, Assume, Const, Module, Signal, Value

from kit.formal import FreeDatapath, Proof, StreamContract, contract_proofs, valid_proof
from minmip.hw.lib.credit import CreditBuffer
from minmip.hw.lib.queue import Queue

__all__ = ["SideContract", "side_proofs"]


class SlowDatapath(FreeDatapath):
    """Stands in for a datapath too, but takes as long as it likes: `arrives` is a free input."""

    def __init__(self, datapath):
        self.arrives = Signal(name="arrives")
        super().__init__(datapath)

    def elaborate(self, platform):
        m = Module()
        m.d.comb += [Value.cast(self.o).eq(self.any_result), self.o_valid.eq(self.arrives)]
        return m


class SideContract(StreamContract):
    """The contract, whatever the datapath answers: all queues hold the same beats.

    `queues` gives for each queue how many clocks after its beat was taken an entry is written; the
    results come later, no matter when.
    """

    def __init__(self, block, buffer: CreditBuffer, queues: Mapping[Queue, int]):
        self.buffer = buffer
        self.queues = dict(queues)
        self.latest = max(queues.values())
        if buffer.datapath.latency <= self.latest:
            raise ValueError(f"results must come after {self.latest} clocks")
        self.datapath = buffer.datapath = SlowDatapath(buffer.datapath)
        super().__init__(block)
        self.ports += [self.datapath.any_result, self.datapath.arrives]

    def properties(self, m: Module) -> None:
        super().properties(m)
        i, o = self.block.i, self.block.o
        places = self.buffer.credits.places
        # Beats inside, those in the datapath, and which of the last clocks took one.
        inside = Signal(range(places + 2), name="inside")
        working = Signal.like(inside, name="working")
        taken = Signal(max(self.latest, 1), name="taken")
        take, give, arrives = i.valid & i.ready, o.valid & o.ready, self.datapath.arrives
        m.d.sync += [
            inside.eq(inside + take - give),
            working.eq(working + take - arrives),
            taken.eq(take | taken << 1),
        ]

        def young(clocks):
            return sum((taken[n] for n in range(clocks)), Const(0))

        m.d.comb += [
            Assume(~arrives | (working > young(self.latest))),
            Assert(working >= young(self.latest)),
            Assert(self.buffer.credits.credit + 2 + inside == places),
            Assert(~i.ready | (inside < places)),
        ]
        for queue, clocks in self.queues.items():
            m.d.comb += Assert(queue.i.valid == (taken[clocks - 1] if clocks else take))
            self._holds(m, queue, inside - young(clocks))
        self._holds(m, self.buffer.queue, inside - working)

    def _holds(self, m: Module, queue: Queue, beats: Value) -> None:
        used = queue.more + 1
        m.d.comb += [
            Assert(used + queue.o.valid == beats),
            Assert(queue.o.valid | (used <= 1)),
            Assert(queue.vacant == ~queue.o.valid),
            Assert((used >= 0) & (used <= queue.depth)),
        ]


def side_proofs(
    name: str,
    make: Callable,
    queues: Callable[..., tuple[CreditBuffer, Mapping[Queue, int]]],
) -> list[Proof]:
    """Contract, offers and valid bits; `queues` finds what `SideContract` needs in a block."""

    def contract():
        block = make()
        return SideContract(block, *queues(block))

    def datapath():
        return queues(make())[0].datapath

    cover, depth = datapath().latency + 8, contract().latest + 2
    return [
        *contract_proofs(name, contract, cover=cover, depth=depth),
        valid_proof(name, datapath),
    ]
