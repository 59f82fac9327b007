"""Spec 02, "Coordinates": from a float coordinate to the weighted texels of one axis.

Coordinates are integers in 2^-37: 32 fraction bits, and 5 more so that the position of each of
up to 16 taps, (2i + 1 - n) / 2n along the major axis, is exact.
"""

from reference.numbers import clamp, is_nan, is_negative, is_special, shift_rne, to_fixed

WRAP, MIRROR, CLAMP_LAST, MIRROR_ONCE_LAST = 0, 1, 2, 3
HALF_BORDER, MIRROR_ONCE_HALF_BORDER, BORDER, MIRROR_ONCE_BORDER = 4, 5, 6, 7

COORD_BITS = 32
TAP_BITS = 37
ONE = 1 << TAP_BITS
LIMIT = 1 << 15  # step 0 saturates here


def modulo_signed(value, modulus):
    """Remainder with the sign of the value. (Only 16.8's saturation could tell it from others.)"""
    rest = abs(value) % modulus
    return -rest if value < 0 else rest


def request_coordinate(pattern, mode):
    """Step 0: float32 bits -> 2^-32, once per request."""
    periodic = mode in (WRAP, MIRROR)
    if is_nan(pattern):
        return 0
    if is_special(pattern):
        if periodic:
            return 0
        return (-10 if is_negative(pattern) else 10) << COORD_BITS
    fixed = to_fixed(pattern, COORD_BITS)
    if periodic:
        return modulo_signed(fixed, 2 << COORD_BITS)
    return clamp(fixed, -LIMIT << COORD_BITS, LIMIT << COORD_BITS)


def major_component(pattern):
    """Step 0 for a component of the major axis: always saturating, 2^-32."""
    return clamp(to_fixed(pattern, COORD_BITS), -LIMIT << COORD_BITS, LIMIT << COORD_BITS)


def tap_coordinate(coordinate, major, tap, taps):
    """Coordinate of tap i: u + ((i + 1/2)/n - 1/2) * major, in 2^-37, exactly."""
    numerator = (2 * tap + 1 - taps) * (32 // (2 * taps))  # in 1/32
    return (coordinate << (TAP_BITS - COORD_BITS)) + numerator * major


def reduce_range(u, mode):
    """Step 1, on 2^-37."""
    if mode == WRAP:
        return u % ONE
    if mode == MIRROR:
        return modulo_signed(u, 2 * ONE)
    return clamp(u, -10 * ONE, 10 * ONE)


def to_texel_grid(u, n, linear, trunc):
    """Step 2: 16.8 position on a grid of n texels; one rounding of the exact product."""
    product = u * n * 256 - (128 * ONE if linear else 0)
    fx = product >> TAP_BITS if trunc else shift_rne(product, TAP_BITS)
    return clamp(fx, -0x800000, 0x7FFFFF)


def address(t, n, mode):
    """Step 4: integer texel -> texel inside 0..n-1, or None where nothing is touched."""
    if 0 <= t < n:
        return t
    if mode == WRAP:
        return t % n
    if mode == MIRROR:
        t = -t - 1 if t < 0 else t
        period, t = divmod(t, n)
        return n - 1 - t if period % 2 else t
    if mode == CLAMP_LAST:
        return clamp(t, 0, n - 1)
    if mode == MIRROR_ONCE_LAST:
        return min(-t - 1 if t < 0 else t, n - 1)
    if mode in (HALF_BORDER, BORDER):
        return None
    t = -t - 1 if t < 0 else t  # mirror once with border
    return t if t < n else None


def axis_texels(u, n, mode, linear, trunc):
    """Steps 1 to 4 of one axis: [(texel or None, weight in 1/256)], t0 before t1."""
    fx = to_texel_grid(reduce_range(u, mode), n, linear, trunc)
    t = fx >> 8
    if not linear:
        return [(address(t, n, mode), 256)]
    w1 = fx & 255
    pair = [(t, 256 - w1), (t + 1, w1)]
    return [(address(texel, n, mode), weight) for texel, weight in pair if weight != 0]


def footprint(position, dims, linear, sampler):
    """Texels of one tap on one grid: [((x, y, z), (wx, wy, wz))], z outermost, x innermost.

    All three arguments have one entry per used axis; unused axes are texel 0 with weight 256.
    """
    axes = []
    for axis in range(3):
        if axis < len(dims):
            axes.append(
                axis_texels(
                    position[axis],
                    dims[axis],
                    sampler.clamp[axis],
                    linear[axis],
                    sampler.trunc_coord,
                )
            )
        else:
            axes.append([(0, 256)])
    found = []
    for z, wz in axes[2]:
        for y, wy in axes[1]:
            for x, wx in axes[0]:
                if x is not None and y is not None and z is not None:
                    found.append(((x, y, z), (wx, wy, wz)))
    return found
