# amaranth: UnusedElaboratable=no
"""Gradients of quads against `numbers.float_sub`.

MINMIP_LONG=1 sends 10^6 quads; MINMIP_FIRST_SEED (default 1) is printed on a failure.
"""

import os

import numpy as np
import pytest
from kit.cocotb_bench import run_cocotb
from kit.mutants import planted
from kit.stream import simulate
from kit.vlib import TRAFFIC, VerilatedBlock, assert_columns_equal
from mutants.quad_gradients import MUTANTS
from quad_vectors import quad_gradients, random_operands

from minmip.hw.blocks import PRESETS
from minmip.hw.quad_gradients import QuadGradients

LONG = bool(os.environ.get("MINMIP_LONG"))
SEED = int(os.environ.get("MINMIP_FIRST_SEED", "1"))


class Unit:
    """The block, its parameters and its verilated model."""

    def __init__(self, name):
        self.cfg = PRESETS[name]
        self.block = QuadGradients(self.cfg)
        self.verilated = VerilatedBlock(self.block, "quad_gradients")

    def check(self, operands, traffic="full", seed=1):
        count = len(operands["tag"])
        result, run = self.verilated.run({"i": operands}, count, traffic=traffic, seed=seed)
        assert_columns_equal(result["o"], quad_gradients(operands))
        return run


@pytest.fixture(scope="module", params=("full", "everything"))
def unit(request):
    return Unit(request.param)


def test_random(unit):
    """Also one quad per clock, with the latency that the block states."""
    print("seed", SEED)
    rng = np.random.default_rng(SEED)
    for _ in range(20 if LONG else 1):
        run = unit.check(random_operands(rng, 50_000, unit.cfg))
        assert run.output_stamps["o"][0] - run.input_stamps["i"][0] == unit.block.latency
        assert run.output_stamps["o"][-1] - run.output_stamps["o"][0] == 50_000 - 1


@pytest.mark.parametrize("traffic", TRAFFIC)
def test_traffic(unit, traffic):
    count = 300 if traffic == "long stalls" else 5000
    unit.check(random_operands(np.random.default_rng(2), count, unit.cfg), traffic, seed=3)


def simulated(traffic="full"):
    """Some quads in Amaranth's simulator."""
    cfg = PRESETS["full"]
    operands = random_operands(np.random.default_rng(4), 150, cfg)
    result = simulate(QuadGradients(cfg), {"i": operands}, 150, traffic=traffic)
    assert_columns_equal(result["o"], quad_gradients(operands))


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
