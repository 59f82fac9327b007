"""Allocation info, heaps, placed resources and buffers (spec 06 "Resources", spec 05)."""

from typing import Any

import numpy as np
import pytest
from d3d12_objects import (
    LAYOUT_LINEAR,
    MIN_MIP,
    POINT,
    UAV,
    USED,
    buffer_desc,
    desc,
    map_desc,
    one_lane,
    plain_desc,
    sampler,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from minmip.sim import d3d12
from minmip.sim.d3d12 import D3D12_HEAP_DESC, D3D12_RESOURCE_DESC1, D3D12Error, Device

UNDEFINED = 0xCD
BC1 = d3d12.DXGI_FORMAT_BC1_UNORM
X_64KB_R_X = d3d12.D3D12XBOX_TEXTURE_LAYOUT_SWIZZLE_MODE_64KB_R_X
X_4KB_S = d3d12.D3D12XBOX_TEXTURE_LAYOUT_SWIZZLE_MODE_4KB_S


def allocation(description, **options):
    _, (info,) = Device(**options).get_resource_allocation_info2([description])
    return info.SizeInBytes, info.Alignment


@pytest.mark.parametrize(
    ("description", "size", "alignment"),
    [
        # seed 001 and spec 06
        (map_desc(187, (4096, 4096), (512, 256), 12), 256, 256),
        (map_desc(USED, (4096, 4096), (512, 256), 12), 3072, 256),
        (map_desc(USED, (4096, 4096), (512, 256), 12, Alignment=4096), 3072, 4096),
        # spec 05, 5.1: 48x24 with 6 mips
        (plain_desc((48, 24), 6, Layout=LAYOUT_LINEAR), 12288, 256),
        (plain_desc((48, 24), 6), 3072, 256),
        (desc((48, 24), 6, Layout=X_4KB_S), 16384, 4096),
        # 64 KB tiles: 8 MB of mip 0 in 128, the mips above the tail, one tail
        (desc((4096, 4096), 12, Format=BC1), 11206656, 65536),
        (desc((128, 128)), 65536, 65536),
        (buffer_desc(1), 65536, 65536),
        (buffer_desc(65537), 131072, 65536),
    ],
)
def test_size_and_alignment(description, size, alignment):
    assert allocation(description) == (size, alignment)


def test_several_resources_in_one_query():
    descriptions = [map_desc(MIN_MIP, (64, 64), (4, 4)), desc((128, 128)), plain_desc((17, 16))]
    total, places = Device().get_resource_allocation_info2(descriptions)
    assert [(p.Offset, p.SizeInBytes) for p in places] == [(0, 256), (65536, 65536), (131072, 512)]
    assert (total.SizeInBytes, total.Alignment) == (3 * 65536, 65536)
    assert Device().get_resource_allocation_info2([])[0].SizeInBytes == 0


@pytest.mark.parametrize(
    ("description", "text"),
    [
        (desc((4, 4), SampleDesc=(4, 0)), "no layout of multisampled"),
        (desc((64,), Layout=X_4KB_S), "4KB_S is for"),
        (plain_desc((4, 4), Layout=X_64KB_R_X), "UNKNOWN or one that the unit is built with"),
        (desc((4, 4), Layout=d3d12.D3D12_TEXTURE_LAYOUT_ROW_MAJOR), "ROW_MAJOR is for buffers"),
        (desc((0, 4)), "Width"),
        (buffer_desc(0), "Width of a buffer"),
        (buffer_desc(64, Height=2), "Height of a buffer"),
        (buffer_desc(64, Format=BC1), "Format of a buffer"),
        (buffer_desc(64, Layout=0), "Layout of a buffer"),
    ],
)
def test_refused_queries(description, text):
    device = Device()
    with pytest.raises(D3D12Error, match=text):
        device.get_resource_allocation_info2([description])


def heap(device, size=1 << 17):
    return device.create_heap(D3D12_HEAP_DESC(size))


def test_placed_maps_hold_a_pattern_until_they_are_cleared():
    device = Device()
    place = heap(device)
    texture = device.create_committed_resource2(desc((64, 64)))
    first = device.create_placed_resource1(place, 512, map_desc(MIN_MIP, (64, 64), (4, 4)))
    assert first.address == place.address + 512
    assert (first.texels(0) == UNDEFINED).all()
    view = device.create_sampler_feedback_unordered_access_view(texture, first)
    with pytest.raises(D3D12Error, match="must be cleared before its first use"):
        device.write_sampler_feedback_level_zero(view, sampler(device), one_lane(0, 0))
    device.clear_unordered_access_view_uint(view)
    assert (device.decode_sampler_feedback(first) == 0xFF).all()
    # Another resource in its place, and the contents are gone, those of its neighbour are not.
    beside = device.create_placed_resource1(place, 768, plain_desc((16, 16)))
    beside.write_to_subresource(np.ones((16, 16), np.uint8))
    second = device.create_placed_resource1(place, 512, plain_desc((16, 16)))
    assert (second.read_from_subresource() == UNDEFINED).all()
    assert not second.defined.any()
    assert beside.defined.all()
    with pytest.raises(D3D12Error, match="must be cleared before its first use"):
        device.decode_sampler_feedback(first)


def test_placed_min_mip_map_must_be_written():
    device = Device()
    placed = device.create_placed_resource1(heap(device), 0, plain_desc((4, 4)))
    view = device.create_min_mip_shader_resource_view_x(None, desc((64, 64)), placed)
    with pytest.raises(D3D12Error, match="undefined: a placed resource must be written first"):
        device.sample_min_mip(view, sampler(device, POINT), one_lane(0, 0))
    placed.write_to_subresource(np.full((4, 4), 8, np.uint8))
    assert device.sample_min_mip(view, sampler(device, POINT), one_lane(0, 0)).tolist() == [[1] * 4]


def test_resources_in_one_heap_do_not_touch():
    device = Device()
    descriptions = [plain_desc((20, 3), 2, 2), plain_desc((9, 5, 10)), buffer_desc(100)]
    total, places = device.get_resource_allocation_info2(descriptions)
    shared = heap(device, total.SizeInBytes)
    made = [
        device.create_placed_resource1(shared, place.Offset, description)
        for place, description in zip(places, descriptions, strict=True)
    ]
    for index, resource in enumerate(made):
        resource.map()[:] = index
    assert [set(resource.map().tolist()) for resource in made] == [{0}, {1}, {2}]


def test_queries_of_other_things():
    queries: list[Any] = [plain_desc((4, 4)), [None], [{}], None]
    for query in queries:
        with pytest.raises(D3D12Error, match="wanted a"):
            Device().get_resource_allocation_info2(query)


@pytest.mark.parametrize(
    ("offset", "description", "text"),
    [
        (128, plain_desc((16, 16)), "multiple of the resource's alignment 256, not 128"),
        (-256, plain_desc((16, 16)), "HeapOffset must be a whole number in 0"),
        (256, buffer_desc(4), "alignment 65536, not 256"),
        (256, plain_desc((16, 16), Alignment=512), "alignment 512, not 256"),
        (65536, desc((256, 128)), "131072 bytes at HeapOffset 65536 pass the end"),
        (131072, plain_desc((1, 1)), "pass the end"),
        (0, plain_desc((1, 1), Alignment=1 << 20), "the heap has one of 65536"),
        ("0", plain_desc((1, 1)), "HeapOffset must be a whole number"),
    ],
)
def test_refused_placements(offset, description, text):
    device = Device()
    place = heap(device)
    with pytest.raises(D3D12Error, match=text):
        device.create_placed_resource1(place, offset, description)
    assert (device.memory == UNDEFINED).all()


def test_refused_heaps():
    device = Device()
    for wrong, text in [
        (D3D12_HEAP_DESC(0), "at least 1"),
        (D3D12_HEAP_DESC(64, 4096), "64 KB or 4 MB"),
        (D3D12_HEAP_DESC(1 << 40), "out of GPU memory"),
        (64, "wanted a D3D12_HEAP_DESC"),
    ]:
        with pytest.raises(D3D12Error, match=text):
            device.create_heap(wrong)
    assert device.memory.size == 0
    with pytest.raises(D3D12Error, match="wanted a heap"):
        device.create_placed_resource1(None, 0, plain_desc((4, 4)))  # pyright: ignore[reportArgumentType]
    with pytest.raises(D3D12Error, match="another device"):
        device.create_placed_resource1(heap(Device()), 0, plain_desc((4, 4)))


def test_buffers_are_rows_of_bytes():
    device = Device()
    buffer = device.create_committed_resource2(buffer_desc(10))
    assert (buffer.size_in_bytes, buffer.slices, buffer.mips) == (10, 1, 1)
    buffer.write_to_subresource(np.arange(10, dtype=np.uint8))
    assert buffer.map().tolist() == buffer.read_from_subresource().tolist() == list(range(10))
    with pytest.raises(D3D12Error, match=r"wants uint8 \[10\]"):
        buffer.write_to_subresource(np.zeros(9, np.uint8))


FIELDS = {
    "Dimension": st.integers(1, 4),
    "Alignment": st.sampled_from([0, 0, 256, 4096, 3]),
    "Width": st.integers(0, 300) | st.sampled_from([16384, 16385, 1 << 47]),
    "Height": st.integers(0, 200) | st.just(1),
    "DepthOrArraySize": st.integers(0, 40) | st.just(1),
    "MipLevels": st.integers(0, 11) | st.just(1),
    "Format": st.sampled_from([0, 28, 60, 62, 62, 71, 98, 189, 189, 190, 190]),
    "SampleDesc": st.sampled_from([(1, 0), (1, 0), (1, 0), (4, 0), (1, 1)]),
    "Layout": st.sampled_from([0, 0, 0, 1, 0x100, 0x101, 0x109, 0x11B, 0x11C]),
    "Flags": st.sampled_from([0, int(UAV)]),
    "SamplerFeedbackMipRegion": st.tuples(*[st.sampled_from([0, 1, 2, 4, 8, 16, 256, 5])] * 3),
}
FEEDBACK = {
    "Format": st.sampled_from([int(MIN_MIP), int(USED)]),
    "SampleDesc": st.just((1, 0)),
    "Flags": st.just(int(UAV)),
    "Layout": st.just(0),
    "Dimension": st.integers(2, 4),
    "SamplerFeedbackMipRegion": st.tuples(
        st.sampled_from([1, 4, 8]), st.sampled_from([1, 4]), st.sampled_from([0, 1, 4])
    ),
}


@settings(max_examples=400, deadline=None)
@given(
    fields=st.fixed_dictionaries(FIELDS) | st.fixed_dictionaries({**FIELDS, **FEEDBACK}),
    xbox=st.booleans(),
)
def test_random_descriptions_are_taken_or_refused_whole(fields, xbox):
    """Either one sentence and nothing changed, or memory as large as the layout library says."""
    device = Device(xbox=xbox)
    place = heap(device)
    before = device.memory.copy()
    description = D3D12_RESOURCE_DESC1(**fields)
    try:
        made = device.create_committed_resource2(description)
    except D3D12Error:
        np.testing.assert_array_equal(device.memory, before)
        with pytest.raises(D3D12Error, match=r"\A[^\n]+\Z"):
            device.create_placed_resource1(place, 0, description)
        np.testing.assert_array_equal(device.memory, before)
        return
    if made.desc.SampleDesc.Count > 1:
        assert made.size_in_bytes == 0
        return
    _, (info,) = device.get_resource_allocation_info2([description])
    buffer = description.Dimension == d3d12.D3D12_RESOURCE_DIMENSION_BUFFER
    if made.size_in_bytes:
        assert made.address % (256 if buffer else info.Alignment) == 0
        unit = info.Alignment if buffer else 1
        assert -(-made.size_in_bytes // unit) * unit == info.SizeInBytes
    fits = info.SizeInBytes <= place.desc.SizeInBytes and info.Alignment <= place.desc.Alignment
    if fits:
        placed = device.create_placed_resource1(place, 0, description)
        assert placed.size_in_bytes == made.size_in_bytes
        if placed.size_in_bytes:
            assert (placed.map() == UNDEFINED).all()
