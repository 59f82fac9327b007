"""Texel formats: planes, views, and their codes in the descriptor (spec 01, spec 06)."""

from __future__ import annotations

from minmip.sim.d3d12.enums import DXGI_FORMAT
from minmip.sim.d3d12.errors import D3D12Error
from minmip.sim.layout.errors import LayoutError
from minmip.sim.layout.formats import PlaneFormat, texel_format

__all__ = ["format_code", "plane_formats", "short_name", "viewed_format"]

# As far as spec 01 gives codes; a linked word needs none but 8_UINT.
FORMAT_CODES = {
    DXGI_FORMAT.DXGI_FORMAT_R8_UNORM: 1,
    DXGI_FORMAT.DXGI_FORMAT_R8_UINT: 5,
    DXGI_FORMAT.DXGI_FORMAT_R32_FLOAT: 22,
    DXGI_FORMAT.DXGI_FORMAT_R8G8B8A8_UNORM: 56,
    DXGI_FORMAT.DXGI_FORMAT_BC1_UNORM: 169,
    DXGI_FORMAT.DXGI_FORMAT_BC1_UNORM_SRGB: 170,
    DXGI_FORMAT.DXGI_FORMAT_BC2_UNORM: 171,
    DXGI_FORMAT.DXGI_FORMAT_BC2_UNORM_SRGB: 172,
    DXGI_FORMAT.DXGI_FORMAT_BC3_UNORM: 173,
    DXGI_FORMAT.DXGI_FORMAT_BC3_UNORM_SRGB: 174,
    DXGI_FORMAT.DXGI_FORMAT_BC4_UNORM: 175,
    DXGI_FORMAT.DXGI_FORMAT_BC4_SNORM: 176,
    DXGI_FORMAT.DXGI_FORMAT_BC5_UNORM: 177,
    DXGI_FORMAT.DXGI_FORMAT_BC5_SNORM: 178,
    DXGI_FORMAT.DXGI_FORMAT_BC6H_UF16: 179,
    DXGI_FORMAT.DXGI_FORMAT_BC6H_SF16: 180,
    DXGI_FORMAT.DXGI_FORMAT_BC7_UNORM: 181,
    DXGI_FORMAT.DXGI_FORMAT_BC7_UNORM_SRGB: 182,
}


# Views of the planes of planar formats, by the number of the plane.
PLANE_VIEWS = {
    "R32G8X24_TYPELESS": ({"R32_FLOAT_X8X24_TYPELESS"}, {"X32_TYPELESS_G8X24_UINT"}),
    "R24G8_TYPELESS": ({"R24_UNORM_X8_TYPELESS"}, {"X24_TYPELESS_G8_UINT"}),
    "NV12": ({"R8_UNORM", "R8_UINT"}, {"R8G8_UNORM", "R8G8_UINT"}),
    "P010": ({"R16_UNORM", "R16_UINT"}, {"R16G16_UNORM", "R16G16_UINT"}),
    "P016": ({"R16_UNORM", "R16_UINT"}, {"R16G16_UNORM", "R16G16_UINT"}),
}


def short_name(form: DXGI_FORMAT) -> str:
    """Name of a format without the DXGI_FORMAT_ in front, as the layout library has it."""
    return form.name.removeprefix("DXGI_FORMAT_")


def plane_formats(form: DXGI_FORMAT) -> tuple[PlaneFormat, ...]:
    """Return the planes of a format, one for most. D3D12Error for one that no texture has."""
    try:
        return texel_format(short_name(form)).planes
    except LayoutError as error:
        raise D3D12Error(str(error)) from error


def format_code(view: DXGI_FORMAT) -> int:
    """T# FORMAT of a view. D3D12Error for a format that has no code in spec 01."""
    if view not in FORMAT_CODES:
        raise D3D12Error(f"spec 01 gives no T# format code for {view.name}")
    return FORMAT_CODES[view]


def viewed_format(resource: DXGI_FORMAT, view: DXGI_FORMAT, plane: int) -> DXGI_FORMAT:
    """Return the format of a view: the resource's, or one of its typeless family or its plane.

    Parameters
    ----------
    resource, view : DXGI_FORMAT
        Of the texture, and as the view's description says; UNKNOWN is the resource's.
    plane : int
        PlaneSlice of the view.

    Raises
    ------
    D3D12Error
        For a plane that the texture has not, and any other format.
    """
    count = len(plane_formats(resource))
    if plane >= count:
        raise D3D12Error(f"PlaneSlice of {resource.name} must be in 0..{count - 1}, not {plane}")
    if view in (DXGI_FORMAT.DXGI_FORMAT_UNKNOWN, resource):
        return resource
    name = short_name(resource)
    if name in PLANE_VIEWS:
        if short_name(view) not in PLANE_VIEWS[name][plane]:
            raise D3D12Error(
                f"plane {plane} of a {resource.name} texture cannot be viewed as {view.name}"
            )
        return view
    family, _, kind = name.partition("_")
    if kind != "TYPELESS" or not short_name(view).startswith(f"{family}_"):
        raise D3D12Error(f"a {resource.name} texture cannot be viewed as {view.name}")
    return view
