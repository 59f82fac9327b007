"""`minmip measure-stream`: the figures of `docs/streaming.md`."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from minmip.sim.backends import Backend
from minmip.sim.frontend import builtin_scene
from minmip.sim.streaming.errors import StreamError
from minmip.sim.streaming.flight import fly, stand_still
from minmip.sim.streaming.loop import Loop, Settings

__all__ = ["MEASURES", "measure_streaming"]

MEASURES = ("memory", "pools", "speed")

SIZE, QUICK_SIZE = (960, 540), (240, 136)
FLIGHT_SIZE = (480, 270)
PLACES = (0.0, 0.5)
"""Where the camera stands, and where it cuts to."""
BUDGETS = (32, 128)
POOLS_MIB = (2, 4, 8, 32)
PATIENCE = 200
"""Frames after which a camera that stands still has long had all it can get."""
BIG_POOL = 1 << 30

WAYS = {
    # name: settings, figure that must be 0
    "MinMip filter, neighbours within 1": (Settings(spread=1), "misses"),
    "hard borders, any neighbours": (Settings(spread=None, offset="1/4"), "hard_misses"),
}


def measure_streaming(
    backend: Backend,
    *,
    quick: bool,
    only: Sequence[str] = MEASURES,
    say: Callable[[str], object],
) -> None:
    """Measure and print, on the built-in scene.

    - "memory": what a still camera needs until no pixel misses anything, against all textures, and
      the frames until then, from a cold start and after a camera cut.
    - "pools": misses and visible jumps of the flight under pools of several sizes.
    - "speed": seconds per frame of the whole loop.

    `quick` takes smaller frames and fewer of them, `only` names the measures to take.
    """
    size = QUICK_SIZE if quick else SIZE
    if "memory" in only:
        _measure_memory(backend, size, BUDGETS[:1] if quick else BUDGETS, say)
    if "pools" in only:
        flight = Settings(size=QUICK_SIZE if quick else FLIGHT_SIZE, frames=8 if quick else 24)
        for pool in POOLS_MIB:
            say(_flight(backend, replace(flight, pool_bytes=pool << 20)))
    if "speed" in only:
        _measure_speed(backend, size, say)


def _measure_memory(backend: Backend, size: tuple[int, int], budgets: Sequence[int], say) -> None:
    for name, (settings, misses) in WAYS.items():
        for budget in budgets:
            chosen = replace(settings, size=size, budget=budget, pool_bytes=BIG_POOL)
            say(f"{name}, {_size(size)}, {budget} tiles a frame, latency {chosen.latency}:")
            for line in _converge(backend, chosen, misses):
                say(f"  {line}")


def _converge(backend: Backend, settings: Settings, misses: str) -> list[str]:
    """Stand still until nothing is missed, cut, and stand still again."""
    scene, camera = stand_still(builtin_scene(), PLACES[0])
    loop = Loop(scene, replace(settings, frames=PATIENCE), backend)
    found: list[str] = []
    start = 0
    for frame in loop.frames():
        if frame.figures[misses] or not frame.figures["wanted_tiles"]:
            continue
        needed = frame.figures["wanted_tiles"] + loop.manager.packed
        found.append(
            f"{'after a cut' if found else 'cold start'}: no miss after {frame.number - start} "
            f"frames, {needed} tiles, {100 * needed / loop.whole_tiles:.3f} % of "
            f"{loop.whole_tiles}"
        )
        if len(found) == len(PLACES):
            return found
        camera.place, start = PLACES[len(found)], frame.number + 1
    raise StreamError(f"pixels still miss something after {PATIENCE} frames")


def _flight(backend: Backend, settings: Settings) -> str:
    loop = Loop(fly(builtin_scene(), settings.frames), settings, backend)
    rows = [frame.figures for frame in loop.frames()]
    total = {name: sum(row[name] for row in rows) for name in rows[0]}
    return (
        f"flight of {settings.frames} frames, {_size(settings.size)}, pool "
        f"{settings.pool_bytes >> 20} MiB, {settings.budget} tiles a frame: "
        f"{total['uploads']} uploads, {total['evictions']} evictions; filter: "
        f"{100 * total['misses'] / total['pixels']:.1f} % of the pixels miss something, "
        f"{total['jumps']} jumps; hard borders: "
        f"{100 * total['hard_misses'] / total['pixels']:.1f} %, {total['hard_jumps']} jumps"
    )


def _measure_speed(backend: Backend, size: tuple[int, int], say) -> None:
    settings = Settings(size=size, frames=5)
    loop = Loop(fly(builtin_scene(), settings.frames), settings, backend)
    clocks = (time.perf_counter, time.process_time)
    times = [[clock() for clock in clocks]]
    for _ in loop.frames():
        times.append([clock() for clock in clocks])  # noqa: PERF401  (between two frames)
    seconds, busy = np.median(np.diff(times, axis=0), axis=0)
    say(
        f"whole loop, {_size(size)}, trilinear, {backend.name}: {seconds:.2f} s a frame, "
        f"{busy:.2f} s of processor time (median of {settings.frames})"
    )


def _size(size: tuple[int, int]) -> str:
    return f"{size[0]}x{size[1]}"
