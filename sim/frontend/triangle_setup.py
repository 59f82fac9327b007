"""Triangle set-up: divide, viewport, snapping, culling and edge functions (spec 07 "RS")."""

from dataclasses import dataclass

import numpy as np

from minmip.sim.frontend.raster_state import Window
from minmip.sim.frontend.viewport import SUBPIXEL, Viewport

__all__ = ["Triangles", "set_up_triangles"]


@dataclass(frozen=True, kw_only=True)
class Triangles:
    """Triangles ready to rasterise, arrays over P triangles in submission order.

    Vertex order is such that inside is where all edge functions are positive. Edge i is opposite
    vertex i: `E_i = a_i * x + b_i * y + c_i`, x and y in 1/256 pixel, exact in int64. A pixel
    centre is covered if `E_i >= threshold_i` for each edge: 0 on top and left edges, else 1. The
    three E add up to `area`, so that `E_i / area` are the barycentric coordinates in the frame.

    Parameters
    ----------
    a, b, c, threshold : ndarray
        int64 [3, P].
    area : ndarray
        int64 [P], twice the area, positive.
    first, last : ndarray
        int64 [2, P], box of the pixels whose samples may be covered: x, then y.
    depth : ndarray
        float64 [3, P], depth of the vertices: z / w brought into the viewport's range.
    inverse_w : ndarray
        float64 [3, P], 1 / w.
    uv : ndarray
        float64 [3, 2, P].
    front : ndarray
        bool [P], the front face is seen.
    source : ndarray
        int64 [P], index of the triangle that this one is (a piece of).
    """

    a: np.ndarray
    b: np.ndarray
    c: np.ndarray
    threshold: np.ndarray
    area: np.ndarray
    first: np.ndarray
    last: np.ndarray
    depth: np.ndarray
    inverse_w: np.ndarray
    uv: np.ndarray
    front: np.ndarray
    source: np.ndarray


def set_up_triangles(
    vertices: np.ndarray,
    source: np.ndarray,
    faces: tuple[np.ndarray, np.ndarray],
    viewport: Viewport,
    window: Window,
    margin: int = 0,
) -> Triangles:
    """Bring clipped triangles into the frame; drop those that face away or cover no sample.

    Parameters
    ----------
    vertices : ndarray
        float64 [N, 3, A]: clip space x, y, z, w (w > 0, inside the guard band), u, v, and what
        else there may be.
    source : ndarray
        int64 [N], carried along.
    faces : (ndarray, ndarray)
        bool [N] each: whether the triangle is drawn when its front is seen, and when its back is.
        A front face is counter-clockwise.
    viewport : Viewport
        Where the view goes. Pixel centres are at half pixels, y goes down.
    window : Window
        Where samples are drawn.
    margin : int
        How far samples lie from the pixel's centre along x or y at most, in 1/256 pixel.
    """
    x, y, z, w = np.moveaxis(vertices[..., :4], (0, 1), (2, 1))
    inverse_w = 1 / w
    across, down = viewport.width * SUBPIXEL, viewport.height * SUBPIXEL
    x = (x * inverse_w * 0.5 + 0.5) * across + viewport.left * SUBPIXEL
    y = (0.5 - y * inverse_w * 0.5) * down + viewport.top * SUBPIXEL
    x, y = np.rint(x).astype(np.int64), np.rint(y).astype(np.int64)

    # y points down, so counter-clockwise triangles have a negative area here.
    area = (x[1] - x[0]) * (y[2] - y[0]) - (y[1] - y[0]) * (x[2] - x[0])
    low_x, low_y = x.min(axis=0) - margin, y.min(axis=0) - margin
    high_x, high_y = x.max(axis=0) + margin, y.max(axis=0) + margin
    left, top, right, bottom = window
    # A pixel at the edge of the window may have samples on either side of it.
    first = np.stack([_centre_from(low_x, left // SUBPIXEL), _centre_from(low_y, top // SUBPIXEL)])
    last_x, last_y = (right - 1) // SUBPIXEL, (bottom - 1) // SUBPIXEL
    last = np.stack([_centre_to(high_x, last_x), _centre_to(high_y, last_y)])
    fronts, backs = faces
    seen = (fronts & (area < 0)) | (backs & (area > 0))
    kept = np.flatnonzero(seen & (first <= last).all(axis=0))
    corner = np.where(area[kept] < 0, np.array([[0], [2], [1]]), np.array([[0], [1], [2]]))

    x, y = x[corner, kept], y[corner, kept]
    start, end = (1, 2, 0), (2, 0, 1)  # edge i runs from vertex i + 1 to vertex i + 2
    dx, dy = x[end, :] - x[start, :], y[end, :] - y[start, :]
    top_left = (dy < 0) | ((dy == 0) & (dx > 0))
    return Triangles(
        a=-dy,
        b=dx,
        c=dy * x[start, :] - dx * y[start, :],
        threshold=np.where(top_left, 0, 1),
        area=np.abs(area[kept]),
        first=first[:, kept],
        last=last[:, kept],
        depth=viewport.near
        + z[corner, kept] * inverse_w[corner, kept] * (viewport.far - viewport.near),
        inverse_w=inverse_w[corner, kept],
        uv=np.moveaxis(vertices[kept[None], corner, 4:6], 2, 1),
        front=area[kept] < 0,
        source=source[kept],
    )


def _centre_from(low: np.ndarray, first: int) -> np.ndarray:
    """First pixel from `first` on whose centre is not before `low` (1/256 pixel)."""
    return np.maximum((low + (SUBPIXEL // 2 - 1)) // SUBPIXEL, first)


def _centre_to(high: np.ndarray, last: int) -> np.ndarray:
    """Last pixel up to `last` whose centre is not beyond `high` (1/256 pixel)."""
    return np.minimum((high - SUBPIXEL // 2) // SUBPIXEL, last)
