"""Speed of the layout library against a plain copy of the same bytes (`minmip measure-layout`)."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from minmip.sim.layout import MODES, Texture, layout, swizzle, unswizzle

__all__ = ["measure_layouts"]

SEED = 20261130
ELEMENT_BYTES = (1, 4, 16)
PLAIN_LIMIT, XOR_LIMIT = 4, 15
"""How many times a plain copy a move may take: without XOR (all S and D), and with it or in Z."""


def measure_layouts(*, quick: bool, say: Callable[[str], object]) -> None:
    """Measure and print: images in every 2D mode, both ways, then layout queries."""
    side, runs = (512, 5) if quick else (4096, 9)
    say(
        f"{side}x{side} images, median of {runs} in ms (least processor time in brackets) and GB/s "
        "of the image; 'copies' is the ratio of the processor times to that of a plain copy"
    )
    for element_bytes in ELEMENT_BYTES:
        _measure_size(side, runs, element_bytes, say)
    for mips, form, mode in ((1, "R8G8B8A8_UNORM", "64KB_S"), (13, "BC1_UNORM", "64KB_R_X")):
        count = 50 if quick else 500
        wall, _ = _times(lambda m=mips, f=form, o=mode, n=count: _query(m, f, o, n), 3)
        say(f"layout queries, {mips} mips, {form}, {mode}: {count / wall:.0f} a second")


def _query(mips: int, form: str, mode: str, count: int) -> None:
    for _ in range(count):
        layout(Texture(width=4096, height=4096, mips=mips, format=form, mode=mode))


def _times(move: Callable[[], object], runs: int) -> tuple[float, float]:
    """Median wall time and least processor time of a call, in seconds, after one to warm up.

    On a machine that does other work too, the wall time holds that work.
    """
    move()
    walls, cpus = [], []
    for _ in range(runs):
        wall, cpu = time.perf_counter(), time.process_time()
        move()
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    return sorted(walls)[runs // 2], min(cpus)


def _measure_size(side: int, runs: int, element_bytes: int, say: Callable[[str], object]) -> None:
    rng = np.random.default_rng(SEED)
    image = rng.integers(0, 256, (side, side, element_bytes), np.uint8)
    wall, copy = _times(image.copy, runs)
    gigabytes = image.nbytes / 1e9
    say(
        f"{element_bytes:2} bytes  plain copy  {1e3 * wall:7.1f} ({1e3 * copy:.1f})  "
        f"{gigabytes / wall:5.1f} GB/s"
    )
    for mode in MODES:
        if "2D" not in mode.dimensions or (mode.micro == "Z" and element_bytes > 8):
            continue
        resource = layout(Texture(width=side, height=side, element_bytes=element_bytes, mode=mode))
        data = swizzle(resource, [image])
        words = []
        for move in (lambda: swizzle(resource, [image]), lambda: unswizzle(resource, data)):  # noqa: B023
            wall, cpu = _times(move, runs)
            words.append(
                f"{1e3 * wall:7.1f} ({1e3 * cpu:.1f})  {gigabytes / wall:5.1f} GB/s "
                f"{cpu / copy:5.1f} copies"
            )
        limit = XOR_LIMIT if mode.xor or mode.micro == "Z" else PLAIN_LIMIT
        say(f"{element_bytes:2} bytes  {mode.name:10}  {'   back '.join(words)}   aim {limit}")
