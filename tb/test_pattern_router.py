# amaranth: UnusedElaboratable=no
"""Pattern router: every beat goes on once, those of plain requests also to the pattern stream.

MINMIP_LONG=1 sends 10^7 beats; MINMIP_FIRST_SEED (default 1) is printed on a failure.
"""

import numpy as np
import pytest
from amaranth.hdl import Shape
from kit.cocotb_bench import run_cocotb
from kit.mutants import planted
from kit.packing import unpack
from kit.stream import check_simulated
from kit.vlib import LONG, SEED, TRAFFIC, VerilatedBlock
from mutants.pattern_router import MUTANTS

from minmip.hw.beats import footprint_beat
from minmip.hw.config import PRESETS
from minmip.hw.pattern_router import PatternRouter
from minmip.sim.runners.verilator import Traffic

CFG = PRESETS["full"]


def random_beats(rng, count):
    """Any bits; half of the beats are plain, in runs, some without an active lane."""
    words = (Shape.cast(footprint_beat(CFG)).width + 31) // 32
    beats = unpack(footprint_beat(CFG), rng.integers(0, 1 << 32, (count, words), np.uint32))
    runs = np.cumsum(rng.random(count) < 0.2)
    kinds = rng.choice(np.array([0, 0, 1, 2, 3, 4]), count)
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


def check(block, seed, count, traffic="full"):
    beats = random_beats(np.random.default_rng(seed), count)
    wanted = golden(beats)
    assert 0 < len(wanted["o_pattern"]["tag"]) < count
    return block.check({"i": beats}, wanted, traffic=traffic, seed=3)


def test_random(block):
    print("seed", SEED)
    count = 10_000_000 if LONG else 100_000
    run = check(block, SEED, count)
    stamps = run.output_stamps["o"]
    assert stamps[-1] - stamps[0] == count - 1  # one beat per clock
    assert stamps[0] - run.input_stamps["i"][0] == PatternRouter(CFG).latency == 1


@pytest.mark.parametrize("traffic", TRAFFIC)
def test_traffic(block, traffic):
    count = 300 if traffic == "long stalls" else 5000
    check(block, 2, count, traffic)


@pytest.mark.parametrize("stalled", ["o", "o_pattern"])
def test_one_side_stalls(block, stalled):
    """The other side gets each beat once."""
    check(block, 7, 5000, {stalled: Traffic(ready=0.5, longest=9)})


def simulated(traffic="full"):
    beats = random_beats(np.random.default_rng(4), 300)
    check_simulated(PatternRouter(CFG), {"i": beats}, golden(beats), traffic=traffic, seed=3)


def test_pysim():
    simulated("both")


def test_cocotb():
    beats = random_beats(np.random.default_rng(5), 200)
    run_cocotb(PatternRouter(CFG), "pattern_router", {"i": beats}, golden(beats))


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_mutant(mutant):
    with planted(mutant), pytest.raises(AssertionError):
        simulated("both")
