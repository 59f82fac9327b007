"""What runs a trace: the golden model, or the gateware in a simulator or on a board (spec 08)."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from minmip.hw.config import PRESETS, UnitConfig
from minmip.sim import golden
from minmip.sim.compare import differences
from minmip.sim.runners.verilate import RunnerError
from minmip.sim.trace import Result, Trace

__all__ = ["BACKENDS", "Backend", "make_backend", "run_checked"]

BACKENDS = ("golden", "pysim", "verilator", "board")
WAVE_CYCLES = (0, 1000)


@dataclass(frozen=True)
class Backend:
    """Something that runs traces, and the configuration of the unit that it stands for.

    `run` takes a Trace and the keywords `pattern` and `progress`, and returns a Result.
    """

    name: str
    config: UnitConfig
    run: Callable[..., Result]


def make_backend(
    name: str,
    *,
    preset: str | None = None,
    lanes: int | None = None,
    wave: Path | None = None,
    wave_cycles: tuple[int, int] | None = None,
    port: str | None = None,
) -> Backend:
    """Make a backend; the verilated unit is compiled unless it was before.

    Parameters
    ----------
    name : str
        One of BACKENDS.
    preset : str
        One of `hw.config.PRESETS`; by default "full". Of a board it is what must be on it; by
        default whatever is.
    lanes : int
        Lanes per clock in place of the preset's: 1, 2 or 4.
    wave, wave_cycles : Path, (int, int)
        File of waves and its clocks (first, first one not written); verilator only.
    port : str
        Serial port of the board; board only.

    Raises
    ------
    RunnerError
        When a tool is missing, or the options do not go together.
    """
    if name == "golden" and lanes is not None:
        raise RunnerError("--lanes says how the gateware is built; the golden model has no lanes")
    if name == "board" and lanes is not None:
        raise RunnerError("--lanes says how the gateware is built; what is on a board is built")
    if name != "board" and port is not None:
        raise RunnerError(f"--port wants --backend board, not {name}")
    if wave_cycles is not None and wave is None:
        raise RunnerError("--wave-cycles wants --wave FILE too")
    if name != "verilator" and wave is not None:
        raise RunnerError(f"--wave wants --backend verilator, not {name}")
    if name == "golden":
        config = PRESETS[preset or "full"]
        return Backend(name, config, partial(golden.run, config=config))
    config = PRESETS[preset or "full"]
    if lanes is not None:
        config = replace(config, lanes=lanes, lod_units=min(lanes, config.lod_units))
    try:  # late: the golden model needs neither Amaranth nor Verilator
        if name == "board":
            from minmip.sim.runners.board import connect

            board = connect(port, wanted=PRESETS[preset] if preset else None)
            return Backend(name, board.cfg, board)
        if name == "pysim":
            from minmip.sim.runners.pysim import SimulatedUnit

            return Backend(name, config, SimulatedUnit(config))
        from minmip.sim.runners.verilated_unit import VerilatedUnit
    except ModuleNotFoundError as error:
        raise RunnerError(
            f"{error.name} is missing: install the tools of the gateware by `make setup`"
        ) from None
    unit = VerilatedUnit(config, wave=wave, wave_cycles=wave_cycles or WAVE_CYCLES)
    return Backend(name, config, unit)


def run_checked(
    backend: Backend,
    trace: Trace,
    *,
    pattern: bool = False,
    progress: Callable[[int], object] | None = None,
) -> tuple[Result, list[str]]:
    """Run a trace, and the golden model at the same time; return the result and the differences."""
    stop = threading.Event()

    def check_stop(_):
        if stop.is_set():
            raise InterruptedError

    wanted_run = partial(golden.run, config=backend.config, pattern=pattern, workers=1)
    with ThreadPoolExecutor(1) as pool:
        wanted = pool.submit(wanted_run, trace, progress=check_stop)
        try:
            result = backend.run(trace, pattern=pattern, progress=progress)
        except BaseException:
            stop.set()  # else Ctrl-C would wait for the golden model
            raise
        return result, differences(trace, result, wanted.result())
