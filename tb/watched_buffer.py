"""The write-combining buffer in Amaranth's simulator, watched in every clock."""

from __future__ import annotations

import random
from itertools import combinations
from typing import Any

import numpy as np
from amaranth.hdl import Value
from amaranth.sim import Simulator
from buffer_bench import apply_beats, apply_operations
from kit.packing import beats_of_ints, ints_of_beats, pack, unpack

from minmip.hw.combining_buffer import CombiningBuffer

__all__ = ["watch"]


def watch(cfg, columns, where, seed, *, pauses=(100, 200), every=20):
    """Send beats with stalls and `drain` at random times, compare the memory at the end.

    There is one of the `pauses`, in clocks, after `every` so many beats.

    In every clock two entries in use have two addresses; `drained` is low while anything that was
    accepted has not left: the operations until then make the memory of the beats until then. Every
    word is a hit, a miss or a conflict.
    """
    block = CombiningBuffer(cfg)
    rng = random.Random(seed)
    beats = ints_of_beats(pack(block.i.payload.shape(), columns))
    sent = 0
    operations: list[int] = []
    events = dict.fromkeys(("hits", "misses", "conflicts", "aged"), 0)
    drained_at: list[tuple[int, int]] = []  # beats accepted, operations given

    async def testbench(ctx):
        nonlocal sent
        quiet = stall = pause = 0
        next_pause = every
        drain = offers = False
        while quiet < 3 * block.max_age:
            quiet = 0 if sent < len(beats) else quiet + 1
            if rng.random() < 0.02:
                drain = not drain
            if rng.random() < 0.02:
                stall = rng.choice([1, 3, 40])
            if sent == next_pause:
                pause, drain = rng.choice(pauses), True
                next_pause += every
            stall, pause = max(stall - 1, 0), max(pause - 1, 0)
            ctx.set(block.drain, drain and not quiet)
            ctx.set(block.o.ready, quiet > 0 or (not stall and rng.random() < 0.7))
            more = sent < len(beats)
            offers = more and (offers or (not pause and rng.random() < 0.8))
            ctx.set(block.i.valid, offers)
            if offers:
                ctx.set(Value.cast(block.i.payload), beats[sent])
            in_use = [ctx.get(e.address) for e in block.entries if ctx.get(e.valid)]
            assert all(a != b for a, b in combinations(in_use, 2)), "one address in two entries"
            for name in events:
                events[name] += ctx.get(getattr(block, name))
            if ctx.get(block.drained):
                drained_at.append((sent, len(operations)))
            if offers and ctx.get(block.i.ready):
                sent += 1
                offers = False
            if ctx.get(block.o.valid) and ctx.get(block.o.ready):
                operations.append(ctx.get(Value.cast(block.o.payload)))
            await ctx.tick()
        assert ctx.get(block.drained), "not drained in the end"

    simulator = Simulator(block)
    simulator.add_clock(1e-8)
    simulator.add_testbench(testbench)
    simulator.run()

    made: Any = unpack(
        block.o.payload.shape(), beats_of_ints(operations, block.o.payload.shape().size)
    )
    checks = sorted(set(drained_at))
    # In all states that `drained` spoke of, and in the end.
    for accepted, given in [*checks[:: max(1, len(checks) // 20)], (len(beats), len(operations))]:
        wanted, memory = (np.full((len(where), cfg.word_bytes), 0x55, np.uint8) for _ in range(2))
        first = {
            "op": columns["op"][:accepted],
            "word": {name: column[:accepted] for name, column in columns["word"].items()},
        }
        apply_beats(wanted, where, first)
        apply_operations(memory, where, {name: column[:given] for name, column in made.items()})
        np.testing.assert_array_equal(memory, wanted, f"{accepted} beats, {given} operations")
    assert len(checks) > 2, "seldom drained"
    valid = columns["word"]["valid"].sum()
    assert events["hits"] + events["misses"] + events["conflicts"] == valid
