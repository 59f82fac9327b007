"""Proofs of the front of the pipeline: contracts of its wide blocks, and the order at the join.

The blocks of the front are replaced by short queues that take beats when they like.
"""

from __future__ import annotations

from amaranth.hdl import Assume, Cat, Module, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out
from kit.beats import WatchedBeat
from kit.formal import Proof, StreamContract, contract_proofs
from kit.side_contract import side_proofs

from minmip.hw.config import PRESETS
from minmip.hw.lane_split import LaneSplit
from minmip.hw.lib.queue import Queue
from minmip.hw.quad_front import QuadFront
from minmip.hw.quad_gradients import QuadGradients

__all__ = ["proofs"]

CONFIG = PRESETS["small"]


class Short(wiring.Component):
    """In the place of a block: `answer(input payload, output payload)` in a queue of 2 rows.

    It takes no beat in some clocks, but never in two running.
    """

    def __init__(self, name, block, answer):
        self.answer = answer
        self.wait = Signal(name=f"wait_{name}")
        super().__init__(dict(block.signature.members.items()))

    def elaborate(self, platform):
        m = Module()
        m.submodules.queue = queue = Queue(self.o.payload.shape(), 2)
        waited, willing = Signal(), Signal()
        m.d.comb += [
            willing.eq(~self.wait | waited),
            queue.i.valid.eq(self.i.valid & willing),
            self.i.ready.eq(queue.i.ready & willing),
            *self.answer(self.i.payload, queue.i.payload),
        ]
        m.d.sync += waited.eq(~willing)
        wiring.connect(m, queue.o, wiring.flipped(self.o))
        return m


class Straight(wiring.Component):
    """In the place of the context table: the code of the answer, and no wait."""

    def __init__(self, table):
        super().__init__(dict(table.signature.members.items()))

    def elaborate(self, platform):
        m = Module()
        m.d.comb += [
            self.o.payload.code.eq(self.i.payload.code),
            self.o.valid.eq(self.i.valid),
            self.i.ready.eq(self.o.ready),
        ]
        return m


def short_front() -> tuple[QuadFront, list[Signal]]:
    """Build the front with short parts; bit 0 of the T# becomes bit 0 of the code."""
    front = QuadFront(CONFIG, ())
    front.decode = Short("decode", front.decode, lambda i, o: [o.code.eq(i.t_sharp[0][0])])
    front.table = Straight(front.table)
    front.gradients = Short(
        "gradients", front.gradients, lambda i, o: [Value.cast(o).eq(Value.cast(i))]
    )
    return front, [front.decode.wait, front.gradients.wait]


def front_contract() -> StreamContract:
    front, waits = short_front()
    spec = StreamContract(front)
    spec.ports += waits
    return spec


class ThreeBits(wiring.Component):
    """Of a quad only flush, one bit of the tag and one of the T#, which comes back as the code."""

    def __init__(self):
        super().__init__({"i": In(stream.Signature(3)), "o": Out(stream.Signature(3))})
        self.front, self.waits = short_front()

    def elaborate(self, platform):
        m = Module()
        m.submodules.front = front = self.front
        request, quad = front.i.payload, front.o.payload
        m.d.comb += [
            Cat(request.flush, request.tag[0]).eq(self.i.payload),
            # A flush comes with a T# that would be refused.
            request.t_sharp[0][0].eq(self.i.payload[0] | self.i.payload[2]),
            front.i.valid.eq(self.i.valid),
            self.i.ready.eq(front.i.ready),
            self.o.payload.eq(Cat(quad.flush, quad.tag[0], quad.code[0])),
            self.o.valid.eq(front.o.valid),
            front.o.ready.eq(self.o.ready),
        ]
        return m


class Order(WatchedBeat):
    """Quads and flushes come out in order, each with its own answer; a flush has code 0."""

    def properties(self, m: Module) -> None:
        super().properties(m)
        with m.If(self.block.i.payload[0]):
            m.d.comb += Assume(~self.block.i.payload[2])


def order() -> Order:
    block = ThreeBits()
    spec = Order(block, capacity=5, patience=8)
    spec.ports += block.waits
    return spec


def proofs() -> list[Proof]:
    return [
        Proof(
            block="quad_front",
            name="order",
            says=Order.__doc__,
            make=order,
            engine="abc pdr",
        ),
        *contract_proofs("quad_front", front_contract, cover=12),
        *contract_proofs("lane_split", lambda: StreamContract(LaneSplit(CONFIG)), cover=6),
        *side_proofs(
            "quad_gradients",
            lambda: QuadGradients(CONFIG),
            lambda block: (block.side.buffer, {block.side.queue: 0}),
        ),
    ]
