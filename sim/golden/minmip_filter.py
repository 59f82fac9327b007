"""The MinMip filter: a bilinear filter that only ever makes the LOD clamp coarser (spec 04)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from minmip.sim.golden.address import MapLayout, texel_address
from minmip.sim.golden.coordinates import coordinate, fixed_texel, wrap_texel
from minmip.sim.golden.descriptor import Image, Sampler
from minmip.sim.golden.numbers import round_shift

__all__ = ["Kernel", "filter_kernel", "filter_values"]

ONE = 512
"""Weight 1: own-texel weights count 1/512."""


@dataclass(eq=False)
class Kernel:
    """The samples of one lane: 8 corners, bit 0 of the corner number is x, bit 1 y, bit 2 z.

    A set bit means the near neighbour on that axis, so corner 0 is the own texel. `offset` [n, 8]
    is the address from the memory's start; `inside` [n, 8] is False in the border; `weight` [n, 3]
    is the own texel's weight on each axis, in 1/512.
    """

    offset: np.ndarray
    inside: np.ndarray
    weight: np.ndarray


def filter_kernel(
    uvw: np.ndarray,
    z: np.ndarray,
    row: np.ndarray,
    image: Image,
    sampler: Sampler,
    layout: MapLayout,
) -> Kernel:
    """Corners and weights of lanes; the map itself is not read.

    Parameters
    ----------
    uvw : int64 [n, 3]
        float32 patterns of the coordinates.
    z : int64 [n]
        Array slice (0 for volumes).
    row : int64 [n]
        Row of the layout; `image` and `sampler` hold the rows already taken.
    layout : MapLayout
        Its bases count from the memory's start.
    """
    count = len(row)
    bilinear = sampler.mag_filter & 1 == 1
    texel = np.zeros((count, 3, 2), np.int64)
    inside = np.ones((count, 3, 2), bool)
    weight = np.full((count, 3), ONE, np.int64)
    texel[:, 2, :] = z[:, None]
    for axis in range(3):
        lanes = np.flatnonzero(image.axes > axis)
        if not len(lanes):
            continue
        size, mode = image.map_size[lanes, axis], sampler.clamp[lanes, axis]
        fixed = fixed_texel(
            coordinate(uvw[lanes, axis], mode) << 5,
            size,
            mode,
            np.zeros(len(lanes), bool),
            sampler.trunc_coord[lanes],
        )
        own, part = fixed >> 8, fixed & 255
        near = np.where(part < 128, own - 1, own + 1)
        distance = np.where(part < 128, part, 256 - part)
        fields = 1 if axis == 2 else np.where((axis == 1) & (image.axes[lanes] == 2), 1, 0)
        ramp = (distance - sampler.offset[lanes, fields]) * sampler.slope2[lanes, fields]
        weight[lanes, axis] = np.where(bilinear[lanes], np.clip(ramp, 0, ONE), ONE)
        for side, position in enumerate((own, near)):
            texel[lanes, axis, side], inside[lanes, axis, side] = wrap_texel(position, size, mode)

    offset = np.zeros((count, 8), np.int64)
    valid = np.zeros((count, 8), bool)
    for corner in range(8):
        side = [corner >> axis & 1 for axis in range(3)]
        x, y, z = (texel[:, axis, side[axis]] for axis in range(3))
        offset[:, corner] = texel_address(layout, row, np.zeros_like(row), x, y, z)
        valid[:, corner] = np.logical_and.reduce([inside[:, i, side[i]] for i in range(3)])
    return Kernel(np.where(valid, offset, 0), valid, weight)


def filter_values(kernel: Kernel, memory: np.ndarray) -> np.ndarray:
    """Read the corners from `memory`, uint8 [B], and blend: U5.8, uint16 [n]."""
    if not len(kernel.offset):
        return np.zeros(0, np.uint16)
    value = np.where(kernel.inside, memory[kernel.offset].astype(np.int64), 0)
    total = np.zeros(len(value), np.int64)
    for blended in range(8):
        # The axes whose bit is set take the neighbour's share: the coarsest texel of that box.
        box = [corner for corner in range(8) if corner & ~blended == 0]
        share = value[:, box].max(axis=-1)
        for axis in range(3):
            own = kernel.weight[:, axis]
            share = share * (ONE - own if blended >> axis & 1 else own)
        total += share
    # U5.3 times three weights of 1/512, to 8 fraction bits, rounded once.
    return round_shift(total, 27 + 3 - 8).astype(np.uint16)
