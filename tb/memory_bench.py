"""Bench of the memory port: it and a memory as one block, hostile operations, bytes as model."""

from __future__ import annotations

import random
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
from amaranth.hdl import Module, Mux, Signal, Value, unsigned
from amaranth.lib import stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from amaranth.sim import Simulator
from kit.packing import beats_of_ints, ints_of_beats, pack, unpack

from minmip.hw.atomic_memory import AtomicMemory
from minmip.hw.config import FULL, UnitConfig
from minmip.hw.lib.delay import delay
from minmip.hw.map_memory import MapMemorySignature
from minmip.hw.shapes import CLIENT_BITS, MemoryOp, host_response

__all__ = [
    "BASE",
    "BLOCKS",
    "SMALL",
    "CarelessMemory",
    "PortBench",
    "apply_in_order",
    "host_requests",
    "in_acceptance_order",
    "operations",
    "simulate_port",
]

BASE = 0x12345
"""First 256-byte block of the memory in the benches."""
BLOCKS = 11
"""Blocks below the limit: fewer than the memory holds."""
SMALL = replace(
    FULL,
    linked_types=FULL.linked_types - {4},
    word_bytes=4,
    memory_bytes=1 << 12,
)
"""A memory of short words without the filter's read ports, quick to build."""


class CarelessMemory(wiring.Component):
    """A memory that promises no more than `MapMemorySignature`, of any latency.

    `init` are the first words, as integers. A read of the word that is written in the same clock,
    and one without `read_en`, give rubbish.
    """

    port: wiring.PureInterface

    def __init__(self, cfg: UnitConfig, init=()):
        self.cfg = cfg
        self.init = init
        super().__init__({"port": In(MapMemorySignature(cfg))})

    def elaborate(self, platform):
        m = Module()
        port, words = self.port, self.cfg.memory_bytes // self.cfg.word_bytes
        m.submodules.rows = rows = Memory(
            shape=unsigned(8 * self.cfg.word_bytes), depth=words, init=self.init
        )
        write, read = rows.write_port(granularity=8), rows.read_port()
        rubbish = ~port.read_en | (port.write_mask.any() & (port.write_addr == port.read_addr))
        rubbish = delay(m, rubbish, 1, name="rubbish")
        m.d.comb += [
            write.en.eq(port.write_mask),
            write.addr.eq(port.write_addr),
            write.data.eq(port.write_data),
            read.en.eq(1),
            read.addr.eq(port.read_addr),
        ]
        answer = Signal(8 * self.cfg.word_bytes)
        m.d.comb += answer.eq(Mux(rubbish, ~read.data ^ 0x5A, read.data))
        answer = delay(m, answer, self.cfg.memory_latency - 1, name="answer")
        m.d.comb += Value.cast(port.read_data).eq(answer)
        return m


class PortBench(wiring.Component):
    """`AtomicMemory`; the host's answers as a stream that must always be ready."""

    base: Signal
    limit: Signal
    idle: Signal
    dropped: Signal
    i: stream.Interface
    i_host: stream.Interface
    o_host: stream.Interface

    def __init__(self, cfg: UnitConfig, *, careless: bool = False):
        self.cfg = cfg
        self.memory = AtomicMemory(cfg, CarelessMemory(cfg) if careless else None)
        self.latency = self.memory.latency
        members = dict(self.memory.signature.members)
        del members["o_host_valid"]
        members.pop("reads", None)  # see test_map_memory
        members["o_host"] = Out(stream.Signature(host_response(cfg, CLIENT_BITS)))
        super().__init__(members)

    def elaborate(self, platform):
        m = Module()
        m.submodules.memory = memory = self.memory
        wiring.connect(m, wiring.flipped(self.i), memory.i)
        wiring.connect(m, wiring.flipped(self.i_host), memory.i_host)
        m.d.comb += [
            memory.base.eq(self.base),
            memory.limit.eq(self.limit),
            self.idle.eq(memory.idle),
            self.dropped.eq(memory.dropped),
            self.o_host.payload.eq(memory.o_host),
            self.o_host.valid.eq(memory.o_host_valid),
        ]
        return m


def _addresses(rng, count, cfg, outside):
    """Word addresses: mostly the word of 1 to 8 operations before."""
    words = BLOCKS * 256 // cfg.word_bytes
    place = np.where(
        rng.random(count) < 0.8, rng.integers(0, 5, count), rng.integers(0, words, count)
    )
    whole = cfg.memory_bytes // cfg.word_bytes
    far = rng.choice([-1, words, words + 1, whole, -whole, 1 << 40], count)
    place = np.where(rng.random(count) < outside, far, place)
    distance = np.where(rng.random(count) < 0.7, rng.integers(1, 9, count), 0)
    calm = rng.random(count) < 0.001  # where a run at one word ends
    source = np.arange(count) - np.where(calm, 0, distance)
    source = np.where(source < 0, np.arange(count), source)
    for _ in range(12):  # follow the chain of words before
        source = source[source]
    start = BASE * 256 // cfg.word_bytes
    return (start + place[source]) & ((1 << 48 - cfg.word_log2) - 1)


def _bytes_and_mask(rng, count, cfg):
    lanes = cfg.word_bytes
    near = rng.choice(np.array([0, 1, 0x7F, 0x80, 0xFE, 0xFF]), (count, lanes))
    data = np.where(rng.random((count, lanes)) < 0.3, near, rng.integers(0, 256, (count, lanes)))
    every = (1 << lanes) - 1
    kinds = [
        np.full(count, every),
        rng.integers(0, 1 << lanes, count),
        1 << rng.integers(0, lanes, count),
        np.zeros(count, np.int64),
    ]
    return data, np.choose(rng.choice(4, count, p=[0.45, 0.3, 0.2, 0.05]), kinds)


def operations(rng, count, cfg, *, ops=tuple(MemoryOp), outside=0.03):
    """Columns of `count` operations, full of conflicts, in runs of one op and mixed."""
    kind = rng.choice(np.array(ops), count)
    runs = rng.choice(np.array(ops), count // 50 + 1).repeat(50)[:count]
    data, mask = _bytes_and_mask(rng, count, cfg)
    return {
        "op": np.where(np.arange(count) // 500 % 2, runs, kind),
        "address": _addresses(rng, count, cfg, outside),
        "data": data,
        "mask": mask,
    }


def host_requests(rng, count, cfg, *, outside=0.03, reads=0.6, tag_bits=8 + CLIENT_BITS):
    """Columns of `count` host requests to the same few words."""
    data, mask = _bytes_and_mask(rng, count, cfg)
    return {
        "address": _addresses(rng, count, cfg, outside),
        "data": data,
        "mask": np.where(rng.random(count) < reads, 0, mask),
        "tag": rng.integers(0, 1 << tag_bits, count),
    }


def in_acceptance_order(run, columns):
    """Merge the accepted beats of `i` and `i_host` by the clocks in which they were taken.

    Returns columns with `is_host`; the host's requests are SET.
    """
    parts = []
    for name in ("i", "i_host"):
        stamps = run.input_stamps[name]
        if len(stamps):
            taken = {key: np.asarray(value)[: len(stamps)] for key, value in columns[name].items()}
            host = np.full(len(stamps), name == "i_host")
            taken = {"op": np.full(len(stamps), MemoryOp.SET)} | taken
            parts.append({key: taken[key] for key in ("op", "address", "data", "mask")})
            parts[-1] |= {"is_host": host, "stamp": stamps.astype(np.int64)}
    merged = {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}
    order = np.argsort(merged["stamp"], kind="stable")
    assert len(np.unique(merged["stamp"])) == len(order), "two operations accepted in one clock"
    return {key: value[order] for key, value in merged.items()}


def apply_in_order(memory: np.ndarray, cfg: UnitConfig, merged) -> dict[str, np.ndarray]:
    """Carry out operations one by one on `memory`, uint8 [bytes], and return the host's answers."""
    words = memory.reshape(-1, cfg.word_bytes)
    lanes = np.arange(cfg.word_bytes)
    place = merged["address"] - BASE * 256 // cfg.word_bytes
    inside = (place >= 0) & (place < len(words))
    masks = (merged["mask"][:, None] >> lanes & 1).astype(bool)
    data = merged["data"].astype(np.uint8)
    apply = {
        MemoryOp.MIN: np.minimum,
        MemoryOp.MAX: np.maximum,
        MemoryOp.OR: np.bitwise_or,
        MemoryOp.SET: lambda old, new, out, where: np.copyto(out, new, where=where),
    }
    answers, hosts = np.zeros((len(place), cfg.word_bytes), np.uint8), merged["is_host"].tolist()
    for n, (op, at, good) in enumerate(
        zip(merged["op"].tolist(), place.tolist(), inside.tolist(), strict=True)
    ):
        if good:
            word = words[at]
            apply[op](word, data[n], out=word, where=masks[n])
            if hosts[n]:
                answers[n] = word
    chosen = merged["is_host"]
    return {"data": answers[chosen], "error": ~inside[chosen]}


def simulate_port(bench: PortBench, columns, *, stalls=0.3, seed=1):
    """Run columns through `i` and `i_host` in Amaranth's simulator.

    Checks `idle` in every clock. Returns what `in_acceptance_order` needs, the answers and their
    clocks, and the number of operations dropped.
    """
    rng = random.Random(seed)
    streams = {name: getattr(bench, name) for name in columns}
    beats = {
        name: ints_of_beats(pack(port.payload.shape(), columns[name]))
        for name, port in streams.items()
    }
    stamps: dict[str, list[int]] = {name: [] for name in columns}
    answers: list[int] = []
    run = SimpleNamespace(dropped=0, answer_stamps=[])

    async def testbench(ctx):
        ctx.set(bench.base, BASE)
        ctx.set(bench.limit, BASE + BLOCKS)
        offered = dict.fromkeys(columns, False)
        clock, last, quiet = 0, -1000, 0
        while quiet < 2 * bench.latency:
            quiet += 1
            for name, port in streams.items():
                if len(stamps[name]) < len(beats[name]):
                    quiet = 0
                    if not offered[name] and rng.random() >= stalls:
                        offered[name] = True
                        ctx.set(Value.cast(port.payload), beats[name][len(stamps[name])])
                ctx.set(port.valid, offered[name])
            ready = [port.ready for port in streams.values()]
            _, _, idle, dropped, valid, answer, *ready = await ctx.tick().sample(
                bench.idle,
                bench.dropped,
                bench.o_host.valid,
                Value.cast(bench.o_host.payload),
                *ready,
            )
            assert idle == (clock - last >= bench.latency), f"idle is {idle} in clock {clock}"
            run.dropped += dropped
            if valid:
                answers.append(answer)
                run.answer_stamps.append(clock)
            for name, taken in zip(streams, ready, strict=True):
                if offered[name] and taken:
                    offered[name] = False
                    stamps[name].append(clock)
                    last = clock if name == "i" else last
            clock += 1

    simulator = Simulator(bench)
    simulator.add_clock(1e-8)
    simulator.add_testbench(testbench)
    simulator.run()
    run.input_stamps = {name: np.array(clocks) for name, clocks in stamps.items()}
    shape = bench.o_host.payload.shape()
    run.answers = unpack(shape, beats_of_ints(answers, shape.size))
    return run
