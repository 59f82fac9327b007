"""The sample pattern: every texel that the taps and mip levels of a request touch (spec 02)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from minmip.sim.golden.coordinates import (
    axis_footprint,
    coordinate,
    major_axis,
    tap_coordinate,
)
from minmip.sim.golden.descriptor import LINKED_MAX, LINKED_MIN, Image, Sampler
from minmip.sim.golden.lod import MipChoice
from minmip.sim.golden.rescale import footprint_grid
from minmip.sim.trace import PATTERN_DTYPE

__all__ = ["Samples", "pattern_rows", "sample_pattern"]

SLOTS, CORNERS = 2, 8


@dataclass(eq=False)
class Samples:
    """Texel samples, int64 [n] each, grouped by tap, slot and corner.

    `lane` is the row of the lane that was asked for, `tap` 0 to 15, `slot` 0 or 1 for the first or
    second mip level, `corner` 0 to 7 with x in bit 0, y in bit 1, z in bit 2; then the texel, its
    absolute mip level, and its weight (65536 is the whole tap and mip).
    """

    lane: np.ndarray
    tap: np.ndarray
    slot: np.ndarray
    corner: np.ndarray
    x: np.ndarray
    y: np.ndarray
    z: np.ndarray
    mip: np.ndarray
    weight: np.ndarray


def sample_pattern(
    uvw: np.ndarray,
    slices: np.ndarray,
    major: np.ndarray,
    taps_log2: np.ndarray,
    choice: MipChoice,
    image: Image,
    sampler: Sampler,
) -> Samples:
    """Texel samples of lanes.

    Parameters
    ----------
    uvw : int64 [n, 3]
        float32 patterns of the coordinates.
    slices : int64 [n]
        Absolute array slice; what volumes hold here is ignored.
    major : int64 [n, 2]
        float32 patterns of the anisotropic line; looked at only where there are several taps.
    taps_log2 : int64 [n]
        log2 of the tap count.
    choice : MipChoice
        Filter and mip levels, by lane.
    image, sampler
        Rows by lane.
    """
    axes = int(image.axes.max(initial=1))
    fixed = [coordinate(uvw[:, axis], sampler.clamp[:, axis]) for axis in range(axes)]
    one_level = (image.linked == LINKED_MIN) | (image.linked == LINKED_MAX)
    second = choice.second & ~one_level
    several = taps_log2 > 0
    line = [major_axis(np.where(several, major[:, axis], 0)) for axis in range(min(axes, 2))]
    every = np.arange(len(uvw))

    parts: list[tuple] = []
    for tap in range(1 << int(taps_log2.max(initial=0))):
        here = every if tap == 0 else np.flatnonzero(1 << taps_log2 > tap)
        for slot in range(SLOTS):
            lanes = here if slot == 0 else here[second[here]]
            if len(lanes):
                _beat(
                    parts, lanes, tap, slot, fixed, line, slices, taps_log2, choice, image, sampler
                )
    if not parts:
        return Samples(*(np.zeros(0, np.int64) for _ in range(9)))
    return Samples(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _beat(parts, lanes, tap, slot, fixed, line, slices, taps_log2, choice, image, sampler):
    """Append the samples of one tap and one mip slot of `lanes`, one part for each corner."""
    whole = len(lanes) == len(slices)
    pick = (lambda a: a) if whole else (lambda a: a[lanes])
    image, sampler = (image, sampler) if whole else (image.take(lanes), sampler.take(lanes))
    log2 = pick(taps_log2)
    mip = image.base_level + pick(choice.level) + slot
    grid = footprint_grid(image, mip)
    linear = (pick(choice.linear), pick(choice.linear), sampler.z_linear)

    footprints = []
    for axis, coordinates in enumerate(fixed):
        along = pick(line[axis]) if axis < len(line) else np.zeros_like(log2)
        footprint = axis_footprint(
            tap_coordinate(pick(coordinates), along, tap, log2),
            grid[:, axis],
            sampler.clamp[:, axis],
            linear[axis],
            sampler.trunc_coord,
        )
        unused = image.axes <= axis
        if unused.any():
            footprint.texel[unused] = 0
            footprint.touched[unused] = (True, False)
            footprint.weight[unused] = (256, 0)
        footprints.append(footprint)

    for corner in range(1 << len(footprints)):
        sides = [(f, corner >> axis & 1) for axis, f in enumerate(footprints)]
        touched = sides[0][0].touched[:, sides[0][1]]
        for footprint, side in sides[1:]:
            touched = touched & footprint.touched[:, side]
        hit = np.flatnonzero(touched)
        if not len(hit):
            continue
        texel = [footprint.texel[hit, side] for footprint, side in sides]
        weight = [footprint.weight[hit, side] for footprint, side in sides]
        volume = image.axes[hit] == 3
        x = texel[0]
        y = texel[1] if len(texel) > 1 else np.zeros_like(x)
        deep = (
            np.where(volume, texel[2], pick(slices)[hit]) if len(texel) > 2 else pick(slices)[hit]
        )
        flat_weight = weight[0] * (weight[1] if len(weight) > 1 else 256)
        if len(weight) > 2:
            flat_weight = flat_weight * weight[2] >> 8
        constant = np.full(len(hit), 0)
        parts.append(
            (
                lanes[hit],
                constant + tap,
                constant + slot,
                constant + corner,
                x,
                y,
                deep,
                mip[hit],
                flat_weight,
            )
        )


def pattern_rows(
    samples: Samples, chosen: np.ndarray, lane: np.ndarray, lod: np.ndarray
) -> np.ndarray:
    """Rows of spec 08 for the chosen samples: by lane, tap, mip, z, y, x; PATTERN_DTYPE.

    `lane` is the lane number in its quad and `lod` the clamped LOD in 1/256, both by lane asked
    for, in the order of quads.
    """
    place = (samples.tap[chosen] * SLOTS + samples.slot[chosen]) * CORNERS + samples.corner[chosen]
    chosen = chosen[np.argsort(samples.lane[chosen] << 8 | place, kind="stable")]
    rows = np.empty(len(chosen), PATTERN_DTYPE)
    rows["lane"] = lane[samples.lane[chosen]]
    rows["lod"] = lod[samples.lane[chosen]]
    for name in ("mip", "x", "y", "z", "weight"):
        rows[name] = getattr(samples, name)[chosen]
    return rows
