"""Spec 05: byte addresses in a one-byte map (sections 1, 3, 3.1, 4 and 8)."""

from functools import lru_cache

LINEAR = 0
# The modes that a map may have, by the names of section 1.
NAMES = {
    0: "LINEAR",
    1: "256B_S",
    2: "256B_D",
    5: "4KB_S",
    6: "4KB_D",
    9: "64KB_S",
    10: "64KB_D",
    17: "64KB_S_T",
    18: "64KB_D_T",
    21: "4KB_S_X",
    22: "4KB_D_X",
    25: "64KB_S_X",
    26: "64KB_D_X",
}

# Source of address bits 0, 1, 2 ... inside a block, the rows "1B" of section 3.
ROWS_2D = {
    "256B_S": "x0 x1 x2 x3 y0 y1 y2 y3",
    "256B_D": "x0 x1 x2 y1 y0 y2 x3 y3",
    "4KB_S": "x0 x1 x2 x3 y0 y1 y2 y3 y4 x4 y5 x5",
    "4KB_D": "x0 x1 x2 y1 y0 y2 x3 y3 y4 x4 y5 x5",
    "64KB_S": "x0 x1 x2 x3 y0 y1 y2 y3 y4 x4 y5 x5 y6 x6 y7 x7",
    "64KB_D": "x0 x1 x2 y1 y0 y2 x3 y3 y4 x4 y5 x5 y6 x6 y7 x7",
}
ROWS_3D = {
    "256B_S": "x0 x1 z0 y0 z1 y1 x2 z2",
    "4KB_S": "x0 x1 z0 y0 z1 y1 x2 z2 y2 x3 z3 y3",
    "64KB_S": "x0 x1 z0 y0 z1 y1 x2 z2 y2 x3 z3 y3 x4 z4 y4 x5",
}
BOXES_2D = {"LINEAR": (256, 1, 1), "256B": (16, 16, 1), "4KB": (64, 64, 1), "64KB": (256, 256, 1)}
BOXES_3D = {"LINEAR": (256, 1, 1), "256B": (8, 4, 8), "4KB": (16, 16, 16), "64KB": (64, 32, 32)}
BYTES = {"LINEAR": 256, "256B": 256, "4KB": 4096, "64KB": 65536}

# Section 4.2, steps 1, 2 and 7: the largest mip of a tail, and the offsets of its slots.
TAIL_BOXES_2D = {"4KB": (32, 64), "64KB": (128, 256)}
TAIL_BOXES_3D = {"4KB": (16, 8), "64KB": (32, 32)}
SMALL_SLOTS = [1536, 1280, 1024, 768, 512, 256, 0]
SLOTS_2D = {
    "4KB": [2048, *SMALL_SLOTS],
    "64KB": [32768, 16384, 8192, 4096, 2048, *SMALL_SLOTS],
}
SLOTS_3D = {
    "4KB": [1024, 768, 512, 256, 0],
    "64KB": [8192, 4096, 2048, *SMALL_SLOTS],
}


def up(v, a):
    """V rounded up to a multiple of a."""
    return (v + a - 1) // a * a


def ceil2(v, i):
    """ceil(v / 2^i), the size used for layout."""
    return (v + (1 << i) - 1) >> i


def block_name(sw_mode):
    """LINEAR, 256B, 4KB or 64KB; a mode that no map may have counts as 256B."""
    return NAMES.get(sw_mode, "256B_S").split("_")[0]


def has_xor(sw_mode):
    return NAMES.get(sw_mode, "").endswith(("_X", "_T"))


def box(sw_mode, axes):
    """Block dimensions; volumes are thick in all modes but LINEAR."""
    return (BOXES_3D if axes == 3 else BOXES_2D)[block_name(sw_mode)]


def mip_size(size, mip):
    """Width and height of one mip for layout."""
    width, height = size[0], size[1] if len(size) > 1 else 1
    return ceil2(width, mip), ceil2(height, mip)


@lru_cache(4096)
def first_tail(image):
    """The first mip in the tail, or the number of mips."""
    block, axes, mips = block_name(image.sw_mode), len(image.map_size), image.max_mip + 1
    boxes, slots = (TAIL_BOXES_3D, SLOTS_3D) if axes == 3 else (TAIL_BOXES_2D, SLOTS_2D)
    if mips >= 2 and block in boxes:
        for mip in range(mips):
            width, height = mip_size(image.map_size, mip)
            fits = width <= boxes[block][0] and height <= boxes[block][1]
            if fits and mips - mip <= len(slots[block]):
                return mip
    return mips


def padded(image, mip):
    """(pitch, rows) of one mip outside the tail."""
    width, height = mip_size(image.map_size, mip)
    block = box(image.sw_mode, len(image.map_size))
    return up(width, block[0]), up(height, block[1])


@lru_cache(4096)
def slab_parts(image):
    """Offset and bytes of the mips outside the tail, and the bytes of one slice or slab.

    Mips are stored smallest first, a tail before them.
    """
    depth = box(image.sw_mode, len(image.map_size))[2]
    mips, tail = image.max_mip + 1, first_tail(image)
    end = BYTES[block_name(image.sw_mode)] if tail < mips else 0
    offsets = {}
    for mip in reversed(range(tail)):
        offsets[mip] = end
        pitch, rows = padded(image, mip)
        end += pitch * rows * depth
    return offsets, end


def start_of(image):
    """The first byte: under a pipe XOR the base's bits inside the block are no part of it."""
    size = BYTES[block_name(image.sw_mode)]
    return image.base // size * size if has_xor(image.sw_mode) else image.base


def total_bytes(image):
    """Bytes of the whole map: all mips, all slices, depth slices or slabs."""
    size = image.map_size
    slab = slab_parts(image)[1]
    deep = box(image.sw_mode, len(size))[2]
    depth = size[2] if len(size) == 3 else 1
    return slab * image.map_slices * (up(depth, deep) // deep)


def plain_bits(x, y, z, row):
    """Offset inside a block from the source of each address bit."""
    coordinate = {"x": x, "y": y, "z": z}
    return sum(
        (coordinate[source[0]] >> int(source[1:]) & 1) << i for i, source in enumerate(row.split())
    )


def parity(value):
    return bin(value).count("1") & 1


def xor_bits(x, y, z, masks):
    """Address bits 8 and up under a pipe XOR: parities of whole coordinates."""
    return sum(
        (parity(x & mx) ^ parity(y & my) ^ parity(z & mz)) << 8 + i
        for i, (mx, my, mz) in enumerate(masks)
    )


def in_block(image, x, y, z, xor_patterns):
    """Offset inside the block."""
    volume = len(image.map_size) == 3
    rows = ROWS_3D if volume else ROWS_2D
    name = NAMES[image.sw_mode]
    if not has_xor(image.sw_mode):
        return plain_bits(x, y, z, rows[name])
    micro = plain_bits(x, y, z, rows["256B_" + name.split("_")[1]])
    for pattern in xor_patterns:
        if pattern.mode == image.sw_mode and pattern.volume == volume:
            pipe_bank_xor = image.base % BYTES[block_name(image.sw_mode)]
            return (micro + xor_bits(x, y, z, pattern.bits)) ^ pipe_bank_xor
    raise ValueError(f"the build has no pipe XOR for mode {name}")


def tail_shift(image, k):
    """What the tail's mip k, 0 the largest, adds to x and y (section 4.2, steps 7 and 8)."""
    axes = len(image.map_size)
    t = (SLOTS_3D if axes == 3 else SLOTS_2D)[block_name(image.sw_mode)][k]
    width, height, _ = box(1, axes)  # the 256B box
    cx = sum((t >> bit & 1) << i for i, bit in enumerate((9, 11, 13, 15)))
    cy = sum((t >> bit & 1) << i for i, bit in enumerate((8, 10, 12, 14)))
    return cx * width, cy * height


def texel_address(image, mip, x, y, z, xor_patterns=()):
    """Byte address of map texel (x, y) of a mip; z is the slice, or the depth of a volume."""
    bw, bh, bd = box(image.sw_mode, len(image.map_size))
    offsets, slab = slab_parts(image)
    start = start_of(image) + slab * (z // bd)
    tail = first_tail(image)
    if mip >= tail:
        tx, ty = tail_shift(image, mip - tail)
        return start + in_block(image, x + tx, y + ty, z, xor_patterns)
    start += offsets[mip]
    pitch, _ = padded(image, mip)
    if image.sw_mode == LINEAR:
        return start + y * pitch + x
    block = (y // bh) * (pitch // bw) + x // bw
    size = BYTES[block_name(image.sw_mode)]
    return start + size * block + in_block(image, x, y, z, xor_patterns)
