"""Scan conversion: from triangles to 2x2 quads in hardware order (spec 07 "fragment generation").

The order is what a hardware rasteriser would emit: triangle by triangle, inside a triangle 8x8
pixel tiles row by row, inside a tile quads in Z order. Lanes of a quad: 0 top left, 1 top right,
2 bottom left, 3 bottom right.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from minmip.sim.frontend.triangle_setup import SUBPIXEL, Triangles

__all__ = ["LANE_X", "LANE_Y", "Coverage", "rasterise"]

LANE_X = np.array([0, 1, 0, 1])
LANE_Y = np.array([0, 0, 1, 1])

QUADS_PER_TILE = 16
_Z = np.arange(QUADS_PER_TILE)
TILE_QUAD_X = (_Z & 1) | (_Z >> 1 & 2)
TILE_QUAD_Y = (_Z >> 1 & 1) | (_Z >> 2 & 2)

TILES_AT_ONCE = 1 << 13
"""Tiles that are worked on together: bounds the memory, whatever the size of a triangle."""


@dataclass(frozen=True, kw_only=True)
class Coverage:
    """Quads with at least one covered pixel, in order.

    Parameters
    ----------
    triangle : ndarray
        int64 [Q], index in the `Triangles` they come from.
    x, y : ndarray
        int64 [Q], pixel of lane 0, both even.
    covered : ndarray
        bool [Q, 4]: the lane's pixel is in the frame, its centre in the triangle.
    edges : ndarray
        int64 [3, Q, 4]: edge functions at the centre of each lane's pixel.
    """

    triangle: np.ndarray
    x: np.ndarray
    y: np.ndarray
    covered: np.ndarray
    edges: np.ndarray


def rasterise(triangles: Triangles, width: int, height: int) -> Iterator[Coverage]:
    """Find what each triangle covers, a bounded number of quads at a time.

    Parameters
    ----------
    triangles : Triangles
        From `set_up_triangles`, for the same frame.
    width, height : int
        The frame in pixels; pixels beyond it are never covered.
    """
    first_tile = triangles.first >> 3
    tiles = (triangles.last >> 3) - first_tile + 1
    ends = np.cumsum(tiles[0] * tiles[1])
    total = int(ends[-1]) if ends.size else 0
    for start in range(0, total, TILES_AT_ONCE):
        index = np.arange(start, min(start + TILES_AT_ONCE, total))
        triangle = np.searchsorted(ends, index, side="right")
        columns = tiles[0, triangle]
        row, column = np.divmod(index - (ends - tiles[0] * tiles[1])[triangle], columns)
        column += first_tile[0, triangle]
        row += first_tile[1, triangle]
        touched = _may_cover(triangles, triangle, column * 8, row * 8, 8)
        yield _cover_tiles(
            triangles, triangle[touched], column[touched], row[touched], width, height
        )


def _cover_tiles(triangles, triangle, column, row, width, height) -> Coverage:
    """Coverage of pairs of triangle and tile, in order."""
    x = (column[:, None] * 8 + TILE_QUAD_X * 2).ravel()
    y = (row[:, None] * 8 + TILE_QUAD_Y * 2).ravel()
    triangle = np.repeat(triangle, QUADS_PER_TILE)

    in_box = (
        (x + 1 >= triangles.first[0, triangle])
        & (x <= triangles.last[0, triangle])
        & (y + 1 >= triangles.first[1, triangle])
        & (y <= triangles.last[1, triangle])
    )
    x, y, triangle = x[in_box], y[in_box], triangle[in_box]
    touched = _may_cover(triangles, triangle, x, y, 2)
    x, y, triangle = x[touched], y[touched], triangle[touched]

    covered = (x[:, None] + LANE_X < width) & (y[:, None] + LANE_Y < height)
    edges = np.empty((3, *covered.shape), np.int64)
    for edge in range(3):
        a, b = triangles.a[edge, triangle], triangles.b[edge, triangle]
        corner = _edge_at_centre(triangles, edge, triangle, x, y)
        edges[edge] = corner[:, None] + SUBPIXEL * (a[:, None] * LANE_X + b[:, None] * LANE_Y)
        covered &= edges[edge] >= triangles.threshold[edge, triangle][:, None]
    kept = covered.any(axis=1)
    return Coverage(
        triangle=triangle[kept], x=x[kept], y=y[kept], covered=covered[kept], edges=edges[:, kept]
    )


def _edge_at_centre(triangles, edge, triangle, x, y) -> np.ndarray:
    """Edge function at the centre of pixels x, y, int64 [n]."""
    half = SUBPIXEL // 2
    along_x = triangles.a[edge, triangle] * (x * SUBPIXEL + half)
    return (
        along_x + triangles.b[edge, triangle] * (y * SUBPIXEL + half) + triangles.c[edge, triangle]
    )


def _may_cover(triangles, triangle, x, y, size) -> np.ndarray:
    """False [n] where a square of `size` pixels from x, y is wholly outside one edge."""
    inside = np.ones(len(triangle), bool)
    reach = (size - 1) * SUBPIXEL
    for edge in range(3):
        a, b = triangles.a[edge, triangle], triangles.b[edge, triangle]
        best = _edge_at_centre(triangles, edge, triangle, x, y)
        best += reach * (np.maximum(a, 0) + np.maximum(b, 0))
        inside &= best >= triangles.threshold[edge, triangle]
    return inside
