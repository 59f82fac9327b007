# amaranth: UnusedElaboratable=no
"""Resolve engine against texel by texel loops.

MINMIP_LONG=1 sends 10 times as many parts; MINMIP_FIRST_SEED (default 1) is printed on a failure.
"""

from dataclasses import replace

import numpy as np
import pytest
from kit.cocotb_bench import run_cocotb
from kit.mutants import planted
from kit.stream import check_simulated
from kit.vlib import LONG, SEED, TRAFFIC, VerilatedBlock
from mutants.resolve_engine import MUTANTS
from resolve_bench import ResolveBench, columns_of, corner_parts, map_part, random_parts, wanted

from minmip.hw.config import FULL, SMALL


def columns_and_result(cfg, parts, seed):
    columns = columns_of(np.random.default_rng(seed), parts, cfg)
    return columns, wanted(parts, columns["i"]["tag"], cfg)


def random_columns(cfg, seed, count):
    parts = random_parts(np.random.default_rng(seed), cfg, count)
    return columns_and_result(cfg, parts, seed)


@pytest.fixture(scope="module")
def block():
    return VerilatedBlock(ResolveBench(FULL), "resolve_bench")


@pytest.mark.parametrize("traffic", TRAFFIC)
def test_traffic(block, traffic):
    print("seed", SEED)
    columns, result = random_columns(FULL, SEED, 60)
    block.check(columns, result, traffic=traffic, seed=SEED)


def test_random(block):
    print("seed", SEED)
    columns, result = random_columns(FULL, SEED + 1, 4000 if LONG else 400)
    block.check(columns, result)


@pytest.mark.parametrize("encode", [False, True], ids=["decode", "encode"])
@pytest.mark.parametrize(
    ("sw_mode", "volume", "run"),
    [(0, False, 16), (1, False, 16), (9, False, 16), (2, False, 8), (1, True, 4), (9, True, 4)],
    ids=["linear", "256B_S", "64KB_S", "256B_D", "volume", "64KB volume"],
)
def test_a_run_a_clock(block, sw_mode, volume, run, encode):
    """Without a gap between rows; 16 texels a clock, 8 in D modes, 4 in a volume."""
    size = (200, 50, 1)
    texels = np.full(size[::-1], 3, np.uint8) if encode else None
    part = map_part(sw_mode, size, (0, 0, 0), size, texels=texels, volume=volume)
    found = block.check(*columns_and_result(FULL, [part], 1))
    stamps = found.output_stamps["o_request"]
    assert len(stamps) == 50 * -(-200 // run)
    np.testing.assert_array_equal(np.diff(stamps), 1)
    last = found.output_stamps["o"][0] - found.input_stamps["i"][0]
    assert last < len(stamps) + 20


def simulated(cfg, parts, seed=1):
    columns, result = columns_and_result(cfg, parts, seed)
    check_simulated(ResolveBench(cfg), columns, result, traffic="both", seed=seed, timeout=1500)


@pytest.mark.parametrize("word_bytes", [4, 8, 16, 32])
@pytest.mark.parametrize("preset", [FULL, SMALL], ids=["full", "small"])
def test_pysim(preset, word_bytes):
    print("seed", SEED)
    cfg = replace(preset, word_bytes=word_bytes)
    rng = np.random.default_rng(SEED)
    simulated(cfg, [*corner_parts(cfg), *random_parts(rng, cfg, 4)], SEED)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_mutant_is_caught(mutant):
    cfg = replace(FULL, word_bytes=8)
    with planted(mutant), pytest.raises(AssertionError):
        simulated(cfg, corner_parts(cfg))


def test_cocotb():
    run_cocotb(
        ResolveBench(FULL), "resolve_bench", *columns_and_result(FULL, corner_parts(FULL), 1)
    )
