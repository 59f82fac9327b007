# amaranth: UnusedElaboratable=no
"""Combining buffer: the memory that its operations make is the one that the beats make."""

from dataclasses import replace

import numpy as np
import pytest
from buffer_bench import KINDS, apply_beats, apply_operations, places, words
from kit.cocotb_bench import run_cocotb
from kit.mutants import planted
from kit.packing import pack, unpack
from kit.vlib import LONG, TRAFFIC, VerilatedBlock
from mutants.combining_buffer import MUTANTS
from watched_buffer import watch

from minmip.hw.combining_buffer import CombiningBuffer
from minmip.hw.config import DEFAULT, FULL, SMALL
from minmip.hw.shapes import MemoryOp
from minmip.hw.word_beats import word_data

CONFIGS = {
    "full": FULL,
    "small": replace(SMALL, word_bytes=4, combine_age=16),
    "odd": replace(DEFAULT, word_bytes=8, combine_entries=5, combine_age=256),
}


class Buffer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.block = VerilatedBlock(CombiningBuffer(cfg), "combining_buffer")
        self.shape = self.block.outputs["o"]

    def run(self, columns, where, *, traffic="full", seed=1, drain=0):
        """Send beats, wait until all has left, compare; return the run and the operations."""
        model = self.block.model
        model.set("drain", drain)
        beats = pack(self.block.inputs["i"], columns)
        most = int(columns["word"]["valid"].sum())
        run = model.run(
            {"i": beats},
            {"o": most},
            traffic=TRAFFIC[traffic],
            seed=seed,
            quiet=2 * self.cfg.combine_age + 200,
        )
        assert run.taken["i"] == len(beats)
        assert run.broken["o"] == 0
        assert run.given["o"] <= most
        assert model.get("drained") == 1
        operations = unpack(self.shape, run.results["o"])
        before = np.random.default_rng(seed).integers(0, 256, (len(where), self.cfg.word_bytes))
        wanted, memory = (before.astype(np.uint8) for _ in range(2))
        apply_beats(wanted, where, columns)
        apply_operations(memory, where, operations)
        np.testing.assert_array_equal(memory, wanted)
        return run, operations


@pytest.fixture(scope="module", params=CONFIGS)
def buffer(request):
    return Buffer(CONFIGS[request.param])


@pytest.fixture(scope="module")
def full():
    return Buffer(FULL)


def made(seed, count, cfg, kind):
    rng = np.random.default_rng(seed)
    where = places(rng, cfg)
    return words(rng, count, cfg, kind, where), where


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("traffic", TRAFFIC)
def test_memory(buffer, kind, traffic):
    seed = 100 * KINDS.index(kind) + list(TRAFFIC).index(traffic)
    count = (100_000 if LONG else 1500) if traffic != "long stalls" else 300
    columns, where = made(seed, count, buffer.cfg, kind)
    buffer.run(columns, where, traffic=traffic, seed=seed)


@pytest.mark.parametrize("kind", ["hot", "op switches"])
def test_drained_all_the_time(buffer, kind):
    """With `drain` high what comes leaves at once, and still in order."""
    columns, where = made(7, 1000, buffer.cfg, kind)
    buffer.run(columns, where, drain=1)


def test_long(full):
    """10^5 beats of each kind in one run."""
    for kind in KINDS if LONG else ("hot", "op switches"):
        columns, where = made(9, 40_000, full.cfg, kind)
        full.run(columns, where, seed=9)


def columns_of(cfg, address, valid, op: int | np.ndarray = 0):
    """Beats of given words, every byte 0x80."""
    count = len(address)
    return {
        "op": np.broadcast_to(op, count),
        "word": {
            "valid": np.broadcast_to(valid, address.shape).astype(np.int64),
            "address": address,
            "mask": np.full(address.shape, (1 << cfg.word_bytes) - 1),
            "data": np.full((*address.shape, word_data(cfg).length), 0x80),
        },
    }


def test_four_hits_per_clock(full):
    """Two sets of four words in turn: a beat per clock, also when the words grow old."""
    address = 1000 + np.arange(4) + 4 * (np.arange(20_000) % 2)[:, None]
    run, operations = full.run(columns_of(full.cfg, address, 1), np.arange(1000, 1008))
    stamps = run.input_stamps["i"].astype(np.int64)
    assert stamps[-1] - stamps[100] == 19_899
    # Each word leaves once an age, as long as it is hit.
    assert 8 * 18 <= len(operations["mask"]) <= 8 * 22


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_misses(full, count):
    """The stated rate: m + 3 clocks for m misses, while the output takes one per clock."""
    address = np.arange(4000).reshape(1000, 4)
    valid = np.arange(4) < count
    run, operations = full.run(columns_of(full.cfg, address, valid), address[:, valid].ravel())
    stamps = run.input_stamps["i"].astype(np.int64)
    assert (stamps[-1] - stamps[100]) / 899 <= (count + 3) * 1.01
    assert len(operations["mask"]) == 1000 * count


def test_recently_used_words_stay(full):
    """Four words that are hit all the time, and misses between: the four are not put out."""
    address = np.where(np.arange(3000) % 5, np.arange(3000) % 4, 100 + np.arange(3000))[:, None]
    address = np.repeat(address, 4, axis=1)
    columns = columns_of(full.cfg, address, np.arange(4) < 1)
    _, operations = full.run(columns, np.unique(address))
    assert (operations["address"] < 4).sum() < 40  # for their age only
    assert (operations["address"] >= 100).sum() == 600


@pytest.mark.parametrize("name", CONFIGS)
def test_age(name):
    """A word that is hit all the time leaves within `max_age` clocks, and so does one alone."""
    cfg = CONFIGS[name]
    buffer = Buffer(cfg)
    limit = CombiningBuffer(cfg).max_age
    assert limit <= max(cfg.combine_age, cfg.combine_entries + 16)
    address = np.full((6000, 4), 77)
    run, _ = buffer.run(columns_of(cfg, address, np.arange(4) < 1), np.array([77]))
    stamps = run.output_stamps["o"].astype(np.int64)
    assert np.diff(stamps).max() <= limit
    worst = 0
    for wait in range(0, 400, 37):
        first = np.array([[5, 6, 7, 8]]) + 10 * wait
        run, _ = buffer.run(columns_of(cfg, first, np.arange(4) < 1), first[0])
        worst = max(worst, int(run.output_stamps["o"][0] - run.input_stamps["i"][0]))
        buffer.block.model.run({}, {}, max_cycles=wait, quiet=wait)
    print(f"{name}: {worst} clocks, {limit} allowed")
    assert 0 < worst <= limit


WATCHED = replace(SMALL, lanes=2, word_bytes=4, combine_entries=3, combine_age=64)


def every_kind(count):
    for seed, kind in enumerate(KINDS):
        columns, where = made(seed, count, WATCHED, kind)
        watch(WATCHED, columns, where, seed)
    growing(count)


def growing(count):
    """A word is often hit in the clock of its visit, and then no more; every hit changes it."""
    columns = columns_of(WATCHED, np.full((count, 4), 9), np.arange(4) < 1, MemoryOp.MAX)
    columns["word"]["data"] = np.tile(0x60 + np.arange(count)[:, None, None], (1, 4, 4))
    cfg = replace(WATCHED, combine_age=16)
    watch(cfg, columns, np.array([9]), 0, pauses=(20, 40), every=5)


def test_pysim():
    """Every clock: `drained`, the events, one entry per address; `drain` at random times."""
    every_kind(120)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_mutant_is_caught(mutant):
    with planted(mutant), pytest.raises(AssertionError):
        every_kind(120)


def test_cocotb():
    """One word with another op each beat: every beat leaves as it came, whatever the stalls."""
    cfg = replace(SMALL, lanes=2, word_bytes=4, combine_age=64)
    columns = columns_of(cfg, np.full((300, 4), 0x123456789), np.arange(4) == 2, np.arange(300) % 3)
    columns["word"]["data"] = np.random.default_rng(4).integers(0, 256, (300, 4, 4))
    wanted = {
        "op": columns["op"],
        "address": columns["word"]["address"][:, 2],
        "mask": columns["word"]["mask"][:, 2],
        "data": columns["word"]["data"][:, 2],
    }
    run_cocotb(
        CombiningBuffer(cfg), "combining_buffer", {"i": columns}, {"o": wanted}, ports={"drain": 0}
    )
