# amaranth: UnusedElaboratable=no
"""LOD of a part against `sim.golden.lod`.

MINMIP_LONG=1 sends 10^6 beats; MINMIP_FIRST_SEED (default 1) is printed on a failure.
"""

from dataclasses import replace

import numpy as np
import pytest
from kit.cocotb_bench import run_cocotb
from kit.mutants import planted
from kit.stream import simulate
from kit.vlib import LONG, SEED, TRAFFIC, VerilatedBlock, assert_columns_equal
from lod_beat_vectors import KINDS, OPERANDS, golden_lods, part_requests
from mutants.lane_lod import MUTANTS

from minmip.hw.config import FULL, PRESETS
from minmip.hw.lane_lod import LaneLod
from minmip.hw.operand_to_fixed import OperandToFixed

WIDTHS = [(1, 1), (2, 1), (2, 2), (4, 1), (4, 2), (4, 4)]
"""Every legal pair of lanes and LOD units."""


def width(lanes, units):
    return replace(FULL, lanes=lanes, lod_units=units)


@pytest.fixture(scope="module", params=("full", "4 lanes on 1 unit"))
def unit(request):
    cfg = PRESETS["full"] if request.param == "full" else width(4, 1)
    return VerilatedBlock(LaneLod(cfg), "lane_lod")


def compare(result, requests, cfg):
    """Lines count only where there are several taps."""
    wanted = golden_lods(requests, cfg)
    several = wanted["lane"]["taps_log2"][:, :, None] > 0
    for columns in (result, wanted):
        columns["lane"]["line"] = np.where(several, columns["lane"]["line"], 0)
    assert_columns_equal(result, wanted)


def check(unit, requests, traffic="full", seed=1):
    count = len(requests["beat"]["tag"])
    result, run = unit.run({"i": requests}, count, traffic=traffic, seed=seed)
    compare(result["o"], requests, unit.block.cfg)
    return run


def test_random(unit):
    print("seed", SEED)
    count = 1_000_000 if LONG else 60_000
    check(unit, part_requests(np.random.default_rng(SEED), count, unit.block.cfg))


def test_special_operands(unit):
    """Every special float as level, bias, clamp and slice, of every kind of part."""
    lanes = unit.block.cfg.lanes
    count = 6 * len(OPERANDS)
    requests = part_requests(np.random.default_rng(2), count, unit.block.cfg)
    beat = requests["beat"]
    special = np.tile(OPERANDS, 6)[:, None]
    for n, name in enumerate(("level", "clamp", "slice")):
        beat["lane"][name] = np.roll(special, n, axis=0).repeat(lanes, axis=1)
    kind = np.arange(count) // len(OPERANDS)
    beat["implicit"], beat["explicit"] = kind % 3 == 0, kind % 3 == 1
    beat["has_bias"], beat["has_clamp"] = kind == 0, kind < 3
    check(unit, requests)


@pytest.mark.parametrize("kinds", [*((kind,) for kind in KINDS), KINDS], ids="-".join)
def test_rate(unit, kinds):
    """One part per clock; with gradients of their own, as many lanes as there are LOD units."""
    requests = part_requests(np.random.default_rng(3), 3000, unit.block.cfg, kinds)
    run = check(unit, requests)
    own = ~requests["beat"]["implicit"] & ~requests["beat"]["explicit"]
    clocks = np.where(own, unit.block.cfg.lanes // unit.block.cfg.lod_units, 1)
    assert np.array_equal(np.diff(run.input_stamps["i"]), clocks[:-1])
    assert np.array_equal(
        run.output_stamps["o"] - run.input_stamps["i"], clocks * 0 + unit.block.latency
    )


@pytest.mark.parametrize("traffic", TRAFFIC)
def test_traffic(unit, traffic):
    count = 300 if traffic == "long stalls" else 5000
    check(unit, part_requests(np.random.default_rng(4), count, unit.block.cfg), traffic, seed=3)


def simulated(cfg=FULL, traffic="full", count=200):
    """A few parts in Amaranth's simulator."""
    requests = part_requests(np.random.default_rng(5), count, cfg)
    result = simulate(LaneLod(cfg), {"i": requests}, count, traffic=traffic)
    compare(result["o"], requests, cfg)


@pytest.mark.parametrize("lanes_and_units", WIDTHS, ids=str)
def test_pysim(lanes_and_units):
    simulated(width(*lanes_and_units), "both", 120)


def test_cocotb():
    cfg = width(2, 1)
    requests = part_requests(np.random.default_rng(6), 150, cfg, ("implicit", "own"))
    # One tap: the line, which only several taps look at, is compared too.
    run_cocotb(LaneLod(cfg), "lane_lod", {"i": requests}, {"o": golden_lods(requests, cfg)})


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_mutant(mutant):
    with planted(mutant), pytest.raises(AssertionError, match="differ"):
        simulated(width(4, 2) if mutant.module == "lod_array" else width(2, 1))


def test_other_formats_are_refused():
    with pytest.raises(ValueError, match="magnitude_bits must be 14 or 15, not 16"):
        OperandToFixed(16, 8, negative=True)
    with pytest.raises(ValueError, match=r"fraction_bits must be in 0\.\.15, not 16"):
        OperandToFixed(15, 16, negative=True)
