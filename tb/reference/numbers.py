"""Spec 02, "Floats": float32 bit patterns as exact integers. Denormals are zero everywhere."""


def is_special(pattern):
    """NaN or infinity."""
    return (pattern >> 23) & 0xFF == 0xFF


def is_nan(pattern):
    return is_special(pattern) and pattern & 0x7FFFFF != 0


def is_negative(pattern):
    return pattern >> 31 == 1


def exact(pattern):
    """Finite float32 -> (m, e), the value being m * 2^e; m is 0 for zeros and denormals."""
    exponent = (pattern >> 23) & 0xFF
    if exponent == 0:
        return 0, 0
    significand = (pattern & 0x7FFFFF) | 0x800000
    return (-significand if is_negative(pattern) else significand), exponent - 150


def shift_rne(value, shift):
    """Integer value / 2^shift, rounded to nearest, ties to even; a negative shift multiplies."""
    if shift <= 0:
        return value << -shift
    quotient = value >> shift
    rest = value - (quotient << shift)
    half = 1 << (shift - 1)
    if rest > half or (rest == half and quotient & 1):
        quotient += 1
    return quotient


def clamp(value, low, high):
    return max(low, min(high, value))


def to_fixed(pattern, fraction_bits):
    """Finite float32 -> integer count of 2^-fraction_bits, RNE, of any size."""
    m, e = exact(pattern)
    return shift_rne(m, -(e + fraction_bits))


def to_fixed_saturating(pattern, fraction_bits, low, high):
    """Float to fixed with low and high in steps; infinities saturate, NaN is the caller's."""
    if is_special(pattern):
        return low if is_negative(pattern) else high
    return clamp(to_fixed(pattern, fraction_bits), low, high)


def to_lod(pattern):
    """Float32 -> S7.8, saturating; None for NaN."""
    if is_nan(pattern):
        return None
    return to_fixed_saturating(pattern, 8, -0x8000, 0x7FFF)


def to_16_8(pattern):
    """D3D's float to 16.8, two's complement in 24 bits, as spec 02 quotes it (NaN is 0)."""
    if is_nan(pattern):
        return 0
    return to_fixed_saturating(pattern, 8, -0x800000, 0x7FFFFF)


QUIET_NAN = 0x7FC00000


def subtract(a, b):
    """Float32 a - b: exact, then one RNE; denormals in and out are zero."""
    if is_nan(a) or is_nan(b):
        return QUIET_NAN
    if is_special(a) and is_special(b):
        return QUIET_NAN if is_negative(a) == is_negative(b) else a
    if is_special(a):
        return a
    if is_special(b):
        return b ^ 0x80000000
    (ma, ea), (mb, eb) = exact(a), exact(b)
    # Both are whole numbers of 2^-149.
    return from_steps((ma << (ea + 149) if ma else 0) - (mb << (eb + 149) if mb else 0))


def from_steps(steps):
    """An integer count of 2^-149 -> float32 bits, RNE; what would be denormal is zero."""
    sign = 0x80000000 if steps < 0 else 0
    size = abs(steps)
    if size < 1 << 23:
        return 0
    shift = size.bit_length() - 24
    significand = shift_rne(size, shift)
    if significand == 1 << 24:
        significand, shift = 1 << 23, shift + 1
    exponent = shift + 1
    if exponent >= 255:
        return sign | 0x7F800000
    return sign | exponent << 23 | (significand - (1 << 23))


def slice_index(pattern, image):
    """Absolute slice (spec 02): RNE, clamp to the view's slices, add BASE_ARRAY."""
    if not image.is_array:
        return image.base_array
    if is_nan(pattern):
        return image.base_array
    last = image.depth - image.base_array
    return image.base_array + to_fixed_saturating(pattern, 0, 0, last)
