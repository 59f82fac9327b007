"""Spec 03: linked types 1, 2 and 3, from the sample pattern to bytes of the map."""

from reference import layout
from reference.footprint import footprint
from reference.pattern import sample_lane

USED, MIN, MAX = 1, 2, 3


def minmip_value(limited, image):
    """U5.3 of the limited LOD in the resource's own levels, truncated."""
    return (limited + 256 * image.base_level) // 32


def combine(kind, old, new):
    """MIN, MAX or OR of two bytes."""
    if kind == MIN:
        return min(old, new)
    if kind == MAX:
        return max(old, new)
    return old | new


def write_quad(quad, image, sampler, memory, memory_base, xor_patterns=()):
    """Process one quad; returns (texel samples, bytes written after combining in each beat)."""
    lanes = [sample_lane(quad, lane, image, sampler) for lane in range(4) if quad.live[lane]]
    samples = writes = 0
    for tap in range(max((len(lane.taps) for lane in lanes), default=0)):
        for slot in range(2):
            beat = {}  # address -> combined value
            for lane in lanes:
                for address, value in beat_texels(lane, tap, slot, image, sampler, xor_patterns):
                    samples += 1
                    old = beat.get(address, value)
                    beat[address] = combine(image.linked_type, old, value)
            writes += len(beat)
            for address, value in beat.items():
                at = address - memory_base
                memory[at] = combine(image.linked_type, memory[at], value)
    return samples, writes


def map_levels(lane, image):
    """(map mip, value) per mip slot: MinMip has one map level, MipRegionUsed the lane's mips."""
    if image.linked_type == USED:
        return [(image.base_level + level, 1) for level in lane.levels]
    return [(0, minmip_value(lane.limited, image))]


def beat_texels(lane, tap, slot, image, sampler, xor_patterns):
    """(address, value) of each texel sample of one lane in one beat."""
    slots = map_levels(lane, image)
    if tap >= len(lane.taps) or slot >= len(slots):
        return []
    mip, value = slots[slot]
    dims = [max(1, n >> mip) for n in image.map_size]
    found = []
    for (x, y, z), _ in footprint(lane.taps[tap], dims, lane.linear, sampler):
        depth = z if image.axes == 3 else lane.slice
        at = layout.texel_address(image, mip, x, y, depth, xor_patterns)
        found.append((at, value))
    return found
