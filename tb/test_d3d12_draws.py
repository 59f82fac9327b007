"""Recording of draws: operands of every overload, traces, refusals (spec 06 "Shader ops")."""

from typing import Any

import numpy as np
import pytest
from d3d12_objects import (
    MIN_MIP,
    USED,
    cleared_view,
    desc,
    one_lane,
    sampler,
)

from minmip.sim import d3d12, golden
from minmip.sim.d3d12 import D3D12Error, D3D12Warning, Device
from minmip.sim.trace import SAMPLE, SAMPLE_B, SAMPLE_D, SAMPLE_L, SAMPLE_LZ, Trace

UV = np.linspace(0, 1, 24).reshape(3, 4, 2)
LANES = np.linspace(-2, 3, 12).reshape(3, 4).astype(np.float32)


def setup(kind=MIN_MIP, size=(64, 64), layers=1):
    device = Device()
    region = (8,) * len(size)
    feedback, view = cleared_view(device, kind, size, region, 7, layers)
    return device, feedback, view, sampler(device)


def operands(trace) -> Any:
    """Take the trace without the type checker's worry about absent arrays."""
    return trace


def test_seven_overloads_and_level_zero():
    device, _, view, point = setup()
    ddx, ddy = UV / 16, UV / 8
    device.write_sampler_feedback(view, point, UV)
    device.write_sampler_feedback(view, point, UV, clamp=LANES)
    device.write_sampler_feedback_bias(view, point, UV, LANES)
    device.write_sampler_feedback_bias(view, point, UV, LANES + 1, clamp=1.5)
    device.write_sampler_feedback_grad(view, point, UV, ddx, ddy)
    device.write_sampler_feedback_grad(view, point, UV, ddy, ddx, clamp=LANES)
    device.write_sampler_feedback_level(view, point, UV, LANES + 2)
    device.write_sampler_feedback_level_zero(view, point, UV)
    trace = operands(device.build_trace())
    assert len(trace.opcode) == 24
    opcodes = [SAMPLE] * 2 + [SAMPLE_B] * 2 + [SAMPLE_D] * 2 + [SAMPLE_L, SAMPLE_LZ]
    assert trace.opcode[::3].tolist() == opcodes
    assert trace.flags[::3].tolist() == [0, 1, 0, 1, 0, 1, 0, 0]
    np.testing.assert_array_equal(trace.uvw[:3, :, :2], UV.astype(np.float32))
    assert not trace.uvw[..., 2].any()
    np.testing.assert_array_equal(trace.clamp[3:6], LANES)
    np.testing.assert_array_equal(trace.clamp[9:12], 1.5)
    np.testing.assert_array_equal(trace.lod[6:9], LANES)
    np.testing.assert_array_equal(trace.lod[9:12], LANES + 1)
    np.testing.assert_array_equal(trace.lod[18:21], LANES + 2)
    np.testing.assert_array_equal(trace.ddx[12:15, :, :2], ddx.astype(np.float32))
    np.testing.assert_array_equal(trace.ddy[12:15, :, :2], ddy.astype(np.float32))
    np.testing.assert_array_equal(trace.ddx[15:18, :, :2], ddy.astype(np.float32))
    assert (trace.exec_mask == 15).all()
    assert not trace.helper_mask.any()


def test_operands_that_no_draw_has_are_left_out():
    device, _, view, point = setup()
    device.write_sampler_feedback(view, point, UV)
    trace = device.build_trace()
    assert trace.ddx is trace.ddy is trace.lod is trace.clamp is None


def test_descriptors_are_listed_once():
    device, _, view, point = setup()
    _, other = cleared_view(device, USED, (64, 64), (8, 8), 7)
    linear = sampler(device, d3d12.D3D12_FILTER_ANISOTROPIC)
    for one, how in ((view, point), (other, point), (view, linear), (view, point)):
        device.write_sampler_feedback_level_zero(one, how, UV)
    trace = operands(device.build_trace())
    assert trace.t_sharp.tolist() == [view.words.tolist(), other.words.tolist()]
    assert trace.s_sharp.tolist() == [point.words.tolist(), linear.words.tolist()]
    assert trace.t_index[::3].tolist() == [0, 1, 0, 0]
    assert trace.s_index[::3].tolist() == [0, 0, 1, 0]


def test_lanes_and_slices():
    device, feedback, view, point = setup(layers=3)
    uv = np.array([[[0.1, 0.1], [0.3, 0.1], [0.1, 0.3], [0.3, 0.3]]] * 2)
    device.write_sampler_feedback_level_zero(
        view,
        point,
        uv,
        array_slice=[[0, 1, 2, 9], [2, 2, 2, 2]],
        exec_mask=np.array([15, 0b0110]),
        helper_mask=np.array([0b0001, 0b0010]),
    )
    decoded = device.decode_sampler_feedback(feedback)
    assert np.argwhere(decoded != 0xFF).tolist() == [[1, 0, 2], [2, 2, 0], [2, 2, 2]]
    device.write_sampler_feedback_level_zero(view, point, uv, array_slice=1)
    assert (operands(device.build_trace()).slice == 1).all()


def test_volume_coordinates_have_three_components():
    device, feedback, view, point = setup(size=(64, 64, 64))
    device.write_sampler_feedback_level(view, point, one_lane(0.2, 0.5, 0.9), 1)
    decoded = device.decode_sampler_feedback(feedback)
    assert np.argwhere(decoded != 0xFF).tolist() == [[7, 4, 1]]
    device, feedback, view, point = setup(size=(64,), layers=2)
    device.write_sampler_feedback_level(view, point, one_lane(0.2), 1, array_slice=1)
    decoded = device.decode_sampler_feedback(feedback)
    assert np.argwhere(decoded != 0xFF).tolist() == [[1, 1]]


def test_literal_bias_is_limited():
    device, _, view, point = setup()
    for bias in (100, -100.0, 3, np.full((3, 4), 100)):
        device.write_sampler_feedback_bias(view, point, UV, bias)
    lod = operands(device.build_trace()).lod[::3, 0]
    assert lod.tolist() == [np.float32(15.99), -16, 3, 100]


def test_recorded_draws_keep_their_operands():
    device, _, view, point = setup()
    uv = UV.astype(np.float32)
    level = LANES.copy()
    device.write_sampler_feedback_level(view, point, uv, level)
    uv[:] = level[:] = 9
    trace = device.build_trace()
    np.testing.assert_array_equal(trace.uvw[..., :2], UV.astype(np.float32))
    np.testing.assert_array_equal(trace.lod, LANES)


def test_trace_is_what_runs(tmp_path):
    device, feedback, view, point = setup()
    device.write_sampler_feedback_level(view, point, UV, 2)
    trace = device.build_trace()
    trace.save(tmp_path / "draws.npz")
    loaded = golden.run(Trace.load(tmp_path / "draws.npz"))
    before = device.memory.copy()
    result = device.execute()
    assert result is not None
    assert len(device.build_trace()) == 0
    np.testing.assert_array_equal(loaded.memory, device.memory)
    np.testing.assert_array_equal(result.memory, device.memory)
    np.testing.assert_array_equal(trace.memory, before)
    assert (before != device.memory).any()
    assert device.execute() is None
    assert (device.decode_sampler_feedback(feedback) != 0xFF).any()


def test_backend_can_be_chosen():
    seen = []

    def backend(trace):
        seen.append(len(trace))
        return golden.run(trace)

    device = Device(backend=backend)
    feedback, view = cleared_view(device, MIN_MIP, (64, 64), (8, 8))
    point = sampler(device)
    device.write_sampler_feedback_level_zero(view, point, UV)
    device.write_sampler_feedback_level_zero(view, point, UV[:1])
    device.decode_sampler_feedback(feedback)
    assert seen == [4]
    device.write_sampler_feedback_level_zero(view, point, UV)
    device.execute(golden.run)
    assert seen == [4]


def test_refused_quads_leave_memory_alone():
    device, feedback, view, point = setup()

    def broken(trace):
        result = golden.run(trace)
        result.error[1] = 14
        return result

    device.write_sampler_feedback_level_zero(view, point, UV)
    before = device.memory.copy()
    with pytest.raises(D3D12Error, match=r"1 of 3 quads refused, the first, quad 1, .* code 14"):
        device.execute(broken)
    np.testing.assert_array_equal(device.memory, before)
    assert (device.decode_sampler_feedback(feedback) == 0xFF).all()


def test_no_quads():
    device, feedback, view, point = setup()
    device.write_sampler_feedback(view, point, np.zeros((0, 4, 2)))
    assert (device.decode_sampler_feedback(feedback) == 0xFF).all()


def test_clamp_beyond_the_view_warns():
    device, feedback, view, point = setup()
    with pytest.warns(D3D12Warning, match="a clamp is beyond the view's last mip 6") as caught:
        device.write_sampler_feedback(view, point, UV, clamp=6.5)
    assert caught[0].filename == __file__
    device.write_sampler_feedback(view, point, UV, clamp=6)
    device.write_sampler_feedback(view, point, UV, clamp=np.nan)
    assert (device.decode_sampler_feedback(feedback) != 0xFF).any()


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"uv": UV[0]}, r"uv must have shape \[Q, 4, 2\], not \[4, 2\]"),
        ({"uv": UV[:, :3]}, r"uv must have shape \[Q, 4, 2\], not \[3, 3, 2\]"),
        ({"uv": np.zeros((3, 4, 3))}, "uv must have shape"),
        ({"uv": "x"}, "uv must be numbers, not str"),
        ({"uv": [[1, 2], [3]]}, "uv must be numbers, not list"),
        ({"uv": UV * 1j}, "uv must be numbers, not ndarray"),
        ({"ddx": None}, "ddx must be numbers, not NoneType"),
        ({"ddx": UV[:2]}, r"ddx must have shape \[3, 4, 2\], not \[2, 4, 2\]"),
        ({"ddy": 1.0}, "ddy must have shape"),
        ({"clamp": np.zeros(3)}, r"clamp must be a number or have shape \[3, 4\], not \[3\]"),
        ({"array_slice": 1}, "array_slice is for array views only"),
        ({"exec_mask": 16}, r"exec_mask must be in 0\.\.15, not 16"),
        ({"exec_mask": np.array([1, 2])}, "exec_mask must be an integer or integers"),
        ({"helper_mask": -1}, "helper_mask must be in"),
        ({"helper_mask": [[1], [2, 3]]}, "helper_mask must be an integer or integers"),
        ({"helper_mask": 0.5}, "helper_mask must be an integer or integers"),
        ({"view": None}, "wanted a view from create_sampler_feedback_unordered_access_view"),
        ({"sampler": None}, "wanted a sampler, not NoneType"),
    ],
)
def test_refused_operands_record_nothing(change, text):
    device, _, view, point = setup()
    operands = {"view": view, "sampler": point, "uv": UV, "ddx": UV, "ddy": UV, **change}
    with pytest.raises(D3D12Error, match=text):
        device.write_sampler_feedback_grad(**operands)
    assert len(device.build_trace()) == 0


@pytest.mark.parametrize("value", [None, "x", 1j, [[1], [1, 2]]])
def test_bias_and_level_are_numbers(value):
    device, _, view, point = setup()
    for name in ("bias", "level"):
        write = getattr(device, f"write_sampler_feedback_{name}")
        with pytest.raises(D3D12Error, match=f"{name} must be numbers, not"):
            write(view, point, UV, value)
    assert len(device.build_trace()) == 0


def test_views_go_where_they_belong():
    device, feedback, view, point = setup()
    texture = device.create_committed_resource2(desc((64, 64), 7))
    plain = device.create_shader_resource_view(texture)
    with pytest.raises(D3D12Error, match="wanted a view from create_sampler_feedback"):
        device.write_sampler_feedback(plain, point, UV)
    with pytest.raises(D3D12Error, match="wanted a view from create_sampler_feedback"):
        device.clear_unordered_access_view_uint(plain)
    with pytest.raises(D3D12Error, match="wanted a view from create_min_mip"):
        device.sample_min_mip(view, point, UV)
    with pytest.raises(D3D12Error, match="only an opaque feedback map"):
        device.decode_sampler_feedback(texture)
    other = Device()
    for use in (
        lambda: other.write_sampler_feedback(view, point, UV),
        lambda: other.clear_unordered_access_view_uint(view),
        lambda: other.decode_sampler_feedback(feedback),
    ):
        with pytest.raises(D3D12Error, match="another device"):
            use()


def test_palette_border_is_refused():
    device, _, view, _ = setup()
    border = sampler(
        device,
        address=d3d12.D3D12_TEXTURE_ADDRESS_MODE_BORDER,
        BorderColor=(0.5, 0.5, 0.5, 1),
    )
    with pytest.raises(D3D12Error, match="rule 7"):
        device.write_sampler_feedback(view, border, UV)
    assert len(device.build_trace()) == 0
