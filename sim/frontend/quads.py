"""From a scene to the quads that the texture unit eats (spec 07)."""

from dataclasses import dataclass, fields

import numpy as np

from minmip.sim.frontend.assembly import TriangleStates, assemble, triangle_states
from minmip.sim.frontend.clip import clip_triangles
from minmip.sim.frontend.depth import TILE, DepthBuffer
from minmip.sim.frontend.depth_bias import depth_bias
from minmip.sim.frontend.errors import SceneError
from minmip.sim.frontend.float_rules import flush
from minmip.sim.frontend.interpolation import (
    depth_at,
    depth_slopes,
    interpolate_uv,
    nearest_in_tiles,
)
from minmip.sim.frontend.raster import LANE_X, LANE_Y, Coverage, at_samples, in_window, rasterise
from minmip.sim.frontend.raster_state import PATTERNS, PLAIN, RasterCounters, RasterState
from minmip.sim.frontend.scene import NO_TEXTURE, Scene
from minmip.sim.frontend.triangle_setup import Triangles, set_up_triangles

__all__ = ["MAX_FRAME_PIXELS", "MAX_FRAME_SIZE", "Quads", "check_frame", "render_quads"]

MAX_FRAME_SIZE = 16384
"""Largest width and height of a frame, as in Direct3D."""

MAX_FRAME_PIXELS = 1 << 26
"""Most pixels of a frame: what fits the memory of an ordinary machine (8192 x 8192). With samples
and slices: most samples."""


@dataclass(frozen=True, kw_only=True)
class Quads:
    """2x2 pixel quads of one frame in hardware order, all with at least one live lane.

    Primitives without a texture give none: they only hide what is behind them.

    Parameters
    ----------
    x, y : ndarray
        int32 [Q], pixel of lane 0, both even.
    uv : ndarray
        float32 [Q, 4, 2], normalised coordinates at the pixel centres (or centroids, see
        `Primitive`), helper lanes too. Beyond the horizon of a triangle, where there is no right
        answer, a helper lane may hold anything.
    live_mask : ndarray
        uint8 [Q], bit i: the shader runs for lane i, since it has a sample that is covered and,
        with early z, passed the depth test. The others are helpers.
    depth : ndarray
        float32 [Q, 4], 0 near to 1 far, at the pixel centres.
    texture : ndarray
        int32 [Q], index in `Scene.textures`.
    triangle : ndarray
        int32 [Q], index of the triangle, counted over the primitives of the frame in order.
    slice : ndarray
        int32 [Q], slice of the target.
    front : ndarray
        bool [Q], the front face is seen.
    samples : ndarray
        uint8 [Q, 4], bit s: sample s of the lane's pixel is covered and passed the depth test,
        early or late: it is seen until something nearer comes.
    """

    x: np.ndarray
    y: np.ndarray
    uv: np.ndarray
    live_mask: np.ndarray
    depth: np.ndarray
    texture: np.ndarray
    triangle: np.ndarray
    slice: np.ndarray
    front: np.ndarray
    samples: np.ndarray

    def __len__(self):
        return len(self.x)


def check_frame(
    width: int, height: int, frame: int = 0, frames: int = 1, state: RasterState = PLAIN
) -> None:
    """Raise SceneError if a frame cannot be drawn in this size and state or has this number."""
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
    if width * height * state.samples * state.slices > MAX_FRAME_PIXELS:
        raise SceneError(
            f"a frame may have at most {MAX_FRAME_PIXELS} samples, not {width} x {height} pixels "
            f"x {state.samples} samples x {state.slices} slices"
        )
    if frames < 1:
        raise SceneError(f"the number of frames must be at least 1, not {frames}")
    if not 0 <= frame < frames:
        raise SceneError(f"the frame's number must be in 0..{frames - 1}, not {frame}")


def render_quads(
    scene: Scene,
    width: int,
    height: int,
    frame: int = 0,
    frames: int = 1,
    state: RasterState = PLAIN,
    counters: RasterCounters | None = None,
) -> Quads:
    """Draw one frame of a scene as quads.

    Parameters
    ----------
    scene : Scene
        What to draw.
    width, height : int
        The frame in pixels, 1..16384 each and at most 2**26 in all, samples and slices included.
    frame, frames : int
        Which frame of how many.
    state : RasterState
        How it is rasterised.
    counters : RasterCounters, optional
        Where the work is counted.

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
    check_frame(width, height, frame, frames, state)
    primitives = [p for p in scene.frame(frame, frames) if len(p.triangles)]
    target = _Target(state, triangle_states(primitives, state.slices), width, height, counters)
    parts = [_no_quads()]
    left, top, right, bottom = target.window
    if left >= right or top >= bottom:
        return parts[0]
    to_clip = scene.camera.matrix(target.viewport.aspect, frame)
    for corners, source, planes in assemble(primitives, target.states, to_clip):
        parts.extend(target.draw(corners, source, planes))
    return Quads(
        **{f.name: np.concatenate([getattr(part, f.name) for part in parts]) for f in fields(Quads)}
    )


class _Target:
    """A frame that is being drawn: its state, depth buffer and counters."""

    def __init__(
        self,
        state: RasterState,
        states: TriangleStates,
        width: int,
        height: int,
        counters: RasterCounters | None,
    ):
        self.state, self.states = state, states
        self.viewport, self.window = state.view(width, height), state.window(width, height)
        self.counters = counters or RasterCounters()
        self.buffer = DepthBuffer(width, height, state.samples, state.slices)

    def draw(self, corners: np.ndarray, source: np.ndarray, planes: int) -> list[Quads]:
        """Quads of triangles in clip space, see `assemble`."""
        pieces, piece_of = clip_triangles(corners, *self.viewport.guard, planes)
        source = source[piece_of]
        margin = int(np.abs(self.state.pattern).max())
        triangles = set_up_triangles(
            pieces, source, self._faces(source), self.viewport, self.window, margin
        )
        bias = depth_bias(
            triangles.depth, *depth_slopes(triangles), self.states.bias[:, triangles.source]
        )

        def shown(triangle: np.ndarray, column: np.ndarray, row: np.ndarray) -> np.ndarray:
            self.counters.tiles += len(triangle)
            if not self.state.hierarchical_z:
                return np.ones(len(triangle), bool)
            nearest = nearest_in_tiles(triangles, triangle, column, row, TILE) + bias[triangle]
            slice_ = self.states.slice[triangles.source[triangle]]
            nearest = np.clip(nearest, self.viewport.near, self.viewport.far)
            hidden = self.buffer.hides(column, row, slice_, nearest)
            self.counters.hidden_tiles += int(hidden.sum())
            return ~hidden

        return [
            self._shade(coverage, triangles, bias)
            for coverage in rasterise(triangles, self.window, self.state.pattern, shown)
        ]

    def _faces(self, source: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Whether triangles are drawn if the front is seen and if the back is, bool [N] each."""
        cull = self.state.cull
        backs = self.states.double_sided[source]
        if cull != "material":
            backs = np.full(len(source), cull != "back")
        return np.full(len(source), cull != "front"), backs

    def _shade(self, coverage: Coverage, triangles: Triangles, bias: np.ndarray) -> Quads:
        """Depth test and texture coordinates of quads; those with no live lane are dropped."""
        triangle = coverage.triangle
        source = triangles.source[triangle]
        edges = at_samples(coverage.edges, triangles, triangle, self.state.pattern)
        depth = depth_at(edges.astype(np.float64), triangles, triangle)
        passed = self._test(coverage, source, self._limited(depth, bias[triangle]))
        shaded = passed if self.state.early_z else coverage.covered
        self.counters.samples += int(coverage.covered.sum())
        self.counters.passed_samples += int(passed.sum())

        kept = np.flatnonzero(shaded.any(axis=(1, 2)) & (self.states.texture[source] != NO_TEXTURE))
        triangle, source = triangle[kept], source[kept]
        centre = place = coverage.edges[:, kept]
        depth = depth_at(centre.astype(np.float64), triangles, triangle)
        if self.state.samples > 1:
            outside = (centre < triangles.threshold[:, triangle, None]).any(axis=0)
            x, y = coverage.x[kept], coverage.y[kept]
            outside |= ~in_window(x, y, self.window, PATTERNS[1])[..., 0]
            moved = outside & self.states.centroid[source][:, None]
            place = _centroids(centre, edges[:, kept], coverage.covered[kept], moved)
        uv = interpolate_uv(
            place.astype(np.float64),
            triangles,
            triangle,
            self.states.constant[source],
            self.states.linear[source],
        )
        return Quads(
            x=coverage.x[kept].astype(np.int32),
            y=coverage.y[kept].astype(np.int32),
            uv=uv,
            live_mask=np.packbits(shaded[kept].any(axis=2), axis=1, bitorder="little")[:, 0],
            depth=self._limited(depth, bias[triangle]),
            texture=self.states.texture[source],
            triangle=source.astype(np.int32),
            slice=self.states.slice[source],
            front=triangles.front[triangle],
            samples=np.packbits(passed[kept], axis=2, bitorder="little")[..., 0],
        )

    def _limited(self, depth: np.ndarray, bias: np.ndarray) -> np.ndarray:
        """Depth as the buffer holds it: float64 [Q, ...] and bias [Q] to float32."""
        depth = depth + bias.reshape(-1, *[1] * (depth.ndim - 1))
        return flush(np.clip(depth, self.viewport.near, self.viewport.far).astype(np.float32))

    def _test(self, coverage: Coverage, source: np.ndarray, depth: np.ndarray) -> np.ndarray:
        """Covered samples that pass the depth test, bool [Q, 4, S]; depth is float32 of it."""
        quad, lane, sample = np.nonzero(coverage.covered)
        x, y = coverage.x[quad] + LANE_X[lane], coverage.y[quad] + LANE_Y[lane]
        slice_ = self.states.slice[source[quad]].astype(np.int64)
        won = self.buffer.test(x, y, depth[quad, lane, sample], sample, slice_)
        passed = np.zeros_like(coverage.covered)
        passed[quad[won], lane[won], sample[won]] = True
        if self.state.hierarchical_z:
            self.buffer.update_tiles(x[won], y[won], slice_[won])
        return passed


def _centroids(
    centre: np.ndarray, edges: np.ndarray, covered: np.ndarray, moved: np.ndarray
) -> np.ndarray:
    """Edge functions where lanes take their coordinates, int64 [3, Q, 4].

    That is the centre [3, Q, 4], but for `moved` lanes [Q, 4] the first covered of the samples
    [3, Q, 4, S], if there is one.
    """
    first = covered.argmax(axis=2)
    at_first = np.take_along_axis(edges, first[None, ..., None], axis=3)[..., 0]
    return np.where(moved & covered.any(axis=2), at_first, centre)


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
        slice=np.zeros(0, np.int32),
        front=np.zeros(0, bool),
        samples=np.zeros((0, 4), np.uint8),
    )
