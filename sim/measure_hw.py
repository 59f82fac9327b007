"""The figures of the gateware in simulation, measured (`minmip measure-hw`)."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from minmip.hw.config import PRESETS
from minmip.sim import golden
from minmip.sim.backends import Backend, make_backend, run_checked
from minmip.sim.compare import differences
from minmip.sim.runners.verilate import RunnerError
from minmip.sim.scene_maps import frame_trace
from minmip.sim.trace import Trace
from minmip.sim.workloads import filter_workloads, workloads

__all__ = ["measure_hardware"]

SEED = 20261130
_SMALL = "small"
"""Preset for the comparison of simulators: to build the others for `full` takes minutes."""
_COCOTB_SPEED = "-O1"  # as the runner's
_REPLAY = "from minmip.sim.cli import main; main()"
_BUILD = "from minmip.sim.backends import make_backend; make_backend('verilator')"


def measure_hardware(*, quick: bool, say: Callable[[str], object]) -> None:
    """Measure and print: a checked frame, the runner's speed, clocks and writes per quad, builds.

    `quick` leaves out the builds, and takes a 480x270 frame and one run instead of three.

    Raises
    ------
    RunnerError
        When a tool is missing, or the unit differs from the golden model.
    """
    backend = make_backend("verilator")
    _measure_frame(backend, (480, 270) if quick else (1920, 1080), 1 if quick else 3, say)
    _measure_workloads(backend, 2_000 if quick else 10_000, say)
    _measure_filter(backend, 2_000 if quick else 10_000, say)
    _measure_simulators(100 if quick else 500, say)
    if not quick:
        _measure_builds(say)


def _measure_frame(backend: Backend, size: tuple[int, int], runs: int, say) -> None:
    with tempfile.TemporaryDirectory(prefix="minmip-") as folder:
        file = Path(folder, "frame.npz")
        trace = frame_trace("builtin", size, "minmip", 1)
        trace.save(file)
        command = [sys.executable, "-c", _REPLAY, "replay", file, "-o", Path(folder, "o.npz")]
        times = []
        for _ in range(runs):
            start = time.perf_counter()
            done = subprocess.run(
                [*map(str, command), "--backend", "verilator", "--check"],
                capture_output=True,
                text=True,
                check=False,
            )
            times.append(time.perf_counter() - start)
            if done.returncode:
                raise RunnerError(f"replay --check failed: {done.stderr.strip()[-500:]}")
    start = time.perf_counter()
    cycles = backend.run(trace).cycles
    assert cycles is not None
    rate = cycles / (time.perf_counter() - start)
    say(
        f"replay --check, built-in scene {size[0]}x{size[1]}, minmip, trilinear, verilator, full: "
        f"{sorted(times)[runs // 2]:.1f} s (median of {runs}), {len(trace)} quads, {cycles} clocks"
    )
    say(f"verilator without check: {rate:.0f} clocks/s")


def _measure_workloads(backend: Backend, quads: int, say) -> None:
    for name, trace in workloads(quads, SEED).items():
        result, found = run_checked(backend, trace)
        if found:
            raise RunnerError(f"{name}: {found[0]}")
        before, merged, stored = (
            result.counters[total] / quads
            for total in ("samples", "byte_writes", "memory_operations")
        )
        assert result.cycles is not None
        say(
            f"{name}: {result.cycles / quads:.2f} clocks/quad; writes/quad {before:.1f} before the "
            f"merge, {merged:.2f} after it, {stored:.3f} memory operations ({quads} quads)"
        )


def _measure_filter(backend: Backend, quads: int, say) -> None:
    """Clocks that the MinMip filter takes for a lane."""
    for name, trace in filter_workloads(quads, SEED).items():
        result, found = run_checked(backend, trace)
        if found:
            raise RunnerError(f"{name}: {found[0]}")
        assert result.cycles is not None
        say(f"MinMip filter, {name}: {result.cycles / (4 * quads):.3f} clocks/lane")


def _measure_simulators(quads: int, say) -> None:
    """One trace through the same unit in three simulators; builds and starts do not count."""
    trace = workloads(quads, SEED)["coherent"]
    rates = {
        "verilator": _clock_rate(make_backend("verilator", preset=_SMALL), trace, runs=20),
        "Amaranth's simulator": _clock_rate(make_backend("pysim", preset=_SMALL), trace, runs=1),
    }
    try:  # a tool of the benches: the package works without
        from minmip.sim.runners.cocotb_unit import CocotbUnit
    except RunnerError as error:
        say(f"cocotb is left out: {error}")
    else:
        unit = CocotbUnit(PRESETS[_SMALL], speed=_COCOTB_SPEED)
        backend = Backend("cocotb", PRESETS[_SMALL], unit)
        rates["cocotb"] = _clock_rate(backend, trace, runs=3, seconds=lambda: unit.seconds)
    best = rates.pop("verilator")
    others = (f"{name} {rate:.0f} ({best / rate:.0f} times)" for name, rate in rates.items())
    say(
        f"{quads} coherent quads, {_SMALL}, clocks per second of processor time: "
        f"verilator {best:.0f}; slower: {', '.join(others)}"
    )


def _clock_rate(
    backend: Backend, trace: Trace, runs: int, seconds: Callable[[], float] | None = None
) -> float:
    """Clocks of a checked trace per second of processor time: its fastest run, less one quad's.

    `seconds` says what the last run took, when that was in another process.
    """
    clocks, fastest = [], []
    for part in (workloads(1, SEED)["coherent"], trace):
        wanted = golden.run(part, config=backend.config)
        times = []
        for _ in range(runs):
            start = time.process_time()
            result = backend.run(part)
            times.append(seconds() if seconds else time.process_time() - start)
            if found := differences(part, result, wanted):
                raise RunnerError(f"{backend.name}: {found[0]}")
            clocks.append(result.cycles)
        fastest.append(min(times))
    return (clocks[-1] - clocks[0]) / (fastest[1] - fastest[0])


def _measure_builds(say) -> None:
    """Build the unit into an empty folder: without ccache, then with a full one."""
    with tempfile.TemporaryDirectory(prefix="minmip-") as folder:
        bare = _build_seconds(folder, CCACHE_DISABLE="1")
        if shutil.which("ccache") is None:
            say(f"build of full: {bare:.0f} s; ccache is not installed")
            return
        cache = {"CCACHE_DIR": str(Path(folder, "ccache"))}
        _build_seconds(folder, **cache)
        warm = _build_seconds(folder, **cache)
    say(f"build of full: {bare:.0f} s without ccache, {warm:.0f} s with a full one")


def _build_seconds(folder: str, **variables: str) -> float:
    with tempfile.TemporaryDirectory(dir=folder) as build:
        environment = {**os.environ, "MINMIP_BUILD": build, **variables}
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", _BUILD], env=environment, check=True)
        return time.perf_counter() - start
