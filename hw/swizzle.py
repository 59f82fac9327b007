"""Swizzle modes of maps: boxes, block sizes and memory words (spec 05, 1 to 4 and 8).

Maps have one byte per texel. What differs from layout to layout of a build is told by as few bits
as the build needs, so that what is left out costs nothing.
"""

from collections.abc import Callable, Iterable
from enum import IntEnum
from itertools import combinations

from amaranth.hdl import Cat, Const, Value

from minmip.hw.config import VOLUME_MODES, UnitConfig

__all__ = [
    "SW_LINEAR",
    "Layout",
    "Packing",
    "block_log2",
    "box_log2",
    "has_packing",
    "is_layout",
    "layouts",
    "packing",
    "tail_slots",
    "told_apart",
]

Layout = tuple[int, bool]
"""SW_MODE of a map, and whether it is a volume."""

SW_LINEAR = 0
MODES_256B = frozenset({1, 2})
MODES_4KB = frozenset({5, 6, 21, 22})
MODES_D = frozenset({2, 6, 10, 18, 22, 26})


class Packing(IntEnum):
    """Which texels share a memory word of 16 bytes, by their coordinate bits from bit 0 up.

    ROWS x0 x1 x2 x3, in LINEAR and S; D x0 x1 x2 y1; THICK x0 x1 z0 y0, in S volumes. A shorter
    word has the lower bits.
    """

    ROWS = 0
    D = 1
    THICK = 2


def layouts(cfg: UnitConfig) -> list[Layout]:
    """Every layout that a map of this build can have."""
    modes = sorted(cfg.swizzle_modes)
    volumes = [(mode, True) for mode in modes if cfg.volumes and mode in VOLUME_MODES]
    return [(mode, False) for mode in modes] + volumes


def packing(layout: Layout) -> Packing:
    """Texels of a memory word."""
    mode, volume = layout
    if mode in MODES_D:
        return Packing.D
    return Packing.THICK if volume and mode != SW_LINEAR else Packing.ROWS


def has_packing(kind: Packing) -> Callable[[Layout], bool]:
    """Rule for `is_layout`: a layout has such memory words."""
    return lambda layout: packing(layout) == kind


def block_log2(layout: Layout) -> int:
    """Log2 of the bytes of a block: 8, 12 or 16; LINEAR counts 256 bytes of a row."""
    mode, _ = layout
    if mode == SW_LINEAR or mode in MODES_256B:
        return 8
    return 12 if mode in MODES_4KB else 16


def box_log2(layout: Layout) -> tuple[int, int, int]:
    """Log2 of the texels of a block in x, y and z (spec 05, 2)."""
    log2 = block_log2(layout)
    if layout[0] == SW_LINEAR:
        return 8, 0, 0
    if packing(layout) == Packing.THICK:
        return {8: (3, 2, 3), 12: (4, 4, 4), 16: (6, 5, 5)}[log2]
    return log2 // 2, log2 // 2, 0


def tail_slots(layout: Layout) -> int:
    """Mips that the mip tail has room for; 0: the layout has no tail (spec 05, 4.2)."""
    thick = packing(layout) == Packing.THICK
    return {8: 0, 12: 5 if thick else 8, 16: 10 if thick else 12}[block_log2(layout)]


def told_apart(key: Value, chosen: Iterable[int], others: Iterable[int]) -> Value:
    """Whether `key`, one of the numbers `chosen` or `others`, is a chosen one.

    It looks at as few bits of `key` as it can.
    """
    chosen, others = set(chosen), set(others)
    if not chosen or not others:
        return Const(not others, 1)
    for count in range(len(key) + 1):
        for bits in combinations(range(len(key)), count):
            wanted, unwanted = (
                {tuple(number >> bit & 1 for bit in bits) for number in numbers}
                for numbers in (chosen, others)
            )
            if not wanted & unwanted:
                seen = Cat(key[bit] for bit in bits)
                numbers = [sum(one << n for n, one in enumerate(row)) for row in sorted(wanted)]
                return Cat(seen == number for number in numbers).any()
    raise ValueError(f"{chosen & others} cannot be told apart from themselves")


def is_layout(cfg: UnitConfig, mode: Value, volume: Value, rule: Callable[[Layout], bool]) -> Value:
    """Whether a map of `mode` and `volume` has one of the build's layouts that `rule` names."""
    numbers = {True: [], False: []}
    for layout in layouts(cfg):
        numbers[bool(rule(layout))].append(layout[0] | layout[1] << len(mode))
    return told_apart(Cat(mode, volume), numbers[True], numbers[False])
