"""No beat lost, doubled, invented or overtaken: proofs by following one beat.

Any one beat is watched: its payload is remembered and the beats ahead of it are counted. When they
are gone it must come out, unchanged. One bit of payload is enough for a block that only moves it.
"""

from __future__ import annotations

from amaranth.hdl import Assert, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from kit.formal import Spec
from minmip.hw.lib.credit import CreditBuffer
from minmip.hw.lib.queue import Queue

__all__ = ["Credits", "DelayDatapath", "QueueBeats", "WatchedBeat"]


class WatchedBeat(Spec):
    """Streams `i` and `o` carry the same beats in the same order.

    `capacity` bounds the beats inside; after `patience` clocks with beats inside, one is offered.
    """

    def __init__(self, block, capacity: int, patience: int):
        super().__init__(block)
        self.capacity = capacity
        self.patience = patience
        self.watch = self.free(1, "watch")
        self.inside = Signal(range(capacity + 2))
        self.watched = Signal()  # the watched beat is inside
        self.ahead = Signal.like(self.inside)  # beats that come before it
        self.value = Signal(len(Value.cast(block.i.payload)))

    def properties(self, m: Module) -> None:
        self.assume_inputs(m)
        i, o = self.block.i, self.block.o
        payload = Value.cast(o.payload)
        taken, given, over = Signal(), Signal(), Signal()
        m.d.comb += [taken.eq(i.valid & i.ready), given.eq(o.valid & o.ready)]

        m.d.sync += self.inside.eq(self.inside + taken - given)
        m.d.comb += Assert(self.inside <= self.capacity)
        with m.If(o.valid):
            m.d.comb += Assert(self.inside != 0)

        with m.If(taken & self.watch & ~self.watched & ~over):
            m.d.sync += [self.watched.eq(1), self.value.eq(Value.cast(i.payload))]
            m.d.sync += self.ahead.eq(self.inside - given)
        with m.If(self.watched):
            m.d.comb += Assert(self.ahead < self.inside)
            with m.If(o.valid & (self.ahead == 0)):
                m.d.comb += Assert(payload == self.value)
            with m.If(given):
                m.d.sync += self.ahead.eq(self.ahead - 1)
                with m.If(self.ahead == 0):
                    m.d.sync += [self.watched.eq(0), over.eq(1)]

        idle = Signal(range(self.patience + 2))
        m.d.sync += idle.eq(Mux((self.inside != 0) & ~o.valid, idle + 1, 0))
        m.d.comb += Assert(idle <= self.patience)


class QueueBeats(WatchedBeat):
    """The same for a `Queue`, with the invariants that make it inductive for any depth."""

    def __init__(self, depth: int, *, early: bool = False):
        queue = Queue(1, depth, early=early)
        super().__init__(queue, capacity=depth + 1, patience=1)
        self.probe = queue.rows.read_port(domain="comb")

    def properties(self, m: Module) -> None:
        super().properties(m)
        queue, o = self.block, self.block.o
        used = queue.more + 1
        m.d.comb += [
            Assert(queue.more + queue.free == queue.depth - 2),
            Assert(~queue.i.ready | (queue.free >= 0)),
            Assert(used <= queue.depth),
            Assert(self.inside == used + o.valid),
            Assert((queue.write.addr - queue.read.addr - used)[: len(queue.read.addr)] == 0),
            Assert(o.valid | (used <= 1)),
            Assert(queue.vacant == ~o.valid),
            self.probe.addr.eq(queue.read.addr + self.ahead - o.valid),
        ]
        with m.If(self.watched & ~(o.valid & (self.ahead == 0))):
            m.d.comb += Assert(self.probe.data == self.value)


class DelayDatapath(wiring.Component):
    """The simplest datapath: the payload, some clocks later. `valids` are its valid bits by age."""

    def __init__(self, shape, latency: int):
        self.latency = latency
        self.valids = [Signal(name=f"valid_q{n + 1}") for n in range(latency)]
        super().__init__({"i": In(shape), "i_valid": In(1), "o": Out(shape), "o_valid": Out(1)})

    def elaborate(self, platform):
        m = Module()
        value, valid = self.i, self.i_valid
        for n, valid_q in enumerate(self.valids):
            value_q = Signal(self.i.shape(), name=f"value_q{n + 1}", reset_less=True)
            m.d.sync += [value_q.eq(value), valid_q.eq(valid)]
            value, valid = value_q, valid_q
        m.d.comb += [Value.cast(self.o).eq(value), self.o_valid.eq(valid)]
        return m


class Credits(Spec):
    """Credits and beats inside always add up, so the response queue never overflows.

    With `QueueBeats` of the queue and `ValidLatency` of the datapath this proves that a credit
    buffer loses nothing, whatever its latency.
    """

    def __init__(self, latency: int):
        super().__init__(CreditBuffer(DelayDatapath(1, latency)))

    def properties(self, m: Module) -> None:
        self.assume_inputs(m)
        block = self.block
        queue = block.queue
        flying = sum(block.datapath.valids)
        used = queue.more + 1
        free = Signal(range(block.credits.places + 1))
        m.d.comb += [
            free.eq(block.credits.free),
            Assert(free + flying + used + queue.o.valid == block.credits.places),
            Assert(block.credits.promise),
            Assert(queue.o.valid | (used <= 1)),
            Assert(queue.vacant == ~queue.o.valid),
            Assert((used >= 0) & (used <= queue.depth)),
            Assert(~(block.datapath.o_valid & (used == queue.depth))),  # no overflow
        ]
