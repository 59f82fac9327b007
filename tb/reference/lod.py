"""Spec 02, "LOD", with the algorithm of docs/lod.md. LODs are integers in 1/256 (S7.8)."""

from dataclasses import dataclass
from decimal import Decimal, localcontext

from reference.numbers import clamp, exact, is_special, shift_rne, to_lod
from reference.words import TYPE_2D, TYPE_2D_ARRAY

LOWEST, HIGHEST = -0x8000, 0x7FFF


@dataclass(frozen=True)
class Gradients:
    """What a pair of gradients asks for."""

    lod: int | None  # before bias and clamps; None: not a number
    taps: int
    major: tuple  # float32 bits of (du, dv, ...) of the longer gradient


def log_table():
    """Entry i = round(65536 * log2(1 + i/256)), i in 0..256."""
    with localcontext() as context:
        context.prec = 40
        ln2 = Decimal(2).ln()
        return [round(65536 * (Decimal(256 + i) / 256).ln() / ln2) for i in range(257)]


LOG_TABLE = log_table()


def log2(v):
    """log2 of an integer v > 0, in 1/65536 (docs/lod.md section 3)."""
    p = v.bit_length() - 1
    below = v - (1 << p)
    x = below << (19 - p) if p <= 19 else below >> (p - 19)
    i, low = x >> 11, x & 2047
    slope = LOG_TABLE[i + 1] - LOG_TABLE[i]
    return (p << 16) + LOG_TABLE[i] + ((slope * low) >> 11)


def align(vectors, dims):
    """Sections 1: gradients * dims as integers on one exponent: (q vectors, T), or None if all 0.

    The value of a component is q * 2^(T - 168).
    """
    scaled = []
    tops = []
    for vector in vectors:
        for pattern, n in zip(vector, dims, strict=True):
            m, e = exact(pattern)
            e += 150  # the biased exponent
            p = abs(m) * n
            scaled.append((p, e, m < 0))
            if p:
                tops.append(e + p.bit_length())
    if not tops:
        return None
    top = max(tops)
    q = []
    for p, e, negative in scaled:
        size = min(shift_rne(p, top - 18 - e), (1 << 18) - 1) if p else 0
        q.append(-size if negative else size)
    return q[: len(dims)], q[len(dims) :], top


def saturate(twice_log):
    """Twice a log2 in 1/65536 -> LOD in 1/256."""
    return clamp(shift_rne(twice_log, 9), LOWEST, HIGHEST)


def anisotropic(image, sampler):
    """Whether the gradients set taps: 2D, a filter code 2 or 3, a limit over 1, not overridden."""
    return (
        image.type in (TYPE_2D, TYPE_2D_ARRAY)
        and (sampler.min_filter >= 2 or sampler.mag_filter >= 2)
        and sampler.max_aniso > 1
        and not (sampler.aniso_override and image.base_level == image.last_level)
    )


def from_gradients(ddx, ddy, image, sampler):
    """LOD and taps of two gradients, each float32 bits of the used components."""
    if any(is_special(pattern) for pattern in (*ddx, *ddy)):
        return Gradients(None, 1, ddy)
    dims = [max(1, n >> image.base_level) for n in image.size]
    aligned = align((ddx, ddy), dims)
    if aligned is None:
        return Gradients(LOWEST, 1, ddy)
    x, y, top = aligned
    x2, y2 = sum(c * c for c in x), sum(c * c for c in y)
    l2 = max(x2, y2)
    major = ddx if x2 > y2 else ddy
    exponent = 2 * (top - 168)  # of a squared length
    length = log2(l2) + (exponent << 16)
    if not anisotropic(image, sampler):
        return Gradients(saturate(length), 1, major)

    limit, threshold = sampler.max_aniso, sampler.aniso_threshold
    det = abs(x[0] * y[1] - x[1] * y[0])
    over = det == 0 or l2 > limit * det
    if over:
        minor = length - ((2 * (limit.bit_length() - 1)) << 16)
    else:
        minor = 2 * (log2(det) + (exponent << 16)) - length
    taps = tap_count(l2, exponent, det, over, minor, limit, threshold)
    return Gradients(saturate(minor), taps, major)


def tap_count(l2, exponent, det, over, minor, limit, threshold):
    """The smallest power of two >= ratio - threshold/8, from 1 to limit."""
    count = 1
    while count < limit:
        room = 8 * count + threshold
        if minor < 0:
            # ratio = max(1, L): compare L^2 = l2 * 2^exponent with (room / 8)^2
            left, right = 64 * l2, room * room
            if exponent >= 0:
                left <<= exponent
            else:
                right <<= -exponent
            enough = left <= right
        else:
            enough = not over and 8 * l2 <= det * room
        if enough:
            return count
        count *= 2
    return limit


def clamp_lod(lod, op_bias, op_clamp, image, sampler):
    """The spec's order: biases, MAX_LOD, MIN_LOD, view and op clamp.

    `lod` is None for "not a number"; op_bias and op_clamp are float32 bits or None.
    """
    if lod is None:
        lod = sampler.max_lod
    elif lod not in (LOWEST, HIGHEST):  # decision D7
        lod += sampler.lod_bias
        if op_bias is not None:
            lod += to_lod(op_bias) or 0
    lod = min(lod, sampler.max_lod)
    lod = max(lod, sampler.min_lod)
    lod = max(lod, image.min_lod)
    limit = to_lod(op_clamp) if op_clamp is not None else None
    return lod if limit is None else max(lod, limit)


def limit_to_view(lod, image):
    """The LOD limited to 0 .. last level of the view."""
    return clamp(lod, 0, (image.last_level - image.base_level) << 8)


def levels(limited, image, sampler):
    """View levels that a limited LOD touches, finer first."""
    last = image.last_level - image.base_level
    if sampler.mip_filter == 0:
        return [0]
    if sampler.mip_filter == 1:
        return [min((limited + 128) >> 8, last)]
    first = limited >> 8
    return [first, first + 1] if limited & 255 else [first]
