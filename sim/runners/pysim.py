"""The unit in Amaranth's own simulator: for small traces, about a thousand clocks per second."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from amaranth.hdl import Value
from amaranth.sim import Simulator

from minmip.hw.beats import pattern_beat, quad_answer
from minmip.hw.config import UnitConfig
from minmip.sim.runners.unit import (
    PATIENCE,
    SETTLE,
    Batch,
    make_unit,
    run_unit,
    simulated_config,
    stuck_error,
)
from minmip.sim.runners.unit_beats import words_of
from minmip.sim.runners.verilate import RunnerError
from minmip.sim.runners.verilator import Traffic
from minmip.sim.trace import Result, Trace

__all__ = ["SimulatedUnit"]


class SimulatedUnit:
    """Runs traces on the unit in Amaranth's simulator, without Yosys, Verilator and g++.

    Parameters
    ----------
    cfg : UnitConfig
        Of the unit; the size of its memory does not matter.
    traffic : Traffic
        Stalls on every stream.
    seed : int
        Of the stalls.
    """

    def __init__(self, cfg: UnitConfig, *, traffic: Traffic | None = None, seed: int = 1):
        self.cfg = simulated_config(cfg)
        self.traffic = traffic or Traffic()
        self.seed = seed

    def __call__(
        self,
        trace: Trace,
        *,
        pattern: bool = False,
        progress: Callable[[int], object] | None = None,
    ) -> Result:
        """Run a trace (`run_unit`)."""
        return run_unit(self, trace, pattern=pattern, progress=progress)

    def start(self, memory: np.ndarray, base: int, limit: int) -> None:
        """As `Simulated.start`."""
        self._unit: Any = make_unit(self.cfg)
        self._memory = memory
        self._window = base, limit
        self._requests: deque[int] = deque()
        self._events: dict[str, list[tuple[int, int]]] = {name: [] for name in _STREAMS}
        self._clock, self._moved = 0, 0  # the second is the clock of the last transfer
        self._totals = [0, 0]
        self._state: dict[str, tuple[int, int]] = {}
        self._counters: dict[str, int] | None = None
        self._finish = False
        self._simulator = Simulator(self._unit)
        self._simulator.add_clock(1e-8)
        self._simulator.add_testbench(self._bench)

    def send(self, rows: np.ndarray, *, answers: int, pattern: int, last: bool) -> Batch:
        """As `Simulated.send`."""
        sent, answered, beats = (self._events[name] for name in _STREAMS)
        self._requests.extend(int.from_bytes(row.tobytes(), "little") for row in rows)
        self._moved = self._clock
        while not (
            len(answered) >= answers
            or (pattern and len(beats) >= pattern)
            or (len(sent) == len(rows) and not last)
        ):
            self._simulator.advance()
            if self._clock - self._moved > PATIENCE + self.traffic.longest:
                raise stuck_error(
                    self._totals[0] + len(sent), self._totals[1] + len(answered), self._state
                )
        self._requests.clear()
        self._totals = [self._totals[0] + len(sent), self._totals[1] + len(answered)]
        self._events = {name: [] for name in _STREAMS}
        if not pattern:
            beats = []
        layouts = quad_answer(), pattern_beat(self.cfg)
        return Batch(
            accepted=_stamps(sent),
            answers=_packed(answered, words_of(layouts[0])),
            answered=_stamps(answered),
            pattern=_packed(beats, words_of(layouts[1])),
            pattern_at=_stamps(beats),
        )

    def counters(self) -> dict[str, int]:
        """As `Simulated.counters`."""
        self._finish = True
        self._simulator.run()
        assert self._counters is not None
        return self._counters

    async def _bench(self, ctx) -> None:
        """Every clock: drive, look at what that gives, serve the memory."""
        unit = self._unit
        gates = {name: self._gate(name) for name in _STREAMS}
        ports = [unit.memory, *(unit.memory_reads if self.cfg.filters else ())]
        reads: deque[list[int]] = deque([[0] * len(ports)] * self.cfg.memory_latency)
        ctx.set(unit.memory_base, self._window[0])
        ctx.set(unit.memory_limit, self._window[1])
        await ctx.tick().repeat(SETTLE)
        offered = False
        while not self._finish:
            willing = {name: next(gate) for name, gate in gates.items()}
            offered = bool(self._requests) and (offered or willing["i"])
            if offered:
                ctx.set(Value.cast(unit.i.payload), self._requests[0])
            ctx.set(unit.i.valid, offered)
            ctx.set(unit.o.ready, willing["o"])
            ctx.set(unit.o_pattern.ready, willing["o_pattern"])
            for name in _STREAMS:
                stream = getattr(unit, name)
                self._state[name] = valid, ready = ctx.get(stream.valid), ctx.get(stream.ready)
                if valid and ready:
                    beat = 0 if name == "i" else ctx.get(Value.cast(stream.payload))
                    self._events[name].append((self._clock, beat))
                    self._moved = self._clock
                    if name == "i":
                        self._requests.popleft()
                        offered = False
            reads.append([self._read(ctx, port) for port in ports])
            self._write(ctx)
            self._clock += 1
            await ctx.tick()
            for port, word in zip(ports, reads[1], strict=True):
                ctx.set(Value.cast(port.read_data), word)
            reads.popleft()
        found = {}
        for number, name in enumerate(unit.counter_names):
            ctx.set(unit.counter_select, number)
            await ctx.tick().repeat(SETTLE)
            found[name] = ctx.get(unit.counter_value)
        self._counters = found

    def _read(self, ctx, port) -> int:
        """Word that a port asks for in this clock."""
        if not ctx.get(port.read_en):
            return 0
        at = ctx.get(port.read_addr) * self.cfg.word_bytes
        return int.from_bytes(self._memory[at : at + self.cfg.word_bytes].tobytes(), "little")

    def _write(self, ctx) -> None:
        """Write what the memory port writes in this clock."""
        port, width, bytes_ = self._unit.memory, self.cfg.word_bytes, self._memory
        if mask := ctx.get(port.write_mask):
            at = ctx.get(port.write_addr) * width
            if at >= len(bytes_):
                raise RunnerError("the unit wrote behind the end of the map memory")
            data = ctx.get(Value.cast(port.write_data)).to_bytes(width, "little")
            for lane in range(width):
                if mask >> lane & 1:
                    bytes_[at + lane] = data[lane]

    def _gate(self, name: str) -> Iterator[bool]:
        rng = random.Random(f"{self.seed} {name}")
        chance = self.traffic.valid if name == "i" else self.traffic.ready
        while True:
            if rng.random() < chance:
                yield from [False] * rng.randint(1, self.traffic.longest)
            yield True


_STREAMS = ("i", "o", "o_pattern")


def _stamps(events: list[tuple[int, int]]) -> np.ndarray:
    return np.array([clock for clock, _ in events], np.uint64)


def _packed(events: list[tuple[int, int]], words: int) -> np.ndarray:
    raw = b"".join(beat.to_bytes(4 * words, "little") for _, beat in events)
    return np.frombuffer(raw, "<u4").reshape(len(events), words).astype(np.uint32)
