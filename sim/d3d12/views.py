"""Plain and linked views of resources (spec 01 "Building a linked T#", spec 06 "Views")."""

from __future__ import annotations

from dataclasses import replace

from minmip.sim.d3d12.enums import D3D12_RESOURCE_FLAGS, DXGI_FORMAT
from minmip.sim.d3d12.errors import D3D12Error
from minmip.sim.d3d12.formats import format_code, viewed_format
from minmip.sim.d3d12.resource import Resource
from minmip.sim.d3d12.resources import (
    FEEDBACK_FORMATS,
    LARGEST_SCALE_LOG2,
    MIN_MIP,
    MIP_REGION_USED,
    TEXTURE3D,
    UNORDERED_ACCESS,
    region_log2,
    texture_size,
)
from minmip.sim.d3d12.structures import (
    ALL,
    D3D12_RESOURCE_DESC1,
    D3D12_SHADER_RESOURCE_VIEW_DESC,
    D3D12_UNORDERED_ACCESS_VIEW_DESC,
)
from minmip.sim.d3d12.view import View, build_view, check_texture
from minmip.sim.golden.descriptor import FORMAT_8_UINT, LINKED_FILTER, LINKED_MIN, LINKED_OR

__all__ = ["feedback_view", "min_mip_view", "shader_resource_view"]

DENY_SHADER_RESOURCE = D3D12_RESOURCE_FLAGS.D3D12_RESOURCE_FLAG_DENY_SHADER_RESOURCE
TARGET_IS_A_MAP = "the targeted resource must be a texture, not a feedback map"
LINKED_TYPES = {MIN_MIP: LINKED_MIN, MIP_REGION_USED: LINKED_OR}


def shader_resource_view(resource: Resource, desc: D3D12_SHADER_RESOURCE_VIEW_DESC) -> View:
    """Describe a plain texture. D3D12Error when format, dimension or range do not fit it."""
    check_texture(resource.desc)
    if resource.desc.Format in FEEDBACK_FORMATS:
        raise D3D12Error("an opaque feedback map cannot be a shader resource")
    _check_readable(resource)
    chosen = viewed_format(resource.desc.Format, desc.Format, desc.PlaneSlice)
    place = {
        "FORMAT": format_code(chosen),
        "BASE_ADDRESS": resource.address >> 8,
        "SW_MODE": resource.sw_mode,
    }
    return build_view(resource, resource.desc, desc, 0, place)


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
        check_texture(resource.desc)
    if feedback is target:
        raise D3D12Error(
            "a resource may not be read and written at once: the map and the texture it is "
            "paired with must be two"
        )
    uav = uav or D3D12_UNORDERED_ACCESS_VIEW_DESC()
    if target.desc.Format in FEEDBACK_FORMATS:
        raise D3D12Error(TARGET_IS_A_MAP)
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
    desc = _merged(target_view, uav, texture_size(target.desc)[2])
    viewed_format(target.desc.Format, desc.Format, desc.PlaneSlice)
    linked_type = LINKED_TYPES[kind]
    link = _link(linked_type, feedback, scales)
    return replace(build_view(feedback, target.desc, desc, linked_type, link), target=target)


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
        check_texture(texture)
    if target.Format in FEEDBACK_FORMATS:
        raise D3D12Error(TARGET_IS_A_MAP)
    if desc.Format not in (DXGI_FORMAT.DXGI_FORMAT_UNKNOWN, DXGI_FORMAT.DXGI_FORMAT_R8_UINT):
        raise D3D12Error(f"a MinMip view's Format must be R8_UINT, not {desc.Format.name}")
    _check_readable(min_mip)
    scales = _plain_map_scales(target, min_mip, mips=1)
    return build_view(min_mip, target, desc, LINKED_FILTER, _link(LINKED_FILTER, min_mip, scales))


def _check_readable(resource: Resource) -> None:
    if resource.desc.Flags & DENY_SHADER_RESOURCE:
        raise D3D12Error("shaders cannot read a resource with DENY_SHADER_RESOURCE")


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


def _merged(
    view: D3D12_SHADER_RESOURCE_VIEW_DESC,
    uav: D3D12_UNORDERED_ACCESS_VIEW_DESC,
    depth: int,
) -> D3D12_SHADER_RESOURCE_VIEW_DESC:
    """Put the map's slices into the view of the texture, which may not say otherwise."""
    for name in ("MipSlice", "PlaneSlice", "FirstWSlice"):
        if getattr(uav, name):
            raise D3D12Error(
                f"a feedback view is of all mips and the whole depth: {name} must be 0, not "
                f"{getattr(uav, name)}"
            )
    if uav.WSize not in (ALL, depth):
        raise D3D12Error(
            f"a feedback view is of the whole depth: WSize must be {depth}, not {uav.WSize}"
        )
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
