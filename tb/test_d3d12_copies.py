"""Copies of regions: between textures, and from and to placed footprints in buffers."""

from typing import Any

import numpy as np
import pytest
from d3d12_objects import USED, buffer_desc, cleared_view, desc, map_desc, plain_desc

from minmip.sim import d3d12
from minmip.sim.d3d12 import (
    D3D12_BOX,
    D3D12_HEAP_DESC,
    D3D12_PLACED_SUBRESOURCE_FOOTPRINT,
    D3D12_SUBRESOURCE_FOOTPRINT,
    D3D12_TEXTURE_COPY_LOCATION,
    D3D12Error,
    Device,
)

BYTES = 4096
PLACED = d3d12.D3D12_TEXTURE_COPY_TYPE_PLACED_FOOTPRINT
R8 = d3d12.DXGI_FORMAT_R8_UINT
RGBA = d3d12.DXGI_FORMAT_R8G8B8A8_UNORM


def at(resource, index=0):
    """A subresource as a side of a copy."""
    return D3D12_TEXTURE_COPY_LOCATION(resource, SubresourceIndex=index)


def in_buffer(resource, placed):
    """A placed footprint as a side of a copy."""
    return D3D12_TEXTURE_COPY_LOCATION(resource, PLACED, placed)


def footprint(offset=0, width=8, height=4, depth=1, pitch=256, form=R8):
    return D3D12_PLACED_SUBRESOURCE_FOOTPRINT(
        offset, D3D12_SUBRESOURCE_FOOTPRINT(form, width, height, depth, pitch)
    )


@pytest.fixture
def device():
    return Device()


def made(device, description):
    return device.create_committed_resource2(description)


def filled(device, description, seed=1):
    """Texture with random texels in all subresources, and those texels."""
    resource = made(device, description)
    random = np.random.default_rng(seed)
    held = []
    for index in range(len(resource.defined)):
        shape = resource.read_from_subresource(index).shape
        held.append(random.integers(0, 256, shape, np.uint8))
        resource.write_to_subresource(held[-1], index)
    return resource, held


def test_regions_of_textures(device):
    src, texels = filled(device, plain_desc((9, 6), 2, 2))
    dst = made(device, plain_desc((9, 6), 2, 2))
    device.copy_texture_region(at(dst, 2), 1, 2, 0, at(src, 2), (3, 1, 0, 6, 4, 1))
    wanted = np.zeros((6, 9), np.uint8)
    wanted[2:5, 1:4] = texels[2][1:4, 3:6]
    assert dst.read_from_subresource(2).tolist() == wanted.tolist()
    assert [int(dst.read_from_subresource(i).max()) for i in (0, 1, 3)] == [0, 0, 0]
    device.copy_texture_region(at(dst, 3), 0, 0, 0, at(src, 1))
    assert dst.read_from_subresource(3).tolist() == texels[1].tolist()


def test_a_slice_of_a_volume_goes_into_a_2d_texture_and_a_row_into_a_1d_one(device):
    volume, (texels,) = filled(device, plain_desc((7, 5, 4)))
    plane, row = made(device, plain_desc((7, 5))), made(device, plain_desc((7,)))
    device.copy_texture_region(at(plane), 0, 0, 0, at(volume), D3D12_BOX(0, 0, 2, 7, 5, 3))
    assert plane.read_from_subresource().tolist() == texels[2].tolist()
    device.copy_texture_region(at(row), 2, 0, 0, at(plane), (1, 3, 0, 6, 4, 1))
    assert row.read_from_subresource().tolist() == [0, 0, *texels[2, 3, 1:6]]
    device.copy_texture_region(at(volume), 0, 1, 3, at(row), (0, 0, 0, 7, 1, 1))
    assert volume.read_from_subresource()[3, 1].tolist() == [0, 0, *texels[2, 3, 1:6]]


@pytest.mark.parametrize("description", [plain_desc((9, 6), 3, 2), plain_desc((10, 5, 3), 2)])
def test_through_a_buffer_and_back(device, description):
    src, texels = filled(device, description)
    wanted = device.get_copyable_footprints(src.desc)
    assert len(wanted.Layouts) == len(texels)
    buffer = made(device, buffer_desc(wanted.TotalBytes))
    back = made(device, description)
    for index, placed in enumerate(wanted.Layouts):
        device.copy_texture_region(in_buffer(buffer, placed), 0, 0, 0, at(src, index))
    for index, placed in enumerate(wanted.Layouts):
        # By hand: rows and slices of the buffer, RowPitch apart.
        held = texels[index].reshape(-1, placed.Footprint.Height, placed.Footprint.Width)
        data = buffer.map()[placed.Offset :]
        for z, y, x in np.ndindex(held.shape):
            row = y + placed.Footprint.Height * z
            assert data[placed.Footprint.RowPitch * row + x] == held[z, y, x]
        device.copy_texture_region(at(back, index), 0, 0, 0, in_buffer(buffer, placed))
        assert back.read_from_subresource(index).tolist() == texels[index].tolist()


def test_part_of_a_footprint(device):
    buffer = made(device, buffer_desc(BYTES))
    buffer.map()[:] = 7
    texture, (texels,) = filled(device, plain_desc((16, 16)))
    device.copy_texture_region(
        in_buffer(buffer, footprint(512)), 2, 1, 0, at(texture), (4, 5, 0, 7, 7, 1)
    )
    wanted = np.full(BYTES, 7, np.uint8)
    for y in range(2):
        wanted[512 + 256 * (1 + y) + 2 :][:3] = texels[5 + y, 4:7]
    assert buffer.map().tolist() == wanted.tolist()
    device.copy_texture_region(
        at(texture), 9, 8, 0, in_buffer(buffer, footprint(512)), D3D12_BOX(2, 1, 0, 5, 2, 1)
    )
    texels[8, 9:12] = texels[5, 4:7]
    assert texture.read_from_subresource().tolist() == texels.tolist()


def test_copies_see_the_draws_before_them(device):
    feedback = made(device, plain_desc((4, 4)))
    texture = made(device, desc((64, 64)))
    view = device.create_sampler_feedback_unordered_access_view_x(
        texture, feedback, d3d12.D3D12_UNORDERED_ACCESS_VIEW_DESC(Format=USED)
    )
    device.clear_unordered_access_view_uint(view)
    point = device.create_sampler(
        d3d12.D3D12_SAMPLER_DESC(Filter=d3d12.D3D12_FILTER_MIN_MAG_MIP_POINT)
    )
    device.write_sampler_feedback_level_zero(view, point, np.full((1, 4, 2), 0.6))
    buffer = made(device, buffer_desc(BYTES))
    device.copy_texture_region(in_buffer(buffer, footprint(0, 4, 4)), 0, 0, 0, at(feedback))
    assert np.flatnonzero(buffer.map()).tolist() == [2 * 256 + 2]


def test_undefined_texels_stay_undefined(device):
    heap = device.create_heap(D3D12_HEAP_DESC(65536))
    placed = device.create_placed_resource1(heap, 0, plain_desc((4, 4)))
    copy, buffer = made(device, placed.desc), made(device, buffer_desc(BYTES))
    device.copy_texture_region(at(copy), 0, 0, 0, at(placed))
    assert not copy.defined.any()
    device.copy_texture_region(at(placed), 0, 0, 0, in_buffer(buffer, footprint(0, 4, 4)))
    device.copy_texture_region(at(copy), 0, 0, 0, at(placed))
    assert placed.defined.all()
    assert copy.defined.all()


def test_refused_regions(device):
    texture, _ = filled(device, plain_desc((9, 6), 2))
    dst, colour = made(device, texture.desc), made(device, desc((9, 6)))
    buffer = made(device, buffer_desc(1500))
    used = made(device, map_desc(USED, (64, 64), (8, 8)))
    fits = in_buffer(buffer, footprint())
    refused: list[Any] = [
        (at(dst), (7, 0, 0), at(texture), (0, 0, 0, 3, 1, 1), "DstX 7 puts the box outside"),
        (at(dst), (0, 0, 1), at(texture), (0, 0, 0, 3, 1, 1), "DstZ 1"),
        (at(dst), (0, 0, 0), at(texture), (0, 0, 0, 10, 1, 1), r"in 0\.\.9 along X, not 0\.\.10"),
        (at(dst), (0, 0, 0), at(texture), (0, 2, 0, 1, 2, 1), r"along Y, not 2\.\.2"),
        (at(dst), (0, 0, 0), at(texture), (0, 2, 0, 1, 2), "a box is left, top"),
        (at(dst), (0, 0, 0), at(texture), [0, 0, 0, 1, 1, 1], "wanted a D3D12_BOX, not list"),
        (at(dst), (0, 0, 0), at(texture), (0, 0, 0, 1, 1, -1), "BOX.back: wanted int, not -1"),
        (at(dst), (0.5, 0, 0), at(texture), None, "DstX must be a whole number"),
        (at(dst), (-1, 0, 0), at(texture), None, "DstX must be a whole number"),
        (at(dst, 2), (0, 0, 0), at(texture), None, r"destination must be .* in 0\.\.1, not 2"),
        (at(dst), (0, 0, 0), at(dst), None, "two subresources, not one twice"),
        (at(dst), (0, 0, 0), at(used), None, "cannot take a feedback map: CopyResource"),
        (at(used), (0, 0, 0), at(dst), None, "cannot take a feedback map: CopyResource"),
        (at(dst), (0, 0, 0), at(colour), None, "has no memory in this model"),
        (at(buffer), (0, 0, 0), at(dst), None, "a buffer as the destination .* placed footprint"),
        (at(dst), (0, 0, 0), in_buffer(texture, footprint()), None, "must be in a buffer"),
        (fits, (0, 0, 0), fits, None, "must be a texture, not both a footprint"),
        (fits, (0, 0, 0), at(texture), None, r"box outside .* 8 texels"),
    ]
    for placed, text in [
        (footprint(256), "Offset of a footprint must be a multiple of 512, not 256"),
        (footprint(pitch=100), "RowPitch of a footprint must be a multiple of 256, not 100"),
        (footprint(width=300), "at least its row, 300 bytes, not 256"),
        (footprint(pitch=0), "at least its row"),
        (footprint(512, height=5), "ends at byte 1544, past the buffer's 1500"),
        (footprint(0, height=2**40, depth=2**40), "past the buffer's"),
        (footprint(height=0), "must have texels, not 8x0x1"),
        (footprint(form=RGBA), "of one typeless family"),
    ]:
        refused += [
            (at(dst), (0, 0, 0), in_buffer(buffer, placed), None, text),
            (in_buffer(buffer, placed), (0, 0, 0), at(texture), (0, 0, 0, 1, 1, 1), text),
        ]
    before = device.memory.copy()
    for to, (x, y, z), source, box, text in refused:
        with pytest.raises(D3D12Error, match=text):
            device.copy_texture_region(to, x, y, z, source, box)
    for wrong in (texture, None, (texture, 0)):
        with pytest.raises(D3D12Error, match="wanted a D3D12_TEXTURE_COPY_LOCATION"):
            device.copy_texture_region(wrong, 0, 0, 0, at(texture))
    with pytest.raises(D3D12Error, match="pResource: wanted Resource, not None"):
        D3D12_TEXTURE_COPY_LOCATION(None)  # pyright: ignore[reportArgumentType]
    with pytest.raises(D3D12Error, match="another device"):
        device.copy_texture_region(at(made(Device(), dst.desc)), 0, 0, 0, at(texture))
    np.testing.assert_array_equal(device.memory, before)


def test_buffer_regions(device):
    one, two = (made(device, buffer_desc(size)) for size in (100, 60))
    one.map()[:] = range(100)
    device.copy_buffer_region(two, 10, one, 95, 5)
    assert two.map()[8:17].tolist() == [0, 0, 95, 96, 97, 98, 99, 0, 0]
    device.copy_buffer_region(one, 0, one, 50, 50)
    assert one.map().tolist() == [*range(50, 100), *range(50, 100)]
    for arguments, text in [
        ((two, 10, one, 0, 51), r"DstOffset must be a whole number in 0\.\.9, not 10"),
        ((two, 0, one, 96, 5), r"SrcOffset must be .* in 0\.\.95, not 96"),
        ((two, 0, one, 0, 0), r"NumBytes must be .* in 1\.\.60, not 0"),
        ((two, 0, one, 0, 61), "NumBytes"),
        ((two, 0, one, 0, 2.0), "NumBytes"),
        ((one, 10, one, 0, 11), "must not overlap: 11 bytes from 0 to 10"),
        ((made(device, plain_desc((4, 4))), 0, one, 0, 1), "CopyBufferRegion is between buffers"),
    ]:
        with pytest.raises(D3D12Error, match=text):
            device.copy_buffer_region(*arguments)
    checked = Device(debug=True)
    source = checked.create_committed_resource2(
        buffer_desc(4), d3d12.D3D12_RESOURCE_STATE_COPY_DEST
    )
    with pytest.raises(D3D12Error, match="a copy's source needs"):
        checked.copy_buffer_region(made(checked, buffer_desc(4)), 0, source, 0, 4)


# ---- GetCopyableFootprints ----


@pytest.mark.parametrize(
    ("description", "index", "wanted"),
    [
        # width, height, depth, pitch, rows, row bytes, by hand
        (desc((100, 60), 3), 0, (100, 60, 1, 512, 60, 400)),
        (desc((100, 60), 3), 2, (25, 15, 1, 256, 15, 100)),
        (desc((100, 60), 7, Format=d3d12.DXGI_FORMAT_BC1_UNORM), 2, (28, 16, 1, 256, 4, 56)),
        (desc((100, 60), 7, Format=d3d12.DXGI_FORMAT_BC7_UNORM), 6, (4, 4, 1, 256, 1, 16)),
        (desc((9, 5, 6), 2), 1, (4, 2, 3, 256, 2, 16)),
        (plain_desc((300, 2), 1, 2), 1, (300, 2, 1, 512, 2, 300)),
        (plain_desc((300,), 1), 0, (300, 1, 1, 512, 1, 300)),
    ],
)
def test_footprints(device, description, index, wanted):
    found = device.get_copyable_footprints(description, index, 1, 1024)
    (placed,), (rows,), (row_size,) = found.Layouts, found.NumRows, found.RowSizeInBytes
    shape = placed.Footprint
    assert placed.Offset == 1024
    assert shape.Format == description.Format
    assert (shape.Width, shape.Height, shape.Depth, shape.RowPitch, rows, row_size) == wanted
    assert found.TotalBytes == shape.RowPitch * (rows * shape.Depth - 1) + row_size


def test_subresources_follow_each_other_at_multiples_of_512(device):
    found = device.get_copyable_footprints(plain_desc((40, 6), 2, 2))
    # 6 rows end at 5 * 256 + 40 = 1320, 3 rows at 2 * 256 + 20.
    assert [placed.Offset for placed in found.Layouts] == [0, 1536, 2560, 4096]
    assert found.TotalBytes == 4096 + 2 * 256 + 20
    rest = device.get_copyable_footprints(plain_desc((40, 6), 2, 2), 3)
    assert rest.TotalBytes == 2 * 256 + 20


@pytest.mark.parametrize(
    ("description", "numbers", "text"),
    [
        (buffer_desc(4), (), "CopyBufferRegion copies its bytes"),
        (map_desc(USED, (64, 64), (8, 8)), (), "ResolveSubresourceRegion decodes it"),
        (desc((4, 4), SampleDesc=(4, 0)), (), "a multisampled texture"),
        (desc((4, 4), Format=d3d12.DXGI_FORMAT_NV12), (), "formats of one plane"),
        (desc((4, 4)), (1,), r"FirstSubresource must be a whole number in 0\.\.0, not 1"),
        (desc((4, 4), 2), (1, 2), r"NumSubresources must be a whole number in 1\.\.1, not 2"),
        (desc((4, 4)), (0, 0), "NumSubresources"),
        (desc((4, 4)), (0, 1, 100), "BaseOffset must be a multiple of 512"),
        (desc((4, 4)), (0, 1, -512), "BaseOffset must be a whole number"),
        (desc((4, 4)), (None,), "FirstSubresource"),
        (desc((0, 4)), (), "Width must be in"),
        (None, (), "wanted a D3D12_RESOURCE_DESC1"),
    ],
)
def test_refused_footprints(device, description, numbers, text):
    with pytest.raises(D3D12Error, match=text):
        device.get_copyable_footprints(description, *numbers)


# ---- release ----


def test_a_released_resource_is_refused_everywhere(device):
    feedback, view = cleared_view(device, USED, (64, 64), (16, 16))
    other = made(device, plain_desc((4, 4)))
    feedback.release()
    point = device.create_sampler(
        d3d12.D3D12_SAMPLER_DESC(Filter=d3d12.D3D12_FILTER_MIN_MAG_MIP_POINT)
    )
    other.release()
    state = d3d12.D3D12_RESOURCE_STATE_COMMON
    for call in (
        lambda: device.clear_unordered_access_view_uint(view),
        lambda: device.write_sampler_feedback_level_zero(view, point, np.zeros((1, 4, 2))),
        lambda: device.decode_sampler_feedback(feedback),
        lambda: device.resource_barrier(feedback, state, state),
        lambda: device.copy_resource(feedback, other),
        lambda: device.create_sampler_feedback_unordered_access_view(view.target, feedback),
        lambda: device.create_shader_resource_view(other),
        lambda: device.copy_texture_region(at(other), 0, 0, 0, at(other)),
        lambda: other.read_from_subresource(),
        lambda: other.write_to_subresource(np.zeros((4, 4), np.uint8)),
        lambda: other.map(),
        other.release,
    ):
        with pytest.raises(D3D12Error, match="resource was released"):
            call()


def test_draws_come_before_a_release(device):
    _, view = cleared_view(device, USED, (64, 64), (16, 16))
    point = device.create_sampler(
        d3d12.D3D12_SAMPLER_DESC(Filter=d3d12.D3D12_FILTER_MIN_MAG_MIP_POINT)
    )
    device.write_sampler_feedback_level_zero(view, point, np.zeros((1, 4, 2)))
    view.resource.release()
    assert len(device.build_trace()) == 0
    assert device.memory.any()
