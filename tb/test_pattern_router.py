# amaranth: UnusedElaboratable=no
"""Pattern router: every beat goes on once, those of plain requests also to the pattern stream.

MINMIP_LONG=1 sends 10^7 beats; MINMIP_FIRST_SEED (default 1) is printed on a failure.
"""

import os

import numpy as np
import pytest
from amaranth.hdl import Shape
from kit.cocotb_bench import run_cocotb
from kit.mutants import planted
from kit.packing import unpack
from kit.stream import simulate
from kit.vlib import TRAFFIC, VerilatedBlock, assert_columns_equal
from mutants.pattern_router import MUTANTS

from minmip.hw.beats import footprint_beat
from minmip.hw.blocks import PRESETS
from minmip.hw.pattern_router import PatternRouter
from minmip.sim.runners.verilator import Traffic

LONG = bool(os.environ.get("MINMIP_LONG"))
SEED = int(os.environ.get("MINMIP_FIRST_SEED", "1"))
CFG = PRESETS["full"]


def random_beats(rng, count):
    """Any bits; half of the beats are plain, in runs, some without an active lane."""
    words = (Shape.cast(footprint_beat(CFG)).width + 31) // 32
    beats = unpack(footprint_beat(CFG), rng.integers(0, 1 << 32, (count, words), np.uint32))
    runs = np.cumsum(rng.random(count) < 0.2)
    kinds = rng.choice(np.array([0, 0, 1, 2, 3]), count)
    beats["linked"] = kinds[runs]
    beats["active"] = np.where(rng.random(count) < 0.2, 0, beats["active"])
    return beats


def golden(beats):
    """What must leave, by stream."""
    plain = beats["linked"] == 0
    shown = plain & (beats["active"] != 0)
    lane = beats["lane"]
    return {
        "o": beats | {"active": np.where(plain, 0, beats["active"])},
        "o_pattern": {
            name: beats[name][shown] for name in ("first_lane", "tap", "slot", "active", "tag")
        }
        | {
            "lane": {name: lane[name][shown] for name in ("slice", "mip", "lod")}
            | {"axis": {name: column[shown] for name, column in lane["axis"].items()}}
        },
    }


@pytest.fixture(scope="module")
def block():
    return VerilatedBlock(PatternRouter(CFG), "pattern_router")


def check(run, rng, count, **options):
    """Send beats through `run`, as of `VerilatedBlock`, and return what it says of the clocks."""
    beats = random_beats(rng, count)
    wanted = golden(beats)
    counts = {name: len(columns["tag"]) for name, columns in wanted.items()}
    assert 0 < counts["o_pattern"] < count
    result, clocks = run({"i": beats}, counts, seed=3, **options)
    for name, columns in wanted.items():
        assert_columns_equal(result[name], columns, name)
    return clocks


def test_random(block):
    print("seed", SEED)
    count = 10_000_000 if LONG else 100_000
    run = check(block.run, np.random.default_rng(SEED), count)
    stamps = run.output_stamps["o"]
    assert stamps[-1] - stamps[0] == count - 1  # one beat per clock
    assert stamps[0] - run.input_stamps["i"][0] == PatternRouter(CFG).latency == 1


@pytest.mark.parametrize("traffic", TRAFFIC)
def test_traffic(block, traffic):
    count = 300 if traffic == "long stalls" else 5000
    check(block.run, np.random.default_rng(2), count, traffic=traffic)


@pytest.mark.parametrize("stalled", ["o", "o_pattern"])
def test_one_side_stalls(block, stalled):
    """The other side gets each beat once."""
    traffic = {stalled: Traffic(ready=0.5, longest=9)}
    check(block.run, np.random.default_rng(7), 5000, traffic=traffic)


def simulated(traffic="full"):
    def run(columns, counts, **options):
        return simulate(PatternRouter(CFG), columns, counts, **options), None

    check(run, np.random.default_rng(4), 300, traffic=traffic)


def test_pysim():
    simulated("both")


def test_cocotb():
    beats = random_beats(np.random.default_rng(5), 200)
    run_cocotb(PatternRouter(CFG), "pattern_router", {"i": beats}, golden(beats))


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_mutant(mutant):
    with planted(mutant), pytest.raises(AssertionError):
        simulated("both")
