"""Requests of the gradient and LOD units as columns of integers, and what the golden model says."""

import numpy as np

from minmip.hw.config import LodConfig
from minmip.sim.golden.descriptor import TYPE_1D, TYPE_2D, TYPE_3D, Image, Sampler
from minmip.sim.golden.lod import gradient_lod
from minmip.sim.golden.numbers import bits_of

SPECIAL = np.array(
    [
        *(0x00000000, 0x00000001, 0x007FFFFF),  # zero, denormals
        *(0x00800000, 0x00800001, 0x00FFFFFF, 0x01000000),  # smallest normals
        *(0x33000000, 0x33800000, 0x337FFFFF),  # half and one unit in the last place of 1
        *(0x3F7FFFFF, 0x3F800000, 0x3F800001, 0x3FFFFFFF, 0x40000000, 0x4B7FFFFF, 0x4B800000),
        *(0x72FFFFFF, 0x73000000),  # half a unit in the last place of the largest
        *(0x7EFFFFFF, 0x7F000000, 0x7F7FFFFF),
        *(0x7F800000, 0x7F800001, 0x7FC00000, 0x7FFFFFFF),  # infinity, NaN
    ],
    np.int64,
)
SPECIAL = np.concatenate([SPECIAL, SPECIAL | 1 << 31])
"""float32 patterns on which the number rules turn, of both signs."""
SIZES = np.array([1, 2, 3, 5, 255, 256, 257, 1000, 4095, 4096, 8191, 16383, 16384], np.int64)


def float_pairs(rng: np.random.Generator, count: int):
    """(a, b), float32 patterns: every pair of specials, near in exponent, near in value, any."""
    a, b = (side.ravel() for side in np.meshgrid(SPECIAL, SPECIAL))
    first = rng.integers(0, 1 << 32, count)
    second = rng.integers(0, 1 << 32, count)
    kind = rng.integers(0, 4, count)
    exponent = np.clip((first >> 23 & 255) + rng.integers(-28, 29, count), 0, 255)
    second = np.where(kind == 1, second & 0x807FFFFF | exponent << 23, second)
    close = np.clip(first + rng.integers(-9, 10, count), 0, (1 << 32) - 1)
    second = np.where(kind == 2, close, second)
    short = 0xFFFFFFFF << rng.integers(8, 24, (2, count))  # few bits: ties, exact results
    first = np.where(kind == 3, first & short[0], first)
    second = np.where(kind == 3, second & short[1] & 0x807FFFFF | exponent << 23, second)
    return np.concatenate([a, first]), np.concatenate([b, second])


def lod_requests(rng: np.random.Generator, count: int, axes: int) -> dict[str, np.ndarray]:
    """Columns by the names of `lod_request`; `ddx`, `ddy` and `size` are [count, axes]."""
    size = np.where(
        rng.random((count, axes)) < 0.5,
        rng.choice(SIZES, (count, axes)),
        np.minimum(2.0 ** rng.uniform(0, 14.01, (count, axes)), 16384).astype(np.int64),
    )
    size = np.where(rng.random((count, 1)) < 0.3, size[:, :1], size)
    texels = _texels(rng, count, axes)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        ddx, ddy = (bits_of((side / size).astype(np.float32)) for side in texels)

    # A share of single components that follow no plan, and whole lanes without one.
    for side in (ddx, ddy):
        odd = rng.random((count, axes)) < np.where(rng.random((count, 1)) < 0.9, 0.01, 0.7)
        plain = np.where(
            rng.random((count, axes)) < 0.1,
            rng.choice(SPECIAL, (count, axes)),
            rng.integers(0, 1 << 32, (count, axes)),
        )
        side[odd] = plain[odd]
        nudged = rng.random((count, axes)) < 0.2
        moved = np.clip(side + rng.integers(-3, 4, (count, axes)), 0, (1 << 32) - 1)
        side[nudged] = moved[nudged]

    used = rng.choice(np.array([1, 2, 2, 2, 3] if axes == 3 else [1, 2, 2, 2]), count)
    return {
        "ddx": ddx,
        "ddy": ddy,
        "size": size,
        "axes": used,
        "aniso": (used == 2) & (rng.random(count) < 0.8),  # only 2D types are anisotropic
        "max_aniso_log2": rng.integers(0, 5, count),
        "threshold": rng.integers(0, 8, count),
        "tag": rng.integers(0, 256, count),
    }


def special_lod_requests(axes: int) -> dict[str, np.ndarray]:
    """Every pair of specials in every pair of components, on a 2D texture, all limits."""
    places = [(n, k) for n in range(4) for k in range(n)]
    a, b = (side.ravel() for side in np.meshgrid(SPECIAL, SPECIAL))
    count = len(places) * len(a)
    columns = np.full((count, 4), bits_of(np.array([1 / 256], np.float32))[0])
    for row, (n, k) in enumerate(places):
        rows = slice(row * len(a), (row + 1) * len(a))
        columns[rows, n], columns[rows, k] = a, b
    unused = np.full((count, axes - 2), 0x7FC00000)
    number = np.arange(count)
    return {
        "ddx": np.concatenate([columns[:, :2], unused], axis=1),
        "ddy": np.concatenate([columns[:, 2:], unused], axis=1),
        "size": np.stack([np.full(count, 256), 1 << number % 15, np.ones_like(number)][:axes], 1),
        "axes": np.full(count, 2),
        "aniso": number % 7 != 0,
        "max_aniso_log2": number % 5,
        "threshold": number % 8,
        "tag": number % 256,
    }


def reach_lod_requests(axes: int) -> dict[str, np.ndarray]:
    """Ratios at, and just beside, those where the tap count changes, for every ANISO_THRESHOLD.

    Half of the minor axes are under one texel, where the length counts instead of the ratio.
    """
    log2, threshold, fine, side = (
        grid.ravel() for grid in np.meshgrid(range(4), range(8), (0, 1), (-1, 0, 1, 2))
    )
    reach = (8 << log2) + threshold
    # In 1/1024 texel; beside it a little across, or one step shorter or longer.
    along = np.where(fine, reach * 128, reach * 1024) + np.where(abs(side) == 1, side, 0)
    across = np.where(side == 2, 1, 0)
    short = np.where(fine, 512, 8192)
    texels = np.zeros((len(log2), 4, axes))
    texels[:, 0, 0], texels[:, 0, 1], texels[:, 1, 1] = along, across, short
    gradients = bits_of((texels / 1024 / 64).astype(np.float32))
    number = np.arange(len(log2))
    return {
        "ddx": gradients[:, 0],
        "ddy": gradients[:, 1],
        "size": np.full((len(log2), axes), 64),
        "axes": np.full(len(log2), 2),
        "aniso": number >= 0,
        "max_aniso_log2": np.full(len(log2), 4),
        "threshold": threshold,
        "tag": number % 256,
    }


def _texels(rng, count, axes):
    """Gradients in texels, two float64 [count, axes]."""
    length = np.select(
        [kind == n for kind in [rng.integers(0, 5, count)] for n in range(4)],
        [
            2.0 ** rng.uniform(-4, 8, count),
            2.0 ** (rng.integers(-40, 121, count) / 8),
            2.0 ** rng.integers(-20, 20, count),
            2.0 ** rng.uniform(-126, 127, count),
        ],
        rng.integers(1, 41, count).astype(np.float64),
    )
    angle = rng.uniform(0, 2 * np.pi, count)
    aligned = rng.random(count) < 0.4
    angle[aligned] = rng.integers(0, 4, aligned.sum()) * np.pi / 2
    x = np.zeros((count, axes))
    x[:, 0], x[:, 1] = length * np.cos(angle), length * np.sin(angle)
    x[aligned] = np.where(np.abs(x[aligned]) < length[aligned, None] * 1e-9, 0, x[aligned])

    # The other gradient: at right angles with a ratio where decisions turn, parallel, or any.
    ratio = 2.0 ** rng.integers(0, 6, count) + rng.choice([0, 0, 0.125, 0.5, 0.875], count)
    ratio *= 1 + rng.choice([0, 0, 1, -1], count) * 2.0 ** -rng.integers(9, 22, count)
    other = 2.0 ** rng.uniform(-30, 10, (count, 2)) * rng.choice([-1, 1], (count, 2))
    kind = rng.integers(0, 8, (count, 1))
    y = np.zeros((count, axes))
    y[:, :2] = np.select(
        [kind <= 3, kind == 4, kind == 5, kind == 6],
        [
            np.stack([-x[:, 1], x[:, 0]], 1) / ratio[:, None],
            x[:, :2] * rng.choice([0, 1, -1, 0.5, -0.25], (count, 1)),
            x[:, 1::-1],
            x[:, :2] * (1 + 2.0 ** -rng.integers(5, 24, (count, 2))),
        ],
        other * length[:, None],
    )
    if axes == 3:
        scale = 2.0 ** rng.uniform(-12, 3, (2, count)) * rng.choice([-1, 0, 1], (2, count))
        x[:, 2], y[:, 2] = length * scale
    swap = rng.random((count, 1)) < 0.5
    return np.where(swap, y, x), np.where(swap, x, y)


def golden_lod(requests: dict[str, np.ndarray], lod: LodConfig) -> dict[str, np.ndarray]:
    """Columns by the names of `lod_result`."""
    count = len(requests["axes"])
    zero = np.zeros(count, np.int64)
    size = np.ones((count, 3), np.int64)
    size[:, : requests["size"].shape[1]] = requests["size"]
    types = np.array([0, TYPE_1D, TYPE_2D, TYPE_3D])[requests["axes"]]
    image = Image(
        **dict.fromkeys(Image.__dataclass_fields__, zero)
        | {"type": types, "axes": requests["axes"], "view_size": size}
    )
    sampler = Sampler(
        **dict.fromkeys(Sampler.__dataclass_fields__, zero)
        | {
            "min_filter": 2 * requests["aniso"],
            "max_aniso_log2": requests["max_aniso_log2"],
            "aniso_threshold": requests["threshold"],
            "aniso_override": zero > 0,
        }
    )
    result = gradient_lod(requests["ddx"], requests["ddy"], image, sampler, lod)
    return {
        "lod": result.lod,
        "undefined": result.undefined,
        "taps_log2": result.taps_log2,
        "major_is_x": result.major_is_x,
        "tag": requests["tag"],
    }
