# amaranth: UnusedElaboratable=no
"""Volumes and the MinMip filter by hand: both readings, and the unit, against numbers worked out
from the spec.

A volume of 16x16x16 in 256B_S, 5 mips (spec 05, 8.1): offsets 1280 768 512 256 0 in a slab of 3328
bytes, a slab for each 8 depths; inside a block of 8x4x8 the address bits are x0 x1 z0 y0 z1 y1 x2
z2. In LINEAR a row takes 256 bytes, mips are stored smallest first, a chain for each depth.
"""

import numpy as np
import pytest
from random_traces import random_trace
from reference import run as run_reference
from traces import (
    BORDER,
    CLAMP,
    LINEAR,
    MAX,
    MIN,
    MIRROR,
    POINT,
    READ,
    USED,
    WRAP,
    image,
    sampler,
    trace,
)
from unit_bench import unit_bench

from minmip.hw.config import FULL
from minmip.sim import golden
from minmip.sim.golden.descriptor import decode_image

Z_LINEAR = {"Z_FILTER": 2}


@pytest.fixture(params=["reference", "golden", "verilated"])
def run(request):
    """What runs a trace: a reading of the specification, or the gateware."""
    if request.param == "verilated":
        return unit_bench(FULL).unit
    return {"reference": run_reference, "golden": golden.run}[request.param]


def changed(run, t, s, quad, size=8192, fill=0):
    """Bytes that one quad of one lane changes: {address: value}."""
    request = trace(t, s, [quad], size, fill)
    answer = run(request)
    assert list(answer.error) == [0]
    memory = np.frombuffer(bytes(answer.memory), np.uint8)
    return {int(at): int(memory[at]) for at in np.flatnonzero(memory != fill)}


def centre(x, y, z, n=16):
    return [(x + 0.5) / n, (y + 0.5) / n, (z + 0.5) / n]


def cube(side=16, **t):
    return image((side, side, side), type=10, **t)


# Types 1, 2 and 3


@pytest.mark.parametrize(
    ("level", "bytes_"),
    [
        # (5, 2, 9): slab 1; block 0; x0, z0, y1, x2 set: 1 + 4 + 32 + 64.
        (0, {3328 + 1280 + 101: 1}),
        # mip 1, 8x8x8: (2, 1, 4): x1, y0, z2: 2 + 8 + 128.
        (1, {768 + 138: 1}),
        # both, the second mip 8 levels of depth down in the one slab that it has
        (0.5, {3328 + 1280 + 101: 1, 768 + 138: 1}),
        # mip 4 is one texel.
        (4, {0: 1}),
    ],
)
def test_used_mip_chain_swizzled(run, level, bytes_):
    t = cube(kind=USED, mips=5, view=(0, 4))
    quad = {"opcode": 3, "uvw": centre(5, 2, 9), "lod": level}
    assert changed(run, t, sampler(mip=2), quad) == bytes_


def test_used_mip_chain_linear(run):
    """4x4x4, 3 mips: a chain of 256 + 512 + 1024 bytes for each depth; mip 1 lies at 256."""
    t = cube(4, kind=USED, mips=3, view=(0, 2), SW_MODE=0)
    quad = {"opcode": 3, "uvw": centre(3, 2, 2, 4), "lod": 0.5}
    chain = 1792
    assert changed(run, t, sampler(mip=2), quad) == {
        2 * chain + 768 + 2 * 256 + 3: 1,
        1 * chain + 256 + 1 * 256 + 1: 1,
    }


@pytest.mark.parametrize(
    ("address", "w", "depths"),
    [
        # (w * 4 - 1/2) * 256 = -128, 0, 384, 896: depths -1 and 0, 0, 1 and 2, 3 and 4.
        *((CLAMP, 0.0, [0]), (WRAP, 0.0, [0, 3]), (BORDER, 0.0, [0]), (MIRROR, 0.0, [0])),
        *((CLAMP, 0.125, [0]), (WRAP, 0.125, [0]), (BORDER, 0.125, [0])),
        *((CLAMP, 0.5, [1, 2]), (BORDER, 0.5, [1, 2])),
        *((CLAMP, 1.0, [3]), (BORDER, 1.0, [3]), (WRAP, 1.0, [0, 3])),
        *((CLAMP, 1.25, [3]), (BORDER, 1.25, []), (MIRROR, 1.25, [2, 3])),
    ],
)
def test_depths_by_address_mode(run, address, w, depths):
    """Z_FILTER linear, XY point: the depths touched, LINEAR 4x4x4 (1024 bytes a depth)."""
    t = cube(4, kind=MIN, view=(0, 2), SW_MODE=0)
    s = sampler(CLAMP, CLAMP_Z=address, **Z_LINEAR)
    quad = {"opcode": 3, "uvw": [0.375, 0.625, w], "lod": 1.5}
    wanted = {1024 * z + 2 * 256 + 1: 12 for z in depths}
    assert changed(run, t, s, quad, fill=0xFF) == wanted


@pytest.mark.parametrize(("z_filter", "depths"), [(0, [2]), (1, [2]), (2, [1, 2]), (3, [1, 2])])
@pytest.mark.parametrize("xy", [POINT, LINEAR])
def test_w_has_its_own_filter(run, xy, z_filter, depths):
    """At (1, 1, 2) exactly: texels 0 and 1 (1 alone) in x and y, depths 1 and 2 (2 alone)."""
    t = cube(4, kind=MAX, view=(0, 2), SW_MODE=0)
    s = sampler(CLAMP, xy, xy, Z_FILTER=z_filter)
    quad = {"opcode": 3, "uvw": [0.25, 0.25, 0.5], "lod": 2}
    sides = [0, 1] if xy == LINEAR else [1]
    wanted = {1024 * z + 256 * y + x: 16 for z in depths for y in sides for x in sides}
    assert changed(run, t, s, quad) == wanted


def test_two_slabs_of_a_swizzled_volume(run):
    """MinMip, depths 7 and 8: 256B_S has a slab of 16x16x8 bytes for each 8 depths."""
    t = cube(kind=MIN)
    # Texel (9, 6): block (1, 1), number 1 * 2 + 1; x0, y1: 1 + 32. Depth 7: z0, z1, z2.
    inside = 3 * 256 + 1 + 32
    quad = {"uvw": [9.5 / 16, 6.5 / 16, 8 / 16], "opcode": 4}
    wanted = {inside + 4 + 16 + 128: 0, 2048 + inside: 0}
    assert changed(run, t, sampler(**Z_LINEAR), quad, fill=0xFF) == wanted


def test_lod_of_a_volume_counts_w(run):
    """A gradient of 4 texels along w alone: LOD 2, MinMip value 2 << 3."""
    t = cube(kind=MIN, view=(0, 4), SW_MODE=0)
    quad = {"opcode": 2, "uvw": centre(0, 0, 0), "ddx": [0, 0, 4 / 16], "ddy": [1 / 16, 0, 0]}
    assert changed(run, t, sampler(), quad, size=16 * 16 * 256, fill=0xFF) == {0: 16}


# Plain volumes


def test_pattern_of_a_plain_volume(run):
    """Weights floor(wx wy wz / 256); a row whose weight floors to 0 stays (decision D24)."""
    t, s = cube(4), sampler(CLAMP, LINEAR, LINEAR, **Z_LINEAR)
    # Positions 257/256, 1 + 255/256 and 512 + 64 of 256 from the centre of texel 0.
    uvw = [(257 + 128) / 1024, (511 + 128) / 1024, (576 + 128) / 1024]
    answer = run(trace(t, s, [{"opcode": 4, "uvw": uvw}]), pattern=True)
    rows = [tuple(int(n) for n in row) for row in answer.pattern]
    assert rows == [
        # lane, mip, x, y, z, weight, lod
        (0, 0, 1, 1, 2, 255 * 1 * 192 // 256, 0),
        (0, 0, 2, 1, 2, 0, 0),  # 1 * 1 * 192 / 256
        (0, 0, 1, 2, 2, 255 * 255 * 192 // 256, 0),
        (0, 0, 2, 2, 2, 1 * 255 * 192 // 256, 0),
        (0, 0, 1, 1, 3, 255 * 1 * 64 // 256, 0),
        (0, 0, 2, 1, 3, 0, 0),
        (0, 0, 1, 2, 3, 255 * 255 * 64 // 256, 0),
        (0, 0, 2, 2, 3, 1 * 255 * 64 // 256, 0),
    ]
    assert rows[0][5] == 191
    assert rows[2][5] == 48768


# Type 4

RAMPS = {
    # U: slope 5, offset 1/64; V or W: slope 8, offset 1/32.
    **{"MINMIP_SLOPE_U": 3, "MINMIP_OFFSET_U": 4},
    **{"MINMIP_SLOPE_V": 4, "MINMIP_OFFSET_V": 3},
}
# 26/256 from the border: (26 - 4) * 10 = 220 and (26 - 8) * 16 = 288, of 512.
NEAR_U, NEAR_V = 512 - 220, 512 - 288


def rounded(weight, of):
    """4.0 times weight / of in U5.8, to nearest even."""
    return round(1024 * weight / of)


@pytest.mark.parametrize("swizzle", [0, 1])
@pytest.mark.parametrize(
    ("texel", "answer"),
    [
        ((0, 0, 0), 1024),
        ((1, 0, 0), rounded(NEAR_U, 512)),
        ((0, 1, 0), rounded(NEAR_U, 512)),
        ((0, 0, 1), rounded(NEAR_V, 512)),
        ((1, 1, 0), rounded(NEAR_U**2, 512**2)),
        ((1, 0, 1), rounded(NEAR_U * NEAR_V, 512**2)),
        ((1, 1, 1), 146),  # 4 * 292/512 * 292/512 * 224/512 = 145.71 / 256
    ],
)
def test_filter_of_a_volume(run, swizzle, texel, answer):
    """One texel of 2x2x2 is 4.0, all others 0; u and v take the U fields, w the V fields."""
    x, y, z = texel
    memory = np.zeros(2048, np.uint8)
    memory[x + 8 * y + 4 * z if swizzle else x + 256 * y + 512 * z] = 4 << 3
    t = cube(2, kind=READ, SW_MODE=swizzle)
    quad = {"uvw": [(1 - 26 / 256) / 2] * 3}
    s = sampler(CLAMP, LINEAR, **RAMPS)
    assert list(run(trace(t, s, [quad], memory)).filtered[0]) == [answer, 0, 0, 0]
    # Z_FILTER plays no part; point takes the own texel, on w too.
    s = sampler(CLAMP, LINEAR, Z_FILTER=2, **RAMPS)
    assert run(trace(t, s, [quad], memory)).filtered[0][0] == answer
    s = sampler(CLAMP, POINT, LINEAR, Z_FILTER=2, **RAMPS)
    own = 1024 if texel == (0, 0, 0) else 0
    assert run(trace(t, s, [quad], memory)).filtered[0][0] == own


@pytest.mark.parametrize(
    ("address", "w", "answer"),
    [
        # Depth -1 is 3 by WRAP, 0 by CLAMP, none (0) in the border.
        *((WRAP, 0.0, 1024), (CLAMP, 0.0, 256), (BORDER, 0.0, 256)),
        # Own texel in the border, (10 - 8) * 16 = 32 of 512: 1.0 * 480/512. Then beyond the ramp.
        *((BORDER, -0.01, 240), (BORDER, -0.2, 0), (CLAMP, -0.2, 256)),
    ],
)
def test_filter_borders_on_w(run, address, w, answer):
    """Depths hold 1, 2, 3, 4; slope 8 and offset 1/32: at a border the larger one."""
    memory = np.repeat(np.arange(1, 5, dtype=np.uint8) << 3, 1024)
    t = cube(4, kind=READ, SW_MODE=0)
    s = sampler(CLAMP, LINEAR, CLAMP_Z=address, **RAMPS)
    assert run(trace(t, s, [{"uvw": [0.4, 0.4, w]}], memory)).filtered[0][0] == answer


def test_filter_over_two_slabs(run):
    """Own depth 8, near depth 7, in different slabs of 256B_S."""
    memory = np.zeros(4096, np.uint8)
    memory[4 + 16 + 128] = 3 << 3  # (0, 0, 7)
    memory[2048] = 1 << 3
    t, s = cube(kind=READ), sampler(CLAMP, LINEAR, **RAMPS)
    # 14/256 from the border: (14 - 8) * 16 = 96; 1 * 96/512 + 3 * 416/512 = 2.625.
    quad = {"uvw": [0.5 / 16, 0.5 / 16, (8 + 14 / 256) / 16]}
    assert run(trace(t, s, [quad], memory)).filtered[0][0] == 672


@pytest.mark.parametrize("type", [12, 13])
def test_filter_does_not_blend_slices(run, type):
    """Rounded to the nearest even slice, kept inside the view (slices 1 to 3 of 4)."""
    bytes_ = 256
    memory = np.repeat(np.array([9, 1, 2, 3], np.uint8) << 3, bytes_)
    t = image((4, 4 if type == 13 else 1), kind=READ, type=type, slices=(1, 3))
    s = sampler(CLAMP, LINEAR, **RAMPS)
    operands = [-1.0, 0.0, 0.5, 0.51, 1.49, 1.5, 2.0, 7.0, np.nan]
    quads = [{"uvw": [0.3, 0.3], "slice": operand} for operand in operands]
    answers = [int(lanes[0]) // 256 for lanes in run(trace(t, s, quads, memory)).filtered]
    assert answers == [1, 1, 1, 2, 2, 3, 3, 3, 1]


def test_filter_over_four_blocks(run):
    """Texels 15 and 16 of 256B_S lie in four blocks; 1 in the own one, 2, 3 and 4 beside it."""
    memory = np.zeros(1024, np.uint8)
    memory[[255, 256 + 240, 512 + 15, 768]] = np.array([1, 2, 3, 4]) << 3
    t = image((32, 32), kind=READ)
    fields = {**RAMPS, "MINMIP_SLOPE_V": 3, "MINMIP_OFFSET_V": 4}
    s = sampler(CLAMP, LINEAR, **fields)
    quad = {"uvw": [(16 - 26 / 256) / 32] * 2}
    own, near = 220, NEAR_U
    wanted = own * own * 1 + near * own * 2 + own * near * 3 + near * near * 4
    assert run(trace(t, s, [quad], memory)).filtered[0][0] == round(256 * wanted / 512**2)


# Order


@pytest.mark.parametrize("type", [9, 10])
def test_the_filter_sees_earlier_writes_and_no_later_ones(run, type):
    """One byte, 5.0 at first: MIN 3, MAX 4, MIN 1, and the filter between them."""
    kinds = [READ, MIN, READ, MAX, READ, READ, MIN, READ]
    levels = [0, 3, 0, 4, 0, 0, 1, 0]
    t = np.stack([image((8, 8, 8), kind=kind, type=type, view=(0, 7)) for kind in range(1, 5)])
    s = sampler(CLAMP, LINEAR, **RAMPS)
    quads = [
        {"opcode": 3, "uvw": [0.0625, 0.0625, 0.0625], "lod": level, "exec_mask": 15}
        for level in levels
    ]
    request = trace(t, s, quads, 4096, fill=5 << 3)
    request.t_index[:] = [kind - 1 for kind in kinds]
    answer = run(request)
    own = [lanes[0] / 256 for lanes in answer.filtered]
    assert own == [5, 0, 3, 0, 4, 4, 0, 1]
    assert all(len(set(lanes)) == 1 for lanes in np.asarray(answer.filtered).tolist())


# The random traces that compare the two readings (test_two_readings.py)


def test_random_traces_reach_volumes():
    """Every linked type in LINEAR and 256B_S, this with several slabs; rows of weight 0."""
    found, depths, faint = set(), set(), 0
    for seed in range(12):
        request = random_trace(np.random.default_rng(seed), 300, "volumes", frozenset({0, 1}))
        result = golden.run(request, pattern=True)
        assert result.samples is not None
        base = request.memory_base
        images, layouts = decode_image(request.t_sharp, FULL, base, len(request.memory))
        kind, swizzled = (column[request.t_index] for column in (images.linked, layouts.swizzled))
        busy = (result.samples > 0) | (result.filtered > 0).any(axis=1)
        ok = busy & (images.map_size[request.t_index, 2] > np.where(swizzled, 8, 4))
        found |= set(zip(kind[ok].tolist(), swizzled[ok].tolist(), strict=True))
        assert result.pattern is not None
        depths |= set(result.pattern["z"].tolist())
        faint += (result.pattern["weight"] == 0).sum()
    assert found == {(kind, swizzled) for kind in (1, 2, 3, 4) for swizzled in (False, True)}
    assert len(depths) > 16
    assert faint


def test_random_traces_reach_hazards():
    """Answers of the filter that earlier writes, and later ones, would change."""
    early = late = 0
    for seed in range(8):
        request = random_trace(np.random.default_rng(seed), 300, "hazards")
        result = golden.run(request)
        filters = (request.t_sharp[request.t_index, 3] >> 25 & 7) == READ
        alone = random_trace(np.random.default_rng(seed), 300, "hazards")
        alone.exec_mask[~filters] = 0
        early += (golden.run(alone).filtered != result.filtered).any(axis=1).sum()
        alone.memory[:] = result.memory
        late += (golden.run(alone).filtered != result.filtered).any(axis=1).sum()
    assert early > 200
    assert late > 50
