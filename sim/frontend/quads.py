"""From a scene to the quads that the texture unit eats (spec 07)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

import numpy as np

from minmip.sim.frontend.clip import clip_triangles
from minmip.sim.frontend.depth import DepthBuffer
from minmip.sim.frontend.errors import SceneError
from minmip.sim.frontend.raster import LANE_X, LANE_Y, Coverage, rasterise
from minmip.sim.frontend.scene import NO_TEXTURE, Primitive, Scene
from minmip.sim.frontend.triangle_setup import GUARD, Triangles, set_up_triangles

__all__ = ["MAX_FRAME_PIXELS", "MAX_FRAME_SIZE", "Quads", "check_frame", "render_quads"]

MAX_FRAME_SIZE = 16384
"""Largest width and height of a frame, as in Direct3D."""

MAX_FRAME_PIXELS = 1 << 26
"""Most pixels of a frame: what fits the memory of an ordinary machine (8192 x 8192)."""

TRIANGLES_AT_ONCE = 1 << 16
"""Triangles that are clipped and set up together: bounds the memory on big meshes."""


@dataclass(frozen=True, kw_only=True)
class Quads:
    """2x2 pixel quads of one frame in hardware order, all with at least one live lane.

    Primitives without a texture give none: they only hide what is behind them.

    Parameters
    ----------
    x, y : ndarray
        int32 [Q], pixel of lane 0, both even.
    uv : ndarray
        float32 [Q, 4, 2], normalised coordinates at the pixel centres, helper lanes too. Beyond
        the horizon of a triangle, where there is no right answer, a helper lane may hold anything.
    live_mask : ndarray
        uint8 [Q], bit i: lane i is covered and passed the depth test. The others are helpers.
    depth : ndarray
        float32 [Q, 4], 0 near to 1 far.
    texture : ndarray
        int32 [Q], index in `Scene.textures`.
    triangle : ndarray
        int32 [Q], index of the triangle, counted over the primitives of the frame in order.
    """

    x: np.ndarray
    y: np.ndarray
    uv: np.ndarray
    live_mask: np.ndarray
    depth: np.ndarray
    texture: np.ndarray
    triangle: np.ndarray

    def __len__(self):
        return len(self.x)


def check_frame(width: int, height: int, frame: int = 0, frames: int = 1) -> None:
    """Raise SceneError if a frame cannot be drawn in this size or has this number."""
    for what, size in (("width", width), ("height", height)):
        if not 1 <= size <= MAX_FRAME_SIZE:
            raise SceneError(
                f"the frame's {what} must be in 1..{MAX_FRAME_SIZE} pixels, not {size}"
            )
    if width * height > MAX_FRAME_PIXELS:
        raise SceneError(
            f"a frame may have at most {MAX_FRAME_PIXELS} pixels, "
            f"not {width} x {height} = {width * height}"
        )
    if frames < 1:
        raise SceneError(f"the number of frames must be at least 1, not {frames}")
    if not 0 <= frame < frames:
        raise SceneError(f"the frame's number must be in 0..{frames - 1}, not {frame}")


def render_quads(scene: Scene, width: int, height: int, frame: int = 0, frames: int = 1) -> Quads:
    """Draw one frame of a scene as quads.

    Parameters
    ----------
    scene : Scene
        What to draw.
    width, height : int
        The frame in pixels, 1..16384 each and at most 2**26 in all.
    frame, frames : int
        Which frame of how many.

    Returns
    -------
    Quads
        In the order of a hardware rasteriser: by triangle in submission order, 8x8 pixel tiles row
        by row, Z order inside a tile.

    Raises
    ------
    SceneError
        If the frame or the scene is not legal; the text says what was wanted and what came.
    """
    check_frame(width, height, frame, frames)
    primitives = [p for p in scene.frame(frame, frames) if len(p.triangles)]
    sizes = [len(primitive.triangles) for primitive in primitives]
    texture = np.repeat(np.array([p.texture for p in primitives], np.int32), sizes)
    double_sided = np.repeat(np.array([p.double_sided for p in primitives], bool), sizes)
    guard_x, guard_y = 2 * GUARD / width - 1, 2 * GUARD / height - 1
    buffer = DepthBuffer(width, height)
    parts = [_no_quads()]
    for vertices, start in _assemble(primitives, scene.camera.matrix(width / height, frame)):
        pieces, source = clip_triangles(vertices, guard_x, guard_y)
        source += start
        triangles = set_up_triangles(pieces, source, double_sided[source], width, height)
        parts.extend(
            _shade(coverage, triangles, buffer, texture)
            for coverage in rasterise(triangles, width, height)
        )
    return Quads(
        **{f.name: np.concatenate([getattr(part, f.name) for part in parts]) for f in fields(Quads)}
    )


def _assemble(
    primitives: Sequence[Primitive], to_clip: np.ndarray
) -> Iterator[tuple[np.ndarray, int]]:
    """Corners of the triangles, float64 [n, 3, 6], some at a time, and the first triangle's index.

    The six are clip space x, y, z, w, then u, v.
    """
    if not primitives:
        return
    # Sums element by element: a matrix product of a library may round the same vertex in two ways,
    # depending on its place in the array, and open a crack between triangles.
    x, y, z = np.concatenate([p.positions for p in primitives]).astype(np.float64).T
    clip = [row[0] * x + row[1] * y + row[2] * z + row[3] for row in to_clip]
    vertices = np.column_stack([*clip, np.concatenate([p.uv for p in primitives])])
    offsets = np.cumsum([0, *(len(p.positions) for p in primitives)])
    triangles = np.concatenate(
        [p.triangles + offset for p, offset in zip(primitives, offsets[:-1], strict=True)]
    )
    for start in range(0, len(triangles), TRIANGLES_AT_ONCE):
        yield vertices[triangles[start : start + TRIANGLES_AT_ONCE]], start


def _shade(
    coverage: Coverage, triangles: Triangles, buffer: DepthBuffer, texture: np.ndarray
) -> Quads:
    """Depth test and texture coordinates of covered quads; quads with no live lane are dropped."""
    triangle = coverage.triangle
    # Barycentric coordinates from exact edge functions: inside a triangle all are positive and
    # nothing cancels, so the texture coordinates are good to a few units of float64.
    edges = coverage.edges.astype(np.float64)
    depth = _weighted(edges, triangles.depth[:, triangle]) / triangles.area[triangle][:, None]
    depth = np.clip(depth, 0, 1).astype(np.float32)

    quad, lane = np.nonzero(coverage.covered)
    passed = buffer.test(
        coverage.x[quad] + LANE_X[lane], coverage.y[quad] + LANE_Y[lane], depth[quad, lane]
    )
    live = np.zeros_like(coverage.covered)
    live[quad[passed], lane[passed]] = True
    sampled = texture[triangles.source[triangle]] != NO_TEXTURE
    kept = np.flatnonzero(live.any(axis=1) & sampled)
    triangle = triangle[kept]

    edges = edges[:, kept] * triangles.inverse_w[:, triangle, None]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        scale = edges[0] + edges[1] + edges[2]
        uv = [_weighted(edges, triangles.uv[:, axis, triangle]) / scale for axis in range(2)]
        uv = np.stack(uv, axis=-1).astype(np.float32)
    source = triangles.source[triangle]
    return Quads(
        x=coverage.x[kept].astype(np.int32),
        y=coverage.y[kept].astype(np.int32),
        uv=uv,
        live_mask=np.packbits(live[kept], axis=1, bitorder="little")[:, 0],
        depth=depth[kept],
        texture=texture[source],
        triangle=source.astype(np.int32),
    )


def _weighted(weights: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Sum over the three vertices: weights [3, Q, 4] times values [3, Q]."""
    return (
        weights[0] * values[0][:, None]
        + weights[1] * values[1][:, None]
        + weights[2] * values[2][:, None]
    )


def _no_quads() -> Quads:
    """A frame with nothing in it."""
    return Quads(
        x=np.zeros(0, np.int32),
        y=np.zeros(0, np.int32),
        uv=np.zeros((0, 4, 2), np.float32),
        live_mask=np.zeros(0, np.uint8),
        depth=np.zeros((0, 4), np.float32),
        texture=np.zeros(0, np.int32),
        triangle=np.zeros(0, np.int32),
    )
