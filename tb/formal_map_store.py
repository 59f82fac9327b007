"""Proofs of the map store, the host port and the clear engine."""

from __future__ import annotations

from dataclasses import replace

from amaranth.hdl import Assert, Assume, Cat, Module, Mux, Signal, Value, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In
from kit.formal import Proof, Spec, StreamContract, contract_proofs
from memory_bench import SMALL

from minmip.hw.atomic_memory import AtomicMemory
from minmip.hw.clear_engine import ClearEngine
from minmip.hw.host_port import HostPort
from minmip.hw.lib.delay import delay
from minmip.hw.map_memory import MapMemorySignature
from minmip.hw.map_store import MapStore
from minmip.hw.memory_port import PORT_CLOCKS
from minmip.hw.shapes import TAG_BITS

__all__ = ["proofs"]


class AnyMemory(wiring.Component):
    """Answers anything at any time."""

    def __init__(self, cfg):
        super().__init__({"port": In(MapMemorySignature(cfg))})
        self.any_data = Signal(8 * cfg.word_bytes, name="any_data")

    def elaborate(self, platform):
        m = Module()
        m.d.comb += Value.cast(self.port.read_data).eq(self.any_data)
        return m


def contract_of(block):
    """The stream contract of a block around a memory: it does not hang on what the memory holds.

    The resolve engine, whose addresses take multipliers, has proofs of its own.
    """
    cfg = replace(SMALL, resolves=False)
    memory = AnyMemory(cfg)
    spec = StreamContract(block(cfg, memory))
    spec.ports.append(memory.any_data)
    return spec


class AnswersFit(Spec):
    """No answer comes without a place in its client's queue, whatever the host does."""

    def __init__(self):
        super().__init__(HostPort(SMALL))
        requests = self.block.requests
        self.probes = [requests.rows.read_port(domain="comb") for _ in range(requests.depth)]

    def properties(self, m: Module) -> None:
        self.assume_inputs(m)
        block = self.block
        # The memory port: each request is answered after so many clocks, in order.
        port = block.o_port
        flight = [Cat(port.valid & port.ready, port.payload.tag)]
        for age in range(1, SMALL.memory_latency + PORT_CLOCKS + 1):
            flight.append(delay(m, flight[-1], 1, name=f"flight{age}", reset_less=False))
        m.d.comb += [
            Assume(block.i_port_valid == flight[-1][0]),
            Assume(block.i_port.tag == flight[-1][1:]),
        ]
        # What waits: at the output of the queue and in its rows.
        requests = block.requests
        waits = [Cat(port.valid, port.payload.tag[TAG_BITS:])]
        for place, probe in enumerate(self.probes):
            m.d.comb += probe.addr.eq(requests.read.addr + place)
            waits.append(Cat(requests.more >= place, probe.data.tag[TAG_BITS:]))
        used = requests.more + 1
        m.d.comb += [
            Assert(requests.more + requests.free == requests.depth - 2),
            Assert((used >= 0) & (used <= requests.depth) & (port.valid | (used <= 1))),
            Assert((requests.write.addr - requests.read.addr - used)[: len(probe.addr)] == 0),
            Assert(requests.i.ready | ~Cat(i.ready for i in block.i).any()),
            Assert(requests.vacant == ~requests.o.valid),
        ]
        for n in range(block.clients):
            queue, i = block.answers[n], block.i[n]
            # Beats that the counter has not heard of yet are taken off.
            late = delay(m, i.valid & i.ready, 1, name=f"late{n}", reset_less=False)
            free = block.credits[n].free - late
            used = queue.more + 1
            flying = sum(one[0] & (one[1 + TAG_BITS :] == n) for one in flight[1:])
            waiting = sum(one[0] & (one[1:] == n) for one in waits)
            places = block.credits[n].places
            m.d.comb += [
                Assert(free + waiting + flying + used + queue.o.valid == places),
                Assert((free >= -1) & (free <= places)),
                Assert(~block.credits[n].ready | (free >= 0)),
                Assert(~i.ready | (block.credits[n].ready & (block.turn == n))),
                Assert((used >= 0) & (used <= queue.depth)),
                Assert(queue.o.valid | (used <= 1)),
                Assert(queue.vacant == ~queue.o.valid),
                Assert(~(queue.i.valid & (used == queue.depth))),  # no overflow
            ]


class ClearCounts(StreamContract):
    """Words unsent, queued and unanswered add up, so the result comes with the last answer."""

    def __init__(self):
        super().__init__(ClearEngine(SMALL))

    def properties(self, m: Module) -> None:
        super().properties(m)
        block = self.block
        request, response = block.o_request, block.i_response
        asked = Signal(signed(len(block.to_hear) + 1))
        m.d.sync += asked.eq(asked + (request.valid & request.ready) - response.valid)
        m.d.comb += Assume(~response.valid | (asked > 0))
        unsent = Mux(block.sending, block.to_send + 2, 0)
        unheard = Mux(block.hearing, block.to_hear + 2, 0)
        queued = block.words.more + 1 + block.words.o.valid
        m.d.comb += [
            Assert(unsent + queued + asked == unheard),
            Assert(block.hearing | ~block.sending),
            Assert(~block.sending | (block.to_send >= -1)),
            Assert(~block.hearing | (block.to_hear >= -1)),
            Assert((asked >= 0) & (block.words.more >= -1)),
            Assert(block.words.more + block.words.free == block.words.depth - 2),
            Assert(~block.words.i.ready | (block.words.free >= 0)),
            Assert(block.words.vacant == ~block.words.o.valid),
            Assert(~block.o.valid | (unheard == 0)),
        ]


def proofs() -> list[Proof]:
    return [
        *contract_proofs("atomic_memory", lambda: contract_of(AtomicMemory), cover=2),
        *contract_proofs("map_store", lambda: contract_of(MapStore), cover=24),
        Proof(block="host_port", name="answers", says=AnswersFit.__doc__, make=AnswersFit),
        Proof(
            block="clear_engine",
            name="contract",
            says="valid and payload of every output stay until the transfer. "
            f"{ClearCounts.__doc__}",
            make=ClearCounts,
            depth=4,  # from the request to the counts
        ),
    ]
