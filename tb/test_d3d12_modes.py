"""R8_UINT maps in every swizzle mode that a build has (spec 05, spec 06 "Resources")."""

from typing import Any

import numpy as np
import pytest
from d3d12_objects import DIMENSIONS, MIN_MIP, USED, WRAP, desc, paired, plain_desc, sampler

from minmip.hw.config import PLAIN_MODES, VOLUME_MODES, XOR_MODES, UnitConfig
from minmip.sim import d3d12
from minmip.sim.d3d12 import (
    D3D12_HEAP_DESC,
    D3D12_UNORDERED_ACCESS_VIEW_DESC,
    D3D12XBOX_SAMPLER_DESC,
    D3D12Error,
    Device,
)
from minmip.sim.layout import ANACONDA, xor_patterns

MODES = PLAIN_MODES | XOR_MODES
ALL = UnitConfig(swizzle_modes=MODES, xor_patterns=xor_patterns(ANACONDA))
LEGAL = {1: {0, 1}, 2: MODES, 3: VOLUME_MODES}
FIRST_LAYOUT = 0x100


def layouts(axes):
    return [d3d12.D3D12_TEXTURE_LAYOUT(FIRST_LAYOUT + mode) for mode in sorted(LEGAL[axes])]


@pytest.mark.parametrize("used", [False, True], ids=["min mip", "used"])
@pytest.mark.parametrize(
    ("size", "layers"), [((300,), 2), ((300, 90), 3), ((70, 40, 35), 1)], ids=["1D", "2D", "3D"]
)
def test_maps_of_all_modes_record_the_same(size, layers, used):
    """Region 1: the chain has mips outside the tail and in it."""
    device = Device(config=ALL)
    kind, chain, axes = (USED if used else MIN_MIP), max(size).bit_length(), len(size)
    texture, opaque = paired(device, kind, size, (1,) * axes, chain, layers)
    mips = chain if used else 1
    maps = [opaque]
    for layout in layouts(axes):
        # Odd places: the next map begins at its own alignment.
        device.create_committed_resource2(plain_desc((1,)))
        maps.append(
            device.create_committed_resource2(plain_desc(size, mips, layers, Layout=layout))
        )
        (place,) = device.get_resource_allocation_info2([maps[-1].desc])[1]
        assert maps[-1].address % place.Alignment == 0
        assert maps[-1].size_in_bytes == place.SizeInBytes
    random = np.random.default_rng(axes)
    uv = random.uniform(-0.5, 1.5, (60, 4, axes))
    level = random.uniform(-1, chain + 1, (60, 4))
    lanes: dict[str, Any] = (
        {"array_slice": random.uniform(0, layers, (60, 4))} if layers > 1 else {}
    )
    linear = sampler(device, d3d12.D3D12_FILTER_MIN_MAG_MIP_LINEAR, WRAP)
    for one in maps:
        view = device.create_sampler_feedback_unordered_access_view_x(
            texture, one, D3D12_UNORDERED_ACCESS_VIEW_DESC(Format=kind)
        )
        device.clear_unordered_access_view_uint(view)
        device.write_sampler_feedback_level(view, linear, uv, level, **lanes)
    device.execute()
    for mip in range(mips):
        first, *others = [one.texels(mip) for one in maps]
        assert (first != (0 if used else 0xFF)).any()
        for other, layout in zip(others, layouts(axes), strict=True):
            np.testing.assert_array_equal(first, other, f"{layout.name}, mip {mip}")


@pytest.mark.parametrize("size", [(300, 90), (70, 40, 35)], ids=["2D", "3D"])
def test_filter_reads_maps_of_all_modes(size):
    device = Device(config=ALL)
    axes = len(size)
    texture = device.create_committed_resource2(desc(size, max(size).bit_length()))
    bilinear = device.create_sampler_x(
        D3D12XBOX_SAMPLER_DESC(
            Filter=d3d12.D3D12_FILTER_MIN_MAG_LINEAR_MIP_POINT,
            Flags=d3d12.D3D12XBOX_SAMPLER_FLAG_ENABLE_MINMIP_FILTER,
        )
    )
    random = np.random.default_rng(axes)
    levels = random.integers(0, 70, size[::-1], np.uint8)
    uv = random.uniform(0, 1, (60, 4, axes))
    answers = []
    for layout in layouts(axes):
        held = device.create_committed_resource2(plain_desc(size, Layout=layout))
        held.write_to_subresource(levels)
        view = device.create_min_mip_shader_resource_view_x(texture, None, held)
        answers.append(device.sample_min_mip(view, bilinear, uv))
    assert len(np.unique(answers[0])) > 20
    for answer in answers[1:]:
        np.testing.assert_array_equal(answer, answers[0])


def test_size_and_place_of_a_tiled_map():
    """A 64 KB map of one mip takes a whole block, at a multiple of it."""
    device = Device(config=ALL)
    place = plain_desc((8, 16), Layout=d3d12.D3D12XBOX_TEXTURE_LAYOUT_SWIZZLE_MODE_64KB_S_X)
    total, _ = device.get_resource_allocation_info2([place])
    assert (total.SizeInBytes, total.Alignment) == (65536, 65536)
    heap = device.create_heap(D3D12_HEAP_DESC(SizeInBytes=1 << 18))
    made = device.create_placed_resource1(heap, 65536, place)
    texels = np.arange(128, dtype=np.uint8).reshape(16, 8)
    made.write_to_subresource(texels)
    np.testing.assert_array_equal(made.read_from_subresource(), texels)
    with pytest.raises(D3D12Error, match="multiple of the resource's alignment"):
        device.create_placed_resource1(heap, 4096, place)


@pytest.mark.parametrize(
    ("axes", "mode", "config"),
    [
        *((axes, mode, ALL) for axes in DIMENSIONS for mode in sorted(MODES - LEGAL[axes])),
        (2, 17, UnitConfig()),
        (2, 0, UnitConfig(swizzle_modes=frozenset({1}))),
        (2, 27, ALL),
    ],
)
def test_refused_modes(axes, mode, config):
    layout = d3d12.D3D12_TEXTURE_LAYOUT(FIRST_LAYOUT + mode)
    with pytest.raises(D3D12Error, match=r"is built with|is for .* textures"):
        Device(config=config).create_committed_resource2(plain_desc((4,) * axes, Layout=layout))
