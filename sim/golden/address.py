"""Byte addresses of map texels: mip chains, tails, slices and slabs (spec 05, 4).

Maps have one byte per texel. Mips are stored smallest first; layout sizes round up, texel sizes
round down.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from minmip.hw.config import XorPattern
from minmip.sim.golden.block import SLOTS, Block, Blocks, blocks

__all__ = ["MapLayout", "map_layout", "texel_address"]

MIPS = 16


@dataclass(eq=False)
class MapLayout:
    """Where the texels of each map lie; arrays over descriptors.

    `kind` is the row of its block in `blocks`. `base` is where the map starts: under a pipe XOR
    the start of a block; `flip` are the address bits inside each block that pipeBankXor flips.
    `pitch` and `offset` [n, 16] are the padded width in texels and the byte offset in the chain, by
    mip; mips from `first_tail` on are in the tail, at offset 0 (there is none if it is their
    number), and `shift` [n, 16, 2] is what they add to x and y. `chain_bytes` is one slice, or one
    slab of thick blocks.
    """

    blocks: Blocks
    kind: np.ndarray
    base: np.ndarray
    flip: np.ndarray
    pitch: np.ndarray
    offset: np.ndarray
    first_tail: np.ndarray
    shift: np.ndarray
    chain_bytes: np.ndarray

    @property
    def sw_mode(self) -> np.ndarray:
        """Swizzle mode of each map."""
        return self.kind >> 1

    @property
    def swizzled(self) -> np.ndarray:
        """Which maps are not LINEAR."""
        return self.sw_mode > 0

    @property
    def volume(self) -> np.ndarray:
        """Which maps are volumes."""
        return self.kind & 1 == 1

    @property
    def block_bytes(self) -> np.ndarray:
        """Bytes of a block of each map."""
        return 1 << self.blocks.bytes_log2[self.kind]

    def total_bytes(self, slices: np.ndarray) -> np.ndarray:
        """Bytes of whole maps with `slices` array slices, or that depth for volumes."""
        return self.chain_bytes * -(-slices >> self.blocks.log2[self.kind, 2])


def map_layout(
    sw_mode: np.ndarray,
    base: np.ndarray,
    size: np.ndarray,
    mips: np.ndarray,
    volume: np.ndarray,
    xor_patterns: tuple[XorPattern, ...] = (),
) -> MapLayout:
    """Lay out maps of `size` [n, 3] texels with `mips` [n] levels (spec 05, 4.1, 4.2 and 8.1).

    Modes that are not legal for a map are laid out somehow; legality refuses them.
    """
    table = blocks(xor_patterns)
    kind = 2 * np.asarray(sw_mode) + volume
    level = np.arange(MIPS)
    sides = (size[:, :2, None] + (1 << level) - 1) >> level
    cells = -(-sides >> table.log2[kind, :2, None])
    behind = mips[:, None] - level  # mips from this one on
    # Depth is not tested, and a map of one mip never has a tail.
    fits = (sides <= table.tail_box[kind][:, :, None]).all(axis=1)
    tail = fits & (behind > 0) & (behind <= table.slots[kind, None]) & (mips > 1)[:, None]
    mip_blocks = np.where((behind > 0) & ~tail, cells.prod(axis=1), 0)
    chain = mip_blocks.sum(axis=-1) + tail.any(axis=-1)
    start = np.where(mip_blocks > 0, chain[:, None] - mip_blocks.cumsum(axis=-1), 0)

    block_log2 = table.bytes_log2[kind]
    first_tail = mips - tail.sum(axis=-1)
    slot = np.where(tail, table.slots[kind, None] - 1 - (level - first_tail[:, None]), SLOTS - 1)
    shift = np.where(tail[:, :, None], table.tail_shift[kind[:, None], slot], 0)
    flip = np.where(table.xor[kind], base & (1 << block_log2) - 1, 0)
    return MapLayout(
        blocks=table,
        kind=kind,
        base=base - flip,
        flip=flip,
        pitch=cells[:, 0] << table.log2[kind, :1],
        offset=start << block_log2[:, None],
        first_tail=first_tail,
        shift=shift,
        chain_bytes=chain << block_log2,
    )


def texel_address(
    layout: MapLayout,
    row: np.ndarray,
    mip: np.ndarray,
    x: np.ndarray,
    y: np.ndarray,
    z: np.ndarray,
) -> np.ndarray:
    """Byte address of texels: `row` picks the map, z is the slice or the depth; int64.

    The arrays broadcast together if all rows are alike in swizzle mode and kind.
    """
    kind = layout.kind[row]
    present = np.flatnonzero(np.bincount(np.ravel(kind), minlength=1))
    if len(present) == 1:
        return _address(layout, layout.blocks.block[present[0]], row, mip, x, y, z)
    address = np.empty(np.shape(x), np.int64)
    for number in present:
        mask = kind == number
        places = (part[mask] for part in (row, mip, x, y, z))
        address[mask] = _address(layout, layout.blocks.block[number], *places)
    return address


def _address(layout: MapLayout, block: Block, row, mip, x, y, z) -> np.ndarray:
    """Addresses of texels of maps with the same kind of block."""
    width, height, depth = block.log2
    start = layout.base[row] + layout.offset[row, mip] + layout.chain_bytes[row] * (z >> depth)
    if block.slots:
        shift = layout.shift[row, mip]
        # No tail mip has texels at the bits of its shift.
        x, y = x | shift[..., 0], y | shift[..., 1]
    cell = (y >> height) * (layout.pitch[row, mip] >> width) + (x >> width)
    inside = block.inside(x, y, z)
    if block.xor:
        inside = inside ^ layout.flip[row]
    return start + (cell << block.bytes_log2) + inside
