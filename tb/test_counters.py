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
    history = [dict(sums)] * 3
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
            if clock < 8:
                continue
            number = selected[-block.latency]
            if number >= len(block.names):
                assert ctx.get(block.value) == 0
            else:
                # What was said 5 clocks before it is seen: 3 of the sum, 2 of the choice.
                assert ctx.get(block.value) == history[-5][block.names[number]], clock

    simulator = Simulator(block)
    simulator.add_clock(1e-8)
    simulator.add_testbench(testbench)
    simulator.run()


def carried(clocks=70):
    """A sum goes from the low half to the high one."""
    block = Counters({"a": 6, "b": 1})
    event = getattr(block, block.names[0])

    async def testbench(ctx):
        for sum_ in block.sums:
            ctx.set(sum_, (1 << 24) - 40)
        ctx.set(event, 63)
        for _ in range(clocks):
            await ctx.tick()
        ctx.set(event, 0)
        await ctx.tick().repeat(8)
        assert ctx.get(block.value) == (1 << 24) - 40 + 63 * clocks

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
