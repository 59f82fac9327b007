"""The command as its user meets it: what it writes, and one sentence with exit status 2."""

import json
import os
import sys

import numpy as np
import pytest
from click.testing import CliRunner
from gltf_maker import png, textured_square
from PIL import Image
from traces import MIN, image, sampler, trace

from minmip.sim import golden
from minmip.sim.cli import main
from minmip.sim.pictures import BACKGROUND, draw_levels, draw_used
from minmip.sim.trace import Trace


def minmip(*arguments):
    return CliRunner().invoke(main, [str(a) for a in arguments])


def assert_refused(result, *words):
    assert result.exit_code == 2, result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)
    sentences = [line for line in result.stderr.splitlines() if line]
    for word in words:
        assert word in sentences[-1]


@pytest.fixture(scope="module", params=["minmip", "used"])
def job(request, tmp_path_factory):
    out = tmp_path_factory.mktemp("job") / "made" / "deep"
    result = minmip(
        "run", "--size", "320x181", "--frames", 2, "--kind", request.param, "--trace", "--out", out
    )
    assert result.exit_code == 0, result.output
    return request.param, out, json.loads((out / "summary.json").read_text())


def test_run_writes_pictures_and_traces(job):
    _, out, summary = job
    names = {path.name for path in out.iterdir()}
    textures = len(summary["textures"])
    assert sum("_map" in name for name in names) == 2 * textures
    assert {"frame0000.png", "frame0001.png", "frame0000_trace.npz", "summary.json"} <= names
    assert not [name for name in names if name.startswith(".")]
    with Image.open(out / "frame0000.png") as picture:
        assert picture.size == (320, 181 + 48)
        picture.load()
        top = np.asarray(picture.convert("RGB"))[:181]
    assert len(np.unique(top.reshape(-1, 3), axis=0)) > 8


def test_summary_adds_up(job):
    kind, _, summary = job
    assert summary["kind"] == kind
    for frame in summary["frames"]:
        assert frame["quads"] == sum(t["quads"] for t in frame["textures"])
        assert frame["live_lanes"] == sum(t["live_lanes"] for t in frame["textures"])
        assert frame["samples"] == frame["writes"]["before_combining"]
        assert 0 < frame["writes"]["after_combining"] < frame["samples"]
        tiles = frame["tiles_64kb"]
        assert 0 < tiles["needed"] < tiles["whole"]
        for entry, texture in zip(frame["textures"], summary["textures"], strict=True):
            assert entry["tiles_64kb"]["packed"] <= entry["tiles_64kb"]["needed"]
            assert all(0 <= int(k) < texture["mips"] for k in entry["regions_by_mip_level"])


def test_the_saved_trace_replays_to_the_same_figures(job):
    _, out, summary = job
    for index, frame in enumerate(summary["frames"]):
        trace_ = Trace.load(out / f"frame{index:04}_trace.npz")
        result = golden.run(trace_)
        assert len(trace_) == frame["quads"]
        assert int(result.samples.sum()) == frame["samples"]
        assert int(result.writes.sum()) == frame["writes"]["after_combining"]


def test_regions_cut_to_small_textures(tmp_path):
    result = minmip("run", "--size", "64x64", "--region", "1024x256", "--out", tmp_path)
    assert result.exit_code == 0, result.output
    textures = json.loads((tmp_path / "summary.json").read_text())["textures"]
    for texture in textures:
        for side, region, wanted in zip(
            texture["size"], texture["region"], (1024, 256), strict=True
        ):
            assert region == min(wanted, 1 << side.bit_length() - 1)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--frames", "0"], ["frames", "0"]),
        (["--size", "0x100"], ["width", "0"]),
        (["--size", "99999x10"], ["width", "99999"]),
        (["--size", "16384x16384"], ["pixels"]),
        (["--size", "banana"], ["1920x1080", "banana"]),
        (["--size", "-4x4"], ["-4x4"]),
        (["--size", "10x" + "9" * 40], ["9999"]),
        (["--region", "100x128"], ["powers of two", "100x128"]),
        (["--region", "0x128"], ["powers of two", "0x128"]),
        (["--region", "65536x128"], ["at most", "65536x128"]),
        (["--kind", "both"], ["both"]),
        (["--aniso", "3"], ["3"]),
        (["/nowhere/at/all.glb"], ["/nowhere/at/all.glb"]),
    ],
)
def test_run_refuses(tmp_path, arguments, words):
    out = tmp_path / "out"
    assert_refused(minmip("run", *arguments, "--out", out), *words)
    assert not out.exists()


def test_run_refuses_a_folder_that_is_a_file(tmp_path):
    out = tmp_path / "out"
    out.write_text("mine")
    assert_refused(minmip("run", "--size", "16x16", "--out", out), str(out))
    assert out.read_text() == "mine"


@pytest.mark.skipif(not os.path.isdir("/sys/kernel"), reason="no /sys, where nobody may write")
def test_run_refuses_an_unwritable_folder():
    assert_refused(minmip("run", "--size", "16x16", "--out", "/sys/minmip"), "/sys/minmip")


@pytest.mark.parametrize("kind", ["minmip", "used"])
def test_all_of_a_square_is_painted_if_the_region_does_not_divide_it(tmp_path, kind):
    maker = textured_square()
    maker.json["images"][0]["bufferView"] = maker.view(png(300, 200))
    maker.add("samplers", wrapS=33071, wrapT=33071)
    maker.json["textures"][0]["sampler"] = 0
    path = maker.save(tmp_path)
    out = tmp_path / "out"
    result = minmip("run", path, "--size", "160x120", "--kind", kind, "--out", out)
    assert result.exit_code == 0, result.output
    with Image.open(out / "frame0000.png") as picture:
        colors = np.asarray(picture.convert("RGB"))[:120].reshape(-1, 3).astype(int)
    gray = np.ptp(colors, axis=1) < 12
    dark = np.abs(colors - np.multiply(BACKGROUND, 255)).max(axis=1) < 2
    assert dark.any()
    assert (gray == dark).all()  # nothing has the grey of "not sampled"
    (texture,) = json.loads((out / "summary.json").read_text())["frames"][0]["textures"]
    assert texture.get("regions_not_sampled", 0) == 0


def test_a_frame_with_nothing_in_view(tmp_path):
    maker = textured_square()
    maker.json["nodes"][0]["rotation"] = [0, 1, 0, 0]  # its back faces the camera
    path = maker.save(tmp_path)
    out = tmp_path / "out"
    result = minmip("run", path, "--size", "16x16", "--trace", "--out", out)
    assert result.exit_code == 0, result.output
    frame = json.loads((out / "summary.json").read_text())["frames"][0]
    assert (frame["quads"], frame["samples"], frame["writes"]["after_combining"]) == (0, 0, 0)
    result = minmip("replay", out / "frame0000_trace.npz", "-o", tmp_path / "o.npz", "--check")
    assert result.exit_code == 0, result.output


def test_any_texture_name(tmp_path):
    names = ["$\\frac$", "a^b_c$d", "مرحبا", "नमस्ते", "日本語 😀", "n" * 300, ""]
    for name in names:
        draw_levels(tmp_path / "levels.png", np.zeros((2, 2), np.uint8), name)
        draw_used(tmp_path / "used.png", [np.zeros((1, 1), np.uint8)], name)
    maker = textured_square()
    maker.json["images"][0]["name"] = "../../$\\frac$"
    out = tmp_path / "out"
    result = minmip("run", maker.save(tmp_path), "--size", "16x16", "--out", out)
    assert result.exit_code == 0, result.output
    assert len(list(out.iterdir())) == 3


@pytest.mark.parametrize("error", [KeyboardInterrupt(), MemoryError("Unable to allocate 1 TiB")])
def test_a_broken_run_leaves_no_folder(tmp_path, monkeypatch, error):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr("minmip.sim.job.draw_frame", fail)
    result = minmip("run", "--size", "16x16", "--out", tmp_path / "made" / "deep")
    if isinstance(error, MemoryError):
        assert_refused(result, "not enough memory: Unable to allocate 1 TiB")
    else:
        assert result.exit_code == 1  # click's "Aborted!"
    assert not list(tmp_path.iterdir())


def test_a_failed_run_leaves_the_folder_as_it_was(tmp_path, monkeypatch):
    (tmp_path / "old.txt").write_text("keep")

    def fail(*_, **__):
        raise OSError(28, "No space left on device", "map.png")

    monkeypatch.setattr("minmip.sim.job.draw_levels", fail)
    assert_refused(minmip("run", "--size", "16x16", "--out", tmp_path), "No space left")
    assert [path.name for path in tmp_path.iterdir()] == ["old.txt"]


@pytest.fixture
def small_trace(tmp_path):
    t = image((64, 64), kind=MIN, scales=(2, 2), view=(0, 6), SW_MODE=0)
    quads = [{"opcode": 4, "uvw": [x / 7, 0.4]} for x in range(7)]
    path = tmp_path / "t.npz"
    trace(t, sampler(mip=1), quads, fill=0xFF).save(path)
    return path


def test_replay(tmp_path, small_trace):
    out = tmp_path / "o.npz"
    result = minmip("replay", small_trace, "-o", out, "--pattern", "--check")
    assert result.exit_code == 0, result.output
    wanted = golden.run(Trace.load(small_trace), pattern=True)
    with np.load(out) as got:
        for name in ("memory", "error", "filtered", "pattern_start", "pattern"):
            np.testing.assert_array_equal(got[name], getattr(wanted, name))


def test_replay_check_tells_the_difference(tmp_path, small_trace, monkeypatch):
    honest = golden.run

    def wrong(trace_, *, workers=2, **options):
        result = honest(trace_, workers=workers, **options)
        if workers == 2:  # the backend, not the check
            result.memory[3] ^= 0xFF
            result.error[5] = 12
            result.filtered[1, 2] = 256
        return result

    monkeypatch.setattr(golden, "run", wrong)
    out = tmp_path / "o.npz"
    result = minmip("replay", small_trace, "-o", out, "--check")
    assert result.exit_code == 1
    assert "map byte at 0x3: 0x" in result.stderr
    assert "quad 5 (SAMPLE_LZ): error code 12, wanted 0" in result.stderr
    assert "quad 1 (SAMPLE_LZ) lane 2: filtered value 1.0, wanted 0.0" in result.stderr
    assert not out.exists()


def test_replay_refuses(tmp_path, small_trace):
    out = tmp_path / "o.npz"
    assert_refused(minmip("replay", tmp_path / "none.npz", "-o", out), "none.npz", "no such file")
    bad = tmp_path / "bad.npz"
    bad.write_bytes(small_trace.read_bytes()[:300])
    assert_refused(minmip("replay", bad, "-o", out), "bad.npz", "not a readable")
    with np.load(small_trace) as arrays:
        np.savez(bad, **{k: v for k, v in arrays.items() if k != "opcode"})
    assert_refused(minmip("replay", bad, "-o", out), "'opcode' is missing")
    assert_refused(minmip("replay", small_trace, "-o", tmp_path / "no" / "o.npz"), "o.npz")
    assert not out.exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--lanes", "2"], ["--lanes", "no lanes"]),
        (["--wave-cycles", "0:9"], ["--wave FILE"]),
        (["--wave", "w.vcd"], ["--backend verilator"]),
        (["--backend", "verilator", "--wave", "w.png"], [".vcd or .fst", "w.png"]),
        (["--backend", "verilator", "--wave", "/no/w.vcd"], ["/no/w.vcd"]),
        (["--backend", "verilator", "--wave-cycles", "9:0"], ["two rising whole numbers", "9:0"]),
        (["--backend", "fpga"], ["fpga"]),
        (["--backend", "pysim", "--lanes", "3"], ["3"]),
        (["--preset", "huge"], ["huge"]),
    ],
)
def test_backend_options_refused(tmp_path, small_trace, options, words):
    out = tmp_path / "o.npz"
    assert_refused(minmip("replay", small_trace, "-o", out, *options), *words)
    assert_refused(minmip("run", "--size", "16x16", "--out", tmp_path / "run", *options), *words)
    assert not out.exists()
    assert not (tmp_path / "run").exists()


def test_golden_model_of_a_preset(tmp_path):
    path = tmp_path / "t.npz"
    volume = image((8, 8, 8), kind=MIN, type=10)
    trace(volume, sampler(), [{"uvw": [0.5, 0.5, 0.5]}]).save(path)
    for preset, code in ((), 0), (("--preset", "small"), 14):
        result = minmip("replay", path, "-o", tmp_path / "o.npz", "--check", *preset)
        assert result.exit_code == 0, result.output
        with np.load(tmp_path / "o.npz") as got:
            assert got["error"].tolist() == [code]


def test_missing_tool_is_one_sentence(tmp_path, small_trace, monkeypatch):
    monkeypatch.setenv("MINMIP_BUILD", str(tmp_path / "build"))
    monkeypatch.setitem(sys.modules, "verilator", None)
    result = minmip("replay", small_trace, "-o", tmp_path / "o.npz", "--backend", "verilator")
    assert_refused(result, "Verilator is missing", "make setup")


def test_help_lists_whole_sentences():
    result = minmip("--help")
    assert result.exit_code == 0
    told = " ".join(result.output.split())
    for name, command in main.commands.items():
        sentence = command.help.split("\n\n")[0].split(". ")[0].rstrip(".")
        assert f" {name} {' '.join(sentence.split())}" in told
    assert "--size WxH" in minmip("run", "--help").output


def test_doctor_names_every_tool():
    result = minmip("doctor")
    assert result.exit_code == 0, result.output
    for name in ("python", "numpy", "pygltflib", "verilator", "g++"):
        assert name in result.output


def test_doctor_fails_when_something_needed_is_missing(monkeypatch):
    from importlib import metadata

    def missing(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", missing)
    result = minmip("doctor")
    assert result.exit_code == 1
    assert "MISSING" in result.output


def test_measure_quick():
    result = minmip("measure", "--quick")
    assert result.exit_code == 0, result.output
    assert "LOD, isotropic: 100000 gradients" in result.output
    assert result.output.count("golden model, built-in scene 480x270") == 4
