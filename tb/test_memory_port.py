# amaranth: UnusedElaboratable=no
"""Memory port against bytes in numpy, changed in the order in which operations were accepted."""

from dataclasses import replace

import numpy as np
import pytest
from amaranth.sim import Simulator
from kit.cocotb_bench import run_cocotb
from kit.mutants import planted
from kit.packing import pack
from kit.vlib import LONG, TRAFFIC, VerilatedBlock, assert_columns_equal
from memory_bench import (
    BASE,
    BLOCKS,
    SMALL,
    PortBench,
    apply_in_order,
    host_requests,
    in_acceptance_order,
    operations,
    simulate_port,
)
from mutants.memory_port import MUTANTS

from minmip.hw.config import FULL
from minmip.hw.memory_window import MemoryWindow
from minmip.hw.shapes import BLOCK_BITS, MemoryOp
from minmip.sim.golden import memory as golden
from minmip.sim.golden.combine import Writes

CONFIGS = {
    "block RAM": (FULL, False),
    "block RAM, latency 4": (replace(SMALL, memory_latency=4), False),
    "latency 1": (replace(SMALL, memory_latency=1), True),
    "latency 2": (replace(SMALL, memory_latency=2, word_bytes=8), True),
    "latency 3": (replace(SMALL, memory_latency=3), True),
    "latency 4": (replace(SMALL, memory_latency=4), True),
}


class Store:
    """The verilated port with its memory, and the bytes that it must hold."""

    def __init__(self, cfg, careless):
        self.cfg = cfg
        bench = PortBench(cfg, careless=careless)
        self.latency = bench.latency
        self.block = VerilatedBlock(bench, "memory_port")
        self.block.model.set("base", BASE)
        self.block.model.set("limit", BASE + BLOCKS)
        self.bytes = np.zeros(BLOCKS * 256, np.uint8)
        self.fill(np.random.default_rng(7).integers(0, 256, len(self.bytes)))

    def words(self):
        """Addresses of every word."""
        return BASE * 256 // self.cfg.word_bytes + np.arange(len(self.bytes) // self.cfg.word_bytes)

    def fill(self, values):
        self.bytes[:] = values
        self.host(self.bytes.reshape(-1, self.cfg.word_bytes), (1 << self.cfg.word_bytes) - 1)

    def host(self, data, mask):
        address = self.words()
        columns = {
            "address": address,
            "data": data,
            "mask": np.full(len(address), mask),
            "tag": address % 256,
        }
        return self.block.run({"i_host": columns}, len(address))[0]["o_host"]

    def check_memory(self):
        read = self.host(np.zeros((len(self.words()), self.cfg.word_bytes)), 0)
        np.testing.assert_array_equal(read["data"].ravel(), self.bytes)

    def check(self, columns, traffic="full", seed=1):
        """Run, compare every answer, its clock and then the whole memory."""
        count = len(columns["i_host"]["tag"]) if "i_host" in columns else 0
        if isinstance(traffic, str):
            traffic = dict.fromkeys(columns, TRAFFIC[traffic])
        result, run = self.block.run(columns, count, traffic=traffic, seed=seed)
        merged = in_acceptance_order(run, columns)
        wanted = apply_in_order(self.bytes, self.cfg, merged)
        if count:
            wanted["tag"] = columns["i_host"]["tag"]
            assert_columns_equal(result["o_host"], wanted)
            late = run.output_stamps["o_host"] - run.input_stamps["i_host"]
            assert (late == self.latency).all()
        self.check_memory()
        return run


@pytest.fixture(scope="module", params=CONFIGS)
def store(request):
    return Store(*CONFIGS[request.param])


def both(rng, count, cfg, *, host=0.3):
    return {
        "i": operations(rng, count, cfg),
        "i_host": host_requests(rng, int(host * count), cfg),
    }


@pytest.mark.parametrize("traffic", TRAFFIC)
def test_both_requesters(store, traffic):
    rng = np.random.default_rng(sorted(TRAFFIC).index(traffic))
    store.check(both(rng, 2000 if traffic == "long stalls" else 8000, store.cfg), traffic)


def test_a_million(store):
    """10^6 operations and requests over all configurations; of each of them behind MINMIP_LONG."""
    count = 1_000_000 if LONG else 130_000
    store.check(both(np.random.default_rng(99), count, store.cfg))


def test_one_word_every_clock(store):
    """Whatever the ops, one per clock, also when each hits the same word."""
    rng = np.random.default_rng(3)
    columns = operations(rng, 3000, store.cfg, outside=0)
    columns["address"][:] = store.words()[5]
    run = store.check({"i": columns})
    np.testing.assert_array_equal(np.diff(run.input_stamps["i"]), 1)


@pytest.mark.parametrize("distance", range(1, 10))
def test_distance(store, distance):
    """Two operations on one byte, so far apart, others between; every pair of ops."""
    pairs = [(first, second) for first in MemoryOp for second in MemoryOp]
    rows = []
    rng = np.random.default_rng(distance)
    words = store.words()
    for first, second in pairs * 8:
        rows.append((first, words[0]))
        rows += [(MemoryOp.SET, words[1 + n]) for n in range(distance - 1)]
        rows.append((second, words[0]))
        rows += [(MemoryOp.SET, words[20])] * 12
    op, address = (np.array(column) for column in zip(*rows, strict=True))
    data = rng.integers(0, 256, (len(rows), store.cfg.word_bytes))
    mask = rng.integers(0, 1 << store.cfg.word_bytes, len(rows))
    store.check({"i": {"op": op, "address": address, "data": data, "mask": mask}})


@pytest.mark.parametrize("op", ["MIN", "MAX", "OR"])
def test_golden_twin(store, op):
    """One linked type alone: the golden memory, which knows no order."""
    rng = np.random.default_rng(4)
    columns = operations(rng, 4000, store.cfg, ops=(MemoryOp[op],), outside=0)
    if op == "OR":
        columns["data"][:] = 1
    store.fill({"MIN": 255, "MAX": 0, "OR": 0}[op])
    lanes = np.arange(store.cfg.word_bytes)
    enabled = (columns["mask"][:, None] >> lanes & 1).astype(bool)
    offset = (columns["address"] - store.words()[0])[:, None] * store.cfg.word_bytes + lanes
    writes = Writes(np.zeros(enabled.sum(), np.int64), offset[enabled], columns["data"][enabled])
    wanted = store.bytes.copy()
    golden.apply(wanted, {"OR": 1, "MIN": 2, "MAX": 3}[op], writes)
    store.check({"i": columns})
    np.testing.assert_array_equal(store.bytes, wanted)


def test_turns(store):
    """Two requesters that always want: each gets every other clock."""
    rng = np.random.default_rng(5)
    run = store.check(both(rng, 2000, store.cfg, host=1))
    for name in ("i", "i_host"):
        assert run.input_stamps[name][-1] < 4010
        assert np.diff(run.input_stamps[name]).max() == 2


def test_reset_in_the_middle(store):
    """The memory holds what a first part of the accepted operations made of it."""
    model = store.block.model
    for seed in range(20):
        rng = np.random.default_rng(seed)
        columns = both(rng, 400, store.cfg)
        beats = {name: pack(store.block.inputs[name], part) for name, part in columns.items()}
        run = model.run(beats, {"o_host": 400}, seed=seed, max_cycles=100 + 7 * seed)
        model.reset()
        merged = in_acceptance_order(run, columns)
        read = store.host(np.zeros((len(store.words()), store.cfg.word_bytes)), 0)["data"].ravel()
        stamps = merged["stamp"]
        sure = int((stamps <= run.cycles - 1 - store.latency).sum())
        part = {key: value[:sure] for key, value in merged.items()}
        apply_in_order(store.bytes, store.cfg, part)
        for end in range(sure, len(stamps) + 1):
            if np.array_equal(store.bytes, read):
                break
            part = {key: value[end : end + 1] for key, value in merged.items()}
            if end < len(stamps):
                apply_in_order(store.bytes, store.cfg, part)
        else:
            pytest.fail(f"seed {seed}: no part of the operations gives this memory")


def simulated(cfg, seed, count=500):
    """Both requesters in Amaranth's simulator, over a careless memory that starts as zeros."""
    columns = both(np.random.default_rng(seed), count, cfg)
    bench = PortBench(cfg, careless=True)
    run = simulate_port(bench, columns, stalls=0.2 * (seed % 3), seed=seed)
    merged = in_acceptance_order(run, columns)
    wanted = apply_in_order(np.zeros(BLOCKS * 256, np.uint8), cfg, merged)
    assert_columns_equal(run.answers, wanted | {"tag": columns["i_host"]["tag"]})
    late = np.array(run.answer_stamps) - run.input_stamps["i_host"]
    assert (late == bench.latency).all()
    place = merged["address"] - BASE * 256 // cfg.word_bytes
    outside = (place < 0) | (place >= BLOCKS * 256 // cfg.word_bytes)
    assert run.dropped == (outside & ~merged["is_host"]).sum()


@pytest.mark.parametrize("latency", [1, 2, 3, 4])
def test_simulated(latency):
    for seed in range(3):
        simulated(replace(SMALL, memory_latency=latency), seed)


def test_memory_at_the_end_of_the_addresses():
    """A limit of 2^48 bytes is 2^40 blocks."""
    end = 1 << BLOCK_BITS
    window = MemoryWindow(SMALL)
    blocks = [end - 1, end - BLOCKS, end - BLOCKS - 1, 0, 1]

    async def testbench(ctx):
        for limit, inside in ((end, [1, 1, 0, 0, 0]), (end - 1, [0, 1, 0, 0, 0])):
            ctx.set(window.base, end - BLOCKS)
            ctx.set(window.limit, limit)
            found = []
            for block in blocks:
                ctx.set(window.address, block << window.word_bits)
                await ctx.tick().repeat(4)
                found.append(ctx.get(window.inside))
            assert found == inside

    simulator = Simulator(window)
    simulator.add_clock(1e-8)
    simulator.add_testbench(testbench)
    simulator.run()


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_mutant_is_caught(mutant):
    with planted(mutant), pytest.raises(AssertionError):
        simulated(SMALL, seed=1, count=2000)


def test_cocotb():
    """The order of acceptance is seen at the ports: see `cocotb_memory_port`."""
    run_cocotb(
        PortBench(SMALL),
        "memory_port",
        both(np.random.default_rng(8), 600, SMALL),
        {},
        ports={"base": BASE, "limit": BASE + BLOCKS},
        bench="cocotb_memory_port",
    )
