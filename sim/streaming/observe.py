"""What a frame got: samples of absent tiles, pixels that wanted more, visible jumps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from minmip.sim.frontend import Quads
from minmip.sim.golden.coordinates import (
    CLAMP,
    MIRROR,
    WRAP,
    axis_footprint,
    coordinate,
    tap_coordinate,
)
from minmip.sim.golden.numbers import bits_of
from minmip.sim.streaming.tiling import TileTable, Tiling
from minmip.sim.streaming.unit import Rows

__all__ = ["JUMP", "absent_tiles", "blur_of", "count_jumps", "hard_clamp"]

JUMP = 0.5
"""Levels: a jump is a larger difference between neighbouring pixels of one triangle."""

ADDRESS_CODES = {"wrap": WRAP, "mirror": MIRROR, "clamp": CLAMP}


def absent_tiles(
    rows: Rows, quads: Quads, table: TileTable, resident: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Samples that read a tile that is not resident.

    Parameters
    ----------
    rows : Rows
        Every texel that the frame's samples read.
    quads, table
        The frame, and its textures in tiles.
    resident : bool [tiles + 1]
        By tile; the last one stands for packed mips.

    Returns
    -------
    row, tile : int64 [n]
        The samples, and the tiles that they miss.
    """
    texture = quads.texture.astype(np.int64)[rows.quad]
    tile = table.tile_of(texture, rows.mip, rows.x, rows.y)
    row = np.flatnonzero(~resident[tile])
    return row, tile[row]


def blur_of(clamp: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """By how much lanes get less than they want: levels in 1/256, int64 [Q, 4], 0 if they do not.

    `clamp` [Q, 4] and `wanted` [Q] count 1/256.
    """
    return np.maximum(clamp.astype(np.int64) - wanted[:, None], 0)


def hard_clamp(quads: Quads, maps: Sequence[np.ndarray], tilings: Sequence[Tiling]) -> np.ndarray:
    """LOD clamp without the MinMip filter, in 1/256, int64 [Q, 4].

    What Direct3D 11 offers for residency maps and the filter replaces: a bilinear sample with "MIN
    reduction", the coarsest of the map texels that it touches. As safe as the filter, since half a
    map texel is never less than half a texel of a level; but the answer jumps in the middle of map
    texels, where the footprint changes.
    """
    clamp = np.zeros((len(quads), 4), np.int64)
    for index, (levels, tiling) in enumerate(zip(maps, tilings, strict=True)):
        mine = np.flatnonzero(quads.texture == index)
        uv = quads.uv[mine].reshape(-1, 2)
        sides = (tiling.texture.wrap_u, tiling.texture.wrap_v)
        across, down = (
            _footprint(uv[:, axis], tiling.map_size[axis], ADDRESS_CODES[sides[axis]])
            for axis in range(2)
        )
        answer = np.zeros(len(uv), np.int64)
        for x in range(2):
            for y in range(2):
                level = levels[down.texel[:, y], across.texel[:, x]]
                touched = across.touched[:, x] & down.touched[:, y]
                answer = np.maximum(answer, np.where(touched, level, 0))
        clamp[mine] = answer.reshape(-1, 4) << 8
    return clamp


def _footprint(position: np.ndarray, size: int, mode: int):
    count = len(position)
    modes, no, none = np.full(count, mode), np.zeros(count, bool), np.zeros(count, np.int64)
    fixed = coordinate(bits_of(np.ascontiguousarray(position)), modes)
    tap = tap_coordinate(fixed, none, 0, none)
    return axis_footprint(tap, np.full(count, size), modes, ~no, no)


def count_jumps(blur: np.ndarray, quads: Quads, shown: np.ndarray) -> int:
    """Pairs of neighbouring visible pixels of one triangle whose blur differs by more than JUMP.

    Parameters
    ----------
    blur : int64 [Q, 4]
        From `blur_of`: what streaming takes away, so that the texture's own change of level from
        pixel to pixel does not count.
    quads : Quads
        The frame.
    shown : int64 [height, width]
        From `painting.visible`.
    """
    triangle = np.where(shown < 0, -1, quads.triangle[shown >> 2] if len(quads) else -1)
    value = blur.ravel()[shown] if len(quads) else shown
    jumps = 0
    for axis in range(2):
        same = np.diff(triangle, axis=axis) == 0
        same &= np.delete(triangle, -1, axis=axis) >= 0
        jumps += int((same & (np.abs(np.diff(value, axis=axis)) > JUMP * 256)).sum())
    return jumps
