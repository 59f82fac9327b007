"""Size and alignment of resources: GetResourceAllocationInfo2 (spec 05, spec 06 "Resources")."""

from __future__ import annotations

from collections.abc import Sequence

from minmip.hw.config import FULL, UnitConfig
from minmip.sim.d3d12.errors import D3D12Error
from minmip.sim.d3d12.formats import short_name
from minmip.sim.d3d12.resources import (
    FEEDBACK_FORMATS,
    LAYOUT_UNKNOWN,
    checked_description,
    is_buffer,
    stored_mips,
    stored_size,
    swizzle_number,
    texture_axes,
)
from minmip.sim.d3d12.structures import (
    D3D12_RESOURCE_ALLOCATION_INFO,
    D3D12_RESOURCE_ALLOCATION_INFO1,
    D3D12_RESOURCE_DESC1,
    check_structure,
)
from minmip.sim.layout import LayoutError, Texture, layout

__all__ = ["BUFFER_ALIGNMENT", "allocation_info", "checked_resource", "size_and_alignment"]

BUFFER_ALIGNMENT = 1 << 16
"""Buffers take whole units of 64 KB of a heap, as Direct3D 12 has it."""


def checked_resource(
    desc: D3D12_RESOURCE_DESC1, *, xbox: bool, config: UnitConfig = FULL
) -> D3D12_RESOURCE_DESC1:
    """Check a description, its swizzle mode included; see `checked_description`."""
    check_structure(D3D12_RESOURCE_DESC1, desc)
    checked = checked_description(desc, xbox=xbox, config=config)
    if checked.Layout != LAYOUT_UNKNOWN and checked.SampleDesc.Count == 1:
        size_and_alignment(checked)  # refuses swizzle modes that the texture cannot have
    return checked


def size_and_alignment(desc: D3D12_RESOURCE_DESC1) -> tuple[int, int]:
    """Bytes in a heap, and the alignment that the offset there needs.

    Parameters
    ----------
    desc : D3D12_RESOURCE_DESC1
        Checked. `Alignment` may ask for more than the layout needs.

    Raises
    ------
    D3D12Error
        For multisampled textures, and for a swizzle mode that the dimension or element has not.
    """
    if is_buffer(desc):
        alignment = max(desc.Alignment, BUFFER_ALIGNMENT)
        return _round_up(desc.Width, BUFFER_ALIGNMENT), alignment
    if desc.SampleDesc.Count > 1:
        raise D3D12Error("this model has no layout of multisampled textures, so no size of them")
    width, height, depth = stored_size(desc)
    axes = texture_axes(desc)
    is_map = desc.Format in FEEDBACK_FORMATS
    try:
        resource = layout(
            Texture(
                width=width,
                height=height,
                depth=depth,
                array_size=1 if axes == 3 else desc.DepthOrArraySize,
                mips=stored_mips(desc),
                dimension=f"{axes}D",
                format=None if is_map else short_name(desc.Format),
                element_bytes=1 if is_map else None,
                mode=swizzle_number(desc),
                excess_mips=is_map,
            )
        )
    except LayoutError as error:
        raise D3D12Error(f"Layout {desc.Layout.name}: {error}") from error
    return resource.SizeBytes, max(desc.Alignment, resource.BaseAlignmentBytes)


def allocation_info(
    descs: Sequence[D3D12_RESOURCE_DESC1],
) -> tuple[D3D12_RESOURCE_ALLOCATION_INFO, list[D3D12_RESOURCE_ALLOCATION_INFO1]]:
    """Place checked descriptions one after the other; the sum and each one's place."""
    places = []
    end, strictest = 0, 1
    for desc in descs:
        size, alignment = size_and_alignment(desc)
        offset = _round_up(end, alignment)
        places.append(D3D12_RESOURCE_ALLOCATION_INFO1(offset, alignment, size))
        end, strictest = offset + size, max(strictest, alignment)
    return D3D12_RESOURCE_ALLOCATION_INFO(_round_up(end, strictest), strictest), places


def _round_up(value: int, unit: int) -> int:
    return -(-value // unit) * unit
