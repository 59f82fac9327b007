# amaranth: UnusedElaboratable=no
"""Coordinate unit against `sim.golden.coordinates`.

MINMIP_LONG=1 sends 10^7 beats; MINMIP_FIRST_SEED (default 1) is printed on a failure.
"""

import coordinate_vectors
import numpy as np
import pytest
from amaranth.hdl import Const
from kit.cocotb_bench import run_cocotb
from kit.mutants import planted
from kit.stream import check_simulated
from kit.vlib import LONG, SEED, TRAFFIC, VerilatedBlock
from mutants.coordinate import MUTANTS

from minmip.hw.config import PRESETS
from minmip.hw.coordinate import CoordinateUnit
from minmip.hw.float_to_fixed import FloatToFixed
from minmip.hw.lib.arithmetic import add_carry


@pytest.fixture(scope="module", params=("full", "small"))
def unit(request):
    return VerilatedBlock(CoordinateUnit(PRESETS[request.param]), "coordinate")


def check(unit, requests, traffic="full", seed=1):
    wanted = coordinate_vectors.golden_coordinates(requests)
    return unit.check({"i": requests}, {"o": wanted}, traffic=traffic, seed=seed)


def test_specials(unit):
    check(unit, coordinate_vectors.special_coordinate_requests(unit.block.cfg.axes))


def test_random(unit):
    print("seed", SEED)
    rng = np.random.default_rng(SEED)
    count = 10_000_000 if LONG else 200_000
    requests = coordinate_vectors.coordinate_requests(rng, count, unit.block.cfg.axes)
    run = check(unit, requests)
    assert run.cycles < count + 300  # one axis set per clock
    assert run.output_stamps["o"][0] - run.input_stamps["i"][0] == 31


@pytest.mark.parametrize("traffic", TRAFFIC)
def test_traffic(unit, traffic):
    rng = np.random.default_rng(2)
    count = 300 if traffic == "long stalls" else 5000
    check(
        unit,
        coordinate_vectors.coordinate_requests(rng, count, unit.block.cfg.axes),
        traffic,
        seed=3,
    )


def simulated(count, traffic="full"):
    """A few requests in Amaranth's simulator."""
    requests = coordinate_vectors.coordinate_requests(np.random.default_rng(4), count, 3)
    wanted = coordinate_vectors.golden_coordinates(requests)
    block = CoordinateUnit(PRESETS["full"])
    check_simulated(block, {"i": requests}, {"o": wanted}, traffic=traffic)


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
    run_cocotb(CoordinateUnit(PRESETS["full"]), "coordinate", {"i": requests}, {"o": wanted})


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_mutant(mutant):
    with planted(mutant), pytest.raises(AssertionError, match="differ"):
        simulated(200)
