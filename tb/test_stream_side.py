"""Parts that carry side data: `SideBuffer`, `Lookup`; and the population count."""

import numpy as np
import pytest
from kit.beats import DelayDatapath
from kit.mutants import planted
from kit.stream import simulate
from kit.vlib import TRAFFIC, VerilatedBlock
from mutants.stream_side import MUTANTS

from minmip.hw.beats import part_beat
from minmip.hw.config import SMALL
from minmip.hw.lib.pop_count import PopCount
from minmip.hw.lib.side_buffer import SideBuffer
from minmip.hw.lookup import Lookup

COUNT = 3000
BEATS = np.arange(COUNT)
SENT = {"beat": BEATS, "side": BEATS * 5 & 0xFFF}


def check_side_buffer(traffic, entry=0):
    block = VerilatedBlock(SideBuffer(DelayDatapath(20, 5), 12, entry=entry), "side_buffer")
    got, run = block.run({"i": SENT}, COUNT, traffic=traffic, seed=3)
    assert np.array_equal(got["o"]["beat"], SENT["beat"])
    assert np.array_equal(got["o"]["side"], SENT["side"])
    return run


@pytest.mark.parametrize("entry", [0, 1])
@pytest.mark.parametrize("traffic", TRAFFIC)
def test_side_buffer(traffic, entry):
    run = check_side_buffer(traffic, entry)
    if traffic == "full":
        assert run.cycles < COUNT + 300  # one beat per clock
        assert run.output_stamps["o"][0] - run.input_stamps["i"][0] == 7 + entry


def test_side_buffer_pysim():
    part = SideBuffer(DelayDatapath(20, 5), 12)
    sent = {name: column[:200] for name, column in SENT.items()}
    got = simulate(part, {"i": sent}, 200, traffic="both")
    assert np.array_equal(got["o"]["side"], sent["side"])


@pytest.mark.parametrize("registered", [True, False])
@pytest.mark.parametrize("traffic", TRAFFIC)
def test_lookup(traffic, registered):
    """The context leads to the control fields in the clock of the transfer."""
    lookup = Lookup(SMALL, part_beat(SMALL), ("max_lod", "linked"), registered=registered)
    block = VerilatedBlock(lookup, "lookup")
    block.model.set("control", 5 << 12 | 0xABC)
    count = 500
    words = np.random.default_rng(1).integers(0, 1 << 32, (count, 10), np.uint32)
    words[:, -1] &= (1 << part_beat(SMALL).size % 32) - 1
    run = block.model.run({"i": words}, {"o": count}, traffic=TRAFFIC[traffic], seed=2)
    assert run.broken["o"] == 0
    whole = run.results["o"].astype(object) @ np.array([1 << 32 * n for n in range(11)], object)
    sent = words.astype(object) @ np.array([1 << 32 * n for n in range(10)], object)
    assert (whole == (sent | (5 << 12 | 0xABC) << part_beat(SMALL).size)).all()


@pytest.mark.parametrize("width", [1, 2, 4, 7, 16, 64])
def test_pop_count(width):
    from amaranth.sim import Simulator

    part = PopCount(width)
    rng = np.random.default_rng(width)
    words = [
        0,
        (1 << width) - 1,
        *(int(rng.integers(0, 1 << 62)) & (1 << width) - 1 for _ in "x" * 50),
    ]

    async def bench(ctx):
        for clock in range(len(words) + part.latency):
            if clock >= part.latency:
                assert ctx.get(part.o) == words[clock - part.latency].bit_count()
            ctx.set(part.i, words[clock] if clock < len(words) else 0)
            await ctx.tick()

    sim = Simulator(part)
    sim.add_clock(1e-8)
    sim.add_testbench(bench)
    sim.run()


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_mutant(mutant):
    checks = {
        "lib.side_buffer": lambda: check_side_buffer("both"),
        "lookup": lambda: test_lookup("both", registered=True),
        "lib.pop_count": lambda: test_pop_count(16),
    }
    with planted(mutant), pytest.raises(AssertionError):
        checks[mutant.module]()
