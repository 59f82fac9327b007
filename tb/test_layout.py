"""The layout query: the seeds' examples in full, planes, volumes, and what is refused."""

import doctest
import re
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minmip.hw.config import PLAIN_MODES, VOLUME_MODES, XOR_MODES
from minmip.sim import layout as package
from minmip.sim.golden.address import map_layout, texel_address
from minmip.sim.layout import (
    ANACONDA,
    LOCKHART,
    MODES,
    NAVI21,
    AddressConfig,
    DdsImage,
    MipLayout,
    PlaneLayout,
    ResourceLayout,
    Texture,
    layout,
    swizzle_mode,
    xor_patterns,
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


def test_var_blocks_are_the_consoles():
    def block(hardware):
        texture = Texture(width=4, element_bytes=1, mode="VAR_R_X", hardware=hardware)
        return layout(texture).SizeBytes

    assert block(ANACONDA) == 512 * 1024
    assert block(LOCKHART) == 128 * 1024
    assert block(NAVI21) == 256 * 1024
    assert AddressConfig.from_register(0x345) == ANACONDA


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


@settings(max_examples=80, deadline=None)
@given(
    mode=st.sampled_from(
        [(d, mode) for d in ("1D", "2D") for mode in (0, 1)]
        + [("2D", mode) for mode in sorted(PLAIN_MODES | XOR_MODES)]
        + [("3D", mode) for mode in sorted(VOLUME_MODES)]
    ),
    size=st.tuples(st.integers(1, 300), st.integers(1, 70), st.integers(1, 40)),
    mips=st.integers(1, 16),
    hardware=st.sampled_from([ANACONDA, LOCKHART, NAVI21]),
)
def test_maps_lie_where_the_golden_model_has_them(mode, size, mips, hardware):
    """Volumes in 256B_S have no oracle: two readings of spec 05, 8.1."""
    dimension, number = mode
    width, height, slices = size[0], 1 if dimension == "1D" else size[1], size[2]
    count = {"depth" if dimension == "3D" else "array_size": slices}
    texture = {"width": width, "height": height, "mips": mips, "dimension": dimension, **count}
    texture |= {"hardware": hardware, "mode": number, "excess_mips": True}
    resource = layout(Texture(**texture, element_bytes=1))
    theirs = map_layout(
        np.array([number]),
        np.zeros(1, np.int64),
        np.array([[width, height, slices if dimension == "3D" else 1]]),
        np.array([mips]),
        np.array([dimension == "3D"]),
        xor_patterns(hardware),
    )
    assert theirs.total_bytes(np.array([slices]))[0] == resource.SizeBytes
    plane = resource.Planes[0]
    for mip in range(mips):
        places = (np.unique(np.linspace(0, n - 1, 17, dtype=int)) for n in plane.mip_size(mip))
        x, y, z = (grid.ravel() for grid in np.meshgrid(*places))
        zeros = np.zeros_like(x)
        np.testing.assert_array_equal(
            plane.offset(mip, x, y, z), texel_address(theirs, zeros, zeros + mip, x, y, z)
        )


def test_examples_of_the_page():
    page = Path(__file__).resolve().parent.parent / "docs" / "layout.md"
    found = doctest.testfile(str(page), module_relative=False, verbose=False)
    assert found.attempted > 40
    assert not found.failed


def test_the_page_names_everything_public():
    text = (Path(__file__).resolve().parent.parent / "docs" / "layout.md").read_text()
    prose = re.sub(r"```python.*?```", "", text, flags=re.S)
    kinds = (Texture, ResourceLayout, PlaneLayout, MipLayout, DdsImage)
    names = [*package.__all__, *(f.name for kind in kinds for f in fields(kind))]
    assert [name for name in names if not re.search(rf"\b{name}\b", prose)] == []
