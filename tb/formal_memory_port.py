"""Proofs of the memory port: no update lost, no other byte touched, every answer on time.

One byte of the memory, any, is watched. The memory is no array: it is that byte, which a read gives
back as `MapMemorySignature` promises and no better. So the proofs hold for every memory that keeps
the promise, and not for the size of one.
"""

from __future__ import annotations

from dataclasses import replace

from amaranth.hdl import Array, Assert, Assume, Cat, Const, Cover, Module, Mux, Signal, Value
from kit.formal import Proof, Spec
from memory_bench import SMALL

from minmip.hw.lib.delay import delay
from minmip.hw.memory_port import MemoryPort
from minmip.hw.shapes import MemoryOp

__all__ = ["PortSpec", "proofs"]


class PortSpec(Spec):
    """The watched byte is what the operations made of it, in the order of their acceptance."""

    def __init__(self, latency: int):
        self.cfg = replace(SMALL, memory_latency=latency)
        super().__init__(MemoryPort(self.cfg))
        self.place = self.free(len(self.block.memory.read_addr), "watched_place")
        self.lane = self.free(self.cfg.word_log2, "watched_lane")

    def byte(self, word):
        return Array(word[n] for n in range(self.cfg.word_bytes))[self.lane]

    def properties(self, m: Module) -> None:
        block, memory, clocks = self.block, self.block.memory, self.block.latency
        self.assume_inputs(m)
        begun = delay(m, Value.cast(1), 1, name="begun", reset_less=False)
        for value in (block.base, block.limit, self.place, self.lane):
            m.d.comb += Assume(~begun | (value == delay(m, value, 1, name="same")))

        # The memory.
        stored = Signal(8)
        here = memory.write_addr == self.place
        with m.If(here & self.byte(memory.write_mask)):
            m.d.sync += stored.eq(self.byte(memory.write_data))
        known = memory.read_en & (memory.read_addr == self.place)
        known &= ~(here & memory.write_mask.any())
        answer = delay(m, Cat(stored, known), self.cfg.memory_latency, name="answer")
        m.d.comb += Assume(~answer[8] | (self.byte(memory.read_data) == answer[:8]))

        # The rule: operations in the order of acceptance.
        word_bits = 8 - self.cfg.word_log2
        block_at = block.base + self.place[word_bits:]
        inside = block_at < block.limit
        watched = Cat(self.place[:word_bits], block_at)
        own, host = block.i.payload, block.i_host.payload
        take_own = block.i.valid & block.i.ready
        take_host = block.i_host.valid & block.i_host.ready
        address = Mux(take_host, host.address, own.address)
        operand = Mux(take_host, self.byte(host.data), self.byte(own.data))
        enabled = Mux(take_host, self.byte(host.mask), self.byte(own.mask))
        hit = (take_own | take_host) & (address == watched) & inside
        rule, after = Signal(8), Signal(8)
        m.d.comb += after.eq(rule)
        with m.If(hit & enabled):
            with m.Switch(Mux(take_host, MemoryOp.SET, own.op)):
                with m.Case(MemoryOp.MIN):
                    m.d.comb += after.eq(Mux(operand < rule, operand, rule))
                with m.Case(MemoryOp.MAX):
                    m.d.comb += after.eq(Mux(operand > rule, operand, rule))
                with m.Case(MemoryOp.OR):
                    m.d.comb += after.eq(operand | rule)
                with m.Case(MemoryOp.SET):
                    m.d.comb += after.eq(operand)
        m.d.sync += rule.eq(after)

        # `latency` clocks later it is in memory, and the host has its answer.
        landing = delay(m, after, clocks - 1, name="landing", reset_less=False)
        landed = delay(m, landing, 1, name="landed", reset_less=False)
        m.d.comb += Assert(stored == landed)
        # What a write leaves alone is right beside it too, because later operations may take it.
        with m.If(here & memory.write_mask.any()):
            m.d.comb += Assert(self.byte(memory.write_data) == landing)
        fields = Cat(take_host & hit, host.tag)
        expected = delay(m, fields, clocks, name="expected", reset_less=False)
        with m.If(expected[0]):
            m.d.comb += [
                Assert(block.o_host_valid & ~block.o_host.error),
                Assert(self.byte(block.o_host.data) == landed),
                Assert(block.o_host.tag == expected[1:]),
            ]
        changed = landed != delay(m, landed, 1, name="before")
        m.d.comb += Cover(expected[0] & changed)
        self.touches = Cat(hit & enabled & take_own, hit & enabled & take_host)
        self.changed = changed


class PortDistances(PortSpec):
    """Each distance of two requesters on one byte, up to the first that needs no forwarding."""

    def properties(self, m: Module) -> None:
        super().properties(m)
        older, between = self.touches, Const(0, 1)
        for distance in range(1, self.cfg.memory_latency + 5):
            older = delay(m, older, 1, name=f"touches{distance}", reset_less=False)
            for n, name in enumerate(("own_first", "host_first")):
                pair = older[n] & self.touches[1 - n] & ~between
                pair = delay(m, pair, self.block.latency, name=f"{name}{distance}")
                m.d.comb += Cover(pair & self.changed)
            between = between | older.any()


class PortFlow(Spec):
    """Either requester waits one clock at most; each operation has its end when it must."""

    def __init__(self):
        super().__init__(MemoryPort(SMALL))

    def properties(self, m: Module) -> None:
        block, clocks = self.block, self.block.latency
        self.assume_inputs(m)
        taken = {}
        for name in ("i", "i_host"):
            port = self.stream(name)
            waited = delay(m, port.valid & ~port.ready, 1, name=name, reset_less=False)
            m.d.comb += Assert(~waited | port.ready)
            taken[name] = port.valid & port.ready
        m.d.comb += Assert(~(taken["i"] & taken["i_host"]))
        answered = delay(m, taken["i_host"], clocks, name="answered", reset_less=False)
        m.d.comb += Assert(block.o_host_valid == answered)

        busy = Signal(clocks - 1)
        m.d.sync += busy.eq(Cat(taken["i"], busy))
        m.d.comb += Assert(block.idle == ~busy.any())
        own = delay(m, taken["i"], 5, name="own", reset_less=False)
        m.d.comb += Assert(~block.dropped | own)


def proofs() -> list[Proof]:
    """The presets have memory latencies 2 and 4; the others run with MINMIP_LONG."""
    made = [
        Proof(
            block="memory_port",
            name=f"bytes{latency}",
            says=f"{PortSpec.__doc__} Memory latency {latency}.",
            make=lambda latency=latency: PortSpec(latency),
            depth=2 * latency + 9,
            long=latency != 2,
        )
        for latency in (1, 2, 3, 4, 5)
    ]
    made += [
        Proof(
            block="memory_port",
            name="bytes-reached",
            says="A host's answer shows a byte that has just changed.",
            make=lambda: PortSpec(2),
            mode="cover",
            depth=14,
        ),
        Proof(
            block="memory_port",
            name="distances-reached",
            says=f"{PortDistances.__doc__} Memory latency 2.",
            make=lambda: PortDistances(2),
            mode="cover",
            depth=20,
        ),
        Proof(
            block="memory_port",
            name="flow",
            says=PortFlow.__doc__,
            make=PortFlow,
            depth=11,
        ),
    ]
    return made
