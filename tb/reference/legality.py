"""Spec 01, "What is illegal": the lowest code of the rules that a request breaks, or 0."""

from dataclasses import dataclass

from reference import layout
from reference.words import (
    TYPE_1D,
    TYPE_1D_ARRAY,
    TYPE_2D,
    TYPE_2D_MSAA,
    TYPE_2D_MSAA_ARRAY,
    TYPE_3D,
    TYPE_CUBE,
)

FLAG_CLAMP, FLAG_OFFSET, FLAG_GATHER = 1, 2, 4
READ = 4  # the linked type of the MinMip filter
ONE_AXIS_MODES = (0, 1)
THICK_MODES = (0, 1, 5, 9, 17, 21, 25)  # volumes: LINEAR and the S modes
PLAIN_CODES = (1, 2, 3, 4, 11, 12, 13, 14, 17, 18)  # 14: decision D4


@dataclass(frozen=True)
class Build:
    """What one build of the unit contains (code 14); UnitConfig has the same names."""

    swizzle_modes: frozenset = frozenset({0, 1})
    resource_types: frozenset = frozenset({8, 9, 10, 12, 13})
    linked_types: frozenset = frozenset({1, 2, 3, 4})
    xor_patterns: tuple = ()


def error_code(image, sampler, flags, memory_base, memory_size, build):
    """The code of a request: descriptors and flags decide, never the lanes (decision D3)."""
    broken = []
    for code, rule in sorted(RULES.items()):
        applies = image.linked or code in PLAIN_CODES
        if applies and rule(image, sampler, flags, build):
            broken.append(code)
    if broken:
        return broken[0]
    if image.linked and not map_is_inside(image, memory_base, memory_size):
        return 31
    return 0


def filter_pairs(image, sampler):
    """(slope, offset) codes that the MinMip filter will use: V only for 2D's v and 3D's w."""
    if image.linked_type != READ or sampler.mag_filter not in (1, 3):
        return []
    pairs = list(zip(sampler.slope_codes, sampler.offset_codes, strict=True))
    return pairs[:1] if image.type in (8, 12) else pairs


def bad_offset(image, sampler, flags, build):
    return any(offset >= 6 for _, offset in filter_pairs(image, sampler))


def bad_pair(image, sampler, flags, build):
    """Slope 2.5 needs an offset <= 1/16 (code 2), slope 3 one <= 1/8 (code 1)."""
    finest = {0: 2, 1: 1}
    return any(offset < finest.get(slope, 0) for slope, offset in filter_pairs(image, sampler))


def reserved_type(image, sampler, flags, build):
    return image.type < 8 or (image.is_array and image.base_array > image.depth)


def left_out(image, sampler, flags, build):
    if image.type not in build.resource_types:
        return True
    if not image.linked:
        return False
    if image.type == TYPE_3D and image.sw_mode not in THICK_MODES:
        return True
    if image.type in (TYPE_1D, TYPE_1D_ARRAY) and image.sw_mode not in ONE_AXIS_MODES:
        return True
    return image.sw_mode not in build.swizzle_modes or image.linked_type not in build.linked_types


def too_large(image, sampler, flags, build):
    """Decision D2 says which field holds the last slice."""
    if image.type == TYPE_3D or image.is_array:
        last = image.depth
    elif image.type in (TYPE_1D, TYPE_2D):
        last = image.base_array
    else:
        last = 0
    return image.width > 16384 or image.height > 16384 or last > 8191 or not image.resource_level


def map_is_inside(image, memory_base, memory_size):
    start = layout.start_of(image)
    end = start + layout.total_bytes(image)
    limit = min(memory_base + memory_size, 1 << 48)  # addresses have 48 bits
    return start >= memory_base and end <= limit


RULES = {
    1: lambda image, sampler, flags, build: bool(flags & FLAG_OFFSET),
    2: lambda image, sampler, flags, build: image.type in (TYPE_2D_MSAA, TYPE_2D_MSAA_ARRAY),
    3: lambda image, sampler, flags, build: sampler.unnormalized,
    4: lambda image, sampler, flags, build: bool(flags & FLAG_GATHER),
    5: lambda image, sampler, flags, build: image.linked_type in (0, 5, 6, 7),
    6: lambda image, sampler, flags, build: image.compressed,
    7: lambda image, sampler, flags, build: sampler.border_type == 3,
    8: bad_offset,
    9: bad_pair,
    10: lambda image, sampler, flags, build: image.linked_type in (2, 3, 4) and image.max_mip != 0,
    11: lambda image, sampler, flags, build: image.type == TYPE_CUBE,
    12: lambda image, sampler, flags, build: image.base_level > image.last_level,
    13: reserved_type,
    14: left_out,
    15: lambda image, sampler, flags, build: (
        image.linked_type == 1 and image.last_level > image.max_mip
    ),
    16: lambda image, sampler, flags, build: image.format not in (1, 5),
    17: lambda image, sampler, flags, build: sampler.deriv_adjust,
    18: too_large,
}
