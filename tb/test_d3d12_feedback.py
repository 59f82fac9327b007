"""Acceptance vectors of spec 03 through the driver; clear, decode, residency (spec 03, 06)."""

import numpy as np
import pytest
from d3d12_objects import (
    CLAMP,
    LAYOUT_LINEAR,
    MIN_MIP,
    POINT,
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
from hypothesis import given, settings
from hypothesis import strategies as st

from minmip.sim import d3d12
from minmip.sim.d3d12 import (
    D3D12_SHADER_RESOURCE_VIEW_DESC,
    D3D12_UNORDERED_ACCESS_VIEW_DESC,
    D3D12XBOX_SAMPLER_DESC,
    D3D12Error,
    Device,
)


def centre(x, y, size):
    return one_lane((x + 0.5) / size[0], (y + 0.5) / size[1])


def marked(decoded, empty):
    """Coordinates (last axis first) and values of the texels that were written."""
    places = np.argwhere(decoded != empty)
    return {tuple(int(c) for c in place[::-1]): int(decoded[tuple(place)]) for place in places}


@pytest.mark.parametrize(
    ("x", "y", "lod", "operand", "texel", "value"),
    [
        (0, 0, 0, 0.5, (0, 0, 0), 0),
        (3968, 1984, 0, 0.5, (31, 31, 0), 0),
        (128, 64, 0, 1, (1, 1, 1), 0),
        (2563, 1089, 1, 1, (20, 17, 1), 1),
        (2823, 1602, 3, 1, (22, 25, 1), 3),
        (256, 192, 5, 0.5, (2, 3, 0), 4),
    ],
)
def test_explicit_level_minmip(x, y, lod, operand, texel, value):
    device = Device()
    size = (4096, 2048)
    feedback, view = cleared_view(
        device,
        MIN_MIP,
        size,
        (128, 64),
        6,
        layers=2,
        target_view=D3D12_SHADER_RESOURCE_VIEW_DESC(MipLevels=5),
    )
    device.write_sampler_feedback_level(
        view, sampler(device), centre(x, y, size), lod, array_slice=operand
    )
    decoded = device.decode_sampler_feedback(feedback)
    assert decoded.shape == (2, 32, 32)
    assert marked(decoded, 0xFF) == {texel: value}


@pytest.mark.parametrize(
    ("x", "y", "lod", "mip", "texel"),
    [
        (0, 0, 0, 0, (0, 0)),
        (4224, 2112, 0, 0, (1, 1)),
        (2693, 1220, 2, 2, (5, 4)),
        (256, 192, 6, 5, (0, 0)),
    ],
)
def test_explicit_level_used(x, y, lod, mip, texel):
    device = Device()
    size = (4096, 2048)
    feedback, view = cleared_view(device, USED, size, (128, 64), 6)
    device.write_sampler_feedback_level(
        view, sampler(device, address=WRAP), centre(x, y, size), lod
    )
    decoded = device.decode_sampler_feedback(feedback)
    assert [level.shape for level in decoded] == [(32 >> i, 32 >> i) for i in range(6)]
    wanted = [{texel: 0xFF} if i == mip else {} for i in range(6)]
    assert [marked(level, 0) for level in decoded] == wanted


@pytest.mark.parametrize(
    ("gradient", "region", "bias", "value"),
    [(2, (0, 0), None, 1), (0, (4, 0), 14, 0), (1, (4, 4), 3, 2)],
)
def test_implicit_gradients(gradient, region, bias, value):
    device = Device()
    feedback, view = cleared_view(device, MIN_MIP, (2048, 2048), (32, 32), 3)
    lanes = np.array([(0, 0), (1, 0), (0, 1), (1, 1)]) * gradient
    uv = (32 * np.array(region) + 16 + lanes[None]) / 2048
    if bias is None:
        device.write_sampler_feedback(view, sampler(device, address=WRAP), uv)
    else:
        device.write_sampler_feedback_bias(view, sampler(device, address=WRAP), uv, bias)
    assert marked(device.decode_sampler_feedback(feedback), 0xFF) == {region: value}


@pytest.mark.parametrize(("u", "lod", "texel"), [(0.749, 0, 11), (28 / 65, 2, 6)])
def test_not_a_power_of_two_minmip(u, lod, texel):
    device = Device()
    feedback, view = cleared_view(device, MIN_MIP, (65, 65), (4, 4), 7)
    device.write_sampler_feedback_level(view, sampler(device), one_lane(u, u), lod)
    decoded = device.decode_sampler_feedback(feedback)
    assert decoded.shape == (17, 17)
    assert marked(decoded, 0xFF) == {(texel, texel): lod}


@pytest.mark.parametrize(
    ("width", "texels"),
    [
        (15, [(2, 3), (0, 1), (0, 0)]),
        (19, [(3, 4), (1, 1), (0, 0)]),
        (25, [(5, 5), (2, 2), (0, 0)]),
        (31, [(6, 7), (2, 3), (0, 1)]),
    ],
)
def test_not_a_power_of_two_used(width, texels):
    device = Device()
    size = (width, width + 1)
    feedback, view = cleared_view(device, USED, size, (4, 4), 3)
    for lod in range(3):
        device.write_sampler_feedback_level(
            view, sampler(device), centre(width - 1, width, size), lod
        )
    decoded = device.decode_sampler_feedback(feedback)
    assert [marked(level, 0) for level in decoded] == [{texel: 0xFF} for texel in texels]
    # Sizes round up, and whole last columns and rows have no texel behind them.
    assert decoded[0].shape == (-(-(width + 1) // 4), -(-width // 4))


def test_padding_holds_the_cleared_value():
    """9 / 4 rounds down to 2 texels in memory and up to 3 decoded ones."""
    device = Device()
    place = sampler(device), one_lane(0.999, 0.999)
    feedback, view = cleared_view(device, MIN_MIP, (9, 16), (4, 4))
    device.write_sampler_feedback_level_zero(view, *place)
    decoded = device.decode_sampler_feedback(feedback)
    assert decoded.shape == (4, 3)
    assert marked(decoded, 0xFF) == {(1, 3): 0}
    feedback, view = cleared_view(device, USED, (9, 16), (4, 4), 2)
    device.write_sampler_feedback_level_zero(view, *place)
    decoded = device.decode_sampler_feedback(feedback)
    assert [marked(level, 0) for level in decoded] == [{(1, 3): 0xFF}, {}]
    assert decoded[0].shape == (4, 3)


def test_decoded_examples_of_the_d3d12_spec():
    device = Device()
    feedback, view = cleared_view(device, MIN_MIP, (16, 16), (4, 4), 5)
    np.testing.assert_array_equal(
        device.decode_sampler_feedback(feedback), np.full((4, 4), 0xFF, np.uint8)
    )
    device.write_sampler_feedback_level(view, sampler(device), centre(0, 0, (16, 16)), 2)
    assert marked(device.decode_sampler_feedback(feedback), 0xFF) == {(0, 0): 2}

    feedback, view = cleared_view(device, MIN_MIP, (1024, 1024), (16, 16), 11)
    for mip in range(11):
        device.clear_unordered_access_view_uint(view)
        device.write_sampler_feedback_level(
            view, sampler(device), centre(16 * mip, 200, (1024, 1024)), mip
        )
        assert marked(device.decode_sampler_feedback(feedback), 0xFF) == {(mip, 12): mip}


def test_raw_decode_keeps_fractions_and_flags():
    device = Device()
    feedback, view = cleared_view(device, MIN_MIP, (64, 64), (16, 16), 7)
    device.write_sampler_feedback_level(view, sampler(device), one_lane(0.1, 0.1), 2.69)
    raw = device.decode_sampler_feedback(feedback, raw=True)
    assert marked(raw, 0xFF) == {(0, 0): int(2.69 * 8)}
    assert marked(device.decode_sampler_feedback(feedback), 0xFF) == {(0, 0): 2}
    feedback, view = cleared_view(device, USED, (64, 64), (16, 16), 2)
    device.write_sampler_feedback_level(view, sampler(device), one_lane(0.1, 0.1), 1)
    assert [marked(m, 0) for m in device.decode_sampler_feedback(feedback, raw=True)] == [
        {},
        {(0, 0): 1},
    ]


def test_every_byte_decodes_by_the_table():
    """A MinMip map that holds each byte once: the opaque map lies behind the plain one's memory."""
    device = Device()
    feedback, _ = cleared_view(device, MIN_MIP, (256, 256), (16, 16), 1)
    feedback.map()[:] = np.arange(256)
    decoded = device.decode_sampler_feedback(feedback).ravel()
    assert decoded[:255].tolist() == [byte // 8 for byte in range(255)]
    assert decoded[255] == 0xFF
    feedback, _ = cleared_view(device, USED, (256, 256), (16, 16), 1)
    feedback.map()[:] = np.arange(256)
    assert device.decode_sampler_feedback(feedback)[0].ravel().tolist() == [0] + [0xFF] * 255


def test_clear_is_ordered_with_draws_and_ignores_values():
    device = Device()
    feedback, view = cleared_view(device, USED, (64, 64), (16, 16), layers=2)
    point = sampler(device)
    device.write_sampler_feedback_level_zero(view, point, one_lane(0.1, 0.1), array_slice=1)
    device.clear_unordered_access_view_uint(view, (7, 7, 7, 7), [(0, 0, 1, 1)])
    device.write_sampler_feedback_level_zero(view, point, one_lane(0.9, 0.9), array_slice=1)
    assert marked(device.decode_sampler_feedback(feedback)[0], 0) == {(3, 3, 1): 0xFF}


def test_first_clear_cannot_be_forgotten():
    device = Device()
    texture, feedback = paired(device, MIN_MIP, (64, 64), (16, 16))
    view = device.create_sampler_feedback_unordered_access_view(texture, feedback)
    with pytest.raises(D3D12Error, match="must be cleared before its first use"):
        device.write_sampler_feedback_level_zero(view, sampler(device), one_lane(0, 0))
    with pytest.raises(D3D12Error, match="must be cleared before its first use"):
        device.decode_sampler_feedback(feedback)


def test_null_view_takes_draws_without_effect():
    device = Device()
    _, feedback = paired(device, USED, (64, 64), (16, 16))
    for target, written in ((None, feedback), (None, None)):
        view = device.create_sampler_feedback_unordered_access_view(target, written)
        device.write_sampler_feedback(view, sampler(device), one_lane(0.5, 0.5))
        device.clear_unordered_access_view_uint(view)
    assert len(device.build_trace()) == 0
    assert device.execute() is None
    residency = device.create_min_mip_shader_resource_view_x(None, None, None)
    answer = device.sample_min_mip(residency, sampler(device), one_lane(0.5, 0.5))
    assert answer.tolist() == [[0, 0, 0, 0]]


@settings(max_examples=40, deadline=None)
@given(
    axes=st.integers(1, 3),
    sides=st.tuples(*[st.integers(1, 200)] * 3),
    scales=st.tuples(*[st.integers(0, 4)] * 3),
    array=st.booleans(),
    used=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
def test_opaque_and_plain_maps_record_the_same(axes, sides, scales, array, used, seed):
    """An opaque map, a plain 256B_S one and a LINEAR one hold the same texels after a draw."""
    device = Device()
    kind = USED if used else MIN_MIP
    size = sides[:axes] if axes < 3 else tuple(1 + side // 8 for side in sides)
    layers = 3 if array and axes < 3 else 1
    chain = max(size).bit_length()
    region = tuple(
        min(1 << scale, 1 << (side - 1).bit_length())
        for scale, side in zip(scales, size, strict=False)
    )
    stored = tuple(max(1, side // r) for side, r in zip(size, region, strict=True))
    texture, opaque = paired(device, kind, size, region, chain, layers)
    natural = max(stored).bit_length()
    mips = chain if used else 1
    maps = [opaque]
    if mips <= natural:  # plain textures have no mips beyond 1x1
        maps += [
            device.create_committed_resource2(plain_desc(stored, mips, layers, Layout=layout))
            for layout in (LAYOUT_LINEAR, d3d12.D3D12_TEXTURE_LAYOUT_UNKNOWN)
        ]
    random = np.random.default_rng(seed)
    uv = random.uniform(-0.5, 1.5, (40, 4, axes))
    level = random.uniform(-1, chain + 1, (40, 4))
    linear = sampler(device, d3d12.D3D12_FILTER_MIN_MAG_MIP_LINEAR, WRAP)
    slices = random.uniform(0, layers, (40, 4)) if layers > 1 else None
    lanes = {} if slices is None else {"array_slice": slices}
    for one in maps:
        view = device.create_sampler_feedback_unordered_access_view_x(
            texture, one, D3D12_UNORDERED_ACCESS_VIEW_DESC(Format=kind)
        )
        device.clear_unordered_access_view_uint(view)
        device.write_sampler_feedback_level(view, linear, uv, level, **lanes)
    device.execute()
    for mip in range(mips):
        first, *others = [one.texels(mip) for one in maps]
        written = first != (0 if used else 0xFF)
        assert written.any() or mip > 0
        for other in others:
            np.testing.assert_array_equal(first, other)
    decoded = device.decode_sampler_feedback(opaque, raw=True)
    base = decoded[0] if used else decoded
    inside = (..., *(slice(n) for n in stored[::-1]))
    np.testing.assert_array_equal(base[inside].reshape(opaque.texels(0).shape), opaque.texels(0))


RESIDENT = {0: [(2, 1)], 1: [(0, 0), (1, 0), (1, 1)], 2: [(0, 0), (1, 0), (0, 1)]}
ROWS = "11112222 11012222 22112222 22112222 22223333 22223333 22223333 22223333"


def residency_map(device, **fields):
    """The map of the spec's example: 1024x1024, 128x128 tiles, mip 3 wholly resident."""
    texture = device.create_committed_resource2(desc((1024, 1024), 4))
    held = device.create_committed_resource2(plain_desc((8, 8), **fields))
    levels = np.full((8, 8), 3, np.uint8)
    for mip in (2, 1, 0):
        for x, y in RESIDENT[mip]:
            tile = slice(y << mip, y + 1 << mip), slice(x << mip, x + 1 << mip)
            levels[tile] = mip
    assert " ".join("".join(map(str, row)) for row in levels) == ROWS
    held.write_to_subresource(levels << 3)
    return held, device.create_min_mip_shader_resource_view_x(texture, None, held)


def test_residency_map_example():
    device = Device()
    for layout in (LAYOUT_LINEAR, d3d12.D3D12XBOX_TEXTURE_LAYOUT_SWIZZLE_MODE_256B_S):
        _, view = residency_map(device, Layout=layout)
        y, x = np.mgrid[:8, :8]
        uv = (np.stack([x, y], -1).reshape(16, 4, 2) + 0.3) / 8
        clamp = device.sample_min_mip(view, sampler(device), uv)
        assert clamp.dtype == np.float32
        rows = "".join(str(int(c)) for c in clamp.ravel())
        assert rows == ROWS.replace(" ", "")


def test_min_mip_filter_of_the_device():
    """Spec 04: map row [0, 5], slope 5, offset 1/64."""
    device = Device()
    texture = device.create_committed_resource2(desc((64, 32), 7))
    held = device.create_committed_resource2(plain_desc((2, 1)))
    held.write_to_subresource(np.array([[0, 5 << 3]], np.uint8))
    view = device.create_min_mip_shader_resource_view_x(texture, None, held)
    linear = device.create_sampler_x(
        D3D12XBOX_SAMPLER_DESC(
            Filter=d3d12.D3D12_FILTER_MIN_MAG_LINEAR_MIP_POINT,
            AddressU=CLAMP,
            AddressV=CLAMP,
            Flags=d3d12.D3D12XBOX_SAMPLER_FLAG_ENABLE_MINMIP_FILTER,
            MinMipOffsetU=d3d12.D3D12XBOX_MINMIP_FILTER_OFFSET_1_64,
        )
    )
    distance = np.array([1 / 64, 26 / 256, 0.21875, 0.5])
    uv = np.stack([(1 - distance) / 2, np.full(4, 0.5)], -1)[None]
    assert device.sample_min_mip(view, linear, uv).tolist() == [[5, 2.8515625, 0, 0]]
    uv[..., 0] = [0.5, 0.6, 0.8, 0.99]
    assert device.sample_min_mip(view, linear, uv).tolist() == [[5, 5, 5, 5]]
    assert device.sample_min_mip(view, linear, uv, exec_mask=3, helper_mask=1).tolist() == [
        [0, 5, 0, 0]
    ]
    with pytest.raises(D3D12Error, match="ENABLE_MINMIP_FILTER"):
        device.sample_min_mip(view, sampler(device, d3d12.D3D12_FILTER_MIN_MAG_MIP_LINEAR), uv)


def test_filter_sees_earlier_writes_of_the_same_list():
    """One plain map that feedback writes and the filter reads."""
    device = Device()
    texture = device.create_committed_resource2(desc((64, 64), 7))
    shared = device.create_committed_resource2(plain_desc((4, 4)))
    written = device.create_sampler_feedback_unordered_access_view_x(
        texture, shared, D3D12_UNORDERED_ACCESS_VIEW_DESC(Format=MIN_MIP)
    )
    read = device.create_min_mip_shader_resource_view_x(texture, None, shared)
    device.clear_unordered_access_view_uint(written)
    point = sampler(device, POINT)
    device.write_sampler_feedback_level(written, point, one_lane(0.1, 0.6), 3.5)
    answer = device.sample_min_mip(read, point, np.concatenate([one_lane(0.1, 0.6)] * 2))
    assert answer.tolist() == [[3.5] * 4] * 2
    assert shared.read_from_subresource()[2].tolist() == [28, 255, 255, 255]


def test_feedback_drives_the_clamp():
    """A clamp from the residency map keeps a draw off the finer mips."""
    device = Device()
    _, residency = residency_map(device)
    feedback, view = cleared_view(device, USED, (1024, 1024), (128, 128), 4)
    uv = one_lane(0.3, 0.2)
    clamp = device.sample_min_mip(residency, sampler(device), uv)
    device.write_sampler_feedback_grad(
        view, sampler(device), uv, one_lane(0, 0), one_lane(0, 0), clamp=clamp
    )
    marks = [marked(level, 0) for level in device.decode_sampler_feedback(feedback)]
    assert marks == [{(2, 1): 0xFF}, {}, {}, {}]
    uv = one_lane(0.6, 0.2)
    clamp = device.sample_min_mip(residency, sampler(device), uv)
    device.clear_unordered_access_view_uint(view)
    device.write_sampler_feedback_grad(
        view, sampler(device), uv, one_lane(0, 0), one_lane(0, 0), clamp=clamp
    )
    marks = [marked(level, 0) for level in device.decode_sampler_feedback(feedback)]
    assert marks == [{}, {}, {(1, 0): 0xFF}, {}]


def test_map_description_of_one_mip_kind():
    """MinMip has one mip in memory, whatever the API said."""
    device = Device()
    made = device.create_committed_resource2(map_desc(MIN_MIP, (64, 64), (4, 4), 7))
    assert (made.mips, made.desc.MipLevels) == (1, 7)
