# amaranth: UnusedElaboratable=no
"""LOD unit against `lod.gradient_lod` of the golden model.

MINMIP_LONG=1 sends 10^7 beats in ten runs; MINMIP_FIRST_SEED (default 1) replays one of them.
"""

from dataclasses import replace

import numpy as np
import pytest
from kit.cocotb_bench import run_cocotb
from kit.mutants import planted
from kit.stream import check_simulated
from kit.vlib import LONG, SEED, TRAFFIC, VerilatedBlock
from lod_vectors import golden_lod, lod_requests, reach_lod_requests, special_lod_requests
from mutants.lod import MUTANTS

from minmip.hw.config import FULL, PRESETS, LodConfig, UnitConfig
from minmip.hw.lod import LodUnit
from minmip.hw.lod_scale import LodScale

RUNS, BEATS = (10, 1_000_000) if LONG else (1, 200_000)


@pytest.fixture(scope="module", params=("full", "small"))
def unit(request):
    return VerilatedBlock(LodUnit(PRESETS[request.param]), "lod")


def check(unit, requests, traffic="full", seed=1):
    wanted = golden_lod(requests, unit.block.cfg.lod)
    return unit.check({"i": requests}, {"o": wanted}, traffic=traffic, seed=seed)


def test_specials(unit):
    check(unit, special_lod_requests(unit.block.cfg.axes))


def test_tap_count_limits(unit):
    check(unit, reach_lod_requests(unit.block.cfg.axes))


def test_random(unit):
    for seed in range(SEED, SEED + RUNS):
        print("seed", seed)
        run = check(unit, lod_requests(np.random.default_rng(seed), BEATS, unit.block.cfg.axes))
        assert run.cycles < BEATS + 300  # one lane per clock
        assert run.output_stamps["o"][0] - run.input_stamps["i"][0] == unit.block.latency


@pytest.mark.parametrize("traffic", TRAFFIC)
def test_traffic(unit, traffic):
    count = 300 if traffic == "long stalls" else 5000
    check(unit, lod_requests(np.random.default_rng(2), count, unit.block.cfg.axes), traffic, seed=3)


def test_vectors_reach_every_decision():
    """The random requests hold each case many times, or a test that passes would say little."""
    requests = lod_requests(np.random.default_rng(1), 120_000, 3)
    result = golden_lod(requests, FULL.lod)
    aniso = requests["aniso"] & (requests["max_aniso_log2"] == 4)
    for taps_log2 in range(5):
        assert (aniso & (result["taps_log2"] == taps_log2)).sum() > 300
    assert (result["lod"] == 32767).sum() > 100
    assert (result["lod"] == -32768).sum() > 100
    assert result["undefined"].sum() > 100
    assert 0.2 < result["major_is_x"].mean() < 0.8


def test_other_widths():
    """Mantissa, table and logarithm of other sizes than the standard ones."""
    lod = LodConfig(mantissa_bits=14, index_bits=6, interpolation_bits=9, log_fraction_bits=12)
    cfg = replace(PRESETS["full"], lod=lod)
    requests = lod_requests(np.random.default_rng(6), 500, cfg.axes)
    check_simulated(LodUnit(cfg), {"i": requests}, {"o": golden_lod(requests, lod)})


def simulated(traffic="full"):
    """A few requests of every kind in Amaranth's simulator."""
    rng = np.random.default_rng(4)
    pools = (lod_requests(rng, 200, 3), special_lod_requests(3), reach_lod_requests(3))
    rows = [rng.permutation(len(pool["tag"]))[:200] for pool in pools]
    requests = {
        name: np.concatenate([pool[name][some] for pool, some in zip(pools, rows, strict=True)])
        for name in pools[0]
    }
    wanted = golden_lod(requests, FULL.lod)
    check_simulated(LodUnit(FULL), {"i": requests}, {"o": wanted}, traffic=traffic)


def test_pysim():
    simulated("both")


def test_cocotb():
    requests = lod_requests(np.random.default_rng(5), 250, 3)
    wanted = golden_lod(requests, FULL.lod)
    run_cocotb(LodUnit(FULL), "lod", {"i": requests}, {"o": wanted})


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_mutant(mutant):
    with planted(mutant), pytest.raises(AssertionError, match="differ"):
        simulated()


def test_wide_mantissa_is_refused():
    with pytest.raises(ValueError, match="mantissa_bits must be 18 or fewer in gateware, not 20"):
        LodScale(UnitConfig(lod=LodConfig(mantissa_bits=20)))
