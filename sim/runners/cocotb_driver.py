"""Runs inside the simulator (`cocotb_unit`): drives the unit and serves its memory, each clock."""

from __future__ import annotations

import os
import time
from collections import deque
from pathlib import Path

import cocotb
import numpy as np
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge

from minmip.sim.runners.unit import PATIENCE, SETTLE

_STREAMS = ("i", "o", "o_pattern")


class _Memory:
    """The memory outside: looked at after an edge, as it was asked before it."""

    def __init__(self, dut, content: np.ndarray, readers: list[str], word_bytes: int, latency: int):
        self.content, self.word_bytes = content, word_bytes
        self.readers = [
            [getattr(dut, f"{reader}__{name}") for name in ("read_en", "read_addr", "read_data")]
            for reader in readers
        ]
        self.write_mask, self.write_addr, self.write_data = (
            getattr(dut, f"{readers[0]}__{name}")
            for name in ("write_mask", "write_addr", "write_data")
        )
        self.due = deque([[0] * len(readers)] * (latency - 1))

    def serve(self) -> None:
        width = self.word_bytes
        words = []
        for enable, address, _ in self.readers:
            word = 0
            if enable.value == 1:
                at = address.value.to_unsigned() * width
                word = int.from_bytes(self.content[at : at + width].tobytes(), "little")
            words.append(word)
        if mask := self.write_mask.value.to_unsigned():
            at = self.write_addr.value.to_unsigned() * width
            assert at < len(self.content), "the unit wrote behind the end of the map memory"
            data = self.write_data.value.to_unsigned().to_bytes(width, "little")
            for lane in range(width):
                if mask >> lane & 1:
                    self.content[at + lane] = data[lane]
        self.due.append(words)
        for (_, _, answer), word in zip(self.readers, self.due.popleft(), strict=True):
            answer.value = word

    def rest(self) -> None:
        """Inputs at the start."""
        for _, _, answer in self.readers:
            answer.value = 0


@cocotb.test()
async def drive(dut):
    """Send the requests of the file, keep what comes with its clock, write both down."""
    folder = Path(os.environ["MINMIP_RUN"])
    with np.load(folder / "run.npz") as file:
        given = dict(file)
    numbers = (int(given[name]) for name in ("word_bytes", "memory_latency"))
    memory = _Memory(dut, given["memory"], given["readers"].tolist(), *numbers)
    memory.rest()
    edge = RisingEdge(dut.clk)
    await _start(dut, *given["window"].tolist())

    requests = [int.from_bytes(row.tobytes(), "little") for row in given["rows"]]
    due = int(given["answers"])
    events: dict[str, list[tuple[int, int]]] = {name: [] for name in _STREAMS}
    parts = {
        name: [getattr(dut, f"{name}__{part}") for part in ("valid", "ready", "payload")]
        for name in _STREAMS
    }
    valid_i, _, payload_i = parts["i"]
    dut.o__ready.value = dut.o_pattern__ready.value = 1
    state = {}
    clock = moved = 0
    next_beat = True
    start = time.process_time()
    while len(events["o"]) < due and clock - moved <= PATIENCE:
        if next_beat:
            sent = len(events["i"])
            valid_i.value = int(sent < len(requests))
            if sent < len(requests):
                payload_i.value = requests[sent]
        await edge  # reads what was there before it
        memory.serve()
        next_beat = False
        for name, (valid, ready, payload) in parts.items():
            state[name] = int(valid.value == 1), int(ready.value == 1)
            if state[name] == (1, 1):
                beat = 0 if name == "i" else payload.value.to_unsigned()
                events[name].append((clock, beat))
                moved = clock
                next_beat |= name == "i"
        clock += 1
    seconds = time.process_time() - start

    counters = []
    for number in range(int(given["counters"])):
        dut.counter_select.value = number
        for _ in range(SETTLE):
            await edge
        counters.append(dut.counter_value.value.to_unsigned())
    found = {
        **{f"{name}_at": np.array([at for at, _ in e], np.uint64) for name, e in events.items()},
        **{name: _packed(events[name], len(parts[name][2])) for name in ("o", "o_pattern")},
        "memory": memory.content,
        "counters": np.array(counters, np.uint64),
        "state": np.array([state[name] for name in _STREAMS]),
        "seconds": np.array(seconds),
    }
    np.savez(folder / "result.npz", allow_pickle=False, **found)


async def _start(dut, base: int, limit: int) -> None:
    """All inputs at rest, the window set, reset, and time for the window to get everywhere."""
    for name in ("i", "i_host", "i_clear", "i_resolve", "i_texels"):
        if hasattr(dut, f"{name}__valid"):  # a build may have no resolve engine
            getattr(dut, f"{name}__valid").value = 0
            getattr(dut, f"{name}__payload").value = 0
    for name in ("o", "o_pattern", "o_host", "o_clear", "o_resolve", "o_texels"):
        if hasattr(dut, f"{name}__ready"):
            getattr(dut, f"{name}__ready").value = 0
    dut.memory_base.value, dut.memory_limit.value = base, limit
    dut.counter_clear.value = dut.counter_select.value = 0
    dut.rst.value = 1
    cocotb.start_soon(Clock(dut.clk, 10, "ns").start())
    for clock in range(SETTLE):
        await RisingEdge(dut.clk)
        dut.rst.value = int(clock < 2)


def _packed(events: list[tuple[int, int]], bits: int) -> np.ndarray:
    words = (bits + 31) // 32
    raw = b"".join(beat.to_bytes(4 * words, "little") for _, beat in events)
    return np.frombuffer(raw, "<u4").reshape(len(events), words).astype(np.uint32)
