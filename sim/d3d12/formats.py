"""Texel formats of views, and their codes in the descriptor (spec 01)."""

from minmip.sim.d3d12.enums import DXGI_FORMAT
from minmip.sim.d3d12.errors import D3D12Error

__all__ = ["format_code", "viewed_format"]

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


def format_code(view: DXGI_FORMAT) -> int:
    """T# FORMAT of a view. D3D12Error for a format that has no code in spec 01."""
    if view not in FORMAT_CODES:
        raise D3D12Error(f"spec 01 gives no T# format code for {view.name}")
    return FORMAT_CODES[view]


def viewed_format(resource: DXGI_FORMAT, view: DXGI_FORMAT) -> DXGI_FORMAT:
    """Return the format of a view: the resource's, or a typed one of its typeless family.

    D3D12Error for any other.
    """
    if view in (DXGI_FORMAT.DXGI_FORMAT_UNKNOWN, resource):
        return resource
    family, _, kind = resource.name.removeprefix("DXGI_FORMAT_").partition("_")
    if kind != "TYPELESS" or not view.name.startswith(f"DXGI_FORMAT_{family}_"):
        raise D3D12Error(f"a {resource.name} texture cannot be viewed as {view.name}")
    return view
