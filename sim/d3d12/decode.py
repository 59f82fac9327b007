"""Decoding of feedback maps (spec 03 "Clear, decode, encode", spec 06 "Resolve")."""

import numpy as np

from minmip.sim.d3d12.resource import Resource
from minmip.sim.d3d12.resources import MIN_MIP, decoded_size, mip_size, texture_axes
from minmip.sim.golden import resolve
from minmip.sim.golden.resolve import NONE_SAMPLED

__all__ = ["NONE_SAMPLED", "decoded_mip", "decoded_texels", "map_kind", "nothing_written"]


def map_kind(feedback: Resource, raw: bool) -> int:
    """Kind of an opaque map for `sim.golden.resolve`; `raw` keeps the bytes as they are."""
    if raw:
        return resolve.RAW
    return resolve.MIN_MIP if feedback.desc.Format == MIN_MIP else resolve.MIP_REGION_USED


def nothing_written(feedback: Resource) -> int:
    """Decoded texel of a region that has none in an opaque map, or that nothing sampled."""
    return NONE_SAMPLED if feedback.desc.Format == MIN_MIP else 0


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
    stored = feedback.texels(mip)
    size = mip_size(decoded_size(desc), mip)[: texture_axes(desc)]
    decoded = np.full((len(stored), *reversed(size)), nothing_written(feedback), np.uint8)
    decoded[tuple(slice(n) for n in stored.shape)] = resolve.decoded(
        stored, map_kind(feedback, raw)
    )
    return decoded
