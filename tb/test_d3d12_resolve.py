"""ResolveSubresourceRegion, copies and states (spec 06 "Resolve", spec 03)."""

from typing import Any

import numpy as np
import pytest
from d3d12_objects import (
    LAYOUT_LINEAR,
    MIN_MIP,
    USED,
    buffer_desc,
    cleared_view,
    desc,
    map_desc,
    one_lane,
    plain_desc,
    sampler,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from minmip.sim import d3d12
from minmip.sim.d3d12 import D3D12_RECT, D3D12Error, Device

WHOLE = 0xFFFFFFFF
R8 = d3d12.DXGI_FORMAT_R8_UINT
RAW = d3d12.DXGI_FORMAT_R8_TYPELESS
DECODE = d3d12.D3D12_RESOLVE_MODE_DECODE_SAMPLER_FEEDBACK
ENCODE = d3d12.D3D12_RESOLVE_MODE_ENCODE_SAMPLER_FEEDBACK
COMMON = d3d12.D3D12_RESOURCE_STATE_COMMON
EMPTY = 0x77


def decode(device: Any, dst, src, dst_sub=WHOLE, src_sub=WHOLE, x=0, y=0, rect=None, form=R8):
    device.resolve_subresource_region(dst, dst_sub, x, y, src, src_sub, rect, form, DECODE)


def encode(device: Any, dst, src, dst_sub=WHOLE, src_sub=WHOLE, x=0, y=0, rect=None, form=R8):
    device.resolve_subresource_region(dst, dst_sub, x, y, src, src_sub, rect, form, ENCODE)


def other_side(device, size, mips=1, layers=1, **fields):
    """A plain texture whose texels all hold EMPTY."""
    made = device.create_committed_resource2(plain_desc(size, mips, layers, **fields))
    made.map()[:] = EMPTY
    return made


def test_minmip_decodes_into_a_texture_with_padding():
    device = Device()
    feedback, view = cleared_view(device, MIN_MIP, (64, 64), (16, 16), 7)
    device.write_sampler_feedback_level(view, sampler(device), one_lane(0.3, 0.9), 2.69)
    readback = other_side(device, (6, 5))
    decode(device, readback, feedback, dst_sub=0)
    wanted = np.full((5, 6), EMPTY)
    wanted[:4, :4] = 0xFF
    wanted[3, 1] = 2
    assert readback.read_from_subresource().tolist() == wanted.tolist()


def test_minmip_decodes_into_a_buffer_rows_tight():
    device = Device()
    feedback, view = cleared_view(device, MIN_MIP, (48, 32), (16, 16), 6)
    device.write_sampler_feedback_level(view, sampler(device), one_lane(0.5, 0.9), 3)
    buffer = device.create_committed_resource2(buffer_desc(8))
    buffer.map()[:] = EMPTY
    decode(device, buffer, feedback, dst_sub=0, src_sub=0)
    assert buffer.map().tolist() == [0xFF, 0xFF, 0xFF, 0xFF, 3, 0xFF, EMPTY, EMPTY]
    buffer.map()[:6] = [0, 31, 32, 255, 7, 1]
    encode(device, feedback, buffer)
    assert feedback.texels(0)[0].tolist() == [[0, 248, 255], [255, 56, 8]]


def test_one_slice_of_a_minmip_array():
    device = Device()
    feedback, view = cleared_view(device, MIN_MIP, (32, 32), (16, 16), 6, layers=3)
    for layer in range(3):
        device.write_sampler_feedback_level(
            view, sampler(device), one_lane(0.1, 0.1), layer, array_slice=layer
        )
    readback = other_side(device, (2, 2), layers=3)
    decode(device, readback, feedback, dst_sub=1)
    assert [readback.read_from_subresource(i)[0, 0] for i in range(3)] == [EMPTY, 1, EMPTY]
    decode(device, readback, feedback)
    assert [readback.read_from_subresource(i)[0, 0] for i in range(3)] == [0, 1, 2]
    readback.write_to_subresource(np.full((2, 2), 5, np.uint8), 2)
    encode(device, feedback, readback, src_sub=2)
    assert feedback.texels(0)[:, 0, 0].tolist() == [0, 8, 40]


def test_rectangles_are_in_decoded_texels():
    device = Device()
    feedback, view = cleared_view(device, USED, (64, 64), (8, 8), 2, layers=2)
    device.write_sampler_feedback_level(view, sampler(device), one_lane(0.3, 0.7), 0, array_slice=1)
    readback = other_side(device, (9, 10), 2, 2)
    # Texel (2, 5) of mip 0 in slice 1 goes to (5, 7).
    rect = D3D12_RECT(1, 4, 4, 7)
    decode(device, readback, feedback, 2, 2, x=4, y=6, rect=rect)
    wanted = np.full((10, 9), EMPTY)
    wanted[6:9, 4:7] = 0
    wanted[7, 5] = 0xFF
    assert readback.read_from_subresource(2).tolist() == wanted.tolist()
    assert all((readback.read_from_subresource(i) == EMPTY).all() for i in (0, 1, 3))
    # And back: the flag that moved is set where the rectangle puts it.
    encode(device, feedback, readback, 2, 2, x=0, y=0, rect=D3D12_RECT(5, 7, 6, 8))
    marks = [np.argwhere(feedback.texels(mip)).tolist() for mip in range(2)]
    assert marks == [[[1, 0, 0], [1, 5, 2]], []]


def test_rectangles_reach_into_padding_of_the_plain_side_only():
    device = Device()
    feedback, _ = cleared_view(device, USED, (64, 40), (8, 8))
    source = other_side(device, (12, 12))
    texels = np.zeros((12, 12), np.uint8)
    texels[10, 9] = 1
    source.write_to_subresource(texels)
    encode(device, feedback, source, 0, 0, x=2, y=1, rect=D3D12_RECT(8, 9, 12, 12))
    assert np.argwhere(feedback.texels(0)[0]).tolist() == [[2, 3]]
    decode(device, source, feedback, 0, 0, x=8, y=8, rect=D3D12_RECT(3, 2, 7, 5))
    texels[8:11, 8:12] = [[255, 0, 0, 0], [0] * 4, [0] * 4]
    assert source.read_from_subresource().tolist() == texels.tolist()
    wide, tall = D3D12_RECT(0, 0, 9, 1), D3D12_RECT(0, 0, 1, 6)
    for rect in (wide, tall):
        with pytest.raises(D3D12Error, match="outside the 8x5 texels of the destination"):
            encode(device, feedback, source, 0, 0, rect=rect)
        with pytest.raises(D3D12Error, match="in the 8x5 texels of the source"):
            decode(device, source, feedback, 0, 0, rect=rect)


def test_part_of_an_encode_does_not_define_the_rest():
    device = Device()
    feedback = device.create_committed_resource2(map_desc(USED, (32, 32), (8, 8)))
    source, readback = other_side(device, (4, 4)), other_side(device, (4, 4))
    encode(device, feedback, source, 0, 0, rect=D3D12_RECT(0, 0, 2, 2))
    with pytest.raises(D3D12Error, match="must be cleared before its first use"):
        decode(device, readback, feedback, 0, 0, rect=D3D12_RECT(0, 0, 2, 2))
    heap = device.create_heap(d3d12.D3D12_HEAP_DESC(65536))
    undefined = device.create_placed_resource1(heap, 0, source.desc)
    with pytest.raises(D3D12Error, match="contents are undefined"):
        encode(device, feedback, undefined)
    assert not feedback.defined.any()


def test_raw_bytes_both_ways():
    device = Device()
    feedback, view = cleared_view(device, MIN_MIP, (64, 64), (16, 16), 7)
    device.write_sampler_feedback_level(view, sampler(device), one_lane(0.3, 0.9), 2.69)
    readback = other_side(device, (4, 4), Format=RAW)
    decode(device, readback, feedback, form=RAW)
    assert readback.read_from_subresource()[3, 1] == 21
    readback.write_to_subresource(np.full((4, 4), 251, np.uint8))
    encode(device, feedback, readback, form=RAW)
    assert (feedback.texels(0) == 251).all()


@settings(max_examples=60, deadline=None)
@given(
    axes=st.integers(1, 3),
    sides=st.tuples(*[st.integers(4, 90)] * 3),
    scales=st.tuples(*[st.integers(0, 3)] * 3),
    more=st.tuples(*[st.integers(0, 40)] * 3),
    layers=st.integers(1, 3),
    used=st.booleans(),
    linear=st.booleans(),
    raw=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
def test_round_trip(axes, sides, scales, more, layers, used, linear, raw, seed):
    """Encode and decode of anything is exact in what the hardware has, for levels 0..31, 0xFF."""
    random = np.random.default_rng(seed)
    device = Device()
    size = tuple(1 + side // 6 for side in sides) if axes == 3 else sides[:axes]
    layers = 1 if axes == 3 else layers
    region = tuple(1 << min(s, (n - 1).bit_length()) for s, n in zip(scales, size, strict=False))
    decoded = [-(-n // r) for n, r in zip(size, region, strict=True)]
    larger = tuple(n + m for n, m in zip(decoded, more, strict=False))
    mips = min(max(larger).bit_length(), max(size).bit_length()) if used else 1
    description = map_desc(USED if used else MIN_MIP, size, region, mips, layers)
    feedback = device.create_committed_resource2(description)
    form = RAW if raw else R8
    layout = LAYOUT_LINEAR if linear else d3d12.D3D12_TEXTURE_LAYOUT_UNKNOWN
    source = other_side(device, larger, mips, layers, Format=form, Layout=layout)
    target = other_side(device, larger, mips, layers, Format=form)
    values = []
    for index in range(mips * layers):
        shape = source.read_from_subresource(index).shape
        choice = [0, 1, 255] if used else [*range(40), 255]
        values.append(random.choice(choice, shape).astype(np.uint8))
        source.write_to_subresource(values[-1], index)
    encode(device, feedback, source, form=form)
    decode(device, target, feedback, form=form)
    for index, given_values in enumerate(values):
        mip = index % mips
        wanted = np.full(given_values.shape, EMPTY, np.uint8)
        area = tuple(slice(max(1, n >> mip)) for n in decoded[::-1])
        wanted[area] = 0 if used else 0xFF
        stored = tuple(
            slice(max(1, n // r >> mip)) for n, r in zip(size[::-1], region[::-1], strict=True)
        )
        wanted[stored] = given_values[stored]
        if not raw:
            kept = wanted[stored]
            wanted[stored] = (kept != 0) * 255 if used else np.where(kept < 32, kept, 255)
        np.testing.assert_array_equal(target.read_from_subresource(index), wanted)


@pytest.fixture
def things():
    """Device, cleared maps of three slices and of one, plain textures that fit."""
    device = Device()
    used, _ = cleared_view(device, USED, (64, 40), (8, 8), 3, layers=3)
    array, _ = cleared_view(device, MIN_MIP, (64, 40), (8, 8), 3, layers=3)
    single, _ = cleared_view(device, MIN_MIP, (64, 40), (8, 8), 3)
    return {
        "device": device,
        "used": used,
        "array": array,
        "single": single,
        "used8": other_side(device, (8, 5), 3, 3),
        "array8": other_side(device, (8, 5), 1, 3),
        "single8": other_side(device, (8, 5)),
        "buffer": device.create_committed_resource2(buffer_desc(40)),
    }


REFUSED: list[Any] = [
    (
        "array",
        "array8",
        {"src_sub": 1, "dst_sub": 1},
        "OPAQUESubresource of a MinMip map must",
    ),
    ("array", "array8", {"src_sub": 0, "dst_sub": 0}, "PLAINSubresource names the one slice"),
    ("array", "array8", {"dst_sub": 3}, r"PLAINSubresource must be a slice in 0\.\.2, not 3"),
    ("single", "single8", {"x": 1}, "DstX, DstY 0, not None, 1, 0"),
    ("single", "single8", {"rect": D3D12_RECT(0, 0, 1, 1)}, "pSrcRect must be None"),
    ("single", "array8", {}, "DepthOrArraySize of both sides must be 1, not 3"),
    ("single", "used8", {}, "DepthOrArraySize"),
    ("used", "array8", {}, "MipLevels of the non-opaque side must be 3, not 1"),
    ("used", "buffer", {}, "buffer can hold a decoded MinMip map of one slice only"),
    ("array", "buffer", {}, "one slice only"),
    ("used", "used8", {"src_sub": 1}, "must be the same"),
    ("used", "used8", {"src_sub": 1, "dst_sub": 2}, "must be the same, mip"),
    ("used", "used8", {"src_sub": 9, "dst_sub": 9}, r"0\.\.8 or UINT_MAX, not 9"),
    ("used", "used8", {"x": 1}, "for one subresource, not for a whole resource of 9"),
    ("used", "used8", {"src_sub": 0, "dst_sub": 0, "x": 1}, "outside the 8x5 texels"),
    ("used", "used8", {"src_sub": 1, "dst_sub": 1, "y": 2}, "outside the 4x2 texels"),
    (
        "used",
        "used8",
        {"src_sub": 1, "dst_sub": 1, "rect": D3D12_RECT(3, 0, 5, 1)},
        "pSrcRect must hold texels, and lie in the 4x2",
    ),
    ("used", "used8", {"src_sub": 1, "dst_sub": 1, "rect": D3D12_RECT(1, 1, 1, 2)}, "hold texels"),
    ("used", "used8", {"src_sub": 1, "dst_sub": 1, "rect": (0, 0, 1, 1)}, "wanted a D3D12_RECT"),
    ("used", "used8", {"x": -1}, "DstX must be a whole number"),
    ("used", "used8", {"form": RAW}, "must be R8_TYPELESS|must be DXGI_FORMAT_R8_TYPELESS"),
    ("used", "used8", {"form": d3d12.DXGI_FORMAT_R8_UNORM}, "Format of a resolve"),
    ("used8", "used", {}, "must be an opaque feedback map"),
    ("used", "array", {}, "must be an opaque feedback map"),
]


@pytest.mark.parametrize(("opaque", "plain", "arguments", "text"), REFUSED)
@pytest.mark.parametrize("mode", [decode, encode])
def test_refused_resolves(things, opaque, plain, arguments: Any, text, mode):
    device = things["device"]
    sides = [things[plain], things[opaque]]
    names = ("Src", "Dst") if mode is decode else ("Dst", "Src")
    text = text.replace("OPAQUE", names[0]).replace("PLAIN", names[1])
    if mode is encode:
        sides.reverse()
        swap = {"src_sub": "dst_sub", "dst_sub": "src_sub"}
        arguments = {swap.get(name, name): value for name, value in arguments.items()}
    before = device.memory.copy()
    with pytest.raises(D3D12Error, match=text):
        mode(device, *sides, **arguments)
    np.testing.assert_array_equal(device.memory, before)


def test_small_or_wrong_other_sides():
    device = Device()
    feedback, _ = cleared_view(device, MIN_MIP, (65, 40), (8, 8))
    for plain, text in [
        (plain_desc((8, 5)), "9x5x1, not 8x5x1"),
        (plain_desc((9, 4)), "9x5x1, not 9x4x1"),
        (buffer_desc(44), "at least 45 bytes, not 44"),
        (plain_desc((9, 5, 1)), "must be D3D12_RESOURCE_DIMENSION_TEXTURE2D"),
        (plain_desc((9, 5), SampleDesc=(4, 0)), "multisampled"),
        (desc((9, 5)), "must be DXGI_FORMAT_R8_UINT"),
    ]:
        with pytest.raises(D3D12Error, match=text):
            decode(device, device.create_committed_resource2(plain), feedback)
    with pytest.raises(D3D12Error, match="ResolveMode must be D3D12_RESOLVE_MODE_DECODE_"):
        device.resolve_subresource_region(
            feedback, 0, 0, 0, feedback, 0, None, R8, d3d12.D3D12_RESOLVE_MODE_AVERAGE
        )
    pc = Device(xbox=False)
    feedback = pc.create_committed_resource2(map_desc(MIN_MIP, (64, 64), (8, 8)))
    raw = pc.create_committed_resource2(plain_desc((8, 8), Format=RAW))
    with pytest.raises(D3D12Error, match="Xbox extension"):
        decode(pc, raw, feedback, form=RAW)


def test_encode_is_a_first_write_too():
    device = Device()
    feedback = device.create_committed_resource2(map_desc(USED, (32, 32), (8, 8), 2))
    source = other_side(device, (4, 4), 2)
    readback = other_side(device, (4, 4), 2)
    with pytest.raises(D3D12Error, match="must be cleared before its first use"):
        decode(device, readback, feedback)
    encode(device, feedback, source, 1, 1)
    decode(device, readback, feedback, 1, 1)
    assert (readback.read_from_subresource(1) == 0xFF).all()
    with pytest.raises(D3D12Error, match="cleared"):
        decode(device, readback, feedback, 0, 0)
    encode(device, feedback, source, 0, 0)
    decode(device, readback, feedback)


def test_copies_of_maps():
    device = Device()
    feedback, view = cleared_view(device, USED, (64, 64), (8, 8), 3, layers=2)
    device.write_sampler_feedback_level(view, sampler(device), one_lane(0.3, 0.7), 1, array_slice=1)
    twin = device.create_committed_resource2(feedback.desc)
    device.copy_resource(twin, feedback)
    assert [np.argwhere(twin.texels(mip)).tolist() for mip in range(3)] == [[], [[1, 2, 1]], []]
    decoded = device.decode_sampler_feedback(twin)
    assert decoded[1][1, 2, 1] == 0xFF
    linear = device.create_committed_resource2(plain_desc((20, 20), Layout=LAYOUT_LINEAR))
    swizzled = device.create_committed_resource2(plain_desc((20, 20)))
    texels = np.arange(400).reshape(20, 20).astype(np.uint8)
    linear.write_to_subresource(texels)
    device.copy_resource(swizzled, linear)
    np.testing.assert_array_equal(swizzled.read_from_subresource(), texels)
    buffers = [device.create_committed_resource2(buffer_desc(5)) for _ in range(2)]
    buffers[0].map()[:] = range(5)
    device.copy_resource(buffers[1], buffers[0])
    assert buffers[1].map().tolist() == list(range(5))


@pytest.mark.parametrize(
    ("dst", "src", "text"),
    [
        (map_desc(USED, (64, 64), (8, 8)), map_desc(USED, (64, 64), (8, 4)), "MipRegion of both"),
        (map_desc(USED, (64, 64), (8, 8)), map_desc(MIN_MIP, (64, 64), (8, 8)), "Format of both"),
        (plain_desc((64, 64)), map_desc(USED, (64, 64), (8, 8)), "ResolveSubresourceRegion"),
        (plain_desc((64, 64)), plain_desc((64, 32)), "Height of both"),
        (plain_desc((64, 64), 2), plain_desc((64, 64)), "MipLevels of both"),
        (buffer_desc(4), buffer_desc(5), "Width of both"),
        (desc((4, 4)), desc((4, 4)), "no memory"),
    ],
)
def test_refused_copies(dst, src, text):
    device = Device()
    made = [device.create_committed_resource2(d) for d in (dst, src)]
    before = device.memory.copy()
    with pytest.raises(D3D12Error, match=text):
        device.copy_resource(*made)
    with pytest.raises(D3D12Error, match="not one twice"):
        device.copy_resource(made[0], made[0])
    np.testing.assert_array_equal(device.memory, before)


def test_resources_of_other_devices_and_no_resources():
    device = Device()
    feedback, _ = cleared_view(device, USED, (64, 64), (8, 8))
    foreign = other_side(Device(), (8, 8))
    for call in (
        lambda other: decode(device, other, feedback),
        lambda other: device.copy_resource(other, feedback),
        lambda other: device.resource_barrier(other, COMMON, COMMON),
    ):
        with pytest.raises(D3D12Error, match="another device"):
            call(foreign)
        with pytest.raises(D3D12Error, match="wanted a resource"):
            call(None)
