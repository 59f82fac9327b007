"""Copies of texels between textures and buffers: CopyTextureRegion (spec 06 "Resolve")."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from minmip.sim.d3d12.arguments import whole_number
from minmip.sim.d3d12.copy_structures import (
    D3D12_BOX,
    D3D12_SUBRESOURCE_FOOTPRINT,
    D3D12_TEXTURE_COPY_LOCATION,
    D3D12_TEXTURE_DATA_PITCH_ALIGNMENT,
    D3D12_TEXTURE_DATA_PLACEMENT_ALIGNMENT,
)
from minmip.sim.d3d12.enums import D3D12_TEXTURE_COPY_TYPE, DXGI_FORMAT
from minmip.sim.d3d12.errors import D3D12Error
from minmip.sim.d3d12.formats import short_name
from minmip.sim.d3d12.resource import Resource
from minmip.sim.d3d12.resources import is_buffer, mip_size, texture_size
from minmip.sim.d3d12.structures import check_structure

__all__ = ["RegionCopy", "checked_region", "copy_region"]

FOOTPRINT = D3D12_TEXTURE_COPY_TYPE.D3D12_TEXTURE_COPY_TYPE_PLACED_FOOTPRINT
LARGEST = (1 << 32) - 1


@dataclass(frozen=True, eq=False, kw_only=True)
class Side:
    """One side of a copy.

    Attributes
    ----------
    resource : Resource
        Texture or buffer.
    subresource : int
        0 for a buffer.
    form : DXGI_FORMAT
        Of the texture or the footprint.
    size : (int, int, int)
        Width, height and depth in texels.
    footprint : D3D12_SUBRESOURCE_FOOTPRINT or None
        Of a buffer, `offset` bytes from its start.
    """

    resource: Resource
    subresource: int
    form: DXGI_FORMAT
    size: tuple[int, int, int]
    footprint: D3D12_SUBRESOURCE_FOOTPRINT | None = None
    offset: int = 0

    def byte_offsets(self, start: tuple[int, int, int], end: tuple[int, int, int]) -> np.ndarray:
        """Where texels lie in GPU memory, int64 [depth, height, width]."""
        z, y, x = (slice(a, b) for a, b in zip(start[::-1], end[::-1], strict=True))
        width, height, depth = self.size
        layer, mip = divmod(self.subresource, self.resource.mips)
        places = self.resource.byte_offsets(mip)[layer]
        if self.footprint is None:
            return places.reshape(depth, height, width)[z, y, x]
        row = np.arange(depth)[z, None, None] * height + np.arange(height)[y, None]
        return places[self.offset + row * self.footprint.RowPitch + np.arange(width)[x]]


@dataclass(frozen=True, eq=False, kw_only=True)
class RegionCopy:
    """A checked CopyTextureRegion: the texels of `box` of `src` go to `corner` of `dst`."""

    dst: Side
    src: Side
    corner: tuple[int, int, int]
    box: D3D12_BOX


def checked_region(
    dst: D3D12_TEXTURE_COPY_LOCATION,
    corner: tuple[int, int, int],
    src: D3D12_TEXTURE_COPY_LOCATION,
    box: D3D12_BOX | tuple[int, ...] | None,
) -> RegionCopy:
    """Check CopyTextureRegion.

    Raises
    ------
    D3D12Error
        Always for opaque feedback maps; for a location, box or corner that does not fit.
    """
    to, source = _side("destination", dst), _side("source", src)
    if to.footprint and source.footprint:
        raise D3D12Error("one side of CopyTextureRegion must be a texture, not both a footprint")
    if _family(to.form) != _family(source.form):
        raise D3D12Error(
            "Format of both sides of a copy must be of one typeless family, not "
            f"{to.form.name} and {source.form.name}"
        )
    if to.resource is source.resource and to.subresource == source.subresource:
        raise D3D12Error("CopyTextureRegion needs two subresources, not one twice")
    chosen = D3D12_BOX(0, 0, 0, *source.size) if box is None else _box(box)
    starts = (chosen.left, chosen.top, chosen.front)
    ends = (chosen.right, chosen.bottom, chosen.back)
    places = []
    for axis, name in enumerate("XYZ"):
        start, end = starts[axis], ends[axis]
        if not start < end <= source.size[axis]:
            raise D3D12Error(
                f"the source box must hold texels in 0..{source.size[axis]} along {name}, not "
                f"{start}..{end}"
            )
        at = whole_number(f"Dst{name}", corner[axis], 0, LARGEST)
        if at > to.size[axis] - (end - start):
            raise D3D12Error(
                f"Dst{name} {at} puts the box outside the destination's {to.size[axis]} texels"
            )
        places.append(at)
    return RegionCopy(dst=to, src=source, corner=(places[0], places[1], places[2]), box=chosen)


def copy_region(job: RegionCopy) -> None:
    """Carry out a checked CopyTextureRegion. A copy of undefined texels is undefined."""
    box = job.box
    size = (box.right - box.left, box.bottom - box.top, box.back - box.front)
    x, y, z = (at + side for at, side in zip(job.corner, size, strict=True))
    source = job.src.byte_offsets((box.left, box.top, box.front), (box.right, box.bottom, box.back))
    target = job.dst.byte_offsets(job.corner, (x, y, z))
    memory = job.src.resource.heap.memory
    memory[target] = memory[source]
    defined = job.src.resource.defined[job.src.subresource]
    job.dst.resource.define(job.dst.subresource, defined)


def _side(name: str, location: D3D12_TEXTURE_COPY_LOCATION) -> Side:
    resource = location.pResource
    if resource.is_opaque:
        raise D3D12Error(
            "CopyTextureRegion cannot take a feedback map: CopyResource copies it whole, "
            "ResolveSubresourceRegion transcodes parts of it"
        )
    if location.Type == FOOTPRINT:
        return _placed(name, location)
    if is_buffer(resource.desc):
        raise D3D12Error(
            f"a buffer as the {name} of CopyTextureRegion needs a placed footprint, not a "
            "subresource index; CopyBufferRegion copies plain bytes"
        )
    resource.need_memory()
    count = len(resource.defined)
    index = whole_number(f"SubresourceIndex of the {name}", location.SubresourceIndex, 0, count - 1)
    size = mip_size(texture_size(resource.desc), index % resource.mips)
    return Side(resource=resource, subresource=index, form=resource.desc.Format, size=size)


def _placed(name: str, location: D3D12_TEXTURE_COPY_LOCATION) -> Side:
    resource, placed = location.pResource, location.PlacedFootprint
    footprint = placed.Footprint
    if not is_buffer(resource.desc):
        raise D3D12Error(
            f"the placed footprint of the {name} must be in a buffer, not in a "
            f"{resource.desc.Dimension.name}"
        )
    for what, value, unit in (
        ("Offset", placed.Offset, D3D12_TEXTURE_DATA_PLACEMENT_ALIGNMENT),
        ("RowPitch", footprint.RowPitch, D3D12_TEXTURE_DATA_PITCH_ALIGNMENT),
    ):
        if value % unit:
            raise D3D12Error(f"{what} of a footprint must be a multiple of {unit}, not {value}")
    size = (footprint.Width, footprint.Height, footprint.Depth)
    if not all(size):
        raise D3D12Error(f"a footprint must have texels, not {'x'.join(map(str, size))}")
    if footprint.RowPitch < footprint.Width:
        raise D3D12Error(
            f"RowPitch of a footprint must be at least its row, {footprint.Width} bytes, not "
            f"{footprint.RowPitch}"
        )
    rows = footprint.Height * footprint.Depth
    end = placed.Offset + footprint.RowPitch * (rows - 1) + footprint.Width
    if end > resource.desc.Width:
        raise D3D12Error(
            f"the footprint ends at byte {end}, past the buffer's {resource.desc.Width} bytes"
        )
    return Side(
        resource=resource,
        subresource=0,
        form=footprint.Format,
        size=size,
        footprint=footprint,
        offset=placed.Offset,
    )


def _box(box: D3D12_BOX | tuple[int, ...]) -> D3D12_BOX:
    if isinstance(box, tuple):
        if len(box) != 6:
            raise D3D12Error(f"a box is left, top, front, right, bottom, back, not {box}")
        return D3D12_BOX(*box)
    check_structure(D3D12_BOX, box)
    return box


def _family(form: DXGI_FORMAT) -> str:
    """Formats of one family have the same bits, and differ in what they mean."""
    return short_name(form).partition("_")[0]
