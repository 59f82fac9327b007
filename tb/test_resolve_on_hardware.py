# amaranth: UnusedElaboratable=no
"""Resolves on the verilated unit: the driver layer's, and random parts of maps.

MINMIP_FIRST_SEED (default 1) is printed on a failure.
"""

import numpy as np
import pytest
from d3d12_objects import LAYOUT_LINEAR, MIN_MIP, USED, buffer_desc, map_desc, plain_desc
from kit.vlib import SEED, TRAFFIC
from resolve_bench import random_part
from unit_bench import unit_bench

from minmip.hw.config import FULL, SMALL
from minmip.sim import d3d12
from minmip.sim.d3d12 import D3D12_RECT, D3D12Error, Device
from minmip.sim.golden.resolve import resolve
from minmip.sim.runners.verilate import RunnerError

DECODE = d3d12.D3D12_RESOLVE_MODE_DECODE_SAMPLER_FEEDBACK
ENCODE = d3d12.D3D12_RESOLVE_MODE_ENCODE_SAMPLER_FEEDBACK
R8_UINT, R8_TYPELESS = d3d12.DXGI_FORMAT_R8_UINT, d3d12.DXGI_FORMAT_R8_TYPELESS
UINT_MAX = 0xFFFFFFFF
MAPS = {
    "used": (USED, (137, 90), 4, 3),
    "used volume": (USED, (40, 24, 20), 3, 1),
    "used 1D": (USED, (300,), 4, 2),
    "min mip": (MIN_MIP, (200, 76), 5, 3),
    "min mip volume": (MIN_MIP, (40, 24, 20), 3, 1),
}
"""Kind, size of the paired texture, mips, slices; regions of 4 texels a side."""


@pytest.fixture(scope="module")
def unit():
    return unit_bench(FULL).unit


def frame(device, kind, size, mips, layers):
    """Encode random texels and decode them, whole and in parts; returns all memory."""
    region = (4,) * len(size)
    feedback = device.create_committed_resource2(map_desc(kind, size, region, mips, layers))
    decoded = tuple(-(-side // 4) + 3 for side in size)
    count = 1 if kind == MIN_MIP else mips
    swizzled, linear, raw = (
        device.create_committed_resource2(plain_desc(decoded, count, layers, **fields))
        for fields in ({}, {"Layout": LAYOUT_LINEAR}, {"Format": R8_TYPELESS})
    )
    rng = np.random.default_rng(SEED)
    for place in range(count * (layers if len(size) < 3 else 1)):
        shape = swizzled.read_from_subresource(place).shape
        some = rng.choice(np.array([0, 1, 31, 32, 255, 7], np.uint8), shape)
        swizzled.write_to_subresource(some, place)
        linear.write_to_subresource(rng.integers(0, 256, shape).astype(np.uint8), place)

    def transcode(dst, src, mode, dst_sub=UINT_MAX, src_sub=UINT_MAX, rect=None, at=(0, 0)):
        form = R8_TYPELESS if raw in (dst, src) else R8_UINT
        device.resolve_subresource_region(dst, dst_sub, *at, src, src_sub, rect, form, mode)

    transcode(feedback, swizzled, ENCODE)
    transcode(raw, feedback, DECODE)
    transcode(linear, feedback, DECODE)
    if kind == USED and len(size) < 3:
        rect = D3D12_RECT(3, 1, 20, 4) if len(size) == 2 else D3D12_RECT(3, 0, 20, 1)
        transcode(feedback, swizzled, ENCODE, mips, mips, rect, (1, rect.top))
        transcode(linear, feedback, DECODE, mips, mips, rect, (2, rect.top))
    elif kind == MIN_MIP:
        transcode(feedback, linear, ENCODE, src_sub=layers - 1)
        if layers == 1:
            buffer = device.create_committed_resource2(buffer_desc(65536))
            transcode(buffer, feedback, DECODE)
    transcode(feedback, raw, ENCODE)
    return device.memory.copy()


@pytest.mark.parametrize("name", MAPS)
def test_driver_layer(unit, name):
    """Every byte of memory is that of the golden model."""
    print("seed", SEED)
    wanted = frame(Device(), *MAPS[name])
    found = frame(Device(backend=unit), *MAPS[name])
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("mode", ["full", "both"])
def test_random_parts(unit, mode, monkeypatch):
    """Maps that lie in the memory, in part or not at all."""
    print("seed", SEED)
    rng = np.random.default_rng(SEED)
    size, base = 1 << 16, 0x123456700
    monkeypatch.setattr(unit, "traffic", TRAFFIC[mode])
    parts = [
        random_part(rng, FULL, base=base + 256 * int(rng.integers(-40, 256)), side=200)
        for _ in range(100)
    ]
    memory = rng.integers(0, 256, size).astype(np.uint8)
    wanted_memory = memory.copy()
    wanted = resolve(wanted_memory, base, parts)
    found = unit.resolve(memory, base, parts)
    np.testing.assert_array_equal(memory, wanted_memory)
    errors = [error for _, error in wanted]
    assert [error for _, error in found] == errors
    assert 10 < sum(errors) < 90
    for (texels, _), (texels_wanted, _) in zip(found, wanted, strict=True):
        if texels_wanted is None:
            assert texels is None
        else:
            np.testing.assert_array_equal(texels, texels_wanted)


def test_too_much_memory(unit):
    with pytest.raises(RunnerError, match=r"there are 1073741825 bytes of map memory, .* 10737418"):
        unit.resolve(np.empty((1 << 30) + 1, np.uint8), 0, [])


def test_texels_outside_the_memory_are_refused():
    """Of a resolver that says so: maps of the driver layer never reach outside."""

    def backend(trace):
        raise AssertionError("no draws here")

    backend.resolve = lambda memory, base, parts: [(None, True) for _ in parts]
    device = Device(backend=backend)
    feedback = device.create_committed_resource2(map_desc(USED, (32, 32), (4, 4)))
    plain = device.create_committed_resource2(plain_desc((8, 8)))
    with pytest.raises(D3D12Error, match="texels of the map outside the memory"):
        device.resolve_subresource_region(
            feedback, UINT_MAX, 0, 0, plain, UINT_MAX, None, R8_UINT, ENCODE
        )


def test_small_build_has_no_engine():
    assert unit_bench(SMALL).unit.resolve is None
