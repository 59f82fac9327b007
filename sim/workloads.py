"""Traces that show what the unit's speed depends on (`minmip measure-hw`)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from minmip.sim.d3d12 import (
    D3D12_FILTER,
    D3D12_MIP_REGION,
    D3D12_RESOURCE_DESC1,
    D3D12_RESOURCE_FLAGS,
    D3D12_SAMPLER_DESC,
    DXGI_FORMAT,
    Device,
)
from minmip.sim.trace import Trace

__all__ = ["workloads"]

SIZE = 4096
_CORNERS = np.array([[0, 0], [1, 0], [0, 1], [1, 1]])


def workloads(quads: int, seed: int) -> dict[str, Trace]:
    """Traces by name: trilinear MinMip feedback of a 4096x4096 texture, regions of 128x128."""
    rng = np.random.default_rng(seed)
    anywhere = rng.integers(0, SIZE, (quads, 1, 2))
    line = np.array([1.0, 1 / 16])  # a pixel is 16 times as wide as it is high
    lanes = rng.integers(0, SIZE, (quads, 4, 2))
    return {
        "coherent": _trace(_tiles(quads) + _CORNERS),
        "random uv": _trace(anywhere + _CORNERS),
        "16x anisotropic": _trace(_tiles(quads) + 16 * line * _CORNERS, anisotropic=True),
        "every lane another block": _trace(lanes, region=16, level=0.0),
        "descriptor change every quad": _trace(_tiles(quads) + _CORNERS, maps=64),
    }


def _tiles(quads: int) -> np.ndarray:
    """First pixel of each quad [quads, 1, 2], one texel a pixel, in tiles of 8x8 pixels."""
    quad = np.arange(quads)
    tile, inside = np.divmod(quad, 16)
    row, column = np.divmod(tile, SIZE // 8)
    x, y = 8 * column + 2 * (inside % 4), 8 * row + 2 * (inside // 4)
    return np.stack([x, y % SIZE], axis=1)[:, None]


def _trace(texels, *, region=128, maps=1, anisotropic=False, level=None) -> Trace:
    """Quads at texel corners [quads, 4, 2]; with several maps each quad takes the next one."""
    device = Device()
    size: dict[str, Any] = {"Width": SIZE, "Height": SIZE, "MipLevels": 12}
    filters = D3D12_FILTER
    kind = (
        filters.D3D12_FILTER_ANISOTROPIC if anisotropic else filters.D3D12_FILTER_MIN_MAG_MIP_LINEAR
    )
    sampler = device.create_sampler(D3D12_SAMPLER_DESC(Filter=kind, MaxAnisotropy=16))
    uv = (np.asarray(texels) + 0.5) / SIZE
    views = []
    for _ in range(maps):
        texture = device.create_committed_resource2(
            D3D12_RESOURCE_DESC1(**size, Format=DXGI_FORMAT.DXGI_FORMAT_R8G8B8A8_UNORM)
        )
        feedback = device.create_committed_resource2(
            D3D12_RESOURCE_DESC1(
                **size,
                Format=DXGI_FORMAT.DXGI_FORMAT_SAMPLER_FEEDBACK_MIN_MIP_OPAQUE,
                Flags=D3D12_RESOURCE_FLAGS.D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS,
                SamplerFeedbackMipRegion=D3D12_MIP_REGION(region, region, 1),
            )
        )
        views.append(device.create_sampler_feedback_unordered_access_view(texture, feedback))
        device.clear_unordered_access_view_uint(views[-1])
    for number, view in enumerate(views):
        mine = uv if number == 0 else uv[:1]
        if level is None:
            device.write_sampler_feedback(view, sampler, mine)
        else:
            device.write_sampler_feedback_level(view, sampler, mine, level)
    trace = device.build_trace()
    count = len(uv)
    columns = ("opcode", "uvw", "flags", "exec_mask", "helper_mask", "slice", "s_index")
    cut = {name: getattr(trace, name)[:count] for name in columns}
    for name in ("ddx", "ddy", "lod", "clamp"):
        column = getattr(trace, name)
        cut[name] = None if column is None else column[:count]
    rows = trace.t_index[np.r_[0, count : count + maps - 1]]
    return replace(trace, **cut, t_index=rows[np.arange(count) % maps])
