"""Draws: clear, write feedback, read the MinMip filter."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike

from minmip.sim.d3d12.checking import (
    check_gradients,
    check_levels,
    check_residency,
    check_texture_operand,
    warn_of_late_decode,
    warn_of_lost_feedback,
)
from minmip.sim.d3d12.decode import NONE_SAMPLED
from minmip.sim.d3d12.draws import (
    Draw,
    floats,
    join,
    lane_floats,
    lane_masks,
    lane_vectors,
)
from minmip.sim.d3d12.enums import D3D12_RESOURCE_STATES, D3D12_SAMPLER_FEEDBACK_TIER
from minmip.sim.d3d12.errors import D3D12Error, D3D12Warning
from minmip.sim.d3d12.heap import Heap, Resource
from minmip.sim.d3d12.samplers import LARGEST_BIAS, SMALLEST_BIAS, Sampler
from minmip.sim.d3d12.states import SHADER_RESOURCE, UNORDERED_ACCESS, check_use
from minmip.sim.d3d12.tiers import TIER_0_9, check_tier_0_9_sampler
from minmip.sim.d3d12.views import View, view_field
from minmip.sim.golden.descriptor import LINKED_FILTER, LINKED_MIN, LINKED_OR
from minmip.sim.trace import SAMPLE, SAMPLE_B, SAMPLE_D, SAMPLE_L, SAMPLE_LZ, Result, Trace

__all__ = ["Context", "Lanes", "check_defined"]

FEEDBACK_TYPES = (LINKED_OR, LINKED_MIN)
FEEDBACK_MAKER = "create_sampler_feedback_unordered_access_view"


class Lanes(TypedDict, total=False):
    """Operands that every draw takes, by keyword.

    Attributes
    ----------
    array_slice : float [Q, 4] or one number, default 0
        For array views only; rounded and clamped as the hardware does.
    exec_mask : int [Q] or one number, default 15
        Bit i = lane i is executed.
    helper_mask : int [Q] or one number, default 0
        Bit i = lane i is a helper: it feeds the gradients of its quad and writes nothing.
    texture : View or Resource or None, default None
        The SampledTexture operand. The hardware ignores it; the debug layer looks at it.
    """

    array_slice: ArrayLike
    exec_mask: ArrayLike
    helper_mask: ArrayLike
    texture: View | Resource | None


class Context:
    """Records draws in order and runs them as one trace as soon as somebody looks at the result.

    Every draw takes Q quads (2 x 2 pixels, lanes top left, top right, bottom left, bottom right):

    - `view`, `sampler`: from the device's create methods. On a NULL view a draw does nothing.
    - `uv`: coordinates [Q, 4, n], n = 1, 2 or 3 as the view has axes; taken as float32.
    - `clamp`: the smallest LOD allowed, in mips of the view, [Q, 4] or one number; None for none.
    - the operands of `Lanes`, by keyword.

    A refused call raises D3D12Error and records nothing.

    Parameters
    ----------
    heap_base, heap_size : int
        GPU memory, see `Heap`.
    backend : callable
        Runs a Trace and returns a Result.
    xbox, debug : bool
        Whether the Xbox extensions and the debug layer are there.
    tier : D3D12_SAMPLER_FEEDBACK_TIER
        TIER_0_9 refuses what only TIER_1_0 allows.
    """

    def __init__(
        self,
        heap_base: int,
        heap_size: int,
        backend: Callable[[Trace], Result],
        *,
        xbox: bool,
        debug: bool,
        tier: D3D12_SAMPLER_FEEDBACK_TIER,
    ):
        self._heap = Heap(heap_base, heap_size, self.execute)
        self._backend = backend
        self._xbox = xbox
        self._debug = debug
        self._tier = tier
        self._draws: list[Draw] = []

    @property
    def memory(self) -> np.ndarray:
        """GPU memory handed out so far, uint8 [bytes], as it is without the recorded draws."""
        return self._heap.memory

    def clear_unordered_access_view_uint(
        self, view: View, values: tuple[int, ...] = (0, 0, 0, 0), rects: object = None
    ) -> None:
        """Clear the whole map behind a feedback view: MinMip to 0xFF, MipRegionUsed to 0.

        As in D3D12, `values` and `rects` are taken and ignored. Draws recorded before come first.
        """
        feedback = self._map_of(view, FEEDBACK_TYPES, FEEDBACK_MAKER)
        if feedback is None:
            return
        self._use(feedback, UNORDERED_ACCESS, "a clear")
        cleared = NONE_SAMPLED if view.linked_type == LINKED_MIN else 0
        self._heap.flush()
        if self._debug:
            warn_of_lost_feedback(feedback)
        feedback.map()[:] = cleared
        feedback.defined[:] = True
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
            return np.zeros(np.shape(uv)[:2], np.float32)
        check_defined(min_mip)
        self._use(min_mip, SHADER_RESOURCE, "a MinMip sample")
        draw = self._draw(SAMPLE_LZ, view, sampler, uv, **lanes)
        if not sampler.fits_min_mip_view:
            raise D3D12Error(
                "a bilinear sampler for a MinMip view needs "
                "D3D12XBOX_SAMPLER_FLAG_ENABLE_MINMIP_FILTER: do not read the map with the "
                "texture's own sampler"
            )
        if self._debug:
            check_residency(min_mip, view_field(view, "LAST_LEVEL"))
        self._draws.append(draw)
        everything = self._run(self._backend).filtered
        filtered = everything[len(everything) - len(draw) :]
        return filtered.astype(np.float32) / np.float32(256)

    def build_trace(self) -> Trace:
        """Return the draws recorded since the last `execute` as a trace, memory included."""
        return join(self._draws, self._heap.base, self._heap.memory)

    def execute(self, backend: Callable[[Trace], Result] | None = None) -> Result | None:
        """Run the recorded draws and put their writes into memory.

        Parameters
        ----------
        backend : callable, optional
            Used instead of the device's own, once.

        Returns
        -------
        Result or None
            Of the draws recorded since the last `execute`, quads in order; None if there are none.

        Raises
        ------
        D3D12Error
            When the backend refuses a quad (a build of the unit that leaves something out); memory
            is unchanged then, and the draws are dropped.
        """
        return self._run(backend or self._backend) if self._draws else None

    def _run(self, backend: Callable[[Trace], Result]) -> Result:
        trace = self.build_trace()
        result = backend(trace)
        self._draws.clear()
        refused = np.flatnonzero(result.error)
        if refused.size:
            quad = int(refused[0])
            raise D3D12Error(
                f"{refused.size} of {len(trace)} quads refused, the first, quad {quad}, with "
                f"error code {result.error[quad]} of spec 01"
            )
        self._heap.memory[:] = result.memory
        return result

    def _write(self, opcode, view, sampler, uv, lanes, **operands) -> None:
        feedback = self._map_of(view, FEEDBACK_TYPES, FEEDBACK_MAKER)
        if feedback is None:
            return
        _check_cleared(feedback)
        self._use(feedback, UNORDERED_ACCESS, "a feedback write")
        if feedback.paired not in (None, view.target):
            raise D3D12Error(
                "the map holds feedback of another texture: one map serves one texture between "
                "two clears"
            )
        draw = self._draw(opcode, view, sampler, uv, **lanes, **operands)
        if draw.clamp is not None and (draw.clamp > view.last_level).any():
            warnings.warn(
                f"a clamp is beyond the view's last mip {view.last_level}, which is used",
                D3D12Warning,
                stacklevel=3,
            )
        feedback.paired, feedback.unread, feedback.stale[:] = view.target, True, False
        self._draws.append(draw)

    def _draw(
        self,
        opcode: int,
        view: View,
        sampler: Sampler,
        uv: ArrayLike,
        *,
        array_slice: ArrayLike | None = None,
        exec_mask: ArrayLike = 15,
        helper_mask: ArrayLike = 0,
        clamp: ArrayLike | None = None,
        lod: ArrayLike | None = None,
        ddx: ArrayLike | None = None,
        ddy: ArrayLike | None = None,
        texture: View | Resource | None = None,
    ) -> Draw:
        """Check the operands of a draw against its view, which is not NULL."""
        if not isinstance(sampler, Sampler):
            raise D3D12Error(f"wanted a sampler, not {type(sampler).__name__}")
        if sampler.border_color is not None:
            raise D3D12Error(
                "a linked resource takes the border colours transparent black, opaque black and "
                f"opaque white only (spec 01, rule 7), not {sampler.border_color}"
            )
        if array_slice is not None and not view.is_array:
            raise D3D12Error("array_slice is for array views only")
        uvw = lane_vectors("uv", uv, view.axes)
        quads = len(uvw)
        given = opcode == SAMPLE_D
        lod_name = {SAMPLE_B: "bias", SAMPLE_L: "level"}.get(opcode)
        draw = Draw(
            t_sharp=view.words,
            s_sharp=sampler.words,
            opcode=opcode,
            uvw=uvw,
            slice=lane_floats("array_slice", 0 if array_slice is None else array_slice, quads),
            exec_mask=lane_masks("exec_mask", exec_mask, quads),
            helper_mask=lane_masks("helper_mask", helper_mask, quads),
            ddx=lane_vectors("ddx", ddx, view.axes, quads) if given else None,
            ddy=lane_vectors("ddy", ddy, view.axes, quads) if given else None,
            lod=lane_floats(lod_name, lod, quads) if lod_name else None,
            clamp=None if clamp is None else lane_floats("clamp", clamp, quads),
        )
        if self._tier == TIER_0_9 and view.linked_type in FEEDBACK_TYPES:
            check_tier_0_9_sampler(sampler, view.axes)
        if self._debug:
            check_texture_operand(view, texture, xbox=self._xbox)
            check_levels(lod_name or "lod", draw.lod)
            check_levels("clamp", draw.clamp)
            if opcode in (SAMPLE, SAMPLE_B):
                check_gradients(uvw, draw.exec_mask != 0)
        return draw

    def _use(self, resource: Resource, state: D3D12_RESOURCE_STATES, what: str) -> None:
        """Check the state of a resource, in the debug layer."""
        if self._debug:
            check_use(resource, state, what)

    def _check_decodable(self, feedback: Resource, subresources: list[int]) -> None:
        """Check that (some subresources of) a map hold feedback; a late decode is said."""
        if not feedback.defined[subresources].all():
            raise D3D12Error("a feedback map must be cleared before its first use")
        if self._debug:
            warn_of_late_decode(feedback, subresources)

    def _map_of(self, view: View, linked_types: tuple[int, ...], maker: str) -> Resource | None:
        """Check the kind of a view; returns its map, None for a NULL view."""
        if not isinstance(view, View) or view.linked_type not in linked_types:
            raise D3D12Error(f"wanted a view from {maker}")
        if view.resource is not None:
            self._check_owner(view.resource)
        return view.resource

    def _check_owner(self, resource: Resource) -> None:
        if not isinstance(resource, Resource):
            raise D3D12Error(f"wanted a resource, not {type(resource).__name__}")
        if resource.heap is not self._heap:
            raise D3D12Error("the resource belongs to another device")


def check_defined(resource: Resource) -> None:
    """Raise D3D12Error for a resource with contents that nobody wrote."""
    if not resource.defined.all():
        raise D3D12Error("contents are undefined: a placed resource must be written first")


def _check_cleared(resource: Resource) -> None:
    if not resource.defined.all():
        raise D3D12Error("a feedback map must be cleared before its first use")
