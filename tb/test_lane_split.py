# amaranth: UnusedElaboratable=no
"""Lane split against its rule in plain numpy, for every number of lanes.

MINMIP_LONG=1 sends 10^6 quads; MINMIP_FIRST_SEED (default 1) is printed on a failure.
"""

import os
from dataclasses import replace

import numpy as np
import pytest
from kit.cocotb_bench import run_cocotb
from kit.mutants import planted
from kit.stream import simulate
from kit.vlib import TRAFFIC, VerilatedBlock, assert_columns_equal
from mutants.lane_split import MUTANTS
from quad_vectors import random_columns

from minmip.hw.beats import quad_beat
from minmip.hw.blocks import PRESETS
from minmip.hw.lane_split import LaneSplit
from minmip.sim.trace import SAMPLE_B, SAMPLE_L, SAMPLE_LZ

LONG = bool(os.environ.get("MINMIP_LONG"))
SEED = int(os.environ.get("MINMIP_FIRST_SEED", "1"))
CONFIGS = {
    "small": PRESETS["small"],
    "default": PRESETS["default"],
    "full": PRESETS["full"],
    "volumes": replace(PRESETS["everything"], lanes=2, lod_units=2),
}


def golden(quads, lanes):
    """Columns of `part_beat`: 4 / lanes rows for each quad."""
    count, parts = len(quads["tag"]), 4 // lanes
    opcode = np.repeat(quads["opcode"], parts)
    first = np.tile(np.arange(parts) * lanes, count)
    implicit = opcode <= SAMPLE_B
    # Opcodes that do not exist count as SAMPLE_LZ.
    zero = opcode >= SAMPLE_LZ

    def by_part(column):
        """[quads, 4, ...] to [parts, lanes, ...]."""
        return column.reshape(count * parts, lanes, *column.shape[2:])

    lane = {name: by_part(quads[name]).copy() for name in ("uvw", "slice", "ddx", "ddy", "clamp")}
    for name in ("ddx", "ddy"):
        shared = np.repeat(quads[name][:, 0], parts, axis=0)
        lane[name][implicit, 0] = shared[implicit]
    lane["level"] = np.where(zero[:, None], 0, by_part(quads["lod"]))
    head = {name: np.repeat(quads[name], parts) for name in ("context", "code", "flush", "tag")}
    return head | {
        "first_lane": first,
        "last_part": first == 4 - lanes,
        "live": np.repeat(quads["live"], parts) >> first & ((1 << lanes) - 1),
        "implicit": implicit,
        "explicit": (opcode == SAMPLE_L) | zero,
        "has_bias": opcode == SAMPLE_B,
        "has_clamp": np.repeat(quads["has_clamp"], parts),
        "lane": lane,
    }


class Unit:
    """The verilated block and its parameters."""

    def __init__(self, cfg):
        self.cfg = cfg
        self.parts = 4 // cfg.lanes
        self.block = VerilatedBlock(LaneSplit(cfg), "lane_split")

    def check(self, quads, traffic="full", seed=1):
        count = len(quads["tag"]) * self.parts
        result, run = self.block.run({"i": quads}, count, traffic=traffic, seed=seed)
        assert_columns_equal(result["o"], golden(quads, self.cfg.lanes))
        return run


@pytest.fixture(scope="module", params=CONFIGS)
def unit(request):
    return Unit(CONFIGS[request.param])


def test_random(unit):
    """Also one part per clock, latency 1."""
    print("seed", SEED)
    rng = np.random.default_rng(SEED)
    for _ in range(30 if LONG else 1):
        run = unit.check(random_columns(rng, quad_beat(unit.cfg), 30_000))
        stamps = run.output_stamps["o"].astype(np.int64)
        assert stamps[-1] - stamps[0] == 30_000 * unit.parts - 1
        # The first quad is taken with its last part.
        assert run.input_stamps["i"][0] - stamps[0] == unit.parts - 1 - 1


@pytest.mark.parametrize("traffic", TRAFFIC)
def test_traffic(unit, traffic):
    count = 300 if traffic == "long stalls" else 5000
    quads = random_columns(np.random.default_rng(2), quad_beat(unit.cfg), count)
    unit.check(quads, traffic, seed=3)


def simulated(lanes, traffic="full"):
    """Some quads in Amaranth's simulator."""
    cfg = replace(PRESETS["small"], lanes=lanes)
    quads = random_columns(np.random.default_rng(4), quad_beat(cfg), 100)
    result = simulate(LaneSplit(cfg), {"i": quads}, 100 * 4 // lanes, traffic=traffic)
    assert_columns_equal(result["o"], golden(quads, lanes))


@pytest.mark.parametrize("lanes", [1, 2, 4])
def test_pysim(lanes):
    simulated(lanes, "both")


def test_cocotb():
    cfg = PRESETS["default"]
    quads = random_columns(np.random.default_rng(5), quad_beat(cfg), 150)
    run_cocotb(LaneSplit(cfg), "lane_split", {"i": quads}, {"o": golden(quads, cfg.lanes)})


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_mutant(mutant):
    with planted(mutant), pytest.raises(AssertionError, match=r"differ|beats|no end"):
        simulated(2)
