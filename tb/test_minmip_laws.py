"""The laws of the MinMip filter that spec 04 wants to hold for every input, on the golden model.

Positions are integers in 1/256 texel of maps with power-of-two sides, so that each is a float32
coordinate without rounding.
"""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from traces import BORDER, CLAMP, LINEAR, POINT, READ, WRAP, image, sampler

from minmip.sim import golden
from minmip.sim.golden import minmip_filter
from minmip.sim.trace import SAMPLE_LZ, Trace

SLOPES = [Fraction(5, 2), 3, 4, 5, 8, 16, 32, 64]
OFFSETS = [Fraction(1, 4 << code) for code in range(6)]


def reaches_one(slope, offset):
    """Whether the own texel's weight is 1 at its centre: what the pair rule is for."""
    return (Fraction(1, 2) - OFFSETS[offset]) * SLOPES[slope] >= 1


PAIRS = [pair for pair in product(range(8), range(6)) if reaches_one(*pair)]


def filter_request(values, positions, s):
    """Trace that filters a LINEAR map `values` [z, y, x] at `positions` [n, 3] (x, y, z)."""
    depth, height, width = values.shape
    axes = 3 if depth > 1 else 2 if height > 1 else 1
    t = image((width, height, depth), kind=READ, type={1: 8, 2: 9, 3: 10}[axes], SW_MODE=0)
    memory = np.zeros((depth, height, 256), np.uint8)
    memory[:, :, :width] = values
    lanes = -(-len(positions) // 4) * 4
    uvw = np.zeros((lanes, 3), np.float32)
    uvw[: len(positions)] = np.asarray(positions) / (256 * np.array([width, height, depth]))
    return Trace(
        t_sharp=t[None],
        s_sharp=s[None],
        opcode=np.full(lanes // 4, SAMPLE_LZ, np.uint8),
        uvw=uvw.reshape(-1, 4, 3),
        memory=memory.ravel(),
    )


def filter_map(values, positions, pairs, address=CLAMP, mag=LINEAR):
    """Answers [n] in 1/256; `pairs` are the (slope, offset) codes of U and of V (or W)."""
    (slope_u, offset_u), (slope_v, offset_v) = pairs
    s = sampler(
        address,
        mag,
        MINMIP_SLOPE_U=slope_u,
        MINMIP_OFFSET_U=offset_u,
        MINMIP_SLOPE_V=slope_v,
        MINMIP_OFFSET_V=offset_v,
    )
    result = golden.run(filter_request(values, positions, s))
    assert not result.error.any()
    return result.filtered.ravel()[: len(positions)].astype(np.int64)


def box_around(values, position, address):
    """Own texel and all its near neighbours, read straight from the array."""
    sides = []
    for axis, p in enumerate(position):
        own, part = divmod(p, 256)
        size = values.shape[2 - axis]
        sides.append((own,) if size == 1 else (own, own - 1 if part < 128 else own + 1))
    found = []
    for x, y, z in product(*sides):
        at = []
        for t, n in zip((z, y, x), values.shape, strict=True):
            if not 0 <= t < n:
                t = {CLAMP: min(max(t, 0), n - 1), WRAP: t % n, BORDER: None}[address]
            at.append(t)
        found.append(0 if None in at else int(values[tuple(at)]))
    return found


@st.composite
def cases(draw):
    """(values, position, pairs, address mode)."""
    shape = draw(st.sampled_from([(1, 1, 4), (1, 4, 8), (1, 2, 2), (4, 2, 4), (2, 4, 2)]))
    texels = int(np.prod(shape))
    value = st.one_of(st.integers(0, 255), st.integers(0, 14).map(lambda mip: mip << 3))
    values = np.array(draw(st.lists(value, min_size=texels, max_size=texels)), np.uint8)
    part = st.one_of(st.integers(0, 255), st.sampled_from([0, 1, 2, 126, 127, 128, 129, 254, 255]))
    position = [
        0 if n == 1 else 256 * draw(st.integers(0, n - 1)) + draw(part) for n in reversed(shape)
    ]
    pairs = (draw(st.sampled_from(PAIRS)), draw(st.sampled_from(PAIRS)))
    return values.reshape(shape), position, pairs, draw(st.sampled_from([CLAMP, WRAP, BORDER]))


@settings(max_examples=200, deadline=None)
@given(cases())
def test_between_own_texel_and_the_largest(case):
    values, position, pairs, address = case
    out = int(filter_map(values, [position], pairs, address)[0])
    box = box_around(values, position, address)
    assert 32 * box[0] <= out <= 32 * max(box)
    assert filter_map(values, [position], pairs, address, POINT)[0] == 32 * box[0]


@settings(max_examples=200, deadline=None)
@given(cases())
def test_own_texel_at_the_centre(case):
    values, position, pairs, address = case
    sides = values.shape[::-1]
    centre = [p if n == 1 else p // 256 * 256 + 128 for p, n in zip(position, sides, strict=True)]
    out = filter_map(values, [centre], pairs, address)[0]
    assert out == 32 * box_around(values, centre, address)[0]


@settings(max_examples=150, deadline=None)
@given(cases(), st.integers(0, 2))
def test_no_jump_across_a_border(case, axis):
    """The last position of one texel and the first of the next see the same value, exactly."""
    values, position, pairs, address = case
    axis = axis if values.shape[2 - axis] > 1 else 0
    right = list(position)
    right[axis] = max(256, position[axis] // 256 * 256)
    left = list(right)
    left[axis] -= 1
    out = filter_map(values, [left, right], pairs, address)
    assert out[0] == out[1]


@settings(max_examples=150, deadline=None)
@given(cases(), st.integers(0, 2))
def test_no_jump_between_neighbours(case, axis):
    """One step of 1/256 moves the answer by at most slope/256 of what the texels differ."""
    values, position, pairs, address = case
    axis = axis if values.shape[2 - axis] > 1 else 0
    steps = [list(position) for _ in range(4)]
    line = position[axis] // 128 * 128  # around the border or the centre below the position
    for offset, step in zip((-1, 0, 1, 2), steps, strict=True):
        step[axis] = min(max(line + offset, 0), 256 * values.shape[2 - axis] - 1)
    out = filter_map(values, steps, pairs, address)
    texels = [v for step in steps for v in box_around(values, step, address)]
    second = axis == (2 if values.shape[0] > 1 else 1)
    slope = SLOPES[pairs[second][0]]
    bound = slope / 256 * 32 * (max(texels) - min(texels)) + 1  # + 1: two roundings
    assert np.abs(np.diff(out)).max() <= bound


@pytest.mark.parametrize(("slope", "offset"), PAIRS)
def test_every_position_of_a_row(slope, offset):
    """All laws on one axis, every position of eight texels, against the formula in fractions."""
    rng = np.random.default_rng([slope, offset])
    values = rng.integers(0, 256, (1, 1, 8)).astype(np.uint8)
    positions = [(p, 0, 0) for p in range(8 * 256)]
    out = filter_map(values, positions, ((slope, offset), (7, 5)))
    for p, answer in enumerate(out.tolist()):
        a, h = box_around(values, (p, 0, 0), CLAMP)
        d = Fraction(min(p % 256, 256 - p % 256), 256)
        r = min(Fraction(1), max(Fraction(0), (d - OFFSETS[offset]) * SLOPES[slope]))
        assert answer == round(32 * (r * a + (1 - r) * max(a, h)))


def test_the_pair_rule_is_the_centre_law():
    """Codes 8 and 9 refuse exactly the pairs whose weight does not reach 1 at the centre."""
    values = np.zeros((1, 1, 2), np.uint8)
    for slope, offset in product(range(8), range(8)):
        s = sampler(CLAMP, LINEAR, MINMIP_SLOPE_U=slope, MINMIP_OFFSET_U=offset)
        code = golden.run(filter_request(values, [(0, 0, 0)], s)).error[0]
        if offset >= 6:
            assert code == 8
        else:
            assert code == (0 if reaches_one(slope, offset) else 9)


@settings(max_examples=150, deadline=None)
@given(cases(), st.integers(0, 7), st.integers(0, 5))
def test_monotonic_in_slope_and_offset(case, slope, offset):
    """A steeper slope is never coarser, a larger offset never finer, on either field."""
    values, position, pairs, address = case
    out = filter_map(values, [position], pairs, address)[0]
    for field in range(2):
        for other in ((slope, pairs[field][1]), (pairs[field][0], offset)):
            if not reaches_one(*other):
                continue
            changed = [*pairs]
            changed[field] = other
            moved = filter_map(values, [position], changed, address)[0]
            if SLOPES[other[0]] >= SLOPES[pairs[field][0]] and other[1] >= pairs[field][1]:
                assert moved <= out  # offset codes go from large to small
            else:
                assert moved >= out


def test_a_minimum_breaks_the_laws(monkeypatch):
    """With min() in the place of max() the ramp lies in the coarser texel: the laws see it."""
    original = minmip_filter.filter_values

    def negated(kernel, memory):
        return 8160 - original(kernel, 255 - memory)

    monkeypatch.setattr(golden.top, "filter_values", negated)
    with pytest.raises(AssertionError):
        test_every_position_of_a_row(2, 2)
    with pytest.raises(AssertionError):
        test_between_own_texel_and_the_largest()
