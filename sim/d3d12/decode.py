"""Decoding of feedback maps (spec 03 "Clear, decode, encode", spec 06 "Resolve")."""

import numpy as np

from minmip.sim.d3d12.resource import Resource
from minmip.sim.d3d12.resources import MIN_MIP, decoded_size, mip_size, texture_axes

__all__ = ["NONE_SAMPLED", "decoded_mip", "decoded_texels", "encoded"]

NONE_SAMPLED = 0xFF
"""A MinMip texel of a region that nothing sampled; it is no mip level."""
LEVELS = 32


def decoded_mip(feedback: Resource, mip: int, raw: bool) -> np.ndarray:
    """As `decoded_texels`, with slices only for more than one."""
    decoded = decoded_texels(feedback, mip, raw)
    return decoded[0] if len(decoded) == 1 else decoded


def decoded_texels(feedback: Resource, mip: int, raw: bool) -> np.ndarray:
    """Decode one mip of all slices, spread to the size of the decoded texture.

    Parameters
    ----------
    feedback : Resource
        An opaque feedback map.
    mip : int
        Level of the map.
    raw : bool
        Keep the bytes as they are.

    Returns
    -------
    numpy.ndarray
        uint8 [slices, (depth,) (height,) width]. Texels that the hardware has not hold 0xFF
        (MinMip) or 0 (MipRegionUsed).
    """
    desc = feedback.desc
    min_mip = desc.Format == MIN_MIP
    stored = feedback.texels(mip)
    if raw:
        values = stored
    elif min_mip:
        values = np.where(stored == NONE_SAMPLED, NONE_SAMPLED, stored >> 3)
    else:
        values = np.where(stored != 0, 0xFF, 0)
    size = mip_size(decoded_size(desc), mip)[: texture_axes(desc)]
    decoded = np.full((len(stored), *reversed(size)), NONE_SAMPLED if min_mip else 0, np.uint8)
    decoded[tuple(slice(n) for n in stored.shape)] = values
    return decoded


def encoded(values: np.ndarray, min_mip: bool) -> np.ndarray:
    """Turn decoded values into bytes of a map: U5.3 levels, or flags.

    MinMip levels that a byte cannot hold, 32 and above, count as 0xFF.
    """
    if min_mip:
        return np.where(values < LEVELS, values << 3, NONE_SAMPLED).astype(np.uint8)
    return (values != 0).astype(np.uint8)
