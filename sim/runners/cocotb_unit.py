"""The unit under cocotb, driven in Python at each clock: others are measured by it."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from minmip.hw.config import UnitConfig
from minmip.sim.runners.cocotb_model import CocotbModel
from minmip.sim.runners.unit import (
    Batch,
    make_unit,
    run_unit,
    simulated_config,
    stuck_error,
    unit_design,
)
from minmip.sim.runners.verilate import RunnerError
from minmip.sim.trace import Result, Trace

__all__ = ["CocotbUnit"]

_STREAMS: tuple[str, ...] = ("i", "o", "o_pattern")
_DRIVER = "minmip.sim.runners.cocotb_driver"


class CocotbUnit:
    """Runs traces of one chunk on the unit's Verilog, by Verilator and cocotb.

    Parameters
    ----------
    cfg : UnitConfig
        Of the unit; the size of its memory does not matter.
    speed : str
        Optimisation of g++.

    Attributes
    ----------
    seconds : float
        Processor time of the last run, without start and end of the simulator.

    Raises
    ------
    RunnerError
        When a tool is missing or refuses the design.
    """

    def __init__(self, cfg: UnitConfig, *, speed: str):
        self.cfg = simulated_config(cfg)
        unit = make_unit(self.cfg)
        self.seconds = 0.0
        self._counter_names = unit.counter_names
        self._model = CocotbModel(unit_design(unit), speed=speed)

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
        self._memory = memory
        self._window = base, limit

    def send(self, rows: np.ndarray, *, answers: int, pattern: int, last: bool) -> Batch:
        """As `Simulated.send`, for a whole trace at once: the simulator starts and ends here."""
        if not last:
            raise RunnerError("the unit under cocotb takes traces of one chunk only")
        with tempfile.TemporaryDirectory(prefix="minmip-cocotb-") as name:
            folder = Path(name)
            np.savez(
                folder / "run.npz",
                rows=rows,
                memory=self._memory,
                window=np.array(self._window, np.uint64),
                answers=answers,
                counters=len(self._counter_names),
                word_bytes=self.cfg.word_bytes,
                memory_latency=self.cfg.memory_latency,
            )
            log = folder / "simulator.log"
            try:
                self._model.test(_DRIVER, folder, variables={"MINMIP_RUN": name}, log=log)
            except (AssertionError, SystemExit, RuntimeError) as error:
                text = log.read_text()[-500:] if log.exists() else ""
                raise RunnerError(f"cocotb failed ({error}): {text}") from None
            with np.load(folder / "result.npz") as file:
                found = dict(file)
        self._memory[:] = found["memory"]
        self._counters = found["counters"].tolist()
        self.seconds = float(found["seconds"])
        if len(found["o"]) < answers:
            state = dict(zip(_STREAMS, found["state"].tolist(), strict=True))
            raise stuck_error(len(found["i_at"]), len(found["o"]), state)
        return Batch(
            accepted=found["i_at"],
            answers=found["o"],
            answered=found["o_at"],
            pattern=found["o_pattern"] if pattern else found["o_pattern"][:0],
            pattern_at=found["o_pattern_at"] if pattern else found["o_pattern_at"][:0],
        )

    def counters(self) -> dict[str, int]:
        """As `Simulated.counters`."""
        return dict(zip(self._counter_names, self._counters, strict=True))
