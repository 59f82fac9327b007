"""`minmip stream`, `stream-share` and `measure-stream` as their user meets them."""

import csv
import json
from itertools import pairwise

import numpy as np
import pytest
from click.testing import CliRunner
from gltf_maker import png, textured_square
from PIL import Image

from minmip.sim.cli import main
from minmip.sim.streaming import measure


def minmip(*arguments):
    return CliRunner().invoke(main, [str(a) for a in arguments])


SMALL = ("--size", "160x91", "--frames", 3, "--budget", 9, "--pool", 1.5)


@pytest.fixture(scope="module")
def flight(tmp_path_factory):
    out = tmp_path_factory.mktemp("stream") / "deep" / "out"
    result = minmip("stream", *SMALL, "--cut", 2, "--out", out)
    assert result.exit_code == 0, result.output
    return out, result


def test_what_a_flight_leaves(flight):
    out, result = flight
    pictures = [f"stream_frame000{frame}.png" for frame in range(3)]
    assert sorted(p.name for p in out.iterdir()) == sorted(
        [*pictures, "stream.csv", "stream.png", "summary.json"]
    )
    assert "frame 2: " in result.output
    with Image.open(out / "stream.png") as animation:
        assert animation.n_frames == 3
        assert animation.info["loop"] == 0
        animation.seek(2)
        last = np.asarray(animation.convert("RGB"))
    with Image.open(out / pictures[2]) as picture:
        np.testing.assert_array_equal(last, np.asarray(picture.convert("RGB")))
    assert len(np.unique(last.reshape(-1, 3), axis=0)) > 100


def test_figures_add_up(flight):
    out, _ = flight
    summary = json.loads((out / "summary.json").read_text())
    with open(out / "stream.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [{k: str(v) for k, v in row.items()} for row in summary["frames_of_the_flight"]] == rows
    assert summary["cut"] == 2
    assert summary["offset"] == "1/4"
    assert summary["tiles_64kb"] == {"whole": 31106, "packed": 13}
    assert summary["absent_texels"] == 0
    rows = summary["frames_of_the_flight"]
    assert rows[0]["resident_tiles"] == 13
    for before, row in pairwise(rows):
        held = before["resident_tiles"] + row["uploads"] - row["evictions"]
        assert held == row["resident_tiles"] <= 24
        assert row["resident_mib"] == row["resident_tiles"] / 16
        assert 0 < row["misses"] <= row["pixels"]
    for name, total in summary["totals"].items():
        assert total == sum(row[name] for row in rows)


def test_a_repeated_run_is_identical_and_replaces_the_earlier_one(flight, tmp_path):
    out, _ = flight
    (tmp_path / "stream_frame0007.png").write_text("of an earlier run")
    (tmp_path / "keep.png").write_text("the user's")
    result = minmip("stream", *SMALL, "--cut", 2, "--no-pictures", "--out", tmp_path)
    assert result.exit_code == 0, result.output
    assert {p.name for p in tmp_path.iterdir()} == {"keep.png", "stream.csv", "summary.json"}
    for name in ("stream.csv", "summary.json"):
        assert (tmp_path / name).read_bytes() == (out / name).read_bytes()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--pool", 0.5), "a pool of 0.5 MiB holds 8 tiles of 64 KB, but what is always resident"),
        (("--pool", 0), "holds 0 tiles"),
        (("--pool", -1), "the pool must have 0 to 2^24 MiB, not -1"),
        (("--pool", "nan"), "the pool must have 0 to 2^24 MiB, not nan"),
        (("--budget", 0), "upload budget must be at least 1 tile a frame, not 0"),
        (("--latency", 0), "latency must be at least 1 frame, not 0"),
        (("--frames", 0), "frames must be at least 1"),
        (("--size", "0x9"), "the frame's width must be in 1..16384"),
        (("--share", 0), "share of pixels that write feedback must be above 0"),
        (("--seed", -1), "seed must be at least 0, not -1"),
        (("--share", "nan"), "at most 1, not nan"),
        (("--region", "96x128"), "the region's sides must be powers of two, not 96x128"),
        (("--region", "32768x128"), "the region's sides must be at most 16384"),
        (("--region", "16x16"), "'grass' is not safe with an offset of 1/4 (spread 1): level 6"),
        (("--slope", "2.5"), "a slope of 2.5 needs an offset of at most 1/16"),
        (("--slope", "3", "--offset", "1/4"), "a slope of 3 one of at most 1/8"),
        (("--offset", "1/3"), "'1/3' is not one of '1/4'"),
        (("--offset", "1/8"), "its samples reach 0.25 of a region"),
        (("--spread", 0), "spread must be at least 1 level, not 0"),
        (("--spread", 2), "not safe with an offset of 1/8 (spread 2)"),
        (("--spread", 7), "a spread of 7 asks for an offset of 1/256"),
        (("--tail", -2), "tail must begin at level 0 or a coarser one, not -2"),
        (("--tail", 0), "(packed mips, levels from 0 on) takes 31106: 1944.12 MiB"),
        (("--aniso", "4"), "--aniso 4 wants --filter aniso, not trilinear"),
        (("--cut", 24), "can cut at a frame above 0 and below 24, not at 24"),
        (("no_such.glb",), "no_such.glb"),
    ],
)
def test_refused_in_one_sentence_and_nothing_written(arguments, words, tmp_path):
    out = tmp_path / "out"
    result = minmip("stream", *arguments, "--out", out)
    assert result.exit_code == 2, result.output
    lines = [line for line in result.stderr.splitlines() if line]
    assert words in lines[-1]
    assert not out.exists()
    assert "frame 0" not in result.output


def test_unsafe_is_seen_and_nothing_written(tmp_path):
    out = tmp_path / "out"
    result = minmip("stream", "--size", "240x136", "--frames", 4, "--unsafe", "--out", out)
    assert result.exit_code == 2
    assert "texel samples read tiles that are not resident, the first one tile" in result.stderr
    assert not out.exists()


def test_any_mesh_streams(tmp_path):
    maker = textured_square()
    maker.json["images"][0]["bufferView"] = maker.view(png(1024, 300))
    out = tmp_path / "out"
    mesh = maker.save(tmp_path)
    options = ("--size", "300x240", "--frames", 3, "--pool", 1, "--no-pictures", "--out", out)
    result = minmip("stream", mesh, *options)
    assert result.exit_code == 0, result.output
    summary = json.loads((out / "summary.json").read_text())
    assert summary["textures"][0]["map"] == [8, 2]
    assert summary["frames_of_the_flight"][2]["resident_tiles"] > summary["tiles_64kb"]["packed"]


def test_frames_with_nothing_in_view(tmp_path):
    maker = textured_square()
    maker.json["nodes"][0]["rotation"] = [0, 1, 0, 0]  # its back faces the camera
    out = tmp_path / "out"
    mesh = maker.save(tmp_path)
    result = minmip("stream", mesh, "--size", "16x16", "--frames", 3, "--out", out)
    assert result.exit_code == 0, result.output
    rows = json.loads((out / "summary.json").read_text())["frames_of_the_flight"]
    assert [row["pixels"] for row in rows] == [0, 0, 0]
    assert [row["wanted_tiles"] for row in rows] == [0, 0, 0]


def test_share_curve(tmp_path):
    out = tmp_path / "out"
    options = ("--size", "96x54", "--frames", 2, "--out", out)
    result = minmip("stream-share", *options, "--shares", "0.001,1,0.1")
    assert result.exit_code == 0, result.output
    with open(out / "share.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["share"]) for row in rows] == [1, 0.1, 0.001]
    missed = [float(row["missed_share"]) for row in rows]
    assert missed[0] == 0 < missed[1] < missed[2] < 1
    with Image.open(out / "share.png") as plot:
        assert plot.width > 500
    for shares, words in (("0,1", "not 0.0"), ("2", "not 2.0"), ("a", "wanted numbers such as")):
        refused = minmip("stream-share", *options, "--shares", shares)
        assert refused.exit_code == 2
        assert words in refused.stderr


def test_measures(monkeypatch):
    monkeypatch.setattr(measure, "POOLS_MIB", (2,))
    monkeypatch.setattr(measure, "QUICK_SIZE", (96, 54))
    result = minmip("measure-stream", "--quick")
    assert result.exit_code == 0, result.output
    assert result.output.count("cold start: no miss after") == 2
    assert result.output.count("after a cut: no miss after") == 2
    assert "hard borders: " in result.output
    assert "s of processor time (median of 5)" in result.output
