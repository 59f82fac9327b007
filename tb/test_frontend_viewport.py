"""Viewport and culling by hand; at random they are in test_frontend_state.py (spec 07 "RS")."""

from dataclasses import fields, replace

import numpy as np
import pytest
from test_frontend_state import assert_same, draw, primitive, whole_frame

from minmip.sim.frontend import (
    DepthBias,
    Primitive,
    RasterCounters,
    RasterState,
    Scene,
    SceneError,
    Texture,
    Viewport,
    raster,
    render_quads,
)
from minmip.sim.frontend.camera import Orthographic


def shown(quads, width, height, samples=1):
    """Which samples are seen, bool [height, width, samples]."""
    seen = np.zeros((height + 1, width + 1, samples), bool)
    bits = quads.samples[..., None] >> np.arange(samples) & 1 == 1
    for lane in range(4):
        np.logical_or.at(seen, (quads.y + lane // 2, quads.x + lane % 2), bits[:, lane])
    return seen[:height, :width]


def test_the_view_goes_into_the_viewport():
    """A viewport is a frame of its own: the same quads, moved by whole tiles."""
    rng = np.random.default_rng(1)
    part = primitive(rng.uniform(-1.5, 1.5, (60, 3)) * [1, 1, 0.3] + [0, 0, 0.5])
    alone = draw([part], 24, 16)
    state = RasterState(viewport=Viewport(left=8, top=16, width=24, height=16))
    inside = draw([part], 64, 48, state=state)
    assert len(alone) > 50
    assert_same(alone, replace(inside, x=inside.x - 8, y=inside.y - 16))


@pytest.mark.parametrize("samples", [1, 4, 8])
def test_nothing_is_drawn_beyond_the_viewport(samples):
    """Its edges snap to 1/256 pixel; a sample on the left one is inside, on the right one not."""
    big = primitive([[-9, 9, 0.5], [-9, -27, 0.5], [27, 9, 0.5]])
    viewport = Viewport(left=2.5 + 0.4 / 256, top=1.75, width=4, height=2.4)
    state = RasterState(viewport=viewport, samples=samples)
    seen = shown(draw([big], 9, 7, state=state), 9, 7, samples)
    places = np.array(raster.PATTERNS[samples]) / 256 + 0.5
    x = np.arange(9)[:, None] + places[:, 0]
    y = np.arange(7)[:, None] + places[:, 1]
    across, down = (x >= 2.5) & (x < 6.5), (y >= 1.75) & (y < 1.75 + round(2.4 * 256) / 256)
    np.testing.assert_array_equal(seen, down[:, None] & across)


def test_a_viewport_may_reach_beyond_the_frame():
    part = whole_frame()
    for viewport in (
        Viewport(left=-100, top=-3.3, width=200, height=50),
        Viewport(left=-32768, top=-32768, width=65535, height=65535),
    ):
        assert shown(draw([part], 8, 8, state=RasterState(viewport=viewport)), 8, 8).all()
    viewport = Viewport(width=40, height=40)
    cut = RasterState(viewport=viewport, scissor=(0, 0, 99, 99))
    assert_same(
        draw([part], 8, 8, state=cut), draw([part], 8, 8, state=RasterState(viewport=viewport))
    )
    beyond = Viewport(left=8, top=0, width=100, height=100)
    empty = [Viewport(width=w, height=h) for w, h in ((0, 8), (8, 0), (8, 1e-3), (5e-324, 8))]
    for viewport in (beyond, *empty):
        assert len(draw([part], 8, 8, state=RasterState(viewport=viewport))) == 0
    both = RasterState(viewport=Viewport(left=2, width=4, height=8), scissor=(0, 3, 3, 99))
    assert np.argwhere(shown(draw([part], 8, 8, state=both), 8, 8)[..., 0]).tolist() == [
        [y, 2] for y in range(3, 8)
    ]


def test_a_centre_beyond_the_viewport_is_outside():
    """With centroids no coordinate of a live lane lies beyond the viewport."""
    viewport = Viewport(left=2.7, top=1.3, width=4.4, height=3.9)
    for centroid in (False, True):
        part = primitive(whole_frame().positions, uv=[[0, 0], [0, 2], [2, 0]], centroid=centroid)
        quads = draw([part], 9, 7, state=RasterState(viewport=viewport, samples=8))
        live = quads.uv[quads.live_mask[:, None] >> np.arange(4) & 1 == 1]
        assert (live.min() < 0 or live.max() > 1) == (not centroid)


def test_depth_goes_into_the_viewports_range():
    slope = primitive([[-1, 1, 0], [-1, -3, 0], [3, 1, 1]])  # 0 at the left edge, 1/2 at the right
    state = RasterState(viewport=Viewport(width=8, height=8, near=0.25, far=0.75))
    plain, moved = draw([slope], 8, 8), draw([slope], 8, 8, state=state)
    np.testing.assert_allclose(moved.depth, 0.25 + plain.depth / 2, atol=1e-7)
    # Bias is of the depth in the range (one step of 0.5 is 2**-24), and never leaves it.
    level = whole_frame(0.5)
    lifted = replace(level, depth_bias=DepthBias(constant=1))
    assert set((draw([lifted], 8, 8, state=state).depth - 0.5).ravel()) == {np.float32(2.0**-24)}
    for constant, end in ((1 << 24, 0.75), (-(1 << 24), 0.25)):
        far = replace(level, depth_bias=DepthBias(constant=constant))
        assert set(draw([far], 8, 8, state=state).depth.ravel()) == {np.float32(end)}
    flat = RasterState(viewport=Viewport(width=8, height=8, near=0.5, far=0.5))
    assert set(draw([slope], 8, 8, state=flat).depth.ravel()) == {np.float32(0.5)}


def test_hierarchical_z_knows_the_range_of_depth(monkeypatch):
    """What is pushed back is limited to the far end, and may still be seen there."""
    monkeypatch.setattr(raster, "TILES_AT_ONCE", 1)
    viewport = Viewport(width=16, height=16, near=0.25, far=0.5)
    pushed = replace(whole_frame(0.9), depth_bias=DepthBias(constant=1 << 26))
    for first in (whole_frame(0.99), whole_frame(0.4)):
        state = RasterState(viewport=viewport, hierarchical_z=True)
        counters = RasterCounters()
        quick = draw([first, pushed], 16, 16, state=state, counters=counters)
        assert_same(quick, draw([first, pushed], 16, 16, state=RasterState(viewport=viewport)))
    assert counters.hidden_tiles == 4
    back = draw([pushed], 16, 16, state=RasterState(viewport=viewport, hierarchical_z=True))
    assert set(back.depth.ravel()) == {np.float32(0.5)}


def test_the_camera_sees_the_viewports_shape():
    """A square stays square, whatever the frame."""

    class Camera:
        def matrix(self, aspect, frame):
            return Orthographic(ymag=1, near=0, far=2).matrix(aspect)

    square = np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, -1, 0], [1, 1, 0], [-1, 1, 0]])
    part = primitive(square * 0.5 + [0, 0, -1])
    textures = [Texture(name="a", width=64, height=64)]
    scene = Scene(name="test", textures=textures, primitives=[part], camera=Camera())
    state = RasterState(viewport=Viewport(left=10, top=4, width=24, height=16))
    seen = shown(render_quads(scene, 40, 20, state=state), 40, 20)[..., 0]
    expected = np.zeros((20, 40), bool)
    expected[8:16, 18:26] = True
    np.testing.assert_array_equal(seen, expected)


def test_faces_are_culled():
    corners = np.array([[-1, -1, 0.5], [1, -1, 0.5], [-1, 1, 0.5]])  # front: counter-clockwise
    parts = [
        primitive(order, double_sided=double)
        for double in (False, True)
        for order in (corners, corners[::-1])
    ]
    for cull, kept in (
        ("material", {0, 2, 3}),
        ("none", {0, 1, 2, 3}),
        ("front", {1, 3}),
        ("back", {0, 2}),
    ):
        quads = draw(parts, 8, 8, state=RasterState(cull=cull, early_z=False))
        assert set(quads.triangle.tolist()) == kept, cull
        assert (quads.front == (quads.triangle % 2 == 0)).all()


def test_late_z_counts_and_hides_as_early_z():
    """What is seen in the end is the same; the shader runs for more."""
    rng = np.random.default_rng(4)
    part = primitive(rng.uniform(-1, 1, (90, 3)) * [1.2, 1.2, 0.4] + [0, 0, 0.5])
    counts = RasterCounters(), RasterCounters()
    early = draw([part], 31, 23, state=RasterState(samples=4), counters=counts[0])
    state = RasterState(samples=4, early_z=False)
    late = draw([part], 31, 23, state=state, counters=counts[1])
    assert counts[0] == counts[1]
    live = [np.bitwise_count(quads.live_mask).sum() for quads in (early, late)]
    assert live[1] > live[0]
    kept = (late.samples != 0).any(axis=1)
    assert kept.sum() == len(early)
    for name in ("x", "y", "uv", "depth", "triangle", "samples"):
        np.testing.assert_array_equal(getattr(late, name)[kept], getattr(early, name))


def test_coordinates_and_depth_flush_denormals():
    """uv and depth are float32 of the number rules: no denormal leaves the rasteriser."""
    tiny = 2.0**-130
    for interpolation in ("constant", "linear", "perspective"):
        part = whole_frame(tiny, uv=np.full((3, 2), [tiny, -tiny]), interpolation=interpolation)
        quads = draw([part], 4, 4)
        zeros = np.broadcast_to(np.array([0, -0.0], np.float32), quads.uv.shape)
        np.testing.assert_array_equal(quads.uv.view(np.uint32), zeros.view(np.uint32))
        assert not quads.depth.view(np.uint32).any()


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        ({"width": -1}, "width and height must be at least 0, not -1 x 8"),
        ({"height": float("nan")}, "six finite numbers, not .*nan"),
        ({"left": "a"}, "six finite numbers, not .*'a'"),
        ({"left": -32769}, r"lie in -32768\.\.32767 along x, not in -32769\.\.-32761"),
        ({"top": 32760}, r"lie in -32768\.\.32767 along y, not in 32760\.\.32768"),
        ({"near": -0.1}, "0 <= near <= far <= 1, not -0.1 and 1"),
        ({"near": 0.75, "far": 0.5}, "not 0.75 and 0.5"),
        ({"far": 1.5}, "not 0 and 1.5"),
    ],
)
def test_bad_viewports_are_refused(numbers, text):
    with pytest.raises(SceneError, match=text):
        Viewport(**{"width": 8, "height": 8} | numbers)


def test_a_bad_cull_mode_is_refused():
    with pytest.raises(SceneError, match="one of material, none, front, back, not 'both'"):
        RasterState(cull="both")


JUNK = (
    *(None, "x", "", b"1", [], [1, 2], {}, (1, 2, 3, 4), (1, "a", 2, 3), object(), True),
    *(-1, 0, 1, 1.5, float("nan"), float("inf"), 10**400, 1 << 70, 1j),
    *(np.zeros(3), np.zeros((3, 3), np.float32), np.float32(1), np.array("x"), np.array([None])),
)


@pytest.mark.parametrize(
    ("kind", "good"),
    [
        (RasterState, {}),
        (Viewport, {"width": 8, "height": 8}),
        (DepthBias, {}),
        (Texture, {"name": "a", "width": 8, "height": 8}),
        (Primitive, {f.name: getattr(whole_frame(), f.name) for f in fields(Primitive)}),
    ],
)
def test_anything_is_taken_or_refused_in_a_sentence(kind, good):
    taken, sentences = 0, []
    for field in fields(kind):
        for junk in JUNK:
            try:
                kind(**good | {field.name: junk})
            except SceneError as error:
                sentences.append(str(error))
            else:
                taken += 1
    assert min(taken, len(sentences)) > 5
    for sentence in sentences:
        assert "\n" not in sentence
        assert 20 < len(sentence) < 250
