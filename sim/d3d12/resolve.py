"""Checks of ResolveSubresourceRegion: decoding and encoding feedback maps (spec 06 "Resolve")."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from minmip.sim.d3d12.arguments import member, whole_number
from minmip.sim.d3d12.enums import D3D12_RESOLVE_MODE, DXGI_FORMAT
from minmip.sim.d3d12.errors import D3D12Error
from minmip.sim.d3d12.resource import Resource
from minmip.sim.d3d12.resources import (
    MIN_MIP,
    decoded_size,
    is_buffer,
    mip_size,
    texture_axes,
    texture_size,
)
from minmip.sim.d3d12.structures import D3D12_RECT, check_structure

__all__ = ["RAW_IS_XBOX", "UINT_MAX", "Transcode", "checked_transcode"]

UINT_MAX = 0xFFFFFFFF
"""A subresource index that stands for the whole resource."""

RAW_IS_XBOX = "R8_TYPELESS, the raw bytes of a feedback map, is an Xbox extension"
DECODE = D3D12_RESOLVE_MODE.D3D12_RESOLVE_MODE_DECODE_SAMPLER_FEEDBACK
ENCODE = D3D12_RESOLVE_MODE.D3D12_RESOLVE_MODE_ENCODE_SAMPLER_FEEDBACK
R8_UINT = DXGI_FORMAT.DXGI_FORMAT_R8_UINT
R8_TYPELESS = DXGI_FORMAT.DXGI_FORMAT_R8_TYPELESS


@dataclass(frozen=True, eq=False, kw_only=True)
class Transcode:
    """A checked resolve.

    Attributes
    ----------
    opaque, plain : Resource
        The feedback map and the other side.
    decode : bool
        Whether the map is the source.
    raw : bool
        Whether bytes stay as they are (Xbox).
    places : tuple of (int, int)
        Mip and slice of each subresource.
    rect : D3D12_RECT or None
        Part of the source in decoded texels; None for all of it.
    corner : tuple of int
        DstX and DstY.
    """

    opaque: Resource
    plain: Resource
    decode: bool
    raw: bool
    places: tuple[tuple[int, int], ...]
    rect: D3D12_RECT | None
    corner: tuple[int, int]

    @property
    def subresources(self) -> list[int]:
        """Indices of the subresources; they are the same on both sides."""
        return [mip + layer * self.opaque.mips for mip, layer in self.places]

    def parts(self, mip: int) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
        """Texels of a mip in source and destination, last axis x."""
        axes = texture_axes(self.opaque.desc)
        size = mip_size(decoded_size(self.opaque.desc), mip)
        source = [slice(0, side) for side in size]
        if self.rect is not None:
            source[0] = slice(self.rect.left, self.rect.right)
            source[1] = slice(self.rect.top, self.rect.bottom)
        start = (*self.corner, 0)
        target = [
            slice(at, at + part.stop - part.start) for at, part in zip(start, source, strict=True)
        ]
        return tuple(reversed(source[:axes])), tuple(reversed(target[:axes]))


def checked_transcode(
    dst: Resource,
    dst_subresource: int,
    corner: tuple[int, int],
    src: Resource,
    src_subresource: int,
    rect: D3D12_RECT | None,
    form: DXGI_FORMAT,
    mode: D3D12_RESOLVE_MODE,
    *,
    xbox: bool,
) -> Transcode:
    """Check the arguments of ResolveSubresourceRegion.

    Raises
    ------
    D3D12Error
        Naming the rule of spec 06 "Resolve" that is broken.
    """
    mode = member("ResolveMode", D3D12_RESOLVE_MODE, mode, DECODE, ENCODE)
    decode = mode == DECODE
    opaque, plain = (src, dst) if decode else (dst, src)
    if not opaque.is_opaque or plain.is_opaque:
        side, other = ("source", "destination") if decode else ("destination", "source")
        raise D3D12Error(
            f"the {side} of {mode.name} must be an opaque feedback map and the {other} must not"
        )
    raw = _checked_format(plain, form, xbox)
    _check_plain(opaque, plain)
    dst_subresource = whole_number("DstSubresource", dst_subresource, 0, UINT_MAX)
    src_subresource = whole_number("SrcSubresource", src_subresource, 0, UINT_MAX)
    corner = (
        whole_number("DstX", corner[0], 0, UINT_MAX),
        whole_number("DstY", corner[1], 0, UINT_MAX),
    )
    if rect is not None:
        check_structure(D3D12_RECT, rect)
    if opaque.desc.Format == MIN_MIP:
        sides = {"DstSubresource": dst_subresource, "SrcSubresource": src_subresource}
        names = ("SrcSubresource", "DstSubresource") if decode else tuple(sides)
        layers = _min_mip_slices(opaque, names, sides)
        if rect is not None or any(corner):
            raise D3D12Error(
                "a MinMip map is transcoded whole: pSrcRect must be None and DstX, DstY 0, not "
                f"{rect}, {corner[0]}, {corner[1]}"
            )
        places = tuple((0, layer) for layer in layers)
    else:
        places = _used_places(opaque, dst_subresource, src_subresource)
        if rect is not None or any(corner):
            _check_part(opaque, plain, decode, places, rect, corner)
    return Transcode(
        opaque=opaque,
        plain=plain,
        decode=decode,
        raw=raw,
        places=places,
        rect=rect,
        corner=corner,
    )


def _checked_format(plain: Resource, form: DXGI_FORMAT, xbox: bool) -> bool:
    """Whether bytes are taken raw; D3D12Error for a format that does not fit."""
    form = member("Format of a resolve", DXGI_FORMAT, form, R8_UINT, R8_TYPELESS)
    if form == R8_TYPELESS and not xbox:
        raise D3D12Error(RAW_IS_XBOX)
    if not is_buffer(plain.desc) and plain.desc.Format != form:
        raise D3D12Error(
            f"the non-opaque side must be {form.name}, the resolve's Format, not "
            f"{plain.desc.Format.name}"
        )
    return form == R8_TYPELESS


def _check_plain(opaque: Resource, plain: Resource) -> None:
    """Check that the non-opaque side is as large as the decoded map, and alike."""
    wanted = decoded_size(opaque.desc)
    if is_buffer(plain.desc):
        if opaque.desc.Format != MIN_MIP or opaque.slices > 1:
            raise D3D12Error("a buffer can hold a decoded MinMip map of one slice only")
        if plain.desc.Width < prod(wanted):
            raise D3D12Error(
                f"the buffer must have at least {prod(wanted)} bytes, not {plain.desc.Width}"
            )
        return
    if plain.desc.SampleDesc.Count != 1:
        raise D3D12Error("the non-opaque side must not be multisampled")
    if plain.desc.Dimension != opaque.desc.Dimension:
        raise D3D12Error(
            f"the non-opaque side must be {opaque.desc.Dimension.name}, not "
            f"{plain.desc.Dimension.name}"
        )
    if plain.slices != opaque.slices:
        raise D3D12Error(
            f"DepthOrArraySize of both sides must be {opaque.slices}, not {plain.slices}"
        )
    if plain.mips != opaque.mips:
        raise D3D12Error(
            f"MipLevels of the non-opaque side must be {opaque.mips}, not {plain.mips}"
        )
    size = texture_size(plain.desc)
    if any(have < need for have, need in zip(size, wanted, strict=True)):
        raise D3D12Error(
            "the non-opaque side must have at least ceil(paired / region) texels, "
            f"{'x'.join(map(str, wanted))}, not {'x'.join(map(str, size))}"
        )


def _min_mip_slices(opaque: Resource, names: tuple[str, ...], numbers: dict[str, int]) -> range:
    """Slices of a MinMip resolve; `names` are the opaque side's argument and the other's."""
    ours, theirs = (numbers[name] for name in names)
    alone = opaque.slices == 1
    if ours != UINT_MAX and not (alone and ours == 0):
        raise D3D12Error(
            f"{names[0]} of a MinMip map must be UINT_MAX, not {ours}: {names[1]} names the one "
            "slice, or is UINT_MAX for all"
        )
    if theirs == UINT_MAX:
        return range(opaque.slices)
    if theirs >= opaque.slices:
        raise D3D12Error(f"{names[1]} must be a slice in 0..{opaque.slices - 1}, not {theirs}")
    return range(theirs, theirs + 1)


def _used_places(opaque: Resource, dst: int, src: int) -> tuple[tuple[int, int], ...]:
    """Mip and slice of the subresources of a MipRegionUsed resolve."""
    if dst != src:
        raise D3D12Error(
            "DstSubresource and SrcSubresource of a MipRegionUsed map must be the same, mip + "
            f"slice * mips, or both UINT_MAX, not {dst} and {src}"
        )
    count = len(opaque.defined)
    if src != UINT_MAX and src >= count:
        raise D3D12Error(f"the subresource must be in 0..{count - 1} or UINT_MAX, not {src}")
    chosen = range(count) if src == UINT_MAX else range(src, src + 1)
    return tuple((index % opaque.mips, index // opaque.mips) for index in chosen)


def _check_part(opaque, plain, decode, places, rect, corner) -> None:
    """Check source rectangle and DstX, DstY, which are decoded texels on both sides."""
    if len(places) != 1:
        raise D3D12Error(
            "pSrcRect, DstX and DstY are for one subresource, not for a whole resource of "
            f"{len(places)}"
        )
    axes = texture_axes(opaque.desc)
    if axes == 3:
        raise D3D12Error("pSrcRect, DstX and DstY have no depth: a volume's mip is resolved whole")
    mip = places[0][0]
    decoded = mip_size(decoded_size(opaque.desc), mip)[:2]
    whole = mip_size(texture_size(plain.desc), mip)[:2]
    src_size, dst_size = (decoded, whole) if decode else (whole, decoded)
    rect = rect or D3D12_RECT(0, 0, *decoded)
    if not (0 <= rect.left < rect.right <= src_size[0]) or not (
        0 <= rect.top < rect.bottom <= src_size[1]
    ):
        raise D3D12Error(
            f"pSrcRect must hold texels, and lie in the {src_size[0]}x{src_size[1]} texels of the "
            f"source, not be {rect}"
        )
    ends = (corner[0] + rect.right - rect.left, corner[1] + rect.bottom - rect.top)
    if ends[0] > dst_size[0] or ends[1] > dst_size[1]:
        raise D3D12Error(
            f"DstX, DstY {corner[0]}, {corner[1]} put the rectangle's end at {ends[0]}, {ends[1]}, "
            f"outside the {dst_size[0]}x{dst_size[1]} texels of the destination"
        )
