# amaranth: UnusedElaboratable=no
"""Lane split against its rule in plain numpy, for every number of lanes.

MINMIP_LONG=1 sends 10^6 quads; MINMIP_FIRST_SEED (default 1) is printed on a failure.
"""

from dataclasses import replace

import numpy as np
import pytest
from kit.cocotb_bench import run_cocotb
from kit.mutants import planted
from kit.stream import check_simulated
from kit.vlib import LONG, SEED, TRAFFIC, VerilatedBlock
from mutants.lane_split import MUTANTS
from quad_vectors import random_columns

from minmip.hw.beats import quad_beat
from minmip.hw.config import PRESETS
from minmip.hw.lane_split import LaneSplit
from minmip.sim.trace import SAMPLE_B, SAMPLE_L, SAMPLE_LZ

CONFIGS = {
    "small": PRESETS["small"],
    "default": PRESETS["default"],
    "full": PRESETS["full"],
    "volumes": replace(PRESETS["full"], lanes=2, lod_units=2),
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


@pytest.fixture(scope="module", params=CONFIGS)
def unit(request):
    return VerilatedBlock(LaneSplit(CONFIGS[request.param]), "lane_split")


def check(unit, rng, count, traffic="full"):
    cfg = unit.block.cfg
    quads = random_columns(rng, quad_beat(cfg), count)
    wanted = golden(quads, cfg.lanes)
    return unit.check({"i": quads}, {"o": wanted}, traffic=traffic, seed=3)


def test_random(unit):
    """Also one part per clock, latency 3."""
    print("seed", SEED)
    rng, parts = np.random.default_rng(SEED), 4 // unit.block.cfg.lanes
    for _ in range(30 if LONG else 1):
        run = check(unit, rng, 30_000)
        stamps = run.output_stamps["o"].astype(np.int64)
        assert stamps[-1] - stamps[0] == 30_000 * parts - 1
        # The first quad is taken with its last part.
        assert run.input_stamps["i"][0] - stamps[0] == parts - 1 - 3


@pytest.mark.parametrize("traffic", TRAFFIC)
def test_traffic(unit, traffic):
    count = 300 if traffic == "long stalls" else 5000
    check(unit, np.random.default_rng(2), count, traffic)


def simulated_both():
    simulated(2)
    simulated(1, "both")


def simulated(lanes, traffic="full"):
    """Some quads in Amaranth's simulator."""
    cfg = replace(PRESETS["small"], lanes=lanes)
    quads = random_columns(np.random.default_rng(4), quad_beat(cfg), 100)
    wanted = golden(quads, lanes)
    check_simulated(LaneSplit(cfg), {"i": quads}, {"o": wanted}, traffic=traffic)


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
        simulated_both()
