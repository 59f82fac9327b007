"""Blocks of the swizzle modes: shape, address bits inside, mip tail (spec 05, sections 2 to 4).

Texels have one byte, so that a coordinate bit is an address bit, or several under a pipe XOR.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from minmip.hw.config import XorPattern

__all__ = ["MODES", "SLOTS", "Block", "block_of", "blocks"]

MODES = 32
SLOTS = 12
"""Most mips that a tail holds."""

# Source of address bits 0, 1, 2, ...: the largest block's, of which smaller ones have the first.
LINEAR = "x0 x1 x2 x3 x4 x5 x6 x7"
THIN_S = "x0 x1 x2 x3 y0 y1 y2 y3 y4 x4 y5 x5 y6 x6 y7 x7"
THIN_D = "x0 x1 x2 y1 y0 y2 x3 y3 y4 x4 y5 x5 y6 x6 y7 x7"
THICK_S = "x0 x1 z0 y0 z1 y1 x2 z2 y2 x3 z3 y3 x4 z4 y4 x5"
MICRO_BITS = 8
"""Address bits that no pipe XOR touches, and those of a tail's smallest slot."""

# Log2 of the block's bytes, by SW_MODE >> 2; modes that are not here are refused.
BYTES_LOG2 = {0: 8, 1: 12, 2: 16, 4: 16, 5: 12, 6: 16}
FIRST_XOR_MODE = 16
# By log2 of the block's bytes and whether it is thick: the side that is halved (x, y) for the
# largest mip of a tail, and how many mips a tail holds.
TAILS = {(12, False): (0, 8), (16, False): (0, 12), (12, True): (1, 5), (16, True): (0, 10)}


@dataclass(frozen=True, kw_only=True)
class Block:
    """Block of a swizzle mode; LINEAR has rows of 256 bytes.

    `log2` are width, height and depth in texels; `bits` the masks of x, y and z for each address
    bit, whose parity it is; `xor` is whether the mode has a pipe XOR, which `bits` then holds.
    """

    log2: tuple[int, int, int]
    bits: tuple[tuple[int, int, int], ...]
    xor: bool

    @property
    def bytes_log2(self) -> int:
        """Log2 of the block's bytes."""
        return len(self.bits)

    @property
    def depth_log2(self) -> int:
        """Log2 of the depth of a slab; 0 for thin blocks."""
        return self.log2[2]

    @cached_property
    def moves(self) -> tuple[tuple[int, int, int], ...]:
        """Axis, mask and shift: coordinate bits that move to their address bits by one shift."""
        found: dict[tuple[int, int], int] = {}
        for place, masks in enumerate(self.bits):
            for axis, mask in enumerate(masks):
                for bit in range(mask.bit_length()):
                    if mask >> bit & 1:
                        key = axis, place - bit
                        found[key] = found.get(key, 0) | 1 << bit
        return tuple((axis, mask, shift) for (axis, shift), mask in found.items())

    def inside(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Address bits inside the block, int64; whole coordinates, which broadcast."""
        address = np.zeros((), np.int64)
        for axis, mask, shift in self.moves:
            part = (x, y, z)[axis] & mask
            address = address ^ (part << shift if shift >= 0 else part >> -shift)
        return address

    @property
    def slots(self) -> int:
        """Mips that a tail holds; 0 where there is none."""
        return TAILS.get((self.bytes_log2, self.depth_log2 > 0), (0, 0))[1]

    @property
    def tail_box(self) -> tuple[int, int]:
        """Width and height of the largest mip in a tail, in texels."""
        halved, slots = TAILS.get((self.bytes_log2, self.depth_log2 > 0), (0, 0))
        if not slots:
            return 0, 0
        width, height = (1 << log2 - (axis == halved) for axis, log2 in enumerate(self.log2[:2]))
        return width, height

    def tail_shift(self, slot: int) -> tuple[int, int]:
        """What is added to x and y in a slot of the tail, counted from the smallest."""
        start = 16 << slot if slot > 6 else 256 * slot
        columns, rows = (
            sum((start >> bit & 1) << n for n, bit in enumerate(range(first, 16, 2)))
            for first in (MICRO_BITS + 1, MICRO_BITS)
        )
        micro = _log2(self.bits[:MICRO_BITS])
        return columns << micro[0], rows << micro[1]


@cache
def block_of(sw_mode: int, volume: bool, xor_patterns: tuple[XorPattern, ...] = ()) -> Block:
    """Block of a mode. One that no map may have gets the shape of its size, for a layout's sake."""
    volume = volume and sw_mode > 0
    text = THICK_S if volume else (THIN_D if sw_mode & 3 == 2 else THIN_S)
    names = LINEAR if sw_mode == 0 else text
    plain = tuple(_masks(name) for name in names.split()[: BYTES_LOG2.get(sw_mode >> 2, 8)])
    bits = plain
    for pattern in xor_patterns:
        if (pattern.mode, pattern.volume) == (sw_mode, volume):
            bits = plain[:MICRO_BITS] + pattern.bits
    return Block(log2=_log2(plain), bits=bits, xor=sw_mode >= FIRST_XOR_MODE)


@dataclass(frozen=True, eq=False)
class Blocks:
    """The blocks of all modes as arrays; rows by 2 * SW_MODE + (1 for volumes).

    `log2` [n, 3], `bytes_log2`, `xor`, `slots` and `tail_box` [n, 2] as in `Block`; `tail_shift`
    [n, SLOTS, 2] by slot.
    """

    block: tuple[Block, ...]
    log2: np.ndarray
    bytes_log2: np.ndarray
    xor: np.ndarray
    slots: np.ndarray
    tail_box: np.ndarray
    tail_shift: np.ndarray


@cache
def blocks(xor_patterns: tuple[XorPattern, ...] = ()) -> Blocks:
    """Blocks of all modes, for maps of a part with these pipe XORs."""
    found = tuple(
        block_of(mode, volume, xor_patterns) for mode in range(MODES) for volume in (False, True)
    )
    shifts = [
        [block.tail_shift(slot) if slot < block.slots else (0, 0) for slot in range(SLOTS)]
        for block in found
    ]
    return Blocks(
        block=found,
        log2=np.array([block.log2 for block in found]),
        bytes_log2=np.array([block.bytes_log2 for block in found]),
        xor=np.array([block.xor for block in found]),
        slots=np.array([block.slots for block in found]),
        tail_box=np.array([block.tail_box for block in found]),
        tail_shift=np.array(shifts),
    )


def _masks(name: str) -> tuple[int, int, int]:
    """Masks of x, y and z of one coordinate bit, as spec 05 writes it."""
    x, y, z = (1 << int(name[1:]) if name[0] == axis else 0 for axis in "xyz")
    return x, y, z


def _log2(bits: tuple[tuple[int, int, int], ...]) -> tuple[int, int, int]:
    """How many bits of each axis there are."""
    width, height, depth = (sum(masks[axis] > 0 for masks in bits) for axis in range(3))
    return width, height, depth
