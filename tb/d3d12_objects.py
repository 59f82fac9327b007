"""Short ways to make the driver's objects in tests."""

import numpy as np

from minmip.sim import d3d12
from minmip.sim.d3d12 import D3D12_RESOURCE_DESC1, D3D12_SAMPLER_DESC
from minmip.sim.descriptor_words import S_FIELDS, T_FIELDS, unpack

DIMENSIONS = {
    1: d3d12.D3D12_RESOURCE_DIMENSION_TEXTURE1D,
    2: d3d12.D3D12_RESOURCE_DIMENSION_TEXTURE2D,
    3: d3d12.D3D12_RESOURCE_DIMENSION_TEXTURE3D,
}
MIN_MIP = d3d12.DXGI_FORMAT_SAMPLER_FEEDBACK_MIN_MIP_OPAQUE
USED = d3d12.DXGI_FORMAT_SAMPLER_FEEDBACK_MIP_REGION_USED_OPAQUE
POINT = d3d12.D3D12_FILTER_MIN_MAG_MIP_POINT
WRAP = d3d12.D3D12_TEXTURE_ADDRESS_MODE_WRAP
CLAMP = d3d12.D3D12_TEXTURE_ADDRESS_MODE_CLAMP
UAV = d3d12.D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS
LAYOUT_LINEAR = d3d12.D3D12XBOX_TEXTURE_LAYOUT_SWIZZLE_MODE_LINEAR
LAYOUT_256B_S = d3d12.D3D12XBOX_TEXTURE_LAYOUT_SWIZZLE_MODE_256B_S


def desc(size, mips=1, layers=1, **fields):
    """Description of a texture of `size` (width, height, depth as many as it has axes)."""
    width, height, depth = (*size, 1, 1)[:3]
    return D3D12_RESOURCE_DESC1(
        **{
            "Dimension": DIMENSIONS[len(size)],
            "Width": width,
            "Height": height,
            "DepthOrArraySize": depth if len(size) == 3 else layers,
            "MipLevels": mips,
            "Format": d3d12.DXGI_FORMAT_R8G8B8A8_UNORM,
            **fields,
        }
    )


def map_desc(kind, size, region, mips=1, layers=1, **fields):
    """Description of an opaque feedback map."""
    fields = {"Flags": UAV, "SamplerFeedbackMipRegion": (*region, 1, 1)[:3], **fields}
    return desc(size, mips, layers, Format=kind, **fields)


def plain_desc(size, mips=1, layers=1, **fields):
    """Description of an R8_UINT texture that may serve as a map."""
    fields = {"Format": d3d12.DXGI_FORMAT_R8_UINT, "Flags": UAV, **fields}
    return desc(size, mips, layers, **fields)


def buffer_desc(size, **fields):
    """Description of a buffer of `size` bytes."""
    fields = {
        "Dimension": d3d12.D3D12_RESOURCE_DIMENSION_BUFFER,
        "Layout": d3d12.D3D12_TEXTURE_LAYOUT_ROW_MAJOR,
        **fields,
    }
    return D3D12_RESOURCE_DESC1(Width=size, **fields)


def paired(device, kind, size, region, mips=1, layers=1):
    """Texture and opaque feedback map of that kind."""
    texture = device.create_committed_resource2(desc(size, mips, layers))
    feedback = device.create_committed_resource2(map_desc(kind, size, region, mips, layers))
    return texture, feedback


def cleared_view(device, kind, size, region, mips=1, layers=1, target_view=None):
    """Feedback map and cleared view of it."""
    texture, feedback = paired(device, kind, size, region, mips, layers)
    view = device.create_sampler_feedback_unordered_access_view_x(
        texture, feedback, target_view=target_view
    )
    device.clear_unordered_access_view_uint(view)
    return feedback, view


def sampler(device, filter=POINT, address=CLAMP, **fields):
    """Sampler with the same address mode on all axes."""
    address = dict.fromkeys(("AddressU", "AddressV", "AddressW"), address)
    return device.create_sampler(D3D12_SAMPLER_DESC(Filter=filter, **address, **fields))


def one_lane(*uv):
    """One quad with all lanes at the same place."""
    return np.full((1, 4, len(uv)), uv)


def t_field(view, name):
    """Field of a view's T#."""
    return int(unpack(T_FIELDS, view.words[None])[name][0])


def s_field(made, name):
    """Field of a sampler's S#."""
    return int(unpack(S_FIELDS, made.words[None])[name][0])
