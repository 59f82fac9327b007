"""64 KB tiles: the table of spec 06, packed mips, and maps of one texel a tile."""

from collections.abc import Iterator

import pytest
from d3d12_objects import MIN_MIP, USED, buffer_desc, desc, map_desc

from minmip.sim import d3d12
from minmip.sim.d3d12 import (
    D3D12_PACKED_TILE,
    D3D12_SUBRESOURCE_TILING,
    DXGI_FORMAT,
    D3D12Error,
    Device,
    tile_shape,
)
from minmip.sim.layout import Texture, layout

# Spec 06: bits per texel or format, 2D, 3D.
TABLE = """
8 256x256 64x32x32
16 256x128 32x32x32
32 128x128 32x32x16
64 128x64 32x16x16
128 64x64 16x16x16
BC1,BC4 512x256 128x64x16
BC2,BC3,BC5,BC6H,BC7 256x256 64x64x16
"""
FORMATS = {"8": "R8_UINT", "16": "R8G8_UNORM", "32": "R8G8B8A8_UNORM"}
FORMATS |= {"64": "R16G16B16A16_FLOAT", "128": "R32G32B32A32_FLOAT", "BC6H": "BC6H_UF16"}


def rows() -> Iterator[tuple[str, int, tuple[int, ...]]]:
    for line in TABLE.split("\n"):
        if line:
            kinds, *shapes = line.split()
            for kind in kinds.split(","):
                for axes, shape in zip((2, 3), shapes, strict=True):
                    yield kind, axes, tuple(map(int, shape.split("x")))


@pytest.mark.parametrize(("kind", "axes", "wanted"), list(rows()))
def test_tile_shapes_of_the_specification(kind, axes, wanted):
    form = DXGI_FORMAT["DXGI_FORMAT_" + FORMATS.get(kind, f"{kind}_UNORM")]
    shape = tile_shape(form, axes)
    sides = (shape.WidthInTexels, shape.HeightInTexels, shape.DepthInTexels)
    assert sides == (*wanted, 1)[:3]
    # A texture of one tile fills one block of 64KB_S exactly.
    one = layout(
        Texture(
            width=sides[0],
            height=sides[1],
            depth=sides[2],
            dimension=f"{axes}D",
            format=form.name,
            mode="64KB_S",
        )
    )
    assert one.SizeBytes == 65536


def tiling(description):
    device = Device()
    return device.get_resource_tiling(device.create_committed_resource2(description))


def test_the_texture_of_seed_001():
    bc1 = desc((4096, 4096), 12, Format=d3d12.DXGI_FORMAT_BC1_UNORM)
    found = tiling(bc1)
    grids = [(t.WidthInTiles, t.HeightInTiles) for t in found.SubresourceTilings[:4]]
    assert grids == [(8, 16), (4, 8), (2, 4), (1, 2)]
    packed = found.PackedMipDesc
    assert (packed.NumStandardMips, packed.NumPackedMips) == (4, 8)
    assert packed.NumTilesForPackedMips == 1
    assert packed.StartTileIndexInOverallResource == 8 * 16 + 4 * 8 + 2 * 4 + 2
    assert found.NumTilesForEntireResource == 171
    assert found.SubresourceTilings[4] == D3D12_SUBRESOURCE_TILING(0, 0, 0, D3D12_PACKED_TILE)
    # The region of the seed is the tile, so the map has a texel for each tile of mip 0.
    shape = found.StandardTileShapeForNonPackedMips
    region = (shape.WidthInTexels, shape.HeightInTexels)
    device = Device()
    feedback = device.create_committed_resource2(map_desc(MIN_MIP, (4096, 4096), region, 12))
    assert feedback.texels(0).shape == (1, 16, 8)


def test_slices_follow_each_other_with_their_packed_mips():
    found = tiling(desc((300, 200), 9, 2))
    # 300x200: 3 x 2 tiles; 150x100 does not fill a tile down, and is packed with the rest.
    packed_texels = sum(max(1, 300 >> mip) * max(1, 200 >> mip) for mip in range(1, 9))
    tiles = -(-4 * packed_texels // 65536)
    assert tiles == 2
    starts = [t.StartTileIndexInOverallResource for t in found.SubresourceTilings]
    assert starts == [0, *[D3D12_PACKED_TILE] * 8, 8, *[D3D12_PACKED_TILE] * 8]
    assert found.PackedMipDesc.StartTileIndexInOverallResource == 6
    assert found.NumTilesForEntireResource == 2 * (6 + tiles)


def test_volumes_and_textures_without_packed_mips():
    found = tiling(desc((64, 40, 20)))
    (only,) = found.SubresourceTilings
    assert (only.WidthInTiles, only.HeightInTiles, only.DepthInTiles) == (2, 2, 2)
    packed = found.PackedMipDesc
    assert (packed.NumStandardMips, packed.NumPackedMips, packed.NumTilesForPackedMips) == (1, 0, 0)
    assert packed.StartTileIndexInOverallResource == 0
    small = tiling(desc((8, 8), 4))
    assert (small.PackedMipDesc.NumStandardMips, small.NumTilesForEntireResource) == (0, 1)


@pytest.mark.parametrize(
    "description",
    [
        buffer_desc(65536),
        map_desc(USED, (64, 64), (8, 8)),
        desc((64,)),
        desc((64, 64), SampleDesc=(4, 0)),
        desc((64, 64), Format=d3d12.DXGI_FORMAT_NV12),
    ],
)
def test_what_has_no_tiles(description):
    with pytest.raises(D3D12Error, match=r"tiles"):
        tiling(description)
