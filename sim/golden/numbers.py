"""Integer arithmetic on float32 bit patterns and fixed point (spec 02 "Floats").

Everything here works on integer arrays; no floating-point operation is used.
"""

from __future__ import annotations

import numpy as np

__all__ = [
    "bit_length",
    "bits_of",
    "float_sub",
    "float_to_fixed",
    "is_nan",
    "is_nan_or_inf",
    "round_shift",
    "significand",
]

EXPONENT_MASK = 0x7F800000


def bits_of(values: np.ndarray) -> np.ndarray:
    """Bit patterns of float32 values, int64 of the same shape."""
    return values.view(np.uint32).astype(np.int64)


def is_nan(bits: np.ndarray) -> np.ndarray:
    """True where the pattern is a NaN."""
    return (bits & 0x7FFFFFFF) > EXPONENT_MASK


def is_nan_or_inf(bits: np.ndarray) -> np.ndarray:
    """True where the pattern is a NaN or an infinity."""
    return (bits & EXPONENT_MASK) == EXPONENT_MASK


def significand(bits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (m, e) of finite values, magnitude m * 2**(e - 150); m = 0 for denormals and zeros."""
    exponent = (bits >> 23) & 0xFF
    mantissa = np.where(exponent == 0, 0, (bits & 0x7FFFFF) | 0x800000)
    return mantissa, exponent


def bit_length(value: np.ndarray) -> np.ndarray:
    """Bits needed to write a non-negative int64; 0 for 0."""
    smeared = value.astype(np.uint64)
    for shift in (1, 2, 4, 8, 16, 32):
        smeared = smeared | (smeared >> np.uint64(shift))
    return np.bitwise_count(smeared).astype(np.int64)


def round_shift(value: np.ndarray, shift: np.ndarray | int) -> np.ndarray:
    """`value / 2**shift` to the nearest integer, ties to even (RNE); shift 0..62, value signed."""
    if isinstance(shift, int):
        if shift == 0:
            return value
        return (value + ((1 << (shift - 1)) - 1) + ((value >> shift) & 1)) >> shift
    half = (1 << np.maximum(shift, 1) - 1) - 1
    return np.where(shift == 0, value, (value + half + ((value >> shift) & 1)) >> shift)


def float_to_fixed(bits: np.ndarray, fraction: int, low: int, high: int) -> np.ndarray:
    """float32 patterns to fixed point with `fraction` bits, RNE, saturating to low..high.

    Infinities saturate, denormals and NaN are zero. `low` and `high` (in units of the result) must
    lie within +-2**60.
    """
    mantissa, exponent = significand(bits)
    shift = exponent - (150 - fraction)
    # A left shift over 36 puts the 24-bit significand past every legal limit.
    magnitude = np.where(
        shift >= 0,
        mantissa << np.clip(shift, 0, 36),
        round_shift(mantissa, np.clip(-shift, 0, 26)),
    )
    magnitude = np.where((shift > 36) & (mantissa != 0), 1 << 60, magnitude)
    value = np.where(bits >> 31 & 1, -magnitude, magnitude)
    return np.where(is_nan(bits), 0, np.clip(value, low, high))


def float_sub(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """`a - b` on float32 patterns, rounded once (RNE); denormals in and out are zero, NaN kept.

    Returns patterns as int64. Every NaN result is 0x7FC00000.
    """
    extra = 27  # enough guard bits: beyond them only "not zero" matters
    (ma, ea), (mb, eb) = significand(a), significand(b)
    top = np.maximum(ea, eb)

    def aligned(mantissa, exponent):
        distance = np.minimum(top - exponent, 51)
        wide = mantissa << extra
        kept = wide >> distance
        return kept | ((kept << distance) != wide)

    sign_a = np.where(a >> 31 & 1, -1, 1)
    sign_b = np.where(b >> 31 & 1, 1, -1)  # of the negated b
    total = sign_a * aligned(ma, ea) + sign_b * aligned(mb, eb)
    magnitude = np.abs(total)
    shift = bit_length(magnitude) - 24
    rounded = np.where(
        shift >= 0,
        round_shift(magnitude, np.maximum(shift, 0)),
        magnitude << np.maximum(-shift, 0),
    )
    carry = rounded >> 24  # rounding made it 2**24
    exponent = top - extra + shift + carry
    mantissa = np.where(carry, 0, rounded & 0x7FFFFF)
    result = np.where(exponent >= 255, EXPONENT_MASK, (np.clip(exponent, 0, 254) << 23) | mantissa)
    result = np.where((exponent <= 0) | (magnitude == 0), 0, result)
    result = result | np.where(total < 0, 1 << 31, 0)

    a_inf, b_inf = is_nan_or_inf(a), is_nan_or_inf(b)
    same_sign = (a ^ b) >> 31 & 1 == 0
    nan = is_nan(a) | is_nan(b) | (a_inf & b_inf & same_sign)
    result = np.where(a_inf, a, np.where(b_inf, b ^ (1 << 31), result))
    return np.where(nan, 0x7FC00000, result)
