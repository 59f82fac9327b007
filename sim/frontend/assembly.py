"""Input assembly: the triangles of a frame and what each takes from its primitive (spec 07)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from minmip.sim.frontend.errors import SceneError
from minmip.sim.frontend.scene import Primitive

__all__ = ["TriangleStates", "assemble", "triangle_states"]

TRIANGLES_AT_ONCE = 1 << 16
"""Triangles that are clipped and set up together: bounds the memory on big meshes."""


@dataclass(frozen=True, kw_only=True)
class TriangleStates:
    """What the triangles of a frame take from their primitives, arrays over N triangles.

    Parameters
    ----------
    texture, slice : ndarray
        int32 [N].
    double_sided, constant, linear, centroid : ndarray
        bool [N]; `constant` and `linear` are ways of interpolation, neither is perspective.
    bias : ndarray
        float64 [3, N], the numbers of `DepthBias`.
    """

    texture: np.ndarray
    slice: np.ndarray
    double_sided: np.ndarray
    constant: np.ndarray
    linear: np.ndarray
    centroid: np.ndarray
    bias: np.ndarray


def triangle_states(primitives: Sequence[Primitive], slices: int) -> TriangleStates:
    """Collect the states of all triangles; SceneError if one chooses a slice that is not there."""
    sizes = [len(primitive.triangles) for primitive in primitives]

    def by_triangle(values, dtype):
        return np.repeat(np.array(values, dtype), sizes, axis=0)

    chosen = [np.broadcast_to(p.slice, len(p.triangles)) for p in primitives]
    chosen = np.concatenate([np.zeros(0, np.int64), *chosen])
    if chosen.size and not (0 <= chosen.min() and chosen.max() < slices):
        raise SceneError(
            f"slices of primitives must be in 0..{slices - 1}, not {chosen.min()}..{chosen.max()}"
        )
    bias = [
        (p.depth_bias.constant, p.depth_bias.slope_scaled, p.depth_bias.clamp) for p in primitives
    ]
    return TriangleStates(
        texture=by_triangle([p.texture for p in primitives], np.int32),
        slice=chosen.astype(np.int32),
        double_sided=by_triangle([p.double_sided for p in primitives], bool),
        constant=by_triangle([p.interpolation == "constant" for p in primitives], bool),
        linear=by_triangle([p.interpolation == "linear" for p in primitives], bool),
        centroid=by_triangle([p.centroid for p in primitives], bool),
        bias=by_triangle(np.reshape(bias, (-1, 3)), np.float64).T,
    )


def assemble(
    primitives: Sequence[Primitive], states: TriangleStates, to_clip: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray, int]]:
    """Corners of the triangles in clip space, some at a time, in order.

    Parameters
    ----------
    primitives : sequence of Primitive
        All with a triangle at least.
    states : TriangleStates
        Of the same primitives.
    to_clip : ndarray
        World space to clip space, float64 [4, 4].

    Yields
    ------
    corners : ndarray
        float64 [n, 3, 6 + C]: x, y, z, w, u, v and C clip distances, as many as the primitive with
        the most has. Where the interpolation is linear u and v are times w: that is what goes
        straight across the triangle when they go straight across the frame.
    source : ndarray
        int64 [n], index of the triangle in the frame. Those that are culled by distance are left
        out.
    planes : int
        C.
    """
    if not primitives:
        return
    # Sums element by element: a matrix product of a library may round the same vertex in two ways,
    # depending on its place in the array, and open a crack between triangles.
    x, y, z = np.concatenate([p.positions for p in primitives]).astype(np.float64).T
    clip = [row[0] * x + row[1] * y + row[2] * z + row[3] for row in to_clip]
    distances, planes = _clip_distances(primitives)
    uv = np.concatenate([p.uv for p in primitives])
    vertices = np.column_stack([*clip, uv, distances])
    offsets = np.cumsum([0, *(len(p.positions) for p in primitives)])
    triangles = np.concatenate(
        [p.triangles + offset for p, offset in zip(primitives, offsets[:-1], strict=True)]
    )
    culled = np.concatenate([_culled(p) for p in primitives])
    for start in range(0, len(triangles), TRIANGLES_AT_ONCE):
        source = np.arange(start, min(start + TRIANGLES_AT_ONCE, len(triangles)))
        source = source[~culled[source]]
        corners = vertices[triangles[source]]
        linear, constant = states.linear[source], states.constant[source]
        corners[linear, :, 4:6] *= corners[linear, :, 3:4]
        corners[constant, :, 4:6] = corners[constant, :1, 4:6]
        yield corners, source, planes


def _clip_distances(primitives: Sequence[Primitive]) -> tuple[np.ndarray, int]:
    """Clip distances of all vertices, float64 [V, C], and C; 1 (inside) where there is none."""
    own = [p.clip_distances for p in primitives]
    planes = max(0 if distances is None else distances.shape[1] for distances in own)
    rows = []
    for primitive, distances in zip(primitives, own, strict=True):
        row = np.ones((len(primitive.positions), planes))
        if distances is not None:
            row[:, : distances.shape[1]] = distances
        rows.append(row)
    return np.concatenate(rows), planes


def _culled(primitive: Primitive) -> np.ndarray:
    """True [N] where one of the cull distances is negative at all three vertices."""
    if primitive.cull_distances is None:
        return np.zeros(len(primitive.triangles), bool)
    negative = primitive.cull_distances[primitive.triangles] < 0
    return np.any(np.all(negative, axis=1), axis=1)
