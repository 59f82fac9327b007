"""Spec 04: the MinMip filter (linked type 4), with exact fractions."""

from fractions import Fraction
from itertools import product

from reference import layout
from reference.footprint import address, reduce_range, request_coordinate, to_texel_grid
from reference.numbers import slice_index

SLOPES = (Fraction(5, 2), 3, 4, 5, 8, 16, 32, 64)
OFFSETS = tuple(Fraction(1, 4 << code) for code in range(6))


def filter_lane(quad, lane, image, sampler, memory, memory_base, xor_patterns=()):
    """The answer of one lane in U5.8."""
    bilinear = sampler.mag_filter & 1 == 1
    texels, weights = [], []  # per axis: (own, neighbour), weight of the own texel
    for axis, n in enumerate(image.map_size):
        mode = sampler.clamp[axis]
        u = request_coordinate(quad.uvw[lane][axis], mode) << 5
        p = to_texel_grid(reduce_range(u, mode), n, linear=False, trunc=sampler.trunc_coord)
        own, neighbour, distance = split(p)
        texels.append((address(own, n, mode), address(neighbour, n, mode)))
        weights.append(own_weight(distance, axis, image, sampler) if bilinear else Fraction(1))
    where = slice_index(quad.slices[lane], image)

    def value(choice):
        """U5.3 of the texel that takes the neighbour on the axes where choice is 1."""
        at = [pair[side] for pair, side in zip(texels, choice, strict=True)]
        if None in at:
            return 0
        x, y, z = (*at, 0, 0)[:3]
        depth = z if image.axes == 3 else where
        return memory[layout.texel_address(image, 0, x, y, depth, xor_patterns) - memory_base]

    return round(filtered(value, weights) * 32)  # round() of a Fraction is nearest even


def split(p):
    """16.8 position -> own texel, near neighbour, distance to the border between them."""
    own, f = p >> 8, p & 255
    if f < 128:
        return own, own - 1, Fraction(f, 256)
    return own, own + 1, Fraction(256 - f, 256)


def own_weight(distance, axis, image, sampler):
    """clamp((d - offset) * slope, 0, 1); the V fields are v's in 2D and w's in volumes (D6)."""
    second = axis == (2 if image.axes == 3 else 1)
    slope = SLOPES[sampler.slope_codes[second]]
    offset = OFFSETS[sampler.offset_codes[second]]
    return max(Fraction(0), min(Fraction(1), (distance - offset) * slope))


def filtered(value, weights):
    """Blend over every corner: r or 1 - r per axis times the max of all texels up to there."""
    axes = len(weights)
    total = Fraction(0)
    for corner in product((0, 1), repeat=axes):
        weight = Fraction(1)
        for side, r in zip(corner, weights, strict=True):
            weight *= 1 - r if side else r
        if weight:
            reach = product(*((0, 1) if side else (0,) for side in corner))
            total += weight * max(value(choice) for choice in reach)
    return total
