"""Views: image descriptors, plain and linked (spec 01 "Building a linked T#", spec 06)."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from math import isfinite

import numpy as np

from minmip.sim.d3d12.enums import D3D12_SRV_DIMENSION, DXGI_FORMAT
from minmip.sim.d3d12.errors import D3D12Error, D3D12Warning
from minmip.sim.d3d12.formats import format_code, viewed_format
from minmip.sim.d3d12.heap import Resource
from minmip.sim.d3d12.resources import (
    FEEDBACK_FORMATS,
    LARGEST_SCALE_LOG2,
    MIN_MIP,
    MIP_REGION_USED,
    TEXTURE3D,
    UNORDERED_ACCESS,
    is_buffer,
    region_log2,
    texture_axes,
    texture_size,
)
from minmip.sim.d3d12.structures import (
    ALL,
    D3D12_RESOURCE_DESC1,
    D3D12_SHADER_RESOURCE_VIEW_DESC,
    D3D12_UNORDERED_ACCESS_VIEW_DESC,
)
from minmip.sim.descriptor_words import T_FIELDS, T_WORDS, pack, unpack
from minmip.sim.golden.descriptor import (
    FORMAT_8_UINT,
    LINKED_FILTER,
    LINKED_MIN,
    LINKED_OR,
    TYPE_1D,
    TYPE_1D_ARRAY,
    TYPE_2D,
    TYPE_2D_ARRAY,
    TYPE_3D,
)

__all__ = [
    "View",
    "feedback_view",
    "min_mip_view",
    "null_view",
    "shader_resource_view",
    "view_field",
]

LINKED_TYPES = {MIN_MIP: LINKED_MIN, MIP_REGION_USED: LINKED_OR}

# View dimension values are the same in SRV and UAV descriptions: (T# TYPE, axes, array).
DIMENSIONS = {
    D3D12_SRV_DIMENSION.D3D12_SRV_DIMENSION_TEXTURE1D: (TYPE_1D, 1, False),
    D3D12_SRV_DIMENSION.D3D12_SRV_DIMENSION_TEXTURE1DARRAY: (TYPE_1D_ARRAY, 1, True),
    D3D12_SRV_DIMENSION.D3D12_SRV_DIMENSION_TEXTURE2D: (TYPE_2D, 2, False),
    D3D12_SRV_DIMENSION.D3D12_SRV_DIMENSION_TEXTURE2DARRAY: (TYPE_2D_ARRAY, 2, True),
    D3D12_SRV_DIMENSION.D3D12_SRV_DIMENSION_TEXTURE3D: (TYPE_3D, 3, False),
}

# D3D12_SHADER_COMPONENT_MAPPING, 3 bits each, to DST_SEL: X to W, force 0, force 1.
DST_SEL = (4, 5, 6, 7, 0, 1)

LARGEST_MIN_LOD = 0xFFF


@dataclass(frozen=True, eq=False, kw_only=True)
class View:
    """An image descriptor and what the driver remembers of it.

    Attributes
    ----------
    words : numpy.ndarray
        The T#, uint32 [8], read-only; zero for a NULL view.
    linked_type : int
        0 a plain texture, 1 MipRegionUsed feedback, 2 MinMip feedback, 4 the MinMip filter.
    resource : Resource or None
        The texture of a plain view, the map of a linked one; None for a NULL view.
    axes : int
        Coordinates that an operation on the view takes, without the slice; 0 for a NULL view.
    is_array : bool
        Whether operations take an array slice.
    last_level : int
        Last mip level, counted from the view's first.
    target : Resource or None
        The paired texture of a feedback view.
    """

    words: np.ndarray = field(repr=False)
    linked_type: int
    resource: Resource | None = None
    axes: int = 0
    is_array: bool = False
    last_level: int = 0
    target: Resource | None = None

    @property
    def is_null(self) -> bool:
        """True for a NULL view, on which operations do nothing."""
        return self.resource is None


def view_field(view: View, name: str) -> int:
    """Return a field of a view's T#."""
    return int(unpack(T_FIELDS, view.words[None])[name][0])


def null_view(linked_type: int) -> View:
    """Return a view of nothing: writes vanish, reads give 0."""
    return View(words=_frozen(np.zeros(T_WORDS, np.uint32)), linked_type=linked_type)


def shader_resource_view(resource: Resource, desc: D3D12_SHADER_RESOURCE_VIEW_DESC) -> View:
    """Describe a plain texture. D3D12Error when format, dimension or range do not fit it."""
    _check_texture(resource.desc)
    if resource.desc.Format in FEEDBACK_FORMATS:
        raise D3D12Error("an opaque feedback map cannot be a shader resource")
    chosen = viewed_format(resource.desc.Format, desc.Format)
    place = {
        "FORMAT": format_code(chosen),
        "BASE_ADDRESS": resource.address >> 8,
        "SW_MODE": resource.sw_mode,
    }
    return _view(resource, resource.desc, desc, 0, place)


def feedback_view(
    target: Resource,
    feedback: Resource,
    uav: D3D12_UNORDERED_ACCESS_VIEW_DESC | None,
    target_view: D3D12_SHADER_RESOURCE_VIEW_DESC,
) -> View:
    """Link a feedback map to the texture it is paired with (T# type 2 or 1).

    Parameters
    ----------
    target, feedback : Resource
        The paired texture, and its opaque feedback map or (Xbox) a plain R8_UINT map of the
        physical size, whose kind `uav.Format` must then name.
    uav : D3D12_UNORDERED_ACCESS_VIEW_DESC or None
        Slices of the map; None for all.
    target_view : D3D12_SHADER_RESOURCE_VIEW_DESC
        The part of the texture that is sampled.

    Raises
    ------
    D3D12Error
        When map and texture do not fit each other, or a view does not fit them.
    """
    for resource in (target, feedback):
        _check_texture(resource.desc)
    uav = uav or D3D12_UNORDERED_ACCESS_VIEW_DESC()
    if target.desc.Format in FEEDBACK_FORMATS:
        raise D3D12Error("the targeted resource must be a texture, not a feedback map")
    if feedback.desc.Format in FEEDBACK_FORMATS:
        kind = feedback.desc.Format
        if uav.Format not in (DXGI_FORMAT.DXGI_FORMAT_UNKNOWN, kind):
            raise D3D12Error(f"the view's Format must be {kind.name}, not {uav.Format.name}")
        for name in ("Dimension", "Width", "Height", "DepthOrArraySize", "MipLevels"):
            _check_equal(name, target.desc, feedback.desc)
        scales = region_log2(feedback.desc)
    else:
        kind = uav.Format
        if kind not in FEEDBACK_FORMATS:
            raise D3D12Error(
                "a plain R8_UINT feedback map needs a view description whose Format names its "
                f"kind, one of the two SAMPLER_FEEDBACK formats, not {kind.name}"
            )
        if not feedback.desc.Flags & UNORDERED_ACCESS:
            raise D3D12Error("a feedback map needs D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS")
        mips = 1 if kind == MIN_MIP else target.desc.MipLevels
        scales = _plain_map_scales(target.desc, feedback, mips)
    desc = _merged(target_view, uav)
    viewed_format(target.desc.Format, desc.Format)
    linked_type = LINKED_TYPES[kind]
    link = _link(linked_type, feedback, scales)
    return replace(_view(feedback, target.desc, desc, linked_type, link), target=target)


def min_mip_view(
    target: D3D12_RESOURCE_DESC1, min_mip: Resource, desc: D3D12_SHADER_RESOURCE_VIEW_DESC
) -> View:
    """Link a MinMip map to the texture whose residency it holds (T# type 4).

    Raises
    ------
    D3D12Error
        When the map is not R8_UINT with one mip, or its size no power-of-two fraction of the
        texture's, or the view does not fit.
    """
    for texture in (target, min_mip.desc):
        _check_texture(texture)
    if desc.Format not in (DXGI_FORMAT.DXGI_FORMAT_UNKNOWN, DXGI_FORMAT.DXGI_FORMAT_R8_UINT):
        raise D3D12Error(f"a MinMip view's Format must be R8_UINT, not {desc.Format.name}")
    scales = _plain_map_scales(target, min_mip, mips=1)
    return _view(min_mip, target, desc, LINKED_FILTER, _link(LINKED_FILTER, min_mip, scales))


def _check_texture(desc: D3D12_RESOURCE_DESC1) -> None:
    if is_buffer(desc):
        raise D3D12Error("these views are of textures, not of a buffer")


def _plain_map_scales(
    target: D3D12_RESOURCE_DESC1, plain: Resource, mips: int
) -> tuple[int, int, int]:
    """Log2 of paired / map per axis for an R8_UINT map; the smallest where several fit."""
    if plain.desc.Format != DXGI_FORMAT.DXGI_FORMAT_R8_UINT:
        raise D3D12Error(f"the map must be R8_UINT, not {plain.desc.Format.name}")
    if plain.desc.MipLevels != mips:
        raise D3D12Error(f"MipLevels of the map must be {mips}, not {plain.desc.MipLevels}")
    _check_equal("Dimension", target, plain.desc)
    if target.Dimension != TEXTURE3D:
        _check_equal("DepthOrArraySize", target, plain.desc)
    sizes = zip(texture_size(target), texture_size(plain.desc), strict=True)
    width, height, depth = (_scale(paired, stored) for paired, stored in sizes)
    return width, height, depth


def _scale(paired: int, stored: int) -> int:
    for scale in range(LARGEST_SCALE_LOG2 + 1):
        if max(1, paired >> scale) == stored:
            return scale
    raise D3D12Error(
        f"a map side of {stored} is no power-of-two fraction of the paired side {paired}"
    )


def _link(linked_type: int, linked_map: Resource, scales: tuple[int, int, int]) -> dict[str, int]:
    """Return the fields in which a linked word differs from that of the paired texture."""
    return {
        "LINKED_RESOURCE": 1,
        "LINKED_RESOURCE_TYPE": linked_type,
        "FORMAT": FORMAT_8_UINT,
        "BASE_ADDRESS": linked_map.address >> 8,
        "SW_MODE": linked_map.sw_mode,
        "MAX_MIP": linked_map.mips - 1,
        "WIDTH_SCALE": scales[0],
        "HEIGHT_SCALE": scales[1],
        "DEPTH_SCALE": scales[2],
        "COMPRESSION_EN": 0,
    }


def _view(
    resource: Resource,
    texture: D3D12_RESOURCE_DESC1,
    desc: D3D12_SHADER_RESOURCE_VIEW_DESC,
    linked_type: int,
    patch: dict[str, int],
) -> View:
    """Build the whole word from the (paired) texture and its view, then patch it."""
    if texture.SampleDesc.Count != 1:
        raise D3D12Error("multisampled textures cannot be sampled or paired (spec 01, rule 2)")
    axes = texture_axes(texture)
    default = {1: 2, 2: 4, 3: 8}[axes] + (axes < 3 and texture.DepthOrArraySize > 1)
    dimension = desc.ViewDimension or D3D12_SRV_DIMENSION(default)
    kind, view_axes, is_array = DIMENSIONS[dimension]
    if view_axes != axes:
        raise D3D12Error(f"a {texture.Dimension.name} cannot be viewed as {dimension.name}")
    first, last = _range("mip", desc.MostDetailedMip, desc.MipLevels, texture.MipLevels)
    layers = texture.DepthOrArraySize if is_array else 1
    first_slice, last_slice = _range("slice", desc.FirstArraySlice, desc.ArraySize, layers)
    width, height, depth = texture_size(texture)
    selects = [desc.Shader4ComponentMapping >> 3 * i & 7 for i in range(4)]
    if max(selects) >= len(DST_SEL):
        raise D3D12Error(
            f"Shader4ComponentMapping {desc.Shader4ComponentMapping:#x} names no component"
        )
    fields = {
        "TYPE": kind,
        "WIDTH": width - 1,
        "HEIGHT": height - 1,
        "DEPTH": depth - 1 if axes == 3 else last_slice,
        "BASE_ARRAY": first_slice,
        "RESOURCE_LEVEL": 1,
        "DST_SEL_X": DST_SEL[selects[0]],
        "DST_SEL_Y": DST_SEL[selects[1]],
        "DST_SEL_Z": DST_SEL[selects[2]],
        "DST_SEL_W": DST_SEL[selects[3]],
        "BASE_LEVEL": first,
        "LAST_LEVEL": last,
        "MAX_MIP": texture.MipLevels - 1,
        "MIN_LOD": _min_lod(desc.ResourceMinLODClamp, first, last),
    }
    return View(
        words=_frozen(pack(T_FIELDS, T_WORDS, **(fields | patch))),
        linked_type=linked_type,
        resource=resource,
        axes=axes,
        is_array=is_array,
        last_level=last - first,
    )


def _range(what: str, first: int, count: int, total: int) -> tuple[int, int]:
    """First and last of a view's mips or slices; ALL counts to the end."""
    if first >= total:
        raise D3D12Error(f"the view's first {what} must be below {total}, not {first}")
    if count == ALL:
        return first, total - 1
    if not 1 <= count <= total - first:
        raise D3D12Error(
            f"a view from {what} {first} must have 1..{total - first} of {total}, not {count}"
        )
    return first, first + count - 1


def _min_lod(clamp: float, first: int, last: int) -> int:
    """ResourceMinLODClamp as U4.8 in view space, cut to 1/256."""
    if not isfinite(clamp) or clamp < 0:
        raise D3D12Error(f"ResourceMinLODClamp must be finite and at least 0, not {clamp}")
    if clamp > last:
        warnings.warn(
            f"ResourceMinLODClamp {clamp} is beyond the view's last mip {last}, which is used",
            D3D12Warning,
            stacklevel=5,
        )
    return min(LARGEST_MIN_LOD, int(256 * max(0.0, clamp - first)))


def _merged(
    view: D3D12_SHADER_RESOURCE_VIEW_DESC, uav: D3D12_UNORDERED_ACCESS_VIEW_DESC
) -> D3D12_SHADER_RESOURCE_VIEW_DESC:
    """Put the map's slices into the view of the texture, which may not say otherwise."""
    changes = {}
    for name, default in (("ViewDimension", 0), ("FirstArraySlice", 0), ("ArraySize", ALL)):
        ours, theirs = getattr(uav, name), getattr(view, name)
        if ours != default:
            if theirs not in (default, ours):
                raise D3D12Error(f"{name} of the two views must agree, not {ours} and {theirs}")
            changes[name] = int(ours)
    return replace(view, **changes)


def _check_equal(name: str, target: D3D12_RESOURCE_DESC1, linked: D3D12_RESOURCE_DESC1) -> None:
    wanted, came = getattr(target, name), getattr(linked, name)
    if wanted != came:
        raise D3D12Error(f"{name} of the map must be the paired texture's {wanted}, not {came}")


def _frozen(words: np.ndarray) -> np.ndarray:
    words.flags.writeable = False
    return words
