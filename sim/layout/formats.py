"""Texel formats: DXGI names and numbers, bytes of an element, and planes (spec 06)."""

from __future__ import annotations

from dataclasses import dataclass

from minmip.sim.layout.arguments import shown, whole_number
from minmip.sim.layout.errors import LayoutError

__all__ = [
    "ELEMENT_BYTES",
    "Format",
    "PlaneFormat",
    "check_element_bytes",
    "element_plane",
    "texel_format",
]

ELEMENT_BYTES = (1, 2, 4, 8, 16)
LAID_OUT = ("DEFAULT", "DEPTH", "STENCIL", "LUMA", "CHROMA")
METADATA = ("HTILE", "FMASK", "CMASK", "DELTA_COLOR_COMPRESSION")


@dataclass(frozen=True, kw_only=True)
class PlaneFormat:
    """One plane of a format.

    `texels` is the width and height of an element in texels of the plane; `divisor` is how much
    narrower and lower the plane is than the texture (2 for chroma).
    """

    usage: str
    element_bytes: int
    texels: tuple[int, int] = (1, 1)
    divisor: int = 1


@dataclass(frozen=True, kw_only=True)
class Format:
    """A DXGI format, `name` without the DXGI_FORMAT_ in front."""

    name: str
    number: int
    planes: tuple[PlaneFormat, ...]


# Element bytes, then the numbers in a row of a family and its members.
_FAMILIES = """
16 1 R32G32B32A32 TYPELESS FLOAT UINT SINT
12 5 R32G32B32 TYPELESS FLOAT UINT SINT
8 9 R16G16B16A16 TYPELESS FLOAT UNORM UINT SNORM SINT
8 15 R32G32 TYPELESS FLOAT UINT SINT
4 23 R10G10B10A2 TYPELESS UNORM UINT
4 26 R11G11B10 FLOAT
4 27 R8G8B8A8 TYPELESS UNORM UNORM_SRGB UINT SNORM SINT
4 33 R16G16 TYPELESS FLOAT UNORM UINT SNORM SINT
4 39 R32 TYPELESS
4 41 R32 FLOAT UINT SINT
2 48 R8G8 TYPELESS UNORM UINT SNORM SINT
2 53 R16 TYPELESS FLOAT
2 56 R16 UNORM UINT SNORM SINT
1 60 R8 TYPELESS UNORM UINT SNORM SINT
1 65 A8 UNORM
4 67 R9G9B9E5 SHAREDEXP
2 85 B5G6R5 UNORM
2 86 B5G5R5A1 UNORM
4 87 B8G8R8A8 UNORM
4 88 B8G8R8X8 UNORM
4 89 R10G10B10_XR_BIAS_A2 UNORM
4 90 B8G8R8A8 TYPELESS UNORM_SRGB
4 92 B8G8R8X8 TYPELESS UNORM_SRGB
2 115 B4G4R4A4 UNORM
"""
_BLOCK_COMPRESSED = """
8 70 BC1 TYPELESS UNORM UNORM_SRGB
16 73 BC2 TYPELESS UNORM UNORM_SRGB
16 76 BC3 TYPELESS UNORM UNORM_SRGB
8 79 BC4 TYPELESS UNORM SNORM
16 82 BC5 TYPELESS UNORM SNORM
16 94 BC6H TYPELESS UF16 SF16
16 97 BC7 TYPELESS UNORM UNORM_SRGB
"""
# Number, name, and usage:bytes of each plane; chroma has half the width and height.
_PLANAR = """
19 R32G8X24_TYPELESS DEPTH:4 STENCIL:1
20 D32_FLOAT_S8X24_UINT DEPTH:4 STENCIL:1
40 D32_FLOAT DEPTH:4
44 R24G8_TYPELESS DEPTH:4 STENCIL:1
45 D24_UNORM_S8_UINT DEPTH:4 STENCIL:1
55 D16_UNORM DEPTH:2
103 NV12 LUMA:1 CHROMA:2
104 P010 LUMA:2 CHROMA:4
105 P016 LUMA:2 CHROMA:4
"""
_SHORT = {
    "BC6H": "BC6H_UF16",
    "R9G9B9E5": "R9G9B9E5_SHAREDEXP",
    "R11G11B10": "R11G11B10_FLOAT",
}


def check_element_bytes(count: int) -> None:
    """Refuse element sizes that no swizzle mode has."""
    if whole_number("element_bytes", count) not in ELEMENT_BYTES:
        raise LayoutError(f"elements have 1, 2, 4, 8 or 16 bytes, not {count}")


def element_plane(usage: str, element_bytes: int) -> PlaneFormat:
    """Describe a plane by its usage and element size alone; LayoutError for metadata planes."""
    if usage in METADATA:
        raise LayoutError(
            f"{usage} planes hold compression metadata and are not laid out; usages that are: "
            f"{', '.join(LAID_OUT)}"
        )
    if usage not in LAID_OUT:
        raise LayoutError(f"there is no plane usage {usage!r}; there are {', '.join(LAID_OUT)}")
    check_element_bytes(element_bytes)
    return PlaneFormat(usage=usage, element_bytes=int(element_bytes))


def _families(table: str, texels: tuple[int, int]) -> list[Format]:
    formats = []
    for line in table.strip().splitlines():
        size, first, family, *members = line.split()
        plane = PlaneFormat(usage="DEFAULT", element_bytes=int(size), texels=texels)
        formats += [
            Format(name=f"{family}_{member}", number=int(first) + n, planes=(plane,))
            for n, member in enumerate(members)
        ]
    return formats


def _planar() -> list[Format]:
    formats = []
    for line in _PLANAR.strip().splitlines():
        number, name, *words = line.split()
        planes = []
        for word in words:
            usage, _, size = word.partition(":")
            divisor = 2 if usage == "CHROMA" else 1
            planes.append(PlaneFormat(usage=usage, element_bytes=int(size), divisor=divisor))
        formats.append(Format(name=name, number=int(number), planes=tuple(planes)))
    return formats


_FORMATS = [*_families(_FAMILIES, (1, 1)), *_families(_BLOCK_COMPRESSED, (4, 4)), *_planar()]
_BY_NAME = {form.name: form for form in _FORMATS}
_BY_NUMBER = {form.number: form for form in _FORMATS}


def texel_format(form: str | int) -> Format:
    """Find a format by DXGI name or number; BC1 alone means BC1_UNORM, R8 alone R8_UNORM.

    Raises
    ------
    LayoutError
        For an unknown format, and for one whose element size no swizzle mode has.
    """
    if isinstance(form, str):
        name = form.upper().removeprefix("DXGI_FORMAT_")
        name = _SHORT.get(name, name)
        found = _BY_NAME.get(name) or _BY_NAME.get(f"{name}_UNORM")
    else:
        numbered = hasattr(form, "__index__")
        found = _BY_NUMBER.get(whole_number("a format's number", form)) if numbered else None
    if found is None:
        raise LayoutError(f"format {shown(form)} is not one that can be laid out")
    for plane in found.planes:
        if plane.element_bytes not in ELEMENT_BYTES:
            raise LayoutError(
                f"{found.name} has elements of {plane.element_bytes} bytes; elements have 1, 2, 4, "
                "8 or 16 bytes"
            )
    return found
