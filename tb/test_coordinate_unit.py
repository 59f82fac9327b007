# amaranth: UnusedElaboratable=no
"""Coordinate unit against `sim.golden.coordinates`.

MINMIP_LONG=1 sends 10^7 beats; MINMIP_FIRST_SEED (default 1) is printed on a failure.
"""

import os

import coordinate_vectors
import numpy as np
import pytest
from amaranth.hdl import Const
from kit.cocotb_bench import run_cocotb
from kit.mutants import planted
from kit.stream import simulate
from kit.vlib import TRAFFIC, VerilatedBlock, assert_columns_equal
from mutants.coordinate import MUTANTS

from minmip.hw.blocks import PRESETS
from minmip.hw.coordinate import CoordinateUnit
from minmip.hw.float_to_fixed import FloatToFixed
from minmip.hw.lib.arithmetic import add_carry

LONG = bool(os.environ.get("MINMIP_LONG"))
SEED = int(os.environ.get("MINMIP_FIRST_SEED", "1"))


@pytest.fixture(scope="module", params=("everything", "full"))
def unit(request):
    """The Verilated block, and its number of axes."""
    cfg = PRESETS[request.param]
    return VerilatedBlock(CoordinateUnit(cfg), "coordinate"), cfg.axes


def check(unit, requests, traffic="full", seed=1):
    block, _ = unit
    wanted = coordinate_vectors.golden_coordinates(requests)
    result, run = block.run({"i": requests}, len(wanted["tag"]), traffic=traffic, seed=seed)
    assert_columns_equal(result["o"], wanted)
    return run


def test_specials(unit):
    check(unit, coordinate_vectors.special_coordinate_requests(unit[1]))


def test_random(unit):
    print("seed", SEED)
    rng = np.random.default_rng(SEED)
    count = 10_000_000 if LONG else 200_000
    requests = coordinate_vectors.coordinate_requests(rng, count, unit[1])
    run = check(unit, requests)
    assert run.cycles < count + 300  # one axis set per clock
    assert run.output_stamps["o"][0] - run.input_stamps["i"][0] == 31


@pytest.mark.parametrize("traffic", TRAFFIC)
def test_traffic(unit, traffic):
    rng = np.random.default_rng(2)
    count = 300 if traffic == "long stalls" else 5000
    check(unit, coordinate_vectors.coordinate_requests(rng, count, unit[1]), traffic, seed=3)


def simulated(count, traffic="full"):
    """A few requests in Amaranth's simulator."""
    requests = coordinate_vectors.coordinate_requests(np.random.default_rng(4), count, 3)
    result = simulate(
        CoordinateUnit(PRESETS["everything"]), {"i": requests}, count, traffic=traffic
    )
    assert_columns_equal(result["o"], coordinate_vectors.golden_coordinates(requests))


def test_pysim():
    simulated(200, "both")


def test_bad_parameters():
    with pytest.raises(ValueError, match=r"^infinity must be in 1\.\.32768, not 40000$"):
        FloatToFixed(40000)
    with pytest.raises(ValueError, match=r"^operands must have one width, not 4 and 5 bits$"):
        add_carry(Const(0, 4), Const(0, 5), Const(0, 1))


def test_cocotb():
    requests = coordinate_vectors.coordinate_requests(np.random.default_rng(5), 200, 3)
    wanted = coordinate_vectors.golden_coordinates(requests)
    run_cocotb(CoordinateUnit(PRESETS["everything"]), "coordinate", {"i": requests}, {"o": wanted})


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_mutant(mutant):
    with planted(mutant), pytest.raises(AssertionError, match="differ"):
        simulated(200)
