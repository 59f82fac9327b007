"""Faults of the golden model's layouts, for `test_mutants.py`: name, module, attribute, factory."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from minmip.hw.config import VOLUME_MODES
from minmip.sim.golden import address, block, descriptor


def constant(value):
    return lambda original: value


def blocks_with(**names):
    """Mutant of the blocks of all modes: names of their module replaced while they are made."""

    def factory(original):
        @cache
        def mutant(xor_patterns):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(block, "block_of", block.block_of.__wrapped__)
                for name, value in names.items():
                    patch.setattr(block, name, value)
                return original.__wrapped__(xor_patterns)

        return mutant

    return factory


def exchanged(name, one, other):
    """Blocks with two address bits exchanged."""
    bits = getattr(block, name).split()
    a, b = bits.index(one), bits.index(other)
    bits[a], bits[b] = other, one
    return blocks_with(**{name: " ".join(bits)})


def tails_with(key, value):
    return blocks_with(TAILS=block.TAILS | {key: value})


def on_layout(change):
    """Mutant of the layout: `change(layout, base, mips)` alters it in place."""

    def factory(original):
        def mutant(sw_mode, base, size, mips, volume, xor_patterns=()):
            layout = original(sw_mode, base, size, mips, volume, xor_patterns)
            change(layout, base, mips)
            return layout

        return mutant

    return factory


def pipe_bank_xor_ignored(layout, base, mips):
    layout.flip[:] = 0


def pipe_bank_xor_moves_the_map(layout, base, mips):
    layout.base += layout.flip
    layout.flip[:] = 0


def tail_behind_the_chain(layout, base, mips):
    """The tail behind the largest mip instead of before the smallest."""
    tail = (layout.first_tail < mips)[:, None]
    block_bytes = layout.block_bytes[:, None]
    in_tail = np.arange(layout.offset.shape[1]) >= layout.first_tail[:, None]
    behind = layout.chain_bytes[:, None] - block_bytes
    layout.offset -= np.where(tail, block_bytes, 0)
    layout.offset = np.where(tail & in_tail, behind, layout.offset)


def xor_inside_the_block_only(original):
    def mutant(xor_patterns):
        found = original(xor_patterns)
        sides = [tuple((1 << log2) - 1 for log2 in made.log2) for made in found.block]
        cut = [
            replace(
                made,
                bits=tuple(
                    tuple(mask & kept for mask, kept in zip(masks, side, strict=True))
                    for masks in made.bits
                ),
            )
            for made, side in zip(found.block, sides, strict=True)
        ]
        return replace(found, block=tuple(cut))

    return mutant


MODE_MUTANTS = {
    "volume box is 4 deep": [(address, "blocks", exchanged("THICK_S", "z2", "y2"))],
    "flat box is 32 wide": [(address, "blocks", exchanged("THIN_S", "y3", "x4"))],
    "volume micro bits swapped": [(address, "blocks", exchanged("THICK_S", "z0", "y0"))],
    "D as S": [(address, "blocks", blocks_with(THIN_D=block.THIN_S))],
    "4KB block: x4 and y4": [(address, "blocks", exchanged("THIN_S", "x4", "y4"))],
    "64KB block: x6 and y6": [(address, "blocks", exchanged("THIN_S", "x6", "y6"))],
    "64KB volumes: z4 and y4": [(address, "blocks", exchanged("THICK_S", "z4", "y4"))],
    "4KB tail: a mip as wide as a block": [(address, "blocks", tails_with((12, False), (2, 8)))],
    "4KB tail: half as high": [(address, "blocks", tails_with((12, False), (1, 8)))],
    "4KB tail: 7 mips": [(address, "blocks", tails_with((12, False), (0, 7)))],
    "64KB tail: 11 mips": [(address, "blocks", tails_with((16, False), (0, 11)))],
    "4KB volume's tail: half as wide": [(address, "blocks", tails_with((12, True), (0, 5)))],
    "64KB volume's tail: half as high": [(address, "blocks", tails_with((16, True), (1, 10)))],
    "tail behind the chain": [(descriptor, "map_layout", on_layout(tail_behind_the_chain))],
    "pipeBankXor ignored": [(descriptor, "map_layout", on_layout(pipe_bank_xor_ignored))],
    "pipeBankXor moves the map": [
        (descriptor, "map_layout", on_layout(pipe_bank_xor_moves_the_map))
    ],
    "XOR inside the block only": [(address, "blocks", xor_inside_the_block_only)],
    "volumes in D modes": [
        (descriptor, "VOLUME_MODES", constant(VOLUME_MODES | {2, 6, 10, 18, 22, 26}))
    ],
    "1D in all modes": [(descriptor, "ONE_AXIS_MODES", constant(tuple(range(32))))],
}
