"""Structures of Direct3D 12 and its Xbox extensions, with the seed's field names and order.

Members of C unions lie flat in their structure. Numbers are taken for enum members and tuples for
nested structures, so that a C initialiser can be written as it stands (seed 001).
"""

from dataclasses import dataclass, field, fields
from enum import Enum
from numbers import Real
from operator import index

from minmip.sim.d3d12.arguments import shown
from minmip.sim.d3d12.enums import (
    D3D12_COMPARISON_FUNC,
    D3D12_FILTER,
    D3D12_RESOURCE_DIMENSION,
    D3D12_RESOURCE_FLAGS,
    D3D12_SRV_DIMENSION,
    D3D12_TEXTURE_ADDRESS_MODE,
    D3D12_TEXTURE_LAYOUT,
    D3D12_UAV_DIMENSION,
    D3D12XBOX_MINMIP_FILTER_OFFSET,
    D3D12XBOX_MINMIP_FILTER_SLOPE,
    D3D12XBOX_SAMPLER_FLAGS,
    DXGI_FORMAT,
)
from minmip.sim.d3d12.errors import D3D12Error

__all__ = [
    "ALL",
    "D3D12XBOX_SAMPLER_DESC",
    "D3D12_HEAP_DESC",
    "D3D12_MIP_REGION",
    "D3D12_RECT",
    "D3D12_RESOURCE_ALLOCATION_INFO",
    "D3D12_RESOURCE_ALLOCATION_INFO1",
    "D3D12_RESOURCE_DESC1",
    "D3D12_SAMPLER_DESC",
    "D3D12_SHADER_RESOURCE_VIEW_DESC",
    "D3D12_UNORDERED_ACCESS_VIEW_DESC",
    "DXGI_SAMPLE_DESC",
    "Structure",
    "check_structure",
]

ALL = 0xFFFFFFFF
"""MipLevels or ArraySize of a view: everything from the first one on (C's `-1`)."""

FLOAT32_MAX = 3.4028234663852886e38


class Structure:
    """A structure of C: converts every field to its declared type, or refuses it by name."""

    def __post_init__(self):
        for f in fields(self):  # pyright: ignore[reportArgumentType]
            value = getattr(self, f.name)
            try:
                object.__setattr__(self, f.name, _converted(f.type, value))
            except (TypeError, ValueError, OverflowError):
                kind = getattr(f.type, "__name__", f.type)
                raise D3D12Error(
                    f"{type(self).__name__}.{f.name}: wanted {kind}, not {shown(value)}"
                ) from None


def check_structure(kind: type, value: object) -> None:
    """Raise D3D12Error if a description is of another kind."""
    if not isinstance(value, kind):
        raise D3D12Error(f"wanted a {kind.__name__}, not {type(value).__name__}")


def _converted(kind, value):
    if kind is float:
        return _real(value)
    if kind == tuple[float, float, float, float]:
        red, green, blue, alpha = value
        return _real(red), _real(green), _real(blue), _real(alpha)
    if kind is not int and isinstance(value, kind):
        return value
    if isinstance(value, Enum):  # a member of some other enumeration
        raise TypeError
    if kind is int:
        return _number(index(value))
    if issubclass(kind, Structure):
        if not isinstance(value, tuple | list):
            raise TypeError
        return kind(*value)
    return kind(_number(index(value)))


def _real(value) -> float:
    if isinstance(value, Enum) or not isinstance(value, Real):  # float would take texts
        raise TypeError
    return float(value)


def _number(value: int) -> int:
    if not 0 <= value < 1 << 64:
        raise ValueError
    return value


@dataclass(frozen=True)
class D3D12_MIP_REGION(Structure):
    """Texels of the paired texture's mip 0 that one feedback texel stands for."""

    Width: int = 0
    Height: int = 0
    Depth: int = 0


@dataclass(frozen=True)
class D3D12_RECT(Structure):
    """Texels from left, top up to and without right, bottom."""

    left: int = 0
    top: int = 0
    right: int = 0
    bottom: int = 0


@dataclass(frozen=True)
class D3D12_HEAP_DESC(Structure):
    """Memory that resources are placed in. `Alignment` 0 stands for 64 KB."""

    SizeInBytes: int = 0
    Alignment: int = 0


@dataclass(frozen=True)
class D3D12_RESOURCE_ALLOCATION_INFO(Structure):
    """What a heap needs for all resources of a query."""

    SizeInBytes: int = 0
    Alignment: int = 0


@dataclass(frozen=True)
class D3D12_RESOURCE_ALLOCATION_INFO1(Structure):
    """What one resource of a query needs; `Offset` is its place among the others."""

    Offset: int = 0
    Alignment: int = 0
    SizeInBytes: int = 0


@dataclass(frozen=True)
class DXGI_SAMPLE_DESC(Structure):
    """Samples of a texel."""

    Count: int = 1
    Quality: int = 0


@dataclass(frozen=True)
class D3D12_RESOURCE_DESC1(Structure):
    """A texture, a feedback map, a MinMip map or a buffer.

    For a feedback map the sizes and `MipLevels` are those of the paired texture.
    `MipLevels` 0 stands for the whole chain.
    """

    Dimension: D3D12_RESOURCE_DIMENSION = (
        D3D12_RESOURCE_DIMENSION.D3D12_RESOURCE_DIMENSION_TEXTURE2D
    )
    Alignment: int = 0
    Width: int = 1
    Height: int = 1
    DepthOrArraySize: int = 1
    MipLevels: int = 1
    Format: DXGI_FORMAT = DXGI_FORMAT.DXGI_FORMAT_UNKNOWN
    SampleDesc: DXGI_SAMPLE_DESC = field(default_factory=DXGI_SAMPLE_DESC)
    Layout: D3D12_TEXTURE_LAYOUT = D3D12_TEXTURE_LAYOUT.D3D12_TEXTURE_LAYOUT_UNKNOWN
    Flags: D3D12_RESOURCE_FLAGS = D3D12_RESOURCE_FLAGS.D3D12_RESOURCE_FLAG_NONE
    SamplerFeedbackMipRegion: D3D12_MIP_REGION = field(default_factory=D3D12_MIP_REGION)


@dataclass(frozen=True)
class D3D12_SHADER_RESOURCE_VIEW_DESC(Structure):
    """Part of a texture, as a shader sees it.

    `Shader4ComponentMapping` is C's default 0x1688 (red, green, blue, alpha). Fields that the
    view's dimension has not keep their defaults.
    """

    Format: DXGI_FORMAT = DXGI_FORMAT.DXGI_FORMAT_UNKNOWN
    ViewDimension: D3D12_SRV_DIMENSION = D3D12_SRV_DIMENSION.D3D12_SRV_DIMENSION_UNKNOWN
    Shader4ComponentMapping: int = 0x1688
    MostDetailedMip: int = 0
    MipLevels: int = ALL
    FirstArraySlice: int = 0
    ArraySize: int = ALL
    ResourceMinLODClamp: float = 0.0
    PlaneSlice: int = 0
    First2DArrayFace: int = 0
    NumCubes: int = ALL


@dataclass(frozen=True)
class D3D12_UNORDERED_ACCESS_VIEW_DESC(Structure):
    """Slices of a feedback map. `Format` names the kind of a plain R8_UINT map (Xbox).

    A feedback view is of all mips and the whole depth of its map, so the last four fields keep
    their defaults.
    """

    Format: DXGI_FORMAT = DXGI_FORMAT.DXGI_FORMAT_UNKNOWN
    ViewDimension: D3D12_UAV_DIMENSION = D3D12_UAV_DIMENSION.D3D12_UAV_DIMENSION_UNKNOWN
    FirstArraySlice: int = 0
    ArraySize: int = ALL
    MipSlice: int = 0
    PlaneSlice: int = 0
    FirstWSlice: int = 0
    WSize: int = ALL


@dataclass(frozen=True)
class D3D12_SAMPLER_DESC(Structure):
    """A sampler. `MaxAnisotropy`, `ComparisonFunc` and `BorderColor` count where they are used."""

    Filter: D3D12_FILTER = D3D12_FILTER.D3D12_FILTER_MIN_MAG_MIP_LINEAR
    AddressU: D3D12_TEXTURE_ADDRESS_MODE = (
        D3D12_TEXTURE_ADDRESS_MODE.D3D12_TEXTURE_ADDRESS_MODE_WRAP
    )
    AddressV: D3D12_TEXTURE_ADDRESS_MODE = (
        D3D12_TEXTURE_ADDRESS_MODE.D3D12_TEXTURE_ADDRESS_MODE_WRAP
    )
    AddressW: D3D12_TEXTURE_ADDRESS_MODE = (
        D3D12_TEXTURE_ADDRESS_MODE.D3D12_TEXTURE_ADDRESS_MODE_WRAP
    )
    MipLODBias: float = 0.0
    MaxAnisotropy: int = 16
    ComparisonFunc: D3D12_COMPARISON_FUNC = D3D12_COMPARISON_FUNC.D3D12_COMPARISON_FUNC_NONE
    BorderColor: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    MinLOD: float = 0.0
    MaxLOD: float = FLOAT32_MAX


@dataclass(frozen=True, kw_only=True)
class D3D12XBOX_SAMPLER_DESC(D3D12_SAMPLER_DESC):
    """A sampler with the Xbox fields; these are given by keyword, since seed 001 elides the order.

    The MinMip fields count only under `D3D12XBOX_SAMPLER_FLAG_ENABLE_MINMIP_FILTER`; they start at
    the usual slope 5 and offset 1/32 (spec 04).
    """

    Flags: D3D12XBOX_SAMPLER_FLAGS = D3D12XBOX_SAMPLER_FLAGS.D3D12XBOX_SAMPLER_FLAG_NONE
    MinMipSlopeU: D3D12XBOX_MINMIP_FILTER_SLOPE = (
        D3D12XBOX_MINMIP_FILTER_SLOPE.D3D12XBOX_MINMIP_FILTER_SLOPE_5
    )
    MinMipOffsetU: D3D12XBOX_MINMIP_FILTER_OFFSET = (
        D3D12XBOX_MINMIP_FILTER_OFFSET.D3D12XBOX_MINMIP_FILTER_OFFSET_1_32
    )
    MinMipSlopeVOrW: D3D12XBOX_MINMIP_FILTER_SLOPE = (
        D3D12XBOX_MINMIP_FILTER_SLOPE.D3D12XBOX_MINMIP_FILTER_SLOPE_5
    )
    MinMipOffsetVOrW: D3D12XBOX_MINMIP_FILTER_OFFSET = (
        D3D12XBOX_MINMIP_FILTER_OFFSET.D3D12XBOX_MINMIP_FILTER_OFFSET_1_32
    )
