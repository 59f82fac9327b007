"""cocotb bench of any block with streams: sends the beats of $MINMIP_BENCH, compares what comes.

`kit.cocotb_bench` writes that file: uint32 words of every beat, `i:<stream>` sent, `o:<stream>`
expected in order, `p:<port>` a constant at a plain input. The sink also checks that a beat that
waits stays as it is.
"""

from __future__ import annotations

import os
import random

import cocotb
import numpy as np
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge, gather, with_timeout
from kit.packing import ints_of_beats
from kit.vlib import TRAFFIC


def _beats(kind: str) -> dict[str, list[int]]:
    with np.load(os.environ["MINMIP_BENCH"]) as file:
        return {
            name.removeprefix(f"{kind}:"): ints_of_beats(file[name])
            for name in file.files
            if name.startswith(f"{kind}:")
        }


class Port:
    """A stream at the ports of the top module, and its stalls."""

    def __init__(self, dut, name: str, chance: float, longest: int):
        self.name, self.clk = name, dut.clk
        self.payload, self.valid, self.ready = (
            getattr(dut, f"{name}__{part}") for part in ("payload", "valid", "ready")
        )
        self.rng = random.Random(f"{cocotb.RANDOM_SEED} {name}")
        self.chance, self.longest, self.left = chance, longest, 0

    def willing(self) -> bool:
        if self.left == 0 and self.rng.random() < self.chance:
            self.left = self.rng.randint(1, self.longest)
        if self.left == 0:
            return True
        self.left -= 1
        return False

    async def send(self, beats: list[int]):
        for beat in beats:
            self.valid.value = 0
            while not self.willing():
                await RisingEdge(self.clk)
            self.payload.value, self.valid.value = beat, 1
            await RisingEdge(self.clk)
            while self.ready.value != 1:
                await RisingEdge(self.clk)
        self.valid.value = 0

    async def receive(self, expected: list[int], extra: int = 20):
        held, count, spare = None, 0, extra
        while spare:
            ready = self.willing()
            self.ready.value = int(ready)
            await RisingEdge(self.clk)
            valid, payload = self.valid.value == 1, self.payload.value
            if held is not None:
                assert valid, f"{self.name}: valid fell before the transfer"
                assert payload == held, f"{self.name}: payload changed before the transfer"
            held = payload if valid and not ready else None
            if valid and ready:
                assert count < len(expected), f"{self.name}: more than {count} beats"
                got = payload.to_unsigned()
                assert got == expected[count], (
                    f"{self.name} beat {count}: {got:#x}, wanted {expected[count]:#x}"
                )
                count += 1
            spare -= count == len(expected)
        self.ready.value = 0


async def _start(dut, traffic):
    """Start the clock, reset, and return the ports."""
    sent, expected = _beats("i"), _beats("o")
    for name, value in _beats("p").items():
        getattr(dut, name).value = value[0]
    inputs = {name: Port(dut, name, traffic.valid, traffic.longest) for name in sent}
    outputs = {name: Port(dut, name, traffic.ready, traffic.longest) for name in expected}
    cocotb.start_soon(Clock(dut.clk, 10, "ns").start())
    await _reset(dut, inputs, outputs)
    return inputs, outputs, sent, expected


async def _reset(dut, inputs, outputs):
    for port in inputs.values():
        port.payload.value, port.valid.value = 0, 0
    for port in outputs.values():
        port.ready.value = 0
    dut.rst.value = 1
    for _ in range(3):
        await RisingEdge(dut.clk)
    dut.rst.value = 0


def _run(inputs, outputs, sent, expected):
    return [
        *(port.send(sent[name]) for name, port in inputs.items()),
        *(port.receive(expected[name]) for name, port in outputs.items()),
    ]


@cocotb.test()
@cocotb.parametrize(mode=list(TRAFFIC))
async def traffic(dut, mode):
    """Every beat, with both sides stalling by `mode`."""
    inputs, outputs, sent, expected = await _start(dut, TRAFFIC[mode])
    await with_timeout(gather(*_run(inputs, outputs, sent, expected)), 1, "ms")


@cocotb.test()
async def reset_in_the_middle(dut):
    """Reset while beats are inside; then all of them again: none of the old ones comes out."""
    inputs, outputs, sent, expected = await _start(dut, TRAFFIC["both"])
    tasks = [cocotb.start_soon(side) for side in _run(inputs, outputs, sent, expected)]
    for _ in range(60):
        await RisingEdge(dut.clk)
    for task in tasks:
        task.cancel()
    await _reset(dut, inputs, outputs)
    await with_timeout(gather(*_run(inputs, outputs, sent, expected)), 1, "ms")
