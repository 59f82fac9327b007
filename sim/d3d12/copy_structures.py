"""Structures of copies and of tilings, with the C field names (Direct3D 12).

Members of C unions lie flat in their structure; fields convert as those of `structures`.
"""

from dataclasses import dataclass, field

from minmip.sim.d3d12.enums import D3D12_TEXTURE_COPY_TYPE, DXGI_FORMAT
from minmip.sim.d3d12.resource import Resource
from minmip.sim.d3d12.structures import Structure

__all__ = [
    "D3D12_BOX",
    "D3D12_PACKED_MIP_INFO",
    "D3D12_PACKED_TILE",
    "D3D12_PLACED_SUBRESOURCE_FOOTPRINT",
    "D3D12_SUBRESOURCE_FOOTPRINT",
    "D3D12_SUBRESOURCE_TILING",
    "D3D12_TEXTURE_COPY_LOCATION",
    "D3D12_TEXTURE_DATA_PITCH_ALIGNMENT",
    "D3D12_TEXTURE_DATA_PLACEMENT_ALIGNMENT",
    "D3D12_TILE_SHAPE",
]

D3D12_TEXTURE_DATA_PITCH_ALIGNMENT = 256
"""Rows of texels in a buffer lie this many bytes, or a multiple of it, apart."""

D3D12_TEXTURE_DATA_PLACEMENT_ALIGNMENT = 512
"""Each subresource in a buffer begins at a multiple of this many bytes."""

D3D12_PACKED_TILE = 0xFFFFFFFF
"""Start tile of a subresource that lies among the packed mips."""


@dataclass(frozen=True)
class D3D12_BOX(Structure):
    """Texels from left, top, front up to and without right, bottom, back."""

    left: int = 0
    top: int = 0
    front: int = 0
    right: int = 1
    bottom: int = 1
    back: int = 1


@dataclass(frozen=True)
class D3D12_SUBRESOURCE_FOOTPRINT(Structure):
    """Texels of a subresource in a buffer: rows `RowPitch` bytes apart, slices without a gap."""

    Format: DXGI_FORMAT = DXGI_FORMAT.DXGI_FORMAT_UNKNOWN
    Width: int = 1
    Height: int = 1
    Depth: int = 1
    RowPitch: int = D3D12_TEXTURE_DATA_PITCH_ALIGNMENT


@dataclass(frozen=True)
class D3D12_PLACED_SUBRESOURCE_FOOTPRINT(Structure):
    """A footprint at a byte offset of a buffer."""

    Offset: int = 0
    Footprint: D3D12_SUBRESOURCE_FOOTPRINT = field(default_factory=D3D12_SUBRESOURCE_FOOTPRINT)


@dataclass(frozen=True)
class D3D12_TEXTURE_COPY_LOCATION(Structure):
    """One side of a copy: a subresource of a texture, or a footprint in a buffer.

    `Type` says which of the last two fields counts.
    """

    pResource: Resource
    Type: D3D12_TEXTURE_COPY_TYPE = (
        D3D12_TEXTURE_COPY_TYPE.D3D12_TEXTURE_COPY_TYPE_SUBRESOURCE_INDEX
    )
    PlacedFootprint: D3D12_PLACED_SUBRESOURCE_FOOTPRINT = field(
        default_factory=D3D12_PLACED_SUBRESOURCE_FOOTPRINT
    )
    SubresourceIndex: int = 0


@dataclass(frozen=True)
class D3D12_TILE_SHAPE(Structure):
    """Texels of a 64 KB tile."""

    WidthInTexels: int
    HeightInTexels: int
    DepthInTexels: int


@dataclass(frozen=True)
class D3D12_PACKED_MIP_INFO(Structure):
    """How many mips of a slice have tiles of their own, and what the others take together."""

    NumStandardMips: int
    NumPackedMips: int
    NumTilesForPackedMips: int
    StartTileIndexInOverallResource: int


@dataclass(frozen=True)
class D3D12_SUBRESOURCE_TILING(Structure):
    """Tiles of a subresource; none, and the start D3D12_PACKED_TILE, for a packed mip."""

    WidthInTiles: int
    HeightInTiles: int
    DepthInTiles: int
    StartTileIndexInOverallResource: int
