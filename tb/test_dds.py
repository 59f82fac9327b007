"""DDS files: every shape there and back, decoded by Pillow, and broken in every way."""

import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from minmip.sim.layout import (
    DdsImage,
    LayoutError,
    Texture,
    layout,
    read_dds,
    swizzle,
    unswizzle,
    write_dds,
)

SEED = 20261130


def random_image(cube=False, **texture):
    rng = np.random.default_rng(SEED)
    made = Texture(**texture, mode="LINEAR")
    plane = layout(made).Planes[0]
    sizes = [plane.mip_size(mip) for mip in range(made.mips)]
    images = [rng.integers(0, 256, (n, h, w, plane.BytesPerElement), np.uint8) for w, h, n in sizes]
    return DdsImage(texture=made, images=images, cube=cube)


SHAPES = {
    "2d": {"width": 20, "height": 12, "format": "R8G8B8A8_UNORM"},
    "mips": {"width": 37, "height": 22, "format": "BC1_UNORM", "mips": 6},
    "array": {"width": 64, "height": 64, "format": "BC7_UNORM_SRGB", "mips": 7, "array_size": 5},
    "volume": {
        "width": 9,
        "height": 7,
        "depth": 6,
        "dimension": "3D",
        "format": "BC3_UNORM",
        "mips": 4,
    },
    "1d": {"width": 33, "dimension": "1D", "format": "R32G32B32A32_FLOAT", "mips": 6},
    "cube": {"width": 8, "height": 8, "format": "BC6H_UF16", "mips": 4, "array_size": 12},
    "map": {"width": 8, "height": 16, "format": "R8_UINT"},
}


def same(one, other):
    assert one.texture == other.texture
    assert one.cube == other.cube
    for image, found in zip(one.images, other.images, strict=True):
        np.testing.assert_array_equal(image, found)


@pytest.mark.parametrize("name", SHAPES)
def test_there_and_back(name, tmp_path):
    image = random_image(cube=name == "cube", **SHAPES[name])
    write_dds(tmp_path / "a.dds", image)
    same(read_dds(tmp_path / "a.dds"), image)


@pytest.mark.parametrize("name", ["mips", "array", "volume"])
def test_through_the_hardware(name, tmp_path):
    """File, swizzled bytes, file: nothing is lost."""
    image = random_image(**SHAPES[name])
    resource = layout(Texture(**SHAPES[name], mode="64KB_S"))
    data = swizzle(resource, image.images)
    images = unswizzle(resource, data)
    same(DdsImage(texture=image.texture, images=images), image)


@pytest.mark.parametrize(
    ("code", "form", "block"),
    [("DXT1", "BC1_UNORM", 8), ("DXT3", "BC2_UNORM", 16), ("DXT5", "BC3_UNORM", 16)],
)
def test_pillow_decodes_the_same_pixels(code, form, block, tmp_path):
    """Pillow compresses, we read the blocks, swizzle them and back, write; Pillow decodes."""
    rng = np.random.default_rng(SEED)
    pixels = rng.integers(0, 256, (32, 48, 4), np.uint8)
    Image.fromarray(pixels).save(tmp_path / "old.dds", pixel_format=code)
    image = read_dds(tmp_path / "old.dds")
    assert image.texture.format == form
    assert [i.shape for i in image.images] == [(1, 8, 12, block)]
    resource = layout(Texture(width=48, height=32, format=form, mode="4KB_S"))
    images = unswizzle(resource, swizzle(resource, image.images))
    write_dds(tmp_path / "new.dds", DdsImage(texture=image.texture, images=images))
    with Image.open(tmp_path / "old.dds") as old, Image.open(tmp_path / "new.dds") as new:
        theirs, ours = np.asarray(old.convert("RGBA")), np.asarray(new.convert("RGBA"))
    np.testing.assert_array_equal(ours, theirs)
    # A block elsewhere is seen.
    images[0][0, 0, [0, 1]] = images[0][0, 0, [1, 0]]
    write_dds(tmp_path / "new.dds", DdsImage(texture=image.texture, images=images))
    with Image.open(tmp_path / "new.dds") as new:
        assert (np.asarray(new.convert("RGBA")) != theirs).any()


def test_pillow_reads_plain_pixels(tmp_path):
    image = random_image(width=20, height=12, format="R8G8B8A8_UNORM")
    write_dds(tmp_path / "a.dds", image)
    with Image.open(tmp_path / "a.dds") as found:
        np.testing.assert_array_equal(np.asarray(found.convert("RGBA")), image.images[0][0])


def test_old_headers_of_pillow(tmp_path):
    pixels = np.random.default_rng(SEED).integers(0, 256, (6, 10, 4), np.uint8)
    Image.fromarray(pixels).save(tmp_path / "a.dds")
    image = read_dds(tmp_path / "a.dds")
    assert image.texture.format == "B8G8R8A8_UNORM"
    np.testing.assert_array_equal(image.images[0][0][..., [2, 1, 0, 3]], pixels)


def header(**words):
    """A file of an 8 x 16 R8_UINT map, with words of its header replaced by their number."""
    made = [0x20534444, 124, 0x81007 | 0x20000, 16, 8, 128, 1, 1, *[0] * 11]
    made += [32, 4, int.from_bytes(b"DX10", "little"), 0, 0, 0, 0, 0, 0x1000, *[0] * 4]
    made += [62, 3, 0, 1, 0]
    for place, value in words.items():
        made[int(place[1:])] = value
    return struct.pack("<37I", *made) + bytes(range(128))


@pytest.mark.parametrize(
    ("flags", "bits", "masks", "form"),
    [
        (0x20000, 8, (0xFF, 0, 0, 0), "R8_UNORM"),
        (0x20000, 8, (0xFF, 0xFF, 0xFF, 0), "R8_UNORM"),
        (0x2, 8, (0, 0, 0, 0xFF), "A8_UNORM"),
        (0x20001, 16, (0xFF, 0, 0, 0xFF00), "R8G8_UNORM"),
        (0x40, 16, (0xF800, 0x7E0, 0x1F, 0), "B5G6R5_UNORM"),
        (0x41, 32, (0xFF, 0xFF00, 0xFF0000, 0xFF000000), "R8G8B8A8_UNORM"),
        (0x40, 32, (0xFF0000, 0xFF00, 0xFF, 0xFF000000), "B8G8R8X8_UNORM"),
    ],
)
def test_old_pixel_formats(flags, bits, masks, form, tmp_path):
    words = {"w20": flags, "w22": bits, **{f"w{23 + n}": mask for n, mask in enumerate(masks)}}
    texels = bytes(range(128)) * (bits // 8)
    (tmp_path / "a.dds").write_bytes(header(**words)[:128] + texels)
    image = read_dds(tmp_path / "a.dds")
    assert image.texture.format == form
    assert image.images[0].tobytes() == texels


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "no DDS file"),
        (b"PNG " + header()[4:], "no DDS file"),
        (header()[:100], "no DDS file"),
        (header()[:140], "ends inside the DX10 header"),
        (header()[:-1], "wanted 128 bytes of texels, the file has 127"),
        (header() + b"x", "the file has 129"),
        (header(w1=123), "sizes are 124 and 32, not 123"),
        (header(w19=31), "not 124 and 31"),
        (header(w3=0), "height is at least 1"),
        (header(w4=0), "width is at least 1"),
        (header(w4=9), "wanted 144 bytes"),
        (header(w7=6), "a whole chain of 5, not 6"),
        (header(w7=0xFFFFFFFF), "a whole chain of 5"),
        (header(w32=0), "format 0 is not one"),
        (header(w32=6), "elements of 12 bytes"),
        (header(w32=103), "one plane, NV12 has 2"),
        (header(w33=5), "resource dimension is 2, 3 or 4, not 5"),
        (header(w33=2), "1D texture has height 1"),
        (header(w33=4, w6=0), "depth is at least 1"),
        (header(w35=0xFFFFFFFF), "wanted 549755813760 bytes"),
        (header(w3=0xFFFFFFFF, w4=0xFFFFFFFF), "more than 2\\^48"),
        (header(w34=4), "wanted 768 bytes"),
        (header(w21=int.from_bytes(b"WXYZ", "little")), "b'WXYZ' is not known"),
        (header(w20=0x40, w22=24, w23=255), "of 24 bits with masks 0xff 0x0 0x0 0x0 is not known"),
        (header(w21=int.from_bytes(b"DXT1", "little"), w28=0x600), "lacks some"),
    ],
)
def test_broken_files(data, words, tmp_path):
    path = tmp_path / "broken.dds"
    path.write_bytes(data)
    with pytest.raises(LayoutError, match=words) as caught:
        read_dds(path)
    assert str(caught.value).startswith(f"{path}: ")


def test_a_good_file_is_what_the_broken_ones_were(tmp_path):
    path = tmp_path / "good.dds"
    path.write_bytes(header())
    image = read_dds(path)
    assert image.texture.format == "R8_UINT"
    np.testing.assert_array_equal(image.images[0].ravel(), np.arange(128))


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 36), st.integers(0, 0xFFFFFFFF)), max_size=4), st.binary())
def test_random_damage(tmp_path_factory, words, tail):
    """Whatever the header says, a file is read to its last byte or refused."""
    path = tmp_path_factory.getbasetemp() / "damaged.dds"
    data = header(**{f"w{place}": value for place, value in words}) + tail
    path.write_bytes(data)
    try:
        image = read_dds(path)
    except LayoutError as error:
        text = str(error)
    else:
        text = ""
        texels = sum(part.nbytes for part in image.images)
        assert texels in (len(data) - 148, len(data) - 128)  # with a DX10 header, or without
    assert "\n" not in text


def test_images_that_are_no_dds_file():
    good = random_image(**SHAPES["mips"])
    with pytest.raises(LayoutError, match="wanted images of shapes"):
        DdsImage(texture=good.texture, images=good.images[:-1])
    with pytest.raises(LayoutError, match="arrays of uint8"):
        DdsImage(texture=good.texture, images=[i.astype(np.int8) for i in good.images])
    with pytest.raises(LayoutError, match="six slices"):
        DdsImage(texture=good.texture, images=good.images, cube=True)
    planar = Texture(width=4, height=4, format="NV12", mode="LINEAR")
    with pytest.raises(LayoutError, match="one plane"):
        DdsImage(texture=planar, images=[])
