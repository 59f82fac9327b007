"""Spec 05: byte addresses in a one-byte map, LINEAR and 256B_S (sections 3, 4.1, 8.1, 8.2)."""

LINEAR, B256_S = 0, 1

# Source of address bits 0, 1, 2 ... inside a 256-byte block: (axis, bit).
MICRO_2D = "x0 x1 x2 x3 y0 y1 y2 y3".split()
MICRO_3D = "x0 x1 z0 y0 z1 y1 x2 z2".split()
BOX_2D = (16, 16, 1)
BOX_3D = (8, 4, 8)
ROW = (256, 1, 1)


def up(v, a):
    """V rounded up to a multiple of a."""
    return (v + a - 1) // a * a


def ceil2(v, i):
    """ceil(v / 2^i), the size used for layout."""
    return (v + (1 << i) - 1) >> i


def box(sw_mode, axes):
    """Block dimensions; a volume in 256B_S is thick."""
    if sw_mode == LINEAR:
        return ROW
    return BOX_3D if axes == 3 else BOX_2D


def padded(size, mip, block):
    """(pitch, rows) of one mip."""
    width, height = size[0], size[1] if len(size) > 1 else 1
    return up(ceil2(width, mip), block[0]), up(ceil2(height, mip), block[1])


def mip_bytes(size, mip, block):
    """Bytes of one mip in one slice, depth slice or slab."""
    pitch, rows = padded(size, mip, block)
    return pitch * rows * block[2]


def chain_bytes(size, mips, block):
    """Bytes of all mips of one slice, depth slice or slab."""
    return sum(mip_bytes(size, mip, block) for mip in range(mips))


def mip_offset(size, mip, mips, block):
    """Mips are stored smallest first."""
    return sum(mip_bytes(size, smaller, block) for smaller in range(mip + 1, mips))


def total_bytes(image):
    """Bytes of the whole map: all mips, all slices, depth slices or slabs."""
    size = image.map_size
    block = box(image.sw_mode, len(size))
    chain = chain_bytes(size, image.max_mip + 1, block)
    depth = size[2] if len(size) == 3 else 1
    return chain * image.map_slices * (up(depth, block[2]) // block[2])


def micro(x, y, z, sources):
    """Offset inside a block from the source of each address bit."""
    coordinate = {"x": x, "y": y, "z": z}
    return sum(
        (coordinate[source[0]] >> int(source[1:]) & 1) << i for i, source in enumerate(sources)
    )


def texel_address(image, mip, x, y, z):
    """Byte address of map texel (x, y) of a mip; z is the slice, or the depth of a volume."""
    size = image.map_size
    mips = image.max_mip + 1
    block = bw, bh, bd = box(image.sw_mode, len(size))
    pitch, _ = padded(size, mip, block)
    chain = chain_bytes(size, mips, block)
    start = image.base + chain * (z // bd) + mip_offset(size, mip, mips, block)
    if image.sw_mode == LINEAR:
        return start + y * pitch + x
    sources = MICRO_3D if len(size) == 3 else MICRO_2D
    return start + 256 * ((y // bh) * (pitch // bw) + x // bw) + micro(x, y, z, sources)
