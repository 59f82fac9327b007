# amaranth: UnusedElaboratable=no
"""Gradient unit against `numbers.float_sub`.

MINMIP_LONG=1 sends 10^7 beats in ten runs; MINMIP_FIRST_SEED (default 1) replays one of them.
"""

import numpy as np
import pytest
from kit.cocotb_bench import run_cocotb
from kit.mutants import planted
from kit.stream import check_simulated
from kit.vlib import LONG, SEED, TRAFFIC, VerilatedBlock
from lod_vectors import SPECIAL, float_pairs
from mutants.gradient import MUTANTS

from minmip.hw.config import PRESETS
from minmip.hw.gradient import GradientUnit
from minmip.sim.golden.numbers import float_sub

RUNS, BEATS = (10, 1_000_000) if LONG else (1, 200_000)


def gradient_requests(rng, count, axes):
    """Every pair of specials between lane 0 and each of the others, then pairs of all kinds."""
    pairs = len(SPECIAL) ** 2
    uvw = np.zeros((max(count, pairs), 3, axes), np.int64)
    for axis in range(axes):
        lane1, lane0 = float_pairs(rng, len(uvw) - pairs)
        # One of lanes 1 and 2 is paired with lane 0, the other is near it or of any kind.
        near = lane0 ^ rng.integers(0, 1 << 32, len(uvw)) >> rng.integers(2, 32, len(uvw))
        other = np.where(rng.random(len(uvw)) < 0.5, near, rng.permutation(lane1))
        uvw[:, 0, axis] = lane0
        uvw[:, 1 + axis % 2, axis] = lane1
        uvw[:, 2 - axis % 2, axis] = other
    return {"uvw": uvw, "tag": np.arange(len(uvw)) % 256}


def golden(requests):
    uvw = requests["uvw"]
    return {
        "ddx": float_sub(uvw[:, 1], uvw[:, 0]),
        "ddy": float_sub(uvw[:, 2], uvw[:, 0]),
        "tag": requests["tag"],
    }


@pytest.fixture(scope="module", params=("full", "small"))
def unit(request):
    return VerilatedBlock(GradientUnit(PRESETS[request.param]), "gradient")


def check(unit, requests, traffic="full", seed=1):
    return unit.check({"i": requests}, {"o": golden(requests)}, traffic=traffic, seed=seed)


def test_random(unit):
    for seed in range(SEED, SEED + RUNS):
        print("seed", seed)
        run = check(
            unit, gradient_requests(np.random.default_rng(seed), BEATS, unit.block.cfg.axes)
        )
        assert run.cycles < BEATS + 300  # one quad per clock
        assert run.output_stamps["o"][0] - run.input_stamps["i"][0] == unit.block.latency


@pytest.mark.parametrize("traffic", TRAFFIC)
def test_traffic(unit, traffic):
    requests = gradient_requests(np.random.default_rng(2), 5000, unit.block.cfg.axes)
    if traffic == "long stalls":
        requests = {name: column[-300:] for name, column in requests.items()}
    check(unit, requests, traffic, seed=3)


def simulated(traffic="full"):
    """Some of the special pairs in Amaranth's simulator."""
    requests = gradient_requests(np.random.default_rng(4), 0, 2)
    uvw = requests["uvw"]
    large = ((uvw[:, :2, 0] & 0x7FFFFFFF) > 0x70000000).all(axis=1)  # overflow, infinity, NaN
    some = large | (np.random.default_rng(5).random(len(uvw)) < 0.1)
    requests = {name: column[some] for name, column in requests.items()}
    block = GradientUnit(PRESETS["small"])
    check_simulated(block, {"i": requests}, {"o": golden(requests)}, traffic=traffic)


def test_pysim():
    simulated("both")


def test_cocotb():
    requests = gradient_requests(np.random.default_rng(6), 0, 3)
    requests = {column: values[::10] for column, values in requests.items()}
    wanted = golden(requests)
    run_cocotb(GradientUnit(PRESETS["full"]), "gradient", {"i": requests}, {"o": wanted})


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_mutant(mutant):
    with planted(mutant), pytest.raises(AssertionError, match="differ"):
        simulated()
