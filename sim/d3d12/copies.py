"""Copies of whole resources and of texture regions (spec 06 "Resolve")."""

from __future__ import annotations

from minmip.sim.d3d12.errors import D3D12Error
from minmip.sim.d3d12.resource import Resource
from minmip.sim.d3d12.resources import is_buffer, texture_axes

__all__ = ["check_copy", "check_region", "copy_region", "copy_whole"]

Box = tuple[int, int, int, int, int, int]
SHAPE = (
    "Dimension",
    "Width",
    "Height",
    "DepthOrArraySize",
    "MipLevels",
    "Format",
    "SamplerFeedbackMipRegion",
)


def check_copy(dst: Resource, src: Resource) -> None:
    """Check CopyResource: two resources of equal shape, with memory."""
    if dst is src:
        raise D3D12Error("CopyResource needs two resources, not one twice")
    for name in SHAPE:
        ours, theirs = getattr(dst.desc, name), getattr(src.desc, name)
        if ours != theirs:
            hint = "" if dst.is_opaque == src.is_opaque else "; ResolveSubresourceRegion transcodes"
            raise D3D12Error(
                f"{name} of both resources of a copy must be equal, not {ours!r} and {theirs!r}"
                f"{hint}"
            )
    src.need_memory()
    dst.need_memory()


def copy_whole(dst: Resource, src: Resource) -> None:
    """Carry out a checked CopyResource, whatever the two swizzle modes are."""
    for mip in range(src.mips):
        texels = src.texels(mip)
        for layer in range(src.slices):
            dst.put_texels(mip, layer, (slice(None),), texels[layer])
    dst.defined[:], dst.stale[:] = src.defined, src.stale
    dst.paired, dst.unread = src.paired, src.unread


def check_region(
    dst: Resource,
    dst_subresource: int,
    corner: tuple[int, int, int],
    src: Resource,
    src_subresource: int,
    box: Box | None,
) -> Box:
    """Check CopyTextureRegion between plain textures; returns the box in the source.

    Raises
    ------
    D3D12Error
        Always for opaque feedback maps.
    """
    for resource in (dst, src):
        if resource.is_opaque:
            raise D3D12Error(
                "CopyTextureRegion cannot take a feedback map: CopyResource copies it whole, "
                "ResolveSubresourceRegion transcodes parts of it"
            )
        if is_buffer(resource.desc):
            raise D3D12Error("CopyTextureRegion of this model is between textures, not buffers")
    if dst.desc.Format != src.desc.Format or dst.desc.Dimension != src.desc.Dimension:
        raise D3D12Error(
            "Format and Dimension of both textures of a copy must be equal, not "
            f"{dst.desc.Format.name} {dst.desc.Dimension.name} and "
            f"{src.desc.Format.name} {src.desc.Dimension.name}"
        )
    sizes = [
        (*reversed(resource.read_from_subresource(index).shape), 1, 1)[:3]
        for resource, index in ((dst, dst_subresource), (src, src_subresource))
    ]
    for number in (*corner, *(box or ())):
        if not hasattr(number, "__index__"):
            raise D3D12Error(f"texels of a copy are whole numbers, not {number!r}")
    if box is not None and len(box) != 6:
        raise D3D12Error(f"a box is left, top, front, right, bottom, back, not {box}")
    width, height, depth = sizes[1]
    chosen = (0, 0, 0, width, height, depth) if box is None else box
    for axis, name in enumerate("XYZ"):
        start, end, at = chosen[axis], chosen[axis + 3], corner[axis]
        if not 0 <= start < end <= sizes[1][axis]:
            raise D3D12Error(
                f"the source box must hold texels in 0..{sizes[1][axis]} along {name}, not "
                f"{start}..{end}"
            )
        if not 0 <= at <= sizes[0][axis] - (end - start):
            raise D3D12Error(
                f"Dst{name} {at} puts the box outside the destination's {sizes[0][axis]} texels"
            )
    return chosen


def copy_region(dst, dst_subresource, corner, src, src_subresource, box: Box) -> None:
    """Carry out a checked CopyTextureRegion."""
    axes = texture_axes(src.desc)
    sides = list(zip(box[:3], box[3:], corner, strict=True))[:axes][::-1]
    source = tuple(slice(start, end) for start, end, _ in sides)
    target = tuple(slice(at, at + end - start) for start, end, at in sides)
    texels = src.read_from_subresource(src_subresource)[source]
    layer, mip = divmod(dst_subresource, dst.mips)
    dst.put_texels(mip, layer, target, texels)
    dst.defined[dst_subresource] = True
