# amaranth: UnusedElaboratable=no
"""Bias, clamps and mip choice against `sim.golden.lod`.

MINMIP_LONG=1 sends 10^6 beats; MINMIP_FIRST_SEED (default 1) is printed on a failure.
"""

import numpy as np
import pytest
from kit.cocotb_bench import run_cocotb
from kit.mutants import planted
from kit.stream import check_simulated
from kit.vlib import LONG, SEED, TRAFFIC, VerilatedBlock
from lod_beat_vectors import golden_mips, mip_requests
from mutants.mip_choice import MUTANTS

from minmip.hw.config import PRESETS
from minmip.hw.mip_choice import MipChoice

ENDS = np.array([-32768, -32767, -257, -256, -1, 0, 1, 127, 128, 256, 384, 4095, 32766, 32767])


@pytest.fixture(scope="module")
def unit():
    return VerilatedBlock(MipChoice(PRESETS["full"]), "mip_choice")


def check(unit, requests, traffic="full", seed=1):
    return unit.check({"i": requests}, {"o": golden_mips(requests)}, traffic=traffic, seed=seed)


def test_random(unit):
    print("seed", SEED)
    count = 1_000_000 if LONG else 100_000
    run = check(unit, mip_requests(np.random.default_rng(SEED), count, unit.block.cfg))
    assert run.cycles < count + 300  # one part per clock
    assert run.output_stamps["o"][0] - run.input_stamps["i"][0] == unit.block.latency == 13


def test_ends(unit):
    """Each end of each operand with each other one, in every lane."""
    lod, bias, clamp, lod_bias = (
        grid.ravel() for grid in np.meshgrid(ENDS, ENDS, ENDS, [-8192, -1, 0, 1, 8191])
    )
    requests = mip_requests(np.random.default_rng(2), len(lod), unit.block.cfg)
    lane, control = requests["beat"]["lane"], requests["control"]
    for name, column in (("lod", lod), ("bias", bias), ("clamp", clamp)):
        lane[name] = np.repeat(column[:, None], unit.block.cfg.lanes, axis=1)
    control["lod_bias"] = lod_bias
    check(unit, requests)


def test_every_step_of_a_view(unit):
    """All LODs of the 16 mips, each view, each mip filter."""
    lod, view, mip_filter = (
        grid.ravel() for grid in np.meshgrid(np.arange(-4, 4100), range(16), range(4))
    )
    requests = mip_requests(np.random.default_rng(3), len(lod), unit.block.cfg)
    lane, control = requests["beat"]["lane"], requests["control"]
    for name, column in (("lod", lod), ("bias", lod * 0), ("clamp", lod * 0 - 32768)):
        lane[name] = np.repeat(column[:, None], unit.block.cfg.lanes, axis=1)
    control["base_level"] = np.minimum(control["base_level"], view)
    control["last_level"], control["mip_filter"] = view, mip_filter
    control["lod_bias"] = control["min_lod"] = control["view_min_lod"] = lod * 0
    check(unit, requests)


@pytest.mark.parametrize("traffic", TRAFFIC)
def test_traffic(unit, traffic):
    count = 300 if traffic == "long stalls" else 5000
    check(unit, mip_requests(np.random.default_rng(4), count, unit.block.cfg), traffic, seed=3)


def test_vectors_reach_every_decision():
    """The random requests hold each case many times, or a test that passes would say little."""
    requests = mip_requests(np.random.default_rng(1), 50_000, PRESETS["full"])
    result = golden_mips(requests)["lane"]
    for column in (result["linear"], result["second"], result["lod"] == 0):
        assert 0.03 < column.mean() < 0.97
    assert 0.05 < (result["lod"] > result["limited"]).mean() < 0.95
    assert len(np.unique(result["mip"])) == 16


def simulated(traffic="full", preset="default"):
    """A few requests in Amaranth's simulator."""
    cfg = PRESETS[preset]
    requests = mip_requests(np.random.default_rng(5), 500, cfg)
    check_simulated(MipChoice(cfg), {"i": requests}, {"o": golden_mips(requests)}, traffic=traffic)


@pytest.mark.parametrize("preset", PRESETS)
def test_pysim(preset):
    simulated("both", preset)


def test_cocotb():
    cfg = PRESETS["default"]
    requests = mip_requests(np.random.default_rng(6), 150, cfg)
    run_cocotb(MipChoice(cfg), "mip_choice", {"i": requests}, {"o": golden_mips(requests)})


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_mutant(mutant):
    with planted(mutant), pytest.raises(AssertionError, match="differ"):
        simulated()
