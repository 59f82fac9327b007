"""Requests of the coordinate unit as columns of integers, and what the golden model says."""

import numpy as np

from minmip.sim.golden.coordinates import (
    axis_footprint,
    coordinate,
    fixed_texel,
    major_axis,
    tap_coordinate,
    wrap_texel,
)
from minmip.sim.golden.numbers import bits_of

SPECIAL = np.array(
    [
        *(0x00000000, 0x00000001, 0x007FFFFF, 0x00800000),  # zero, denormals, smallest
        *(0x2E800000, 0x2E800001, 0x2F000000, 0x2F7FFFFF, 0x2F800000, 0x2FC00000),  # 2**-34 .. -32
        *(0x30200000, 0x30600000, 0x3A7FFFFF, 0x3B000000, 0x3B000001),  # ties; both sides of 2**-9
        *(0x3F000000, 0x3F7FFFFF, 0x3F800000, 0x3F800001, 0x3FFFFFFF, 0x40000000),  # 0.5, 1, 2
        *(0x411FFFFF, 0x41200000, 0x41200001),  # 10
        *(0x46FFFFFF, 0x47000000, 0x47000001, 0x47800000),  # 2**15, the limit
        *(0x4AFFFFFF, 0x4B7FFFFF, 0x4B800000, 0x4BFFFFFF, 0x4C000000),  # the last odd numbers
        *(0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x7FC00000, 0x7FFFFFFF),  # largest, infinity, NaN
    ],
    np.int64,
)
SPECIAL = np.concatenate([SPECIAL, SPECIAL | 1 << 31])
"""float32 patterns on which the number rules turn, of both signs."""
SIZES = np.array([1, 2, 3, 5, 7, 16, 255, 256, 257, 1000, 4095, 4096, 8191, 16383, 16384], np.int64)


def coordinate_requests(rng: np.random.Generator, count: int, axes: int) -> dict:
    """Columns by the names of `coordinate_request`: ties, borders, saturation, any pattern."""
    shape = (count, axes)
    kind = rng.integers(0, 9, shape)
    size = np.select(
        [kind == 6, rng.random(shape) < 0.5],
        [1 << rng.integers(10, 15, shape), rng.choice(SIZES, shape)],
        np.minimum(2.0 ** rng.uniform(0, 14.01, shape), 16384).astype(np.int64),
    )
    taps_log2 = rng.choice(np.array([0, 0, 1, 2, 3, 4]), count)
    return {
        "axis": {
            "coordinate": random_coordinates(rng, size, kind),
            "major": random_majors(rng, size),
            "size": size,
            "mode": rng.integers(0, 8, shape),
            "linear": rng.integers(0, 2, shape),
            "filter": np.repeat(rng.random((count, 1)) < 0.4, axes, axis=1),
        },
        "tap": rng.integers(0, 16, count) & (1 << taps_log2) - 1,
        "taps_log2": taps_log2,
        "truncate": rng.random(count) < 0.25,
        "tag": rng.integers(0, 256, count),
    }


def special_coordinate_requests(axes: int) -> dict:
    """Every pair of special coordinate and component, in every mode and filter, on every axis."""
    a, b = (side.ravel() for side in np.meshgrid(SPECIAL, SPECIAL))
    kinds = 32  # modes, point and linear, the MinMip filter
    a, b = np.repeat(a, kinds), np.repeat(b, kinds)
    number = np.arange(len(a))
    spread = number // kinds

    def every_axis(column):
        return np.stack([np.roll(column, kinds * axis) for axis in range(axes)], axis=1)

    taps_log2 = spread % 5
    return {
        "axis": {
            "coordinate": every_axis(a),
            "major": every_axis(b),
            "size": every_axis(SIZES[spread % len(SIZES)]),
            "mode": every_axis(number % 8),
            "linear": every_axis(number // 8 % 2),
            "filter": every_axis(number // 16 % 2),
        },
        "tap": spread // 5 % (1 << taps_log2),
        "taps_log2": taps_log2,
        "truncate": spread % 3 == 0,
        "tag": number % 256,
    }


def golden_coordinates(requests: dict) -> dict:
    """Columns by the names of `coordinate_result`; axis 2 has no line."""
    axis = requests["axis"]
    count, axes = axis["size"].shape
    texel = np.empty((count, axes, 2), np.int64)
    touched, weight = np.empty_like(texel), np.empty((count, axes), np.int64)
    for n in range(axes):
        mode, linear = axis["mode"][:, n], axis["linear"][:, n] != 0
        line = major_axis(axis["major"][:, n]) * (n < 2)
        fixed = coordinate(axis["coordinate"][:, n], mode)
        tap = tap_coordinate(fixed, line, requests["tap"], requests["taps_log2"])
        operands = axis["size"][:, n], mode, linear, requests["truncate"] != 0
        found = axis_footprint(tap, *operands)
        filtered = filter_footprint(tap, *operands)
        filters = axis["filter"][:, n] != 0
        for column, plain, other in zip(
            (texel, touched, weight),
            (found.texel, found.touched, found.weight[:, 1]),
            filtered,
            strict=True,
        ):
            chosen = filters.reshape(-1, *[1] * (plain.ndim - 1))
            column[:, n] = np.where(chosen, other, plain)
    return {
        "axis": {"texel": texel, "touched": touched, "weight": weight},
        "tag": requests["tag"],
    }


def filter_footprint(tap, size, mode, linear, truncate):
    """Texels [n, 2], "is touched" bits [n, 2] and fraction [n] of the MinMip filter (spec 04)."""
    fixed = fixed_texel(tap, size, mode, np.zeros(len(size), bool), truncate)
    own, fraction = fixed >> 8, fixed & 255
    near = np.where(fraction < 128, own - 1, own + 1)
    sides = [wrap_texel(texel, size, mode) for texel in (own, near)]
    touched = np.stack([inside for _, inside in sides], axis=1)
    touched[:, 1] &= linear
    texel = np.stack([texel for texel, _ in sides], axis=1)
    return np.where(touched, texel, 0), touched, fraction


def _floats(values: np.ndarray) -> np.ndarray:
    """Patterns of the nearest float32."""
    with np.errstate(over="ignore", under="ignore"):
        return bits_of(values.astype(np.float32))


def _nudged(rng, bits):
    """A share of the patterns moved by up to four steps."""
    steps = rng.integers(-4, 5, bits.shape) * (rng.random(bits.shape) < 0.6)
    return np.clip(bits + steps, 0, (1 << 32) - 1)


def random_coordinates(rng, size, kind):
    """float32 patterns for grids of `size`, in the manner of `kind`, 0 to 8."""
    shape = size.shape
    sign = rng.choice([-1, 1], shape)
    half_steps = rng.integers(-512, 1024, shape) * size // rng.choice([1, 64], shape)
    plans = [
        rng.uniform(-3, 4, shape),
        (half_steps + rng.integers(-3, 4, shape)) / 2 / 256 / size,  # ties of 1/256 texel
        rng.integers(-5, 6, shape) / 2 + rng.integers(-300, 300, shape) / 256 / size,  # borders
        rng.integers(-4 * size - 1, 8 * size + 2) / 2 / size,  # texel centres and sides
        sign * (10 + rng.uniform(-1, 1, shape) * 2.0 ** -rng.integers(0, 24, shape)),
        sign * 2.0 ** rng.uniform(-40, 30, shape),
        # Ties of the 32nd fraction bit, beside ties of 1/256 texel: sizes are powers of two.
        sign * (rng.integers(0, 64, shape) / 2 / 256 / size + 2.0 ** -rng.integers(30, 36, shape)),
    ]
    bits = _floats(np.choose(np.minimum(kind, 6), plans))
    planned = np.where(kind == 6, bits, _nudged(rng, bits))
    return np.select(
        [kind == 7, kind == 8],
        [rng.choice(SPECIAL, shape), rng.integers(0, 1 << 32, shape)],
        planned,
    )


def random_majors(rng, size):
    """float32 patterns of a component of the line, for grids of `size`."""
    shape = size.shape
    kind = rng.integers(0, 6, shape)
    plans = [
        rng.uniform(-16, 16, shape) / size,  # up to 16 texels long
        rng.integers(-32, 33, shape) / 8 / size,
        rng.uniform(-4, 4, shape),
        rng.choice([-1, 1], shape) * 2.0 ** rng.uniform(-40, 16, shape),
    ]
    planned = _nudged(rng, _floats(np.choose(np.minimum(kind, 3), plans)))
    return np.select(
        [kind == 4, kind == 5],
        [rng.choice(SPECIAL, shape), rng.integers(0, 1 << 32, shape)],
        planned,
    )
