"""Traces that show what the unit's speed depends on (`minmip measure-hw`)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from minmip.hw.config import VOLUME_MODES
from minmip.sim.d3d12 import (
    D3D12_FILTER,
    D3D12_MIP_REGION,
    D3D12_RESOURCE_DESC1,
    D3D12_RESOURCE_FLAGS,
    D3D12_SAMPLER_DESC,
    DXGI_FORMAT,
    Device,
)
from minmip.sim.descriptor_words import S_FIELDS, S_WORDS, T_FIELDS, T_WORDS, pack
from minmip.sim.golden.address import map_layout
from minmip.sim.trace import SAMPLE_LZ, Trace

__all__ = ["filter_trace", "filter_workloads", "tile_pixels", "workloads"]

SIZE = 4096
_CORNERS = np.array([[0, 0], [1, 0], [0, 1], [1, 1]])
MAP_SIDE, MAP_DEPTH = 64, 16
"""Texels of the filter's maps."""
_TEXEL_PIXELS = 16
"""Side of a texel of the filter's maps in pixels of a picture."""


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


def filter_workloads(quads: int, seed: int, *, sw_mode: int = 1) -> dict[str, Trace]:
    """Traces of the MinMip filter by name, on a map of 64x64 texels and on one of 64x64x16.

    Tiles are coherent: 16 pixels a texel. Of random boxes each lane has its own; of the worst case,
    each lane has one where four memory words meet (at each depth), none of them its neighbour's.
    `sw_mode` is the map's swizzle mode; D modes have no volumes.
    """
    rng = np.random.default_rng(seed)
    across = (tile_pixels(quads, 256) + 0.5) / _TEXEL_PIXELS
    pictures = {2: across, 3: np.concatenate([across, across[:, :, :1] / 8], axis=2)}
    size = np.array([MAP_SIDE, MAP_SIDE, MAP_DEPTH])
    found = {}
    thin_only = sw_mode not in VOLUME_MODES
    for axes, kind in ((2, "2D"), (3, "volume"))[: 1 if thin_only else 2]:
        # Rows of a thick word are in pairs, so that its borders are at even ones; a word of a D
        # mode has a row and the next but one.
        apart = 4 if thin_only else 2
        row = 4 * apart * rng.integers(0, 16 // apart, (quads, 4)) + apart * np.arange(4)
        row += 1 if axes == 2 else 2
        column, depth = 16 * rng.integers(1, 4, (quads, 4)), rng.integers(1, 16, (quads, 4))
        corner = np.stack([column, row, depth], axis=2)[:, :, :axes]
        for name, texels in (
            ("tiles", pictures[axes]),
            ("random boxes", rng.random((quads, 4, axes)) * size[:axes]),
            ("worst-case boxes", corner + rng.uniform(-0.49, 0.49, corner.shape)),
        ):
            found[f"{kind}, {name}"] = filter_trace(texels, sw_mode=sw_mode)
    return found


def filter_trace(
    texels: np.ndarray, *, linked_type: int = 4, sw_mode: int = 1, z_filter: int = 0
) -> Trace:
    """Quads at positions [quads, 4, axes] in texels of a map of random bytes; bilinear, WRAP.

    `linked_type` 1, 2 or 3 makes feedback of level 0 instead of the filter.
    """
    axes = texels.shape[2]
    size = (MAP_SIDE, MAP_SIDE, MAP_DEPTH)[:axes] + (1,) * (3 - axes)
    t = pack(
        *(T_FIELDS, T_WORDS),
        **dict(zip(("WIDTH", "HEIGHT", "DEPTH"), (n - 1 for n in size), strict=True)),
        **{"TYPE": 7 + axes, "FORMAT": 5, "RESOURCE_LEVEL": 1, "SW_MODE": sw_mode},
        **{"LINKED_RESOURCE": 1, "LINKED_RESOURCE_TYPE": linked_type},
    )
    s = pack(
        *(S_FIELDS, S_WORDS),
        **{"XY_MAG_FILTER": 1, "XY_MIN_FILTER": 1, "Z_FILTER": z_filter, "MAX_LOD": 4095},
        **{"MINMIP_SLOPE_U": 3, "MINMIP_SLOPE_V": 3, "MINMIP_OFFSET_U": 3, "MINMIP_OFFSET_V": 3},
    )
    uvw = np.zeros((len(texels), 4, 3), np.float32)
    uvw[:, :, :axes] = texels / np.array(size)[:axes]
    sw_modes, base, sizes, mips, volume = (
        np.array([value]) for value in (sw_mode, 0, size, 1, axes == 3)
    )
    layout = map_layout(sw_modes, base, sizes, mips, volume)
    bytes_ = int(layout.total_bytes(np.array([size[2]]))[0])
    return Trace(
        t_sharp=t[None],
        s_sharp=s[None],
        opcode=np.full(len(texels), SAMPLE_LZ, np.uint8),
        uvw=uvw,
        memory=np.random.default_rng(0).integers(0, 256, bytes_, np.uint8),
    )


def tile_pixels(quads: int, width: int) -> np.ndarray:
    """Pixels of quads [quads, 4, 2] in tiles of 8x8, of a picture `width` pixels wide."""
    return _tiles(quads, width) + _CORNERS


def _tiles(quads: int, width: int = SIZE) -> np.ndarray:
    """First pixel of each quad [quads, 1, 2] in tiles of 8x8 pixels; rows begin anew at SIZE."""
    quad = np.arange(quads)
    tile, inside = np.divmod(quad, 16)
    row, column = np.divmod(tile, width // 8)
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
