# amaranth: UnusedElaboratable=no
"""MinMip filter against `sim.golden.minmip_filter`.

MINMIP_LONG=1 sends 10^6 lanes of each build; MINMIP_FIRST_SEED (default 1) is printed on a failure.
"""

import re
from dataclasses import replace

import numpy as np
import pytest
from filter_bench import BASE, FilterBench, load, random_bytes, random_quads
from kit.cocotb_bench import run_cocotb
from kit.mutants import planted
from kit.stream import check_simulated
from kit.vlib import LONG, SEED, TRAFFIC, VerilatedBlock
from mutants.filter_unit import MUTANTS

from minmip.hw.config import PRESETS
from minmip.hw.filter_blend import Blend
from minmip.sim.runners.verilator import Traffic

CONFIGS = {
    "small": PRESETS["small"],
    "full": PRESETS["full"],
    "short words": replace(PRESETS["default"], word_bytes=4, memory_latency=1),
    "long words": replace(PRESETS["full"], word_bytes=32, memory_latency=3, memory_bytes=1 << 12),
}


class Filter:
    """The verilated filter with its memory full of random bytes."""

    def __init__(self, cfg):
        self.cfg = cfg
        self.block = VerilatedBlock(FilterBench(cfg), "filter_unit")
        self.block.model.set("base", BASE)
        self.memory = random_bytes(np.random.default_rng(3), cfg)
        self.block.run(load(self.memory, cfg), 0)

    def check(self, quads, **options):
        results = {"o": quads.results(self.memory)}
        return self.block.check({"i": quads.requests}, results, **options)


@pytest.fixture(scope="module", params=CONFIGS)
def unit(request):
    return Filter(CONFIGS[request.param])


def test_random(unit):
    """Any lanes, groups, texels, borders, positions and ramps; one request per clock."""
    print("seed", SEED)
    for seed in range(10 if LONG else 1):
        rng = np.random.default_rng([SEED, seed])
        quads = random_quads(rng, 25_000, unit.cfg)
        run = unit.check(quads)
        requests = len(quads.quad)
        assert run.input_stamps["i"][-1] - run.input_stamps["i"][0] == requests - 1
        late = run.output_stamps["o"] - run.input_stamps["i"][quads.requests["last"]]
        assert (late == unit.block.block.latency).all()


@pytest.mark.parametrize("traffic", TRAFFIC)
def test_traffic(unit, traffic):
    count = 200 if traffic == "long stalls" else 3000
    unit.check(random_quads(np.random.default_rng(2), count, unit.cfg), traffic=traffic, seed=3)


CLOCKS_PER_LANE = {
    # (share of parts with two depths, share of lanes whose words no other lane shares): clocks
    "shared words": (0, 0, lambda lanes: 1 / lanes),
    "words of their own": (0, 1, lambda lanes: 1),
    "volume, shared words": (1, 0, lambda lanes: 2 / lanes),
    "volume, words of their own": (1, 1, lambda lanes: 2),
}


@pytest.mark.parametrize("boxes", CLOCKS_PER_LANE)
def test_clocks_per_lane(unit, boxes):
    """What the filter needs when it alone sets the pace, for quads with four lanes."""
    deep, split, clocks = CLOCKS_PER_LANE[boxes]
    if deep and not unit.cfg.volumes:
        deep, clocks = 0, CLOCKS_PER_LANE[boxes.removeprefix("volume, ")][2]
    count = 1000
    quads = random_quads(np.random.default_rng(4), count, unit.cfg, deep=deep, split=split)
    stamps = unit.check(quads).input_stamps["i"]
    assert stamps[-1] - stamps[0] + 1 == 4 * count * clocks(unit.cfg.lanes)


def test_writes_beside_reads(unit):
    """A word that is written again and again: seen up to the clock of the request, never later."""
    count, cfg = 4000, unit.cfg
    written = np.arange(1, count + 1) % 256
    words = np.repeat(written[:, None], cfg.word_bytes, 1)
    quads = random_quads(np.random.default_rng(5), count, cfg, deep=0, split=0, joins=1)
    first = quads.requests["last"].nonzero()[0]
    requests = dict(quads.requests)
    address = requests["word"]["address"]
    requests["word"] = {
        "valid": np.ones_like(requests["word"]["valid"]),
        "address": np.full_like(address, BASE * 256 // cfg.word_bytes),
    }
    requests["lane"] = requests["lane"] | {"joins": np.full_like(requests["lane"]["joins"], 15)}
    writes = {"i_write": {"address": np.zeros(count, int), "data": words}}
    traffic = {"i": Traffic(valid=0.5, longest=5), "i_write": Traffic(valid=0.5, longest=9)}
    result, run = unit.block.run({"i": requests} | writes, count, traffic=traffic, seed=6)
    unit.block.run(load(unit.memory, cfg), 0)

    # The last part alone: every texel of a lane is in the one word, so the lane has its byte.
    asked, stamps = (
        run.input_stamps["i"][first].astype(int),
        run.input_stamps["i_write"].astype(int),
    )
    seen = np.searchsorted(stamps, asked, side="right")
    sure = (seen > 0) & ~np.isin(asked + 1, stamps)
    lane = 3
    sure &= quads.live[:, lane]
    assert sure.sum() > count / 10
    np.testing.assert_array_equal(result["o"]["filtered"][sure, lane], 32 * written[seen[sure] - 1])


TINY = replace(PRESETS["default"], word_bytes=4, memory_bytes=1 << 12)


def simulated(traffic="full", count=100):
    """A few quads in Amaranth's simulator."""
    rng = np.random.default_rng(7)
    memory = random_bytes(rng, TINY)
    quads = random_quads(rng, count, TINY)
    check_simulated(
        FilterBench(TINY, memory.tobytes()),
        {"i": quads.requests},
        {"o": quads.results(memory)},
        traffic=traffic,
        ports={"base": BASE},
    )


def test_widths_that_no_blend_has():
    with pytest.raises(ValueError, match=re.escape("bits must be in 1..36, not 37")):
        Blend(37)


def test_pysim():
    simulated("both")


def test_cocotb():
    rng = np.random.default_rng(8)
    memory = random_bytes(rng, TINY)
    quads = random_quads(rng, 100, TINY)
    run_cocotb(
        FilterBench(TINY, memory.tobytes()),
        "filter_unit",
        {"i": quads.requests},
        {"o": quads.results(memory)},
        ports={"base": BASE},
    )


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_mutant(mutant):
    with planted(mutant), pytest.raises(AssertionError, match=r"differ|fell"):
        simulated("random ready")
