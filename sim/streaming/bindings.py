"""A scene's textures as the driver sees them: resources, views and samplers of the loop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from minmip.sim.d3d12 import (
    D3D12_FILTER,
    D3D12_MIP_REGION,
    D3D12_RESOURCE_DESC1,
    D3D12_RESOURCE_FLAGS,
    D3D12_SAMPLER_DESC,
    D3D12XBOX_MINMIP_FILTER_OFFSET,
    D3D12XBOX_MINMIP_FILTER_SLOPE,
    D3D12XBOX_SAMPLER_DESC,
    D3D12XBOX_SAMPLER_FLAGS,
    DXGI_FORMAT,
    Device,
    Resource,
    Sampler,
    View,
)
from minmip.sim.frontend import Texture
from minmip.sim.scene_maps import ADDRESS_MODES
from minmip.sim.streaming.safety import OFFSETS, SLOPES
from minmip.sim.streaming.tiling import Tiling, cut_region

__all__ = ["FEEDBACK", "FILTERING", "FILTERS", "MEMORY_BASE", "PLAIN", "PROBE", "Bindings"]

MEMORY_BASE = 1 << 32
KINDS = FILTERING, FEEDBACK, PROBE, PLAIN = range(4)
"""What a texture is bound as: MinMip filter, feedback, request that tells the LOD, sample."""

BILINEAR = D3D12_FILTER.D3D12_FILTER_MIN_MAG_LINEAR_MIP_POINT
POINT = D3D12_FILTER.D3D12_FILTER_MIN_MAG_MIP_POINT
FILTERS = {
    # name: filter of the sample, of the feedback write, and of the request that tells the LOD
    "point": (POINT, BILINEAR, POINT),
    "bilinear": (BILINEAR, BILINEAR, POINT),
    "trilinear": (D3D12_FILTER.D3D12_FILTER_MIN_MAG_MIP_LINEAR, BILINEAR, POINT),
    "aniso": (D3D12_FILTER.D3D12_FILTER_ANISOTROPIC,) * 3,
}
"""Feedback is always written with a filter that is linear inside a level: its footprint on the map
is then the kernel of the MinMip filter, so whatever the filter reads was asked for. The filter
inside a level has no part in the LOD: a point sample, which reads one texel, tells it."""


class Bindings:
    """The textures of a scene, each bound with a feedback map and a MinMip map.

    Parameters
    ----------
    tilings : sequence of Tiling
        The textures.
    region : (int, int)
        Texels of mip 0 for each map texel.
    filtering : str
        One of FILTERS.
    max_anisotropy : int
        Counts for "aniso".
    slope, offset : str
        Of the MinMip filter, both axes: names from SLOPES and OFFSETS.

    Attributes
    ----------
    device : Device
        Holds the maps.
    t_sharp, s_sharp : uint32 [4 * textures, 8], [4 * textures, 4]
        Descriptors, numbered `kind * textures + texture`.
    feedback : list of (View, Resource)
        Feedback map of each texture.
    maps : list of Resource
        MinMip map of each texture.

    Raises
    ------
    D3D12Error
        When the driver refuses a map, a region, or the pair of slope and offset.
    """

    def __init__(
        self,
        tilings: Sequence[Tiling],
        *,
        region: tuple[int, int],
        filtering: str,
        max_anisotropy: int,
        slope: str,
        offset: str,
    ):
        self.device = device = Device(memory_base=MEMORY_BASE)
        sample, write, probe = FILTERS[filtering]
        views: list[list[View]] = [[] for _ in KINDS]
        samplers: list[list[Sampler]] = [[] for _ in KINDS]
        self.feedback: list[tuple[View, Resource]] = []
        self.maps: list[Resource] = []
        for tiling in tilings:
            texture = tiling.texture
            target, feedback, min_mip = self._resources(tiling, region)
            plain = device.create_shader_resource_view(target)
            views[FILTERING].append(
                device.create_min_mip_shader_resource_view_x(target, None, min_mip)
            )
            views[FEEDBACK].append(
                device.create_sampler_feedback_unordered_access_view(target, feedback)
            )
            views[PROBE].append(plain)
            views[PLAIN].append(plain)
            samplers[FILTERING].append(self._filter_sampler(texture, slope, offset))
            for kind, chosen in ((FEEDBACK, write), (PROBE, probe), (PLAIN, sample)):
                samplers[kind].append(self._sampler(texture, chosen, max_anisotropy))
            self.feedback.append((views[FEEDBACK][-1], feedback))
            self.maps.append(min_mip)
        self.t_sharp = np.stack([view.words for kind in views for view in kind])
        self.s_sharp = np.stack([sampler.words for kind in samplers for sampler in kind])

    def _resources(self, tiling: Tiling, region: tuple[int, int]):
        texture = tiling.texture
        size: dict[str, Any] = {
            "Width": texture.width,
            "Height": texture.height,
            "MipLevels": texture.mips,
        }
        create = self.device.create_committed_resource2
        target = create(D3D12_RESOURCE_DESC1(**size, Format=DXGI_FORMAT.DXGI_FORMAT_R8G8B8A8_UNORM))
        feedback = create(
            D3D12_RESOURCE_DESC1(
                **size,
                Format=DXGI_FORMAT.DXGI_FORMAT_SAMPLER_FEEDBACK_MIN_MIP_OPAQUE,
                Flags=D3D12_RESOURCE_FLAGS.D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS,
                SamplerFeedbackMipRegion=D3D12_MIP_REGION(*cut_region(texture, region), 1),
            )
        )
        columns, rows = tiling.map_size
        min_mip = create(
            D3D12_RESOURCE_DESC1(Width=columns, Height=rows, Format=DXGI_FORMAT.DXGI_FORMAT_R8_UINT)
        )
        return target, feedback, min_mip

    def _sampler(self, texture: Texture, chosen: D3D12_FILTER, max_anisotropy: int) -> Sampler:
        return self.device.create_sampler(
            D3D12_SAMPLER_DESC(
                Filter=chosen, **_address_modes(texture), MaxAnisotropy=max_anisotropy
            )
        )

    def _filter_sampler(self, texture: Texture, slope: str, offset: str) -> Sampler:
        slope_code = D3D12XBOX_MINMIP_FILTER_SLOPE(SLOPES[slope])
        offset_code = D3D12XBOX_MINMIP_FILTER_OFFSET(OFFSETS[offset])
        return self.device.create_sampler_x(
            D3D12XBOX_SAMPLER_DESC(
                Filter=BILINEAR,
                **_address_modes(texture),
                Flags=D3D12XBOX_SAMPLER_FLAGS.D3D12XBOX_SAMPLER_FLAG_ENABLE_MINMIP_FILTER,
                MinMipSlopeU=slope_code,
                MinMipOffsetU=offset_code,
                MinMipSlopeVOrW=slope_code,
                MinMipOffsetVOrW=offset_code,
            )
        )


def _address_modes(texture: Texture) -> dict[str, Any]:
    return {
        "AddressU": ADDRESS_MODES[texture.wrap_u],
        "AddressV": ADDRESS_MODES[texture.wrap_v],
    }
