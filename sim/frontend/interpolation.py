"""Depth and attributes of pixels from those of the vertices (spec 07 "Attributes")."""

import numpy as np

from minmip.sim.frontend.float_rules import flush
from minmip.sim.frontend.triangle_setup import Triangles
from minmip.sim.frontend.viewport import SUBPIXEL

__all__ = ["depth_at", "depth_slopes", "interpolate_uv", "nearest_in_tiles"]

SLACK = 2.0**-45
"""Far above the rounding errors of a sum of three float64 products, relative to its terms."""


def depth_at(edges: np.ndarray, triangles: Triangles, triangle: np.ndarray) -> np.ndarray:
    """Depth at places of triangles, not yet biased or limited, float64 [Q, ...].

    Parameters
    ----------
    edges : ndarray
        float64 [3, Q, ...], exact edge functions there.
    triangles, triangle
        int64 [Q], whose they are.
    """
    shape = (-1, *[1] * (edges.ndim - 2))
    total = _weighted(edges, triangles.depth[:, triangle])
    return total / triangles.area[triangle].reshape(shape)


def depth_slopes(triangles: Triangles) -> tuple[np.ndarray, np.ndarray]:
    """Change of depth from a pixel to the next, along x and along y, float64 [P] each."""
    per_pixel = SUBPIXEL / triangles.area
    return (
        (triangles.a * triangles.depth).sum(axis=0) * per_pixel,
        (triangles.b * triangles.depth).sum(axis=0) * per_pixel,
    )


def nearest_in_tiles(
    triangles: Triangles, triangle: np.ndarray, column: np.ndarray, row: np.ndarray, size: int
) -> np.ndarray:
    """Bound of the depth from below, over what a triangle covers of a tile, float64 [n].

    Parameters
    ----------
    triangles, triangle, column, row
        int64 [n], pairs of triangle and tile.
    size : int
        Edge of a tile in pixels.
    """
    half = size * SUBPIXEL // 2
    x, y = (2 * column + 1) * half, (2 * row + 1) * half  # the middle of the tile
    a, b = triangles.a[:, triangle], triangles.b[:, triangle]
    z, area = triangles.depth[:, triangle], triangles.area[triangle]
    middle = (a * x + b * y + triangles.c[:, triangle]) * z
    reach = half * (np.abs((a * z).sum(axis=0)) + np.abs((b * z).sum(axis=0)))
    terms = np.abs(middle) + half * (np.abs(a * z) + np.abs(b * z))
    plane = (middle.sum(axis=0) - reach - SLACK * terms.sum(axis=0)) / area
    return np.maximum(plane, z.min(axis=0) - SLACK * np.abs(z).max(axis=0))


def interpolate_uv(
    edges: np.ndarray,
    triangles: Triangles,
    triangle: np.ndarray,
    constant: np.ndarray,
    linear: np.ndarray,
) -> np.ndarray:
    """Texture coordinates at one place of each lane, float32 [Q, 4, 2], denormals flushed.

    Parameters
    ----------
    edges : ndarray
        float64 [3, Q, 4], exact edge functions there.
    triangles, triangle
        int64 [Q], whose they are.
    constant, linear : ndarray
        bool [Q]: how they go across the triangle; neither is with perspective. For linear ones
        `Triangles.uv` must be times w.
    """
    uv = triangles.uv[:, :, triangle]
    # Inside a triangle all edge functions are positive and nothing cancels, so the coordinates are
    # good to a few units of float64.
    over_w = edges * triangles.inverse_w[:, triangle, None]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        scale = over_w[0] + over_w[1] + over_w[2]
        scale[linear] = triangles.area[triangle[linear], None]
        found = np.stack([_weighted(over_w, uv[:, axis]) / scale for axis in range(2)], axis=-1)
        found[constant] = uv[0].T[constant, None]
        return flush(found.astype(np.float32))


def _weighted(weights: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Sum over the three vertices: weights [3, Q, ...] times values [3, Q]."""
    values = values.reshape(*values.shape, *[1] * (weights.ndim - 2))
    return weights[0] * values[0] + weights[1] * values[1] + weights[2] * values[2]
