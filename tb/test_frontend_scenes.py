"""The built-in scene, cameras and movement from frame to frame."""

import doctest
from pathlib import Path

import numpy as np
import pytest

from minmip.sim.frontend import builtin_scene, render_quads
from minmip.sim.frontend.camera import BoxCamera, Camera, Orthographic, Perspective, look_at


def test_builtin_scene_is_whole_and_the_same_every_time():
    first = render_quads(builtin_scene(), 480, 270)
    again = render_quads(builtin_scene(), 480, 270)
    for name in ("x", "y", "uv", "live_mask", "depth", "texture", "triangle"):
        np.testing.assert_array_equal(getattr(first, name), getattr(again, name))
    covered = np.zeros((270, 480), bool)
    for lane in range(4):
        live = first.live_mask >> lane & 1 == 1
        covered[first.y[live] + lane // 2, first.x[live] + lane % 2] = True
    assert covered.all()
    assert np.isfinite(first.uv).all()


def test_builtin_scene_has_what_it_promises():
    scene = builtin_scene()
    sizes = {(texture.width, texture.height) for texture in scene.textures}
    assert any(width != height for width, height in sizes)
    assert any(width & (width - 1) for width, _ in sizes)
    assert {t.wrap_u for t in scene.textures} == {"wrap", "mirror", "clamp"}
    quads = render_quads(scene, 1920, 1080)
    assert set(quads.texture.tolist()) == set(range(len(scene.textures)))
    size = np.array([(t.width, t.height) for t in scene.textures])[quads.texture]
    steps = (quads.uv[:, 1:3] - quads.uv[:, :1]) * size[:, None]
    lod = np.log2(np.linalg.norm(steps, axis=2).max(axis=1))
    levels = np.bincount(np.clip(np.floor(lod), 0, 15).astype(int), minlength=12)
    assert (levels[:7] > len(quads) / 200).all(), levels
    assert (levels[7:11] > 100).all(), levels
    ratio = np.linalg.norm(steps, axis=2)
    assert (ratio.max(axis=1) > 8 * ratio.min(axis=1)).mean() > 0.02  # seen at a grazing angle


def test_builtin_scene_moves():
    scene = builtin_scene()
    still, moved = scene.frame(0, 4), scene.frame(1, 4)
    assert len(still) == len(moved)
    same = [np.array_equal(a.positions, b.positions) for a, b in zip(still, moved, strict=True)]
    assert same.count(False) == 1
    first = render_quads(scene, 96, 54, 0, 4)
    next_frame = render_quads(scene, 96, 54, 1, 4)
    assert len(first) != len(next_frame) or not np.array_equal(first.uv, next_frame.uv)


def test_mips_of_a_texture():
    texture = builtin_scene().textures[4]
    assert (texture.width, texture.height, texture.mips) == (1500, 1000, 11)
    assert [texture.mip_size(level) for level in (0, 1, 9, 10)] == [
        (1500, 1000),
        (750, 500),
        (2, 1),
        (1, 1),
    ]


def seen(matrix, point):
    """NDC of a point in world space."""
    clip = matrix @ np.append(point, 1.0)
    return clip[:3] / clip[3]


def test_projections_map_the_view_volume_to_the_clip_volume():
    view = look_at([0, 0, 5], [0, 0, 0])
    perspective = Perspective(fov=np.pi / 2, near=1, far=9)
    camera = Camera(view=view, projection=perspective, pivot=np.zeros(3))
    matrix = camera.matrix(2.0, 0)
    np.testing.assert_allclose(seen(matrix, [2, 1, 4]), [1, 1, 0], atol=1e-12)
    np.testing.assert_allclose(seen(matrix, [-18, -9, -4]), [-1, -1, 1], atol=1e-12)
    endless = Perspective(fov=np.pi / 2, near=1).matrix(1.0) @ view
    np.testing.assert_allclose(seen(endless, [0, 0, 4])[2], 0, atol=1e-12)
    assert 0.999 < seen(endless, [0, 0, -1e4])[2] < 1
    flat = Orthographic(ymag=3, near=2, far=12).matrix(2.0) @ view
    np.testing.assert_allclose(seen(flat, [6, 3, 3]), [1, 1, 0], atol=1e-12)
    np.testing.assert_allclose(seen(flat, [0, -3, -7]), [0, -1, 1], atol=1e-12)


def test_a_camera_goes_round_its_pivot():
    pivot = np.array([1.0, 2.0, -3.0])
    camera = Camera(
        view=look_at([1, 2, 2], pivot),
        projection=Perspective(fov=1, near=0.1),
        pivot=pivot,
        step=np.pi / 2,
    )
    for frame in range(4):
        np.testing.assert_allclose(seen(camera.matrix(1.5, frame), pivot)[:2], 0, atol=1e-12)
    # After a quarter turn the eye is at +x of the pivot: what is towards +z is to its left.
    assert seen(camera.matrix(1.0, 1), pivot + np.array([0, 0, 1]))[0] < 0
    # The box camera goes round the same way: seen from the right, +z is to the left.
    box = BoxCamera(low=pivot - 1, high=pivot + 1)
    assert seen(box.matrix(1.0, 30), pivot + np.array([0, 0, 1]))[0] < 0


@pytest.mark.parametrize("aspect", [0.4, 1.0, 16 / 9, 5.0])
def test_a_box_camera_shows_the_whole_box_and_fills_the_frame(aspect):
    rng = np.random.default_rng(1)
    for _ in range(20):
        low = rng.uniform(-5, 5, 3)
        high = low + rng.uniform(0, 1, 3) * 10.0 ** rng.uniform(-2, 2, 3)
        camera = BoxCamera(low=low, high=high)
        for frame in (0, 1, 17, 50, 90):
            matrix = camera.matrix(aspect, frame)
            corners = np.array(np.meshgrid(*zip(low, high, strict=True))).reshape(3, 8).T
            ndc = np.array([seen(matrix, corner) for corner in corners])
            assert np.abs(ndc[:, :2]).max() <= 1
            assert np.abs(ndc[:, :2]).max() > 0.5
            assert ndc[:, 2].min() >= 0
            assert ndc[:, 2].max() <= 1


def test_a_box_of_one_point():
    point = np.array([4.0, 5.0, 6.0])
    ndc = seen(BoxCamera(low=point, high=point).matrix(1.0, 0), point)
    np.testing.assert_allclose(ndc[:2], 0, atol=1e-12)
    assert 0 < ndc[2] < 1


def test_examples_of_the_page():
    page = Path(__file__).resolve().parent.parent / "docs" / "front-end.md"
    found = doctest.testfile(str(page), module_relative=False, verbose=False)
    assert found.attempted > 30
    assert not found.failed
