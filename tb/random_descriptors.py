"""Random descriptors: mostly legal and inside memory, every rule of spec 01 broken now and then.

Every function takes a `random.Random`; `modes` are the swizzle modes that the build has.
"""

import numpy as np
from reference.layout import BYTES, LINEAR, block_name, box, has_xor, total_bytes, up
from reference.words import decode_image

from minmip.hw.config import FULL, VOLUME_MODES
from minmip.sim.descriptor_words import S_FIELDS, S_WORDS, T_FIELDS, T_WORDS, pack

TYPES = (8, 9, 9, 9, 10, 12, 13, 13)
# Bits of the words that must have no effect: reserved, kept, counters.
_T_IDLE = [(61, 1), (94, 1), (160, 4), (180, 4), (185, 7), (192, 21), (214, 42), (96, 12)]
_S_IDLE = [(12, 3), (19, 8), (28, 3), (31, 1), (56, 4), (60, 4), (78, 6), (92, 1), (94, 1)]
_S_IDLE += [(108, 18)]


def chance(r, p):
    return r.random() < p


def axis_size(r):
    """1..16384, often small, often no power of two."""
    return r.choice(
        [
            lambda: 1 << r.randint(0, 6),
            lambda: r.randint(1, 70),
            lambda: 1 << r.randint(0, 14),
            lambda: r.randint(1, 16384),
            lambda: r.choice([1, 2, 3, 255, 256, 257, 8191, 8192, 16383, 16384]),
        ]
    )()


def legal_modes(kind, modes):
    """Those of the modes, in order, that maps of a resource type may have."""
    legal = {8: {0, 1}, 12: {0, 1}, 10: VOLUME_MODES}.get(kind, modes)
    return sorted(legal & modes)


def room(sw_mode, memory_base, memory_size):
    """First byte and bytes of what maps in a mode may take; under a pipe XOR, whole blocks."""
    start = up(memory_base, BYTES[block_name(sw_mode)]) if has_xor(sw_mode) else memory_base
    return start, memory_base + memory_size - start


def fitting(modes, memory_base, memory_size):
    """Those of the modes of which a block fits the memory; all if there is none."""
    found = {
        mode for mode in modes if room(mode, memory_base, memory_size)[1] >= BYTES[block_name(mode)]
    }
    return frozenset(found) or modes


def scale(r, size, sw_mode):
    """log2(paired / map): mostly such that the map has few blocks, 64 texels on the axis or so."""
    if chance(r, 0.05):
        return r.randint(0, 15)
    reach = {256: 6, 4096: 7, 65536: 9}[BYTES[block_name(sw_mode)]]
    least = max(0, size.bit_length() - 1 - reach)
    return min(15, least + r.choice([0, 0, 1, 2, 3, 4, 15]))


def image_fields(r, linked_type, types=TYPES, modes=FULL.swizzle_modes):
    """Fields of a legal T#, all but the base address."""
    kind = r.choice(types)
    width, height = axis_size(r), axis_size(r)
    small = r.choice([r.randint(1, 9), r.randint(1, 40), 1 << r.randint(0, 5)])
    depth = r.choice([8191, 8192]) if chance(r, 0.01) else small
    last = r.choice([0, 1, 2, 4, r.randint(0, 15)])
    base = r.choice([0, 0, 0, last, r.randint(0, last)])
    legal = legal_modes(kind, modes) or sorted(modes)
    fields = {
        "WIDTH": width - 1,
        "HEIGHT": height - 1,
        "TYPE": kind,
        "BASE_LEVEL": base,
        "LAST_LEVEL": last,
        "MIN_LOD": r.choice([0, 0, 0, 0, 0, 128 * r.randint(0, 9), r.randint(0, 4095)]),
        "FORMAT": r.choice([1, 5]),
        "RESOURCE_LEVEL": 1,
        "SW_MODE": r.choice(legal) if linked_type else r.randint(0, 31),
    }
    if kind == 10:
        fields["DEPTH"], fields["BASE_ARRAY"] = depth - 1, r.choice([0, 0, r.randint(0, 65535)])
    elif kind in (12, 13):
        fields["DEPTH"] = r.choice([0, 1, 3, r.randint(0, 9)])
        if chance(r, 0.02):
            fields["DEPTH"] = 8191
        fields["BASE_ARRAY"] = r.randint(0, fields["DEPTH"])
    else:
        fields["DEPTH"] = r.choice([0, 0, r.randint(0, 65535)])
        fields["BASE_ARRAY"] = 8191 if chance(r, 0.02) else r.choice([0, 0, 1, 3])
    if linked_type:
        sw_mode = fields["SW_MODE"]
        fields |= {
            "LINKED_RESOURCE": 1,
            "LINKED_RESOURCE_TYPE": linked_type,
            "MAX_MIP": r.randint(last, min(15, last + 1)) if linked_type == 1 else 0,
            "WIDTH_SCALE": scale(r, width, sw_mode),
            "HEIGHT_SCALE": scale(r, height, sw_mode),
            "DEPTH_SCALE": scale(r, depth, sw_mode),
        }
    else:
        fields |= {"MAX_MIP": r.randint(0, 15), "COMPRESSION_EN": r.randint(0, 1)}
        fields |= {"LINKED_RESOURCE_TYPE": r.randint(0, 7), "WIDTH_SCALE": r.randint(0, 15)}
    return fields


def break_image(r, fields, modes=FULL.swizzle_modes):
    """Change a T# so that one of its rules breaks (or several)."""
    refused = set(range(32)) - set(legal_modes(fields["TYPE"], modes))
    if modes & refused and chance(r, 0.5):  # built in, but not for this type
        refused &= modes
    changes = {
        2: lambda: {"TYPE": r.choice([14, 15])},
        5: lambda: {"LINKED_RESOURCE_TYPE": r.choice([0, 5, 6, 7])},
        6: lambda: {"COMPRESSION_EN": 1},
        10: lambda: {"MAX_MIP": r.randint(1, 15)},
        11: lambda: {"TYPE": 11},
        12: lambda: {"BASE_LEVEL": r.randint(1, 15), "LAST_LEVEL": r.randint(0, 4)},
        13: lambda: r.choice(
            [
                {"TYPE": r.randint(0, 7)},
                {"TYPE": r.choice([12, 13]), "DEPTH": 2, "BASE_ARRAY": r.choice([3, 65535])},
            ]
        ),
        14: lambda: {"SW_MODE": r.choice(sorted(refused))},
        15: lambda: {"LINKED_RESOURCE_TYPE": 1, "LAST_LEVEL": r.randint(1, 15), "MAX_MIP": 0},
        16: lambda: {"FORMAT": r.choice([0, 2, 22, 56, 169, 261, 511])},
        18: lambda: r.choice(
            [
                {"WIDTH": r.choice([16384, 65535])},
                {"HEIGHT": r.choice([16384, 65535])},
                {"TYPE": r.choice([10, 12, 13]), "DEPTH": r.choice([8192, 65535])},
                {"TYPE": r.choice([8, 9]), "BASE_ARRAY": r.choice([8192, 65535])},
                {"RESOURCE_LEVEL": 0},
            ]
        ),
    }
    return fields | changes[r.choice(sorted(changes))]()


def shrink(fields, memory_base, memory_size):
    """Coarsen the map, then take slices away, until it fits the memory or is as small as can be."""
    mode = fields["SW_MODE"]
    size = room(mode, memory_base, memory_size)[1]
    block = box(mode, 3 if fields["TYPE"] == 10 else 2)
    # With half a block on each axis all mips are in the tail.
    half = (0, 0) if mode == LINEAR else (block[0] // 2 - 1, block[1] // 2 - 1)
    enough = {name: max(7, side) for name, side in zip(("WIDTH", "HEIGHT"), half, strict=True)}

    def excess(name):
        return (fields[name] >> fields[f"{name}_SCALE"]) - enough[name]

    while total_bytes(decode_image(pack(T_FIELDS, T_WORDS, **fields))) > size:
        axis = max(enough, key=excess)
        if excess(axis) > 0:
            fields[f"{axis}_SCALE"] += 1
        elif fields["TYPE"] == 10 and fields["DEPTH_SCALE"] < 15:
            fields["DEPTH_SCALE"] += 1
        elif fields["TYPE"] != 10 and fields["BASE_ARRAY"]:
            fields["BASE_ARRAY"] //= 2
        elif fields["TYPE"] in (12, 13) and fields["DEPTH"]:
            fields["DEPTH"] //= 2
        elif fields["MAX_MIP"]:
            fields["BASE_LEVEL"] = fields["LAST_LEVEL"] = fields["MAX_MIP"] = 0
        elif fields[f"{axis}_SCALE"] < 15:
            fields[f"{axis}_SCALE"] += 1
        else:
            return


def base_address(r, words, memory_base, memory_size):
    """A base that puts the map inside memory, often at an end; now and then just outside."""
    image = decode_image(words)
    first, size = room(image.sw_mode, memory_base, memory_size)
    try:
        rest = size - total_bytes(image)
    except KeyError:  # a type without axes
        rest = 0
    start = min((1 << 40) - 1, first >> 8)
    last = min((1 << 40) - 1, start + (max(0, rest) >> 8))
    if chance(r, 0.03):
        return max(0, r.choice([start - 1, last + 1, 0, (1 << 40) - 1])) % (1 << 40)
    base = r.choice([start, start, last, r.randint(start, last)])
    if has_xor(image.sw_mode):  # the bits inside the block are a pipeBankXor
        inside = BYTES[block_name(image.sw_mode)] // 256 - 1
        base = base & ~inside | r.choice([0, r.randint(0, inside)])
    return base


def map_views(r, memory_base, memory_size, modes=FULL.swizzle_modes):
    """T# words of 2 to 6 views of one or two maps: some write the map, at least one filters it."""
    views = []
    count = r.choice([2, 2, 3, 4, 6])
    while len(views) < count:
        fields = image_fields(r, 2, modes=fitting(modes, memory_base, memory_size))
        shrink(fields, memory_base, memory_size)
        words = pack(T_FIELDS, T_WORDS, **fields)
        fields["BASE_ADDRESS"] = base_address(r, words, memory_base, memory_size)
        for linked_type in (4, r.choice([1, 2, 2, 3]), r.choice([2, 3, 3, 4])):
            fields["LINKED_RESOURCE_TYPE"] = linked_type
            # With one level the map of type 1 lies as those of the others.
            level = {"BASE_LEVEL": 0, "LAST_LEVEL": 0} if linked_type == 1 else {}
            views.append(pack(T_FIELDS, T_WORDS, **(fields | level)))
    return views[:count]


def image_words(r, linked_type, memory_base, memory_size, types=TYPES, modes=FULL.swizzle_modes):
    """T# words: mostly legal and inside memory."""
    fields = image_fields(r, linked_type, types, fitting(modes, memory_base, memory_size))
    if linked_type and chance(r, 0.97):
        shrink(fields, memory_base, memory_size)
    if chance(r, 0.2):
        fields = break_image(r, fields, modes)
    words = pack(T_FIELDS, T_WORDS, **fields)
    fields["BASE_ADDRESS"] = base_address(r, words, memory_base, memory_size)
    return noise(r, pack(T_FIELDS, T_WORDS, **fields), _T_IDLE)


def noise(r, words, fields):
    """Fill bits that must have no effect."""
    if chance(r, 0.6):
        return words
    total = sum(int(word) << (32 * i) for i, word in enumerate(words))
    for low, width in fields:
        total |= r.getrandbits(width) << low
    return np.array([(total >> (32 * i)) & 0xFFFFFFFF for i in range(len(words))], np.uint32)


def sampler_words(r, anisotropic=False, faults=0.3):
    """S# words: mostly legal for every linked type; `faults` is the share of doubtful ramps."""
    slope = [r.randint(0, 7), r.randint(0, 7)]
    offset = [r.randint({0: 2, 1: 1}.get(code, 0), 5) for code in slope]
    if chance(r, faults):  # any pair; only type 4 with a bilinear filter minds
        slope = [r.randint(0, 2), r.randint(0, 7)]
        offset = [r.choice([0, 1, r.randint(0, 7)]), r.randint(0, 7)]
    low = r.choice([0, 0, 0, 0, 0, 128 * r.randint(0, 9), r.randint(0, 4095)])
    high = r.choice([4095, 4095, 4095, 4095, low, r.randint(0, 4095), r.randint(0, 1024), 0])
    one_mode = r.randint(0, 7)
    fields = {
        **{f"CLAMP_{axis}": r.choice([one_mode, r.randint(0, 7)]) for axis in "XYZ"},
        "MAX_ANISO_RATIO": r.choice([0, 1, 2, 3, 4, 4, 5, 6, 7]),
        "FORCE_UNNORMALIZED": chance(r, 0.02),
        "ANISO_THRESHOLD": r.choice([0, 0, r.randint(0, 7)]),
        "TRUNC_COORD": chance(r, 0.2),
        "MIN_LOD": low,
        "MAX_LOD": high,
        "LOD_BIAS": r.choice(
            [0, 0, 0, 0, 128 * r.randint(-2, 9), r.randint(0, 256), r.randint(-8192, 8191), 8191]
        ),
        "XY_MAG_FILTER": r.randint(0, 3),
        "XY_MIN_FILTER": r.randint(2, 3) if anisotropic else r.randint(0, 3),
        "Z_FILTER": r.randint(0, 3),
        "MIP_FILTER": r.choice([0, 1, 1, 2, 2, 3]),
        "ANISO_OVERRIDE": chance(r, 0.2),
        "DERIV_ADJUST_EN": chance(r, 0.02),
        "MINMIP_SLOPE_U": slope[0],
        "MINMIP_OFFSET_U": offset[0],
        "MINMIP_SLOPE_V": slope[1],
        "MINMIP_OFFSET_V": offset[1],
        "BORDER_COLOR_TYPE": 3 if chance(r, 0.02) else r.randint(0, 2),
    }
    return noise(r, pack(S_FIELDS, S_WORDS, **fields), _S_IDLE)
