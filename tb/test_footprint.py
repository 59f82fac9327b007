# amaranth: UnusedElaboratable=no
"""Footprint against `sim.golden`: axis by axis, and the samples of whole parts.

MINMIP_LONG=1 sends 10^6 beats, and takes `full` too; MINMIP_FIRST_SEED (default 1) is printed on a
failure.
"""

from dataclasses import replace

import numpy as np
import pattern_vectors
import pytest
from kit.cocotb_bench import run_cocotb
from kit.mutants import planted
from kit.stream import check_simulated
from kit.vlib import LONG, SEED, TRAFFIC, VerilatedBlock, assert_columns_equal
from mutants.footprint import MUTANTS

from minmip.hw.blocks import PRESETS
from minmip.hw.config import EVERYTHING
from minmip.hw.footprint import Footprint

VOLUMES = replace(EVERYTHING, lanes=1, lod_units=1)
"""Three axes."""
CONFIGS = {"default": PRESETS["default"], "volumes": VOLUMES}
if LONG:
    CONFIGS["full"] = PRESETS["full"]


class Bench:
    """The Verilated block, its parameters and descriptors."""

    def __init__(self, cfg):
        self.cfg = cfg
        self.descriptors = pattern_vectors.legal_descriptors(cfg)
        self.block = VerilatedBlock(Footprint(cfg), "footprint")

    def check(self, rng, count, traffic="full"):
        requests, wanted = beats(rng, self.cfg, self.descriptors, count)
        return self.block.check({"i": requests}, {"o": wanted}, traffic=traffic, seed=3)


def beats(rng, cfg, descriptors, count):
    """Any tap that all lanes of a random part have, of any mip: requests and golden answers."""
    parts = pattern_vectors.random_parts(rng, cfg, descriptors, count)
    taps = 1 << parts.columns["lane"]["taps_log2"].min(axis=1)
    walked = {
        "part": np.arange(count),
        "tap": rng.integers(0, 16, count) & taps - 1,
        "slot": rng.integers(0, 2, count),
        "active": rng.integers(0, 1 << cfg.lanes, count),
    }
    columns = pattern_vectors.tap_columns(parts.columns, walked)
    return (
        pattern_vectors.footprint_requests(columns, descriptors, parts.pair),
        pattern_vectors.golden_footprints(cfg, columns, descriptors, parts.pair, parts.operand),
    )


@pytest.fixture(scope="module", params=CONFIGS)
def bench(request):
    return Bench(CONFIGS[request.param])


def test_random(bench):
    count = 50_000
    for seed in range(SEED, SEED + (20 if LONG else 1)):
        print("seed", seed)
        run = bench.check(np.random.default_rng(seed), count)
        assert run.cycles < count + 300  # one beat per clock
        latency = run.output_stamps["o"][0] - run.input_stamps["i"][0]
        assert latency == Footprint(bench.cfg).latency == 31


@pytest.mark.parametrize("traffic", TRAFFIC)
def test_traffic(bench, traffic):
    bench.check(np.random.default_rng(2), 200 if traffic == "long stalls" else 3000, traffic)


def test_sample_pattern(bench):
    """All taps and mips of the live lanes, put together, are the golden sample pattern."""
    print("seed", SEED)
    cfg, descriptors = bench.cfg, bench.descriptors
    rng = np.random.default_rng(SEED)
    parts = pattern_vectors.random_parts(rng, cfg, descriptors, 20_000 // cfg.lanes)
    walked = pattern_vectors.walk(parts.columns)
    pair = parts.pair[walked["part"]]
    requests = pattern_vectors.footprint_requests(
        pattern_vectors.tap_columns(parts.columns, walked), descriptors, pair
    )
    result, _ = bench.block.run({"i": requests}, len(pair))
    volume = descriptors.image.axes[pair] == 3
    samples = pattern_vectors.samples_of(result["o"], walked["part"], volume, cfg)

    part, lane = np.nonzero(pattern_vectors.lane_bits(parts.columns["live"], cfg))
    golden = pattern_vectors.golden_samples(parts, descriptors, part, lane)
    assert len(golden) > 50_000
    assert_columns_equal({"samples": samples}, {"samples": golden})


def simulated(traffic="full"):
    """A few beats in Amaranth's simulator."""
    descriptors = pattern_vectors.legal_descriptors(VOLUMES, count=300)
    requests, wanted = beats(np.random.default_rng(4), VOLUMES, descriptors, 300)
    check_simulated(Footprint(VOLUMES), {"i": requests}, {"o": wanted}, traffic=traffic)


def test_pysim():
    simulated("both")


def test_cocotb():
    cfg = PRESETS["small"]
    descriptors = pattern_vectors.legal_descriptors(cfg, count=300)
    requests, wanted = beats(np.random.default_rng(5), cfg, descriptors, 200)
    run_cocotb(Footprint(cfg), "footprint", {"i": requests}, {"o": wanted})


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_mutant(mutant):
    with planted(mutant), pytest.raises(AssertionError, match="differ"):
        simulated()
