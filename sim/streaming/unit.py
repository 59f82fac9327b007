"""What the texture unit does in a frame.

Each frame is two traces: the MinMip filter, the feedback writes and one request for each quad that
tells the LOD it wants; then the sample itself, with the filter's answers as its clamps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from minmip.sim.d3d12 import D3D12Error
from minmip.sim.frontend import Quads
from minmip.sim.streaming.bindings import (
    FEEDBACK,
    FILTERING,
    MEMORY_BASE,
    PLAIN,
    PROBE,
    Bindings,
)
from minmip.sim.streaming.tiling import Tiling
from minmip.sim.trace import FLAG_CLAMP, SAMPLE, SAMPLE_LZ, Result, Trace

__all__ = ["Answers", "Rows", "TextureUnit"]


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
    """Runs the frames of a scene's textures on a backend.

    Parameters
    ----------
    tilings : sequence of Tiling
        The textures.
    bindings : Bindings
        Their maps, views and samplers.
    run : callable
        Runs a trace; takes the keyword `pattern`.
    """

    def __init__(self, tilings: Sequence[Tiling], bindings: Bindings, run: Callable[..., Result]):
        self._bindings, self._run = bindings, run
        self._device = bindings.device
        self._last_level = np.array([tiling.texture.mips - 1 for tiling in tilings])

    def write_maps(self, levels: Sequence[np.ndarray]) -> None:
        """Write the MinMip maps: mip levels [rows, columns] of each texture, as U5.3."""
        for resource, map_levels in zip(self._bindings.maps, levels, strict=True):
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
        for tiling_map, (_, feedback) in zip(
            self._bindings.maps, self._bindings.feedback, strict=True
        ):
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
        for view, _ in self._bindings.feedback:
            self._device.clear_unordered_access_view_uint(view)

    def _feedback_part(self, quads: Quads, writing: np.ndarray) -> dict:
        some = np.flatnonzero(writing & quads.live_mask)
        return self._part(quads, FEEDBACK, rows=some, lanes=writing)

    def _part(
        self, quads, kind, *, opcode=SAMPLE, rows=None, lanes=None, clamp=None
    ) -> dict[str, Any]:
        """Columns of a trace: some quads bound as `kind`, in which `lanes` are executed."""
        rows = slice(None) if rows is None else rows
        texture = quads.texture[rows]
        count = len(texture)
        uvw = np.zeros((count, 4, 3), np.float32)
        uvw[..., :2] = quads.uv[rows]
        descriptor = (texture + kind * len(self._bindings.maps)).astype(np.uint32)
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
            t_sharp=self._bindings.t_sharp,
            s_sharp=self._bindings.s_sharp,
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
