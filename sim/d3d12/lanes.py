"""Operands of shader operations: what a draw's lanes carry (spec 06 "Shader ops")."""

from __future__ import annotations

from typing import TypedDict

import numpy as np
from numpy.typing import ArrayLike

from minmip.sim.d3d12.draws import Draw, lane_floats, lane_masks, lane_vectors
from minmip.sim.d3d12.enums import D3D12_SHADER_VERSION_TYPE
from minmip.sim.d3d12.errors import D3D12Error
from minmip.sim.d3d12.resource import Resource
from minmip.sim.d3d12.samplers import Sampler
from minmip.sim.d3d12.stages import PIXEL, check_stage, checked_stage
from minmip.sim.d3d12.view import View
from minmip.sim.trace import SAMPLE_B, SAMPLE_D, SAMPLE_L

__all__ = ["LOD_NAMES", "Lanes", "null_answer", "shader_op"]

LOD_NAMES = {SAMPLE_B: "bias", SAMPLE_L: "level"}
"""What the `lod` of an opcode is called."""


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
    stage : D3D12_SHADER_VERSION_TYPE, default D3D12_SHVER_PIXEL_SHADER
        The shader that calls. Only pixel shaders have quads to take gradients from, and helpers;
        in other stages four lanes merely go together.
    """

    array_slice: ArrayLike
    exec_mask: ArrayLike
    helper_mask: ArrayLike
    texture: View | Resource | None
    stage: D3D12_SHADER_VERSION_TYPE


def shader_op(
    opcode: int,
    view: View,
    sampler: Sampler,
    uv: ArrayLike,
    lanes: Lanes,
    *,
    clamp: ArrayLike | None = None,
    lod: ArrayLike | None = None,
    ddx: ArrayLike | None = None,
    ddy: ArrayLike | None = None,
) -> Draw:
    """Check the operands of a shader operation against its view, which is not NULL.

    Raises
    ------
    D3D12Error
        For operands of another type, shape or range, or that the operation has not.
    """
    for name in lanes:
        if name not in Lanes.__annotations__:
            raise D3D12Error(
                f"this operation has no operand {name}: beside its own there are "
                f"{', '.join(Lanes.__annotations__)}; feedback takes no texel offsets and no "
                "gather (spec 01, rules 1 and 4)"
            )
    if not isinstance(sampler, Sampler):
        raise D3D12Error(f"wanted a sampler, not {type(sampler).__name__}")
    if sampler.border_color is not None:
        raise D3D12Error(
            "a linked resource takes the border colours transparent black, opaque black and "
            f"opaque white only (spec 01, rule 7), not {sampler.border_color}"
        )
    array_slice = lanes.get("array_slice")
    if array_slice is not None and not view.is_array:
        raise D3D12Error("array_slice is for array views only")
    uvw = lane_vectors("uv", uv, view.axes)
    quads = len(uvw)
    given = opcode == SAMPLE_D
    lod_name = LOD_NAMES.get(opcode)
    draw = Draw(
        t_sharp=view.words,
        s_sharp=sampler.words,
        opcode=opcode,
        uvw=uvw,
        slice=lane_floats("array_slice", 0 if array_slice is None else array_slice, quads),
        exec_mask=lane_masks("exec_mask", lanes.get("exec_mask", 15), quads),
        helper_mask=lane_masks("helper_mask", lanes.get("helper_mask", 0), quads),
        ddx=lane_vectors("ddx", ddx, view.axes, quads) if given else None,
        ddy=lane_vectors("ddy", ddy, view.axes, quads) if given else None,
        lod=lane_floats(lod_name, lod, quads) if lod_name else None,
        clamp=None if clamp is None else lane_floats("clamp", clamp, quads),
    )
    check_stage(checked_stage(lanes.get("stage", PIXEL)), opcode, draw.helper_mask)
    return draw


def null_answer(uv: ArrayLike) -> np.ndarray:
    """What a NULL view answers to quads: 0, float32 [Q, 4]. D3D12Error for no quads."""
    axes = np.shape(np.asarray(uv, object))[2:]
    return np.zeros(lane_vectors("uv", uv, axes[0] if axes else 0).shape[:2], np.float32)
