"""Parts of quads before and after the LOD and the mip choice, with their golden results."""

from __future__ import annotations

from typing import Any

import numpy as np
from lod_vectors import SPECIAL, golden_lod, lod_requests

from minmip.hw.config import UnitConfig
from minmip.sim.golden.descriptor import LINKED_FILTER, LINKED_OR, Image, Sampler
from minmip.sim.golden.lod import choose_mips, clamp_lod, explicit_lod, op_bias, op_clamp
from minmip.sim.golden.numbers import bits_of, float_to_fixed

__all__ = ["KINDS", "golden_lods", "golden_mips", "mip_requests", "operands", "part_requests"]

KINDS = ("implicit", "explicit", "own")
"""Where the LOD of a part comes from."""
SLICE_MAX = 16383

_VALUES = np.array(
    [
        *(0.5, 1.5, 2.5, 0.4999, 0.5001, 0.25, 0.75, 8191.5, 8192.5, 16382.5, 16383.4, 16383.5),
        *(16384, 16385, 32767.5, 1e9),
        *(127.99, 127.99609375, 127.998, 127.998046875, 128, 128.001953125, 128.002, 129, 255),
        *(n / 512 for n in (1, 2, 3, 4, 5, 511, 512, 513, 1025)),
        *(n / 512 + 2**-30 for n in (1, 3)),
        *(n / 512 - 2**-30 for n in (1, 3)),
        *(3.25 + 2.0**-n for n in range(1, 23)),
        *(2.0**n for n in range(-12, 18)),
    ],
    np.float32,
)
OPERANDS = np.unique(np.concatenate([SPECIAL, bits_of(_VALUES), bits_of(-_VALUES)]))
"""float32 patterns on which the conversions turn."""


def operands(rng: np.random.Generator, shape) -> np.ndarray:
    """float32 patterns: special ones, levels, slices, near ties of 1/256, any."""
    ties = rng.integers(-40000, 40000, shape) / 512 + rng.choice([0, 0, 1, -1], shape) * 2.0**-16
    pools = [
        rng.choice(OPERANDS, shape),
        bits_of(rng.uniform(-16, 16, shape).astype(np.float32)),
        bits_of(rng.uniform(-300, 300, shape).astype(np.float32)),
        bits_of((rng.integers(-100, 40000, shape) / 2).astype(np.float32)),
        bits_of(ties.astype(np.float32)),
        rng.integers(0, 1 << 32, shape),
    ]
    return np.choose(rng.integers(0, len(pools), shape), pools)


def _head(rng, count, cfg: UnitConfig) -> dict[str, np.ndarray]:
    return {
        "context": rng.integers(0, cfg.descriptor_entries, count),
        "code": rng.integers(0, 32, count),
        "flush": rng.integers(0, 2, count),
        "tag": rng.integers(0, 1 << 16, count),
        "first_lane": rng.integers(0, 4, count),
        "last_part": rng.integers(0, 2, count),
        "live": rng.integers(0, 1 << cfg.lanes, count),
    }


def part_requests(
    rng: np.random.Generator, count: int, cfg: UnitConfig, kinds=KINDS
) -> dict[str, Any]:
    """Columns of the input of `LaneLod`; parts of the named kinds, mixed."""
    lanes = cfg.lanes
    lods = lod_requests(rng, count * lanes, cfg.axes)
    kind = rng.choice(np.array(kinds), count)

    def by_lane(column):
        return column.reshape(count, lanes, *column.shape[1:])

    control = {
        name: by_lane(lods[name])[:, 0]
        for name in ("size", "axes", "aniso", "max_aniso_log2", "threshold")
    }
    control["view_size"] = control.pop("size")
    return {
        "beat": _head(rng, count, cfg)
        | {
            "implicit": kind == "implicit",
            "explicit": kind == "explicit",
            "has_bias": (kind == "implicit") & (rng.random(count) < 0.5),
            "has_clamp": rng.random(count) < 0.5,
            "lane": {
                "uvw": rng.integers(0, 1 << 32, (count, lanes, cfg.axes)),
                "slice": operands(rng, (count, lanes)),
                "ddx": by_lane(lods["ddx"]),
                "ddy": by_lane(lods["ddy"]),
                "level": operands(rng, (count, lanes)),
                "clamp": operands(rng, (count, lanes)),
            },
        },
        "control": control,
    }


def golden_lods(requests: dict[str, Any], cfg: UnitConfig) -> dict[str, Any]:
    """Columns of `lod_beat`; `line` means something where `taps_log2` is not 0."""
    beat, control, lane = requests["beat"], requests["control"], requests["beat"]["lane"]
    count, lanes = lane["slice"].shape
    implicit, explicit = beat["implicit"][:, None], beat["explicit"][:, None]

    def of_part(name):
        return np.repeat(control[name], lanes, axis=0)

    # The first lane's gradients are those of every lane.
    shared = implicit[:, :, None]
    ddx = np.where(shared, lane["ddx"][:, :1], lane["ddx"])
    ddy = np.where(shared, lane["ddy"][:, :1], lane["ddy"])
    result = golden_lod(
        {
            "ddx": ddx.reshape(count * lanes, -1),
            "ddy": ddy.reshape(count * lanes, -1),
            "size": of_part("view_size"),
            "tag": np.zeros(count * lanes, np.int64),
        }
        | {name: of_part(name) for name in ("axes", "aniso", "max_aniso_log2", "threshold")},
        cfg.lod,
    )
    result = {name: column.reshape(count, lanes) for name, column in result.items()}
    level = explicit_lod(lane["level"])
    major = result["major_is_x"][:, :, None]
    heads = ("context", "code", "flush", "tag", "first_lane", "last_part", "live")
    return {name: beat[name] for name in heads} | {
        "lane": {
            "uvw": lane["uvw"],
            "line": np.where(major, ddx[:, :, :2], ddy[:, :, :2]),
            "slice": float_to_fixed(lane["slice"], 0, 0, SLICE_MAX),
            "lod": np.where(explicit, level.lod, result["lod"]),
            "undefined": np.where(explicit, level.undefined, result["undefined"]),
            "taps_log2": np.where(explicit, 0, result["taps_log2"]),
            "bias": np.where(beat["has_bias"][:, None], op_bias(lane["level"]), 0),
            "clamp": np.where(beat["has_clamp"][:, None], op_clamp(lane["clamp"]), -32768),
        }
    }


def mip_requests(rng: np.random.Generator, count: int, cfg: UnitConfig) -> dict[str, Any]:
    """Columns of the input of `MipChoice`; half of the parts have neither biases nor clamps."""
    shape = (count, cfg.lanes)
    last = rng.integers(0, 16, count)
    base = rng.integers(0, last + 1)
    calm = rng.random(count) < 0.5
    calm_lanes = calm[:, None]

    def s7_8():
        """Near the view's levels and their halves, at the ends, any."""
        inside = (rng.random(shape) * ((last - base)[:, None] * 256 + 512)).astype(np.int64) - 256
        near = (inside & ~127) + rng.choice([0, 1, -1], shape)
        ends = rng.choice([-32768, -32767, -256, -1, 0, 1, 32766, 32767], shape)
        pools = [inside, near, ends, rng.integers(-32768, 32768, shape)]
        return np.choose(rng.choice([0, 0, 1, 1, 2, 3], shape), pools)

    def limit():
        """U4.8, often at an end."""
        pools = [last * 0, last * 0 + 4095, rng.integers(0, 4096, count), last << 8]
        return np.choose(rng.integers(0, len(pools), count), pools)

    # Biases that lead from one end into the mips, were they taken there.
    lod, bias = s7_8(), np.where(calm_lanes, 0, s7_8())
    far = ~calm_lanes & (rng.random(shape) < 0.1)
    high = rng.random(shape) < 0.5
    lod = np.where(far, np.where(high, 32767, -32768), lod)
    bias = np.where(far, np.where(high, -32768, 32767), bias)
    lod_bias = np.where(
        rng.random(count) < 0.5,
        rng.integers(-8192, 8192, count),
        rng.choice([-8192, 8191, -1, 0, 1], count),
    )
    return {
        "beat": _head(rng, count, cfg)
        | {
            "lane": {
                "uvw": rng.integers(0, 1 << 32, (*shape, cfg.axes)),
                "line": rng.integers(0, 1 << 32, (*shape, 2)),
                "slice": rng.integers(0, 1 << 14, shape),
                "lod": lod,
                "undefined": rng.random(shape) < 0.1,
                "taps_log2": rng.integers(0, 5, shape),
                "bias": bias,
                "clamp": np.where(calm_lanes, -32768, s7_8()),
            }
        },
        "control": {
            "lod_bias": np.where(calm, 0, lod_bias),
            "min_lod": np.where(calm, 0, limit()),
            "max_lod": np.where(calm, 4095, limit()),
            "view_min_lod": np.where(calm, 0, limit()),
            "base_level": base,
            "last_level": last,
            "mag_linear": rng.integers(0, 2, count),
            "min_linear": rng.integers(0, 2, count),
            "mip_filter": rng.integers(0, 4, count),
            "linked": rng.integers(0, 5, count),
        },
    }


def golden_mips(requests: dict[str, Any]) -> dict[str, Any]:
    """Columns of `mip_beat`. The MinMip filter has one tap and looks at the magnifying filter."""
    beat, control, lane = requests["beat"], requests["control"], requests["beat"]["lane"]
    shape = lane["lod"].shape
    # Every lane of a part has the same descriptors.
    of_lane = {name: np.repeat(column, shape[1]) for name, column in control.items()}
    unused = dict.fromkeys(Image.__dataclass_fields__, of_lane["linked"] * 0)
    image = Image(
        **unused
        | {name: of_lane[name] for name in ("base_level", "last_level", "linked")}
        | {"min_lod": of_lane["view_min_lod"]}
    )
    unused = dict.fromkeys(Sampler.__dataclass_fields__, of_lane["linked"] * 0)
    sampler = Sampler(
        **unused
        | {name: of_lane[name] for name in ("lod_bias", "min_lod", "max_lod", "mip_filter")}
        | {"mag_filter": of_lane["mag_linear"], "min_filter": of_lane["min_linear"]}
    )
    flat = {name: lane[name].ravel() for name in ("lod", "undefined", "bias", "clamp")}
    lod = clamp_lod(**flat, image=image, sampler=sampler)
    choice = choose_mips(lod, image, sampler)
    filters = image.linked == LINKED_FILTER
    results = {
        "lod": lod,
        "limited": choice.limited,
        "mip": image.base_level + choice.level,
        "linear": np.where(filters, of_lane["mag_linear"], choice.linear),
        "second": choice.second & (image.linked <= LINKED_OR),
        "taps_log2": np.where(filters, 0, lane["taps_log2"].ravel()),
    }
    kept = {name: lane[name] for name in ("uvw", "line", "slice")}
    return {name: column for name, column in beat.items() if name != "lane"} | {
        "lane": kept | {name: column.reshape(shape) for name, column in results.items()}
    }
