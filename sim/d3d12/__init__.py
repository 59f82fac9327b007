"""The driver's side of Direct3D 12 sampler feedback: nobody builds a descriptor by hand.

Structures, enumerations and their members keep the C names of Direct3D 12 and of the Xbox
extensions (seed 001); methods are the C ones in Python spelling. Enum members can be imported from
here, as in C.

Which 64 KB tiles of a texture does a draw need? Pair the texture with a feedback map of one texel
for each tile, clear it, draw, decode:

>>> import numpy as np
>>> from minmip.sim.d3d12 import (
...     D3D12_FILTER_MIN_MAG_MIP_POINT,
...     D3D12_MIP_REGION,
...     D3D12_RESOURCE_DESC1,
...     D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS,
...     D3D12_SAMPLER_DESC,
...     DXGI_FORMAT_BC1_UNORM,
...     DXGI_FORMAT_SAMPLER_FEEDBACK_MIN_MIP_OPAQUE,
...     Device,
... )
>>> device = Device()
>>> texture = device.create_committed_resource2(
...     D3D12_RESOURCE_DESC1(Width=4096, Height=4096, MipLevels=12, Format=DXGI_FORMAT_BC1_UNORM)
... )
>>> feedback = device.create_committed_resource2(
...     D3D12_RESOURCE_DESC1(
...         Width=4096,
...         Height=4096,
...         MipLevels=12,
...         Format=DXGI_FORMAT_SAMPLER_FEEDBACK_MIN_MIP_OPAQUE,
...         Flags=D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS,
...         SamplerFeedbackMipRegion=D3D12_MIP_REGION(512, 256, 1),
...     )
... )
>>> feedback.size_in_bytes
256
>>> view = device.create_sampler_feedback_unordered_access_view(texture, feedback)
>>> sampler = device.create_sampler(D3D12_SAMPLER_DESC(Filter=D3D12_FILTER_MIN_MAG_MIP_POINT))
>>> device.clear_unordered_access_view_uint(view)
>>> pixel = 4 / 4096  # four texels a pixel: mip level 2
>>> quad = np.array([[0, 0], [pixel, 0], [0, pixel], [pixel, pixel]])
>>> uv = quad + np.array([[[0.3, 0.1]], [[0.7, 0.6]]])  # two quads
>>> device.write_sampler_feedback(view, sampler, uv)
>>> levels = device.decode_sampler_feedback(feedback)  # one texel per tile, 255 where none was
>>> levels.shape
(16, 8)
>>> np.argwhere(levels != 255).tolist(), levels[levels != 255].tolist()
([[1, 2], [9, 5]], [2, 2])

Draws are recorded and run together, on the golden model or another backend, when `execute`, a
clear or a read asks for it; `build_trace` gives the recorded ones as a trace file would hold them.
"""

from enum import Enum
from typing import Any

from minmip.sim.d3d12 import enums
from minmip.sim.d3d12.copy_structures import (
    D3D12_BOX,
    D3D12_PACKED_MIP_INFO,
    D3D12_PACKED_TILE,
    D3D12_PLACED_SUBRESOURCE_FOOTPRINT,
    D3D12_SUBRESOURCE_FOOTPRINT,
    D3D12_SUBRESOURCE_TILING,
    D3D12_TEXTURE_COPY_LOCATION,
    D3D12_TEXTURE_DATA_PITCH_ALIGNMENT,
    D3D12_TEXTURE_DATA_PLACEMENT_ALIGNMENT,
    D3D12_TILE_SHAPE,
)
from minmip.sim.d3d12.device import Device
from minmip.sim.d3d12.enums import *  # noqa: F403  (the names are listed in enums.__all__)
from minmip.sim.d3d12.errors import D3D12Error, D3D12Warning
from minmip.sim.d3d12.footprints import CopyableFootprints
from minmip.sim.d3d12.heap import ResourceHeap
from minmip.sim.d3d12.resource import Resource
from minmip.sim.d3d12.samplers import Sampler
from minmip.sim.d3d12.structures import (
    ALL,
    D3D12_HEAP_DESC,
    D3D12_MIP_REGION,
    D3D12_RECT,
    D3D12_RESOURCE_ALLOCATION_INFO,
    D3D12_RESOURCE_ALLOCATION_INFO1,
    D3D12_RESOURCE_DESC1,
    D3D12_SAMPLER_DESC,
    D3D12_SHADER_RESOURCE_VIEW_DESC,
    D3D12_UNORDERED_ACCESS_VIEW_DESC,
    D3D12XBOX_SAMPLER_DESC,
    DXGI_SAMPLE_DESC,
)
from minmip.sim.d3d12.tiling import ResourceTiling, tile_shape
from minmip.sim.d3d12.view import View

__all__ = [  # noqa: F405
    "ALL",
    "D3D12XBOX_MINMIP_FILTER_OFFSET",
    "D3D12XBOX_MINMIP_FILTER_SLOPE",
    "D3D12XBOX_SAMPLER_DESC",
    "D3D12XBOX_SAMPLER_FLAGS",
    "D3D12_BOX",
    "D3D12_COMPARISON_FUNC",
    "D3D12_FILTER",
    "D3D12_HEAP_DESC",
    "D3D12_MIP_REGION",
    "D3D12_PACKED_MIP_INFO",
    "D3D12_PACKED_TILE",
    "D3D12_PLACED_SUBRESOURCE_FOOTPRINT",
    "D3D12_RECT",
    "D3D12_RESOLVE_MODE",
    "D3D12_RESOURCE_ALLOCATION_INFO",
    "D3D12_RESOURCE_ALLOCATION_INFO1",
    "D3D12_RESOURCE_DESC1",
    "D3D12_RESOURCE_DIMENSION",
    "D3D12_RESOURCE_FLAGS",
    "D3D12_RESOURCE_STATES",
    "D3D12_SAMPLER_DESC",
    "D3D12_SAMPLER_FEEDBACK_TIER",
    "D3D12_SHADER_RESOURCE_VIEW_DESC",
    "D3D12_SHADER_VERSION_TYPE",
    "D3D12_SRV_DIMENSION",
    "D3D12_SUBRESOURCE_FOOTPRINT",
    "D3D12_SUBRESOURCE_TILING",
    "D3D12_TEXTURE_ADDRESS_MODE",
    "D3D12_TEXTURE_COPY_LOCATION",
    "D3D12_TEXTURE_COPY_TYPE",
    "D3D12_TEXTURE_DATA_PITCH_ALIGNMENT",
    "D3D12_TEXTURE_DATA_PLACEMENT_ALIGNMENT",
    "D3D12_TEXTURE_LAYOUT",
    "D3D12_TILE_SHAPE",
    "D3D12_UAV_DIMENSION",
    "D3D12_UNORDERED_ACCESS_VIEW_DESC",
    "DXGI_FORMAT",
    "DXGI_SAMPLE_DESC",
    "CopyableFootprints",
    "D3D12Error",
    "D3D12Warning",
    "Device",
    "Resource",
    "ResourceHeap",
    "ResourceTiling",
    "Sampler",
    "View",
    "tile_shape",
]

_MEMBERS: dict[str, Enum] = {
    member: value
    for name in enums.__all__
    for member, value in getattr(enums, name).__members__.items()
}


def __getattr__(name: str) -> Any:
    """Give the enum member of that C name."""
    try:
        return _MEMBERS[name]
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
