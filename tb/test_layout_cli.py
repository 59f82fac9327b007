"""`minmip layout`, `swizzle`, `unswizzle` and `measure-layout` as their user meets them."""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

from minmip.sim.cli import main
from minmip.sim.layout import DdsImage, Texture, layout, read_dds, write_dds


def minmip(*arguments):
    return CliRunner().invoke(main, [str(a) for a in arguments])


def assert_refused(result, words):
    assert result.exit_code == 2, result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert words in result.stderr.splitlines()[-1]
    assert "Traceback" not in result.stderr
    assert not result.stdout


def test_table():
    result = minmip("layout", "48x24", "--bytes", 4, "--mips", "all", "--mode", "4KB_S")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0] == "4KB_S (mode 5, layout 0x105), 2D: 16384 bytes, alignment 4096"
    assert "address bits from 0: - - x0 x1 y0 y1 y2 x2 y3 x3 y4 x4" in lines
    assert lines[-6].split() == ["0", "48x24x1", "64x32x1", "8192", "8192"]
    assert lines[-1].split() == ["5", "1x1x1", "8x8x1", "1024", "256", "tail"]


def test_a_file_of_another_size(tmp_path):
    path, out = tmp_path / "a.bin", tmp_path / "a.dds"
    path.write_bytes(bytes(100))
    result = minmip("unswizzle", path, "16x16", "--format", "R8", "--mode", "256B_S", "-o", out)
    assert_refused(result, f"{path} must have the 256 bytes of this resource, not 100")
    result = minmip("unswizzle", path, "16x16", "--format", "NV12", "-o", out)
    assert_refused(result, "a DDS file has one plane, NV12 has 2")
    assert not out.exists()


def test_json_is_the_query():
    arguments = ("layout", "40x30x20", "--format", "BC3", "--mips", 3, "--mode", "64KB_S")
    result = minmip(*arguments, "--at", "1,2,3,4", "--json")
    assert result.exit_code == 0
    data = json.loads(result.stdout)
    texture = Texture(
        width=40, height=30, depth=20, dimension="3D", format="BC3", mips=3, mode="64KB_S"
    )
    resource = layout(texture)
    assert data["SizeBytes"] == resource.SizeBytes
    assert data["Offsets"] == [{"at": [1, 2, 3, 4], "bytes": resource.offset(1, 2, 3, 4)}]
    plane = data["Planes"][0]
    assert plane["BlockElements"] == list(resource.Planes[0].surface.block)
    for told, mip in zip(plane["MipLayout"], resource.Planes[0].MipLayout, strict=True):
        assert told == vars(mip)


@pytest.mark.parametrize("hardware", ["lockhart", "0x243", "3,2"])
def test_hardware_is_named_in_three_ways(hardware):
    result = minmip("layout", "64x64", "--mode", "VAR_R_X", "--hardware", hardware)
    assert "131072 bytes, alignment 131072" in result.stdout


@pytest.mark.parametrize(
    "options",
    [
        ("48x24", "--mips", "6", "--mode", "4KB_S"),
        ("1024x512", "--format", "BC1", "--mips", "all", "--mode", "64KB_R_X"),
        ("33x20x17", "--bytes", "2", "--mips", "all", "--mode", "64KB_S"),
        ("100x3", "--mode", "LINEAR", "--mips", "4"),
        ("64x64", "--format", "NV12", "--mode", "64KB_R_X", "--plane", "1"),
        ("5000", "--bytes", "1", "--mode", "LINEAR"),
    ],
    ids=lambda o: " ".join(o),
)
def test_pictures(options, tmp_path):
    path = tmp_path / "layout.png"
    result = minmip("layout", *options, "--picture", path)
    assert result.exit_code == 0, result.output
    with Image.open(path) as picture:
        assert picture.width > 1000
        pixels = np.asarray(picture.convert("RGB"))
    assert len(np.unique(pixels.reshape(-1, 3), axis=0)) > 50


def test_vector_picture(tmp_path):
    path = tmp_path / "layout.svg"
    assert minmip("layout", "48x24", "--picture", path).exit_code == 0
    assert "<svg" in path.read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("0x4",), "width is at least 1"),
        (("4x4", "--mips", "4"), "a whole chain of 3, not 4 mips"),
        (("4x4", "--mips", "many"), "'all', not 'many'"),
        (("4x4", "--bytes", "3"), "1, 2, 4, 8 or 16 bytes, not 3"),
        (("4x4", "--bytes", "0"), "1, 2, 4, 8 or 16 bytes, not 0"),
        (("4x4", "--mode", "64KB_R"), "64KB_R (11) is reserved"),
        (("4x4", "--mode", "4KB_R_X"), "no address pattern"),
        (("4x4", "--usage", "HTILE"), "HTILE planes hold compression metadata"),
        (("4x4", "--at", "0,4,0"), "x = 4 is outside 0 to 3"),
        (("4x4", "--at", "1,0,0"), "mip 1 is outside"),
        (("4x4", "--plane", "1", "--at", "0,0,0"), "plane 1 is outside"),
        (("16777216x16777216", "--bytes", "16", "--mode", "LINEAR"), "more than 2^48"),
        (("4y4",), "wanted whole numbers such as 48x24"),
        (("4x4x4x4",), "wanted whole numbers"),
        (("4x4", "--hardware", "5,1"), "packers <= pipes"),
        (("4x4", "--hardware", "xbox"), "wanted anaconda"),
        (("4x4", "--picture", "layout.gif"), "ends in .png, .svg, .pdf"),
        (("4x4", "--picture", "no/where.png"), "No such file"),
    ],
)
def test_refusals(arguments, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert_refused(minmip("layout", *arguments), words)
    assert not list(tmp_path.iterdir())


@pytest.fixture
def image(tmp_path):
    texture = Texture(width=60, height=36, format="BC1_UNORM", mips=6, array_size=6, mode="LINEAR")
    plane = layout(texture).Planes[0]
    rng = np.random.default_rng(20261130)
    sizes = [plane.mip_size(mip) for mip in range(6)]
    images = [rng.integers(0, 256, (n, h, w, 8), np.uint8) for w, h, n in sizes]
    write_dds(tmp_path / "in.dds", DdsImage(texture=texture, images=images, cube=True))
    return images


def test_dds_there_and_back(image, tmp_path):
    raw, back = tmp_path / "raw.bin", tmp_path / "back.dds"
    mode = ("--mode", "64KB_R_X", "--hardware", "lockhart", "--pipe-bank-xor", "3")
    result = minmip("swizzle", tmp_path / "in.dds", "-o", raw, *mode)
    assert result.exit_code == 0, result.output
    assert raw.stat().st_size == 6 * 65536
    shape = ("60x36", "--format", "BC1_UNORM", "--mips", "6", "--array", "6", "--cube")
    result = minmip("unswizzle", raw, *shape, "-o", back, *mode)
    assert result.exit_code == 0, result.output
    assert back.read_bytes() == (tmp_path / "in.dds").read_bytes()
    for part, found in zip(image, read_dds(back).images, strict=True):
        np.testing.assert_array_equal(part, found)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("swizzle", "nothing.dds", "-o", "out"), "nothing.dds: No such file"),
        (("swizzle", "short.dds", "-o", "out"), "short.dds: this is no DDS file"),
        (("swizzle", "in.dds", "-o", "out", "--mode", "VAR_S"), "VAR_S (13) is reserved"),
        (("swizzle", "in.dds", "-o", "no/where"), "No such file"),
        (("unswizzle", "short.dds", "4x4", "-o", "out"), "--format is needed"),
        (("unswizzle", "short.dds", "4x4", "--format", "BC1", "-o", "out"), "have the 65536 bytes"),
    ],
)
def test_files_that_are_refused(image, arguments, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "short.dds").write_bytes(b"DDS ")
    before = sorted(tmp_path.iterdir())
    assert_refused(minmip(*arguments), words)
    assert sorted(tmp_path.iterdir()) == before


def test_measures():
    result = minmip("measure-layout", "--quick")
    assert result.exit_code == 0, result.output
    for words in (" 1 bytes  plain copy", "16 bytes  64KB_S", "VAR_R_X", "GB/s", "a second"):
        assert words in result.stdout
