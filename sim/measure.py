"""The figures that README and docs quote, measured (`minmip measure`)."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np

from minmip.hw.config import FULL
from minmip.sim.descriptor_words import S_FIELDS, S_WORDS, T_FIELDS, T_WORDS, pack
from minmip.sim.golden.descriptor import decode_image, decode_sampler
from minmip.sim.golden.lod import LOD_MAX, LOD_MIN, gradient_lod
from minmip.sim.golden.numbers import bits_of

__all__ = ["SEED", "lod_error", "measure_all", "octave_error"]

SEED = 20261130
BLOCK = 1 << 16


def lod_error(count: int, seed: int, *, max_aniso_log2: int = 0) -> dict[str, float]:
    """LOD of random 2D gradients of every magnitude against the spec's formula in float64.

    Parameters
    ----------
    count, seed : int
        How many gradient pairs, and where the random numbers start.
    max_aniso_log2 : int
        0 for isotropic, else log2 of the largest anisotropic ratio.

    Returns
    -------
    dict
        `worst`: largest error in 1/256; `correct`: share that is correctly rounded.
    """
    size = np.array([1, 3, 4096, 16384])
    words = np.stack([pack(T_FIELDS, T_WORDS, TYPE=9, WIDTH=s - 1, HEIGHT=s - 1) for s in size])
    images, _ = decode_image(words, FULL, 0, 0)
    sampler = pack(
        S_FIELDS, S_WORDS, XY_MIN_FILTER=3, XY_MAG_FILTER=3, MAX_ANISO_RATIO=max_aniso_log2
    )
    samplers = decode_sampler(sampler[None])
    rng = np.random.default_rng(seed)
    worst, right = 0.0, 0
    for done in range(0, count, BLOCK):
        block = min(BLOCK, count - done)
        row = rng.integers(0, len(size), block)
        # Exponents keep gradient * size within 2**-126 .. 2**127; the four components of a lane
        # are of a similar scale, so that all of them matter.
        exponent = rng.integers(-126, 127 - 15, (block, 1)) + rng.integers(-3, 1, (block, 4))
        values = np.ldexp(rng.uniform(1, 2, (block, 4)), np.maximum(exponent, -126))
        values = (values * rng.choice((-1, 1), values.shape)).astype(np.float32)
        result = gradient_lod(
            bits_of(values[:, :2].copy()),
            bits_of(values[:, 2:].copy()),
            images.take(row),
            samplers.take(np.zeros(block, np.int64)),
            FULL.lod,
        )
        exact = _exact_lod(values.astype(np.float64) * size[row][:, None], max_aniso_log2)
        exact = np.clip(256 * exact, LOD_MIN, LOD_MAX)
        worst = max(worst, float(np.abs(result.lod - exact).max()))
        right += int((result.lod == np.rint(exact)).sum())
    return {"worst": worst, "correct": right / count}


def octave_error(step: int = 1) -> dict[str, float | bool]:
    """LOD of every `step`-th float32 in 1..2 along one axis of a 1x1 texture.

    Returns
    -------
    dict
        `worst`: largest error in 1/256; `monotonic`: whether it never falls.
    """
    images, _ = decode_image(pack(T_FIELDS, T_WORDS, TYPE=8)[None], FULL, 0, 0)
    samplers = decode_sampler(pack(S_FIELDS, S_WORDS)[None])
    worst, last, monotonic = 0.0, 0, True
    for start in range(0, 1 << 23, BLOCK):
        bits = 0x3F800000 + np.arange(start, start + BLOCK, step, dtype=np.int64)[:, None]
        rows = np.zeros(len(bits), np.int64)
        lod = gradient_lod(
            bits, np.zeros_like(bits), images.take(rows), samplers.take(rows), FULL.lod
        ).lod
        exact = 256 * np.log2(bits[:, 0].astype(np.uint32).view(np.float32).astype(np.float64))
        worst = max(worst, float(np.abs(lod - exact).max()))
        monotonic = monotonic and bool((np.diff(lod, prepend=last) >= 0).all())
        last = lod[-1]
    return {"worst": worst, "monotonic": monotonic}


def _exact_lod(scaled: np.ndarray, max_aniso_log2: int) -> np.ndarray:
    """Spec 02 in float64: `scaled` [n, 4] is dXu, dXv, dYu, dYv in texels."""
    xu, xv, yu, yv = scaled.T
    length = np.maximum(np.hypot(xu, xv), np.hypot(yu, yv))
    if not max_aniso_log2:
        return np.log2(length)
    # Scaled to lengths of about 1, so that no product leaves the range of float64.
    det = np.abs(xu / length * (yv / length) - xv / length * (yu / length))
    return np.log2(length) + np.maximum(np.log2(np.maximum(det, 1e-30)), -max_aniso_log2)


# Run in a process of its own, so that the peak of memory is this frame's alone.
_FRAME = """
import json, resource, sys, time
from minmip.sim.golden import run
from minmip.sim.scene_maps import frame_trace
width, height, aniso, kind = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
trace = frame_trace("builtin", (width, height), kind, aniso)
start = time.perf_counter()
result = run(trace)
seconds = time.perf_counter() - start
print(json.dumps({"seconds": seconds, "quads": len(trace), "samples": int(result.samples.sum()),
    "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))
"""


def _frame_figures(size: tuple[int, int], aniso: int, kind: str) -> dict:
    command = [sys.executable, "-c", _FRAME, *map(str, size), str(aniso), kind]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def measure_all(*, quick: bool, say: Callable[[str], object]) -> None:
    """Measure and print: LOD accuracy, then the golden model on the built-in scene."""
    count = 100_000 if quick else 10_000_000
    for name, log2 in (("isotropic", 0), ("anisotropic up to 16", 4)):
        start = time.perf_counter()
        lod = lod_error(count, SEED, max_aniso_log2=log2)
        say(
            f"LOD, {name}: {count} gradients, seed {SEED}: largest error "
            f"{lod['worst']:.4f}/256, correctly rounded {100 * lod['correct']:.3f} % "
            f"({time.perf_counter() - start:.0f} s)"
        )
    octave = octave_error(step=256 if quick else 1)
    say(
        f"LOD along an axis, {'every 256th' if quick else 'every'} float32 of an octave: largest "
        f"error {octave['worst']:.4f}/256, {'' if octave['monotonic'] else 'NOT '}monotonic"
    )
    size = (480, 270) if quick else (1920, 1080)
    runs = 1 if quick else 3
    for kind in ("minmip", "used"):
        for aniso in (1, 16):
            figures = [_frame_figures(size, aniso, kind) for _ in range(runs)]
            median = sorted(figures, key=lambda f: f["seconds"])[runs // 2]
            name = "trilinear" if aniso == 1 else f"{aniso}x anisotropic"
            say(
                f"golden model, built-in scene {size[0]}x{size[1]}, {kind}, {name}: "
                f"{median['seconds']:.2f} s (median of {runs}), "
                f"{median['quads'] / median['seconds']:.0f} quads/s, "
                f"{median['samples']} texel samples, peak {median['peak_mib']:.0f} MiB"
            )
