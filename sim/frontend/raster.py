"""Scan conversion: from triangles to 2x2 quads in hardware order (spec 07 "fragment generation").

The order is what a hardware rasteriser would emit: triangle by triangle, inside a triangle 8x8
pixel tiles row by row, inside a tile quads in Z order. Lanes of a quad: 0 top left, 1 top right,
2 bottom left, 3 bottom right.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from minmip.sim.frontend.raster_state import PATTERNS, Window
from minmip.sim.frontend.triangle_setup import Triangles
from minmip.sim.frontend.viewport import SUBPIXEL

__all__ = ["LANE_X", "LANE_Y", "Coverage", "at_samples", "in_window", "rasterise"]

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
    """Quads with at least one covered sample, in order.

    Parameters
    ----------
    triangle : ndarray
        int64 [Q], index in the `Triangles` they come from.
    x, y : ndarray
        int64 [Q], pixel of lane 0, both even.
    covered : ndarray
        bool [Q, 4, S]: the sample is in the triangle and in the window.
    edges : ndarray
        int64 [3, Q, 4]: edge functions at the centre of each lane's pixel.
    """

    triangle: np.ndarray
    x: np.ndarray
    y: np.ndarray
    covered: np.ndarray
    edges: np.ndarray


def rasterise(
    triangles: Triangles,
    window: Window,
    pattern: np.ndarray = PATTERNS[1],
    shown: Callable[..., np.ndarray] | None = None,
) -> Iterator[Coverage]:
    """Find what each triangle covers, a bounded number of quads at a time.

    Parameters
    ----------
    triangles : Triangles
        From `set_up_triangles`, for the same window.
    window : Window
        Samples beyond it are never covered.
    pattern : ndarray
        int64 [S, 2], the samples of a pixel, see `PATTERNS`.
    shown : callable, optional
        Given triangle, column and row, int64 [n], of tiles that may be covered: bool [n], False
        where the triangle need not be looked at.
    """
    margin = int(np.abs(pattern).max())
    first_tile = triangles.first >> 3
    tiles = (triangles.last >> 3) - first_tile + 1
    ends = np.cumsum(tiles[0] * tiles[1])
    total = int(ends[-1]) if ends.size else 0
    step = max(1, TILES_AT_ONCE // len(pattern))
    for start in range(0, total, step):
        index = np.arange(start, min(start + step, total))
        triangle = np.searchsorted(ends, index, side="right")
        columns = tiles[0, triangle]
        row, column = np.divmod(index - (ends - tiles[0] * tiles[1])[triangle], columns)
        column += first_tile[0, triangle]
        row += first_tile[1, triangle]
        touched = _may_cover(triangles, triangle, column * 8, row * 8, 8, margin)
        triangle, column, row = triangle[touched], column[touched], row[touched]
        if shown is not None:
            seen = shown(triangle, column, row)
            triangle, column, row = triangle[seen], column[seen], row[seen]
        yield _cover_tiles(triangles, triangle, column, row, window, pattern)


def at_samples(
    edges: np.ndarray, triangles: Triangles, triangle: np.ndarray, pattern: np.ndarray
) -> np.ndarray:
    """Edge functions at the samples, int64 [3, Q, 4, S], from those at the pixels' centres."""
    if not pattern.any():  # one sample, at the centre
        return edges[..., None]
    across = triangles.a[:, triangle, None] * pattern[:, 0]
    down = triangles.b[:, triangle, None] * pattern[:, 1]
    return edges[..., None] + (across + down)[:, :, None]


def _cover_tiles(triangles, triangle, column, row, window, pattern) -> Coverage:
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
    touched = _may_cover(triangles, triangle, x, y, 2, int(np.abs(pattern).max()))
    x, y, triangle = x[touched], y[touched], triangle[touched]

    edges = np.empty((3, len(x), 4), np.int64)
    for edge in range(3):
        a, b = triangles.a[edge, triangle], triangles.b[edge, triangle]
        corner = _edge_at_centre(triangles, edge, triangle, x, y)
        edges[edge] = corner[:, None] + SUBPIXEL * (a[:, None] * LANE_X + b[:, None] * LANE_Y)
    inside = at_samples(edges, triangles, triangle, pattern)
    inside = (inside >= triangles.threshold[:, triangle, None, None]).all(axis=0)
    covered = inside & in_window(x, y, window, pattern)
    kept = covered.any(axis=(1, 2))
    return Coverage(
        triangle=triangle[kept], x=x[kept], y=y[kept], covered=covered[kept], edges=edges[:, kept]
    )


def in_window(x: np.ndarray, y: np.ndarray, window: Window, pattern: np.ndarray) -> np.ndarray:
    """Samples of quads at pixels x, y [Q] that lie in the window, bool [Q, 4, S]."""
    left, top, right, bottom = window
    across = _between(x, pattern[:, 0], left, right)[:, LANE_X]
    return across & _between(y, pattern[:, 1], top, bottom)[:, LANE_Y]


def _between(pixel: np.ndarray, places: np.ndarray, low: int, high: int) -> np.ndarray:
    """Samples of pixels [n] and their neighbours that lie in low..high - 1, bool [n, 2, S]."""
    centre = (pixel[:, None] + (0, 1)) * SUBPIXEL + SUBPIXEL // 2
    sample = centre[..., None] + places
    return (sample >= low) & (sample < high)


def _edge_at_centre(triangles, edge, triangle, x, y) -> np.ndarray:
    """Edge function at the centre of pixels x, y, int64 [n]."""
    half = SUBPIXEL // 2
    along_x = triangles.a[edge, triangle] * (x * SUBPIXEL + half)
    return (
        along_x + triangles.b[edge, triangle] * (y * SUBPIXEL + half) + triangles.c[edge, triangle]
    )


def _may_cover(triangles, triangle, x, y, size, margin) -> np.ndarray:
    """False [n] where a square of `size` pixels from x, y is wholly outside one edge."""
    inside = np.ones(len(triangle), bool)
    reach = (size - 1) * SUBPIXEL
    for edge in range(3):
        a, b = triangles.a[edge, triangle], triangles.b[edge, triangle]
        best = _edge_at_centre(triangles, edge, triangle, x, y)
        best += reach * (np.maximum(a, 0) + np.maximum(b, 0)) + margin * (np.abs(a) + np.abs(b))
        inside &= best >= triangles.threshold[edge, triangle]
    return inside
