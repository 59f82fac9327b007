# amaranth: UnusedElaboratable=no
"""Tap walker against the rule in words, and that against `sim.golden.pattern`.

MINMIP_LONG=1 sends 10^6 parts; MINMIP_FIRST_SEED (default 1) is printed on a failure.
"""

import numpy as np
import pattern_vectors
import pytest
from kit.cocotb_bench import run_cocotb
from kit.mutants import planted
from kit.stream import check_simulated
from kit.vlib import LONG, SEED, TRAFFIC, VerilatedBlock, assert_columns_equal
from mutants.tap_walker import MUTANTS

from minmip.hw.config import PRESETS
from minmip.hw.tap_walker import TapWalker
from minmip.sim.golden.coordinates import CLAMP


@pytest.fixture(scope="module", params=("full", "default", "small"))
def unit(request):
    """The Verilated block, its parameters, and descriptors."""
    cfg = PRESETS[request.param]
    descriptors = pattern_vectors.legal_descriptors(cfg)
    return VerilatedBlock(TapWalker(cfg), "tap_walker"), cfg, descriptors


def check(unit, rng, count, traffic="full"):
    block, cfg, descriptors = unit
    parts = pattern_vectors.random_parts(rng, cfg, descriptors, count).columns
    beats = pattern_vectors.walk(parts)
    wanted = pattern_vectors.tap_columns(parts, beats)
    return beats, block.check({"i": parts}, {"o": wanted}, traffic=traffic, seed=3)


def test_random(unit):
    for seed in range(SEED, SEED + (25 if LONG else 1)):
        print("seed", seed)
        beats, run = check(unit, np.random.default_rng(seed), 40_000)
        assert len(beats["tap"]) > 100_000
        # One tap beat per clock, without a gap.
        stamps = run.output_stamps["o"]
        assert stamps[-1] - stamps[0] == len(stamps) - 1
        assert stamps[0] - run.input_stamps["i"][0] == TapWalker(unit[1]).latency == 3


@pytest.mark.parametrize("traffic", TRAFFIC)
def test_traffic(unit, traffic):
    check(unit, np.random.default_rng(2), 100 if traffic == "long stalls" else 2000, traffic)


def test_rule_in_words():
    """Lane, tap and slot of every sample, with an address mode that always touches."""
    cfg = PRESETS["full"]
    descriptors = pattern_vectors.legal_descriptors(cfg)
    parts = pattern_vectors.random_parts(np.random.default_rng(5), cfg, descriptors, 3000)
    beats = pattern_vectors.walk(parts.columns)
    part, lane = np.nonzero(pattern_vectors.lane_bits(parts.columns["live"], cfg))
    samples = pattern_vectors.golden_pattern(
        parts, descriptors, part, lane, clamp=np.full((len(part), 3), CLAMP)
    )
    rows = [part[samples.lane], lane[samples.lane], samples.tap, samples.slot]
    golden = np.unique(np.stack(rows, axis=1), axis=0)
    beat, n = np.nonzero(pattern_vectors.lane_bits(beats["active"], cfg))
    walked = np.stack([beats["part"][beat], n, beats["tap"][beat], beats["slot"][beat]], axis=1)
    assert len(walked) > 10_000
    assert len(walked) == len(golden)  # none twice
    assert_columns_equal({"visits": np.unique(walked, axis=0)}, {"visits": golden})


def simulated(traffic="full"):
    """A few parts in Amaranth's simulator."""
    cfg = PRESETS["default"]
    descriptors = pattern_vectors.legal_descriptors(cfg, count=300)
    rng = np.random.default_rng(4)
    parts = pattern_vectors.random_parts(rng, cfg, descriptors, 100).columns
    wanted = pattern_vectors.tap_columns(parts, pattern_vectors.walk(parts))
    check_simulated(TapWalker(cfg), {"i": parts}, {"o": wanted}, traffic=traffic)


def test_pysim():
    simulated("both")


def test_cocotb():
    cfg = PRESETS["default"]
    descriptors = pattern_vectors.legal_descriptors(cfg, count=300)
    rng = np.random.default_rng(6)
    parts = pattern_vectors.random_parts(rng, cfg, descriptors, 60).columns
    wanted = pattern_vectors.tap_columns(parts, pattern_vectors.walk(parts))
    run_cocotb(TapWalker(cfg), "tap_walker", {"i": parts}, {"o": wanted})


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_mutant(mutant):
    with planted(mutant), pytest.raises(AssertionError):
        simulated()
