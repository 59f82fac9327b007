"""Swizzle modes of maps: boxes, address bits, memory words, mip tails (spec 05, 1 to 4 and 8).

Maps have one byte per texel. What differs from layout to layout of a build is told by as few bits
as the build needs, so that what is left out costs nothing.
"""

import re
from collections.abc import Callable, Iterable
from enum import IntEnum
from itertools import combinations

from amaranth.hdl import Cat, Const, Value

from minmip.hw.config import VOLUME_MODES, XOR_MODES, UnitConfig

__all__ = [
    "NO_SLOT",
    "SW_LINEAR",
    "Layout",
    "Masks",
    "Packing",
    "address_masks",
    "block_log2",
    "box_log2",
    "has_packing",
    "is_layout",
    "layouts",
    "packing",
    "packings",
    "tail_place",
    "tail_slots",
    "told_apart",
    "word_bits",
]

Layout = tuple[int, bool]
"""SW_MODE of a map, and whether it is a volume."""
Masks = tuple[int, int, int]
"""Bits of x, y and z whose parity is an address bit."""

SW_LINEAR = 0
NO_SLOT = 15
"""In place of a slot of the mip tail: the mip is not in it."""
_MODES_256B = frozenset({1, 2})
_MODES_4KB = frozenset({5, 6, 21, 22})
_MODES_D = frozenset({2, 6, 10, 18, 22, 26})


class Packing(IntEnum):
    """Which texels share a memory word of 16 bytes, by their coordinate bits from bit 0 up.

    ROWS x0 x1 x2 x3, in LINEAR and S; D x0 x1 x2 y1; THICK x0 x1 z0 y0, in S volumes. A shorter
    word has the lower bits.
    """

    ROWS = 0
    D = 1
    THICK = 2


_MICRO = {
    Packing.ROWS: "x0 x1 x2 x3 y0 y1 y2 y3",
    Packing.D: "x0 x1 x2 y1 y0 y2 x3 y3",
    Packing.THICK: "x0 x1 z0 y0 z1 y1 x2 z2",
}
"""Address bits 0 to 7 of a box, whatever the size of a block."""
_THIN = "y4 x4 y5 x5 y6 x6 y7 x7"
_THICK = "y2 x3 z3 y3 x4 z4 y4 x5"
"""Address bits 8 and up without a pipe XOR; 4 KB blocks have the first four."""


def layouts(cfg: UnitConfig) -> list[Layout]:
    """Every layout that a map of this build can have."""
    modes = sorted(cfg.swizzle_modes)
    volumes = [(mode, True) for mode in modes if cfg.volumes and mode in VOLUME_MODES]
    return [(mode, False) for mode in modes] + volumes


def packing(layout: Layout) -> Packing:
    """Texels of a memory word."""
    mode, volume = layout
    if mode in _MODES_D:
        return Packing.D
    return Packing.THICK if volume and mode != SW_LINEAR else Packing.ROWS


def packings(cfg: UnitConfig) -> list[Packing]:
    """What kinds of memory words this build has."""
    return sorted({packing(layout) for layout in layouts(cfg)})


def word_bits(cfg: UnitConfig, kind: Packing) -> list[tuple[str, int]]:
    """Axis and bit of the coordinates that make each bit of a byte's number in its memory word."""
    return [(word[0], int(word[1:])) for word in _MICRO[kind].split()[: cfg.word_log2]]


def has_packing(kind: Packing) -> Callable[[Layout], bool]:
    """Rule for `is_layout`: a layout has such memory words."""
    return lambda layout: packing(layout) == kind


def block_log2(layout: Layout) -> int:
    """Log2 of the bytes of a block: 8, 12 or 16; LINEAR counts 256 bytes of a row."""
    mode, _ = layout
    if mode == SW_LINEAR or mode in _MODES_256B:
        return 8
    return 12 if mode in _MODES_4KB else 16


def box_log2(layout: Layout) -> tuple[int, int, int]:
    """Log2 of the texels of a block in x, y and z (spec 05, 2)."""
    log2 = block_log2(layout)
    if layout[0] == SW_LINEAR:
        return 8, 0, 0
    if packing(layout) == Packing.THICK:
        return {8: (3, 2, 3), 12: (4, 4, 4), 16: (6, 5, 5)}[log2]
    return log2 // 2, log2 // 2, 0


def address_masks(cfg: UnitConfig, layout: Layout) -> list[Masks]:
    """What makes each address bit inside a block, bit 0 first (spec 05, 3 and 3.1)."""
    mode, volume = layout
    if mode == SW_LINEAR:
        return _parse(" ".join(f"x{bit}" for bit in range(8)))
    kind = packing(layout)
    if mode in XOR_MODES:
        return _parse(_MICRO[kind]) + list(cfg.xor_pattern(mode, volume=volume).bits)
    above = _parse(_THICK if kind == Packing.THICK else _THIN)
    return _parse(_MICRO[kind]) + above[: block_log2(layout) - 8]


def tail_slots(layout: Layout) -> int:
    """Mips that the mip tail has room for; 0: the layout has no tail (spec 05, 4.2)."""
    thick = packing(layout) == Packing.THICK
    return {8: 0, 12: 5 if thick else 8, 16: 10 if thick else 12}[block_log2(layout)]


def tail_place(layout: Layout, slot: int) -> tuple[int, int]:
    """Bits that are set in x and y of the mip in a slot of the tail (spec 05, 4.2, 7 and 8).

    Slot 0 holds the largest mip.
    """
    number = tail_slots(layout) - 1 - slot
    start = 16 << number if number > 6 else 256 * number
    width, height = (3, 2) if packing(layout) == Packing.THICK else (4, 4)
    x = sum((start >> 9 + 2 * n & 1) << n for n in range(4))
    y = sum((start >> 8 + 2 * n & 1) << n for n in range(4))
    return x << width, y << height


def told_apart(key: Value, chosen: Iterable[int], others: Iterable[int]) -> Value:
    """Whether `key`, one of the numbers `chosen` or `others`, is a chosen one.

    It looks at as few bits of `key` as it can. A number is in one of the two at most.
    """
    chosen, others = set(chosen), set(others)
    if not chosen or not others:
        return Const(bool(chosen), 1)
    for count in range(1, len(key) + 1):
        for bits in combinations(range(len(key)), count):
            wanted, unwanted = (
                {sum((number >> bit & 1) << n for n, bit in enumerate(bits)) for number in numbers}
                for numbers in (chosen, others)
            )
            if not wanted & unwanted:
                seen = Cat(key[bit] for bit in bits)
                return Cat(seen == number for number in sorted(wanted)).any()
    raise ValueError(f"the same numbers are chosen and not: {sorted(chosen & others)}")


def is_layout(
    cfg: UnitConfig, mode: Value, volume: Value, rule: Callable[[Layout], bool | None]
) -> Value:
    """Whether a map of `mode` and `volume` has one of the build's layouts that `rule` names.

    Layouts for which the rule is None may give anything.
    """
    numbers: dict = {True: [], False: [], None: []}
    for layout in layouts(cfg):
        numbers[rule(layout)].append(layout[0] | layout[1] << len(mode))
    return told_apart(Cat(mode, volume), numbers[True], numbers[False])


def _parse(text: str) -> list[Masks]:
    """Read the notation of the spec for address bits of one coordinate bit each."""
    return [
        (
            (axis == "x") << int(bit),
            (axis == "y") << int(bit),
            (axis == "z") << int(bit),
        )
        for axis, bit in re.findall(r"([xyz])(\d)", text)
    ]
