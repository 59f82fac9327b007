# amaranth: UnusedElaboratable=no
"""Clear engine against plain byte ranges."""

from dataclasses import replace

import numpy as np
import pytest
from amaranth.hdl import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out
from kit.cocotb_bench import run_cocotb
from kit.mutants import planted
from kit.stream import simulate
from kit.vlib import LONG, TRAFFIC, VerilatedBlock, assert_columns_equal
from mutants.clear_engine import MUTANTS

from minmip.hw.clear_engine import ClearEngine
from minmip.hw.config import FULL
from minmip.hw.lib.queue import Queue
from minmip.hw.shapes import clear_request, clear_result, host_request, host_response

WORD_BITS = 48 - FULL.word_log2


class ClearBench(wiring.Component):
    """The engine and an echo: each request goes out and is answered, with an error in odd words."""

    i: stream.Interface
    o: stream.Interface
    o_request: stream.Interface

    def __init__(self, cfg=FULL):
        self.cfg = cfg
        super().__init__(
            {
                "i": In(stream.Signature(clear_request())),
                "o": Out(stream.Signature(clear_result())),
                "o_request": Out(stream.Signature(host_request(cfg))),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.engine = engine = ClearEngine(self.cfg)
        m.submodules.echo = echo = Queue(host_response(self.cfg), 4)
        wiring.connect(m, wiring.flipped(self.i), engine.i)
        wiring.connect(m, engine.o, wiring.flipped(self.o))
        wiring.connect(m, echo.o, engine.i_response)
        request = engine.o_request
        m.d.comb += [
            self.o_request.payload.eq(request.payload),
            self.o_request.valid.eq(request.valid & echo.i.ready),
            request.ready.eq(self.o_request.ready & echo.i.ready),
            echo.i.valid.eq(request.valid & self.o_request.ready),
            echo.i.payload.error.eq(request.payload.address[0]),
        ]
        return m


def random_ranges(rng, count, cfg=FULL):
    """Ranges: none, within a word, on borders, long, over the end of the address space."""
    size = cfg.word_bytes
    start = rng.integers(0, 1 << 48, count)
    start = np.where(rng.random(count) < 0.4, start // size * size, start)
    start = np.where(rng.random(count) < 0.1, (1 << 48) - rng.integers(1, 100, count), start)
    length = np.choose(
        rng.choice(5, count, p=[0.05, 0.3, 0.2, 0.35, 0.1]),
        [0, rng.integers(1, size + 2, count), size, rng.integers(1, 200, count), 40 * size],
    )
    value, tag = rng.integers(0, 256, (2, count))
    return {"start": start, "length": length, "value": value, "tag": tag}


def wanted(ranges, cfg=FULL):
    """Requests and results of ranges."""
    size = cfg.word_bytes
    address, mask, value, error = [], [], [], []
    for start, length, byte in zip(
        *(ranges[name].tolist() for name in ("start", "length", "value")), strict=True
    ):
        words: dict[int, int] = {}
        for at in range(start, start + length):
            words[at // size] = words.get(at // size, 0) | 1 << at % size
        address += [word % (1 << 48 - cfg.word_log2) for word in words]
        mask += words.values()
        value += [byte] * len(words)
        error.append(int(any(word % 2 for word in words)))
    requests = {
        "address": np.array(address, np.int64),
        "data": np.repeat(np.array(value, np.int64)[:, None], size, axis=1),
        "mask": np.array(mask, np.int64),
        "tag": np.zeros(len(mask), np.int64),
    }
    return {"o_request": requests, "o": {"error": np.array(error), "tag": ranges["tag"]}}


def counts(columns):
    return {name: len(part["tag"]) for name, part in columns.items()}


@pytest.fixture(scope="module")
def block():
    return VerilatedBlock(ClearBench(), "clear_engine")


@pytest.mark.parametrize("traffic", TRAFFIC)
def test_traffic(block, traffic):
    ranges = random_ranges(np.random.default_rng(1), 300)
    result = wanted(ranges)
    columns, _ = block.run({"i": ranges}, counts(result), traffic=traffic, seed=3)
    assert_columns_equal(columns, result)


def test_random(block):
    """10^6 words, or 10^5."""
    ranges = random_ranges(np.random.default_rng(2), 120_000 if LONG else 12_000)
    result = wanted(ranges)
    columns, _ = block.run({"i": ranges}, counts(result))
    assert_columns_equal(columns, result)


def test_one_word_per_clock(block):
    ranges = {"start": [1600], "length": [16 * 5000], "value": [255], "tag": [9]}
    ranges = {name: np.array(column) for name, column in ranges.items()}
    result = wanted(ranges)
    columns, run = block.run({"i": ranges}, counts(result))
    assert_columns_equal(columns, result)
    np.testing.assert_array_equal(np.diff(run.output_stamps["o_request"]), 1)


def simulated(cfg, seed, traffic="both"):
    ranges = random_ranges(np.random.default_rng(seed), 30, cfg)
    result = wanted(ranges, cfg)
    columns = simulate(ClearBench(cfg), {"i": ranges}, counts(result), traffic=traffic, seed=seed)
    assert_columns_equal(columns, result)


@pytest.mark.parametrize("word_bytes", [4, 8, 16, 32])
def test_pysim(word_bytes):
    simulated(replace(FULL, word_bytes=word_bytes), seed=word_bytes)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_mutant_is_caught(mutant):
    with planted(mutant), pytest.raises(AssertionError):
        simulated(replace(FULL, word_bytes=4), seed=5)


def test_cocotb():
    ranges = random_ranges(np.random.default_rng(6), 40)
    run_cocotb(ClearBench(), "clear_engine", {"i": ranges}, wanted(ranges))
