"""cocotb bench of the whole unit: quads, flushes, host, clears at once, against the golden model.

The map memory is inside: the host writes it at the start and reads it at the end. $MINMIP_UNIT
names the configuration.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from itertools import product

import cocotb
import numpy as np
from acceptance_vectors import GRADIENTS, gradient_trace
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge
from cocotb_stream import Port
from kit.packing import beats_of_ints, ints_of_beats, pack, unpack
from kit.vlib import TRAFFIC
from random_traces import random_trace
from traces import MIN, USED
from unit_bench import (
    cut,
    judge,
    requests,
    result_of,
    wanted_of,
    with_flushes,
)
from unit_others import random_others, untouched

from minmip.hw.beats import pattern_beat, quad_answer
from minmip.hw.config import FULL, SMALL
from minmip.hw.shapes import clear_request, clear_result, host_request, host_response
from minmip.sim import golden
from minmip.sim.runners.unit import window

CONFIGS = {
    "small": replace(SMALL, memory_bytes=1 << 12),
    "full": replace(FULL, memory_bytes=1 << 12),
}
QUADS, FLUSHES, HOST = 30, 3, 40
WORK = ("mixed", "hazards", "volumes", "read", "hazards", "hazards")
"""Kind of trace of each test."""
PATIENCE = 20_000
"""Clocks without an answer or a beat after which the unit is taken for stuck."""


class Sink:
    """Takes what a stream gives, with stalls, and hands it on; what waits must stay as it is."""

    def __init__(self, bench: Bench, name: str, take: Callable[[int], object]):
        self.bench, self.port, self.take = bench, bench.port(name), take

    async def run(self):
        port, held = self.port, None
        while True:
            ready = port.willing()
            port.ready.value = int(ready)
            await RisingEdge(port.clk)
            if port.valid.value != 1:
                assert held is None, f"{port.name}: valid fell before the transfer"
                continue
            payload = port.payload.value.to_unsigned()
            assert held in (None, payload), f"{port.name}: payload changed before the transfer"
            held = None if ready else payload
            if ready:
                self.bench.idle = 0
                self.take(payload)


class Bench:
    """A unit in the simulator: what it is asked, and what it answered."""

    def __init__(self, dut, traffic):
        self.dut, self.traffic = dut, traffic
        self.cfg = CONFIGS[os.environ["MINMIP_UNIT"]]
        self.tasks: list = []
        self.idle = 0

    def port(self, name: str) -> Port:
        chance = self.traffic.valid if name.startswith("i") else self.traffic.ready
        return Port(self.dut, name, chance, self.traffic.longest)

    async def start(self, base: int, limit: int):
        dut = self.dut
        dut.memory_base.value, dut.memory_limit.value = base, limit
        dut.counter_clear.value = dut.counter_select.value = 0
        cocotb.start_soon(Clock(dut.clk, 10, "ns").start())
        await self.reset()

    async def reset(self):
        """Stop every stream, and forget what came and what was still to be sent."""
        for task in self.tasks:
            task.cancel()
        for name in ("i", "i_host", "i_clear", "i_resolve", "i_texels"):
            if hasattr(self.dut, f"{name}__valid"):  # a build may have no resolve engine
                port = self.port(name)
                port.payload.value, port.valid.value = 0, 0
        for name in ("o", "o_pattern", "o_host", "o_clear", "o_resolve", "o_texels"):
            if hasattr(self.dut, f"{name}__ready"):
                self.port(name).ready.value = 0
        self.dut.rst.value = 1
        for _ in range(3):
            await RisingEdge(self.dut.clk)
        self.dut.rst.value = 0
        self.answers: list[int] = []
        self.beats: list[int] = []
        self.cleared: list[int] = []
        self.clears: deque[int] = deque()
        self.on_flush: dict[int, tuple] = {}  # what to ask the host then
        self.host: deque[tuple] = deque()  # requests, their answers, which bytes must be right
        self.waiting: deque[tuple] = deque()  # those whose answers are due
        self.reads: list[np.ndarray] = []
        self.tasks = [
            cocotb.start_soon(task)
            for task in (
                Sink(self, "o", self.answered).run(),
                Sink(self, "o_pattern", self.beats.append).run(),
                Sink(self, "o_clear", self.cleared.append).run(),
                Sink(self, "o_host", self.host_answered).run(),
                self.send_host(),
                self.send_clears(),
            )
        ]

    def ask_host(self, columns, answers=None, seen=None, *, first=False):
        """Queue host requests; bytes `seen` of `answers` must be right; else they are kept."""
        packed = ints_of_beats(pack(host_request(self.cfg), columns))
        none = [None] * len(packed)
        queued = zip(packed, *((none, none) if answers is None else (answers, seen)), strict=True)
        (self.host.extendleft if first else self.host.extend)(queued)

    async def send_host(self):
        port = self.port("i_host")
        while True:
            if not self.host:
                await RisingEdge(port.clk)
                continue
            beat, answer, seen = self.host.popleft()
            self.waiting.append((beat, answer, seen))
            await port.send([beat])

    async def send_clears(self):
        port = self.port("i_clear")
        while True:
            if not self.clears:
                await RisingEdge(port.clk)
                continue
            await port.send([self.clears.popleft()])

    def host_answered(self, payload: int):
        beat, answer, seen = self.waiting.popleft()
        asked = self.one(host_request(self.cfg), beat)
        got = self.one(host_response(self.cfg), payload)
        where = f"host request of word {asked['address'][0]:#x}"
        assert (got["error"], got["tag"]) == (0, asked["tag"]), where
        data = got["data"][0]
        if answer is None:
            self.reads.append(data)
        else:
            np.testing.assert_array_equal(data[seen], answer[seen], where)

    def answered(self, payload: int):
        """Keep an answer; that of a flush starts reads of what is then settled."""
        if read := self.on_flush.get(len(self.answers)):
            self.ask_host(*read, first=True)
        self.answers.append(payload)

    @staticmethod
    def one(layout, bits: int):
        return unpack(layout, beats_of_ints([bits], layout.size))

    async def until(self, done: Callable[[], bool], what: str):
        while not done():
            await RisingEdge(self.dut.clk)
            self.idle += 1
            assert self.idle < PATIENCE + self.traffic.longest, f"stuck: {what}"

    def every_word(self, memory: np.ndarray, base: int, mask: int):
        words = memory.reshape(-1, self.cfg.word_bytes)
        count = np.arange(len(words))
        address = base // self.cfg.word_bytes + count
        return {"address": address, "data": words, "mask": 0 * count + mask, "tag": count % 256}

    async def write_memory(self, memory: np.ndarray, base: int):
        self.ask_host(self.every_word(memory, base, (1 << self.cfg.word_bytes) - 1))
        await self.until(lambda: not self.host and not self.waiting, "writing the memory")
        self.reads.clear()

    async def read_memory(self, size: int, base: int) -> np.ndarray:
        self.ask_host(self.every_word(np.zeros(size, np.uint8), base, 0))
        await self.until(lambda: not self.host and not self.waiting, "reading the memory")
        return np.concatenate(self.reads).astype(np.uint8)


def settled_reads(trace, places, cfg):
    """For each flush, host reads of all bytes that it settled: no later quad touches them."""
    found = {}
    for place in places:
        before = golden.run(cut(trace, 0, place), cfg).memory.reshape(-1, cfg.word_bytes)
        touched = ~untouched(cut(trace, 0, place), cfg)
        later = ~untouched(cut(trace, place, len(trace)), cfg)
        sure = (touched & ~later).reshape(-1, cfg.word_bytes)
        words = np.flatnonzero(sure.any(axis=1))
        none = np.zeros(len(words), np.int64)
        columns = {
            "address": trace.memory_base // cfg.word_bytes + words,
            "data": none[:, None] + np.zeros(cfg.word_bytes, np.int64),
            "mask": none,
            "tag": words % 256,
        }
        found[int(place)] = columns, before[words], sure[words]
    return found


def small_trace(rng, kind: str, cfg):
    """A random trace whose memory is all inside the unit and below the end of addresses."""
    while True:
        trace = random_trace(rng, QUADS, kind, cfg.swizzle_modes)
        size = len(trace.memory)
        if size <= cfg.memory_bytes and trace.memory_base + size < 1 << 48:
            return trace


async def run(dut, number: int, mode: str, reset_at: int = 0):
    bench = Bench(dut, TRAFFIC[mode])
    cfg, kind = bench.cfg, WORK[number]
    rng = np.random.default_rng([cocotb.RANDOM_SEED, number])
    places = np.sort(rng.choice(np.arange(3, QUADS), FLUSHES, replace=False))
    trace = with_flushes(small_trace(rng, kind, cfg), places)
    wanted = wanted_of(trace, cfg, places)
    others = random_others(rng, trace, cfg, HOST)
    rows = ints_of_beats(requests(trace, cfg, places))
    name = f"{kind}, {mode}, seed {cocotb.RANDOM_SEED}"

    await bench.start(*window(trace))
    for answers in [reset_at, 0] if reset_at else [0]:
        await bench.write_memory(trace.memory, trace.memory_base)
        bench.on_flush = settled_reads(trace, places, cfg)
        bench.ask_host(others.host, others.answers, others.seen)
        bench.clears.extend(ints_of_beats(pack(clear_request(), others.clears)))
        bench.tasks.append(cocotb.start_soon(bench.port("i").send(rows)))
        if answers:
            await bench.until(lambda due=answers: len(bench.answers) >= due, name)
            assert len(bench.answers) < len(rows), "the reset is not in the middle"
            await bench.reset()
            continue
        await bench.until(
            lambda: (
                len(bench.answers) >= len(rows)
                and not bench.host
                and not bench.waiting
                and len(bench.cleared) >= len(others.clears["tag"])
            ),
            name,
        )
    memory = await bench.read_memory(len(trace.memory), trace.memory_base)
    got = result_of(
        *(trace, cfg, places),
        beats_of_ints(bench.answers, quad_answer().size),
        beats_of_ints(bench.beats, pattern_beat(cfg).size),
        np.full(len(bench.beats), len(rows)),
        memory,
        wanted.counters,
    )
    judge(trace, got, wanted, others, name)
    cleared = unpack(clear_result(), beats_of_ints(bench.cleared, clear_result().size))
    np.testing.assert_array_equal(cleared["tag"], others.clears["tag"], name)


@cocotb.test()
@cocotb.parametrize(mode=list(TRAFFIC))
async def traffic(dut, mode):
    """Everything at once, with every stream stalling by `mode`."""
    await run(dut, list(TRAFFIC).index(mode), mode)


@cocotb.test()
async def acceptance(dut):
    """Measured vectors of spec 03; the clear engine clears the map before each."""
    bench = Bench(dut, TRAFFIC["full"])
    cfg, size = bench.cfg, 4096
    await bench.start(0, size // 256)
    for number, (vector, kind) in enumerate(product(GRADIENTS, (MIN, USED))):
        _, trace = gradient_trace(vector, kind)
        fill = int(trace.memory[0])
        clear = {"start": [0], "length": [size], "value": [fill], "tag": [number]}
        bench.clears.extend(ints_of_beats(pack(clear_request(), clear)))
        await bench.until(lambda due=number: len(bench.cleared) > due, f"clear for {vector.name}")
        await bench.port("i").send(ints_of_beats(requests(trace, cfg)))
        due = 2 * (number + 1)
        await bench.until(lambda due=due: len(bench.answers) == due, vector.name)
        wanted = golden.run(trace, cfg).memory.reshape(-1, cfg.word_bytes)
        words = np.arange(0, len(wanted), 256 // cfg.word_bytes)  # where rows of texels begin
        zero = 0 * words
        reads = {"address": words, "mask": zero, "tag": zero, "data": 0 * wanted[words]}
        everything = np.ones_like(wanted[words], bool)
        assert (wanted != fill).any(axis=1).sum() == (wanted[words] != fill).any(axis=1).sum()
        bench.ask_host(reads, wanted[words], everything)
        await bench.until(lambda: not bench.host and not bench.waiting, f"reads, {vector.name}")


@cocotb.test()
async def reset_in_the_middle(dut):
    """Reset while quads, host and clears are inside; then all of them again."""
    await run(dut, len(TRAFFIC), "both", reset_at=QUADS // 3)
