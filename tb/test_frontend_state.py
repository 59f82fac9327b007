"""Options of the rasteriser: against the slow reading, and by hand (spec 07).

MINMIP_LONG=1 draws 300 random frames; MINMIP_FIRST_SEED (default 0) is the first one's seed.
"""

import os
from dataclasses import replace

import numpy as np
import pytest
from slow_rasteriser import SAMPLES, slow_quads

from minmip.sim.frontend import (
    DepthBias,
    Primitive,
    RasterCounters,
    RasterState,
    Scene,
    SceneError,
    Texture,
    Viewport,
    builtin_scene,
    coarse_gradients,
    fine_gradients,
    raster,
    render_quads,
)
from minmip.sim.frontend.raster_state import CULL_MODES, PATTERNS
from minmip.sim.frontend.scene import INTERPOLATIONS, NO_TEXTURE

FLAT = np.eye(4)  # x and y are NDC, z is depth
PERSPECTIVE = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, -0.125], [0, 0, 1, 0]])
FIELDS = ("x", "y", "uv", "live_mask", "depth", "texture", "triangle", "slice", "front", "samples")


class FixedCamera:
    def __init__(self, matrix):
        self.fixed = np.asarray(matrix, np.float64)

    def matrix(self, aspect, frame):
        return self.fixed


def primitive(positions, uv=None, **options):
    positions = np.asarray(positions, np.float32).reshape(-1, 3)
    uv = positions[:, :2] if uv is None else uv
    options = {"texture": 0, "double_sided": True} | options
    triangles = np.arange(len(positions), dtype=np.int32).reshape(-1, 3)
    return Primitive(
        positions=positions, uv=np.asarray(uv, np.float32), triangles=triangles, **options
    )


def draw(primitives, width, height, camera=FLAT, **options):
    textures = [Texture(name="a", width=64, height=64), Texture(name="b", width=32, height=8)]
    scene = Scene(name="test", textures=textures, primitives=primitives, camera=FixedCamera(camera))
    return render_quads(scene, width, height, **options)


def assert_same(first, second):
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name), err_msg=name)


def random_primitives(rng, count, slices=1):
    """Triangles with all options by chance, in view of PERSPECTIVE, none that needs clipping."""
    parts = []
    for texture in (0, 1, NO_TEXTURE, 0):
        depth = rng.uniform(0.3, 4, (count, 3, 1))
        across = rng.uniform(-1.3, 1.3, (count, 3, 2)) * depth
        parts.append(
            primitive(
                np.concatenate([across, depth], axis=2),
                uv=rng.uniform(-3, 3, (3 * count, 2)),
                texture=texture,
                double_sided=bool(rng.integers(0, 2)),
                interpolation=INTERPOLATIONS[rng.integers(0, 3)],
                centroid=bool(rng.integers(0, 2)),
                slice=rng.integers(0, slices, count),
                depth_bias=DepthBias(
                    constant=int(rng.integers(-(1 << 20), 1 << 20)) * int(rng.integers(0, 2)),
                    slope_scaled=float(rng.normal()) * int(rng.integers(0, 2)),
                    clamp=float(rng.choice([0, 0.01, -0.01])),
                ),
            )
        )
    return parts


FIRST = int(os.environ.get("MINMIP_FIRST_SEED", "0"))
FRAMES = 300 if os.environ.get("MINMIP_LONG") else 12


@pytest.mark.parametrize("seed", range(FIRST, FIRST + FRAMES))
def test_all_options_as_the_slow_reading(seed):
    rng = np.random.default_rng(seed)
    print("seed", seed)
    width, height = int(rng.integers(1, 30)), int(rng.integers(1, 30))
    edges = np.sort(rng.integers(0, 32, (2, 2)), axis=1)
    near, far = np.sort(rng.integers(0, 9, 2)) / 8
    state = RasterState(
        viewport=Viewport(
            left=rng.integers(-999, 2000) / 192,
            top=rng.integers(-999, 2000) / 192,
            width=rng.integers(1, 9999) / 192,
            height=rng.integers(1, 9999) / 192,
            near=near,
            far=far,
        )
        if seed % 2
        else None,
        scissor=tuple(edges.T.ravel().tolist()) if seed % 3 == 0 else None,
        cull=CULL_MODES[seed // 2 % 4],
        samples=(1, 2, 4, 8)[seed % 4],
        slices=1 + seed % 3,
        early_z=seed % 5 != 4,
    )
    parts = random_primitives(rng, 5, state.slices)
    fast = draw(parts, width, height, PERSPECTIVE, state=state)
    slow = slow_quads(parts, PERSPECTIVE, width, height, state)
    assert len(fast) == len(slow)
    for name in ("x", "y", "triangle", "texture", "slice", "front", "samples"):
        np.testing.assert_array_equal(
            getattr(fast, name),
            np.reshape([getattr(q, name) for q in slow], getattr(fast, name).shape),
        )
    np.testing.assert_array_equal(fast.live_mask, [quad.live for quad in slow])
    for index, quad in enumerate(slow):
        np.testing.assert_allclose(fast.depth[index], quad.depth, rtol=1e-6, atol=1e-9)
        for lane in range(4):
            exact = [float(value) for value in quad.uv[lane] if value is not None]
            if state.samples == 1 and quad.live >> lane & 1:
                np.testing.assert_array_max_ulp(fast.uv[index, lane], np.float32(exact), 1)
            elif len(exact) == 2 and max(map(abs, exact)) < 1e3:
                np.testing.assert_allclose(fast.uv[index, lane], exact, rtol=2e-5, atol=2e-5)


def test_patterns_are_direct3ds():
    assert PATTERNS.keys() == SAMPLES.keys()
    for count, places in SAMPLES.items():
        np.testing.assert_array_equal(PATTERNS[count], np.array(places) * 16)


def whole_frame(depth=0.5, **options):
    return primitive([[-1, 1, depth], [-1, -3, depth], [3, 1, depth]], **options)


def test_scissor_cuts_to_the_pixel():
    state = RasterState(scissor=(3, 1, 6, 4))
    quads = draw([whole_frame()], 8, 8, state=state)
    shown = np.zeros((8, 8), int)
    for lane in range(4):
        on = quads.live_mask >> lane & 1 == 1
        np.add.at(shown, (quads.y[on] + lane // 2, quads.x[on] + lane % 2), 1)
    expected = np.zeros((8, 8), int)
    expected[1:4, 3:6] = 1
    np.testing.assert_array_equal(shown, expected)
    assert len(draw([whole_frame()], 8, 8, state=RasterState(scissor=(3, 3, 3, 9)))) == 0
    assert len(draw([whole_frame()], 8, 8, state=RasterState(scissor=(8, 8, 99, 99)))) == 0
    beyond = draw([whole_frame()], 8, 8, state=RasterState(scissor=(0, 0, 99, 99)))
    assert_same(beyond, draw([whole_frame()], 8, 8))


def test_depth_bias_decides_between_coplanar_triangles():
    below, decal = whole_frame(), whole_frame(texture=1)
    assert set(draw([below, decal], 8, 8).texture) == {0}  # not nearer
    lifted = replace(decal, depth_bias=DepthBias(constant=-1))
    quads = draw([below, lifted], 8, 8)
    assert set(quads.texture) == {0, 1}
    # 0.5 is 2**-1: one step is 2**-24.
    assert quads.depth[quads.texture == 1].max() == np.float32(0.5 - 2.0**-24)
    slope = primitive([[-1, 1, 0.25], [-1, -3, 0.25], [3, 1, 0.75]])  # 0.25 a frame to the right
    pushed = replace(slope, depth_bias=DepthBias(slope_scaled=2))
    limited = replace(slope, depth_bias=DepthBias(slope_scaled=2, clamp=0.01))
    stepped = replace(slope, depth_bias=DepthBias(constant=1 << 20))
    parts = slope, pushed, limited, stepped
    plain, far, little, behind = (draw([part], 8, 8).depth for part in parts)
    np.testing.assert_allclose(far - plain, 2 * 0.25 / 8, atol=1e-7)
    np.testing.assert_allclose(little - plain, 0.01, atol=1e-7)
    np.testing.assert_allclose(behind - plain, 2.0**-4, atol=1e-7)  # the greatest depth is 0.75


def test_interpolation_by_hand():
    # Depth 1 at the left edge of the frame, 3 at the right: u from 0 to 1.
    corners = [[-1, -1, 1], [3, -3, 3], [-1, 1, 1], [3, -3, 3], [3, 3, 3], [-1, 1, 1]]
    u = np.array([0, 1, 0, 1, 1, 0])
    uv = np.column_stack([u, np.zeros(6)])
    middle = {}
    for name in INTERPOLATIONS:
        quads = draw([primitive(corners, uv=uv, interpolation=name)], 4, 4, PERSPECTIVE)
        row = {}
        for index in np.flatnonzero(quads.y == 0):
            for lane in range(2):
                if quads.live_mask[index] >> lane & 1:
                    row[int(quads.x[index]) + lane] = float(quads.uv[index, lane, 0])
        middle[name] = [row[x] for x in range(4)]
    across = np.array([0.125, 0.375, 0.625, 0.875])
    np.testing.assert_allclose(middle["linear"], across, atol=1e-6)
    # u / w and 1 / w are linear: u = s / 3 / ((1 - s) + s / 3).
    np.testing.assert_allclose(middle["perspective"], across / (3 - 2 * across), atol=1e-6)
    assert set(middle["constant"]) <= {0.0, 1.0}


@pytest.mark.parametrize("name", INTERPOLATIONS)
def test_clipped_triangles_keep_the_kind_of_interpolation(name):
    """A triangle through the near plane, against its plane in the frame."""
    rng = np.random.default_rng(8)
    seen = 0
    for _ in range(40):
        corners = rng.uniform(-1, 1, (3, 3)) * [4, 4, 2] + [0, 0, 1.2]
        uv = rng.uniform(-1, 1, (3, 2))
        part = primitive(corners, uv=uv, interpolation=name)
        exact, uv = part.positions.astype(np.float64), part.uv.astype(np.float64)
        quads = draw([part], 24, 24, PERSPECTIVE)
        px = quads.x[:, None] + raster.LANE_X
        py = quads.y[:, None] + raster.LANE_Y
        rays = np.stack([(px + 0.5) / 12 - 1, 1 - (py + 0.5) / 12, np.ones(px.shape)], axis=-1)
        weights = rays @ np.linalg.inv(exact)  # of the vertices, for 1 at distance 1
        if name == "constant":
            expected = np.broadcast_to(uv[0], quads.uv.shape)
        elif name == "perspective":
            expected = weights @ uv / weights.sum(axis=2, keepdims=True)
        else:  # the same weights, of vertices at their places in the frame
            expected = (weights * exact[:, 2]) @ uv
        inner = (quads.live_mask[:, None] >> np.arange(4) & 1 == 1) & (
            weights.min(axis=2) > 0.03 * np.abs(weights).max(axis=2)
        )
        assert name != "constant" or (quads.uv == expected.astype(np.float32)).all()
        steep = 1 + np.abs(expected[inner])
        assert (np.abs(quads.uv[inner] - expected[inner]) < 0.05 * steep).all()
        seen += inner.sum()
    assert seen > 1000


def test_centroid_stays_inside():
    """Without centroid some coordinates lie beyond the triangle, with it none."""
    rng = np.random.default_rng(9)
    corners = rng.uniform(-1, 1, (20, 3, 3)) * [1, 1, 0] + [0, 0, 0.5]
    for samples in (2, 4, 8):
        outside = []
        for centroid in (False, True):
            worst = -np.inf
            for one in corners:
                uv = np.array([[0, 0], [1, 0], [0, 1]])
                part = primitive(one, uv=uv, centroid=centroid)
                quads = draw([part], 20, 20, state=RasterState(samples=samples))
                live = quads.live_mask[:, None] >> np.arange(4) & 1 == 1
                u, v = np.moveaxis(quads.uv[live], -1, 0)
                worst = max([worst, *-u, *-v, *(u + v - 1)])
            outside.append(worst)
        assert outside[0] > 0.01
        assert outside[1] < 1e-5


def test_samples_of_a_tiling_are_covered_once():
    rng = np.random.default_rng(10)
    split = rng.uniform(-0.9, 0.9, (12, 2))
    box = np.array([[-1.2, -1.2], [1.2, -1.2], [1.2, 1.2], [-1.2, 1.2]])
    for point in split:
        fan = [[box[i], box[(i + 1) % 4], point] for i in range(4)]
        corners = np.concatenate([fan, np.full((4, 3, 1), 0.5)], axis=2)
        quads = draw([primitive(corners)], 13, 9, state=RasterState(samples=8, early_z=False))
        count = np.zeros((10, 14, 8), int)
        bits = quads.samples[..., None] >> np.arange(8) & 1
        for lane in range(4):
            np.add.at(count, (quads.y + lane // 2, quads.x + lane % 2), bits[:, lane])
        np.testing.assert_array_equal(count[:9, :13], 1)
        assert not count[9].any()
        assert not count[:, 13].any()


def test_slices_have_their_own_depth():
    near, far = whole_frame(0.25), whole_frame(0.5, slice=1)
    state = RasterState(slices=2)
    quads = draw([near, far], 8, 8, state=state)
    assert quads.slice.tolist() == [0] * 16 + [1] * 16
    same = draw([near, replace(far, slice=0)], 8, 8, state=state)
    assert len(same) == 16
    both = primitive(
        np.concatenate([near.positions, far.positions]), slice=np.array([1, 0], np.int32)
    )
    assert draw([both], 8, 8, state=state).slice.tolist() == [1] * 16 + [0] * 16


def test_late_z_lets_hidden_pixels_sample():
    near, far = whole_frame(0.25), whole_frame(0.5, texture=1)
    assert len(draw([near, far], 8, 8)) == 16
    late = draw([near, far], 8, 8, state=RasterState(early_z=False))
    assert late.texture.tolist() == [0] * 16 + [1] * 16
    assert (late.live_mask == 15).all()
    assert late.samples.tolist() == [[1] * 4] * 16 + [[0] * 4] * 16  # the test comes after


@pytest.mark.parametrize("samples", [1, 4])
def test_hierarchical_z_only_saves_work(monkeypatch, samples):
    monkeypatch.setattr(raster, "TILES_AT_ONCE", 40)
    rng = np.random.default_rng(samples)
    print("seed", samples)
    parts = random_primitives(rng, 60, 2)
    plain, fast = RasterCounters(), RasterCounters()
    state = RasterState(samples=samples, slices=2)
    first = draw(parts, 75, 61, PERSPECTIVE, state=state, counters=plain)
    state = replace(state, hierarchical_z=True)
    assert_same(first, draw(parts, 75, 61, PERSPECTIVE, state=state, counters=fast))
    assert plain.hidden_tiles == 0
    assert fast.tiles == plain.tiles > fast.hidden_tiles > plain.tiles // 10
    assert fast.samples < plain.samples
    assert fast.passed_samples == plain.passed_samples


def test_hierarchical_z_at_the_very_depth(monkeypatch):
    """Planes that touch: nothing that is nearer by one step may be lost."""
    monkeypatch.setattr(raster, "TILES_AT_ONCE", 1)
    slope = primitive([[-1, 1, 0.25], [-1, -3, 0.5], [3, 1, 0.75]])
    state = RasterState(hierarchical_z=True)
    for constant in (-1, 0, 1):
        again = replace(slope, texture=1, depth_bias=DepthBias(constant=constant))
        assert_same(draw([slope, again], 32, 32, state=state), draw([slope, again], 32, 32))


def test_hierarchical_z_drops_what_is_level(monkeypatch):
    """In tiles that the frame cuts, too; what is nearer somewhere stays."""
    monkeypatch.setattr(raster, "TILES_AT_ONCE", 1)
    first, again = whole_frame(0.5), whole_frame(0.5)
    state = RasterState(hierarchical_z=True)
    for part, hidden in ((again, 2), (whole_frame(0.4), 0)):
        counters = RasterCounters()
        draw([first, part], 11, 5, state=state, counters=counters)
        assert (counters.tiles, counters.hidden_tiles) == (4, hidden)


def test_builtin_scene_with_hierarchical_z():
    counters = RasterCounters()
    state = RasterState(hierarchical_z=True)
    fast = render_quads(builtin_scene(), 320, 180, state=state, counters=counters)
    assert_same(fast, render_quads(builtin_scene(), 320, 180))
    assert counters.hidden_tiles > 0


def test_clip_distances_cut():
    """Kept where the distance is positive: with its opposite, every pixel once."""
    rng = np.random.default_rng(12)
    for _ in range(20):
        depth = rng.uniform(0.5, 3, (2, 3, 1))
        corners = np.concatenate([rng.uniform(-2, 2, (2, 3, 2)) * depth, depth], axis=2)
        distance = rng.uniform(-1, 1, (6, 1)).astype(np.float32)
        whole = primitive(corners)
        state = RasterState(early_z=False)
        halves = [replace(whole, clip_distances=sign * distance) for sign in (1, -1)]
        counts = []
        for parts in ([whole], halves):
            count = np.zeros((32, 32), int)
            quads = draw(parts, 31, 31, PERSPECTIVE, state=state)
            for lane in range(4):
                on = quads.live_mask >> lane & 1 == 1
                np.add.at(count, (quads.y[on] + lane // 2, quads.x[on] + lane % 2), 1)
            counts.append(count)
        np.testing.assert_array_equal(*counts)


def test_clip_distances_by_hand():
    square = [[-1, -1, 0.5], [1, -1, 0.5], [-1, 1, 0.5], [1, -1, 0.5], [1, 1, 0.5], [-1, 1, 0.5]]
    x, y = np.array(square)[:, 0], np.array(square)[:, 1]
    part = primitive(square, clip_distances=np.column_stack([x, y + 0.5]).astype(np.float32))
    other = whole_frame(0.75, texture=1)  # no distances beside one with two
    quads = draw([part, other], 8, 8)
    shown = np.full((8, 8), -1)
    for lane in range(4):
        on = quads.live_mask >> lane & 1 == 1
        shown[quads.y[on] + lane // 2, quads.x[on] + lane % 2] = quads.texture[on]
    expected = np.ones((8, 8), int)
    expected[:6, 4:] = 0
    np.testing.assert_array_equal(shown, expected)


def test_cull_distances_drop_whole_triangles():
    corners = np.tile([[-1, -1, 0.5], [1, -1, 0.5], [-1, 1, 0.5]], (4, 1))
    distance = np.ones((4, 3, 2), np.float32)
    distance[0, :, 0] = -1  # dropped by the first
    distance[1, :2] = -1  # negative at two vertices
    distance[2] = 0  # 0 is not negative
    distance[3, :2, 0] = distance[3, 1:, 1] = -1  # negative at all, but never the same one
    distance = distance.reshape(12, 2)
    part = primitive(corners, cull_distances=distance)
    quads = draw([part], 8, 8, state=RasterState(early_z=False))
    assert set(quads.triangle) == {1, 2, 3}
    distance[9:, 1] = -0.5
    part = primitive(corners, cull_distances=distance)
    assert set(draw([part], 8, 8, state=RasterState(early_z=False)).triangle) == {1, 2}


def test_front_is_told():
    corners = [[-1, -1, 0.5], [1, -1, 0.5], [-1, 1, 0.5]]  # counter-clockwise, y up
    assert draw([primitive(corners)], 8, 8).front.all()
    assert not draw([primitive(corners[::-1])], 8, 8).front.any()


def test_gradients_by_hand():
    values = np.array([[1, 2, 4, 8]], np.float32)
    ddx, ddy = coarse_gradients(values)
    assert (ddx.tolist(), ddy.tolist()) == ([[1, 1, 1, 1]], [[3, 3, 3, 3]])
    ddx, ddy = fine_gradients(values)
    assert (ddx.tolist(), ddy.tolist()) == ([[1, 1, 4, 4]], [[3, 6, 3, 6]])


def test_gradients_of_many_axes_and_specials():
    rng = np.random.default_rng(13)
    uv = rng.normal(size=(50, 4, 2)).astype(np.float32)
    coarse, fine = coarse_gradients(uv), fine_gradients(uv)
    for lane in range(4):
        row, column = lane & 2, lane & 1
        np.testing.assert_array_equal(coarse[0][:, lane], uv[:, 1] - uv[:, 0])
        np.testing.assert_array_equal(coarse[1][:, lane], uv[:, 2] - uv[:, 0])
        np.testing.assert_array_equal(fine[0][:, lane], uv[:, row + 1] - uv[:, row])
        np.testing.assert_array_equal(fine[1][:, lane], uv[:, column + 2] - uv[:, column])
    odd = np.array([[np.inf, np.inf, 1e-45, np.nan]], np.float32)
    ddx, ddy = fine_gradients(odd)
    np.testing.assert_array_equal(ddx, [[np.nan, np.nan, np.nan, np.nan]])
    np.testing.assert_array_equal(ddy, [[-np.inf, np.nan, -np.inf, np.nan]])
    tiny = np.array([[0, 1e-45, 2e-38, 2.1e-38]], np.float32)
    np.testing.assert_array_equal(fine_gradients(tiny)[0], np.zeros((1, 4)))
    with pytest.raises(ValueError, match=r"float32 \[Q, 4, \.\.\.\], not float32 \[4\]"):
        fine_gradients(np.zeros(4, np.float32))
    with pytest.raises(ValueError, match=r"not float64 \[1, 4\]"):
        coarse_gradients(np.zeros((1, 4)))


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"samples": 3}, "samples must be 1, 2, 4 or 8, not 3"),
        ({"slices": 0}, r"slices must be an integer in 1\.\.2048, not 0"),
        ({"slices": 1.5}, r"slices must be an integer in 1\.\.2048, not 1\.5"),
        ({"scissor": (0, 0, 5)}, r"a scissor must be four integers, not \(0, 0, 5\)"),
        ({"scissor": (0, 0, 5.5, 6)}, r"four integers, not \(0, 0, 5\.5, 6\)"),
        ({"hierarchical_z": True, "early_z": False}, "hierarchical_z needs early_z"),
        ({"scissor": (0, 0, -1, 5)}, r"0 <= left <= right .* not \(0, 0, -1, 5\)"),
        ({"scissor": (0, 6, 1, 5)}, r"0 <= top <= bottom, not \(0, 6, 1, 5\)"),
    ],
)
def test_bad_states_are_refused(options, text):
    with pytest.raises(SceneError, match=text):
        RasterState(**options)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"interpolation": "cubic"}, "one of constant, linear, perspective, not 'cubic'"),
        ({"slice": 0.5}, r"slice must be an integer or an array, not 0\.5"),
        ({"slice": np.zeros(1)}, r"slice must be an integer or 1 of them, not float64 \[1\]"),
        ({"slice": np.zeros(2, int)}, r"an integer or 1 of them, not int64 \[2\]"),
        ({"clip_distances": np.zeros((3, 1))}, r"float32 \[3, n\], not float64 \[3, 1\]"),
        ({"cull_distances": np.zeros((2, 1), np.float32)}, r"not float32 \[2, 1\]"),
        ({"clip_distances": np.full((3, 1), np.nan, np.float32)}, "clip_distances must be finite"),
        ({"clip_distances": np.zeros((3, 9), np.float32)}, "8 clip and cull distances, not 9"),
    ],
)
def test_bad_options_of_primitives_are_refused(options, text):
    with pytest.raises(SceneError, match=text):
        whole_frame(**options)


def test_more_refusals():
    with pytest.raises(SceneError, match=r"slices of primitives must be in 0\.\.0, not 1\.\.1"):
        draw([whole_frame(slice=1)], 8, 8)
    with pytest.raises(SceneError, match=r"at most 67108864 samples, not 8192 x 8192 pixels x 2"):
        draw([whole_frame()], 8192, 8192, state=RasterState(samples=2))
    with pytest.raises(SceneError, match="slope_scaled must be a finite number, not inf"):
        DepthBias(slope_scaled=float("inf"))
