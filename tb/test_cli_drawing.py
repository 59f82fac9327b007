"""The rasteriser's options of `minmip run`: each has an effect that can be seen, or is refused."""

import json

import numpy as np
import pytest
from PIL import Image
from test_cli import assert_refused, minmip

from minmip.sim.drawing import Drawing
from minmip.sim.frontend import RasterState, SceneError, builtin_scene, render_quads
from minmip.sim.painting import visible
from minmip.sim.pictures import BACKGROUND
from minmip.sim.scene_maps import open_scene

WIDTH, HEIGHT = 64, 36


@pytest.fixture(scope="module", autouse=True)
def _no_pictures_of_maps():
    """They take most of the time, and test_cli.py looks at them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("minmip.sim.job.draw_levels", lambda *_: None)
        yield


def run(folder, *options):
    """Summary of the only frame, and its pictures by file name, without the legend."""
    result = minmip("run", "--size", f"{WIDTH}x{HEIGHT}", "--out", folder, *options)
    assert result.exit_code == 0, result.output
    pictures = {}
    for path in sorted(folder.glob("frame0000*.png")):
        if "_map" not in path.name:
            with Image.open(path) as picture:
                pictures[path.name] = np.asarray(picture.convert("RGB"))[:HEIGHT].astype(int)
    summary = json.loads((folder / "summary.json").read_text())
    return summary["drawing"], summary["frames"][0], pictures


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    return run(tmp_path_factory.mktemp("plain"))


def drawn(picture):
    """Pixels where something was drawn, bool [rows, columns]."""
    return np.abs(picture - np.multiply(BACKGROUND, 255)).max(axis=2) >= 2


def test_without_options_all_is_plain(plain):
    drawing, frame, pictures = plain
    assert drawing == {
        "viewport": None,
        "scissor": None,
        "cull": "material",
        "samples": 1,
        "slices": 1,
        "early_z": True,
        "hierarchical_z": False,
        "interpolation": None,
        "centroid": False,
        "depth_bias": None,
        "gradients": "implicit",
    }
    assert drawn(pictures["frame0000.png"]).all()
    assert frame["rasteriser"]["hidden_tiles"] == 0


def test_viewport_and_scissor(tmp_path, plain):
    box = "--viewport", "-8,6,40,24,0.25,0.75", "--scissor", "3,0,99,20"
    drawing, frame, pictures = run(tmp_path, *box)
    inside = np.zeros((HEIGHT, WIDTH), bool)
    inside[6:20, 3:32] = True
    np.testing.assert_array_equal(drawn(pictures["frame0000.png"]), inside)
    assert frame["live_lanes"] < plain[1]["live_lanes"]
    assert drawing["viewport"]["far"] == 0.75
    assert drawing["scissor"] == [3, 0, 99, 20]


def test_late_z_samples_more_and_shows_the_same(tmp_path, plain):
    _, frame, pictures = run(tmp_path, "--late-z")
    assert frame["samples"] > plain[1]["samples"]
    assert frame["rasteriser"] == plain[1]["rasteriser"]
    late = Drawing(state=RasterState(early_z=False))
    seen = []
    for drawing in (Drawing(), late):
        quads = render_quads(builtin_scene(), WIDTH, HEIGHT, state=drawing.state)
        shown = visible(quads, (WIDTH, HEIGHT))
        seen.append((quads.uv[shown >> 2, shown & 3], quads.triangle[shown >> 2]))
    np.testing.assert_array_equal(seen[0][0], seen[1][0])
    np.testing.assert_array_equal(seen[0][1], seen[1][1])
    assert drawn(pictures["frame0000.png"]).all()


def test_hierarchical_z_saves_work_only(tmp_path, plain, monkeypatch):
    monkeypatch.setattr("minmip.sim.frontend.raster.TILES_AT_ONCE", 64)
    _, frame, pictures = run(tmp_path, "--hierarchical-z")
    np.testing.assert_array_equal(pictures["frame0000.png"], plain[2]["frame0000.png"])
    work, before = frame.pop("rasteriser"), plain[1]["rasteriser"]
    assert frame == {name: value for name, value in plain[1].items() if name != "rasteriser"}
    assert work["hidden_tiles"] > 0
    assert work["samples"] < before["samples"]
    assert work["passed_samples"] == before["passed_samples"]


def test_slices_take_the_primitives_in_turn(tmp_path, plain):
    drawing, frame, pictures = run(tmp_path, "--slices", 2)
    assert drawing["slices"] == 2
    assert sorted(pictures) == ["frame0000_slice00.png", "frame0000_slice01.png"]
    first, second = (drawn(picture) for picture in pictures.values())
    assert not first.all() or not second.all()
    assert first.any()
    assert second.any()
    assert frame["quads"] > plain[1]["quads"]  # the other slice hides nothing
    scene = Drawing(state=RasterState(slices=3)).apply(open_scene("builtin"))
    assert [p.slice for p in scene.frame(0, 1)] == [n % 3 for n in range(len(scene.frame(0, 1)))]


def test_coverage_and_centroid(tmp_path, plain):
    drawing, frame, _ = run(tmp_path, "--samples", 8, "--centroid")
    assert (drawing["samples"], drawing["centroid"]) == (8, True)
    assert frame["rasteriser"]["passed_samples"] > 7 * plain[1]["rasteriser"]["passed_samples"]
    assert frame["live_lanes"] > plain[1]["live_lanes"]  # a pixel counts if any sample is covered
    places = []
    for centroid in (False, True):
        scene = Drawing(state=RasterState(samples=8), centroid=centroid).apply(builtin_scene())
        places.append(render_quads(scene, WIDTH, HEIGHT, state=RasterState(samples=8)).uv)
    assert (places[0] != places[1]).any()


def test_gradients_of_the_shader(tmp_path, plain):
    """Coarse ones are what the unit takes itself; fine ones are others where surfaces bend."""
    frames = {}
    for gradients in ("coarse", "fine"):
        drawing, frames[gradients], _ = run(tmp_path, "--gradients", gradients)
        assert drawing["gradients"] == gradients
    assert frames["coarse"] == plain[1]
    assert frames["fine"] != plain[1]
    assert frames["fine"]["rasteriser"] == plain[1]["rasteriser"]


@pytest.mark.parametrize(
    ("options", "same"),
    [
        (["--interpolation", "perspective"], True),
        (["--interpolation", "linear"], False),
        (["--depth-bias", "-99999999"], False),  # all at depth 0: the first one is seen
        (["--depth-bias", "-99999999,0,-1e-9"], True),
        (["--cull", "front"], False),
    ],
)
def test_draws_are_changed(tmp_path, plain, options, same):
    _, frame, _ = run(tmp_path, *options)
    assert (frame == plain[1]) == same


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--viewport", "1,2,3"], ["LEFT,TOP,WIDTH,HEIGHT[,NEAR,FAR]", "1,2,3"]),
        (["--viewport", "0,0,x,4"], ["wanted numbers", "0,0,x,4"]),
        (["--viewport", "0,0,-5,4"], ["at least 0", "-5 x 4"]),
        (["--viewport", "0,0,4,40000"], ["-32768..32767", "40000"]),
        (["--viewport", "0,0,4,4,0.5,0.25"], ["near <= far", "0.5 and 0.25"]),
        (["--viewport", "nan,0,4,4"], ["finite", "nan"]),
        (["--scissor", "0,0,4"], ["LEFT,TOP,RIGHT,BOTTOM", "0,0,4"]),
        (["--scissor", "0,0,4.5,4"], ["whole numbers", "4.5"]),
        (["--scissor", "5,0,4,4"], ["left <= right", "(5, 0, 4, 4)"]),
        (["--samples", "3"], ["3"]),
        (["--centroid"], ["2, 4 or 8, not 1"]),
        (["--interpolation", "cubic"], ["cubic"]),
        (["--gradients", "exact"], ["exact"]),
        (["--depth-bias", "0.5"], ["whole number of steps", "0.5"]),
        (["--depth-bias", "1,2,3,4"], ["CONSTANT[,SLOPE[,CLAMP]]", "1,2,3,4"]),
        (["--depth-bias", "1,inf"], ["slope_scaled", "inf"]),
        (["--late-z", "--hierarchical-z"], ["needs early_z"]),
        (["--slices", "0"], ["1..2048", "0"]),
        (["--slices", "two"], ["two"]),
        (["--samples", "8", "--slices", "2048"], ["samples", "8 samples x 2048 slices"]),
        (["--cull", "both"], ["both"]),
    ],
)
def test_bad_options_are_refused(tmp_path, options, words):
    out = tmp_path / "out"
    assert_refused(minmip("run", *options, "--out", out), *words)
    assert not out.exists()


def test_too_many_samples_are_refused_before_the_unit_is_built(tmp_path, monkeypatch):
    monkeypatch.setattr("minmip.sim.cli.backend_from_options", lambda *_: pytest.fail("built"))
    result = minmip("run", "--samples", 8, "--slices", 64, "--out", tmp_path / "out")
    assert_refused(result, "at most 67108864 samples")


def test_bad_gradients_are_refused():
    with pytest.raises(SceneError, match="one of implicit, coarse, fine, not 'exact'"):
        Drawing(gradients="exact")
