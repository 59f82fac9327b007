# amaranth: UnusedElaboratable=no
"""Gradients of quads against `numbers.float_sub`.

MINMIP_LONG=1 sends 10^6 quads; MINMIP_FIRST_SEED (default 1) is printed on a failure.
"""

import numpy as np
import pytest
from kit.cocotb_bench import run_cocotb
from kit.mutants import planted
from kit.stream import check_simulated
from kit.vlib import LONG, SEED, TRAFFIC, VerilatedBlock
from mutants.quad_gradients import MUTANTS
from quad_vectors import quad_gradients, random_operands

from minmip.hw.config import PRESETS
from minmip.hw.quad_gradients import QuadGradients


@pytest.fixture(scope="module", params=("full", "small"))
def unit(request):
    return VerilatedBlock(QuadGradients(PRESETS[request.param]), "quad_gradients")


def check(unit, rng, count, traffic="full"):
    operands = random_operands(rng, count, unit.block.cfg)
    return unit.check({"i": operands}, {"o": quad_gradients(operands)}, traffic=traffic, seed=3)


def test_random(unit):
    """Also one quad per clock, with the latency that the block states."""
    print("seed", SEED)
    rng = np.random.default_rng(SEED)
    for _ in range(20 if LONG else 1):
        run = check(unit, rng, 50_000)
        assert run.output_stamps["o"][0] - run.input_stamps["i"][0] == unit.block.latency
        assert run.output_stamps["o"][-1] - run.output_stamps["o"][0] == 50_000 - 1


@pytest.mark.parametrize("traffic", TRAFFIC)
def test_traffic(unit, traffic):
    count = 300 if traffic == "long stalls" else 5000
    check(unit, np.random.default_rng(2), count, traffic)


def simulated(traffic="full"):
    """Some quads in Amaranth's simulator."""
    cfg = PRESETS["full"]
    operands = random_operands(np.random.default_rng(4), 150, cfg)
    wanted = quad_gradients(operands)
    check_simulated(QuadGradients(cfg), {"i": operands}, {"o": wanted}, traffic=traffic)


def test_pysim():
    simulated("both")


def test_cocotb():
    cfg = PRESETS["full"]
    operands = random_operands(np.random.default_rng(5), 200, cfg)
    run_cocotb(
        QuadGradients(cfg), "quad_gradients", {"i": operands}, {"o": quad_gradients(operands)}
    )


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_mutant(mutant):
    with planted(mutant), pytest.raises(AssertionError, match="differ"):
        simulated()
