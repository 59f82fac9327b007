"""Number rules and packed floats of the front end (spec 07 "Numbers"), against exact fractions."""

from bisect import bisect_left
from fractions import Fraction
from itertools import product
from math import inf, isqrt, nan

import numpy as np
import pytest

from minmip.sim.frontend import float_rules, packed_floats
from minmip.sim.golden.numbers import bits_of, float_sub

ZERO, LEAST, ONE, MOST, INF, NAN = 0, 0x00800000, 0x3F800000, 0x7F7FFFFF, 0x7F800000, 0x7FC00000
MINUS = 1 << 31
SIGNALLING = 0x7F800001
SPECIALS = [
    pattern | sign
    for sign in (0, MINUS)
    for pattern in (ZERO, 1, 0x007FFFFF, LEAST, LEAST + 1, ONE - 1, ONE, ONE + 1, MOST, INF)
] + [SIGNALLING, NAN, 0x7FFFFFFF, 0xFFC00001]


def floats(patterns):
    return np.array(patterns, np.uint32).view(np.float32)


def patterns(values):
    return np.asarray(values).view(np.uint32).tolist()


def decoded(pattern):
    """Value of a pattern with denormals flushed: (sign, Fraction, inf or nan)."""
    exponent, fraction = pattern >> 23 & 255, pattern & 0x7FFFFF
    if exponent == 255:
        return pattern >> 31, nan if fraction else inf
    if exponent == 0:
        return pattern >> 31, Fraction(0)
    return pattern >> 31, (fraction | 1 << 23) * Fraction(2) ** (exponent - 150)


def encoded(sign, magnitude):
    """Round a magnitude to float32, ties to even, then flush; the grid is IEEE's."""
    if magnitude == 0:
        return sign << 31
    exponent = 1
    while magnitude >= Fraction(2) ** (exponent - 126) and exponent < 255:
        exponent += 1
    count = round(magnitude / Fraction(2) ** (exponent - 150))  # Python rounds ties to even
    pattern = (exponent - 1 << 23) + count
    return (sign << 31) | (0 if pattern < LEAST else min(pattern, INF))


def slow(name, a, b):
    """What IEEE 754 says of a, b, case by case, on patterns."""
    (sign_a, x), (sign_b, y) = decoded(a), decoded(b)
    if x != x or y != y:
        return NAN
    if name == "subtract":
        name, sign_b = "add", 1 - sign_b
    if name == "add":
        if x == inf or y == inf:
            if x == y and sign_a != sign_b:
                return NAN
            return INF | ((sign_a if x == inf else sign_b) << 31)
        total = (-x if sign_a else x) + (-y if sign_b else y)
        if total == 0:
            return (sign_a & sign_b) << 31 if x == 0 else ZERO
        return encoded(int(total < 0), abs(total))
    sign = sign_a ^ sign_b
    if name == "multiply":
        if (x == inf and y == 0) or (x == 0 and y == inf):
            return NAN
        return sign << 31 | INF if inf in (x, y) else encoded(sign, x * y)
    if (x == inf and y == inf) or (x == 0 and y == 0):
        return NAN
    if x == inf or y == 0:
        return sign << 31 | INF
    return sign << 31 if y == inf else encoded(sign, x / y)


@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide"])
def test_every_pair_of_special_values_as_ieee(name):
    pairs = list(product(SPECIALS, repeat=2))
    a, b = zip(*pairs, strict=True)
    found = patterns(getattr(float_rules, name)(floats(a), floats(b)))
    assert found == [slow(name, *pair) for pair in pairs]
    if name == "subtract":  # as the golden model's integers have it, but for the sign of zeros
        golden = float_sub(bits_of(floats(a)), bits_of(floats(b))).tolist()
        assert [p for p in found if p << 1 & 0xFFFFFFFF] == [
            p for p in golden if p << 1 & 0xFFFFFFFF
        ]


@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide"])
def test_random_operands_are_correctly_rounded(name):
    seed = 20261130
    print("seed", seed)
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 1 << 32, 1500)
    near = np.clip((a & 0x7FFFFFFF) + rng.integers(-(30 << 23), 30 << 23, 1500), 0, MOST)
    b = np.where(rng.integers(0, 2, 1500), near, rng.integers(0, 1 << 32, 1500))
    found = patterns(getattr(float_rules, name)(floats(a), floats(b)))
    expected = [slow(name, *pair) for pair in zip(a.tolist(), b.tolist(), strict=True)]
    assert found == expected


def test_square_root():
    for pattern, root in [
        (ZERO, ZERO),
        (MINUS, MINUS),
        (1, ZERO),
        (MINUS | 1, MINUS),
        (0x40800000, 0x40000000),
        (INF, INF),
        (MINUS | INF, NAN),
        (MINUS | ONE, NAN),
        (MINUS | LEAST, NAN),
        (0x7F800001, NAN),
        (LEAST, 0x20000000),
    ]:
        assert patterns(float_rules.square_root(floats([pattern]))) == [root], hex(pattern)
    for pattern in SPECIALS:
        (root,) = patterns(float_rules.square_root(floats([pattern])))
        sign, value = decoded(pattern)
        if value == 0:
            assert root == sign << 31, hex(pattern)  # -0 of -0 and of a negative denormal
        elif value != value or sign:
            assert root == NAN, hex(pattern)
        else:
            assert (root == INF) == (value == inf), hex(pattern)
    rng = np.random.default_rng(1)
    positive = [p for p in SPECIALS if LEAST <= p < INF]
    for pattern in positive + rng.integers(LEAST, INF, 500).tolist():
        value = decoded(pattern)[1]
        (root,) = patterns(float_rules.square_root(floats([pattern])))
        # Twice the root, rounded down, on a grid of half units of the result.
        unit = Fraction(2) ** ((root >> 23) - 151)
        scaled = value / unit**2
        half_units = isqrt(scaled.numerator // scaled.denominator)
        assert (half_units + 1) // 2 == root & 0x7FFFFF | 1 << 23


def test_float16_keeps_denormals():
    every = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    numbers = every[~np.isnan(every)]
    wide = float_rules.from_float16(numbers)
    np.testing.assert_array_equal(wide.astype(np.float64), numbers.astype(np.float64))
    back = float_rules.to_float16(wide)
    np.testing.assert_array_equal(back.view(np.uint16), numbers.view(np.uint16))
    assert set(patterns(float_rules.from_float16(every[np.isnan(every)]))) == {NAN}
    for value, half in [
        (2.0**-24, 0x0001),
        (2.0**-25, 0x0000),  # a tie: to even
        (1.5 * 2.0**-24, 0x0002),  # a tie: to even
        (-(2.0**-26), 0x8000),
        (65519.0, 0x7BFF),
        (65520.0, 0x7C00),
        (-inf, 0xFC00),
        (nan, 0x7E00),
        (2.0**-140, 0x0000),
    ]:
        assert float_rules.to_float16(np.float32(value)).view(np.uint16) == half, value


def test_special_values_as_float16_and_flushed():
    """Every special float32 and the numbers at the ends of float16."""
    finite = unsigned_values(10)
    ends = floats([0x477FE000, 0x477FEFFF, 0x477FF000, 0x33800000, 0x33000000, 0x33000001])
    for pattern in SPECIALS + patterns(ends) + patterns(-ends):
        sign, value = decoded(pattern)
        (flushed,) = patterns(float_rules.flush(floats([pattern])))
        (half,) = float_rules.to_float16(floats([pattern])).view(np.uint16).tolist()
        if value != value:
            assert (flushed, half) == (NAN, 0x7E00), hex(pattern)
            continue
        assert flushed == (pattern if value else sign << 31), hex(pattern)
        code = 0x7C00 if value >= 65520 else slow_code(value, 10, finite)
        assert half == sign << 15 | code, hex(pattern)
        back = float_rules.from_float16(np.array([half], np.uint16).view(np.float16))
        wide = INF if code == 0x7C00 else patterns([np.float32(float(finite[code]))])[0]
        assert patterns(back) == [sign << 31 | wide], hex(pattern)


def test_every_nan_of_packed_floats():
    for pattern in (SIGNALLING, NAN, 0x7FFFFFFF, 0xFFC00001, 0xFF800001, 0xFFFFFFFF):
        rgb = floats([pattern] * 3)
        assert packed_floats.pack_r11g11b10(rgb) == 0x7E0 | 0x7E0 << 11 | 0x3F0 << 22
        assert packed_floats.pack_r9g9b9e5(rgb) == 0


def unsigned_values(fraction):
    """All finite numbers of the small floats, by code."""
    values = []
    for code in range(31 << fraction):
        exponent, below = code >> fraction, code & (1 << fraction) - 1
        lead = (1 << fraction) if exponent else 0
        values.append((lead + below) * Fraction(2) ** (max(exponent, 1) - 15 - fraction))
    return values


def slow_code(value, fraction, values):
    """Nearest code, ties to even, by search among all numbers."""
    if value != value:
        return (31 << fraction) | 1 << fraction - 1
    if value <= 0:
        return 0
    if value == inf:
        return 31 << fraction
    exact = Fraction(value)
    above = bisect_left(values, exact)
    if above == len(values):
        return above - 1
    if above == 0:
        return 0
    low, high = exact - values[above - 1], values[above] - exact
    return above if high < low or (high == low and above % 2 == 0) else above - 1


def colours(rng, count):
    """Floats of all sizes that matter, ties among them."""
    values = 2.0 ** rng.uniform(-28, 18, count) * rng.choice([1, 1, 1, 1, -1], count)
    values[::3] = rng.integers(0, 512, len(values[::3])) * 2.0 ** rng.integers(
        -26, 8, len(values[::3])
    )
    quiet = floats([p for p in SPECIALS if p != SIGNALLING])
    return np.append(
        values,
        [*quiet, 65024, 65408, 65500, 64512, 65536, 2.0**-21, 2.0**-25, 3 * 2.0**-21],
    ).astype(np.float32)


def test_r11g11b10_is_the_nearest_number():
    rng = np.random.default_rng(4)
    values = colours(rng, 1500)
    packed = packed_floats.pack_r11g11b10(np.stack([values] * 3, axis=-1))
    for fraction, low, width in ((6, 0, 11), (6, 11, 11), (5, 22, 10)):
        every = unsigned_values(fraction)
        expected = [slow_code(value, fraction, every) for value in values.tolist()]
        assert (packed >> low & (1 << width) - 1).tolist() == expected


def test_r11g11b10_goes_both_ways():
    codes = np.arange(1 << 11, dtype=np.uint32)
    rgb = packed_floats.unpack_r11g11b10(codes | codes << 11 | codes >> 1 << 22)
    for channel, fraction in enumerate((6, 6, 5)):
        numbers = [float(value) for value in unsigned_values(fraction)]
        per = 1 if fraction == 6 else 2
        np.testing.assert_array_equal(
            rgb[: len(numbers) * per, channel], np.repeat(np.float32(numbers), per)
        )
        top = rgb[len(numbers) * per :, channel]
        assert top[0] == inf
        assert patterns(top[per:]) == [NAN] * (len(top) - per)
    finite = np.isfinite(rgb).all(axis=1)
    np.testing.assert_array_equal(
        packed_floats.pack_r11g11b10(rgb[finite]),
        (codes | codes << 11 | codes >> 1 << 22)[finite],
    )


def test_r11g11b10_by_hand():
    rgb = np.array([[1, 0.5, 2], [inf, nan, -1]], np.float32)
    packed = packed_floats.pack_r11g11b10(rgb)
    assert packed.tolist() == [0x3C0 | 0x380 << 11 | 0x200 << 22, 0x7C0 | 0x7E0 << 11]


def slow_shared(rgb):
    """The shared exponent format by its definition, in fractions."""
    channels = [
        Fraction(0) if c != c or c <= 0 else min(Fraction(65408), Fraction(min(c, 1e6)))
        for c in rgb
    ]
    exponent = 0
    while max(channels) >= Fraction(2) ** (exponent - 15):
        exponent += 1

    def counted(exponent):
        unit = Fraction(2) ** (exponent - 24)
        return [int(c / unit + Fraction(1, 2)) for c in channels]

    if max(counted(exponent)) == 512:
        exponent += 1
    red, green, blue = counted(exponent)
    return red | green << 9 | blue << 18 | exponent << 27


def test_r9g9b9e5_by_its_definition():
    rng = np.random.default_rng(5)
    values = colours(rng, 900)
    rgb = np.stack([values, rng.permutation(values), values * np.float32(0.37)], axis=-1)
    rgb = np.append(rgb, [[511.5, 1, 1], [1023, 3, 5], [2.0**-25, 0, 0], [1e-9, 0, 0]], axis=0)
    rgb = rgb.astype(np.float32)
    expected = [slow_shared(colour) for colour in rgb.tolist()]
    assert packed_floats.pack_r9g9b9e5(rgb).tolist() == expected


def test_r9g9b9e5_unpacks_exactly():
    rng = np.random.default_rng(6)
    words = rng.integers(0, 1 << 32, 2000, dtype=np.uint32)
    rgb = packed_floats.unpack_r9g9b9e5(words)
    scale = 2.0 ** ((words >> 27).astype(int) - 24)
    for channel in range(3):
        count = words >> 9 * channel & 511
        np.testing.assert_array_equal(rgb[:, channel], (count * scale).astype(np.float32))
    # Packing finds the same colour again, in its shortest form.
    np.testing.assert_array_equal(
        packed_floats.unpack_r9g9b9e5(packed_floats.pack_r9g9b9e5(rgb)), rgb
    )


def test_shapes_and_refusals():
    rgb = np.ones((4, 5, 3), np.float32)
    for pack, unpack in (
        (packed_floats.pack_r11g11b10, packed_floats.unpack_r11g11b10),
        (packed_floats.pack_r9g9b9e5, packed_floats.unpack_r9g9b9e5),
    ):
        assert pack(rgb).shape == (4, 5)
        np.testing.assert_array_equal(unpack(pack(rgb)), rgb)
        assert pack(rgb[::2, :, ::-1]).shape == (2, 5)
        assert unpack(np.zeros(0, np.uint32)).shape == (0, 3)
        with pytest.raises(ValueError, match=r"float32 \[..., 3\], not float64 \[2, 3\]"):
            pack(np.zeros((2, 3)))
        with pytest.raises(ValueError, match=r"float32 \[..., 3\], not float32 \[4\]"):
            pack(np.zeros(4, np.float32))
        with pytest.raises(ValueError, match="must be uint32, not int64"):
            unpack(np.zeros(3, np.int64))
    with pytest.raises(ValueError, match="operands must be float32, not float64"):
        float_rules.add(np.zeros(2), np.zeros(2))
    with pytest.raises(ValueError, match="values must be float16, not float32"):
        float_rules.from_float16(np.zeros(2, np.float32))
