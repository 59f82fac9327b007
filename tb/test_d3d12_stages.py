"""Shader stages: all write feedback, gradients come from quads of pixels alone."""

import numpy as np
import pytest
from d3d12_objects import MIN_MIP, cleared_view, desc, one_lane, plain_desc, sampler

from minmip.sim import d3d12
from minmip.sim.d3d12 import D3D12_SHADER_VERSION_TYPE, D3D12Error, Device

PIXEL = d3d12.D3D12_SHVER_PIXEL_SHADER
LIBRARY = d3d12.D3D12_SHVER_LIBRARY
COMPUTE = d3d12.D3D12_SHVER_COMPUTE_SHADER
OTHERS = [s for s in D3D12_SHADER_VERSION_TYPE if s not in (PIXEL, LIBRARY)]
UV = np.full((1, 4, 2), 0.3)


@pytest.fixture
def bound():
    """Device, feedback map, its view and a sampler."""
    device = Device()
    feedback, view = cleared_view(device, MIN_MIP, (64, 64), (16, 16), 5)
    return device, feedback, view, sampler(device)


@pytest.mark.parametrize("stage", OTHERS)
def test_explicit_operations_work_in_every_stage(bound, stage):
    device, feedback, view, point = bound
    step = np.full((1, 4, 2), 2 / 64)
    device.write_sampler_feedback_grad(
        view, point, UV, step * [1, 0], step * [0, 1], clamp=0.5, stage=stage
    )
    assert device.decode_sampler_feedback(feedback, raw=True)[1, 1] == 8
    device.write_sampler_feedback_level(view, point, UV, 0.5, stage=stage)
    assert device.decode_sampler_feedback(feedback, raw=True)[1, 1] == 4
    device.write_sampler_feedback_level_zero(view, point, UV, stage=stage)
    assert device.decode_sampler_feedback(feedback, raw=True)[1, 1] == 0


@pytest.mark.parametrize("stage", OTHERS)
def test_implicit_gradients_need_a_pixel_shader(bound, stage):
    device, _, view, point = bound
    for name, call in {
        "WriteSamplerFeedback": lambda: device.write_sampler_feedback(view, point, UV, stage=stage),
        "WriteSamplerFeedbackBias": lambda: device.write_sampler_feedback_bias(
            view, point, UV, 0.5, clamp=1, stage=stage
        ),
    }.items():
        rule = f"^{name} takes gradients from quads of pixels: pixel shader only, not {stage.name}"
        with pytest.raises(D3D12Error, match=rule):
            call()
    assert len(device.build_trace()) == 0


def test_the_pixel_shader_is_the_default(bound):
    device, _, view, point = bound
    device.write_sampler_feedback(view, point, UV)
    device.write_sampler_feedback(view, point, UV, stage=PIXEL)
    device.write_sampler_feedback(view, point, UV, stage=0, helper_mask=8)  # pyright: ignore
    trace = device.build_trace()
    assert len(trace) == 3
    assert (trace.uvw[0] == trace.uvw[1]).all()


def test_helpers_are_pixels(bound):
    device, _, view, point = bound
    with pytest.raises(D3D12Error, match="helper lanes are in pixel shaders only"):
        device.write_sampler_feedback_level_zero(view, point, UV, helper_mask=1, stage=COMPUTE)
    device.write_sampler_feedback_level_zero(view, point, UV, exec_mask=1, stage=COMPUTE)


@pytest.mark.parametrize(
    ("stage", "text"),
    [
        (LIBRARY, "a library is no stage"),
        (15, "stage must be a D3D12_SHADER_VERSION_TYPE, not 15"),
        (-1, "stage must be a D3D12_SHADER_VERSION_TYPE, not -1"),
        ("pixel", "stage must be a D3D12_SHADER_VERSION_TYPE, not 'pixel'"),
        (None, "stage must be a D3D12_SHADER_VERSION_TYPE, not None"),
        ([], r"stage must be a D3D12_SHADER_VERSION_TYPE, not \[\]"),
    ],
)
def test_stages_that_do_not_exist(bound, stage, text):
    device, _, view, point = bound
    with pytest.raises(D3D12Error, match=text):
        device.write_sampler_feedback_level_zero(view, point, UV, stage=stage)


@pytest.mark.parametrize(
    "operand", ["offset", "gather", "clamp", "lod", "ddx", "component", "stages"]
)
def test_operands_that_feedback_does_not_take(bound, operand):
    device, _, view, point = bound
    with pytest.raises(
        D3D12Error, match=f"no operand {operand}: .* no texel offsets and no gather"
    ):
        device.write_sampler_feedback_level(view, point, UV, 1, **{operand: 0})
    assert len(device.build_trace()) == 0


def test_a_filtered_read_needs_the_state_of_its_stage():
    device = Device(debug=True)
    pixel = d3d12.D3D12_RESOURCE_STATE_PIXEL_SHADER_RESOURCE
    held = device.create_committed_resource2(plain_desc((4, 4)), pixel)
    view = device.create_min_mip_shader_resource_view_x(None, desc((64, 64), 5), held)
    place = view, sampler(device), one_lane(0, 0)
    assert device.sample_min_mip(*place).tolist() == [[0] * 4]
    assert device.load_min_mip(view, [0, 0]) == 0
    with pytest.raises(D3D12Error, match=r"a MinMip sample needs .*NON_PIXEL_SHADER_RESOURCE"):
        device.sample_min_mip(*place, stage=COMPUTE)
    with pytest.raises(D3D12Error, match=r"a load needs .*NON_PIXEL_SHADER_RESOURCE"):
        device.load_min_mip(view, [0, 0], stage=COMPUTE)
    device.resource_barrier(held, pixel, d3d12.D3D12_RESOURCE_STATE_ALL_SHADER_RESOURCE)
    assert device.sample_min_mip(*place, stage=COMPUTE).tolist() == [[0] * 4]
    assert device.load_min_mip(view, [0, 0], stage=COMPUTE) == 0
