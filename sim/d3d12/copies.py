"""Copies of whole resources and of bytes of buffers (spec 06 "Resolve")."""

from __future__ import annotations

from minmip.sim.d3d12.arguments import shown, whole_number
from minmip.sim.d3d12.errors import D3D12Error
from minmip.sim.d3d12.resource import Resource
from minmip.sim.d3d12.resources import is_buffer

__all__ = ["check_buffer_region", "check_copy", "copy_buffer_region", "copy_whole"]

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
                f"{name} of both resources of a copy must be equal, not {shown(ours)} and "
                f"{shown(theirs)}{hint}"
            )
    src.need_memory()
    dst.need_memory()


def copy_whole(dst: Resource, src: Resource) -> None:
    """Carry out a checked CopyResource, whatever the two swizzle modes are."""
    for mip in range(src.mips):
        texels = src.texels(mip)
        for layer in range(src.slices):
            dst.put_texels(mip, layer, (slice(None),), texels[layer])
    dst.define(slice(None), src.defined)
    dst.stale[:] = src.stale
    dst.paired, dst.unread = src.paired, src.unread


def check_buffer_region(
    dst: Resource, dst_offset: int, src: Resource, src_offset: int, num_bytes: int
) -> tuple[int, int, int]:
    """Check CopyBufferRegion: bytes of one buffer to another, or to another place of the same.

    Returns
    -------
    tuple of int
        Both offsets and the number of bytes.
    """
    for resource in (dst, src):
        if not is_buffer(resource.desc):
            raise D3D12Error(
                "CopyBufferRegion is between buffers; CopyTextureRegion takes textures, and "
                "footprints in buffers"
            )
    count = whole_number("NumBytes", num_bytes, 1, min(dst.desc.Width, src.desc.Width))
    to = whole_number("DstOffset", dst_offset, 0, dst.desc.Width - count)
    start = whole_number("SrcOffset", src_offset, 0, src.desc.Width - count)
    if dst is src and abs(to - start) < count:
        raise D3D12Error(
            f"a copy inside one buffer must not overlap: {count} bytes from {start} to {to}"
        )
    return to, start, count


def copy_buffer_region(dst: Resource, to: int, src: Resource, start: int, count: int) -> None:
    """Carry out a checked CopyBufferRegion."""
    source, target = (r.byte_offsets(0)[0] for r in (src, dst))
    src.heap.flush()
    src.heap.memory[target[to : to + count]] = src.heap.memory[source[start : start + count]]
    dst.define(slice(None), src.defined)
