"""Homogeneous clipping of triangles (spec 07 "clip against the view volume")."""

import numpy as np

__all__ = ["clip_triangles"]


def clip_triangles(
    vertices: np.ndarray, guard_x: float, guard_y: float, user_planes: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Cut triangles to the depth range and to a guard band, and drop those wholly out of view.

    Left, right, top and bottom of the view volume need no cutting: the rasteriser keeps to the
    frame. Only what sticks out so far that its snapped coordinates would grow too wide is cut, at
    `guard` times the half width of the frame.

    Two triangles that share an edge get the very same new vertex on it: distances are sums of the
    vertex alone, and the cut is always taken from the inner vertex to the outer one.

    Parameters
    ----------
    vertices : ndarray
        float64 [N, 3, A], clip space x, y, z, w and then any attributes, all finite.
    guard_x, guard_y : float
        Reach of the guard band in units of w, at least 1.
    user_planes : int
        How many of the last attributes are the user's clip distances: cut where they are negative.

    Returns
    -------
    vertices : ndarray
        float64 [P, 3, A], the pieces in the order of their triangles, orientation kept, w > 0.
    source : ndarray
        int64 [P], the triangle each piece comes from.
    """
    source = np.flatnonzero(~_all_outside(vertices, user_planes))
    vertices = vertices[source]
    crossing = (_distances(vertices, guard_x, guard_y, user_planes) < 0).any(axis=(0, 2))
    if crossing.any():
        pieces, pieces_source = vertices[crossing], source[crossing]
        for plane in range(6 + user_planes):
            distance = _distances(pieces, guard_x, guard_y, user_planes)[plane]
            pieces, pieces_source = _cut(pieces, pieces_source, distance)
        source = np.concatenate([source[~crossing], pieces_source])
        vertices = np.concatenate([vertices[~crossing], pieces])
        order = np.argsort(source, kind="stable")
        source, vertices = source[order], vertices[order]
    ahead = (vertices[..., 3] > 0).all(axis=1)  # a near plane at 0 leaves pieces that end at w = 0
    return vertices[ahead], source[ahead]


def _distances(
    vertices: np.ndarray, guard_x: float, guard_y: float, user_planes: int
) -> np.ndarray:
    """Signed distance to each plane, float64 [6 + user_planes, N, 3]; negative is outside."""
    x, y, z, w = (vertices[..., axis] for axis in range(4))
    reach_x, reach_y = guard_x * w, guard_y * w
    own = (vertices[..., column] for column in range(-user_planes, 0))
    return np.stack([z, w - z, reach_x + x, reach_x - x, reach_y + y, reach_y - y, *own])


def _all_outside(vertices: np.ndarray, user_planes: int) -> np.ndarray:
    """True [N] where all three vertices are beyond one plane of the view volume or the user's."""
    return np.any(np.all(_distances(vertices, 1.0, 1.0, user_planes) < 0, axis=2), axis=0)


def _cut(
    vertices: np.ndarray, source: np.ndarray, distance: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Cut triangles at one plane: each becomes none, one or two, in the order of the input."""
    inside = distance >= 0
    count = inside.sum(axis=1)
    whole, one, two = (np.flatnonzero(count == n) for n in (3, 1, 2))

    # One vertex inside: turn it to the front; a smaller triangle is left.
    tip, (far_1, far_2) = _turned(vertices, distance, one, inside[one].argmax(axis=1))
    small = np.stack([tip[0], _crossing(tip, far_1), _crossing(tip, far_2)], axis=1)

    # One vertex outside: turn it to the front; the four-sided rest is split in two.
    cut_off, (near_1, near_2) = _turned(vertices, distance, two, (~inside[two]).argmax(axis=1))
    enter, leave = _crossing(near_1, cut_off), _crossing(near_2, cut_off)
    first = np.stack([enter, near_1[0], near_2[0]], axis=1)
    second = np.stack([enter, near_2[0], leave], axis=1)

    origin = np.concatenate([whole, one, two, two])
    order = np.argsort(origin, kind="stable")
    pieces = np.concatenate([vertices[whole], small, first, second])[order]
    return pieces, source[origin[order]]


def _turned(vertices, distance, rows, front):
    """Vertex `front` of each row and the two that follow it, each as (vertex, distance)."""
    corners = []
    for step in range(3):
        column = (front + step) % 3
        corners.append((vertices[rows, column], distance[rows, column]))
    return corners[0], corners[1:]


def _crossing(inner, outer) -> np.ndarray:
    """Where the edges from inner to outer vertices meet the plane, float64 [n, A]."""
    (vertex_in, distance_in), (vertex_out, distance_out) = inner, outer
    part = (distance_in / (distance_in - distance_out))[:, None]
    return vertex_in + part * (vertex_out - vertex_in)
