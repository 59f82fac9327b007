"""Mip chains, tails and byte addresses of one plane (spec 05, 4).

Mips are stored smallest first. Layout sizes of mips round up. A chain belongs to one array slice,
to one slice of a LINEAR or thin volume, or to one slab of a volume, as thick as its blocks.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from minmip.sim.layout.hardware import AddressConfig
from minmip.sim.layout.modes import SwizzleMode
from minmip.sim.layout.patterns import Pattern, block_pattern, block_shape

__all__ = ["MipPlace", "Surface", "lay_out_surface", "round_up"]


@dataclass(frozen=True, kw_only=True)
class MipPlace:
    """Where one mip lies.

    `size` is width, height and depth (1 for arrays) in elements, rounded up. `pitch` and `rows` are
    padded to the block; in the tail they are those of the slot, half as large from mip to mip.
    `offset` is in bytes from the start of a slab's chain (0 in the tail). `shift` is what a tail
    mip adds to x and y, None outside the tail; `slot` is its nominal byte offset in the tail.
    """

    size: tuple[int, int, int]
    pitch: int
    rows: int
    offset: int
    shift: tuple[int, int] | None = None
    slot: int = 0


@dataclass(frozen=True, kw_only=True)
class Surface:
    """Layout of one plane.

    `block` is width, height and depth in elements; `slab_bytes` the chain of a slab and the
    distance of slabs; `slabs` how many; `first_tail` the first mip of the tail, or their number;
    `flip` the address bits that pipeBankXor flips; `pattern` is None for LINEAR.
    """

    element_log2: int
    block: tuple[int, int, int]
    block_log2: int
    pattern: Pattern | None
    slab_bytes: int
    slabs: int
    first_tail: int
    mips: tuple[MipPlace, ...]
    flip: int = 0

    @property
    def total_bytes(self) -> int:
        """Bytes of the whole plane."""
        return self.slab_bytes * self.slabs

    def offset(self, mip: int, x, y, z):
        """Byte offset of elements of a mip: coordinates broadcast, z is the slice or the depth.

        Coordinates are not checked; whole arrays give int64.
        """
        place = self.mips[mip]
        if self.pattern is None:
            element = y * place.pitch + x
            return self.slab_bytes * z + place.offset + (element << self.element_log2)
        width, height, depth = self.block
        start = self.slab_bytes * (z // depth) + place.offset
        if place.shift is not None:
            inside = self.pattern.offset(x + place.shift[0], y + place.shift[1], z)
            return start + (self._in_block(inside) ^ self.flip)
        block = (y // height) * (place.pitch // width) + x // width
        inside = self.pattern.offset(x, y, z)
        return start + (block << self.block_log2) + (self._in_block(inside) ^ self.flip)

    def _in_block(self, address):
        return address & (1 << self.block_log2) - 1


def lay_out_surface(
    mode: SwizzleMode,
    dimension: str,
    size: tuple[int, int, int],
    mips: int,
    element_bytes: int,
    config: AddressConfig,
    pipe_bank_xor: int = 0,
) -> Surface:
    """Lay out a plane of `size` elements: width, height and slices or depth. The mode is legal."""
    element_log2 = element_bytes.bit_length() - 1
    thick = mode.thick(dimension)
    block_log2 = mode.block_log2(config.var_log2)
    if mode.linear:
        block, pattern = (256 >> element_log2, 1, 1), None
    else:
        block = block_shape(element_log2, block_log2, thick=thick)
        pattern = block_pattern(mode, dimension, element_log2, config)
    shapes = [_mip_size(size, level, dimension) for level in range(mips)]
    first_tail = mips
    if block_log2 > 8 and mips > 1:
        first_tail = _first_tail(shapes, mode, element_log2, block, block_log2, thick, config)
    # A chain with a tail starts with its block; mips follow from the smallest to mip 0.
    places: list[MipPlace] = []
    start = 1 << block_log2 if first_tail < mips else 0
    for shape in reversed(shapes[:first_tail]):
        pitch, rows = round_up(shape[0], block[0]), round_up(shape[1], block[1])
        places.append(MipPlace(size=shape, pitch=pitch, rows=rows, offset=start))
        start += pitch * rows * block[2] << element_log2
    places.reverse()
    places += [
        _tail_place(index, shape, element_log2, block, block_log2, thick)
        for index, shape in enumerate(shapes[first_tail:])
    ]
    return Surface(
        element_log2=element_log2,
        block=block,
        block_log2=block_log2,
        pattern=pattern,
        slab_bytes=start,
        slabs=-(-size[2] // block[2]),
        first_tail=first_tail,
        mips=tuple(places),
        flip=config.xor_mask(pipe_bank_xor, block_log2) if mode.xor else 0,
    )


def round_up(value: int, unit: int) -> int:
    """Return the lowest multiple of `unit` that is not below `value`."""
    return -(-value // unit) * unit


def _mip_size(size: tuple[int, int, int], level: int, dimension: str) -> tuple[int, int, int]:
    """Layout size of a mip, rounded up; an array's slices do not count."""
    width, height, depth = (-(-side >> level) for side in size)
    return width, height, depth if dimension == "3D" else 1


def _tail_capacity(block_log2: int, thick: bool) -> int:
    """Slots of a tail."""
    log2 = block_log2 - (block_log2 - 8) // 3 if thick else block_log2
    return 1 + (1 << log2 - 9) if log2 <= 11 else log2 - 4


def _tail_box(block: tuple[int, int, int], block_log2: int, thick: bool) -> tuple[int, int, int]:
    """Largest mip that a tail takes: half a block."""
    halved = (1, 0, 2)[block_log2 % 3] if thick else 0
    width, height, depth = (side >> (axis == halved) for axis, side in enumerate(block))
    return width, height, depth


def _first_tail(shapes, mode, element_log2, block, block_log2, thick, config) -> int:
    width, height, _ = _tail_box(block, block_log2, thick)
    if mode.micro == "Z" and element_log2 < 2 and config.rb_plus:
        # The tail of narrow Z surfaces starts later, on all parts but Navi1x.
        box = block_shape(element_log2, 8, thick=False)
        width, height = width // (box[0] // 8), height // (box[1] // 8)
    slots = _tail_capacity(block_log2, thick)
    for level, shape in enumerate(shapes):
        if shape[0] <= width and shape[1] <= height and len(shapes) - level <= slots:
            return level
    return len(shapes)


def _tail_place(index, shape, element_log2, block, block_log2, thick) -> MipPlace:
    """Place of the tail's mip `index`, 0 the largest (spec 05, 4.2 steps 7 and 8)."""
    slot, shift, box = _tail_slot(index, element_log2, block_log2, thick)
    largest = _tail_box(block, block_log2, thick)
    return MipPlace(
        size=shape,
        pitch=max(largest[0] >> index, box[0]),
        rows=max(largest[1] >> index, box[1]),
        offset=0,
        shift=shift,
        slot=slot,
    )


@cache
def _tail_slot(index, element_log2, block_log2, thick):
    """Nominal byte offset in the tail, what to add to x and y, and the 256-byte box in elements."""
    number = _tail_capacity(block_log2, thick) - 1 - index
    slot = 16 << number if number > 6 else 256 * number
    columns, lines = (
        sum((slot >> bit & 1) << n for n, bit in enumerate(range(first, 20, 2))) for first in (9, 8)
    )
    if block_log2 % 2:
        columns, lines = lines, columns
        if element_log2 % 2:
            columns, lines = columns >> 1, 2 * lines + (columns & 1)
    box = block_shape(element_log2, 8, thick=thick)
    return slot, (columns * box[0], lines * box[1]), box
