# amaranth: UnusedElaboratable=no
"""Event counters against sums in Python."""

import random

import pytest
from amaranth.sim import Simulator
from kit.mutants import planted
from mutants.counters import MUTANTS

from minmip.hw.counters import Counters

WIDTHS = {f"event{n}": 1 + n % 6 for n in range(19)}


def simulated(seed, clocks=600):
    """Random events and clears; reads of one sum at a time."""
    block = Counters(WIDTHS)
    rng = random.Random(seed)
    sums = dict.fromkeys(WIDTHS, 0)
    history = [dict(sums)] * 8
    selected = [0] * block.latency

    async def testbench(ctx):
        for clock in range(clocks):
            clear = rng.random() < 0.01
            ctx.set(block.clear, clear)
            for name, width in WIDTHS.items():
                value = rng.choice([0, (1 << width) - 1, rng.randrange(1 << width)])
                ctx.set(getattr(block, name), value)
                sums[name] = 0 if clear else sums[name] + value
            history.append(dict(sums))
            selected.append(rng.randrange(len(WIDTHS) + 5))
            ctx.set(block.select, selected[-1])
            await ctx.tick()
            if clock < 12:
                continue
            number = selected[-block.latency]
            if number >= len(block.names):
                assert ctx.get(block.value) == 0
            else:
                # What was said 8 clocks before it is seen: 3 of the sum, 5 of the choice.
                assert ctx.get(block.value) == history[-8][block.names[number]], clock

    simulator = Simulator(block)
    simulator.add_clock(1e-8)
    simulator.add_testbench(testbench)
    simulator.run()


def carried(clocks=10_000):
    """Sums go on from row to row, as fast as they can, through all bits that a run reaches.

    The high bits of one begin near their end. A sum of 63 each clock wraps every 130 clocks, so in
    8,500 clocks at any place of the round; then clears.
    """
    block = Counters({"a": 6, "b": 1, "c": 6})
    rng = random.Random(5)

    async def testbench(ctx):
        await ctx.tick().repeat(80)  # past the reset of the rows
        ctx.set(block.high.data[2], (1 << 35) - 3)
        sums = {"a": 0, "b": 0, "c": ((1 << 35) - 3) << 13}
        for name, most in (("a", 63), ("b", 1), ("c", 63)):
            ctx.set(getattr(block, name), most)
        history = [dict(sums)] * 8
        for clock in range(clocks):
            clear = clock > 8_500 and rng.random() < 0.01
            ctx.set(block.clear, clear)
            for name, most in (("a", 63), ("b", 1), ("c", 63)):
                sums[name] = 0 if clear else (sums[name] + most) % (1 << 48)
            history.append(dict(sums))
            await ctx.tick()
            if clock > 12 and clock % 64 > 8:
                wanted = history[-8][block.names[clock // 64 % 3]]
                assert ctx.get(block.value) == wanted, clock
            if clock % 64 == 63:
                ctx.set(block.select, (clock + 1) // 64 % 3)

    simulator = Simulator(block)
    simulator.add_clock(1e-8)
    simulator.add_testbench(testbench)
    simulator.run()


def test_pysim():
    for seed in range(3):
        simulated(seed)
    carried()


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_mutant_is_caught(mutant):
    with planted(mutant), pytest.raises(AssertionError):
        simulated_and_carried()


def simulated_and_carried():
    simulated(1)
    carried()


def test_refuses_wide_events():
    with pytest.raises(ValueError, match="an event must have 1 to 6 bits, but a has 7"):
        Counters({"a": 7})
