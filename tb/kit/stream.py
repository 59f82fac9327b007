"""A block in Amaranth's own simulator: seconds-fast tests of a few thousand clocks."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from amaranth.hdl import ClockDomain, Module, Shape, Value
from amaranth.sim import Simulator

from kit.packing import beats_of_ints, ints_of_beats, pack, unpack
from kit.vlib import TRAFFIC, assert_columns_equal, beats_of, find_member, stream_ports
from minmip.sim.runners.verilator import Traffic

__all__ = ["check_simulated", "simulate"]


def simulate(
    block,
    columns: Mapping[str, Any],
    expected: Mapping[str, int] | int,
    *,
    traffic: str | Traffic = "full",
    seed: int = 1,
    timeout: int | None = None,
    extra: int = 20,
    ports: Mapping[str, int] | None = None,
) -> dict[str, Any]:
    """Send golden columns by stream name and return the columns of the outputs.

    Checks that no beat changes or falls while it waits, and that none comes in `extra` clocks after
    the expected ones. More than `timeout` clocks are an AssertionError. `ports` are plain inputs.
    """
    inputs, outputs, _, _ = stream_ports(block)
    traffic = TRAFFIC[traffic] if isinstance(traffic, str) else traffic
    beats = {name: ints_of_beats(pack(inputs[name], part)) for name, part in columns.items()}
    if isinstance(expected, int):
        expected = dict.fromkeys(outputs, expected)
    if timeout is None:
        most = max([*map(len, beats.values()), *expected.values()])
        timeout = 2000 + 20 * most * traffic.longest
    received: dict[str, list[int]] = {name: [] for name in expected}

    def gate(chance, name):
        rng = random.Random(f"{seed} {name}")
        while True:
            if rng.random() < chance:
                yield from [False] * rng.randint(1, traffic.longest)
            yield True

    def late(clock):
        if clock > timeout:
            counts = {name: f"{len(got)} of {expected[name]}" for name, got in received.items()}
            raise AssertionError(f"no end after {timeout} clocks: {counts}")

    def source(name):
        async def testbench(ctx):
            stream, willing = find_member(block, name), gate(traffic.valid, name)
            clock = 0
            for beat in beats[name]:
                ctx.set(stream.valid, 0)
                while not next(willing):
                    await ctx.tick()
                ctx.set(Value.cast(stream.payload), beat)
                ctx.set(stream.valid, 1)
                ready = False
                while not ready:
                    _, _, ready = await ctx.tick().sample(stream.ready)
                    late(clock := clock + 1)
            ctx.set(stream.valid, 0)

        return testbench

    def sink(name):
        async def testbench(ctx):
            stream, willing = find_member(block, name), gate(traffic.ready, name)
            held, spare, clock = None, extra, 0
            while spare:
                ready = next(willing)
                ctx.set(stream.ready, ready)
                _, _, valid, payload = await ctx.tick().sample(
                    stream.valid, Value.cast(stream.payload)
                )
                late(clock := clock + 1)
                assert held is None or valid, f"{name}: valid fell before the transfer"
                assert held in (None, payload), f"{name}: payload changed before the transfer"
                held = payload if valid and not ready else None
                if valid and ready:
                    received[name].append(payload)
                if len(received[name]) >= expected[name]:
                    spare -= 1

        return testbench

    async def settings(ctx):
        for name, value in (ports or {}).items():
            ctx.set(Value.cast(find_member(block, name)), value)

    m = Module()
    m.domains.sync = ClockDomain()  # a block without registers has none of its own
    m.submodules.block = block
    simulator = Simulator(m)
    simulator.add_clock(1e-8)
    simulator.add_testbench(settings)
    for name in beats:
        simulator.add_testbench(source(name))
    for name in expected:
        simulator.add_testbench(sink(name))
    simulator.run()
    for name, got in received.items():
        assert len(got) == expected[name], f"{name}: {len(got)} beats, not {expected[name]}"
    return {
        name: unpack(outputs[name], beats_of_ints(got, Shape.cast(outputs[name]).width))
        for name, got in received.items()
    }


def check_simulated(
    block, columns: Mapping[str, Any], wanted: Mapping[str, Any], **options
) -> None:
    """`simulate`, and what comes must be the golden columns `wanted`, by stream name."""
    counts = {name: beats_of(part) for name, part in wanted.items()}
    assert_columns_equal(simulate(block, columns, counts, **options), wanted)
