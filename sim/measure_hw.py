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

from minmip.sim.backends import Backend, make_backend, run_checked
from minmip.sim.runners.verilate import RunnerError
from minmip.sim.scene_maps import frame_trace
from minmip.sim.workloads import filter_workloads, workloads

__all__ = ["measure_hardware"]

SEED = 20261130
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
    _measure_simulators(backend, say)
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


def _measure_simulators(backend: Backend, say) -> None:
    """Clocks per second; two lengths, so that set-up does not count."""
    rates = {}
    for runs, lengths in ((backend, (1_000, 100_000)), (make_backend("pysim"), (1, 200))):
        clocks, seconds = [], []
        for quads in lengths:
            trace = workloads(quads, SEED)["coherent"]
            start = time.perf_counter()
            clocks.append(runs.run(trace).cycles)
            seconds.append(time.perf_counter() - start)
        rates[runs.name] = (clocks[1] - clocks[0]) / (seconds[1] - seconds[0])
    say(
        f"verilator {rates['verilator']:.0f} clocks/s, Amaranth's simulator {rates['pysim']:.0f} "
        f"clocks/s: {rates['verilator'] / rates['pysim']:.0f} times as fast"
    )


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
