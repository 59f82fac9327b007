"""Views of every dimension: cubes, planes, samples, and what a feedback view may not choose."""

import pytest
from d3d12_objects import MIN_MIP, USED, desc, map_desc, paired, plain_desc, t_field

from minmip.sim import d3d12
from minmip.sim.d3d12 import (
    D3D12_SHADER_RESOURCE_VIEW_DESC,
    D3D12_SRV_DIMENSION,
    D3D12_UNORDERED_ACCESS_VIEW_DESC,
    D3D12Error,
    Device,
)

CUBE = d3d12.D3D12_SRV_DIMENSION_TEXTURECUBE
CUBES = d3d12.D3D12_SRV_DIMENSION_TEXTURECUBEARRAY
ARRAY = d3d12.D3D12_SRV_DIMENSION_TEXTURE2DARRAY
TYPE_CUBE = 11


def srv(**fields):
    return D3D12_SHADER_RESOURCE_VIEW_DESC(**fields)


def uav(**fields):
    return D3D12_UNORDERED_ACCESS_VIEW_DESC(**fields)


@pytest.fixture
def device():
    return Device()


def made(device, description):
    return device.create_committed_resource2(description)


# ---- cubes ----


@pytest.mark.parametrize(
    ("view", "slices", "first", "last"),
    [
        (srv(ViewDimension=CUBE), 6, 0, 5),
        (srv(ViewDimension=CUBE), 15, 0, 5),
        (srv(ViewDimension=CUBES), 15, 0, 11),
        (srv(ViewDimension=CUBES, First2DArrayFace=2), 15, 2, 13),
        (srv(ViewDimension=CUBES, First2DArrayFace=2, NumCubes=1), 15, 2, 7),
        (srv(ViewDimension=CUBES, First2DArrayFace=9), 15, 9, 14),
    ],
)
def test_cubes_of_a_plain_texture(device, view, slices, first, last):
    made_view = device.create_shader_resource_view(made(device, desc((32, 32), 3, slices)), view)
    fields = [t_field(made_view, name) for name in ("TYPE", "BASE_ARRAY", "DEPTH")]
    assert fields == [TYPE_CUBE, first, last]
    assert (made_view.axes, made_view.is_array) == (3, view.ViewDimension == CUBES)


@pytest.mark.parametrize(
    ("description", "view", "text"),
    [
        (desc((32, 16), 1, 6), srv(ViewDimension=CUBE), "must be square, not 32x16"),
        (desc((32, 32), 1, 5), srv(ViewDimension=CUBE), "needs 6 slices, the texture has 5"),
        (desc((32, 32)), srv(ViewDimension=CUBE), "needs 6 slices, the texture has 1"),
        (
            desc((32, 32), 1, 15),
            srv(ViewDimension=CUBES, First2DArrayFace=10),
            "a cube from face 10 needs 6 slices, the texture has 15",
        ),
        (
            desc((32, 32), 1, 12),
            srv(ViewDimension=CUBES, NumCubes=3),
            r"NumCubes must be in 1\.\.2",
        ),
        (
            desc((32, 32), 1, 12),
            srv(ViewDimension=CUBES, NumCubes=0),
            r"NumCubes must be in 1\.\.2",
        ),
        (desc((32, 32), 1, 12), srv(ViewDimension=CUBE, NumCubes=1), "are for TEXTURECUBEARRAY"),
        (desc((32, 32), 1, 12), srv(First2DArrayFace=6), "are for TEXTURECUBEARRAY"),
        (desc((32, 32), 1, 12), srv(ViewDimension=CUBES, FirstArraySlice=6), "are not for cubes"),
        (desc((32, 32), 1, 12), srv(ViewDimension=CUBE, ArraySize=6), "are not for cubes"),
        (desc((32, 32, 6)), srv(ViewDimension=CUBE), "TEXTURE3D cannot be viewed as"),
    ],
)
def test_refused_cubes(device, description, view, text):
    with pytest.raises(D3D12Error, match=text):
        device.create_shader_resource_view(made(device, description), view)


@pytest.mark.parametrize("dimension", [CUBE, CUBES])
@pytest.mark.parametrize("kind", [MIN_MIP, USED])
def test_a_cube_is_illegal_on_a_linked_resource(device, dimension, kind):
    texture, feedback = paired(device, kind, (32, 32), (8, 8), layers=6)
    held = made(device, plain_desc((4, 4), 1, 6))
    rule = r"TEXTURECUBE.* is illegal on a linked resource \(spec 01, rule 11\).* TEXTURE2DARRAY"
    view = srv(ViewDimension=dimension)
    with pytest.raises(D3D12Error, match=rule):
        device.create_sampler_feedback_unordered_access_view_x(texture, feedback, target_view=view)
    with pytest.raises(D3D12Error, match=rule):
        device.create_min_mip_shader_resource_view_x(texture, None, held, view)
    # The message is right: as an array of six slices the faces are taken.
    faces = device.create_sampler_feedback_unordered_access_view_x(
        texture, feedback, target_view=srv(ViewDimension=ARRAY)
    )
    assert (t_field(faces, "TYPE"), t_field(faces, "DEPTH")) == (13, 5)


# ---- dimensions that no view of this model has ----


@pytest.mark.parametrize("dimension", D3D12_SRV_DIMENSION)
@pytest.mark.parametrize("axes", [1, 2, 3])
def test_every_dimension_is_taken_or_refused(device, dimension, axes):
    layers = 1 if axes == 3 else 6
    texture = made(device, desc((32,) * axes, 1, layers))
    taken = {1: (0, 2, 3), 2: (0, 4, 5, 9, 10), 3: (0, 8)}[axes]
    if dimension in taken:
        device.create_shader_resource_view(texture, srv(ViewDimension=dimension))
        return
    with pytest.raises(D3D12Error, match=f"cannot be viewed as {dimension.name}"):
        device.create_shader_resource_view(texture, srv(ViewDimension=dimension))


def test_multisampled_textures(device):
    texture = made(device, desc((32, 32), SampleDesc=(4, 0)))
    for dimension in (0, d3d12.D3D12_SRV_DIMENSION_TEXTURE2DMS):
        with pytest.raises(D3D12Error, match="multisampled textures cannot be sampled or paired"):
            device.create_shader_resource_view(texture, srv(ViewDimension=dimension))


# ---- planes ----


def test_planes(device):
    video = made(device, desc((32, 32), Format=d3d12.DXGI_FORMAT_NV12))
    luma = device.create_shader_resource_view(video, srv(Format=d3d12.DXGI_FORMAT_R8_UNORM))
    assert (t_field(luma, "FORMAT"), t_field(luma, "WIDTH")) == (1, 31)
    refused = [
        (video, {"Format": "R8G8_UNORM"}, "plane 0 of a DXGI_FORMAT_NV12 texture cannot be"),
        (video, {"Format": "R8_UNORM", "PlaneSlice": 1}, "plane 1 of a DXGI_FORMAT_NV12"),
        (video, {"Format": "R8G8_UNORM", "PlaneSlice": 1}, "no T# format code for .*R8G8_UNORM"),
        (video, {"PlaneSlice": 2}, r"PlaneSlice of DXGI_FORMAT_NV12 must be in 0\.\.1, not 2"),
        (video, {}, "no T# format code for DXGI_FORMAT_NV12"),
        (made(device, desc((4, 4))), {"PlaneSlice": 1}, r"UNORM must be in 0\.\.0, not 1"),
    ]
    for texture, fields, text in refused:
        fields = dict(fields)
        if "Format" in fields:
            fields["Format"] = d3d12.DXGI_FORMAT[f"DXGI_FORMAT_{fields['Format']}"]
        with pytest.raises(D3D12Error, match=text):
            device.create_shader_resource_view(texture, srv(**fields))
    with pytest.raises(D3D12Error, match="X24_TYPELESS_G8_UINT is a format of views"):
        made(device, desc((4, 4), Format=d3d12.DXGI_FORMAT_X24_TYPELESS_G8_UINT))


def test_feedback_follows_plane_0(device):
    depth = made(device, desc((32, 32), Format=d3d12.DXGI_FORMAT_R24G8_TYPELESS))
    feedback = made(device, map_desc(USED, (32, 32), (8, 8)))
    depth_view = srv(Format=d3d12.DXGI_FORMAT_R24_UNORM_X8_TYPELESS)
    view = device.create_sampler_feedback_unordered_access_view_x(
        depth, feedback, target_view=depth_view
    )
    assert t_field(view, "WIDTH") == 31
    stencil = srv(Format=d3d12.DXGI_FORMAT_X24_TYPELESS_G8_UINT, PlaneSlice=1)
    with pytest.raises(D3D12Error, match=r"PlaneSlice of a linked resource must be 0, .* not 1"):
        device.create_sampler_feedback_unordered_access_view_x(depth, feedback, target_view=stencil)
    held = made(device, plain_desc((4, 4)))
    with pytest.raises(D3D12Error, match="PlaneSlice of a linked resource must be 0"):
        device.create_min_mip_shader_resource_view_x(depth, None, held, srv(PlaneSlice=1))


# ---- the whole map ----


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"MipSlice": 1}, "MipSlice must be 0, not 1"),
        ({"PlaneSlice": 1}, "PlaneSlice must be 0, not 1"),
        ({"FirstWSlice": 2}, "FirstWSlice must be 0, not 2"),
        ({"WSize": 5}, "WSize must be 32, not 5"),
    ],
)
def test_a_feedback_view_is_of_all_mips_and_the_whole_depth(device, fields, text):
    texture, feedback = paired(device, USED, (32, 32, 32), (8, 8, 8), 2)
    device.create_sampler_feedback_unordered_access_view_x(texture, feedback, uav(WSize=32))
    with pytest.raises(D3D12Error, match=f"a feedback view is of .*{text}"):
        device.create_sampler_feedback_unordered_access_view_x(texture, feedback, uav(**fields))


def test_denied_shader_resources(device):
    denied = d3d12.D3D12_RESOURCE_FLAG_DENY_SHADER_RESOURCE
    held = made(device, plain_desc((4, 4), Flags=denied))
    with pytest.raises(D3D12Error, match="cannot read a resource with DENY_SHADER_RESOURCE"):
        device.create_shader_resource_view(held)
    with pytest.raises(D3D12Error, match="cannot read a resource with DENY_SHADER_RESOURCE"):
        device.create_min_mip_shader_resource_view_x(None, desc((64, 64)), held)


def test_a_feedback_map_is_no_target_of_the_filter(device):
    feedback = made(device, map_desc(MIN_MIP, (32, 32), (8, 8)))
    held = made(device, plain_desc((4, 4)))
    for target, description in ((feedback, None), (None, feedback.desc)):
        with pytest.raises(D3D12Error, match="must be a texture, not a feedback map"):
            device.create_min_mip_shader_resource_view_x(target, description, held)
