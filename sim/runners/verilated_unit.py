"""The verilated unit: whole traces in a C++ loop, map memory of any size behind it."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from amaranth.hdl import Shape
from amaranth.lib.wiring import In, Out

from minmip.hw.beats import pattern_beat, quad_answer, quad_request
from minmip.hw.config import UnitConfig
from minmip.hw.resolve_shapes import resolve_ports
from minmip.hw.shapes import (
    BLOCK_BITS,
    clear_request,
    clear_result,
    host_request,
    host_response,
)
from minmip.hw.word_beats import WORDS
from minmip.sim.runners.resolve import run_parts
from minmip.sim.runners.unit import (
    PATIENCE,
    SETTLE,
    Batch,
    make_unit,
    run_unit,
    simulated_config,
    stuck_error,
    unit_design,
)
from minmip.sim.runners.verilate import RunnerError
from minmip.sim.runners.verilator import Model, OutsideMemory, Port, Traffic
from minmip.sim.trace import Result, Trace

__all__ = ["READS", "VerilatedUnit"]

READS = tuple(f"memory_reads__{n}" for n in range(WORDS))
"""Verilog names of the read ports of the MinMip filter."""
_SPEED = "-O1"


class VerilatedUnit:
    """Runs traces on the verilated unit; compiled once for each configuration.

    Parameters
    ----------
    cfg : UnitConfig
        Of the unit; the size of its memory does not matter.
    wave : path
        File of waves, .vcd or .fst, which each run writes anew.
    wave_cycles : (int, int)
        First clock to write and the first one not to; clock 0 is that in which the first quad is
        offered.
    traffic : Traffic
        Stalls on every stream.
    seed : int
        Of the stalls.

    Attributes
    ----------
    model : Model
        With all streams of the unit; traces leave host port, clear and resolve engine alone.
    resolve : callable or None
        Decodes and encodes parts of maps, as `sim.golden.resolve.resolve` does, if the resolve
        engine is built in.

    Raises
    ------
    RunnerError
        When a tool is missing or refuses the design.
    """

    def __init__(
        self,
        cfg: UnitConfig,
        *,
        wave: str | os.PathLike | None = None,
        wave_cycles: tuple[int, int] = (0, 1000),
        traffic: Traffic | None = None,
        seed: int = 1,
    ):
        self.cfg = cfg = simulated_config(cfg)
        self.wave = None if wave is None else Path(wave)
        self.wave_cycles = wave_cycles
        self.traffic = traffic or Traffic()
        self.seed = seed
        kind = None if self.wave is None else _wave_format(self.wave)
        unit = make_unit(cfg, watched=kind is not None)
        self.counter_names = unit.counter_names
        self.resolve = partial(run_parts, self) if cfg.resolves else None
        self.model = Model(
            unit_design(unit),
            [
                _stream("i", quad_request(cfg)),
                *(_stream("i_host", host_request(cfg)), _stream("i_clear", clear_request())),
                *_resolve_streams(cfg, In),
            ],
            [
                *(_stream("o", quad_answer()), _stream("o_pattern", pattern_beat(cfg))),
                *(_stream("o_host", host_response(cfg)), _stream("o_clear", clear_result())),
                *_resolve_streams(cfg, Out),
            ],
            [
                Port("memory_base", BLOCK_BITS),
                Port("memory_limit", BLOCK_BITS + 1),
                Port("counter_clear", 1),
                Port("counter_select", len(unit.counter_select)),
            ],
            [
                *(Port("counter_value", 48), Port("i__valid", 1), Port("i__ready", 1)),
                *(Port("o__valid", 1), Port("o_pattern__valid", 1)),
            ],
            memory=OutsideMemory(
                "memory", cfg.word_bytes, cfg.memory_latency, READS if cfg.filters else ()
            ),
            wave=kind,
            speed=_SPEED,
        )

    def __call__(
        self,
        trace: Trace,
        *,
        pattern: bool = False,
        progress: Callable[[int], object] | None = None,
    ) -> Result:
        """Run a trace (`run_unit`)."""
        try:
            result = run_unit(self, trace, pattern=pattern, progress=progress)
        finally:
            self.model.end_wave()
        if strays := self.model.stray_writes:
            raise RunnerError(f"the unit wrote {strays} times behind the end of the map memory")
        return result

    def start(self, memory: np.ndarray, base: int, limit: int) -> None:
        """As `Simulated.start`."""
        self.reset(memory, base, limit)
        if self.wave:
            self.model.start_wave(self.wave, *self.wave_cycles)

    def reset(self, memory: np.ndarray, base: int, limit: int) -> None:
        """As `start`, without waves."""
        self.model.set("memory_base", base)
        self.model.set("memory_limit", limit)
        self.model.reset()
        self.model.use_memory(memory)  # now: a write of an earlier run may end while in reset
        self._idle()
        self._clock = self._sent = self._answered = self._batches = 0

    def send(self, rows: np.ndarray, *, answers: int, pattern: int, last: bool) -> Batch:
        """As `Simulated.send`."""
        self._batches += 1
        run = self.model.run(
            {"i": rows},
            {"o": answers, "o_pattern": pattern},
            traffic=self.traffic,
            seed=self.seed + 1000 * self._batches,
            max_cycles=1 << 62,
            quiet=1 << 62,
            patience=PATIENCE + self.traffic.longest,
            all_sent=not last,
            any_full=True,
        )
        self._sent += run.taken["i"]
        self._answered += run.given["o"]
        full = run.given["o"] == answers or 0 < pattern == run.given["o_pattern"]
        if not full and (last or run.taken["i"] < len(rows)):
            raise stuck_error(self._sent, self._answered, self._streams())
        first = np.uint64(self._clock)
        self._clock += run.cycles
        return Batch(
            accepted=run.input_stamps["i"] + first,
            answers=run.results["o"],
            answered=run.output_stamps["o"] + first,
            pattern=run.results["o_pattern"],
            pattern_at=run.output_stamps["o_pattern"] + first,
        )

    def counters(self) -> dict[str, int]:
        """As `Simulated.counters`."""
        found = {}
        for number, name in enumerate(self.counter_names):
            self.model.set("counter_select", number)
            self._idle()
            found[name] = self.model.get("counter_value")
        return found

    def _idle(self) -> None:
        self.model.run({}, {"o": 0, "o_pattern": 0}, max_cycles=SETTLE)

    def _streams(self) -> dict[str, tuple[int, int]]:
        get = self.model.get
        return {
            "i": (get("i__valid"), get("i__ready")),
            "o": (get("o__valid"), 1),
            "o_pattern": (get("o_pattern__valid"), 1),
        }


def _wave_format(wave: Path) -> str:
    kind = wave.suffix.lower().removeprefix(".")
    if kind not in ("vcd", "fst"):
        raise RunnerError(f"waves are written to .vcd or .fst files, not {wave.name!r}")
    if not wave.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(wave))
    return kind


def _resolve_streams(cfg: UnitConfig, flow) -> list[Port]:
    return [
        _stream(name, member.signature.members["payload"].shape)
        for name, member in resolve_ports(cfg).items()
        if member.flow == flow
    ]


def _stream(name: str, layout) -> Port:
    return Port(name, Shape.cast(layout).width)
