"""The integer number rules against exact fractions and against the machine's own float32."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from minmip.sim.golden.numbers import bit_length, float_sub, float_to_fixed, round_shift

PATTERNS = st.integers(0, 0xFFFFFFFF)
SPECIAL = np.array(
    [
        0x00000000, 0x80000000, 0x00000001, 0x807FFFFF, 0x00800000, 0x80800001, 0x3F800000,
        0x3F800001, 0x3F7FFFFF, 0x4B000000, 0x4B800000, 0x4B800001, 0x7F7FFFFF, 0xFF7FFFFF,
        0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00001, 0x3F000000, 0x33800000, 0x33800001,
    ],
    np.int64,
)  # fmt: skip


def one(value):
    return np.array([value], np.int64)


def exact(bits):
    """Fraction of a finite pattern, denormals zero."""
    exponent, mantissa = bits >> 23 & 0xFF, bits & 0x7FFFFF
    if exponent == 0:
        return Fraction(0)
    value = Fraction(mantissa | 0x800000) * Fraction(2) ** (exponent - 150)
    return -value if bits >> 31 else value


@given(st.integers(-(1 << 60), 1 << 60), st.integers(0, 62))
@example(-1, 1)
@example(3, 1)
@example(5, 0)
def test_round_shift_is_nearest_even(value, shift):
    wanted = round(Fraction(value, 1 << shift))
    assert round_shift(one(value), one(shift))[0] == wanted
    assert round_shift(one(value), shift)[0] == wanted


@given(st.integers(0, (1 << 63) - 1))
@example(0)
def test_bit_length(value):
    assert bit_length(one(value))[0] == value.bit_length()


@given(PATTERNS, st.sampled_from([0, 8, 32]))
def test_float_to_fixed(bits, fraction):
    low, high = -(1 << 40), (1 << 40) - 1
    exponent, mantissa = bits >> 23 & 0xFF, bits & 0x7FFFFF
    if exponent == 255:
        wanted = 0 if mantissa else (low if bits >> 31 else high)
    else:
        wanted = min(max(round(exact(bits) * (1 << fraction)), low), high)
    assert float_to_fixed(one(bits), fraction, low, high)[0] == wanted


@pytest.mark.parametrize(
    ("bits", "fixed"),
    [
        (0xC5FFFD0C, 0xE0005E - (1 << 24)),  # as S16.8 in 24 bits
        (0x7FC00000, 0),
        (0x7F800000, 0x7FFFFF),
        (0xFF800000, 0x800000 - (1 << 24)),
        (0x3B000000, 0),  # 2**-9: a tie to even
        (0x3B000001, 1),
    ],
)
def test_16_8_vectors_of_the_spec(bits, fixed):
    assert float_to_fixed(one(bits), 8, -(1 << 23), (1 << 23) - 1)[0] == fixed


def machine_sub(a, b):
    """The same with float32 hardware, denormals flushed by hand, one NaN for all."""

    def flush(bits):
        return np.where(bits & 0x7F800000 == 0, bits & 0x80000000, bits)

    with np.errstate(all="ignore"):
        x, y = (flush(v).astype(np.uint32).view(np.float32) for v in (a, b))
        out = flush((x - y).view(np.uint32).astype(np.int64))
    return np.where(np.isnan(out.astype(np.uint32).view(np.float32)), 0x7FC00000, out)


def assert_same_difference(a, b):
    got, wanted = float_sub(a, b), machine_sub(a, b)
    # A zero's sign has no meaning for a gradient.
    got, wanted = (np.where(v & 0x7FFFFFFF == 0, 0, v) for v in (got, wanted))
    np.testing.assert_array_equal(got, wanted)


def test_float_sub_of_special_values():
    a, b = np.meshgrid(SPECIAL, SPECIAL)
    assert_same_difference(a.ravel(), b.ravel())


def test_float_sub_against_the_machine():
    seed = 11
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 1 << 32, 400_000)
    near = a + rng.integers(-(1 << 12), 1 << 12, a.shape)
    shifted = a ^ (rng.integers(0, 32, a.shape) << 23)
    b = np.choose(rng.integers(0, 3, a.shape), [rng.permutation(a), near % (1 << 32), shifted])
    assert_same_difference(a, b)
