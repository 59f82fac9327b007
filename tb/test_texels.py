"""Texels of float formats as numbers: DDS images unpacked, packed and converted (spec 07)."""

import numpy as np
import pytest
from click.testing import CliRunner

from minmip.sim.cli import main
from minmip.sim.layout import DdsImage, LayoutError, Texture, layout, read_dds, write_dds
from minmip.sim.layout.texels import convert_dds, out_of_range, pack_texels, unpack_texels

INF, NAN = np.inf, np.nan
PACKED = ("R11G11B10_FLOAT", "R9G9B9E5_SHAREDEXP")
PLAIN = {
    "R16_FLOAT": (1, "<f2"),
    "R16G16_FLOAT": (2, "<f2"),
    "R16G16B16A16_FLOAT": (4, "<f2"),
    "R32_FLOAT": (1, "<f4"),
    "R32G32_FLOAT": (2, "<f4"),
    "R32G32B32A32_FLOAT": (4, "<f4"),
}


def minmip(*arguments):
    return CliRunner().invoke(main, [str(a) for a in arguments])


def image(form, colours, **texture):
    """One mip of colours [slices, rows, columns, channels]."""
    slices, height, width = colours.shape[:3]
    made = Texture(
        width=width, height=height, array_size=slices, format=form, mode="LINEAR", **texture
    )
    return DdsImage(texture=made, images=[pack_texels(form, colours.astype(np.float32))])


def floats(image_):
    return [unpack_texels(image_.texture.format, texels) for texels in image_.images]


def bits(values):
    return np.asarray(values, np.float32).view(np.uint32).tolist()


@pytest.mark.parametrize("form", PLAIN)
def test_plain_floats_are_their_bytes(form):
    channels, kind = PLAIN[form]
    rng = np.random.default_rng(1)
    values = rng.normal(size=(2, 5, 7, channels)).astype(kind)
    texels = np.frombuffer(values.tobytes(), np.uint8).reshape(2, 5, 7, -1)
    found = unpack_texels(form, texels)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, values.astype(np.float32))
    np.testing.assert_array_equal(pack_texels(form, found), texels)


def test_floats_of_32_bits_stay_bit_for_bit():
    patterns = np.array([0, 1 << 31, 1, 0x807FFFFF, 0x7F800000, 0x7F800001, 0xFFC12345], np.uint32)
    texels = patterns.view(np.uint8).reshape(7, 4)
    assert bits(unpack_texels("R32_FLOAT", texels)[:, 0]) == patterns.tolist()
    np.testing.assert_array_equal(pack_texels("R32_FLOAT", unpack_texels(41, texels)), texels)


@pytest.mark.parametrize(
    ("form", "colour", "word", "back"),
    [
        # every special value: zeros, least and denormal, largest, beyond, infinities, NaN
        ("R11G11B10_FLOAT", (0, -0.0, 0), 0, (0, 0, 0)),
        ("R11G11B10_FLOAT", (1, 0.5, 2), 0x801C03C0, (1, 0.5, 2)),
        ("R11G11B10_FLOAT", (2**-20, 0, 2**-19), 1 | 1 << 22, (2**-20, 0, 2**-19)),
        ("R11G11B10_FLOAT", (2**-21, 3 * 2**-21, 2**-14), 2 << 11 | 32 << 22, (0, 2**-19, 2**-14)),
        (
            "R11G11B10_FLOAT",
            (65024, 3e38, 1e9),
            0x7BF | 0x7BF << 11 | 0x3DF << 22,
            (65024, 65024, 64512),
        ),
        ("R11G11B10_FLOAT", (INF, -INF, INF), 0x7C0 | 0x3E0 << 22, (INF, 0, INF)),
        ("R11G11B10_FLOAT", (NAN, -1, NAN), 0x7E0 | 0x3F0 << 22, (NAN, 0, NAN)),
        ("R9G9B9E5_SHAREDEXP", (0, -0.0, 0), 0, (0, 0, 0)),
        ("R9G9B9E5_SHAREDEXP", (1, 0.5, 2), 0x8C008080, (1, 0.5, 2)),
        ("R9G9B9E5_SHAREDEXP", (2**-24, 2**-25, 2**-26), 1 | 1 << 9, (2**-24, 2**-24, 0)),
        ("R9G9B9E5_SHAREDEXP", (65408, 64, 0), 511 | 1 << 9 | 31 << 27, (65408, 128, 0)),
        ("R9G9B9E5_SHAREDEXP", (INF, -INF, 1e9), 511 | 511 << 18 | 31 << 27, (65408, 0, 65408)),
        ("R9G9B9E5_SHAREDEXP", (NAN, -1, 1e-40), 0, (0, 0, 0)),
    ],
)
def test_special_values_of_packed_floats(form, colour, word, back):
    texel = pack_texels(form, np.array([colour], np.float32))
    assert texel.view("<u4").ravel().tolist() == [word]
    assert bits(unpack_texels(form, texel)[0]) == bits(back)


@pytest.mark.parametrize("form", PACKED)
def test_every_texel_unpacks_and_packs(form):
    rng = np.random.default_rng(2)
    texels = rng.integers(0, 256, (3, 40, 50, 4), np.uint8)
    colours = unpack_texels(form, texels)
    assert colours.shape == (3, 40, 50, 3)
    np.testing.assert_array_equal(unpack_texels(form, pack_texels(form, colours)), colours)
    finite = np.isfinite(colours).all(axis=-1)
    if form == PACKED[0]:  # one code for each number
        np.testing.assert_array_equal(pack_texels(form, colours)[finite], texels[finite])
    assert not out_of_range(form, colours).any()


def test_what_is_out_of_range():
    for form, held, not_held in (
        ("R11G11B10_FLOAT", [0, 65024, INF, NAN], [-1e-9, 65025, -INF]),
        ("R9G9B9E5_SHAREDEXP", [-0.0, 1e-30, 65408], [-1, 65409, INF, -INF, NAN]),
        ("R16_FLOAT", [-65504, 1e-9, INF, -INF, NAN], [65505, -1e6]),
        ("R32_FLOAT", [3e38, -3e38, INF, -INF, NAN], []),
    ):
        channels = 3 if form in PACKED else 1
        for values, answer in ((held, False), (not_held, True)):
            colours = np.zeros((len(values), channels), np.float32)
            colours[:, 0] = values
            assert out_of_range(form, colours).tolist() == [answer] * len(values)
    blue = np.array([[0, 0, 64513]], np.float32)  # one bit less than red and green
    assert out_of_range("R11G11B10_FLOAT", blue).tolist() == [True]


def test_conversion_of_channels():
    rgba = np.array([[[[1, 2, 3, 0.5]]]])
    wide = image("R32G32B32A32_FLOAT", rgba)
    packed, limited = convert_dds(wide, "R9G9B9E5")
    assert (packed.texture.format, limited) == ("R9G9B9E5_SHAREDEXP", 0)
    assert floats(packed)[0].tolist() == [[[[1, 2, 3]]]]
    for form, expected in (
        ("R16G16B16A16_FLOAT", [1, 2, 3, 1]),
        ("R11G11B10_FLOAT", [1, 2, 3]),
        ("R32G32_FLOAT", [1, 2]),
        ("R16_FLOAT", [1]),
    ):
        assert floats(convert_dds(packed, form)[0])[0].tolist() == [[[expected]]]
    red, _ = convert_dds(packed, "R32_FLOAT")
    assert floats(convert_dds(red, "R32G32B32A32_FLOAT")[0])[0].tolist() == [[[[1, 0, 0, 1]]]]


def test_the_command(tmp_path):
    """A volume with mips goes through files: from floats to packed ones and back."""
    rng = np.random.default_rng(3)
    made = Texture(
        width=9,
        height=6,
        depth=4,
        dimension="3D",
        mips=4,
        format="R32G32B32A32_FLOAT",
        mode="LINEAR",
    )
    plane = layout(made).Planes[0]
    sizes = [plane.mip_size(mip) for mip in range(4)]
    colours = [rng.uniform(0, 100, (n, h, w, 4)).astype(np.float32) for w, h, n in sizes]
    colours[0][0, 0, 0, :3] = -5, 7e4, 1
    colours[1][0, 0, 0, 3] = -1  # alpha is dropped: not limited
    images = [pack_texels("R32G32B32A32_FLOAT", part) for part in colours]
    source, packed, back = (tmp_path / f"{name}.dds" for name in ("a", "b", "c"))
    write_dds(source, DdsImage(texture=made, images=images))
    for form, rounding in (("R11G11B10_FLOAT", 2.0**-6), ("r9g9b9e5", 2.0**-9)):
        result = minmip("convert", source, "-o", packed, "--format", form)
        assert result.exit_code == 0, result.output
        assert "1 of 243 texels out of range and limited" in result.stdout
        result = minmip("convert", packed, "-o", back, "--format", "R32G32B32A32_FLOAT")
        assert result.exit_code == 0, result.output
        assert " 0 of 243" in result.stdout
        found = read_dds(back)
        assert found.texture == made
        for part, again in zip(colours, floats(found), strict=True):
            largest = part[..., :3].max(axis=-1, keepdims=True)
            inside = (part >= 0).all(axis=-1) & (part < 6e4).all(axis=-1)
            error = np.abs(again[..., :3] - part[..., :3])
            assert (error <= rounding * largest)[inside].all()
            assert (again[..., 3] == 1).all()
        red, green = floats(found)[0][0, 0, 0, :2]
        assert (red, green) == (0, 65024 if form.startswith("R11") else 65408)


def test_refusals(tmp_path):
    path, out = tmp_path / "a.dds", tmp_path / "b.dds"
    write_dds(path, image("R16_FLOAT", np.ones((1, 2, 2, 1))))
    for form, words in (
        ("BC1", "texels of BC1_UNORM are not floats; formats whose are: R11G11B10_FLOAT, "),
        ("R9", "format 'R9' is not one that can be laid out"),
        ("R32G32B32_FLOAT", "elements of 12 bytes"),
    ):
        result = minmip("convert", path, "-o", out, "--format", form)
        assert result.exit_code == 2
        assert words in result.stderr.splitlines()[-1]
    texture = Texture(width=4, height=4, format="BC1_UNORM", mode="LINEAR")
    blocks = np.zeros((1, 1, 1, 8), np.uint8)
    write_dds(path, DdsImage(texture=texture, images=[blocks]))
    result = minmip("convert", path, "-o", out, "--format", "R9G9B9E5")
    assert "texels of BC1_UNORM are not floats" in result.stderr
    path.write_bytes(path.read_bytes()[:100])
    result = minmip("convert", path, "-o", out, "--format", "R9G9B9E5")
    assert (result.exit_code, out.exists()) == (2, False)
    with pytest.raises(LayoutError, match=r"uint8 \[\.\.\., 4\], not uint8 \[2, 3\]"):
        unpack_texels("R11G11B10", np.zeros((2, 3), np.uint8))
    with pytest.raises(LayoutError, match=r"float32 \[\.\.\., 3\], not float64 \[2, 3\]"):
        pack_texels("R11G11B10", np.zeros((2, 3)))
    nameless = Texture(width=1, height=1, element_bytes=4, mode="LINEAR")
    bytes_ = [np.zeros((1, 1, 1, 4), np.uint8)]
    with pytest.raises(LayoutError, match="has no format"):
        convert_dds(DdsImage(texture=nameless, images=bytes_), "R16_FLOAT")
