"""Coordinates to texels: fixed point, tap offsets, range reduction, address modes (spec 02).

A coordinate is kept with 32 fraction bits, a tap with 37: the offset of one of 16 taps is then an
integer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from minmip.sim.golden.descriptor import Image
from minmip.sim.golden.numbers import EXPONENT_MASK, float_to_fixed, round_shift

__all__ = [
    "AxisFootprint",
    "array_slice",
    "axis_footprint",
    "coordinate",
    "fixed_texel",
    "major_axis",
    "tap_coordinate",
    "wrap_texel",
]

FRACTION = 32
TAP_FRACTION = FRACTION + 5
SATURATION = 1 << 15 + FRACTION
INFINITY = 10 << FRACTION
"""What an infinite coordinate counts as, and where the clamping modes clamp: 10."""
TEXEL_MIN, TEXEL_MAX = -(1 << 23), (1 << 23) - 1
"""Range of a texel position, S16.8 less its sign: 24 bits."""

WRAP, MIRROR, CLAMP, MIRROR_ONCE, HALF_BORDER, MIRROR_HALF_BORDER, BORDER, MIRROR_BORDER = range(8)


def _by_mode(mode: np.ndarray, rule: Callable, *operands: np.ndarray) -> Any:
    """Apply `rule(mode, *operands)`, returning a tuple of arrays, to each address mode present."""
    present = np.flatnonzero(np.bincount(mode, minlength=8))
    if len(present) == 1:
        return rule(int(present[0]), *operands)
    out = None
    for one in present.tolist():
        rows = np.flatnonzero(mode == one)
        parts = rule(one, *(operand[rows] for operand in operands))
        if out is None:
            out = tuple(np.empty(len(mode), part.dtype) for part in parts)
        for whole, part in zip(out, parts, strict=True):
            whole[rows] = part
    return out if out is not None else rule(WRAP, *operands)


def coordinate(bits: np.ndarray, mode: np.ndarray) -> np.ndarray:
    """Step 0: float32 patterns [n] to fixed point, 32 fraction bits, by address mode [n]."""

    def rule(mode, bits):
        infinite = bits & 0x7FFFFFFF == EXPONENT_MASK
        if mode in (WRAP, MIRROR):
            return (np.where(infinite, 0, _modulo_2(bits)),)
        fixed = float_to_fixed(bits, FRACTION, -SATURATION, SATURATION)
        return (np.where(infinite, np.where(bits >> 31 & 1, -INFINITY, INFINITY), fixed),)

    return _by_mode(mode, rule, bits)[0]


def _modulo_2(bits: np.ndarray) -> np.ndarray:
    """The value modulo 2, keeping its sign. Clearing high bits commutes with rounding low ones."""
    exponent = (bits >> 23) & 0xFF
    # From 2**25 on every float32 is a multiple of 2.
    small = np.where(exponent < 127 + 25, bits, 0)
    fixed = float_to_fixed(small, FRACTION, -(1 << 60), 1 << 60)
    magnitude = np.abs(fixed) & ((2 << FRACTION) - 1)
    return np.where(fixed < 0, -magnitude, magnitude)


def major_axis(bits: np.ndarray) -> np.ndarray:
    """Component of the anisotropic line, float32 patterns to 32 fraction bits, saturating."""
    return float_to_fixed(bits, FRACTION, -SATURATION, SATURATION)


def tap_coordinate(
    fixed: np.ndarray, major: np.ndarray, tap: int, taps_log2: np.ndarray
) -> np.ndarray:
    """Coordinate of tap `tap` of `2**taps_log2` along the line, 37 fraction bits, exact."""
    odd = 2 * tap + 1 - (1 << taps_log2)
    return (fixed << 5) + (odd * major << 4 - taps_log2)


def fixed_texel(
    tap: np.ndarray,
    size: np.ndarray,
    mode: np.ndarray,
    linear: np.ndarray,
    truncate: np.ndarray,
) -> np.ndarray:
    """Steps 1 and 2: texel position with 8 fraction bits, saturated to 24 bits, [n].

    `tap` has 37 fraction bits, `size` is the grid's, `linear` takes half a texel off, `truncate`
    (TRUNC_COORD) floors instead of rounding to nearest even.
    """
    one = 1 << TAP_FRACTION

    def reduced(mode, tap):
        if mode == WRAP:
            return (tap & (one - 1),)
        if mode == MIRROR:
            magnitude = np.abs(tap) & (2 * one - 1)
            return (np.where(tap < 0, -magnitude, magnitude),)
        return (np.clip(tap, -10 * one, 10 * one),)

    half = np.where(linear, one >> 1, 0)
    position: np.ndarray = _by_mode(mode, reduced, tap)[0] * size - half
    cut = TAP_FRACTION - 8
    if not truncate.any():
        fixed = round_shift(position, cut)
    else:
        fixed = np.where(truncate, position >> cut, round_shift(position, cut))
    return np.clip(fixed, TEXEL_MIN, TEXEL_MAX)


def wrap_texel(
    texel: np.ndarray, size: np.ndarray, mode: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Step 4: texel inside 0..size-1, and whether there is one (False in the border), [n]."""

    def rule(mode, t, n):
        inside = (t >= 0) & (t < n)
        if mode == WRAP:
            return t % n, np.ones_like(inside)
        if mode == CLAMP:
            return np.clip(t, 0, n - 1), np.ones_like(inside)
        if mode in (HALF_BORDER, BORDER):
            return np.where(inside, t, 0), inside
        t = np.where(t < 0, -t - 1, t)
        if mode == MIRROR:
            period, t = np.divmod(t, n)
            return np.where(period & 1, n - 1 - t, t), np.ones_like(inside)
        if mode == MIRROR_ONCE:
            return np.minimum(t, n - 1), np.ones_like(inside)
        return np.where(t < n, t, 0), t < n  # mirror once with border

    return _by_mode(mode, rule, texel, size)


@dataclass(eq=False)
class AxisFootprint:
    """The one or two texels touched on one axis, [n].

    `texel` [n, 2] lies in the grid where `touched` [n, 2]; `weight` [n, 2] counts 1/256. A texel of
    weight 0 is not touched.
    """

    texel: np.ndarray
    touched: np.ndarray
    weight: np.ndarray


def axis_footprint(
    tap: np.ndarray,
    size: np.ndarray,
    mode: np.ndarray,
    linear: np.ndarray,
    truncate: np.ndarray,
) -> AxisFootprint:
    """Steps 1 to 4 on one axis; arguments as for `fixed_texel`."""
    fixed = fixed_texel(tap, size, mode, linear, truncate)
    first = fixed >> 8
    second_weight = np.where(linear, fixed & 255, 0)
    texel, touched = wrap_texel(first, size, mode)
    two = np.flatnonzero(second_weight)
    texels = np.stack([texel, np.zeros_like(texel)], axis=-1)
    touches = np.stack([touched, np.zeros_like(touched)], axis=-1)
    if len(two):
        texels[two, 1], touches[two, 1] = wrap_texel(first[two] + 1, size[two], mode[two])
    return AxisFootprint(texels, touches, np.stack([256 - second_weight, second_weight], axis=-1))


def array_slice(bits: np.ndarray, image: Image) -> np.ndarray:
    """Absolute array slice by lane, from float32 patterns [n] of the slice operand.

    Rounded to nearest even, clamped to the view's slices, then moved by its first. 1D and 2D views
    have one slice and ignore the operand; volumes get 0.
    """
    last = image.last_slice - image.first_slice
    chosen = np.clip(float_to_fixed(bits, 0, 0, 1 << 20), 0, last)
    return image.first_slice + np.where(image.is_array, chosen, 0)
