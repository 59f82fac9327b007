"""The layout query: the seeds' examples in full, planes, volumes, and what is refused."""

import doctest
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minmip.sim.golden.address import map_layout, texel_address
from minmip.sim.layout import (
    ANACONDA,
    HARDWARE,
    LOCKHART,
    MODES,
    NAVI10,
    NAVI21,
    AddressConfig,
    LayoutError,
    Texture,
    layout,
    natural_mips,
    swizzle_mode,
)


def mips(resource, *names):
    return [tuple(getattr(m, name) for name in names) for m in resource.Planes[0].MipLayout]


PLACED = ("PaddedWidthElements", "PaddedHeightElements", "OffsetBytes", "SizeBytes")

# Seed 003: 48 x 24, six mips: 48x24 24x12 12x6 6x3 3x1 1x1 (spec 05, 5.1).
SEED_003 = {
    ("LINEAR", 1): (
        12288,
        [
            (256, 24, 6144, 6144),
            (256, 12, 3072, 3072),
            (256, 6, 1536, 1536),
            (256, 3, 768, 768),
            (256, 2, 256, 512),  # two rows: layout sizes round up
            (256, 1, 0, 256),
        ],
    ),
    ("LINEAR", 4): (
        12288,
        [
            (64, 24, 6144, 6144),
            (64, 12, 3072, 3072),
            (64, 6, 1536, 1536),
            (64, 3, 768, 768),
            (64, 2, 256, 512),
            (64, 1, 0, 256),
        ],
    ),
    ("256B_S", 1): (
        3072,
        [
            (48, 32, 1536, 1536),
            (32, 16, 1024, 512),
            (16, 16, 768, 256),
            (16, 16, 512, 256),
            (16, 16, 256, 256),
            (16, 16, 0, 256),
        ],
    ),
    ("256B_S", 4): (
        7424,
        [
            (48, 24, 2816, 4608),
            (24, 16, 1280, 1536),
            (16, 8, 768, 512),
            (8, 8, 512, 256),
            (8, 8, 256, 256),
            (8, 8, 0, 256),
        ],
    ),
    ("4KB_S", 1): (
        8192,
        [
            (64, 64, 4096, 4096),
            (32, 16, 2048, 512),
            (16, 16, 1536, 256),
            (16, 16, 1280, 256),
            (16, 16, 1024, 256),
            (16, 16, 768, 256),
        ],
    ),
    ("4KB_S", 4): (
        16384,
        [
            (64, 32, 8192, 8192),
            (32, 32, 4096, 4096),
            (16, 8, 2048, 512),
            (8, 8, 1536, 256),
            (8, 8, 1280, 256),
            (8, 8, 1024, 256),
        ],
    ),
    ("64KB_S", 1): (
        65536,
        [
            (48, 32, 32768, 1536),
            (32, 16, 16384, 512),
            (16, 16, 8192, 256),
            (16, 16, 4096, 256),
            (16, 16, 2048, 256),
            (16, 16, 1536, 256),
        ],
    ),
}


@pytest.mark.parametrize(("mode", "element_bytes"), SEED_003)
def test_seed_003(mode, element_bytes):
    resource = layout(Texture(width=48, height=24, mips=6, element_bytes=element_bytes, mode=mode))
    total, placed = SEED_003[mode, element_bytes]
    assert resource.SizeBytes == total
    assert mips(resource, *PLACED) == placed
    # D modes place the mips as S modes do.
    if mode.endswith("S"):
        same = Texture(
            width=48, height=24, mips=6, element_bytes=element_bytes, mode=mode[:-1] + "D"
        )
        assert mips(layout(same), *PLACED) == placed


def test_seed_003_tails():
    def counts(mode, element_bytes):
        texture = Texture(width=48, height=24, mips=6, element_bytes=element_bytes, mode=mode)
        plane = layout(texture).Planes[0]
        tail = [mip.IsMipTail for mip in plane.MipLayout]
        assert tail == [0] * plane.StandardMipCount + [1] * plane.MipTailMipCount
        return plane.StandardMipCount, plane.MipTailMipCount

    assert counts("4KB_S", 1) == (1, 5)
    assert counts("4KB_S", 4) == (2, 4)
    assert counts("64KB_S", 1) == counts("64KB_S", 4) == (0, 6)
    assert counts("256B_S", 1) == counts("LINEAR", 1) == (6, 0)


def test_seed_001_maps():
    """The maps of a 4096 x 4096 BC1 texture with regions of 512 x 256 texels."""
    min_mip = Texture(width=8, height=16, format="R8_UINT", mode=0x101)
    resource = layout(min_mip)
    assert min_mip.swizzle.name == "256B_S"
    assert (resource.SizeBytes, resource.BaseAlignmentBytes) == (256, 256)
    assert mips(resource, *PLACED) == [(16, 16, 0, 256)]
    y, x = np.ogrid[:16, :8]
    np.testing.assert_array_equal(resource.offset(0, x, y), x + 16 * y)
    linear = Texture(width=8, height=16, format="R8_UINT", mode="LINEAR")
    assert layout(linear).SizeBytes == 4096
    # MipRegionUsed: as many mips as the texture, 1 x 1 from the fifth on.
    used = {"width": 8, "height": 16, "format": "R8_UINT", "mode": "256B_S", "excess_mips": True}
    resource = layout(Texture(**used, mips=12))
    assert resource.SizeBytes == 3072
    assert mips(resource, "OffsetBytes") == [((11 - mip) * 256,) for mip in range(12)]
    sizes = mips(resource, "WidthElements", "HeightElements")
    assert sizes == [(8, 16), (4, 8), (2, 4), (1, 2), *[(1, 1)] * 8]
    assert layout(Texture(**used, mips=5)).SizeBytes == 1280
    assert layout(Texture(**used, mips=12, array_size=7)).SizeBytes == 7 * 3072


def test_seed_001_texture():
    """The paired texture: 64 KB tiles of 512 x 256 texels, one for each texel of the map."""
    resource = layout(Texture(width=4096, height=4096, mips=12, format="BC1", mode="64KB_S"))
    tiles = [offset // 65536 for (offset,) in mips(resource, "OffsetBytes")[:4]]
    assert tiles == [43, 11, 3, 1]
    assert resource.SizeBytes == 171 * 65536 == 11206656
    plane = resource.Planes[0]
    assert (plane.StandardMipCount, plane.MipTailMipCount) == (4, 8)
    assert plane.surface.block == (128, 64, 1)
    assert mips(resource, "WidthElements", "HeightElements")[0] == (1024, 1024)
    assert mips(resource, "PitchPixels", "PitchBytes")[0] == (4096, 8192)


def test_volume():
    """Spec 05, 5.3: slabs as thick as a block, with the whole chain in each."""
    size = {"width": 48, "height": 24, "depth": 12, "dimension": "3D", "mips": 6}
    resource = layout(Texture(**size, element_bytes=1, mode="4KB_S"))
    assert mips(resource, "OffsetBytes") == [(12288,), (4096,), (2048,), (768,), (512,), (256,)]
    assert resource.SizeBytes == 36864
    assert layout(Texture(**size, element_bytes=1, mode="64KB_S")).SizeBytes == 131072
    assert layout(Texture(**size, element_bytes=1, mode="LINEAR")).SizeBytes == 147456
    box = Texture(width=16, height=16, depth=16, dimension="3D", mips=5, element_bytes=1, mode=1)
    resource = layout(box)  # 256B_S, the choice of spec 05, 8.1
    assert resource.SizeBytes == 6656
    assert mips(resource, "OffsetBytes") == [(1280,), (768,), (512,), (256,), (0,)]


@pytest.mark.parametrize("mode", ["4KB_S", "64KB_S", "256B_S", "LINEAR", "64KB_R_X"])
def test_ranges_of_a_volume_hold_its_mips(mode):
    """Range k: SliceSizeBytes * k + OffsetBytes, Slice2DSizeBytes * SliceDepthElements long."""
    texture = Texture(
        width=70, height=50, depth=37, dimension="3D", mips=7, element_bytes=2, mode=mode
    )
    plane = layout(texture).Planes[0]
    for number, mip in enumerate(plane.MipLayout[: plane.StandardMipCount]):
        depth = mip.SliceDepthElements
        starts = plane.SliceSizeBytes * np.arange(-(-mip.PaddedDepthOrArraySize // depth))
        starts += mip.OffsetBytes
        z, y, x = np.ogrid[: mip.DepthOrArraySize, : mip.HeightElements, : mip.WidthElements]
        at = plane.offset(number, x, y, z)
        inside = at - starts[z // depth]
        assert inside.min() >= 0
        assert inside.max() < mip.Slice2DSizeBytes * depth
        assert mip.SizeBytes == mip.Slice2DSizeBytes * mip.PaddedDepthOrArraySize


def test_arrays_repeat_the_chain():
    texture = {"width": 300, "height": 200, "mips": 9, "element_bytes": 4, "mode": "64KB_S"}
    one = layout(Texture(**texture)).Planes[0]
    many = layout(Texture(**texture, array_size=5)).Planes[0]
    assert many.SizeBytes == 5 * one.SizeBytes == 5 * many.SliceSizeBytes
    for mip, single in zip(many.MipLayout, one.MipLayout, strict=True):
        assert (mip.SizeBytes, mip.OffsetBytes) == (single.SizeBytes, single.OffsetBytes)
    assert many.offset(2, 3, 4, 3) == one.offset(2, 3, 4) + 3 * one.SliceSizeBytes


@pytest.mark.parametrize(
    ("form", "planes"),
    [
        ("NV12", [("LUMA", 1, 64, 48), ("CHROMA", 2, 32, 24)]),
        ("P010", [("LUMA", 2, 64, 48), ("CHROMA", 4, 32, 24)]),
        ("D24_UNORM_S8_UINT", [("DEPTH", 4, 64, 48), ("STENCIL", 1, 64, 48)]),
        ("D32_FLOAT_S8X24_UINT", [("DEPTH", 4, 64, 48), ("STENCIL", 1, 64, 48)]),
        ("D16_UNORM", [("DEPTH", 2, 64, 48)]),
        ("BC7", [("DEFAULT", 16, 16, 12)]),
        (87, [("DEFAULT", 4, 64, 48)]),
    ],
)
def test_planes(form, planes):
    mode = "64KB_S" if form == "BC7" else "64KB_Z_X"
    resource = layout(Texture(width=64, height=48, format=form, mode=mode))
    end = 0
    for number, (plane, wanted) in enumerate(zip(resource.Planes, planes, strict=True)):
        mip = plane.MipLayout[0]
        got = (plane.Usage, plane.BytesPerElement, mip.WidthElements, mip.HeightElements)
        assert got == wanted
        assert plane.BaseOffsetBytes == end
        assert plane.BaseOffsetBytes % plane.BaseAlignmentBytes == 0
        own = plane.offset(0, 3, 4)
        assert resource.offset(0, 3, 4, plane=number) == plane.BaseOffsetBytes + own
        end = plane.BaseOffsetBytes + plane.SizeBytes
    assert resource.SizeBytes == end


def test_modes_and_their_numbers():
    assert len(MODES) == 32
    named = {0: "LINEAR", 1: "256B_S", 9: "64KB_S", 15: "VAR_R", 16: "64KB_Z_T", 20: "4KB_Z_X"}
    named |= {23: "4KB_R_X", 27: "64KB_R_X", 28: "VAR_Z_X", 31: "VAR_R_X"}
    for number, name in named.items():
        for spelled in (number, name, f"SW_{name}", 0x100 + number, name.lower(), MODES[number]):
            assert swizzle_mode(spelled) is MODES[number]
        assert MODES[number].name == name


@pytest.mark.parametrize("mode", [mode for mode in MODES if not mode.dimensions])
def test_reserved_modes_refuse_with_their_name(mode):
    with pytest.raises(LayoutError, match=rf"{mode.name} \({mode.number}\)"):
        Texture(width=4, element_bytes=1, mode=mode)


def test_var_blocks_are_the_consoles():
    def block(hardware):
        texture = Texture(width=4, element_bytes=1, mode="VAR_R_X", hardware=hardware)
        return layout(texture).SizeBytes

    assert block(ANACONDA) == 512 * 1024
    assert block(LOCKHART) == 128 * 1024
    assert block(NAVI21) == 256 * 1024
    assert AddressConfig.from_register(0x345) == ANACONDA


MAP = {"width": 8, "height": 16, "element_bytes": 1}


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"width": 0}, "width is at least 1, not 0"),
        ({"height": -3}, "height is at least 1, not -3"),
        ({"width": 2.5}, "width is a whole number"),
        ({"width": True}, "width is a whole number"),
        ({"mips": 0}, "mips is at least 1"),
        ({"mips": 6}, "a whole chain of 5, not 6 mips"),
        ({"mips": 17, "excess_mips": True}, "at most 16 levels, not 17"),
        ({"array_size": 0}, "array_size is at least 1"),
        ({"element_bytes": 3}, "1, 2, 4, 8 or 16 bytes, not 3"),
        ({"element_bytes": 0}, "1, 2, 4, 8 or 16 bytes, not 0"),
        ({"element_bytes": 32}, "1, 2, 4, 8 or 16 bytes, not 32"),
        ({"element_bytes": None}, "needs a format or element_bytes"),
        ({"format": "R8_UNORM"}, "a format or element_bytes, not both"),
        ({"element_bytes": None, "format": "R8_UMBRA"}, "'R8_UMBRA' is not one"),
        ({"element_bytes": None, "format": 999}, "999 is not one"),
        ({"element_bytes": None, "format": "R32G32B32_FLOAT"}, "elements of 12 bytes"),
        ({"element_bytes": None, "format": "NV12", "width": 9}, "even width and height, not 9x16"),
        ({"element_bytes": None, "format": "NV12", "mips": 2}, "one mip level, not 2"),
        ({"element_bytes": None, "format": "R8_UNORM", "usage": "DEPTH"}, "one too many"),
        ({"usage": "HTILE"}, "HTILE planes hold compression metadata"),
        ({"usage": "FMASK"}, "FMASK planes"),
        ({"usage": "CMASK"}, "CMASK planes"),
        ({"usage": "DELTA_COLOR_COMPRESSION"}, "DELTA_COLOR_COMPRESSION planes"),
        ({"usage": "COLOUR"}, "no plane usage 'COLOUR'"),
        ({"dimension": "4D"}, "one of 1D, 2D, 3D, not '4D'"),
        ({"dimension": "1D"}, "1D texture has height 1, not 16"),
        ({"depth": 2}, "2D texture has depth 1, not 2"),
        ({"dimension": "3D", "array_size": 2}, "no arrays of volumes"),
        ({"mode": "64KB"}, "no swizzle mode '64KB'"),
        ({"mode": None}, "a name or a number, not None"),
        ({"element_bytes": None, "format": 2.5}, "2.5 is not one"),
        ({"hardware": "anaconda"}, "hardware is an AddressConfig"),
        ({"mode": 32}, "0 to 31"),
        ({"mode": -1}, "0 to 31"),
        ({"mode": 0x120}, "0 to 31"),
        ({"mode": "64KB_D", "dimension": "3D"}, "64KB_D is for 2D textures, not 3D"),
        ({"mode": "64KB_S", "dimension": "1D", "height": 1}, "64KB_S is for 2D, 3D textures"),
        ({"mode": "64KB_Z_X", "element_bytes": 16}, "up to 8 bytes, not 16"),
        ({"mode": "VAR_R_X", "hardware": NAVI10}, "VAR_R_X needs an RB. part"),
        ({"pipe_bank_xor": 1}, "for X and T modes, not for 64KB_S"),
        ({"pipe_bank_xor": 1 << 16, "mode": "64KB_S_X"}, "16 bits"),
    ],
)
def test_descriptions_that_are_refused(wrong, words):
    with pytest.raises(LayoutError, match=words):
        Texture(**{**MAP, **wrong})


def test_coordinates_of_any_type():
    resource = layout(Texture(width=200, height=200, array_size=3, element_bytes=16, mode="64KB_S"))
    at = np.arange(200)
    wanted = resource.offset(0, at, at, 2)
    for dtype in (np.uint8, np.uint16, np.int32, np.uint64):
        got = resource.offset(0, at.astype(dtype), at.astype(dtype), dtype(2))
        assert got.dtype == np.int64
        np.testing.assert_array_equal(got, wanted)
    assert type(resource.offset(0, np.uint8(199), np.int16(199), 2)) is int


# Spec 06, "Tile shapes": format, 2D and 3D tiles of 64 KB in texels.
TILES = [
    ("R8_UNORM", (256, 256), (64, 32, 32)),
    ("R16_UNORM", (256, 128), (32, 32, 32)),
    ("R32_FLOAT", (128, 128), (32, 32, 16)),
    ("R32G32_FLOAT", (128, 64), (32, 16, 16)),
    ("R32G32B32A32_FLOAT", (64, 64), (16, 16, 16)),
    *[(form, (512, 256), (128, 64, 16)) for form in ("BC1", "BC4")],
    *[(form, (256, 256), (64, 64, 16)) for form in ("BC2", "BC3", "BC5", "BC6H", "BC7")],
]


@pytest.mark.parametrize(("form", "flat", "volume"), TILES)
def test_tiles_are_blocks_of_64_kb(form, flat, volume):
    for dimension, tile in (("2D", (*flat, 1)), ("3D", volume)):
        texture = Texture(width=4, height=4, format=form, mode="64KB_S", dimension=dimension)
        texels = (*texture.planes[0].texels, 1)
        block = layout(texture).Planes[0].surface.block
        assert tuple(b * t for b, t in zip(block, texels, strict=True)) == tile


def test_more_than_the_address_space_is_refused():
    with pytest.raises(LayoutError, match="more than 2\\^48"):
        layout(Texture(width=1 << 24, height=1 << 24, element_bytes=2, mode="LINEAR"))
    whole = layout(Texture(width=1 << 24, height=1 << 24, element_bytes=1, mode="LINEAR"))
    assert whole.SizeBytes == 1 << 48
    assert whole.offset(0, (1 << 24) - 1, (1 << 24) - 1) == (1 << 48) - 1


@pytest.mark.parametrize(
    ("at", "words"),
    [
        ((5, 0, 0), "mip 5 is outside mips 0 to 4"),
        ((-1, 0, 0), "mip -1 is outside"),
        ((0, 8, 0), "x = 8 is outside 0 to 7 of mip 0"),
        ((0, 0, -1), "y = -1 is outside 0 to 15"),
        ((0.5, 0, 0), "mip 0.5 is outside"),
        ((4, 1, 0), "x = 1 is outside 0 to 0 of mip 4"),
        ((0, 0, 0, 3), "z = 3 is outside 0 to 2"),
        ((0, np.array([0, 9]), 0), "x = 9 is outside"),
        ((0, 0.5, 0), "x is a whole number"),
    ],
)
def test_places_that_are_refused(at, words):
    resource = layout(Texture(**MAP, mips=5, array_size=3))
    with pytest.raises(LayoutError, match=words):
        resource.offset(*at)
    with pytest.raises(LayoutError, match="plane 1 is outside planes 0 to 0"):
        resource.offset(0, 0, 0, plane=1)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"pipes_log2": 7, "packers_log2": 6}, "1 to 64 pipes"),
        ({"pipes_log2": 6, "packers_log2": 6}, "at most 32 packers"),
        ({"pipes_log2": 5, "packers_log2": 2}, "packers <= pipes <= 4"),
        ({"pipes_log2": 2, "packers_log2": 3}, "packers <= pipes <= 4"),
        ({"pipes_log2": 1, "packers_log2": -1}, "packers"),
        ({"pipes_log2": 4, "packers_log2": 4, "rb_plus": False}, "no packers"),
    ],
)
def test_hardware_that_does_not_exist(fields, words):
    with pytest.raises(LayoutError, match=words):
        AddressConfig(**fields)
    with pytest.raises(LayoutError, match="interleave"):
        AddressConfig.from_register(0x344 | 1 << 3)


@settings(max_examples=80, deadline=None)
@given(
    dimension=st.sampled_from(["1D", "2D", "3D"]),
    mode=st.sampled_from(["LINEAR", "256B_S"]),
    size=st.tuples(st.integers(1, 90), st.integers(1, 70), st.integers(1, 20)),
    mips=st.integers(1, 16),
)
def test_maps_lie_where_the_golden_model_has_them(dimension, mode, size, mips):
    """Volumes in 256B_S have no oracle: two readings of spec 05, 8.1."""
    width, height, slices = size[0], 1 if dimension == "1D" else size[1], size[2]
    count = {"depth" if dimension == "3D" else "array_size": slices}
    texture = {"width": width, "height": height, "mips": mips, "dimension": dimension, **count}
    resource = layout(Texture(**texture, element_bytes=1, mode=mode, excess_mips=True))
    theirs = map_layout(
        np.array([MODES.index(swizzle_mode(mode))]),
        np.zeros(1, np.int64),
        np.array([[width, height, slices if dimension == "3D" else 1]]),
        np.array([mips]),
        np.array([dimension == "3D"]),
    )
    assert theirs.total_bytes(np.array([slices]))[0] == resource.SizeBytes
    plane = resource.Planes[0]
    for mip in range(mips):
        columns, rows, deep = plane.mip_size(mip)
        z, y, x = np.indices((deep, rows, columns)).reshape(3, -1)
        zeros = np.zeros_like(x)
        np.testing.assert_array_equal(
            plane.offset(mip, x, y, z), texel_address(theirs, zeros, zeros + mip, x, y, z)
        )


TEXTURES = st.fixed_dictionaries(
    {
        "width": st.integers(-1, 90),
        "height": st.integers(0, 70),
        "depth": st.sampled_from([1, 1, 2, 19]),
        "array_size": st.sampled_from([1, 1, 3]),
        "mips": st.integers(0, 8),
        "dimension": st.sampled_from(["1D", "2D", "3D"]),
        "element_bytes": st.sampled_from([1, 2, 4, 8, 16, 12]),
        "mode": st.sampled_from([m for m in range(33) if m not in (28, 31)]),
        "hardware": st.sampled_from(list(HARDWARE.values())),
        "pipe_bank_xor": st.sampled_from([0, 0, 5, 0xFFFF]),
    }
)


def assert_one_sentence(text):
    assert "\n" not in text
    assert 10 < len(text) < 200


@settings(max_examples=300, deadline=None)
@given(TEXTURES)
def test_random_descriptions(fields):
    """A texture is refused in one sentence, or every element has bytes of its own in it."""
    try:
        texture = Texture(**fields)
    except LayoutError as error:
        assert_one_sentence(str(error))
        return
    resource = layout(texture)
    plane = resource.Planes[0]
    places = []
    for mip in range(texture.mips):
        width, height, slices = plane.mip_size(mip)
        z, y, x = np.ogrid[:slices, :height, :width]
        places.append(np.broadcast_to(plane.offset(mip, x, y, z), (slices, height, width)))
    at = np.concatenate([place.ravel() for place in places])
    assert at.min() >= 0
    assert at.max() + texture.element_bytes <= resource.SizeBytes
    assert not (at % texture.element_bytes).any()
    assert len(np.unique(at)) == len(at)
    assert resource.SizeBytes % resource.BaseAlignmentBytes == 0
    assert [m.OffsetBytes for m in plane.MipLayout] == [int(p[0, 0, 0]) for p in places]
    natural = natural_mips(texture.width, texture.height, texture.depth)
    assert texture.mips <= natural


def test_examples_of_the_page():
    page = Path(__file__).resolve().parent.parent / "docs" / "layout.md"
    found = doctest.testfile(str(page), module_relative=False, verbose=False)
    assert found.attempted > 20
    assert not found.failed
