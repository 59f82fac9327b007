"""Resource descriptions: their rules, and the physical size of maps (spec 06 "Resources")."""

from __future__ import annotations

from dataclasses import replace
from math import ceil

from minmip.hw.config import FULL, VOLUME_MODES, UnitConfig
from minmip.sim.d3d12.arguments import shown
from minmip.sim.d3d12.enums import (
    D3D12_RESOURCE_DIMENSION,
    D3D12_RESOURCE_FLAGS,
    D3D12_TEXTURE_LAYOUT,
    DXGI_FORMAT,
)
from minmip.sim.d3d12.errors import D3D12Error
from minmip.sim.d3d12.structures import (
    D3D12_MIP_REGION,
    D3D12_RESOURCE_DESC1,
    DXGI_SAMPLE_DESC,
)
from minmip.sim.layout import MODES

__all__ = [
    "FEEDBACK_FORMATS",
    "MIN_MIP",
    "MIP_REGION_USED",
    "PLAIN_FORMATS",
    "STORED_FORMATS",
    "checked_description",
    "decoded_size",
    "is_buffer",
    "is_stored",
    "mip_size",
    "region_log2",
    "stored_mips",
    "stored_size",
    "subresource_count",
    "swizzle_number",
    "texture_axes",
    "texture_size",
]

MIN_MIP = DXGI_FORMAT.DXGI_FORMAT_SAMPLER_FEEDBACK_MIN_MIP_OPAQUE
MIP_REGION_USED = DXGI_FORMAT.DXGI_FORMAT_SAMPLER_FEEDBACK_MIP_REGION_USED_OPAQUE
FEEDBACK_FORMATS = frozenset({MIN_MIP, MIP_REGION_USED})

PLAIN_FORMATS = frozenset({DXGI_FORMAT.DXGI_FORMAT_R8_UINT, DXGI_FORMAT.DXGI_FORMAT_R8_TYPELESS})
STORED_FORMATS = FEEDBACK_FORMATS | PLAIN_FORMATS
"""Formats whose textures occupy memory; of the others only the descriptor exists."""

VIEW_FORMATS = frozenset(
    {
        DXGI_FORMAT.DXGI_FORMAT_R32_FLOAT_X8X24_TYPELESS,
        DXGI_FORMAT.DXGI_FORMAT_X32_TYPELESS_G8X24_UINT,
        DXGI_FORMAT.DXGI_FORMAT_R24_UNORM_X8_TYPELESS,
        DXGI_FORMAT.DXGI_FORMAT_X24_TYPELESS_G8_UINT,
    }
)

BUFFER = D3D12_RESOURCE_DIMENSION.D3D12_RESOURCE_DIMENSION_BUFFER
TEXTURE1D = D3D12_RESOURCE_DIMENSION.D3D12_RESOURCE_DIMENSION_TEXTURE1D
TEXTURE2D = D3D12_RESOURCE_DIMENSION.D3D12_RESOURCE_DIMENSION_TEXTURE2D
TEXTURE3D = D3D12_RESOURCE_DIMENSION.D3D12_RESOURCE_DIMENSION_TEXTURE3D
LAYOUT_UNKNOWN = D3D12_TEXTURE_LAYOUT.D3D12_TEXTURE_LAYOUT_UNKNOWN
LAYOUT_ROW_MAJOR = D3D12_TEXTURE_LAYOUT.D3D12_TEXTURE_LAYOUT_ROW_MAJOR
UNORDERED_ACCESS = D3D12_RESOURCE_FLAGS.D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS

SHARED_EXPONENT = DXGI_FORMAT.DXGI_FORMAT_R9G9B9E5_SHAREDEXP
WRITING_FLAGS = (
    D3D12_RESOURCE_FLAGS.D3D12_RESOURCE_FLAG_ALLOW_RENDER_TARGET,
    D3D12_RESOURCE_FLAGS.D3D12_RESOURCE_FLAG_ALLOW_DEPTH_STENCIL,
    UNORDERED_ACCESS,
)
"""What lets the pipeline write to a texture; one of R9G9B9E5 is read-only (spec 07 "Numbers")."""

# What the descriptor words can say (spec 01, rule 18).
LARGEST_SIDE = 16384
LARGEST_DEPTH = 8192
LARGEST_BUFFER = 1 << 48
LARGEST_SCALE_LOG2 = 15
SMALLEST_PC_REGION = 4
AXES = ("Width", "Height", "Depth")

# Xbox layouts are 0x100 + the swizzle mode. Where the driver chooses, maps lie in 256B_S (seed
# 001), other textures in 64KB_S, the mode of 64 KB tiles, which 1D textures have not.
FIRST_XBOX_LAYOUT = 0x100
SW_256B_S, SW_64KB_S = 1, 9


def is_buffer(desc: D3D12_RESOURCE_DESC1) -> bool:
    """Return whether a description is that of a buffer."""
    return desc.Dimension == BUFFER


def is_stored(desc: D3D12_RESOURCE_DESC1) -> bool:
    """Return whether the resource occupies memory in this model."""
    return is_buffer(desc) or (desc.Format in STORED_FORMATS and desc.SampleDesc.Count == 1)


def stored_mips(desc: D3D12_RESOURCE_DESC1) -> int:
    """Mip levels in memory: 1 for MinMip feedback, whatever the description says."""
    return 1 if desc.Format == MIN_MIP else desc.MipLevels


def subresource_count(desc: D3D12_RESOURCE_DESC1) -> int:
    """Subresources in memory of a checked description, of one plane."""
    slices = 1 if desc.Dimension == TEXTURE3D else desc.DepthOrArraySize
    return slices * stored_mips(desc)


def swizzle_number(desc: D3D12_RESOURCE_DESC1) -> int:
    """Swizzle mode of a texture: that of its layout, or the driver's choice."""
    if desc.Layout >= FIRST_XBOX_LAYOUT:
        return desc.Layout - FIRST_XBOX_LAYOUT
    narrow = desc.Format in STORED_FORMATS or desc.Dimension == TEXTURE1D
    return SW_256B_S if narrow else SW_64KB_S


def texture_axes(desc: D3D12_RESOURCE_DESC1) -> int:
    """Return the number of coordinate axes, 1 to 3."""
    return {TEXTURE1D: 1, TEXTURE2D: 2, TEXTURE3D: 3}[desc.Dimension]


def texture_size(desc: D3D12_RESOURCE_DESC1) -> tuple[int, int, int]:
    """Width, height and depth of mip 0 in texels, 1 on axes that the dimension has not."""
    depth = desc.DepthOrArraySize if desc.Dimension == TEXTURE3D else 1
    return desc.Width, desc.Height, depth


def mip_size(size: tuple[int, int, int], mip: int) -> tuple[int, int, int]:
    """Texel size of a mip level: halved and rounded down, at least 1."""
    width, height, depth = size
    return max(1, width >> mip), max(1, height >> mip), max(1, depth >> mip)


def region_log2(desc: D3D12_RESOURCE_DESC1) -> tuple[int, int, int]:
    """Log2 of a feedback map's region per axis: the scale fields of its descriptor."""
    region = desc.SamplerFeedbackMipRegion
    width, height, depth = (
        max(1, side).bit_length() - 1 for side in (region.Width, region.Height, region.Depth)
    )
    return width, height, depth


def stored_size(desc: D3D12_RESOURCE_DESC1) -> tuple[int, int, int]:
    """Size of mip 0 in memory: for feedback maps floor(paired / region), at least 1."""
    if desc.Format not in FEEDBACK_FORMATS:
        return texture_size(desc)
    scaled = zip(texture_size(desc), region_log2(desc), strict=True)
    width, height, depth = (max(1, side >> log2) for side, log2 in scaled)
    return width, height, depth


def decoded_size(desc: D3D12_RESOURCE_DESC1) -> tuple[int, int, int]:
    """Size of mip 0 of a decoded feedback map: ceil(paired / region)."""
    scaled = zip(texture_size(desc), region_log2(desc), strict=True)
    width, height, depth = (ceil(side / (1 << log2)) for side, log2 in scaled)
    return width, height, depth


def checked_description(
    desc: D3D12_RESOURCE_DESC1, *, xbox: bool, config: UnitConfig = FULL
) -> D3D12_RESOURCE_DESC1:
    """Check a description and fill in its mip count.

    Parameters
    ----------
    desc : D3D12_RESOURCE_DESC1
        As the user wrote it.
    xbox : bool
        Whether the Xbox extensions apply: feedback maps of all dimensions, regions of any power of
        two, swizzle modes as layouts.
    config : UnitConfig
        The unit's build, whose swizzle modes R8_UINT maps may have.

    Returns
    -------
    D3D12_RESOURCE_DESC1
        The same with `MipLevels` 0 of a texture replaced by the length of the whole chain.

    Raises
    ------
    D3D12Error
        When a rule of spec 06 "Resources" is broken.
    """
    if desc.Alignment & (desc.Alignment - 1):
        raise D3D12Error(f"Alignment must be 0 or a power of two, not {desc.Alignment}")
    if is_buffer(desc):
        _check_buffer(desc)
        return desc
    if desc.Format == DXGI_FORMAT.DXGI_FORMAT_UNKNOWN:
        raise D3D12Error("a texture needs a Format, not DXGI_FORMAT_UNKNOWN")
    if desc.Format in VIEW_FORMATS:
        raise D3D12Error(f"{desc.Format.name} is a format of views, not of textures")
    if desc.Layout == LAYOUT_ROW_MAJOR:
        raise D3D12Error("D3D12_TEXTURE_LAYOUT_ROW_MAJOR is for buffers, not for textures")
    if desc.Layout != LAYOUT_UNKNOWN and not xbox:
        raise D3D12Error(f"layout {desc.Layout.name} needs the Xbox extensions")
    if desc.Format == SHARED_EXPONENT:
        for flag in WRITING_FLAGS:
            if desc.Flags & flag:
                raise D3D12Error(
                    f"{SHARED_EXPONENT.name} is read-only for the pipeline: its textures cannot "
                    f"have {flag.name}"
                )
    _check_size(desc)
    chain = max(texture_size(desc)).bit_length()
    if desc.MipLevels > chain:
        raise D3D12Error(f"MipLevels of this size must be at most {chain}, not {desc.MipLevels}")
    samples = desc.SampleDesc
    if samples.Count not in (1, 2, 4, 8) or samples.Quality:
        raise D3D12Error(f"SampleDesc must be 1, 2, 4 or 8 samples of quality 0, not {samples}")
    if samples.Count > 1 and (desc.Dimension != TEXTURE2D or desc.MipLevels != 1):
        raise D3D12Error("a multisampled texture must be TEXTURE2D with MipLevels 1")
    if desc.Format in FEEDBACK_FORMATS:
        _check_feedback_map(desc, xbox)
    elif desc.SamplerFeedbackMipRegion != D3D12_MIP_REGION():
        raise D3D12Error("SamplerFeedbackMipRegion must be 0 x 0 x 0 outside feedback formats")
    elif desc.Format in PLAIN_FORMATS and desc.Layout != LAYOUT_UNKNOWN:
        _check_map_layout(desc, config)
    return replace(desc, MipLevels=desc.MipLevels or chain)


def _check_buffer(desc: D3D12_RESOURCE_DESC1) -> None:
    wanted = {
        "Height": 1,
        "DepthOrArraySize": 1,
        "MipLevels": 1,
        "Format": DXGI_FORMAT.DXGI_FORMAT_UNKNOWN,
        "SampleDesc": DXGI_SAMPLE_DESC(),
        "Layout": LAYOUT_ROW_MAJOR,
        "SamplerFeedbackMipRegion": D3D12_MIP_REGION(),
    }
    for name, value in wanted.items():
        if getattr(desc, name) != value:
            raise D3D12Error(
                f"{name} of a buffer must be {shown(value)}, not {shown(getattr(desc, name))}"
            )
    if not 1 <= desc.Width <= LARGEST_BUFFER:
        raise D3D12Error(f"Width of a buffer must be in 1..{LARGEST_BUFFER}, not {desc.Width}")


def _check_size(desc: D3D12_RESOURCE_DESC1) -> None:
    for name, side in (("Width", desc.Width), ("Height", desc.Height)):
        if not 1 <= side <= LARGEST_SIDE:
            raise D3D12Error(f"{name} must be in 1..{LARGEST_SIDE}, not {side}")
    if not 1 <= desc.DepthOrArraySize <= LARGEST_DEPTH:
        raise D3D12Error(
            f"DepthOrArraySize must be in 1..{LARGEST_DEPTH}, not {desc.DepthOrArraySize}"
        )
    if desc.Dimension == TEXTURE1D and desc.Height != 1:
        raise D3D12Error(f"Height of a TEXTURE1D must be 1, not {desc.Height}")


def _check_map_layout(desc: D3D12_RESOURCE_DESC1, config: UnitConfig) -> None:
    modes = config.swizzle_modes
    if desc.Dimension == TEXTURE3D:
        modes &= VOLUME_MODES
    if desc.Layout - FIRST_XBOX_LAYOUT not in modes:
        names = ", ".join(MODES[mode].name for mode in sorted(modes))
        raise D3D12Error(
            f"Layout of a {desc.Dimension.name} of {desc.Format.name}, the format of maps, must be "
            f"UNKNOWN or one that the unit is built with ({names}), not {desc.Layout.name}"
        )


def _check_feedback_map(desc: D3D12_RESOURCE_DESC1, xbox: bool) -> None:
    if desc.Layout != LAYOUT_UNKNOWN:
        raise D3D12Error(f"Layout of a feedback map must be UNKNOWN, not {desc.Layout.name}")
    if desc.SampleDesc != DXGI_SAMPLE_DESC():
        raise D3D12Error("SampleDesc of a feedback map must be { 1, 0 }")
    if not desc.Flags & UNORDERED_ACCESS:
        raise D3D12Error("a feedback map needs D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS")
    if desc.Dimension != TEXTURE2D and not xbox:
        raise D3D12Error("a feedback map of a dimension other than TEXTURE2D is an Xbox extension")
    region = desc.SamplerFeedbackMipRegion
    sides = (region.Width, region.Height, region.Depth)
    axes = texture_axes(desc)
    for axis, (name, side, paired) in enumerate(zip(AXES, sides, texture_size(desc), strict=True)):
        what = f"SamplerFeedbackMipRegion.{name}"
        if axis >= axes:
            if side > 1:
                raise D3D12Error(f"{what} must be 0 or 1 for {desc.Dimension.name}, not {side}")
        elif side < 1 or side & (side - 1):
            raise D3D12Error(f"{what} must be a power of two, not {side}")
        elif xbox:
            # One region may cover the whole texture, also one whose side is no power of two.
            largest = min(1 << (paired - 1).bit_length(), 1 << LARGEST_SCALE_LOG2)
            if side > largest:
                raise D3D12Error(
                    f"{what} must be at most {largest} for a side of {paired}, not {side}"
                )
        elif side < SMALLEST_PC_REGION or 2 * side > paired:
            raise D3D12Error(
                f"{what} must be at least {SMALLEST_PC_REGION} and at most half of the paired "
                f"side {paired}, not {side}"
            )
