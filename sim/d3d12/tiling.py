"""64 KB tiles of textures: GetResourceTiling (spec 06 "Tile shapes")."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from minmip.sim.d3d12.arguments import member, whole_number
from minmip.sim.d3d12.copy_structures import (
    D3D12_PACKED_MIP_INFO,
    D3D12_PACKED_TILE,
    D3D12_SUBRESOURCE_TILING,
    D3D12_TILE_SHAPE,
)
from minmip.sim.d3d12.enums import DXGI_FORMAT
from minmip.sim.d3d12.errors import D3D12Error
from minmip.sim.d3d12.formats import plane_formats
from minmip.sim.d3d12.resources import (
    FEEDBACK_FORMATS,
    is_buffer,
    mip_size,
    texture_axes,
    texture_size,
)
from minmip.sim.d3d12.structures import D3D12_RESOURCE_DESC1

__all__ = ["ResourceTiling", "resource_tiling", "tile_shape"]

TILE_LOG2 = 16


@dataclass(frozen=True)
class ResourceTiling:
    """What GetResourceTiling answers, with the names of its C arguments.

    Attributes
    ----------
    NumTilesForEntireResource : int
        Packed mips included.
    PackedMipDesc : D3D12_PACKED_MIP_INFO
        Of one slice; the start index is that of slice 0.
    StandardTileShapeForNonPackedMips : D3D12_TILE_SHAPE
        Texels of a tile.
    SubresourceTilings : tuple of D3D12_SUBRESOURCE_TILING
        One for each subresource, mip + slice * mips.
    """

    NumTilesForEntireResource: int
    PackedMipDesc: D3D12_PACKED_MIP_INFO
    StandardTileShapeForNonPackedMips: D3D12_TILE_SHAPE
    SubresourceTilings: tuple[D3D12_SUBRESOURCE_TILING, ...]


def tile_shape(form: DXGI_FORMAT, axes: int) -> D3D12_TILE_SHAPE:
    """Texels of a 64 KB tile of a 2D or 3D texture: sides as equal as powers of two allow.

    `axes` is 2 or 3. D3D12Error for anything else, and for a format that no texture has.
    """
    form = member("form", DXGI_FORMAT, form)
    axes = whole_number("axes", axes, 2, 3)
    plane = plane_formats(form)[0]
    bits = TILE_LOG2 - (plane.element_bytes.bit_length() - 1)
    width = -(-bits // axes)
    height = -(-(bits - width) // (axes - 1))
    depth = bits - width - height
    return D3D12_TILE_SHAPE(plane.texels[0] << width, plane.texels[1] << height, 1 << depth)


def resource_tiling(desc: D3D12_RESOURCE_DESC1) -> ResourceTiling:
    """Cut a checked description into tiles.

    Mips that do not fill one tile on every axis are packed, all of a slice together.

    Raises
    ------
    D3D12Error
        For what has no tiles: buffers, feedback maps, 1D, multisampled and planar textures.
    """
    if is_buffer(desc) or desc.Format in FEEDBACK_FORMATS:
        raise D3D12Error("tiles are of textures, not of buffers and feedback maps")
    axes = texture_axes(desc)
    if axes == 1 or desc.SampleDesc.Count > 1 or len(plane_formats(desc.Format)) > 1:
        raise D3D12Error(
            "only TEXTURE2D and TEXTURE3D of one sample and one plane have tiles, not this "
            f"{desc.Dimension.name} of {desc.Format.name}"
        )
    shape = tile_shape(desc.Format, axes)
    sides = (shape.WidthInTexels, shape.HeightInTexels, shape.DepthInTexels)
    sizes = [mip_size(texture_size(desc), mip) for mip in range(desc.MipLevels)]
    standard = sum(all(n >= t for n, t in zip(size, sides, strict=True)) for size in sizes)
    packed_bytes = sum(_bytes(desc.Format, size) for size in sizes[standard:])
    packed = -(-packed_bytes // (1 << TILE_LOG2))
    grids = [
        (-(-width // sides[0]), -(-height // sides[1]), -(-depth // sides[2]))
        for width, height, depth in sizes[:standard]
    ]
    tilings, start = [], 0
    for _ in range(1 if axes == 3 else desc.DepthOrArraySize):
        for grid in grids:
            tilings.append(D3D12_SUBRESOURCE_TILING(*grid, start))
            start += prod(grid)
        none = D3D12_SUBRESOURCE_TILING(0, 0, 0, D3D12_PACKED_TILE)
        tilings += [none] * (len(sizes) - standard)
        start += packed
    first_packed = sum(map(prod, grids)) if packed else 0
    info = D3D12_PACKED_MIP_INFO(standard, len(sizes) - standard, packed, first_packed)
    return ResourceTiling(start, info, shape, tuple(tilings))


def _bytes(form: DXGI_FORMAT, size: tuple[int, int, int]) -> int:
    """Bytes of a mip without padding, whole blocks of BC formats."""
    plane = plane_formats(form)[0]
    width, height, depth = size
    return (
        -(-width // plane.texels[0]) * -(-height // plane.texels[1]) * depth * (plane.element_bytes)
    )
