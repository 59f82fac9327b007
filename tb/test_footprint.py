# amaranth: UnusedElaboratable=no
"""Footprint against `sim.golden`: axis by axis, the samples of whole parts, the filter's kernels.

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

from minmip.hw.config import FULL, PRESETS
from minmip.hw.footprint import Footprint
from minmip.sim.golden.address import texel_address
from minmip.sim.golden.descriptor import LINKED_FILTER

ALL = range(LINKED_FILTER + 1)
"""Linked types."""
VOLUMES = replace(FULL, lanes=1, lod_units=1)
"""Three axes."""
CONFIGS = {"default": PRESETS["default"], "volumes": VOLUMES}
if LONG:
    CONFIGS["full"] = PRESETS["full"]


class Bench:
    """The Verilated block, its parameters and descriptors."""

    def __init__(self, cfg):
        self.cfg = cfg
        self.descriptors = pattern_vectors.legal_descriptors(cfg, linked=ALL)
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
    cfg = bench.cfg
    descriptors = pattern_vectors.legal_descriptors(cfg)  # without the filter
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


def test_filter_kernel(bench):
    """Corners and weights of the MinMip filter are those of `filter_kernel`."""
    print("seed", SEED)
    cfg = bench.cfg
    descriptors = pattern_vectors.legal_descriptors(cfg, count=3000, linked=(LINKED_FILTER,))
    parts = pattern_vectors.random_parts(
        np.random.default_rng(SEED), cfg, descriptors, 30_000 // cfg.lanes
    )
    walked = pattern_vectors.walk(parts.columns)
    requests = pattern_vectors.footprint_requests(
        pattern_vectors.tap_columns(parts.columns, walked), descriptors, parts.pair
    )
    footprints = bench.block.run({"i": requests}, len(parts.pair))[0]["o"]

    part, lane = np.nonzero(pattern_vectors.lane_bits(parts.columns["live"], cfg))
    golden = pattern_vectors.golden_kernel(parts, descriptors, part, lane)
    image = descriptors.image.take(parts.pair[part])
    bilinear = descriptors.sampler.mag_filter[parts.pair[part]] & 1 == 1
    axis = {name: column[part, lane] for name, column in footprints["lane"]["axis"].items()}
    z = footprints["lane"]["slice"][part, lane]
    for corner in range(1 << cfg.axes):
        side = [corner >> n & 1 for n in range(cfg.axes)]
        texel = [axis["texel"][:, n, s] for n, s in enumerate(side)]
        if cfg.axes > 2:
            texel[2] = np.where(image.axes == 3, texel[2], z)
        touched = np.all([axis["touched"][:, n, s] for n, s in enumerate(side)], axis=0)
        used = corner >> image.axes == 0
        inside = golden.inside[:, corner] & used & (bilinear | (corner == 0))
        np.testing.assert_array_equal(touched, inside)
        hit = np.flatnonzero(inside)
        deep = texel[2] if cfg.axes > 2 else z
        address = texel_address(
            descriptors.layout,
            *(parts.pair[part[hit]], np.zeros_like(hit)),
            *(column[hit] for column in (texel[0], texel[1], deep)),
        )
        np.testing.assert_array_equal(address, golden.offset[hit, corner])
        assert len(hit) > 200
    for n in range(cfg.axes):
        fraction = axis["weight"][:, n]
        distance = np.where(fraction < 128, fraction, 256 - fraction)
        slope2, offset = (footprints["ramp"][name][part, n] for name in ("slope2", "offset"))
        weight = np.clip((distance - offset) * slope2, 0, 512)
        used = bilinear & (image.axes > n)
        np.testing.assert_array_equal(weight[used], golden.weight[used, n])
        assert len(np.unique(weight[used])) > 50


def simulated(traffic="full"):
    """A few beats in Amaranth's simulator."""
    descriptors = pattern_vectors.legal_descriptors(VOLUMES, count=300, linked=ALL)
    requests, wanted = beats(np.random.default_rng(4), VOLUMES, descriptors, 300)
    check_simulated(Footprint(VOLUMES), {"i": requests}, {"o": wanted}, traffic=traffic)


def test_pysim():
    simulated("both")


def test_cocotb():
    cfg = PRESETS["small"]
    descriptors = pattern_vectors.legal_descriptors(cfg, count=300, linked=ALL)
    requests, wanted = beats(np.random.default_rng(5), cfg, descriptors, 200)
    run_cocotb(Footprint(cfg), "footprint", {"i": requests}, {"o": wanted})


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_mutant(mutant):
    with planted(mutant), pytest.raises(AssertionError, match="differ"):
        simulated()
