"""Which mips of a map count in its chain, and where its mip tail begins (spec 05, 4.2)."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.config import UnitConfig
from minmip.hw.descriptor_words import among
from minmip.hw.layout_choice import layout_choice
from minmip.hw.lib.delay import delay
from minmip.hw.shapes import MODE_BITS, TEXEL_BITS
from minmip.hw.swizzle import Layout, block_log2, box_log2, is_layout, layouts, tail_slots

__all__ = ["COLUMN_BITS", "NO_TAIL", "PAIRS", "CountedMips", "tail_layouts"]

COLUMN_BITS = 11
"""Block columns less one: 16384 texels are 2048 blocks of 8 texels."""
NO_TAIL = 16
"""The first mip of a tail that is not there."""
PAIRS = 8
"""Mips are laid out two by two: 15 and 14 first, 1 and 0 last, as they lie in memory."""


def tail_layouts(cfg: UnitConfig) -> list[Layout]:
    """Layouts of a build that have mip tails."""
    return [layout for layout in layouts(cfg) if tail_slots(layout)]


def _halves_height(layout: Layout) -> bool:
    """Whether the largest mip of a tail is half a block high; else it is half a block wide."""
    return block_log2(layout) == 12 and box_log2(layout)[2] > 0


def _at_least(value: Value, number: int) -> Value:
    """Compare 4 bits with a constant, in one look-up table instead of a carry chain."""
    return among(value, range(number, 16))


class CountedMips(wiring.Component):
    """Mips whose blocks make up the chain: all before the tail, and the largest in the tail.

    All mips in a tail lie in one block. The largest of them is at most half a block, so that this
    is its block; the smaller ones do not count.

    A mip is in the tail if it fits half a block, and the tail has a slot for it and for each
    smaller mip; so all smaller mips are there too. The pairs of mips are walked from the smallest.
    The sides of mip 0, counted in half blocks, are shifted along: a mip is too large for the tail
    when a bit of them has come to the top, or a bit for the slots.

    Parameters
    ----------
    cfg : UnitConfig
        `swizzle_modes` and `resource_types`: without a mip tail all mips count.

    Members
    -------
    mode, volume, max_mip : In(5), In(1), In(4)
        Of the map: SW_MODE, type, mips less one. Must hold still from 2 clocks before `load_y` to
        the end of the walk.
    side : In(14)
        A side of mip 0 less one; `load_x` and `load_y` say which it is.
    load_x, load_y : In(1)
        x comes before y; y starts the walk. There are 8 clocks or more between two y.
    walk : In(8)
        One-hot: pair 7 in the clock after y, then pair 6, and so on.
    columns, rows : In(11), In(14)
        Blocks of mip 0 less one, with pair 7.
    mask : Out(2)
        Whether mips 2n and 2n + 1 count, the clock after pair n.
    first_tail : Out(5)
        Valid from 2 clocks after pair 0 to the next y: first mip in the tail, 16 without one.
    """

    mode: In(MODE_BITS)
    volume: In(1)
    max_mip: In(4)
    side: In(TEXEL_BITS)
    load_x: In(1)
    load_y: In(1)
    walk: In(PAIRS)
    columns: In(COLUMN_BITS)
    rows: In(TEXEL_BITS)
    mask: Out(2)
    first_tail: Out(5)

    def __init__(self, cfg: UnitConfig):
        self.cfg = cfg
        super().__init__()

    def elaborate(self, platform):
        m = Module()
        walk = self.walk
        there = [Signal(PAIRS, name=f"there{parity}", reset_less=True) for parity in range(2)]
        large = self._too_large(m, there)
        mask = Signal(2, reset_less=True)
        for parity, mips in enumerate(there):
            present = Cat(_at_least(self.max_mip, 2 * n + parity) for n in range(PAIRS))
            m.d.sync += [
                mips.eq(present),
                mask[parity].eq((walk & mips).any() & large[parity]),
            ]
        m.d.comb += self.mask.eq(mask)

        number = Signal(3, reset_less=True)
        largest = mask & ~delay(m, large, 1, name="large")[1:]
        for bit in range(3):
            m.d.sync += number[bit].eq(Cat(walk[n] for n in range(PAIRS) if n >> bit & 1).any())
        with m.If(self.load_y):
            m.d.sync += self.first_tail.eq(NO_TAIL)
        with m.Elif(largest.any()):
            m.d.sync += self.first_tail.eq(Cat(largest[1], number))
        return m

    def _too_large(self, m, there) -> Value:
        """Whether mips 2n - 1, 2n and 2n + 1 are too large for the tail, for pair n of `walk`."""
        tails = tail_layouts(self.cfg)
        if not tails:
            return Const(7, 3)
        # Mip i is too large too if the map has a mip i + slots.
        mips = Cat(there[mip % 2][mip // 2] for mip in range(2 * PAIRS))
        slots = self._choice(m, "slots", lambda one: tail_slots(one) or None)
        too_many = Signal(11, reset_less=True)
        has_tail = Signal(reset_less=True)
        m.d.sync += [
            too_many.eq(slots.select(lambda count: mips[count:])),
            has_tail.eq(self._is_one_of(tails) & self.max_mip.any()),
        ]

        # No mip of the first pair, when `sizes` come in, is large: bits 13 and 12 are those of the
        # pair after it.
        sizes = self._half_blocks(m, tails)
        large = Signal(TEXEL_BITS, reset_less=True)
        m.d.sync += large.eq(large << 2)
        with m.If(self.walk[-1]):
            m.d.sync += large.eq(sizes | too_many)
        smaller = Signal(reset_less=True)  # a mip of the pairs gone by is too large
        odd = smaller | large[13]
        even = odd | large[12]
        with m.If(self.load_y):
            m.d.sync += smaller.eq(~has_tail)
        with m.Else():
            m.d.sync += smaller.eq(even)
        return Cat(even | large[11] | self.walk[0], even, odd)

    def _half_blocks(self, m, tails) -> Value:
        """Sides of mip 0 less one in largest tail mips, both ORed: one axis counts half blocks."""
        columns, rows, half = self.columns, self.rows, Signal(reset_less=True)
        tall = [layout for layout in tails if _halves_height(layout)]
        flat = [layout for layout in tails if layout not in tall]
        width = self._choice(m, "width", lambda one: box_log2(one)[0] if one in flat else None)
        with m.If(self.load_x):
            m.d.sync += half.eq(width.select(self._half))
        sizes = Cat(half, columns) | rows
        if not tall:
            return sizes
        is_tall = Signal(reset_less=True)
        (height,) = {box_log2(layout)[1] for layout in tall}
        m.d.sync += is_tall.eq(self._is_one_of(tall))
        with m.If(self.load_y & is_tall):
            m.d.sync += half.eq(self._half(height))
        return Mux(is_tall, columns | Cat(half, rows), sizes)

    def _half(self, log2) -> Value:
        """Whether half a block is left of a side less one."""
        return self.side[log2 - 1]

    def _choice(self, m, name, value_of):
        return layout_choice(m, self.cfg, self.mode, self.volume, value_of, name)

    def _is_one_of(self, some) -> Value:
        return is_layout(self.cfg, self.mode, self.volume, some.__contains__)
