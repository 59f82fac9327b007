"""Image descriptors, plain and linked (spec 01 "Building a linked T#", spec 06)."""

from itertools import permutations

import numpy as np
import pytest
from d3d12_objects import (
    LAYOUT_LINEAR,
    MIN_MIP,
    UAV,
    USED,
    buffer_desc,
    desc,
    map_desc,
    paired,
    plain_desc,
    t_field,
)

from minmip.sim import d3d12
from minmip.sim.d3d12 import (
    D3D12_SHADER_RESOURCE_VIEW_DESC,
    D3D12_UNORDERED_ACCESS_VIEW_DESC,
    D3D12Error,
    D3D12Warning,
    Device,
)
from minmip.sim.d3d12.formats import viewed_format
from minmip.sim.descriptor_words import T_FIELDS, pack
from minmip.sim.layout.formats import texel_format


def srv(**fields):
    return D3D12_SHADER_RESOURCE_VIEW_DESC(**fields)


def uav(**fields):
    return D3D12_UNORDERED_ACCESS_VIEW_DESC(**fields)


def expect(view, **fields):
    """Compare whole words, so that nothing else is set."""
    select = {"DST_SEL_X": 4, "DST_SEL_Y": 5, "DST_SEL_Z": 6, "DST_SEL_W": 7}
    wanted = pack(T_FIELDS, 8, RESOURCE_LEVEL=1, **select, **fields)
    assert [f"{w:08x}" for w in view.words] == [f"{w:08x}" for w in wanted]


def test_minmip_feedback_of_the_seed():
    device = Device(memory_base=0x123400)
    texture = device.create_committed_resource2(
        desc((4096, 4096), 12, Format=d3d12.DXGI_FORMAT_BC1_UNORM)
    )
    feedback = device.create_committed_resource2(map_desc(MIN_MIP, (4096, 4096), (512, 256), 12))
    view = device.create_sampler_feedback_unordered_access_view(texture, feedback)
    expect(
        view,
        BASE_ADDRESS=0x1234,
        FORMAT=5,
        WIDTH=4095,
        HEIGHT=4095,
        BASE_LEVEL=0,
        LAST_LEVEL=11,
        SW_MODE=1,
        LINKED_RESOURCE_TYPE=2,
        TYPE=9,
        MAX_MIP=0,
        WIDTH_SCALE=9,
        HEIGHT_SCALE=8,
        LINKED_RESOURCE=1,
    )
    # The same by hand, from the bit positions: no field of the packer is trusted here.
    words = [int(w) for w in view.words]
    word = sum(w << 32 * i for i, w in enumerate(words))
    assert word >> 184 & 1 == 1
    assert word >> 121 & 7 == 2
    assert (word >> 176 & 15, word >> 172 & 15, word >> 168 & 15) == (9, 8, 0)
    assert (word >> 62 & 0xFFFF, word >> 78 & 0xFFFF) == (4095, 4095)
    assert not view.words.flags.writeable


def test_used_feedback_keeps_the_map_mips():
    device = Device(memory_base=0)
    device.create_committed_resource2(plain_desc((16, 16)))
    texture, feedback = paired(device, USED, (4096, 2048), (128, 64), 6, layers=3)
    view = device.create_sampler_feedback_unordered_access_view(texture, feedback)
    expect(
        view,
        BASE_ADDRESS=1,
        FORMAT=5,
        WIDTH=4095,
        HEIGHT=2047,
        LAST_LEVEL=5,
        SW_MODE=1,
        LINKED_RESOURCE_TYPE=1,
        TYPE=13,
        DEPTH=2,
        MAX_MIP=5,
        WIDTH_SCALE=7,
        HEIGHT_SCALE=6,
        LINKED_RESOURCE=1,
    )
    assert (view.axes, view.is_array, view.last_level) == (2, True, 5)


def test_volume_has_three_scales():
    device = Device(memory_base=0)
    texture, feedback = paired(device, MIN_MIP, (64, 32, 20), (16, 32, 4), 3)
    view = device.create_sampler_feedback_unordered_access_view(texture, feedback)
    expect(
        view,
        FORMAT=5,
        WIDTH=63,
        HEIGHT=31,
        LAST_LEVEL=2,
        SW_MODE=1,
        LINKED_RESOURCE_TYPE=2,
        TYPE=10,
        DEPTH=19,
        WIDTH_SCALE=4,
        HEIGHT_SCALE=5,
        DEPTH_SCALE=2,
        LINKED_RESOURCE=1,
    )


def test_part_of_the_texture_goes_into_the_linked_word():
    device = Device()
    texture, feedback = paired(device, MIN_MIP, (256, 256), (16, 16), 8, layers=6)
    view = device.create_sampler_feedback_unordered_access_view_x(
        texture,
        feedback,
        uav(FirstArraySlice=2, ArraySize=3),
        target_view=srv(MostDetailedMip=1, MipLevels=6, ResourceMinLODClamp=3.5),
    )
    names = ("BASE_LEVEL", "LAST_LEVEL", "BASE_ARRAY", "DEPTH", "MIN_LOD", "MAX_MIP", "WIDTH")
    assert [t_field(view, n) for n in names] == [1, 6, 2, 4, int(2.5 * 256), 0, 255]
    assert view.last_level == 5
    one_slice = device.create_sampler_feedback_unordered_access_view_x(
        texture, feedback, uav(ViewDimension=d3d12.D3D12_UAV_DIMENSION_TEXTURE2D)
    )
    assert [t_field(one_slice, n) for n in ("TYPE", "BASE_ARRAY", "DEPTH")] == [9, 0, 0]


@pytest.mark.parametrize(
    ("clamp", "first", "field"),
    [(0, 0, 0), (0.5, 0, 128), (0.5, 1, 0), (1.999, 1, 255), (1 / 256, 0, 1), (0.9 / 256, 0, 0)],
)
def test_resource_min_lod_clamp_is_in_view_space(clamp, first, field):
    device = Device()
    texture = device.create_committed_resource2(desc((64, 64), 7))
    view = device.create_shader_resource_view(
        texture, srv(MostDetailedMip=first, ResourceMinLODClamp=clamp)
    )
    assert t_field(view, "MIN_LOD") == field


def test_resource_min_lod_clamp_beyond_the_view_warns():
    device = Device()
    texture = device.create_committed_resource2(desc((64, 64), 7))
    with pytest.warns(D3D12Warning, match="beyond the view's last mip 3") as caught:
        view = device.create_shader_resource_view(
            texture, srv(MostDetailedMip=1, MipLevels=3, ResourceMinLODClamp=20)
        )
    assert t_field(view, "MIN_LOD") == 0xFFF
    assert caught[0].filename == __file__


def test_plain_views():
    device = Device(memory_base=0x2000)
    texture = device.create_committed_resource2(
        desc((100, 50), 4, 6, Format=d3d12.DXGI_FORMAT_BC7_UNORM_SRGB)
    )
    expect(
        device.create_shader_resource_view(texture),
        FORMAT=182,
        WIDTH=99,
        HEIGHT=49,
        LAST_LEVEL=3,
        MAX_MIP=3,
        SW_MODE=9,
        TYPE=13,
        DEPTH=5,
    )
    linear = device.create_committed_resource2(plain_desc((100,), Layout=LAYOUT_LINEAR))
    expect(
        device.create_shader_resource_view(linear),
        BASE_ADDRESS=0x20,
        FORMAT=5,
        WIDTH=99,
        HEIGHT=0,
        TYPE=8,
    )
    view = device.create_shader_resource_view(linear, srv(Shader4ComponentMapping=0x1B45))
    # 0x1B45: X from force 1, Y from X, Z from force 1, W from force 1.
    assert [t_field(view, f"DST_SEL_{c}") for c in "XYZW"] == [1, 4, 1, 1]


def test_typeless_resources_take_their_family():
    device = Device()
    texture = device.create_committed_resource2(
        desc((8, 8), Format=d3d12.DXGI_FORMAT_BC6H_TYPELESS)
    )
    view = device.create_shader_resource_view(texture, srv(Format=d3d12.DXGI_FORMAT_BC6H_SF16))
    assert t_field(view, "FORMAT") == 180
    for wrong in (d3d12.DXGI_FORMAT_BC7_UNORM, d3d12.DXGI_FORMAT_UNKNOWN):
        with pytest.raises(D3D12Error):
            device.create_shader_resource_view(texture, srv(Format=wrong))
    typed = device.create_committed_resource2(desc((8, 8)))
    srgb = srv(Format=d3d12.DXGI_FORMAT_R8G8B8A8_UNORM_SRGB)
    with pytest.raises(D3D12Error, match="cannot be viewed as"):
        device.create_shader_resource_view(typed, srgb)


def test_a_view_changes_how_an_element_is_read_never_its_size():
    """Spec 07 "Views", over every pair of formats of one plane."""
    sizes = {}
    for form in d3d12.DXGI_FORMAT:
        try:
            (plane,) = texel_format(form.name).planes
        except ValueError:
            continue  # not laid out, or of several planes
        sizes[form] = plane.element_bytes
    allowed = []
    for resource, view in permutations(sizes, 2):
        try:
            viewed_format(resource, view, 0)
        except D3D12Error:
            continue
        allowed.append((resource, view))
        assert sizes[resource] == sizes[view], (resource, view)
    assert len(allowed) > 20


def test_a_resource_is_not_read_and_written_at_once():
    """Spec 07 "Views": a plain map cannot take the feedback of its own samples."""
    device = Device()
    both = device.create_committed_resource2(plain_desc((64, 64)))
    kind = uav(Format=MIN_MIP)
    with pytest.raises(D3D12Error, match="may not be read and written at once"):
        device.create_sampler_feedback_unordered_access_view_x(both, both, kind)
    other = device.create_committed_resource2(plain_desc((64, 64)))
    device.create_sampler_feedback_unordered_access_view_x(both, other, kind)


@pytest.mark.parametrize(
    ("view", "text"),
    [
        (srv(MostDetailedMip=4), "first mip must be below 4, not 4"),
        (srv(MostDetailedMip=1, MipLevels=4), r"from mip 1 must have 1\.\.3 of 4, not 4"),
        (srv(MipLevels=0), "mip"),
        (srv(FirstArraySlice=3), "first slice"),
        (srv(FirstArraySlice=1, ArraySize=3), "slice"),
        (srv(ViewDimension=d3d12.D3D12_SRV_DIMENSION_TEXTURE2D, FirstArraySlice=1), "slice"),
        (srv(ViewDimension=d3d12.D3D12_SRV_DIMENSION_TEXTURE2D, ArraySize=3), "slice"),
        (srv(ViewDimension=d3d12.D3D12_SRV_DIMENSION_TEXTURE3D), "cannot be viewed as"),
        (srv(ResourceMinLODClamp=-1), "ResourceMinLODClamp"),
        (srv(ResourceMinLODClamp=np.nan), "ResourceMinLODClamp"),
        (srv(Shader4ComponentMapping=0x1687), "Shader4ComponentMapping"),
        (srv(Shader4ComponentMapping=0x3688), "Shader4ComponentMapping 0x3688"),
    ],
)
def test_refused_views(view, text):
    device = Device()
    texture, feedback = paired(device, USED, (64, 64), (4, 4), 4, layers=3)
    with pytest.raises(D3D12Error, match=text):
        device.create_shader_resource_view(texture, view)
    with pytest.raises(D3D12Error, match=text):
        device.create_sampler_feedback_unordered_access_view_x(texture, feedback, target_view=view)


@pytest.mark.parametrize(
    ("target", "feedback", "text"),
    [
        (desc((64, 32), 4), map_desc(USED, (64, 64), (4, 4), 4), "Height .* 32, not 64"),
        (desc((32, 64), 4), map_desc(USED, (64, 64), (4, 4), 4), "Width"),
        (desc((64, 64), 5), map_desc(MIN_MIP, (64, 64), (4, 4), 4), "MipLevels"),
        (desc((64, 64), 4, 2), map_desc(USED, (64, 64), (4, 4), 4), "DepthOrArraySize"),
        (desc((64,), 4), map_desc(USED, (64, 1), (4, 1), 4), "Dimension"),
        (map_desc(USED, (64, 64), (4, 4)), map_desc(USED, (64, 64), (4, 4)), "targeted"),
        (desc((64, 64), SampleDesc=(4, 0)), map_desc(USED, (64, 64), (4, 4)), "multisampled"),
        (desc((64, 64)), plain_desc((16, 16)), "Format names its kind"),
    ],
)
def test_refused_pairs(target, feedback, text):
    device = Device()
    target = device.create_committed_resource2(target)
    feedback = device.create_committed_resource2(feedback)
    with pytest.raises(D3D12Error, match=text):
        device.create_sampler_feedback_unordered_access_view(target, feedback)


def test_feedback_map_is_no_shader_resource():
    device = Device()
    _, feedback = paired(device, MIN_MIP, (64, 64), (4, 4))
    with pytest.raises(D3D12Error, match="opaque"):
        device.create_shader_resource_view(feedback)


def test_plain_map_as_feedback():
    device = Device()
    texture = device.create_committed_resource2(desc((100, 64), 5))
    minmip = device.create_committed_resource2(plain_desc((12, 1), Layout=LAYOUT_LINEAR))
    view = device.create_sampler_feedback_unordered_access_view_x(
        texture, minmip, uav(Format=MIN_MIP)
    )
    names = ("WIDTH_SCALE", "HEIGHT_SCALE", "SW_MODE", "LINKED_RESOURCE_TYPE", "MAX_MIP")
    assert [t_field(view, n) for n in names] == [3, 6, 0, 2, 0]
    used = device.create_committed_resource2(plain_desc((25, 16), 5))
    view = device.create_sampler_feedback_unordered_access_view_x(texture, used, uav(Format=USED))
    assert [t_field(view, n) for n in names] == [2, 2, 1, 1, 4]


@pytest.mark.parametrize(
    ("description", "kind", "text"),
    [
        (plain_desc((13, 8), 1), MIN_MIP, "13 is no power-of-two fraction of the paired side 100"),
        (plain_desc((12, 128), 1), MIN_MIP, "no power-of-two fraction"),
        (plain_desc((12, 8), 2), MIN_MIP, "MipLevels of the map must be 1, not 2"),
        (plain_desc((12, 8), 1), USED, "MipLevels of the map must be 5, not 1"),
        (plain_desc((12, 8), 1, 2), MIN_MIP, "DepthOrArraySize"),
        (plain_desc((12, 8), 1, Flags=0), MIN_MIP, "ALLOW_UNORDERED_ACCESS"),
        (desc((12, 8), Flags=UAV), MIN_MIP, "must be R8_UINT"),
        (plain_desc((12, 8), 1), d3d12.DXGI_FORMAT_R8_UINT, "Format names its kind"),
        (map_desc(USED, (100, 64), (4, 4), 5), MIN_MIP, "the view's Format"),
    ],
)
def test_refused_plain_maps(description, kind, text):
    device = Device()
    texture = device.create_committed_resource2(desc((100, 64), 5))
    plain = device.create_committed_resource2(description)
    with pytest.raises(D3D12Error, match=text):
        device.create_sampler_feedback_unordered_access_view_x(texture, plain, uav(Format=kind))


def test_slices_of_both_views_must_agree():
    device = Device()
    texture, feedback = paired(device, MIN_MIP, (64, 64), (4, 4), layers=4)
    create = device.create_sampler_feedback_unordered_access_view_x
    same = create(texture, feedback, uav(ArraySize=2), target_view=srv(ArraySize=2))
    assert t_field(same, "DEPTH") == 1
    with pytest.raises(D3D12Error, match="ArraySize of the two views must agree, not 2 and 3"):
        create(texture, feedback, uav(ArraySize=2), target_view=srv(ArraySize=3))


def test_min_mip_views():
    device = Device(memory_base=0)
    texture = device.create_committed_resource2(desc((1024, 512), 10, 2))
    residency = device.create_committed_resource2(plain_desc((8, 4), 1, 2, Flags=0))
    view = device.create_min_mip_shader_resource_view_x(texture, None, residency)
    expect(
        view,
        FORMAT=5,
        WIDTH=1023,
        HEIGHT=511,
        LAST_LEVEL=9,
        SW_MODE=1,
        LINKED_RESOURCE_TYPE=4,
        TYPE=13,
        DEPTH=1,
        WIDTH_SCALE=7,
        HEIGHT_SCALE=7,
        LINKED_RESOURCE=1,
    )
    by_description = device.create_min_mip_shader_resource_view_x(
        None, desc((1024, 512), 0, 2), residency
    )
    assert t_field(by_description, "LAST_LEVEL") == 10
    both = device.create_min_mip_shader_resource_view_x(texture, texture.desc, residency)
    np.testing.assert_array_equal(both.words, view.words)
    with pytest.raises(D3D12Error, match="not two that differ"):
        device.create_min_mip_shader_resource_view_x(texture, desc((1024, 512)), residency)


@pytest.mark.parametrize(
    ("description", "view", "text"),
    [
        (plain_desc((8, 8), 2), None, "MipLevels of the map must be 1"),
        (plain_desc((8, 3)), None, "no power-of-two fraction"),
        (desc((8, 8)), None, "must be R8_UINT"),
        (map_desc(MIN_MIP, (1024, 512), (128, 64), 10), None, "must be R8_UINT"),
        (plain_desc((8, 8)), srv(MostDetailedMip=10), "first mip"),
        (plain_desc((8, 8)), srv(Format=d3d12.DXGI_FORMAT_R8_UNORM), "Format must be R8_UINT"),
    ],
)
def test_refused_min_mip_maps(description, view, text):
    device = Device()
    texture = device.create_committed_resource2(desc((1024, 512), 10))
    residency = device.create_committed_resource2(description)
    with pytest.raises(D3D12Error, match=text):
        device.create_min_mip_shader_resource_view_x(texture, None, residency, view)


def test_buffers_are_not_viewed():
    device = Device()
    buffer = device.create_committed_resource2(buffer_desc(64))
    texture, feedback = paired(device, MIN_MIP, (64, 64), (4, 4))
    for create in (
        lambda: device.create_shader_resource_view(buffer),
        lambda: device.create_sampler_feedback_unordered_access_view(buffer, feedback),
        lambda: device.create_sampler_feedback_unordered_access_view(texture, buffer),
        lambda: device.create_min_mip_shader_resource_view_x(texture, None, buffer),
        lambda: device.create_min_mip_shader_resource_view_x(buffer, None, buffer),
    ):
        with pytest.raises(D3D12Error, match="buffer"):
            create()


def test_null_views():
    device = Device()
    texture, feedback = paired(device, USED, (64, 64), (4, 4))
    residency = device.create_committed_resource2(plain_desc((8, 8)))
    views = [
        device.create_sampler_feedback_unordered_access_view(None, feedback),
        device.create_sampler_feedback_unordered_access_view(texture, None),
        device.create_sampler_feedback_unordered_access_view_x(None, None),
        device.create_min_mip_shader_resource_view_x(None, None, residency),
        device.create_min_mip_shader_resource_view_x(texture, None, None),
        device.create_shader_resource_view(None),
    ]
    assert [view.linked_type for view in views] == [1, 2, 2, 4, 4, 0]
    for view in views:
        assert view.is_null
        assert not view.words.any()


def test_without_xbox_extensions():
    device = Device(xbox=False)
    texture, feedback = paired(device, MIN_MIP, (64, 64), (4, 4))
    assert not device.create_sampler_feedback_unordered_access_view(texture, feedback).is_null
    with pytest.raises(D3D12Error, match="CreateSamplerFeedbackUnorderedAccessViewX needs"):
        device.create_sampler_feedback_unordered_access_view_x(texture, feedback)
    with pytest.raises(D3D12Error, match="CreateMinMipShaderResourceViewX needs"):
        device.create_min_mip_shader_resource_view_x(texture, None, None)
    with pytest.raises(D3D12Error, match="CreateSamplerX needs"):
        device.create_sampler_x(d3d12.D3D12XBOX_SAMPLER_DESC())


def test_things_of_another_kind_are_refused():
    device = Device()
    texture, feedback = paired(device, MIN_MIP, (64, 64), (8, 8), mips=7)
    wrong = d3d12.D3D12_SAMPLER_DESC()
    calls = [
        lambda: device.create_committed_resource2({}),
        lambda: device.create_sampler(None),
        lambda: device.create_sampler_x(srv()),
        lambda: device.create_shader_resource_view("texture"),
        lambda: device.create_shader_resource_view(texture, wrong),
        lambda: device.create_sampler_feedback_unordered_access_view("texture", feedback),
        lambda: device.create_sampler_feedback_unordered_access_view_x(texture, feedback, wrong),
        lambda: device.create_sampler_feedback_unordered_access_view_x(
            texture, feedback, target_view=wrong
        ),
        lambda: device.create_min_mip_shader_resource_view_x(None, {}, feedback),
        lambda: device.create_min_mip_shader_resource_view_x(texture, None, "map"),
    ]
    for call in calls:
        with pytest.raises(D3D12Error, match="wanted a"):
            call()


def test_resources_stay_with_their_device():
    texture, feedback = paired(Device(), MIN_MIP, (64, 64), (4, 4))
    other = Device()
    for create in (
        lambda: other.create_shader_resource_view(texture),
        lambda: other.create_sampler_feedback_unordered_access_view(texture, feedback),
        lambda: other.create_min_mip_shader_resource_view_x(texture, None, None),
    ):
        with pytest.raises(D3D12Error, match="another device"):
            create()
