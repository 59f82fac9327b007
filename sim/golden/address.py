"""Byte addresses of map texels in LINEAR and 256B_S, mip chains and slices (spec 05, 1 to 4, 8).

Maps have one byte per texel. Mips are stored smallest first; layout sizes round up, texel sizes
round down.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["MapLayout", "map_layout", "texel_address"]

SW_LINEAR, SW_256B_S = 0, 1
MIPS = 16
# 256-byte boxes, log2 of width, height and depth in texels: flat maps, and volumes (spec 05, 8.1).
THIN_LOG2 = (4, 4, 0)
THICK_LOG2 = (3, 2, 3)
# Address bits 0 to 7 inside the thick box, as (axis, bit): x0 x1 z0 y0 z1 y1 x2 z2.
THICK_MICRO = ((0, 0), (0, 1), (2, 0), (1, 0), (2, 1), (1, 1), (0, 2), (2, 2))


@dataclass(eq=False)
class MapLayout:
    """Where the texels of each map lie; arrays over descriptors.

    `swizzled` is True for 256B_S; `pitch` and `offset` [n, 16] are the padded width in texels and
    the byte offset in the chain, by mip; `chain_bytes` is one slice (LINEAR, flat 256B_S) or one
    slab of eight slices (256B_S volumes).
    """

    swizzled: np.ndarray
    volume: np.ndarray
    base: np.ndarray
    pitch: np.ndarray
    offset: np.ndarray
    chain_bytes: np.ndarray

    def total_bytes(self, slices: np.ndarray) -> np.ndarray:
        """Bytes of whole maps with `slices` array slices, or that depth for volumes."""
        slabs = np.where(self.swizzled & self.volume, (slices + 7) >> 3, slices)
        return self.chain_bytes * slabs


def map_layout(
    sw_mode: np.ndarray, base: np.ndarray, size: np.ndarray, mips: np.ndarray, volume: np.ndarray
) -> MapLayout:
    """Lay out maps of `size` [n, 3] texels with `mips` [n] levels (spec 05, 4.1 and 8.1).

    Swizzle modes other than LINEAR (0) are laid out as 256B_S (1); legality refuses the rest.
    """
    level = np.arange(MIPS)
    swizzled = sw_mode != SW_LINEAR
    thick = swizzled & volume
    width, height = ((size[:, i, None] + (1 << level) - 1) >> level for i in range(2))

    def padded(value, linear, thin, thick_box):
        log2 = np.where(thick, thick_box, np.where(swizzled, thin, linear))[:, None]
        return (value + (1 << log2) - 1) >> log2 << log2

    pitch = padded(width, 8, THIN_LOG2[0], THICK_LOG2[0])
    rows = padded(height, 0, THIN_LOG2[1], THICK_LOG2[1])
    depth = np.where(thick, 1 << THICK_LOG2[2], 1)[:, None]
    mip_bytes = np.where(level < mips[:, None], pitch * rows * depth, 0)
    chain = mip_bytes.sum(axis=-1)
    return MapLayout(
        swizzled=swizzled,
        volume=volume,
        base=base,
        pitch=pitch,
        offset=chain[:, None] - mip_bytes.cumsum(axis=-1),
        chain_bytes=chain,
    )


def texel_address(
    layout: MapLayout,
    row: np.ndarray,
    mip: np.ndarray,
    x: np.ndarray,
    y: np.ndarray,
    z: np.ndarray,
) -> np.ndarray:
    """Byte address of texels: `row` picks the map, z is the slice or the depth; int64.

    The arrays broadcast together if all rows are alike in swizzle mode and kind.
    """
    swizzled, volume = layout.swizzled[row], layout.volume[row]
    pitch = layout.pitch[row, mip]
    origin = layout.base[row] + layout.offset[row, mip]
    chain = layout.chain_bytes[row]
    shapes = [
        (~swizzled, _linear),
        (swizzled & ~volume, _thin),
        (swizzled & volume, _thick),
    ]
    present = [(mask, rule) for mask, rule in shapes if mask.any()]
    if len(present) == 1:
        return origin + present[0][1](pitch, chain, x, y, z)
    address = np.empty(np.shape(x), np.int64)
    for mask, rule in present:
        inside = rule(pitch[mask], chain[mask], x[mask], y[mask], z[mask])
        address[mask] = origin[mask] + inside
    return address


def _linear(pitch, chain, x, y, z):
    return chain * z + y * pitch + x


def _thin(pitch, chain, x, y, z):
    block = (y >> 4) * (pitch >> 4) + (x >> 4)
    return chain * z + (block << 8) + ((y & 15) << 4) + (x & 15)


def _thick(pitch, chain, x, y, z):
    log2_x, log2_y, log2_z = THICK_LOG2
    block = (y >> log2_y) * (pitch >> log2_x) + (x >> log2_x)
    texel = (x, y, z)
    micro = sum((texel[axis] >> bit & 1) << place for place, (axis, bit) in enumerate(THICK_MICRO))
    return chain * (z >> log2_z) + (block << 8) + micro
