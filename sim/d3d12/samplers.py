"""Sampler descriptors (spec 01 "S#", spec 06 "Views and samplers")."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isnan

import numpy as np

from minmip.sim.d3d12.enums import (
    D3D12_TEXTURE_ADDRESS_MODE,
    D3D12XBOX_SAMPLER_FLAGS,
)
from minmip.sim.d3d12.errors import D3D12Error
from minmip.sim.d3d12.structures import D3D12_SAMPLER_DESC, D3D12XBOX_SAMPLER_DESC
from minmip.sim.descriptor_words import S_FIELDS, S_WORDS, pack
from minmip.sim.golden.descriptor import BORDER_PALETTE, LARGEST_OFFSET_256, OFFSET_256

__all__ = ["Sampler", "sampler"]

ENABLE_MINMIP_FILTER = D3D12XBOX_SAMPLER_FLAGS.D3D12XBOX_SAMPLER_FLAG_ENABLE_MINMIP_FILTER
BORDER = D3D12_TEXTURE_ADDRESS_MODE.D3D12_TEXTURE_ADDRESS_MODE_BORDER

# WRAP, MIRROR, CLAMP, BORDER, MIRROR_ONCE as CLAMP_X/Y/Z.
CLAMP_CODES = {1: 0, 2: 1, 3: 2, 4: 6, 5: 3}

# Bits of D3D12_FILTER.
LINEAR_MIP, LINEAR_MAG, LINEAR_MIN, ANISOTROPIC = 0x01, 0x04, 0x10, 0x40
REDUCTION_SHIFT, COMPARISON = 7, 1

# Border colours that have a BORDER_COLOR_TYPE of their own; others need the palette.
BORDER_COLOR_TYPES = {(0.0, 0.0, 0.0, 0.0): 0, (0.0, 0.0, 0.0, 1.0): 1, (1.0, 1.0, 1.0, 1.0): 2}

PALETTE_ENTRIES = 4096
SMALLEST_BIAS, LARGEST_BIAS = -16.0, 15.99
LARGEST_LOD = 0xFFF
MIP_POINT, MIP_LINEAR = 1, 2
Z_POINT, Z_LINEAR = 1, 2
XY_ANISO_BILINEAR = 3


@dataclass(frozen=True, eq=False, kw_only=True)
class Sampler:
    """A sampler descriptor.

    Attributes
    ----------
    words : numpy.ndarray
        The S#, uint32 [4], read-only.
    desc : D3D12_SAMPLER_DESC or D3D12XBOX_SAMPLER_DESC
        What it was made from.
    border_color : tuple of 4 float or None
        The colour at the palette entry that the words point to; None if they use no palette.
    """

    words: np.ndarray = field(repr=False)
    desc: D3D12_SAMPLER_DESC
    border_color: tuple[float, float, float, float] | None

    @property
    def fits_min_mip_view(self) -> bool:
        """Whether it may read a MinMip map: point magnification, or the MinMip filter on."""
        desc = self.desc
        flags = desc.Flags if isinstance(desc, D3D12XBOX_SAMPLER_DESC) else 0
        return not desc.Filter & LINEAR_MAG or bool(flags & ENABLE_MINMIP_FILTER)


def sampler(desc: D3D12_SAMPLER_DESC | D3D12XBOX_SAMPLER_DESC, palette_index: int) -> Sampler:
    """Build a sampler descriptor.

    Parameters
    ----------
    desc : D3D12_SAMPLER_DESC or D3D12XBOX_SAMPLER_DESC
        The description. MaxAnisotropy rounds down to a power of two, MipLODBias toward zero to
        1/256; MinLOD and MaxLOD are limited to 0..4095/256 and cut to 1/256.
    palette_index : int
        Palette entry for the border colour, used if it is none of the three fixed ones.

    Raises
    ------
    D3D12Error
        When a value is out of range, a slope and offset break the pair rule, or the MinMip filter
        meets a palette border colour (they share their bits).
    """
    if not SMALLEST_BIAS <= desc.MipLODBias <= LARGEST_BIAS:
        raise D3D12Error(
            f"MipLODBias must be in {SMALLEST_BIAS}..{LARGEST_BIAS}, not {desc.MipLODBias}"
        )
    anisotropic = bool(desc.Filter & ANISOTROPIC)
    if anisotropic and not 1 <= desc.MaxAnisotropy <= 16:
        raise D3D12Error(f"MaxAnisotropy must be in 1..16, not {desc.MaxAnisotropy}")
    reduction = desc.Filter >> REDUCTION_SHIFT
    compare = 0
    if reduction == COMPARISON:
        if not desc.ComparisonFunc:
            raise D3D12Error("a comparison filter needs a ComparisonFunc")
        compare = desc.ComparisonFunc - 1
    mag = XY_ANISO_BILINEAR if anisotropic else int(bool(desc.Filter & LINEAR_MAG))
    minify = XY_ANISO_BILINEAR if anisotropic else int(bool(desc.Filter & LINEAR_MIN))
    address = (desc.AddressU, desc.AddressV, desc.AddressW)
    if any(map(isnan, desc.BorderColor)):
        raise D3D12Error(f"BorderColor must be numbers, not {desc.BorderColor}")
    border_type = BORDER_COLOR_TYPES.get(desc.BorderColor, BORDER_PALETTE)
    if BORDER not in address:
        border_type = 0
    fields = {
        "CLAMP_X": CLAMP_CODES[desc.AddressU],
        "CLAMP_Y": CLAMP_CODES[desc.AddressV],
        "CLAMP_Z": CLAMP_CODES[desc.AddressW],
        "MAX_ANISO_RATIO": desc.MaxAnisotropy.bit_length() - 1 if anisotropic else 0,
        "DEPTH_COMPARE_FUNC": compare,
        "FILTER_MODE": max(0, reduction - COMPARISON),
        "MIN_LOD": _lod("MinLOD", desc.MinLOD),
        "MAX_LOD": _lod("MaxLOD", desc.MaxLOD),
        "LOD_BIAS": int(256 * desc.MipLODBias),
        "XY_MAG_FILTER": mag,
        "XY_MIN_FILTER": minify,
        # The depth axis has one filter only: linear as soon as either XY filter is, so that
        # nothing the texture unit may read goes unreported.
        "Z_FILTER": Z_LINEAR if (mag | minify) & 1 else Z_POINT,
        "MIP_FILTER": MIP_LINEAR if desc.Filter & LINEAR_MIP else MIP_POINT,
        "BORDER_COLOR_TYPE": border_type,
    }
    if border_type == BORDER_PALETTE:
        if palette_index >= PALETTE_ENTRIES:
            raise D3D12Error(f"the palette has {PALETTE_ENTRIES} border colours, all taken")
        fields["BORDER_COLOR_PTR"] = palette_index
    if isinstance(desc, D3D12XBOX_SAMPLER_DESC) and desc.Flags & ENABLE_MINMIP_FILTER:
        if border_type == BORDER_PALETTE:
            raise D3D12Error(
                "the MinMip filter and a border colour other than transparent black, opaque black "
                "and opaque white exclude each other"
            )
        fields |= _min_mip_fields(desc)
    words = pack(S_FIELDS, S_WORDS, **fields)
    words.flags.writeable = False
    border_color = desc.BorderColor if border_type == BORDER_PALETTE else None
    return Sampler(words=words, desc=desc, border_color=border_color)


def _min_mip_fields(desc: D3D12XBOX_SAMPLER_DESC) -> dict[str, int]:
    pairs = {"U": (desc.MinMipSlopeU, desc.MinMipOffsetU)}
    pairs["VOrW"] = (desc.MinMipSlopeVOrW, desc.MinMipOffsetVOrW)
    for axis, (slope, offset) in pairs.items():
        if OFFSET_256[offset] > LARGEST_OFFSET_256[slope]:
            raise D3D12Error(
                f"MinMipSlope{axis} {slope.name} and MinMipOffset{axis} {offset.name}: a slope of "
                "2.5 needs an offset of at most 1/16, a slope of 3 one of at most 1/8"
            )
    return {
        "MINMIP_SLOPE_U": desc.MinMipSlopeU,
        "MINMIP_OFFSET_U": desc.MinMipOffsetU,
        "MINMIP_SLOPE_V": desc.MinMipSlopeVOrW,
        "MINMIP_OFFSET_V": desc.MinMipOffsetVOrW,
    }


def _lod(name: str, value: float) -> int:
    if isnan(value):
        raise D3D12Error(f"{name} must be a number, not NaN")
    return int(min(max(value, 0.0) * 256, LARGEST_LOD))
