"""The second reading against the worked numbers of spec 02 to 05, the golden model against those
that are whole requests."""

from functools import partial

import numpy as np
import pytest
from acceptance_vectors import GRADIENTS, TEXELS, check_gradient, check_texel
from filter_vectors import check_filter_examples, filter_row
from reference import layout, lod, numbers, run
from reference.footprint import address, axis_texels, request_coordinate
from reference.words import decode_image, decode_sampler
from traces import BORDER, CLAMP, MIN, POINT, USED, image, sampler, trace

from minmip.sim import golden

BOTH = pytest.mark.parametrize("run", [run, golden.run], ids=["reference", "golden"])


def bits(value):
    return int(np.float32(value).view(np.uint32))


# Spec 02, coordinates


@pytest.mark.parametrize(
    ("t", "texels"),
    [
        (-1, [4, 0, 0, None, 0]),
        (-6, [4, 4, 0, None, 4]),
        (5, [0, 4, 4, None, 4]),
        (9, [4, 0, 4, None, 4]),
        (10, [0, 0, 4, None, 4]),
    ],
)
def test_address_mode_table(t, texels):
    assert [address(t, 5, mode) for mode in (0, 1, 2, 6, 3)] == texels
    assert address(t, 5, 4) is None


def test_mirror_once_border():
    for mode in (5, 7):
        assert [address(t, 5, mode) for t in (-6, -5, -1, 0, 4, 5)] == [None, 4, 0, 0, 4, None]


def test_inside_texels_are_untouched():
    assert all(address(t, 5, mode) == t for mode in range(8) for t in range(5))


@pytest.mark.parametrize(
    ("pattern", "fixed"),
    [
        (0xC5FFFD0C, 0xE0005E),
        (0x7FC00000, 0),
        (0x7F800000, 0x7FFFFF),
        (0xFF800000, 0x800000),
        (bits(2**-9), 0),
        (bits(2**-9) + 1, 1),
    ],
)
def test_float_to_16_8(pattern, fixed):
    assert numbers.to_16_8(pattern) & 0xFFFFFF == fixed


def test_point_rounds_to_the_next_texel():
    def texel(u, mode, trunc=False):
        return axis_texels(request_coordinate(bits(u), mode) << 5, 4, mode, False, trunc)[0][0]

    assert texel(255.5 / 1024, CLAMP) == 1  # the tie goes to even, 256
    assert texel(255.49 / 1024, CLAMP) == 0
    assert texel(255.5 / 1024, CLAMP, trunc=True) == 0
    assert texel(-1e-9, 0) == 0


def test_linear_drops_weight_zero():
    centre = request_coordinate(bits(1.5 / 4), CLAMP) << 5
    assert axis_texels(centre, 4, CLAMP, True, False) == [(1, 256)]
    assert axis_texels(0, 4, CLAMP, True, False) == [(0, 128), (0, 128)]


@pytest.mark.parametrize(
    ("a", "b", "difference"),
    [
        (bits(1.5), bits(0.25), bits(1.25)),
        (bits(2e-38), 0x00000001, bits(2e-38)),  # a denormal is zero
        (0x00800001, 0x00800000, 0),  # the result would be denormal
        (0x7F800000, 0x7F800000, numbers.QUIET_NAN),
        (0x7F800000, bits(1.0), 0x7F800000),
        (bits(3.4e38), bits(-3.4e38), 0x7F800000),
    ],
)
def test_subtract(a, b, difference):
    assert numbers.subtract(a, b) == difference


def test_subtract_is_numpys():
    """On ordinary numbers the rounding must be the machine's."""
    rng = np.random.default_rng(1)
    a, b = (rng.normal(size=4000) * 2.0 ** rng.integers(-30, 30, 4000) for _ in range(2))
    a, b = a.astype(np.float32), b.astype(np.float32)
    expected = (a - b).view(np.uint32).tolist()
    assert [numbers.subtract(bits(x), bits(y)) for x, y in zip(a, b, strict=True)] == expected


@pytest.mark.parametrize(
    ("operand", "slice"),
    [(0.5, 2), (1.5, 4), (0.51, 3), (-1, 2), (1e30, 5), (np.nan, 2), (-np.inf, 2), (np.inf, 5)],
)
def test_slice(operand, slice):
    view = decode_image(image((4, 4), type=13, slices=(2, 5)))
    assert numbers.slice_index(bits(operand), view) == slice


# Spec 02, LOD


@pytest.mark.parametrize("level", [-2.0, 2.0])
@pytest.mark.parametrize(
    ("view_clamp", "lod_in_view", "mips"),
    [(2.5, 2.5, [2, 3]), (4.5, 4.5, [4, 5]), (5.5, 5.0, [5])],
)
@pytest.mark.parametrize("by_operand", [False, True])
def test_lod_clamps_of_the_spec(level, view_clamp, lod_in_view, mips, by_operand):
    """8 mips, view 1..6, sampler 1.2..4, trilinear; clamps in the view's space."""
    t = image((128, 128), view=(1, 6), MIN_LOD=0 if by_operand else int(view_clamp * 256))
    s = sampler(mip=2, min_lod=307, max_lod=1024)
    quad = {"opcode": 3, "uvw": [0.3, 0.3], "lod": level}
    answer = run(trace(t, s, [quad | {"clamp": view_clamp} if by_operand else quad]))
    view = decode_image(t)
    assert sorted({row[1] - 1 for row in answer.pattern}) == mips
    assert {lod.limit_to_view(row[6], view) for row in answer.pattern} == {lod_in_view * 256}


@pytest.mark.parametrize(
    ("length", "expected"), [(0.0, -0x8000), (1.0, 0), (2.0, 256), (0.25, -512), (2.0**100, 25600)]
)
def test_isotropic_lod(length, expected):
    t, s = decode_image(image((1, 1))), decode_sampler(sampler())
    found = lod.from_gradients((bits(length), 0), (0, bits(length)), t, s)
    assert (found.lod, found.taps) == (expected, 1)


@pytest.mark.parametrize(
    ("dx", "dy", "limit", "threshold", "expected"),
    [
        ((8, 0), (0, 1), 4, 0, (0, 8)),  # ratio 8 of 16
        ((9, 0), (0, 1), 4, 0, (0, 16)),
        ((9, 0), (0, 1), 4, 7, (0, 16)),
        ((8.5, 0), (0, 1), 4, 4, (0, 8)),  # the threshold comes off before the round-up
        ((32, 0), (0, 1), 4, 0, (256, 16)),  # over the limit: minor = L / 16
        ((4, 0), (0, 0.25), 4, 0, (-512, 4)),  # minor < 1: ratio = L
        ((0.5, 0), (0, 0.25), 4, 0, (-512, 1)),
        ((4, 4), (4, 4), 1, 0, (None, 2)),  # parallel: det = 0
    ],
)
def test_anisotropy(dx, dy, limit, threshold, expected):
    t = decode_image(image((1, 1), view=(0, 1)))
    s = decode_sampler(sampler(min=3, MAX_ANISO_RATIO=limit, ANISO_THRESHOLD=threshold))
    found = lod.from_gradients(tuple(map(bits, dx)), tuple(map(bits, dy)), t, s)
    assert found.taps == expected[1]
    assert expected[0] is None or found.lod == expected[0]


def test_equal_lengths_follow_dy():
    t, s = decode_image(image((1, 1), view=(0, 1))), decode_sampler(sampler())
    dx, dy = (bits(3), 0), (0, bits(3))
    assert lod.from_gradients(dx, dy, t, s).major == dy


def test_special_gradients_take_the_maximum():
    t, s = image((16, 16), view=(0, 4)), sampler(mip=1, max_lod=700)
    quads = [
        {"opcode": 2, "uvw": [0.1, 0.1], "ddx": [value, 0], "ddy": [0, 0.1]}
        for value in (np.nan, np.inf)
    ]
    # The third component of a 2D texture is not used.
    quads.append({"opcode": 2, "uvw": [0.1, 0.1], "ddx": [1 / 16, 0, np.nan], "ddy": [0, 1 / 16]})
    assert [row[6] for row in run(trace(t, s, quads)).pattern] == [700, 700, 0]


def test_a_saturated_lod_takes_no_bias():
    t, s = image((16, 16), view=(0, 4)), sampler(mip=1)
    still = {"opcode": 1, "uvw": [0.1, 0.1], "lod": 14.0, "exec_mask": 1}
    moving = still | {"uvw": [[0, 0], [1 / 16, 0], [0, 1 / 16], [0, 0]]}
    assert [row[6] for row in run(trace(t, s, [still, moving])).pattern] == [0, 14 * 256]


# Spec 03


@BOTH
@pytest.mark.parametrize("vector", GRADIENTS, ids=lambda vector: vector.name)
def test_acceptance_gradients(vector, run):
    check_gradient(vector, run)


@BOTH
@pytest.mark.parametrize("texel", TEXELS)
def test_acceptance_texels(texel, run):
    check_texel(texel, run)


# Spec 04


@BOTH
def test_minmip_examples(run):
    check_filter_examples(run)


@BOTH
@pytest.mark.parametrize(
    ("row", "at", "fields", "value"),
    [
        ([0, 5], 0.98, {"XY_MAG_FILTER": POINT}, 0.0),  # the own texel
        ([3, 5], -0.4, {"CLAMP_X": BORDER}, 0.0),  # the border counts as 0
        ([3, 5], 2e-6, {"CLAMP_X": BORDER}, 3.0),
    ],
)
def test_minmip_point_and_border(run, row, at, fields, value):
    assert np.asarray(run(filter_row(row, [at], **fields)).filtered[0][0]) / 256 == value


# Spec 05


def chain(words):
    """(pitch, rows, offset, bytes) of each mip outside the tail, and the bytes of the map."""
    t = decode_image(words)
    depth = layout.box(t.sw_mode, len(t.map_size))[2]
    offsets, _ = layout.slab_parts(t)
    mips = []
    for mip in range(layout.first_tail(t)):
        pitch, rows = layout.padded(t, mip)
        mips.append((pitch, rows, offsets[mip], pitch * rows * depth))
    return mips, layout.total_bytes(t)


def first_texels(words):
    """Address of texel 0 of each mip."""
    t = decode_image(words)
    return [layout.texel_address(t, mip, 0, 0, 0) for mip in range(t.max_mip + 1)]


def test_layout_example_linear():
    mips, total = chain(image((48, 24), kind=USED, mips=6, SW_MODE=0))
    assert mips == [
        (256, 24, 6144, 6144),
        (256, 12, 3072, 3072),
        (256, 6, 1536, 1536),
        (256, 3, 768, 768),
        (256, 2, 256, 512),
        (256, 1, 0, 256),
    ]
    assert total == 12288


def test_layout_example_256b_s():
    mips, total = chain(image((48, 24), kind=USED, mips=6, SW_MODE=1))
    assert mips == [
        (48, 32, 1536, 1536),
        (32, 16, 1024, 512),
        (16, 16, 768, 256),
        (16, 16, 512, 256),
        (16, 16, 256, 256),
        (16, 16, 0, 256),
    ]
    assert total == 3072


def test_layout_example_tails():
    """48x24 in 4KB and 64KB modes; D has the layout of S."""
    for mode in (5, 6):
        t = image((48, 24), kind=USED, mips=6, SW_MODE=mode)
        assert chain(t) == ([(64, 64, 4096, 4096)], 8192)
        assert first_texels(t) == [4096, 2048, 1536, 1280, 1024, 768]
    for mode in (9, 10):
        t = image((48, 24), kind=USED, mips=6, SW_MODE=mode)
        assert chain(t) == ([], 65536)
        assert first_texels(t) == [32768, 16384, 8192, 4096, 2048, 1536]


def test_layout_example_bc1():
    """4096x4096, region 512x256: 8x16 map; chains of 12 and of 5 mips; arrays."""
    bc1 = partial(image, (4096, 4096), kind=USED, scales=(9, 8))
    mips, total = chain(bc1(mips=12))
    assert ([mip[2] for mip in mips], total) == ([(11 - i) * 256 for i in range(12)], 3072)
    mips, total = chain(bc1(mips=5))
    assert ([mip[2] for mip in mips], total) == ([(4 - i) * 256 for i in range(5)], 1280)
    assert chain(bc1(mips=12, type=13, slices=(1, 6)))[1] == 7 * 3072
    t = decode_image(image((4096, 4096), kind=MIN, scales=(9, 8), BASE_ADDRESS=3))
    assert layout.total_bytes(t) == 256
    assert all(
        layout.texel_address(t, 0, x, y, 0) == 768 + x + 16 * y for x in range(8) for y in range(16)
    )
    linear = decode_image(image((4096, 4096), kind=MIN, scales=(9, 8), SW_MODE=0))
    assert layout.total_bytes(linear) == 4096


def test_layout_example_volumes():
    t = image((16, 16, 16), kind=USED, mips=5, type=10)
    mips, total = chain(t)
    assert [mip[2] for mip in mips] == [1280, 768, 512, 256, 0]
    assert [mip[3] for mip in mips] == [2048, 512, 256, 256, 256]
    assert total == 6656
    assert layout.texel_address(decode_image(t), 0, 0, 0, 8) == 3328 + 1280
    t = image((48, 24, 12), kind=USED, mips=6, type=10, SW_MODE=0)
    assert chain(t)[1] == 147456
    assert layout.texel_address(decode_image(t), 1, 3, 2, 5) == 5 * 12288 + 3072 + 2 * 256 + 3
    t = image((48, 24, 12), kind=USED, mips=6, type=10, SW_MODE=5)
    assert chain(t) == ([(48, 32, 12288, 24576), (32, 16, 4096, 8192)], 36864)
    assert first_texels(t) == [12288, 4096, 2048, 768, 512, 256]
    t = image((48, 24, 12), kind=USED, mips=6, type=10, SW_MODE=9)
    assert chain(t) == ([(64, 32, 65536, 65536)], 131072)
    assert first_texels(t) == [65536, 32768, 16384, 4096, 2560, 2304]


def test_every_texel_of_a_volume_has_its_own_byte():
    t = decode_image(image((19, 9, 10), kind=USED, mips=5, type=10))
    seen = {
        layout.texel_address(t, mip, x, y, z)
        for mip in range(5)
        for x in range(max(1, 19 >> mip))
        for y in range(max(1, 9 >> mip))
        for z in range(max(1, 10 >> mip))
    }
    assert len(seen) == 19 * 9 * 10 + 9 * 4 * 5 + 4 * 2 * 2 + 2 + 1
    assert max(seen) < layout.total_bytes(t)
