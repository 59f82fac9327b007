"""Random float operands of a request: ordinary ones, and those on which rounding rules turn.

Every function takes a `random.Random` and returns Python floats, rounded to float32 later.
"""

import math
import struct

SPECIAL = [
    *(math.nan, math.inf, -math.inf, 0.0, -0.0),
    *(2.0**-126, -(2.0**-126), 2.0**-149, -(2.0**-130), 2.0**-127),
    *(2.0**-32, -(2.0**-32), 2.0**-33, 3 * 2.0**-33, -1e-9, 2.0**-24),
    *(1.0, -1.0, 2.0, -2.0, 0.5, 10.0, -10.0, 32768.0, -32768.0, 65536.0, 1e30, -1e30),
    *(3.4028234663852886e38, -3.4028234663852886e38),
]


def float32(x):
    """Nearest float32 of a double."""
    try:
        return struct.unpack("<f", struct.pack("<f", x))[0]
    except OverflowError:
        return math.copysign(math.inf, x)


def from_bits(pattern):
    return struct.unpack("<f", struct.pack("<I", pattern))[0]


def nudge(x, steps):
    """The float32 some steps away in bit order; specials stay."""
    x = float32(x)
    pattern = struct.unpack("<I", struct.pack("<f", x))[0]
    if math.isnan(x) or math.isinf(x) or not 0 <= (pattern & 0x7FFFFFFF) + steps < 0x7F800000:
        return x
    return from_bits(pattern + steps)


def any_bits(r):
    return from_bits(r.getrandbits(32))


def near(r, x):
    """X, or a few steps beside it."""
    return nudge(x, r.choice([0, 0, -1, 1, r.randint(-4, 4)]))


def coordinate(r, grids, wildest=9):
    """One coordinate; grids are texel counts whose ties and borders matter."""
    n = r.choice(grids)
    kind = r.randint(0, wildest)
    if kind <= 2:
        return r.random()
    if kind == 3:
        return r.uniform(-3, 4)
    if kind == 4:  # a tie of the 16.8 grid, or a point of it
        return near(r, r.randint(-512 * n, 1024 * n) / 2 / 256 / n)
    if kind == 5:  # centres and borders of texels
        if r.random() < 0.5:
            return near(r, r.randint(-2 * n - 1, 4 * n + 1) / 2 / n)
        return near(r, r.choice([-2, -1, 0, 0, 1, 1, 2]) + r.randint(-300, 300) / 256 / n)
    if kind == 6:  # inside, on the grid of 1/256 texel
        return near(r, r.randint(0, 512 * n) / 512 / n)
    if kind == 7:
        return near(r, r.choice(SPECIAL))
    if kind == 8:
        return any_bits(r)
    return r.choice([-1, 1]) * 2.0 ** r.uniform(-40, 20)


def coordinates(r, grids, texels):
    """[4 lanes][u, v, w]: four lanes on their own, or a quad with one pair of gradients."""
    if r.random() < 0.3:
        return [[coordinate(r, axis) for axis in grids] for _ in range(4)]
    wildest = 9 if r.random() < 0.1 else 6  # beside a huge coordinate the gradients vanish
    first = [coordinate(r, axis, wildest) for axis in grids]
    ddx, ddy = gradient_pair(r, texels)
    if r.random() < 0.5:  # exact differences for implicit gradients
        first = [0.0] * 3
    across = [a + b for a, b in zip(first, ddx, strict=True)]
    down = [a + b for a, b in zip(first, ddy, strict=True)]
    return [first, across, down, [a + b for a, b in zip(across, ddy, strict=True)]]


def length(r):
    """Length of a gradient in texels."""
    kind = r.randint(0, 9)
    if kind <= 3:
        return 2.0 ** r.uniform(-4, 8)
    if kind <= 5:
        return 2.0 ** (r.randint(-8, 24) / r.choice([1, 2, 256, 512]))
    if kind == 6:
        return float(r.randint(0, 40))
    if kind == 7:
        return 2.0 ** r.uniform(-130, 127)
    if kind == 8:
        return 2.0 ** r.randint(-20, 20)
    return 2.0 ** r.uniform(-20, 20)


def gradient_pair(r, texels):
    """(ddx, ddy), three components each, normalised: given in texels, divided by `texels`."""
    kind = r.randint(0, 9)
    long, angle = length(r), r.uniform(0, 2 * math.pi)
    if r.random() < 0.4:
        angle = r.randint(0, 3) * math.pi / 2
    x = [long * math.cos(angle), long * math.sin(angle), 0.0]
    if kind <= 3:  # a ratio near a power of two, or near the threshold's eighths
        ratio = 2.0 ** r.randint(0, 5) + r.choice([0, 0, r.randint(0, 7) / 8])
        ratio *= r.choice([1, 1, 1 - 2**-20, 1 + 2**-20, 1 + 2**-12, 1 - 2**-12])
        y = [-x[1] / ratio, x[0] / ratio, 0.0]
    elif kind == 4:  # parallel
        factor = r.choice([0.0, 1.0, -1.0, 0.5, r.uniform(-2, 2)])
        y = [c * factor for c in x]
    elif kind == 5:  # equal lengths
        y = [x[1], x[0], 0.0]
    elif kind == 6:
        return any_components(r), any_components(r)
    else:
        other, turn = length(r), r.uniform(0, 2 * math.pi)
        y = [other * math.cos(turn), other * math.sin(turn), 0.0]
    x[2], y[2] = r.choice([(0.0, 0.0), (length(r), 0.0), (length(r), -length(r))])
    x = [0.0 if abs(c) < long * 1e-12 else c / n for c, n in zip(x, texels, strict=True)]
    y = [0.0 if abs(c) < long * 1e-12 else c / n for c, n in zip(y, texels, strict=True)]
    pair = (x, y) if r.random() < 0.5 else (y, x)
    if r.random() < 0.05:
        pair[r.randint(0, 1)][r.randint(0, 2)] = r.choice(SPECIAL)
    return pair


def any_components(r):
    """A gradient without a plan."""
    choices = [lambda: any_bits(r), lambda: r.choice(SPECIAL), lambda: 0.0, lambda: length(r)]
    return [r.choice(choices)() for _ in range(3)]


def level(r):
    """Explicit level, bias or clamp."""
    kind = r.randint(0, 7)
    if kind <= 1:
        return r.uniform(-2, 16)
    if kind == 2:  # on the 1/256 grid and half-way between
        return near(r, r.randint(-1024, 8192) / 512)
    if kind == 3:  # where POINT mips change
        return near(r, r.randint(-4, 32) / 2)
    if kind == 4:
        return r.choice([math.nan, math.inf, -math.inf, 0.0, 2.0**-149, -(2.0**-140), -0.0])
    if kind == 5:
        return near(r, r.choice([-128.0, 128.0, 127.99609375, 127.998046875, -127.99609375]))
    if kind == 6:
        return any_bits(r)
    return r.uniform(0, 4)


def slice_operand(r):
    """Array slice."""
    kind = r.randint(0, 5)
    if kind <= 1:
        return float(r.randint(-1, 10))
    if kind == 2:
        return near(r, r.randint(-1, 20) / 2)
    if kind == 3:
        return r.uniform(-1, 9)
    if kind == 4:
        return r.choice([math.nan, math.inf, -math.inf, 2.0**-149, 8191.0, 1e30])
    return any_bits(r)
