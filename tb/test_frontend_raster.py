"""Clipping, set-up, coverage, depth and order of the front end (spec 07)."""

import numpy as np
import pytest
from slow_rasteriser import morton, slow_quads

from minmip.sim.frontend import (
    Primitive,
    Scene,
    SceneError,
    Texture,
    assembly,
    raster,
    render_quads,
)
from minmip.sim.frontend.clip import clip_triangles
from minmip.sim.frontend.depth import DepthBuffer
from minmip.sim.frontend.raster_state import PLAIN
from minmip.sim.frontend.scene import NO_TEXTURE
from minmip.sim.frontend.triangle_setup import set_up_triangles


class FixedCamera:
    """World space to clip space by a given matrix."""

    def __init__(self, matrix):
        self.fixed = np.asarray(matrix, np.float64)

    def matrix(self, aspect, frame):
        return self.fixed


FLAT = np.eye(4)  # x and y are NDC, z is depth
PERSPECTIVE = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, -0.125], [0, 0, 1, 0]])  # looks at +z


def primitive(positions, triangles=None, uv=None, **options):
    positions = np.asarray(positions, np.float32).reshape(-1, 3)
    if triangles is None:
        triangles = np.arange(len(positions)).reshape(-1, 3)
    if uv is None:
        uv = positions[:, :2]
    return Primitive(
        positions=positions,
        uv=np.asarray(uv, np.float32),
        triangles=np.asarray(triangles, np.int32),
        texture=options.pop("texture", 0),
        **options,
    )


def scene(*primitives, camera=FLAT):
    textures = [Texture(name="a", width=64, height=64), Texture(name="b", width=32, height=8)]
    return Scene(name="test", textures=textures, primitives=primitives, camera=FixedCamera(camera))


def live_count(result, width, height):
    """How many live lanes each pixel of the frame has; none may lie outside."""
    count = np.zeros((height + 1, width + 1), int)
    for lane in range(4):
        live = result.live_mask >> lane & 1 == 1
        np.add.at(count, (result.y[live] + lane // 2, result.x[live] + lane % 2), 1)
    assert not count[height].any()
    assert not count[:, width].any()
    return count[:height, :width]


def fragment_count(vertices, width, height):
    """How often each pixel is covered, before any depth test: float64 [N, 3, 4] clip space."""
    full = np.concatenate([vertices, np.zeros((*vertices.shape[:2], 2))], axis=2)
    viewport, window = PLAIN.view(width, height), PLAIN.window(width, height)
    pieces, source = clip_triangles(full, *viewport.guard)
    both = np.ones(len(pieces), bool)
    ready = set_up_triangles(pieces, source, (both, both), viewport, window)
    count = np.zeros((height, width), int)
    for part in raster.rasterise(ready, window):
        quad, lane, _ = np.nonzero(part.covered)
        np.add.at(count, (part.y[quad] + lane // 2, part.x[quad] + lane % 2), 1)
    return count


def assert_same_as_slow(primitives, camera, width, height):
    fast = render_quads(scene(*primitives, camera=camera), width, height)
    slow = slow_quads(primitives, camera, width, height)
    assert len(fast) == len(slow)
    for name, dtype in (("x", np.int32), ("y", np.int32), ("triangle", np.int32)):
        array = getattr(fast, name)
        assert array.dtype == dtype
        np.testing.assert_array_equal(array, [getattr(quad, name) for quad in slow])
    np.testing.assert_array_equal(fast.live_mask, [quad.live for quad in slow])
    np.testing.assert_array_equal(fast.texture, [quad.texture for quad in slow])
    np.testing.assert_allclose(fast.depth, [quad.depth for quad in slow], rtol=1e-6, atol=1e-9)
    for index, quad in enumerate(slow):
        for lane in range(4):
            # Helper lanes may cancel; where the answer is of ordinary size they must be right too.
            exact = [float(value) for value in quad.uv[lane] if value is not None]
            if quad.live >> lane & 1:
                np.testing.assert_array_max_ulp(
                    fast.uv[index, lane], np.array(exact, np.float32), 1
                )
            elif len(exact) == 2 and max(map(abs, exact)) < 1e3:
                np.testing.assert_allclose(fast.uv[index, lane], exact, rtol=1e-5, atol=1e-5)
    return len(slow)


@pytest.mark.parametrize("seed", range(6))
def test_random_triangles_as_the_slow_reading(seed):
    rng = np.random.default_rng(seed)
    print("seed", seed)
    width, height = int(rng.integers(1, 28)), int(rng.integers(1, 28))
    parts = []
    for texture in (0, 1, NO_TEXTURE):
        depth = rng.uniform(0.3, 4, (8, 3, 1))
        # In reach of the frame and a little beyond, in NDC times depth.
        across = rng.uniform(-1.5, 1.5, (8, 3, 2)) * depth
        parts.append(
            primitive(
                np.concatenate([across, depth], axis=2),
                uv=rng.uniform(-3, 3, (24, 2)),
                texture=texture,
                double_sided=bool(texture),
            )
        )
    assert_same_as_slow(parts, PERSPECTIVE, width, height)


def test_shared_corners_on_pixel_centres_as_the_slow_reading():
    """Vertices on multiples of half a pixel: every edge meets pixel centres, all ties occur."""
    rng = np.random.default_rng(7)
    points = rng.integers(-4, 36, (40, 3, 2)) / 16 - 1  # a 16x16 frame, half pixel steps
    depth = rng.uniform(0.1, 0.9, (40, 3, 1))
    part = primitive(np.concatenate([points, depth], axis=2), double_sided=True)
    assert assert_same_as_slow([part], FLAT, 16, 16) > 50


def test_top_left_rule_by_hand():
    # A square from pixel centre (1, 1) to (3, 3) of an 8x8 frame: its left and top rows only.
    low, high = (1.5 / 4 - 1), (3.5 / 4 - 1)
    corners = [[low, -low, 0.5], [high, -low, 0.5], [low, -high, 0.5], [high, -high, 0.5]]
    part = primitive(corners, [[0, 2, 1], [1, 2, 3]])
    expected = np.zeros((8, 8), int)
    expected[1:3, 1:3] = 1
    np.testing.assert_array_equal(live_count(render_quads(scene(part), 8, 8), 8, 8), expected)


def jittered_grid(rng, cells, low, high, jitter):
    """Vertices [n, 2] of a grid whose inner corners are moved, and its triangles [N, 3]."""
    axis = np.linspace(low, high, cells + 1)
    x, y = np.meshgrid(axis, axis)
    step = (high - low) / cells
    inner = np.zeros_like(x, bool)
    inner[1:-1, 1:-1] = True
    x = x + inner * rng.uniform(-jitter, jitter, x.shape) * step
    y = y + inner * rng.uniform(-jitter, jitter, y.shape) * step
    corner = np.arange(x.size).reshape(x.shape)
    a, b, c, d = (
        corner[:-1, :-1].ravel(),
        corner[:-1, 1:].ravel(),
        corner[1:, :-1].ravel(),
        corner[1:, 1:].ravel(),
    )
    flip = rng.integers(0, 2, a.size).astype(bool)[:, None]
    first = np.where(flip, np.column_stack([a, b, c]), np.column_stack([a, b, d]))
    second = np.where(flip, np.column_stack([b, d, c]), np.column_stack([a, d, c]))
    return np.column_stack([x.ravel(), y.ravel()]), np.concatenate([first, second])


@pytest.mark.parametrize("cells", [1, 5, 40, 200])
def test_tiling_covers_every_pixel_once(cells):
    rng = np.random.default_rng(cells)
    print("seed", cells)
    points, triangles = jittered_grid(rng, cells, -1.1, 1.1, 0.3)
    w = rng.uniform(0.2, 5, (len(points), 1))
    clip = np.concatenate([points * w, 0.5 * w, w], axis=1)
    count = fragment_count(clip[triangles], 61, 47)
    np.testing.assert_array_equal(count, np.ones((47, 61), int))


@pytest.mark.parametrize("seed", range(4))
def test_tiling_across_the_clip_planes_covers_every_pixel_once(seed):
    """A floor from far behind the camera to far beyond the far plane, many times the guard band."""
    rng = np.random.default_rng(seed)
    print("seed", seed)
    points, triangles = jittered_grid(rng, 30, -1, 1, 0.3)
    reach = 10.0 ** rng.uniform(2, 6)
    x, z = points[:, 0] * reach, points[:, 1] * reach
    near, far = 0.1, 50.0
    clip = np.column_stack([x, np.full_like(x, -1.0), far / (far - near) * (z - near), z])
    width, height = 64, 48
    count = fragment_count(clip[triangles], width, height)
    # The floor at y = -1 is seen at depth z at NDC y = -1 / z: rows from far to the bottom.
    ndc = 1 - (np.arange(height) + 0.5) * 2 / height
    expected = np.broadcast_to(((ndc < -1 / far) & (ndc > -1 / near))[:, None], count.shape)
    np.testing.assert_array_equal(count, expected.astype(int))


def test_clipped_triangles_keep_their_coordinates():
    """Against rays through the pixels, where the pixel is not at the very edge."""
    rng = np.random.default_rng(3)
    width, height = 40, 30
    seen = 0
    for _ in range(80):
        corners = rng.uniform(-1, 1, (3, 3)) * [6, 6, 4] + [0, 0, 1.5]  # about half are cut
        uv = rng.uniform(-2, 2, (3, 2))
        part = primitive(corners, uv=uv)
        result = render_quads(scene(part, camera=PERSPECTIVE), width, height)
        count = live_count(result, width, height)
        exact = part.positions.astype(np.float64)
        front = np.linalg.det(exact) > 0
        for py in range(height):
            for px in range(width):
                ray = [(px + 0.5) * 2 / width - 1, 1 - (py + 0.5) * 2 / height, 1]
                weights = np.linalg.solve(exact.T, ray)  # the plane at distance 1
                inside = weights.min() / np.abs(weights).max()
                distance = 1 / weights.sum()
                if abs(inside) < 0.02 or abs(distance - 0.125) < 0.01:
                    continue
                hit = front and inside > 0 and distance > 0.125
                assert count[py, px] == hit
                if not hit:
                    continue
                lane = px % 2 + py % 2 * 2
                quad = np.flatnonzero(
                    (result.x == px & ~1)
                    & (result.y == py & ~1)
                    & (result.live_mask >> lane & 1 == 1)
                )
                expected = weights @ part.uv / weights.sum()
                np.testing.assert_allclose(result.uv[quad[0], lane], expected, atol=0.05)
                seen += 1
    assert seen > 3000


def test_out_of_view_and_degenerate_triangles_draw_nothing():
    parts = [
        primitive([[2, 0, 0.5], [3, 0, 0.5], [2, 1, 0.5]]),  # right of the frame
        primitive([[0, 0, -1], [1, 0, -1], [0, 1, -1]]),  # before the near plane
        primitive([[0, 0, 2], [1, 0, 2], [0, 1, 2]]),  # beyond the far plane
        primitive([[0, 0, 0.5], [1, 0, 0.5], [0.5, 0, 0.5]]),  # a line
        primitive([[0, 0, 0.5]] * 3),  # a point
        primitive([[0, 0, 0.5], [0, 1, 0.5], [1, 0, 0.5]]),  # a back face
        primitive([[0, 0, 1], [1, 0, 1], [0, 1, 1]]),  # on the far plane: not less than 1
        primitive(np.zeros((0, 3))),
    ]
    result = render_quads(scene(*parts), 32, 32)
    assert len(result) == 0
    assert result.uv.shape == (0, 4, 2)
    assert result.live_mask.dtype == np.uint8
    behind = primitive([[0, 0, -1], [1, 0, -2], [0, 1, -3]], double_sided=True)
    assert len(render_quads(scene(behind, camera=PERSPECTIVE), 32, 32)) == 0


def test_facing():
    corners = [[-0.5, -0.5, 0.5], [0.5, -0.5, 0.5], [-0.5, 0.5, 0.5]]  # counter-clockwise, y up
    front, back = primitive(corners), primitive(corners[::-1])
    both = primitive(corners[::-1], double_sided=True)
    counts = [live_count(render_quads(scene(p), 9, 9), 9, 9).sum() for p in (front, back, both)]
    assert counts[0] == counts[2] > 0
    assert counts[1] == 0


def test_huge_triangle_fills_any_frame():
    corners = [[-3e6, -1e6, 0.25], [3e6, -1e6, 0.25], [0, 8e6, 0.25]]
    for width, height in ((1, 1), (3, 2), (17, 33), (640, 7)):
        result = render_quads(scene(primitive(corners)), width, height)
        np.testing.assert_array_equal(live_count(result, width, height), 1)
        assert not (result.x & 1).any()
        assert not (result.y & 1).any()
        np.testing.assert_array_equal(result.depth, np.float32(0.25))


def test_hardware_order():
    rng = np.random.default_rng(11)
    corners = rng.uniform(-1.2, 1.2, (30, 3, 3)) * [1, 1, 0] + [0, 0, 0.5]
    corners[:, :, 2] -= np.arange(30)[:, None] / 100  # each nearer than those before: all pass
    result = render_quads(scene(primitive(corners, double_sided=True)), 100, 77)
    key = [
        (t, y >> 3, x >> 3, morton(x >> 1 & 3, y >> 1 & 3))
        for t, x, y in zip(
            result.triangle.tolist(), result.x.tolist(), result.y.tolist(), strict=True
        )
    ]
    assert key == sorted(set(key))
    assert len(key) > 1000


def test_lanes_are_left_to_right_then_down():
    corners = [[-1, 1, 0.5], [-1, -3, 0.5], [3, 1, 0.5]]
    uv = np.array([[0, 0], [0, 2], [2, 0]])  # u to the right, v down, 1 across the frame
    result = render_quads(scene(primitive(corners, uv=uv)), 4, 4)
    np.testing.assert_array_equal(
        result.uv[0], [[0.125, 0.125], [0.375, 0.125], [0.125, 0.375], [0.375, 0.375]]
    )
    np.testing.assert_array_equal(result.live_mask, 15)


def test_occluders_hide_and_give_no_quads():
    corners = np.array([[-3, -3, 0.5], [3, -3, 0.5], [0, 5, 0.5]])
    hidden = primitive(corners)
    occluder = primitive(corners - [0, 0, 0.1], texture=NO_TEXTURE)
    assert len(render_quads(scene(occluder, hidden), 8, 8)) == 0
    assert len(render_quads(scene(hidden, occluder), 8, 8)) == 16


def test_work_in_parts_gives_the_same(monkeypatch):
    rng = np.random.default_rng(5)
    corners = rng.uniform(-1.3, 1.3, (300, 3, 3)) * [1, 1, 0.4] + [0, 0, 0.5]
    parts = [primitive(corners[:100], double_sided=True), primitive(corners[100:], texture=1)]
    whole = render_quads(scene(*parts), 75, 61)
    monkeypatch.setattr(raster, "TILES_AT_ONCE", 7)
    monkeypatch.setattr(assembly, "TRIANGLES_AT_ONCE", 13)
    small = render_quads(scene(*parts), 75, 61)
    for name in ("x", "y", "uv", "live_mask", "depth", "texture", "triangle"):
        np.testing.assert_array_equal(getattr(whole, name), getattr(small, name))


def test_depth_test_as_one_by_one():
    rng = np.random.default_rng(2)
    buffer, plain = DepthBuffer(5, 4), {}
    for size in (0, 1, 30, 300, 1000):
        x, y = rng.integers(0, 5, size), rng.integers(0, 4, size)
        depth = (rng.integers(0, 40, size) / 40).astype(np.float32)  # many ties
        expected = []
        for key in zip(x.tolist(), y.tolist(), depth.tolist(), strict=True):
            passed = key[2] < plain.get(key[:2], 1.0)
            expected.append(passed)
            if passed:
                plain[key[:2]] = key[2]
        np.testing.assert_array_equal(buffer.test(x, y, depth), expected)


@pytest.mark.parametrize(
    ("size", "text"),
    [
        ((0, 10), "width must be in 1..16384 pixels, not 0"),
        ((10, -1), "height must be in 1..16384 pixels, not -1"),
        ((16385, 1), "width must be in 1..16384 pixels, not 16385"),
        ((16384, 16384), "at most 67108864 pixels"),
        ((8, 8, 0, 0), "number of frames must be at least 1, not 0"),
        ((8, 8, 3, 3), r"frame's number must be in 0..2, not 3"),
    ],
)
def test_absurd_frames_are_refused(size, text):
    with pytest.raises(SceneError, match=text):
        render_quads(scene(), *size)


def test_bad_primitives_are_refused():
    with pytest.raises(SceneError, match=r"vertex indices must be in 0..2, not 0..3"):
        primitive(np.zeros((3, 3)), [[0, 1, 3]])
    with pytest.raises(SceneError, match="positions must be finite"):
        primitive([[0, 0, np.nan]] * 3)
    with pytest.raises(SceneError, match=r"uv must be float32 \[3, 2\], not float32 \[2, 2\]"):
        primitive(np.zeros((3, 3)), uv=np.zeros((2, 2)))
    with pytest.raises(SceneError, match=r"texture index must be in -1..1, not 2"):
        render_quads(scene(primitive(np.zeros((3, 3)), texture=2)), 8, 8)
    with pytest.raises(SceneError, match=r"width must be in 1..16384, not 20000"):
        Texture(name="big", width=20000, height=1)
