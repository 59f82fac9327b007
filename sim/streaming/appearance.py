"""The frame as a viewer sees it: made-up texels, as sharp as the levels that were resident."""

from __future__ import annotations

import colorsys
import zlib
from collections.abc import Sequence

import numpy as np

from minmip.sim.frontend import Texture
from minmip.sim.painting import wrapped
from minmip.sim.streaming.loop import Frame

__all__ = ["seen"]

COLORS = {
    "grass": (0.36, 0.52, 0.22),
    "rock": (0.50, 0.46, 0.42),
    "snow": (0.90, 0.93, 0.97),
    "road": (0.42, 0.41, 0.42),
    "lake": (0.22, 0.42, 0.58),
    "crate": (0.62, 0.43, 0.24),
    "sign": (0.80, 0.66, 0.28),
    "ring": (0.72, 0.30, 0.26),
    "sky": (0.50, 0.68, 0.90),
}
CONTRAST = {"sky": 0.10, "snow": 0.22, "lake": 0.25}
"""Of the built-in scene; other textures get a colour by their name."""

OCTAVES = range(1, 10)
"""Noise of 2, 4, ... 512 texels from hill to hill; what is finer than the level is not seen."""
STEPS = 40
BACKGROUND = 0.07


def seen(frame: Frame, textures: Sequence[Texture], size: tuple[int, int]) -> np.ndarray:
    """Picture of a frame, uint8 [height, width, 3].

    Each octave of a texture's noise is as strong as the sampled LOD leaves it.
    """
    width, height = size
    picture = np.full((height * width, 3), BACKGROUND)
    shown = frame.shown.ravel()
    pixel = np.flatnonzero(shown >= 0)
    quad, lane = shown[pixel] >> 2, shown[pixel] & 3
    lod = (frame.wanted[quad] + frame.blur[quad, lane]) / 256
    for index, texture in enumerate(textures):
        mine = np.flatnonzero(frame.quads.texture[quad] == index)
        if not len(mine):
            continue
        uv = frame.quads.uv[quad[mine], lane[mine]].astype(np.float64)
        x = wrapped(uv[:, 0], texture.wrap_u) * texture.width
        y = wrapped(uv[:, 1], texture.wrap_v) * texture.height
        noise = _noise(x, y, lod[mine], zlib.crc32(texture.name.encode()))
        noise = np.round(noise * STEPS) / STEPS  # a picture of few shades is a smaller file
        contrast = CONTRAST.get(texture.name, 0.6)
        picture[pixel[mine]] = np.array(_color(texture.name)) * (1 + contrast * noise)[:, None]
    shades = np.clip(picture * 255, 0, 255).astype(np.uint8)
    return shades.reshape(height, width, 3)


def _color(name: str) -> tuple[float, float, float]:
    hue = zlib.crc32(name.encode()) % 360 / 360
    return COLORS.get(name) or colorsys.hls_to_rgb(hue, 0.5, 0.35)


def _noise(x: np.ndarray, y: np.ndarray, lod: np.ndarray, seed: int) -> np.ndarray:
    """Sum of value noise, about -1 to 1, [n]."""
    total = np.zeros(len(x))
    for octave in OCTAVES:
        # Hills of 2^octave texels are gone when a texel of the level is as large.
        strength = np.clip(octave - lod, 0, 1)
        lit = np.flatnonzero(strength > 0)
        if len(lit):
            total[lit] += strength[lit] * _hills(x[lit] / 2**octave, y[lit] / 2**octave, seed)
        seed += 1
    return total / 2.2


def _hills(x: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    """Value noise with one value for each whole number, smooth between them, -1 to 1."""
    left, top = np.floor(x).astype(np.int64), np.floor(y).astype(np.int64)
    right, down = (t * t * (3 - 2 * t) for t in (x - left, y - top))
    corner = [[_hash(left + dx, top + dy, seed) for dx in range(2)] for dy in range(2)]
    upper, lower = (a + (b - a) * right for a, b in corner)
    return upper + (lower - upper) * down


def _hash(x: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    mixed = (x * 0x9E3779B1 ^ y * 0x85EBCA77 ^ (seed * 0xC2B2AE3D & 0xFFFFFFFF)) & 0xFFFFFFFF
    mixed = ((mixed ^ mixed >> 15) * 0x2C1B3C6D) & 0xFFFFFFFF
    mixed = (mixed ^ mixed >> 12) & 0xFFFF
    return mixed / 32767.5 - 1
