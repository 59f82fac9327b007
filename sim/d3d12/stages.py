"""Shader stages: which operations each may use (seed 001, spec 06 "Shader ops")."""

from __future__ import annotations

import numpy as np

from minmip.sim.d3d12.arguments import member
from minmip.sim.d3d12.enums import D3D12_RESOURCE_STATES, D3D12_SHADER_VERSION_TYPE
from minmip.sim.d3d12.errors import D3D12Error
from minmip.sim.trace import SAMPLE, SAMPLE_B

__all__ = ["PIXEL", "check_stage", "checked_stage", "read_state"]

PIXEL = D3D12_SHADER_VERSION_TYPE.D3D12_SHVER_PIXEL_SHADER
LIBRARY = D3D12_SHADER_VERSION_TYPE.D3D12_SHVER_LIBRARY
IMPLICIT = {SAMPLE: "WriteSamplerFeedback", SAMPLE_B: "WriteSamplerFeedbackBias"}


def checked_stage(stage: D3D12_SHADER_VERSION_TYPE | int) -> D3D12_SHADER_VERSION_TYPE:
    """Return a shader stage; D3D12Error for anything else, and for a library."""
    checked = member("stage", D3D12_SHADER_VERSION_TYPE, stage)
    if checked == LIBRARY:
        raise D3D12Error("a library is no stage: name the stage of the shader in it")
    return checked


def check_stage(stage: D3D12_SHADER_VERSION_TYPE, opcode: int, helper_mask: np.ndarray) -> None:
    """Check an operation against its stage.

    All stages write feedback. Outside the pixel shader lanes are no pixels of a quad: there is
    nothing to take gradients from, and there are no helpers.

    Raises
    ------
    D3D12Error
        For gradients of the quad, or helper lanes, in another stage than the pixel shader.
    """
    if stage == PIXEL:
        return
    if opcode in IMPLICIT:
        raise D3D12Error(
            f"{IMPLICIT[opcode]} takes gradients from quads of pixels: pixel shader only, not "
            f"{stage.name}; WriteSamplerFeedbackGrad and ...Level work in every stage"
        )
    if helper_mask.any():
        raise D3D12Error(f"helper lanes are in pixel shaders only, not in {stage.name}")


def read_state(stage: D3D12_SHADER_VERSION_TYPE) -> D3D12_RESOURCE_STATES:
    """State in which a shader of that stage may read a texture."""
    states = D3D12_RESOURCE_STATES
    if stage == PIXEL:
        return states.D3D12_RESOURCE_STATE_PIXEL_SHADER_RESOURCE
    return states.D3D12_RESOURCE_STATE_NON_PIXEL_SHADER_RESOURCE
