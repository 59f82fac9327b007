# amaranth: UnusedElaboratable=no
"""`minmip measure-hw`: three simulators on one trace, each checked; the unit under cocotb."""

import importlib
import re
import sys
from dataclasses import replace

import numpy as np
import pytest
from random_traces import random_trace

from minmip.hw.config import SMALL
from minmip.sim import golden, measure_hw
from minmip.sim.backends import Backend
from minmip.sim.compare import differences
from minmip.sim.runners.cocotb_unit import CocotbUnit
from minmip.sim.runners.unit import CHUNK
from minmip.sim.runners.verilate import RunnerError
from minmip.sim.workloads import workloads

SPEED = "-O0"  # builds faster than what `measure-hw` takes


@pytest.fixture(scope="module")
def unit():
    return CocotbUnit(SMALL, speed=SPEED)


@pytest.mark.parametrize("kind", ["mixed", "plain"])
def test_the_unit_under_cocotb(unit, kind):
    """Answers, pattern, memory and counters are those of the golden model."""
    trace = random_trace(np.random.default_rng(1), 40, kind, SMALL.swizzle_modes)
    result = unit(trace, pattern=True)
    found = differences(trace, result, golden.run(trace, config=SMALL, pattern=True))
    assert not found, "\n".join(found)
    assert result.counters["quads"] == 40
    assert unit.seconds > 0


def test_one_chunk_only(unit):
    with pytest.raises(RunnerError, match="one chunk only"):
        unit(workloads(CHUNK + 1, 1)["coherent"])


def test_ratio_to_both_simulators(monkeypatch):
    """One line gives both; the order of the three is not left to chance."""
    monkeypatch.setattr(measure_hw, "_COCOTB_SPEED", SPEED)
    said = []
    measure_hw._measure_simulators(20, said.append)
    found = re.fullmatch(
        r"20 coherent quads, small, clocks per second of processor time: verilator (\d+); slower: "
        r"Amaranth's simulator (\d+) \((\d+) times\), cocotb (\d+) \((\d+) times\)",
        said[0],
    )
    assert found, said
    verilator, amaranth, times, cocotb, _ = map(int, found.groups())
    assert verilator > cocotb > amaranth > 0
    assert times > 50


def test_a_wrong_result_is_no_figure():
    def wrong(trace):
        result = golden.run(trace, config=SMALL)
        return replace(result, error=result.error + np.uint8(len(trace) > 1), cycles=1)

    trace = workloads(5, 1)["coherent"]
    with pytest.raises(RunnerError, match="liar"):
        measure_hw._clock_rate(Backend("liar", SMALL, wrong), trace, runs=1)


def test_without_cocotb(monkeypatch):
    name = "minmip.sim.runners.cocotb_model"
    for module in ("cocotb_tools", "cocotb_tools.runner", "cocotb_tools.check_results"):
        monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.delitem(sys.modules, name)
    with pytest.raises(RunnerError, match="cocotb is missing: install it by `make setup`"):
        importlib.import_module(name)
