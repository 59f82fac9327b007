"""Draws: clear, write feedback, read the MinMip filter (spec 06 "Shader ops")."""

from __future__ import annotations

from functools import partial
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from minmip.sim.d3d12.checking import (
    check_gradients,
    check_levels,
    check_residency,
    check_texture_operand,
    warn_of_lost_feedback,
)
from minmip.sim.d3d12.decode import NONE_SAMPLED
from minmip.sim.d3d12.draws import Draw, floats
from minmip.sim.d3d12.errors import D3D12Error, warn
from minmip.sim.d3d12.lanes import LOD_NAMES, Lanes, null_answer, shader_op
from minmip.sim.d3d12.recorder import Recorder
from minmip.sim.d3d12.resource import Resource
from minmip.sim.d3d12.samplers import LARGEST_BIAS, SMALLEST_BIAS, Sampler
from minmip.sim.d3d12.stages import PIXEL, read_state
from minmip.sim.d3d12.states import UNORDERED_ACCESS
from minmip.sim.d3d12.tiers import TIER_0_9, check_tier_0_9_sampler
from minmip.sim.d3d12.view import View, view_field
from minmip.sim.golden.descriptor import LINKED_FILTER, LINKED_MIN, LINKED_OR
from minmip.sim.trace import SAMPLE, SAMPLE_B, SAMPLE_D, SAMPLE_L, SAMPLE_LZ

__all__ = ["Context", "check_cleared", "check_defined"]

FEEDBACK_TYPES = (LINKED_OR, LINKED_MIN)
FEEDBACK_MAKER = "create_sampler_feedback_unordered_access_view"


class Context(Recorder):
    """The shader operations.

    Every draw takes Q quads (2 x 2 pixels, lanes top left, top right, bottom left, bottom right):

    - `view`, `sampler`: from the device's create methods. On a NULL view a draw does nothing.
    - `uv`: coordinates [Q, 4, n], n = 1, 2 or 3 as the view has axes; taken as float32.
    - `clamp`: the smallest LOD allowed, in mips of the view, [Q, 4] or one number; None for none.
    - the operands of `Lanes`, by keyword.

    A refused call raises D3D12Error and records nothing.
    """

    def clear_unordered_access_view_uint(
        self, view: View, values: tuple[int, ...] = (0, 0, 0, 0), rects: object = None
    ) -> None:
        """Clear the whole map behind a feedback view: MinMip to 0xFF, MipRegionUsed to 0.

        As in D3D12, `values` and `rects` are taken and ignored. Draws recorded before come first.
        """
        feedback = self._map_of(view, FEEDBACK_TYPES, FEEDBACK_MAKER)
        if feedback is None:
            return
        self._use(
            (feedback, UNORDERED_ACCESS, "a clear"), look=partial(warn_of_lost_feedback, feedback)
        )
        cleared = NONE_SAMPLED if view.linked_type == LINKED_MIN else 0
        self._heap.flush()
        self._heap.fill(feedback.address, feedback.size_in_bytes, cleared)
        feedback.define(slice(None))
        feedback.paired, feedback.unread, feedback.stale[:] = None, False, False

    def write_sampler_feedback(
        self,
        view: View,
        sampler: Sampler,
        uv: ArrayLike,
        *,
        clamp: ArrayLike | None = None,
        **lanes: Unpack[Lanes],
    ) -> None:
        """Record what `Sample(uv)` would read; the LOD comes from the gradients of each quad."""
        self._write(SAMPLE, view, sampler, uv, lanes, clamp=clamp)

    def write_sampler_feedback_bias(
        self,
        view: View,
        sampler: Sampler,
        uv: ArrayLike,
        bias: ArrayLike,
        *,
        clamp: ArrayLike | None = None,
        **lanes: Unpack[Lanes],
    ) -> None:
        """Record what `SampleBias(uv, bias)` would read.

        `bias` is [Q, 4], or one number: a literal, which is limited to -16 .. 15.99.
        """
        bias = floats("bias", bias)
        if bias.ndim == 0:
            bias = np.clip(bias, SMALLEST_BIAS, LARGEST_BIAS)
        self._write(SAMPLE_B, view, sampler, uv, lanes, clamp=clamp, lod=bias)

    def write_sampler_feedback_grad(
        self,
        view: View,
        sampler: Sampler,
        uv: ArrayLike,
        ddx: ArrayLike,
        ddy: ArrayLike,
        *,
        clamp: ArrayLike | None = None,
        **lanes: Unpack[Lanes],
    ) -> None:
        """Record what `SampleGrad(uv, ddx, ddy)` would read; gradients are shaped like `uv`."""
        self._write(SAMPLE_D, view, sampler, uv, lanes, clamp=clamp, ddx=ddx, ddy=ddy)

    def write_sampler_feedback_level(
        self,
        view: View,
        sampler: Sampler,
        uv: ArrayLike,
        level: ArrayLike,
        **lanes: Unpack[Lanes],
    ) -> None:
        """Record what `SampleLevel(uv, level)` would read; `level` is [Q, 4] or one number."""
        self._write(SAMPLE_L, view, sampler, uv, lanes, lod=level)

    def write_sampler_feedback_level_zero(
        self, view: View, sampler: Sampler, uv: ArrayLike, **lanes: Unpack[Lanes]
    ) -> None:
        """Record what `SampleLevel(uv, 0)` would read."""
        self._write(SAMPLE_LZ, view, sampler, uv, lanes)

    def sample_min_mip(
        self, view: View, sampler: Sampler, uv: ArrayLike, **lanes: Unpack[Lanes]
    ) -> np.ndarray:
        """Filter a MinMip map at `uv`, after all earlier draws (spec 04).

        Returns
        -------
        numpy.ndarray
            float32 [Q, 4]: the LOD clamp for the sample of the paired texture, in 1/256; 0 for
            helper lanes, lanes not executed and a NULL view.

        Raises
        ------
        D3D12Error
            Also for a bilinear sampler without ENABLE_MINMIP_FILTER.
        """
        min_mip = self._map_of(view, (LINKED_FILTER,), "create_min_mip_shader_resource_view_x")
        if min_mip is None:
            return null_answer(uv)
        check_defined(min_mip)
        draw = self._draw(SAMPLE_LZ, view, sampler, uv, lanes)
        if not sampler.fits_min_mip_view:
            raise D3D12Error(
                "a bilinear sampler for a MinMip view needs "
                "D3D12XBOX_SAMPLER_FLAG_ENABLE_MINMIP_FILTER: do not read the map with the "
                "texture's own sampler"
            )
        self._use(
            (min_mip, read_state(lanes.get("stage", PIXEL)), "a MinMip sample"),
            look=partial(check_residency, min_mip, view_field(view, "LAST_LEVEL")),
        )
        self._draws.append(draw)
        everything = self._run(self._backend).filtered
        filtered = everything[len(everything) - len(draw) :]
        return filtered.astype(np.float32) / np.float32(256)

    def _write(self, opcode, view, sampler, uv, lanes, **operands) -> None:
        feedback = self._map_of(view, FEEDBACK_TYPES, FEEDBACK_MAKER)
        if feedback is None:
            return
        check_cleared(feedback)
        if view.target is not None:
            view.target.check_alive()
        if feedback.paired not in (None, view.target):
            raise D3D12Error(
                "the map holds feedback of another texture: one map serves one texture between "
                "two clears"
            )
        draw = self._draw(opcode, view, sampler, uv, lanes, **operands)
        if draw.clamp is not None and (draw.clamp > view.last_level).any():
            warn(f"a clamp is beyond the view's last mip {view.last_level}, which is used")
        self._use((feedback, UNORDERED_ACCESS, "a feedback write"))
        feedback.paired, feedback.unread, feedback.stale[:] = view.target, True, False
        self._draws.append(draw)

    def _draw(self, opcode, view, sampler, uv, lanes: Lanes, **operands) -> Draw:
        """Check the operands of a draw against its view, which is not NULL."""
        draw = shader_op(opcode, view, sampler, uv, lanes, **operands)
        if self._tier == TIER_0_9 and view.linked_type in FEEDBACK_TYPES:
            check_tier_0_9_sampler(sampler, view.axes)
        if self._debug:
            check_texture_operand(view, lanes.get("texture"), xbox=self._xbox)
            check_levels(LOD_NAMES.get(opcode, "lod"), draw.lod)
            check_levels("clamp", draw.clamp)
            if opcode in (SAMPLE, SAMPLE_B):
                check_gradients(draw.uvw, draw.exec_mask != 0)
        return draw


def check_defined(resource: Resource) -> None:
    """Raise D3D12Error for a resource with contents that nobody wrote."""
    if not resource.defined.all():
        raise D3D12Error("contents are undefined: a placed resource must be written first")


def check_cleared(feedback: Resource, subresources: list[int] | None = None) -> None:
    """Raise D3D12Error unless (some subresources of) a feedback map hold feedback."""
    if not feedback.defined[subresources or slice(None)].all():
        raise D3D12Error("a feedback map must be cleared before its first use")
