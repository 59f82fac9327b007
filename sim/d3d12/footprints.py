"""Footprints of textures in buffers: GetCopyableFootprints (Direct3D 12)."""

from __future__ import annotations

from dataclasses import dataclass

from minmip.sim.d3d12.arguments import whole_number
from minmip.sim.d3d12.copy_structures import (
    D3D12_PLACED_SUBRESOURCE_FOOTPRINT,
    D3D12_SUBRESOURCE_FOOTPRINT,
    D3D12_TEXTURE_DATA_PITCH_ALIGNMENT,
    D3D12_TEXTURE_DATA_PLACEMENT_ALIGNMENT,
)
from minmip.sim.d3d12.errors import D3D12Error
from minmip.sim.d3d12.formats import plane_formats
from minmip.sim.d3d12.resources import (
    FEEDBACK_FORMATS,
    is_buffer,
    mip_size,
    subresource_count,
    texture_size,
)
from minmip.sim.d3d12.structures import D3D12_RESOURCE_DESC1

__all__ = ["CopyableFootprints", "copyable_footprints"]


@dataclass(frozen=True)
class CopyableFootprints:
    """What GetCopyableFootprints answers, with the names of its C arguments.

    Attributes
    ----------
    Layouts : tuple of D3D12_PLACED_SUBRESOURCE_FOOTPRINT
        One for each subresource.
    NumRows : tuple of int
        Rows of a slice: of texels, or of blocks in BC formats.
    RowSizeInBytes : tuple of int
        Bytes of a row without its padding.
    TotalBytes : int
        From the base offset to the end of the last row.
    """

    Layouts: tuple[D3D12_PLACED_SUBRESOURCE_FOOTPRINT, ...]
    NumRows: tuple[int, ...]
    RowSizeInBytes: tuple[int, ...]
    TotalBytes: int


def copyable_footprints(
    desc: D3D12_RESOURCE_DESC1, first: int, count: int | None, base_offset: int
) -> CopyableFootprints:
    """Lay subresources of a checked description out in a buffer, one after the other.

    Parameters
    ----------
    desc : D3D12_RESOURCE_DESC1
        Checked.
    first, count : int
        Subresources, mip + slice * mips; `count` None is all from the first on.
    base_offset : int
        Of the first one in the buffer.

    Raises
    ------
    D3D12Error
        For buffers, feedback maps, multisampled and planar textures, and subresources that the
        texture has not.
    """
    _check(desc)
    total = subresource_count(desc)
    first = whole_number("FirstSubresource", first, 0, total - 1)
    if count is None:
        count = total - first
    count = whole_number("NumSubresources", count, 1, total - first)
    base_offset = whole_number("BaseOffset", base_offset, 0, (1 << 48) - 1)
    if base_offset % D3D12_TEXTURE_DATA_PLACEMENT_ALIGNMENT:
        raise D3D12Error(
            f"BaseOffset must be a multiple of {D3D12_TEXTURE_DATA_PLACEMENT_ALIGNMENT} "
            f"(D3D12_TEXTURE_DATA_PLACEMENT_ALIGNMENT), not {base_offset}"
        )
    plane = plane_formats(desc.Format)[0]
    layouts, rows, row_sizes, end = [], [], [], 0
    for index in range(first, first + count):
        start = _round_up(end, D3D12_TEXTURE_DATA_PLACEMENT_ALIGNMENT)
        width, height, depth = mip_size(texture_size(desc), index % desc.MipLevels)
        width, height = (
            _round_up(side, unit) for side, unit in zip((width, height), plane.texels, strict=True)
        )
        row_size = width // plane.texels[0] * plane.element_bytes
        pitch = _round_up(row_size, D3D12_TEXTURE_DATA_PITCH_ALIGNMENT)
        footprint = D3D12_SUBRESOURCE_FOOTPRINT(desc.Format, width, height, depth, pitch)
        layouts.append(D3D12_PLACED_SUBRESOURCE_FOOTPRINT(base_offset + start, footprint))
        rows.append(height // plane.texels[1])
        row_sizes.append(row_size)
        end = start + pitch * (rows[-1] * depth - 1) + row_size
    return CopyableFootprints(tuple(layouts), tuple(rows), tuple(row_sizes), end)


def _check(desc: D3D12_RESOURCE_DESC1) -> None:
    if is_buffer(desc):
        raise D3D12Error("a buffer has no rows to lay out: CopyBufferRegion copies its bytes")
    if desc.Format in FEEDBACK_FORMATS:
        raise D3D12Error(
            "an opaque feedback map has no copyable footprints: ResolveSubresourceRegion decodes "
            "it into a texture that has"
        )
    if desc.SampleDesc.Count != 1:
        raise D3D12Error("a multisampled texture has no copyable footprints")
    planes = len(plane_formats(desc.Format))
    if planes > 1:
        raise D3D12Error(
            f"this model lays out formats of one plane in buffers, not {desc.Format.name} with "
            f"{planes}"
        )


def _round_up(value: int, unit: int) -> int:
    return -(-value // unit) * unit
