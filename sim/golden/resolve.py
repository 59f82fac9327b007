"""Decoding and encoding of parts of a map (spec 03 "Clear, decode, encode", spec 06 "Resolve")."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from minmip.sim.golden.address import MapLayout, texel_address

__all__ = [
    "LARGEST_SIDE",
    "MIN_MIP",
    "MIP_REGION_USED",
    "NONE_SAMPLED",
    "RAW",
    "MapPart",
    "decoded",
    "encoded",
    "resolve",
]

MIN_MIP, MIP_REGION_USED, RAW = range(3)
"""What the bytes of a map mean; raw ones stay as they are (the Xbox R8_TYPELESS form)."""
NONE_SAMPLED = 0xFF
"""A MinMip texel of a region that nothing sampled; it is no mip level."""
LEVELS = 32
LARGEST_SIDE = 16384
"""Texels beyond it have no coordinate."""
_ADDRESSES = (1 << 48) - 1


def decoded(stored: np.ndarray, kind: int) -> np.ndarray:
    """Decode bytes of a map: mip levels or 0xFF, or 0xFF for used and 0; uint8."""
    if kind == MIN_MIP:
        stored = np.where(stored == NONE_SAMPLED, NONE_SAMPLED, stored >> 3)
    elif kind == MIP_REGION_USED:
        stored = np.where(stored != 0, 0xFF, 0)
    return np.asarray(stored, np.uint8)


def encoded(texels: np.ndarray, kind: int) -> np.ndarray:
    """Turn decoded texels into bytes of a map: U5.3 levels, or flags; uint8.

    MinMip levels that a byte cannot hold, 32 and above, count as 0xFF.
    """
    if kind == MIN_MIP:
        texels = np.where(texels < LEVELS, texels << 3, NONE_SAMPLED)
    elif kind == MIP_REGION_USED:
        texels = texels != 0
    return np.asarray(texels).astype(np.uint8)


@dataclass(frozen=True, eq=False, kw_only=True)
class MapPart:
    """A box of texels of one mip level of a map, to be decoded or encoded.

    Attributes
    ----------
    layout : MapLayout
        Of one map.
    mip : int
        Level of the map.
    corner : (int, int, int)
        First x, y and slice (or depth).
    size : (int, int, int)
        Width, height and slices (or depth).
    kind : int
        MIN_MIP, MIP_REGION_USED or RAW.
    texels : numpy.ndarray or None
        uint8 [slices, height, width] to encode; None to decode.
    """

    layout: MapLayout
    mip: int
    corner: tuple[int, int, int]
    size: tuple[int, int, int]
    kind: int
    texels: np.ndarray | None = None


def resolve(
    memory: np.ndarray, base: int, parts: list[MapPart]
) -> list[tuple[np.ndarray | None, bool]]:
    """Decode and encode parts of maps, one after the other.

    Parameters
    ----------
    memory : numpy.ndarray
        uint8 [bytes]; encoded texels are written to it.
    base : int
        Byte address of its start.
    parts : list of MapPart
        What to do.

    Returns
    -------
    list of (numpy.ndarray or None, bool)
        Of each part the decoded texels, uint8 [slices, height, width], None when it encodes; and
        whether some lie outside the memory, where bytes are 0 and stay so, or have no coordinate:
        then nothing of the part is read (texels are 0) or written.
    """
    return [_resolve(memory, base, part) for part in parts]


def _resolve(memory: np.ndarray, base: int, part: MapPart) -> tuple[np.ndarray | None, bool]:
    ends = [at + size for at, size in zip(part.corner, part.size, strict=True)]
    stored = np.zeros(part.size[::-1], np.uint8)
    if stored.size and max(ends[:2]) > LARGEST_SIDE:
        return (stored if part.texels is None else None), True
    z, y, x = (
        np.arange(at, end).reshape(-1, *[1] * axis)
        for axis, at, end in reversed(list(zip(range(3), part.corner, ends, strict=True)))
    )
    address = texel_address(part.layout, np.array(0), np.array(part.mip), x, y, z) & _ADDRESSES
    offset = address - base
    inside = (offset >= 0) & (offset < len(memory))
    if part.texels is not None:
        memory[offset[inside]] = encoded(part.texels, part.kind)[inside]
        return None, not inside.all()
    stored[inside] = memory[offset[inside]]
    return decoded(stored, part.kind), not inside.all()
