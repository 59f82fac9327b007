"""Packed float formats R11G11B10 and R9G9B9E5, both ways, in integers (spec 07 "Numbers").

Neither has a sign. R11G11B10 has three floats of its own with 5-bit exponents: 6 fraction bits for
red and green, 5 for blue, with denormals, infinity and NaN as float16. R9G9B9E5 has three 9-bit
integers under one 5-bit exponent, and neither infinity nor NaN.
"""

import numpy as np

from minmip.sim.golden.numbers import bit_length, bits_of, is_nan, round_shift, significand

__all__ = ["pack_r9g9b9e5", "pack_r11g11b10", "unpack_r9g9b9e5", "unpack_r11g11b10"]

INFINITY, NAN = 0x7F800000, 0x7FC00000
BIAS = 15
"""Exponent bias of both formats, that of float16."""

FIELDS = ((6, 0), (6, 11), (5, 22))
"""Fraction bits and lowest bit of R, G, B in R11G11B10."""

LARGEST_SHARED = 0x477F8000
"""511 * 2**7 = 65408, the largest of R9G9B9E5, as float32."""


def pack_r11g11b10(rgb: np.ndarray) -> np.ndarray:
    """Pack colours as R11G11B10.

    Rounded to nearest, ties to even. What is finite stays finite: at most 65024 (R, G) and 64512
    (B). Negative numbers and -Inf become 0, NaN stays NaN.

    Parameters
    ----------
    rgb : ndarray
        float32 [..., 3].

    Returns
    -------
    ndarray
        uint32 [...], R in the lowest bits.

    Raises
    ------
    ValueError
        If the array is of another type or shape.
    """
    bits = _colour_bits(rgb)
    packed = np.zeros(bits.shape[:-1], np.int64)
    for channel, (fraction, low) in enumerate(FIELDS):
        packed |= _small_float(bits[..., channel], fraction) << low
    return packed.astype(np.uint32)


def unpack_r11g11b10(packed: np.ndarray) -> np.ndarray:
    """Colours of packed R11G11B10, uint32 [...] to float32 [..., 3], exact.

    Raises ValueError if the array is not uint32.
    """
    words = _words(packed)
    channels = []
    for fraction, low in FIELDS:
        exponent = words >> low + fraction & 31
        below = words >> low & (1 << fraction) - 1
        integer = below | np.where(exponent == 0, 0, 1 << fraction)
        bits = _float_bits(integer, np.maximum(exponent, 1) - BIAS - fraction)
        special = np.where(below == 0, INFINITY, NAN)
        channels.append(np.where(exponent == 31, special, bits))
    return _floats(channels)


def pack_r9g9b9e5(rgb: np.ndarray) -> np.ndarray:
    """Pack colours as R9G9B9E5, the exponent that of the largest channel.

    Rounded to nearest, ties up. Negative numbers and NaN become 0; at most 65408.

    Parameters
    ----------
    rgb : ndarray
        float32 [..., 3].

    Returns
    -------
    ndarray
        uint32 [...], R in the lowest bits, the exponent in the highest.

    Raises
    ------
    ValueError
        If the array is of another type or shape.
    """
    bits = _colour_bits(rgb)
    bits = np.where(is_nan(bits) | (bits >> 31 == 1), 0, np.minimum(bits, LARGEST_SHARED))
    mantissa, exponent = significand(bits)
    # One channel counts 2**(shared - 24); the largest has 9 bits, or fewer at the lowest exponent.
    shared = np.maximum(exponent.max(axis=-1) - (127 - BIAS - 1), 0)[..., None]

    def counted(shared):
        shift = np.minimum(shared + (150 - BIAS - 9) - exponent, 40)
        return mantissa + (1 << shift - 1) >> shift

    shared = shared + (counted(shared).max(axis=-1, keepdims=True) >> 9)  # it was rounded up to 512
    red, green, blue = np.moveaxis(counted(shared), -1, 0)
    return (red | green << 9 | blue << 18 | shared[..., 0] << 27).astype(np.uint32)


def unpack_r9g9b9e5(packed: np.ndarray) -> np.ndarray:
    """Colours of packed R9G9B9E5, uint32 [...] to float32 [..., 3], exact.

    Raises ValueError if the array is not uint32.
    """
    words = _words(packed)
    exponent = (words >> 27) - BIAS - 9
    return _floats([_float_bits(words >> low & 511, exponent) for low in (0, 9, 18)])


def _small_float(bits: np.ndarray, fraction: int) -> np.ndarray:
    """float32 patterns to floats without sign, 5-bit exponent and `fraction` bits, int64."""
    mantissa, exponent = significand(bits)
    # Codes of neighbouring numbers are neighbours, denormals too: a carry makes the next exponent.
    small = np.maximum(exponent - (127 - BIAS), 1)
    shift = np.minimum(small + (150 - BIAS - fraction) - exponent, 40)
    code = (small - 1 << fraction) + round_shift(mantissa, shift)
    infinity = 31 << fraction
    code = np.where(bits == INFINITY, infinity, np.minimum(code, infinity - 1))
    code = np.where(bits >> 31 == 1, 0, code)
    return np.where(is_nan(bits), infinity | 1 << fraction - 1, code)


def _float_bits(integer: np.ndarray, exponent: np.ndarray) -> np.ndarray:
    """Pattern of `integer * 2**exponent`, a normal float32 number or 0; integer below 2**24."""
    length = bit_length(integer)
    fraction = (integer << 24 - length) & 0x7FFFFF
    return np.where(integer == 0, 0, (exponent + length + 126 << 23) | fraction)


def _floats(channels: list[np.ndarray]) -> np.ndarray:
    return np.stack(channels, axis=-1).astype(np.uint32).view(np.float32)


def _colour_bits(rgb: np.ndarray) -> np.ndarray:
    """Patterns of colours, int64 [..., 3]."""
    if rgb.dtype != np.float32 or rgb.shape[-1:] != (3,):
        raise ValueError(f"colours must be float32 [..., 3], not {rgb.dtype} {list(rgb.shape)}")
    return bits_of(np.ascontiguousarray(rgb))


def _words(packed: np.ndarray) -> np.ndarray:
    if packed.dtype != np.uint32:
        raise ValueError(f"packed colours must be uint32, not {packed.dtype}")
    return packed.astype(np.int64)
