# amaranth: UnusedElaboratable=no
"""Words of a beat: addresses against `sim.golden.address`, bytes against their plain rule.

MINMIP_LONG=1 sends 50 times the beats; MINMIP_FIRST_SEED (default 1) is printed on a failure.
"""

from dataclasses import replace

import numpy as np
import pytest
from kit.cocotb_bench import run_cocotb
from kit.mutants import planted
from kit.packing import random_columns
from kit.stream import simulate
from kit.vlib import LONG, SEED, TRAFFIC, VerilatedBlock, assert_columns_equal
from map_vectors import random_maps, random_texels, with_pipe_xor
from mutants.word_addresses import MUTANTS

from minmip.hw.config import DEFAULT, FULL, SMALL
from minmip.hw.shapes import MemoryOp
from minmip.hw.word_addresses import WordAddresses
from minmip.hw.word_beats import WORDS, word_beat, word_data

CONFIGS = {
    "4 bytes": replace(DEFAULT, word_bytes=4),
    "16 bytes": replace(FULL, **with_pipe_xor("navi21")),
    "8 bytes, linear": replace(DEFAULT, word_bytes=8, swizzle_modes=frozenset({0})),
    "swizzled": replace(DEFAULT, swizzle_modes=frozenset({1})),
    "flat": SMALL,
}
HEAD = ("context", "code", "flush", "tag", "last", "read", "op", "kernel")


def masked_data(columns):
    """Words with 0 where the data has no mask, and may be anything."""
    word = columns["word"]
    bytes_ = word["data"].shape[-1]
    shown = word["mask"][..., None] >> np.arange(bytes_) & 1
    if bytes_ == 1:  # one value for all bytes
        shown = (word["mask"][..., None] != 0).astype(int)
    return columns | {"word": word | {"data": word["data"] * shown}}


def random_bytes(rng, op, cfg):
    """(lanes, values and rank; words): the smallest value of a byte wins, or the largest."""
    count, lanes = len(op), cfg.lanes
    lane = random_columns(rng, word_beat(cfg)["lane"].shape, count)
    lane["joins"] *= rng.random((count, lanes)) < 0.8
    value = rng.integers(0, 256, (count, lanes)) >> rng.choice([0, 6], (count, 1))
    flip = np.where(op == MemoryOp.MAX, 0xFF, 0)
    order = np.argsort(value ^ flip[:, None], axis=1, kind="stable")
    strongest = np.full((count, WORDS, cfg.word_bytes), 256)
    for at, texel in np.ndindex(lanes, 4):
        beat = np.nonzero(lane["joins"][:, at] >> texel & 1)[0]
        place = beat, lane["slot"][beat, at, texel], lane["byte"][beat, at, texel]
        strongest[place] = np.minimum(strongest[place], value[beat, at] ^ flip[beat])
    written = strongest < 256
    words = {
        "valid": written.any(2).astype(np.int64),
        "mask": (written << np.arange(cfg.word_bytes)).sum(2),
        "data": (strongest ^ flip[:, None, None]) * written,
    }
    if word_data(cfg).length == 1:
        words["data"] = words["data"].max(2, keepdims=True)
    return {"lane": lane, "value": value, "rank": 1 << order}, words


def random_beats(rng, count, cfg):
    """(input columns, golden output): any words of random maps, half of them on a border."""
    number = count // 4
    maps = random_maps(rng, number, cfg)
    row = rng.integers(0, number, count)
    rows = np.repeat(row[:, None], WORDS, 1)
    word: dict = dict(zip(("mip", "x", "y", "slice"), random_texels(rng, maps, rows), strict=True))
    any_beat = random_columns(rng, word_beat(cfg), count)
    head = {name: any_beat[name] for name in HEAD} | {"op": rng.choice([0, 1, 2], count)}
    texels, words = random_bytes(rng, head["op"], cfg)
    read = head["read"][:, None].astype(bool)
    words["valid"] = word["valid"] = np.where(read, any_beat["word"]["valid"], words["valid"])
    beats = {
        "beat": head | {"word": word} | texels,
        "control": {name: column[row] for name, column in maps.control.items()},
    }
    address = maps.addresses(rows, *(word[name] for name in ("mip", "x", "y", "slice")))
    words["address"] = address >> cfg.word_log2
    flags = {
        "writes": words["valid"].any(1) & (head["read"] == 0),
        "ends": head["flush"] & head["last"],
    }
    return beats, head | flags | {"lane": texels["lane"], "word": words}


@pytest.fixture(scope="module", params=CONFIGS)
def unit(request):
    return VerilatedBlock(WordAddresses(CONFIGS[request.param]), "word_addresses")


def check(unit, beats, traffic="full", seed=1):
    sent, wanted = beats
    result, run = unit.run({"i": sent}, len(wanted["tag"]), traffic=traffic, seed=seed)
    assert_columns_equal(masked_data(result["o"]), wanted)
    return run


def test_random(unit):
    for seed in range(SEED, SEED + (50 if LONG else 1)):
        print("seed", seed)
        run = check(unit, random_beats(np.random.default_rng(seed), 20_000, unit.block.cfg))
        assert run.cycles < 20_000 + 300  # one beat per clock
        assert run.output_stamps["o"][0] - run.input_stamps["i"][0] == unit.block.latency


@pytest.mark.parametrize("traffic", TRAFFIC)
def test_traffic(unit, traffic):
    count = 300 if traffic == "long stalls" else 2000
    check(unit, random_beats(np.random.default_rng(2), count, unit.block.cfg), traffic, seed=3)


def simulated(traffic="full"):
    """A few beats in Amaranth's simulator."""
    cfg = CONFIGS["4 bytes"]
    sent, wanted = random_beats(np.random.default_rng(4), 300, cfg)
    result = simulate(WordAddresses(cfg), {"i": sent}, 300, traffic=traffic)
    assert_columns_equal(masked_data(result["o"]), wanted)
    return sent, result["o"]


def test_pysim():
    simulated("both")


def test_cocotb():
    # What the simulator gives is checked there, and fills what may be anything.
    sent, words = simulated()
    run_cocotb(WordAddresses(CONFIGS["4 bytes"]), "word_addresses", {"i": sent}, {"o": words})


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_mutant(mutant):
    with planted(mutant), pytest.raises(AssertionError, match="differ"):
        simulated()
