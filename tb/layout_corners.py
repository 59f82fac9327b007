"""Maps at the corners of the layout rules (spec 05, 4): block, tail box and tail slots exactly."""

from __future__ import annotations

from itertools import product

import numpy as np
from map_vectors import Maps, map_layouts

from minmip.hw.config import UnitConfig
from minmip.sim.golden.address import map_layout
from minmip.sim.golden.block import block_of

__all__ = ["corner_maps"]


def corner_maps(cfg: UnitConfig, base: int = 0x12_3456_5A00) -> Maps:
    """Maps of every layout of a build whose mips just fit a block or a tail, or just do not.

    Sides are near those of the block and of the tail's largest mip, times 1 and 4, on both axes or
    on one; mips up to 16, and as many as the tail has slots; depth just one and two slabs.
    """
    rows = []
    for sw_mode, volume in map_layouts(cfg):
        block = block_of(sw_mode, volume, cfg.xor_patterns)
        sides = []
        for largest, log2 in zip(block.tail_box, block.log2, strict=False):
            near = {largest - 1, largest, largest + 1, 1 << log2, (1 << log2) + 1, 4 * largest}
            sides.append([side for side in sorted({*near, 4 * largest + 1}) if side > 0])
        flat = [(x, y) for x, y in product(*sides) if 1 in (x, y) or x - y in (0, 1, -1)]
        flat += [(x, 1) for x in sides[0]] + [(1, y) for y in sides[1]] + [(16384, 16384)]
        mips = {1, 2, 16, *(n for n in range(block.slots - 1, block.slots + 3) if n > 0)}
        depths = [1 << block.depth_log2, (1 << block.depth_log2) + 1, 8192]
        for n, ((x, y), count) in enumerate(product(dict.fromkeys(flat), sorted(mips))):
            rows.append((sw_mode, volume, x, y, depths[n % 3], count))
    sw_mode, volume, x, y, z, mips = np.array(rows, np.int64).T
    bases = np.full(len(rows), base)
    size = np.stack([x, y, z], axis=1)
    return Maps(map_layout(sw_mode, bases, size, mips, volume == 1, cfg.xor_patterns), size, mips)
