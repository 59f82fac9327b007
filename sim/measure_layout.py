"""Speed of the layout library against a plain copy of the same bytes (`minmip measure-layout`)."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from minmip.sim.layout import MODES, Texture, layout, swizzle, unswizzle

__all__ = ["measure_layouts"]

SEED = 20261130
PLAIN_LIMIT, XOR_LIMIT = 4, 15
"""How many times a plain copy a move may take: without XOR (all S and D), and with it or in Z."""


def measure_layouts(*, quick: bool, say: Callable[[str], object]) -> None:
    """Measure and print: images in every 2D mode, both ways, then layout queries."""
    side = 512 if quick else 4096
    say(
        f"{side}x{side} images: median wall time in ms, least processor time in brackets, GB/s of "
        "the image by wall time; 'copies' is the ratio of the processor times to that of plain "
        "copies between the runs"
    )
    for element_bytes, runs in ((1, 25), (4, 11), (16, 7)):
        _measure_size(side, 5 if quick else runs, element_bytes, say)
    for mips, form, mode in ((1, "R8G8B8A8_UNORM", "64KB_S"), (13, "BC1_UNORM", "64KB_R_X")):
        count = 50 if quick else 500
        took = _times([lambda m=mips, f=form, o=mode, n=count: _query(m, f, o, n)], 5)[0]
        say(f"layout queries, {mips} mips, {form}, {mode}: {count / took.cpu:.0f} a second")


def _query(mips: int, form: str, mode: str, count: int) -> None:
    for _ in range(count):
        layout(Texture(width=4096, height=4096, mips=mips, format=form, mode=mode))


class _Took(NamedTuple):
    """Median wall time and least processor time, in seconds.

    On a machine that does other work too, the wall time holds that work.
    """

    wall: float
    cpu: float

    def text(self, nbytes: int) -> str:
        speed = nbytes / 1e9 / self.wall
        return f"{1e3 * self.wall:7.1f} ({1e3 * self.cpu:.1f})  {speed:5.1f} GB/s"


def _times(moves: list[Callable[[], object]], runs: int) -> list[_Took]:
    """Time calls in turn, so that they meet the same conditions, after one each to warm up."""
    walls, cpus = np.empty((2, runs + 1, len(moves)))
    for run, n in np.ndindex(walls.shape):
        wall, cpu = time.perf_counter(), time.process_time()
        moves[n]()
        walls[run, n] = time.perf_counter() - wall
        cpus[run, n] = time.process_time() - cpu
    return [
        _Took(float(np.median(walls[1:, n])), float(cpus[1:, n].min())) for n in range(len(moves))
    ]


def _measure_size(side: int, runs: int, element_bytes: int, say: Callable[[str], object]) -> None:
    rng = np.random.default_rng(SEED)
    image = rng.integers(0, 256, (side, side, element_bytes), np.uint8)
    copy = _times([image.copy], runs)[0]
    say(f"{element_bytes:2} bytes  plain copy  {copy.text(image.nbytes)}")
    for mode in MODES:
        if "2D" not in mode.dimensions or (mode.micro == "Z" and element_bytes > 8):
            continue
        resource = layout(Texture(width=side, height=side, element_bytes=element_bytes, mode=mode))
        data = swizzle(resource, [image])
        to = partial(swizzle, resource, [image])
        back = partial(unswizzle, resource, data)
        took = _times([image.copy, to, back], runs)
        copies = [move.cpu / took[0].cpu for move in took]
        limit = XOR_LIMIT if mode.xor or mode.micro == "Z" else PLAIN_LIMIT
        say(
            f"{element_bytes:2} bytes  {mode.name:10}  {took[1].text(image.nbytes)} "
            f"{copies[1]:5.1f} copies   back  {took[2].text(image.nbytes)} "
            f"{copies[2]:5.1f} copies   aim {limit}"
        )
