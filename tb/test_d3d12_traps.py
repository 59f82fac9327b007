"""What users of the real thing trip over (end of spec 06): each trap with its message.

Further down: resource states, tiers and the texture operand, which only the checks look at.
"""

import warnings
from typing import Any

import numpy as np
import pytest
from d3d12_objects import (
    CLAMP,
    MIN_MIP,
    USED,
    WRAP,
    cleared_view,
    desc,
    map_desc,
    one_lane,
    paired,
    plain_desc,
    sampler,
)

from minmip.sim import d3d12
from minmip.sim.d3d12 import (
    D3D12_SHADER_RESOURCE_VIEW_DESC,
    D3D12Error,
    D3D12Warning,
    Device,
)

WHOLE = 0xFFFFFFFF
R8 = d3d12.DXGI_FORMAT_R8_UINT
DECODE = d3d12.D3D12_RESOLVE_MODE_DECODE_SAMPLER_FEEDBACK
COMMON = d3d12.D3D12_RESOURCE_STATE_COMMON
UAV = d3d12.D3D12_RESOURCE_STATE_UNORDERED_ACCESS
SRV = d3d12.D3D12_RESOURCE_STATE_PIXEL_SHADER_RESOURCE
FROM = d3d12.D3D12_RESOURCE_STATE_RESOLVE_SOURCE
TO = d3d12.D3D12_RESOURCE_STATE_RESOLVE_DEST
TIER_0_9 = d3d12.D3D12_SAMPLER_FEEDBACK_TIER_0_9


@pytest.fixture
def device():
    """Device with the debug layer."""
    return Device(debug=True)


def residency(device, levels, mips=5):
    """View of a MinMip map that holds these levels, for a texture of 16 texels a tile."""
    levels = np.asarray(levels, np.uint8)
    rows, columns = levels.shape
    held = device.create_committed_resource2(plain_desc((columns, rows)))
    held.write_to_subresource(levels << 3)
    texture = desc((16 * columns, 16 * rows), mips)
    return device.create_min_mip_shader_resource_view_x(None, texture, held)


# ---- the list of spec 06 ----


def test_0xff_is_no_level(device):
    feedback, view = cleared_view(device, MIN_MIP, (64, 64), (16, 16), 5)
    nothing = device.decode_sampler_feedback(feedback)[0, 0]
    for call in (
        lambda: device.write_sampler_feedback_level(
            view, sampler(device), one_lane(0, 0), float(nothing)
        ),
        lambda: device.write_sampler_feedback(
            view, sampler(device), one_lane(0, 0), clamp=float(nothing)
        ),
    ):
        with pytest.raises(D3D12Error, match=r"255 is no mip level: .* nothing was sampled"):
            call()
    assert len(device.build_trace()) == 0
    taken = residency(device, [[31, 31]])
    with pytest.raises(D3D12Error, match=r"holds level 31 .* the view's last is 4: 0xFF"):
        device.sample_min_mip(taken, sampler(device), one_lane(0, 0))


def test_min_mip_map_and_the_sampler_of_the_texture():
    device = Device()
    view = residency(device, [[1, 1]])
    for filter in (d3d12.D3D12_FILTER_MIN_MAG_MIP_LINEAR, d3d12.D3D12_FILTER_ANISOTROPIC):
        with pytest.raises(D3D12Error, match="do not read the map with the texture's own sampler"):
            device.sample_min_mip(view, sampler(device, filter), one_lane(0, 0))


def test_uv_past_the_map():
    device = Device()
    view = residency(device, [[1, 2, 3], [2, 3, 4]])
    texels = [[0, 0], [2, 1]]
    assert device.load_min_mip(view, texels).tolist() == [1, 4]
    for uv in ([1.0, 0.5], [1.2, 0.5]):  # the edge itself, and tiling
        texel = (np.array(uv) * [3, 2]).astype(int)
        with pytest.raises(D3D12Error, match=r"texel x must be in 0\.\.2, .* at uv = 1\.0"):
            device.load_min_mip(view, texel)
    with pytest.raises(D3D12Error, match="texel y"):
        device.load_min_mip(view, [0, -1])
    # The sampler's address mode does it right.
    wrapped = device.sample_min_mip(view, sampler(device, address=WRAP), one_lane(1.2, 0.2))
    assert wrapped[0, 0] == 1
    clamped = device.sample_min_mip(view, sampler(device, address=CLAMP), one_lane(1.0, 0.2))
    assert clamped[0, 0] == 3


def test_one_map_with_two_textures():
    device = Device()
    texture, feedback = paired(device, USED, (64, 64), (16, 16))
    other = device.create_committed_resource2(texture.desc)
    views = [
        device.create_sampler_feedback_unordered_access_view(target, feedback)
        for target in (texture, other)
    ]
    device.clear_unordered_access_view_uint(views[0])
    device.write_sampler_feedback_level_zero(views[0], sampler(device), one_lane(0, 0))
    with pytest.raises(D3D12Error, match="the map holds feedback of another texture"):
        device.write_sampler_feedback_level_zero(views[1], sampler(device), one_lane(0, 0))
    assert len(device.build_trace()) == 1
    device.clear_unordered_access_view_uint(views[1])
    device.write_sampler_feedback_level_zero(views[1], sampler(device), one_lane(0, 0))


def test_forgotten_first_clear():
    device = Device()
    texture, feedback = paired(device, MIN_MIP, (64, 64), (16, 16))
    view = device.create_sampler_feedback_unordered_access_view(texture, feedback)
    with pytest.raises(D3D12Error, match="must be cleared before its first use"):
        device.write_sampler_feedback_level_zero(view, sampler(device), one_lane(0, 0))


def test_decoding_one_slice_of_an_array():
    device = Device()
    feedback, _ = cleared_view(device, MIN_MIP, (64, 64), (16, 16), layers=3)
    target = device.create_committed_resource2(plain_desc((4, 4), 1, 3))
    with pytest.raises(D3D12Error, match=r"SrcSubresource .* UINT_MAX, not 1: DstSub"):
        device.resolve_subresource_region(target, 1, 0, 0, feedback, 1, None, R8, DECODE)
    device.resolve_subresource_region(target, 1, 0, 0, feedback, WHOLE, None, R8, DECODE)
    assert [int(target.read_from_subresource(i).min()) for i in range(3)] == [0, 255, 0]


def test_dst_x_and_dst_y_are_never_ignored():
    device = Device()
    feedback, _ = cleared_view(device, MIN_MIP, (64, 64), (16, 16))
    target = device.create_committed_resource2(plain_desc((8, 8)))
    with pytest.raises(D3D12Error, match="DstX, DstY 0, not None, 2, 0"):
        device.resolve_subresource_region(target, 0, 2, 0, feedback, WHOLE, None, R8, DECODE)
    used, _ = cleared_view(device, USED, (64, 64), (16, 16))
    device.resolve_subresource_region(target, 0, 2, 3, used, 0, None, R8, DECODE)
    with pytest.raises(D3D12Error, match="DstX, DstY 5, 0 put the rectangle's end at 9, 4"):
        device.resolve_subresource_region(target, 0, 5, 0, used, 0, None, R8, DECODE)


def test_mip_range_of_a_view(device):
    texture, feedback = paired(device, USED, (64, 64), (16, 16), 5)
    part = D3D12_SHADER_RESOURCE_VIEW_DESC(MostDetailedMip=1, MipLevels=3)
    sampled = device.create_shader_resource_view(texture, part)
    whole = device.create_sampler_feedback_unordered_access_view(texture, feedback)
    device.clear_unordered_access_view_uint(whole)
    place = sampler(device), one_lane(0, 0)
    with pytest.raises(D3D12Error, match="BASE_LEVEL 1, but feedback is recorded for BASE_LEVEL 0"):
        device.write_sampler_feedback_level_zero(whole, *place, texture=sampled)
    same = device.create_sampler_feedback_unordered_access_view_x(
        texture, feedback, target_view=part
    )
    device.write_sampler_feedback_level_zero(same, *place, texture=sampled)
    marks = [int(level.max()) for level in device.decode_sampler_feedback(feedback)]
    assert marks == [0, 255, 0, 0, 0]


def quad(corner, step):
    """One quad of pixels, `step` apart."""
    return (np.array([[0, 0], [1, 0], [0, 1], [1, 1]]) * step + corner)[None]


def test_uv_wrapped_in_the_shader(device):
    feedback, view = cleared_view(device, MIN_MIP, (1024, 1024), (64, 64), 11)
    uv = quad([0.9995, 0.5], 1 / 1024)
    linear = sampler(device, address=WRAP)
    with pytest.warns(D3D12Warning, match=r"uv jumps by 1\.00 .* wrong gradients") as said:
        device.write_sampler_feedback(view, linear, uv % 1)
    assert said[0].filename == __file__
    # The warning is right: the last level is recorded in place of the first.
    assert device.decode_sampler_feedback(feedback)[8].tolist()[0] > 8
    device.clear_unordered_access_view_uint(view)
    device.write_sampler_feedback(view, linear, uv)
    step = np.full((1, 4, 2), 1 / 1024)
    device.write_sampler_feedback_grad(view, linear, uv % 1, step * [1, 0], step * [0, 1])
    assert device.decode_sampler_feedback(feedback)[8].tolist()[0] == 0
    # Nobody looks at a quad without live lanes.
    device.write_sampler_feedback(view, linear, uv % 1, exec_mask=0)


def test_neighbouring_tiles(device):
    point = sampler(device)
    view = residency(device, [[1, 2, 2], [1, 3, 3]])
    with pytest.warns(D3D12Warning, match=r"texels \(0, 1\) and \(1, 1\) .* 1 and 3: .* crack"):
        device.sample_min_mip(view, point, one_lane(0, 0))
    view = residency(device, [[1, 2, 2], [1, 2, 4]])
    with pytest.warns(D3D12Warning, match=r"texels \(2, 0\) and \(2, 1\) .* mips 2 and 4"):
        device.sample_min_mip(view, point, one_lane(0, 0))
    view = residency(device, [[1, 2, 2], [1, 2, 3]])
    assert device.sample_min_mip(view, point, one_lane(0, 0))[0, 0] == 1


def test_feedback_of_an_earlier_frame(device):
    feedback, view = cleared_view(device, USED, (64, 64), (16, 16), 2)
    place = sampler(device), one_lane(0, 0)
    device.write_sampler_feedback_level_zero(view, *place)
    device.decode_sampler_feedback(feedback)
    with pytest.warns(D3D12Warning, match="last decoded: this is an earlier frame's feedback"):
        device.decode_sampler_feedback(feedback)
    target = device.create_committed_resource2(plain_desc((4, 4), 2))
    with pytest.warns(D3D12Warning, match="earlier frame"):
        device.resolve_subresource_region(target, 1, 0, 0, feedback, 1, None, R8, DECODE)
    device.execute()
    device.write_sampler_feedback_level_zero(view, *place)
    with pytest.warns(D3D12Warning, match="the clear throws away feedback that was never decoded"):
        device.clear_unordered_access_view_uint(view)


def test_subresources_one_by_one_are_not_late(device):
    feedback, view = cleared_view(device, USED, (64, 64), (16, 16), 2)
    target = device.create_committed_resource2(plain_desc((4, 4), 2))
    device.write_sampler_feedback_level_zero(view, sampler(device), one_lane(0, 0))
    device.execute()
    for mip in range(2):
        device.resolve_subresource_region(target, mip, 0, 0, feedback, mip, None, R8, DECODE)
    assert int(target.read_from_subresource(0)[0, 0]) == 255


def test_a_tidy_frame_is_silent(device):
    feedback, view = cleared_view(device, MIN_MIP, (1024, 1024), (64, 64), 11)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            device.clear_unordered_access_view_uint(view)
            device.write_sampler_feedback(view, sampler(device), quad([0.3, 0.6], 1 / 512))
            assert (device.decode_sampler_feedback(feedback) != 255).sum() == 1


# ---- states ----


def test_states_of_a_frame(device):
    texture = device.create_committed_resource2(desc((64, 64)))
    feedback = device.create_committed_resource2(map_desc(MIN_MIP, (64, 64), (16, 16)), UAV)
    target = device.create_committed_resource2(plain_desc((4, 4)), TO)
    view = device.create_sampler_feedback_unordered_access_view(texture, feedback)
    device.clear_unordered_access_view_uint(view)
    arguments = (target, 0, 0, 0, feedback, WHOLE, None, R8, DECODE)
    with pytest.raises(D3D12Error, match=r"resolve's source needs .*SOURCE.* is in .*UNORD"):
        device.resolve_subresource_region(*arguments)
    device.resource_barrier(feedback, UAV, FROM)
    device.resolve_subresource_region(*arguments)
    with pytest.raises(D3D12Error, match="a clear needs"):
        device.clear_unordered_access_view_uint(view)
    with pytest.raises(D3D12Error, match="a feedback write needs"):
        device.write_sampler_feedback_level_zero(view, sampler(device), one_lane(0, 0))
    device.resource_barrier(target, TO, SRV)
    with pytest.raises(D3D12Error, match=r"resolve's destination needs .*RESOLVE_DEST"):
        device.resolve_subresource_region(*arguments)
    read = device.create_min_mip_shader_resource_view_x(texture, None, target)
    with pytest.raises(D3D12Error, match="holds level 31"):  # the state is right, the bytes are not
        device.sample_min_mip(read, sampler(device), one_lane(0, 0))
    target.write_to_subresource(np.zeros((4, 4), np.uint8))
    device.resource_barrier(target, SRV, UAV)
    with pytest.raises(D3D12Error, match="a MinMip sample needs"):
        device.sample_min_mip(read, sampler(device), one_lane(0, 0))
    with pytest.raises(D3D12Error, match="a load needs"):
        device.load_min_mip(read, [0, 0])
    with pytest.raises(D3D12Error, match="a copy's source needs"):
        device.copy_resource(device.create_committed_resource2(target.desc), target)
    with pytest.raises(D3D12Error, match=r"StateBefore is .*COMMON.* is in .*UNORDERED"):
        device.resource_barrier(target, COMMON, SRV)


def test_common_is_promoted_until_the_command_list_ends(device):
    feedback, view = cleared_view(device, USED, (64, 64), (16, 16))
    place = view, sampler(device), one_lane(0, 0)
    target = device.create_committed_resource2(plain_desc((4, 4)))
    arguments = (target, 0, 0, 0, feedback, 0, None, R8, DECODE)
    device.write_sampler_feedback_level_zero(*place)
    assert (feedback.state, feedback.promoted) == (COMMON, UAV)
    rule = r"source needs .*RESOLVE_SOURCE, .* is in .*UNORDERED_ACCESS, to which an earlier use"
    with pytest.raises(D3D12Error, match=rule):
        device.resolve_subresource_region(*arguments)
    assert target.promoted == COMMON  # a refused command promotes nothing
    with pytest.raises(D3D12Error, match=r"StateBefore is .*COMMON, the resource is in .*UNORD"):
        device.resource_barrier(feedback, COMMON, FROM)
    device.resource_barrier(feedback, UAV, FROM)
    device.resolve_subresource_region(*arguments)
    device.resource_barrier(feedback, FROM, COMMON)
    assert feedback.promoted == COMMON
    device.write_sampler_feedback_level_zero(*place)
    with pytest.raises(D3D12Error, match=rule):
        device.resolve_subresource_region(*arguments)
    # The CPU looks only when the list has been executed.
    assert target.read_from_subresource().max() == 255
    assert feedback.promoted == target.promoted == COMMON
    device.resolve_subresource_region(*arguments)


def test_reads_are_promoted_together(device):
    held = device.create_committed_resource2(plain_desc((4, 4)))
    copy = device.create_committed_resource2(held.desc)
    view = device.create_min_mip_shader_resource_view_x(None, desc((64, 64), 5), held)
    device.load_min_mip(view, [0, 0])
    device.copy_resource(copy, held)
    device.sample_min_mip(view, sampler(device), one_lane(0, 0))
    with pytest.raises(D3D12Error, match=r"a copy's source needs .* promoted it from COMMON"):
        device.copy_resource(held, copy)
    other = device.create_committed_resource2(held.desc)
    with pytest.raises(D3D12Error, match=r"a copy's destination needs .* promoted it from COMMON"):
        device.copy_resource(held, other)
    device.execute()
    device.copy_resource(held, copy)


def test_states_count_in_the_debug_layer_only():
    loose = Device()
    _, view = cleared_view(loose, USED, (64, 64), (16, 16))
    assert view.resource is not None
    loose.resource_barrier(view.resource, FROM, FROM)
    loose.write_sampler_feedback_level_zero(view, sampler(loose), one_lane(0, 0))


def test_states_that_do_not_exist(device):
    for state, text in [
        (SRV, "a feedback map may be in COMMON"),
        (UAV | FROM, "must stand alone"),
        (0x12345, "a resource state must be a D3D12_RESOURCE_STATES, not 74565"),
        (-1, "a resource state must be a D3D12_RESOURCE_STATES, not -1"),
        ("COMMON", "a resource state must be a D3D12_RESOURCE_STATES, not 'COMMON'"),
    ]:
        with pytest.raises(D3D12Error, match=text):
            device.create_committed_resource2(map_desc(USED, (64, 64), (16, 16)), state)
    assert device.memory.size == 0


# ---- tiers and the texture operand ----


def test_tier_0_9():
    device = Device(tier=TIER_0_9)
    assert device.sampler_feedback_tier == TIER_0_9 == 90
    assert Device().sampler_feedback_tier == 100
    _, view = cleared_view(device, USED, (64, 64), (16, 16), 3, layers=2)
    for address in (WRAP, CLAMP):
        device.write_sampler_feedback_level_zero(
            view, sampler(device, address=address), one_lane(0, 0)
        )
    for address in (
        d3d12.D3D12_TEXTURE_ADDRESS_MODE_MIRROR,
        d3d12.D3D12_TEXTURE_ADDRESS_MODE_BORDER,
        d3d12.D3D12_TEXTURE_ADDRESS_MODE_MIRROR_ONCE,
    ):
        with pytest.raises(D3D12Error, match="TIER_0_9 takes the address modes WRAP and CLAMP"):
            device.write_sampler_feedback_level_zero(
                view, sampler(device, address=address), one_lane(0, 0)
            )
    texture, feedback = paired(device, USED, (64, 64), (16, 16), 3, layers=2)
    parts: list[dict[str, Any]] = [
        {"MostDetailedMip": 1},
        {"MipLevels": 2},
        {"FirstArraySlice": 1},
        {"ArraySize": 1},
        {"ResourceMinLODClamp": 0.5},
    ]
    for part in parts:
        with pytest.raises(D3D12Error, match="TIER_0_9 takes views of the whole texture only"):
            device.create_sampler_feedback_unordered_access_view_x(
                texture, feedback, target_view=D3D12_SHADER_RESOURCE_VIEW_DESC(**part)
            )
    with pytest.raises(D3D12Error, match="tier must be"):
        Device(tier=d3d12.D3D12_SAMPLER_FEEDBACK_TIER_NOT_SUPPORTED)


def test_texture_operand():
    for xbox in (True, False):
        device = Device(xbox=xbox, debug=True)
        texture, feedback = paired(device, USED, (64, 64), (16, 16))
        other = device.create_committed_resource2(texture.desc)
        view = device.create_sampler_feedback_unordered_access_view(texture, feedback)
        device.clear_unordered_access_view_uint(view)
        place = view, sampler(device), one_lane(0, 0)
        device.write_sampler_feedback_level_zero(*place, texture=texture)
        if xbox:  # the hardware ignores the operand
            device.write_sampler_feedback_level_zero(*place, texture=other)
        else:
            with pytest.raises(D3D12Error, match="must be the texture that the map is paired with"):
                device.write_sampler_feedback_level_zero(*place, texture=other)
        with pytest.raises(D3D12Error, match="the texture operand must be a view"):
            device.write_sampler_feedback_level_zero(*place, texture="texture")  # pyright: ignore
