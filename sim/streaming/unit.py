"""A scene's textures as the driver sees them, and what the texture unit does in a frame.

Each frame is two traces: the MinMip filter, the feedback writes and one request for each quad that
tells the LOD it wants; then the sample itself, with the filter's answers as its clamps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
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
    D3D12Error,
    Device,
    Resource,
    Sampler,
    View,
)
from minmip.sim.frontend import Quads, Texture
from minmip.sim.scene_maps import ADDRESS_MODES
from minmip.sim.streaming.safety import OFFSETS, SLOPES
from minmip.sim.streaming.tiling import Tiling, cut_region
from minmip.sim.trace import FLAG_CLAMP, SAMPLE, SAMPLE_LZ, Result, Trace

__all__ = ["FILTERS", "Answers", "Rows", "TextureUnit"]

MEMORY_BASE = 1 << 32
KINDS = FILTERING, FEEDBACK, PROBE, PLAIN = range(4)
"""What a texture is bound as; descriptors are numbered `kind * textures + texture`."""

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


@dataclass(frozen=True, eq=False)
class Answers:
    """What the first trace of a frame gives, by quad.

    `clamp` uint16 [Q, 4] is the MinMip filter's U5.8; `wanted` int64 [Q] the LOD without a clamp,
    in 1/256, limited to the levels that exist.
    """

    clamp: np.ndarray
    wanted: np.ndarray


@dataclass(frozen=True, eq=False)
class Rows:
    """Texels that a frame's samples read, [n] each: quad, mip level, texel."""

    quad: np.ndarray
    mip: np.ndarray
    x: np.ndarray
    y: np.ndarray


class TextureUnit:
    """The textures of a scene, each bound with a feedback map and a MinMip map.

    Parameters
    ----------
    tilings : sequence of Tiling
        The textures.
    run : callable
        Runs a trace on a backend; takes the keyword `pattern`.
    region : (int, int)
        Texels of mip 0 for each map texel.
    filtering : str
        One of FILTERS.
    max_anisotropy : int
        Counts for "aniso".
    slope, offset : str
        Of the MinMip filter, both axes: names from SLOPES and OFFSETS.

    Raises
    ------
    D3D12Error
        When the driver refuses a map, a region, or the pair of slope and offset.
    """

    def __init__(
        self,
        tilings: Sequence[Tiling],
        run: Callable[..., Result],
        *,
        region: tuple[int, int],
        filtering: str,
        max_anisotropy: int,
        slope: str,
        offset: str,
    ):
        self._run = run
        self._device = Device(memory_base=MEMORY_BASE)
        sample, write, probe = FILTERS[filtering]
        views, samplers = ([[] for _ in KINDS] for _ in range(2))
        self._feedback: list[tuple[View, Resource]] = []
        self._maps: list[Resource] = []
        self._last_level = np.array([tiling.texture.mips - 1 for tiling in tilings])
        for tiling in tilings:
            texture = tiling.texture
            target, feedback, min_mip = self._resources(tiling, region)
            device = self._device
            feedback_view = device.create_sampler_feedback_unordered_access_view(target, feedback)
            views[FILTERING].append(
                device.create_min_mip_shader_resource_view_x(target, None, min_mip)
            )
            views[FEEDBACK].append(feedback_view)
            plain = device.create_shader_resource_view(target)
            views[PROBE].append(plain)
            views[PLAIN].append(plain)
            samplers[FILTERING].append(self._filter_sampler(texture, slope, offset))
            for kind, chosen in ((FEEDBACK, write), (PROBE, probe), (PLAIN, sample)):
                samplers[kind].append(self._sampler(texture, chosen, max_anisotropy))
            self._feedback.append((feedback_view, feedback))
            self._maps.append(min_mip)
        self._t_sharp = np.stack([view.words for kind in views for view in kind])
        self._s_sharp = np.stack([sampler.words for kind in samplers for sampler in kind])

    def write_maps(self, levels: Sequence[np.ndarray]) -> None:
        """Write the MinMip maps: mip levels [rows, columns] of each texture, as U5.3."""
        for resource, map_levels in zip(self._maps, levels, strict=True):
            resource.write_to_subresource((map_levels << 3).astype(np.uint8))

    def filter_and_record(self, quads: Quads, writing: np.ndarray) -> Answers:
        """Filter the MinMip maps under every live lane, and write feedback for some of them.

        Feedback takes no clamp: it records what is wanted, not what is resident.

        Parameters
        ----------
        quads : Quads
            The frame.
        writing : uint8 [Q]
            Bit i: lane i writes feedback if it is live.
        """
        self._clear()
        one_lane = quads.live_mask & -quads.live_mask  # gradients, and so the LOD, are the quad's
        parts = [
            self._part(quads, FILTERING, opcode=SAMPLE_LZ),
            self._feedback_part(quads, writing),
            self._part(quads, PROBE, lanes=one_lane),
        ]
        result = self._execute(parts)
        count = len(quads)
        start = result.pattern_start
        assert start is not None
        assert result.pattern is not None
        wanted = result.pattern["lod"][start[len(start) - 1 - count : -1].astype(np.int64)]
        last = self._last_level[quads.texture] << 8
        return Answers(
            clamp=result.filtered[:count], wanted=np.clip(wanted.astype(np.int64), 0, last)
        )

    def record(self, quads: Quads, writing: np.ndarray) -> None:
        """Write feedback only; arguments as for `filter_and_record`."""
        self._clear()
        self._execute([self._feedback_part(quads, writing)])

    def recorded(self) -> list[np.ndarray]:
        """Decoded feedback of each texture since the last clear, uint8 [rows, columns]."""
        maps = []
        for tiling_map, (_, feedback) in zip(self._maps, self._feedback, strict=True):
            rows, columns = tiling_map.desc.Height, tiling_map.desc.Width
            # A decoded map is rounded up where the region does not divide the texture.
            maps.append(self._device.decode_sampler_feedback(feedback)[:rows, :columns])
        return maps

    def sample(self, quads: Quads, clamp: np.ndarray) -> Rows:
        """Sample the textures with LOD clamps, U5.8 [Q, 4]: every texel read, lane by lane."""
        result = self._execute([self._part(quads, PLAIN, clamp=clamp)])
        assert result.pattern_start is not None
        assert result.pattern is not None
        rows = result.pattern
        per_quad = np.diff(result.pattern_start.astype(np.int64))
        return Rows(
            np.repeat(np.arange(len(quads)), per_quad),
            *(rows[name].astype(np.int64) for name in ("mip", "x", "y")),
        )

    def _clear(self) -> None:
        for view, _ in self._feedback:
            self._device.clear_unordered_access_view_uint(view)

    def _feedback_part(self, quads: Quads, writing: np.ndarray) -> dict:
        some = np.flatnonzero(writing & quads.live_mask)
        return self._part(quads, FEEDBACK, rows=some, lanes=writing)

    def _resources(self, tiling: Tiling, region: tuple[int, int]):
        texture = tiling.texture
        size: dict[str, Any] = {
            "Width": texture.width,
            "Height": texture.height,
            "MipLevels": texture.mips,
        }
        create = self._device.create_committed_resource2
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
        return self._device.create_sampler(
            D3D12_SAMPLER_DESC(
                Filter=chosen, **_address_modes(texture), MaxAnisotropy=max_anisotropy
            )
        )

    def _filter_sampler(self, texture: Texture, slope: str, offset: str) -> Sampler:
        slope_code = D3D12XBOX_MINMIP_FILTER_SLOPE(SLOPES[slope])
        offset_code = D3D12XBOX_MINMIP_FILTER_OFFSET(OFFSETS[offset])
        return self._device.create_sampler_x(
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

    def _part(
        self, quads, kind, *, opcode=SAMPLE, rows=None, lanes=None, clamp=None
    ) -> dict[str, Any]:
        """Columns of a trace: some quads bound as `kind`, in which `lanes` are executed."""
        rows = slice(None) if rows is None else rows
        texture = quads.texture[rows]
        count = len(texture)
        uvw = np.zeros((count, 4, 3), np.float32)
        uvw[..., :2] = quads.uv[rows]
        descriptor = (texture + kind * len(self._maps)).astype(np.uint32)
        clamped = clamp is not None
        return {
            "opcode": np.full(count, opcode, np.uint8),
            "flags": np.full(count, FLAG_CLAMP if clamped else 0, np.uint8),
            "t_index": descriptor,
            "s_index": descriptor,
            "uvw": uvw,
            "exec_mask": np.full(count, 15, np.uint8) if lanes is None else lanes[rows],
            "helper_mask": ~quads.live_mask[rows] & 15,
            # U5.8 is exact in float32.
            "clamp": clamp.astype(np.float32) / np.float32(256) if clamped else None,
        }

    def _execute(self, parts: list[dict]) -> Result:
        columns: dict[str, Any] = {
            name: None if parts[0][name] is None else np.concatenate([p[name] for p in parts])
            for name in parts[0]
        }
        memory = self._device.memory
        trace = Trace(
            t_sharp=self._t_sharp,
            s_sharp=self._s_sharp,
            **columns,
            memory_base=MEMORY_BASE,
            memory=memory,
        )
        result = self._run(trace, pattern=True)
        refused = np.flatnonzero(result.error)
        if refused.size:
            raise D3D12Error(
                f"{refused.size} of {len(trace)} quads refused, the first, quad {refused[0]}, with "
                f"error code {result.error[refused[0]]} of spec 01"
            )
        memory[:] = result.memory
        return result


def _address_modes(texture: Texture) -> dict[str, Any]:
    return {
        "AddressU": ADDRESS_MODES[texture.wrap_u],
        "AddressV": ADDRESS_MODES[texture.wrap_v],
    }
