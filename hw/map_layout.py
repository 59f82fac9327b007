"""Where the mips of a map lie, and whether the map fits the memory (spec 05, 4.1 and 8.1).

Everything counts blocks of 256 bytes: 256 x 1 texels in LINEAR, 16 x 16 in 256B_S, 8 x 4 x 8 in
256B_S volumes.
"""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.descriptor_words import among
from minmip.hw.lib.delay import delay
from minmip.hw.shapes import BLOCK_BITS, SLICE_BITS, TEXEL_BITS
from minmip.hw.vendor.parts import Multiplier

__all__ = ["CHAIN_BITS", "COLUMN_BITS", "PAIRS", "MapLayout", "map_shape"]

COLUMN_BITS = 11
"""Block columns less one: 16384 texels are 2048 blocks of 8 texels."""
CHAIN_BITS = 24
"""A chain of mips of the largest slab, 16384 x 16384 x 8 texels."""
PAIRS = 8
"""Mips are laid out two by two: 15 and 14 first, 1 and 0 last, as they lie in memory."""
_LIMB = CHAIN_BITS // 2
"""Half of a chain, which one multiplier takes to the number of slices."""
_TOTAL_BITS = 34
"""All chains of a legal map: 2**13 slices of 2**20 blocks, or 2**10 slabs of 2**23, and a third
more for the mips."""
_STEP = 17
"""Bits of a wide subtraction per clock."""


def map_shape() -> data.StructLayout:
    """What the layout needs of a descriptor besides the sides of its map.

    `last_slice` of the view, which a volume ignores; `max_mip` mips less one; `base` in blocks.
    """
    return data.StructLayout(
        {
            "swizzled": unsigned(1),
            "volume": unsigned(1),
            "last_slice": unsigned(SLICE_BITS),
            "max_mip": unsigned(4),
            "base": unsigned(BLOCK_BITS),
        }
    )


def _at_least(value: Value, number: int) -> Value:
    """Compare 4 bits with a constant, in one look-up table instead of a carry chain."""
    return among(value, range(number, 16))


def _subtract(m: Module, a: Value, b: Value, name: str) -> tuple[Value, Value]:
    """Return a - b and whether a < b, unsigned and equally wide, a clock per `_STEP` bits later."""
    starts = range(0, len(a), _STEP)
    parts, borrow = [], Const(0, 1)
    for age, start in enumerate(starts):
        end = min(start + _STEP, len(a))
        late_a = delay(m, a[start:end], age, name=f"{name}_a{start}")
        late_b = delay(m, b[start:end], age, name=f"{name}_b{start}")
        part = Signal(end - start + 1, name=f"{name}{start}", reset_less=True)  # and a borrow
        m.d.sync += part.eq((Cat(Const(0, 1), late_a) - Cat(borrow, late_b))[1:])
        borrow = part[-1]
        later = len(starts) - 1 - age
        parts.append(delay(m, part[:-1], later, name=f"{name}_part{start}"))
    return Cat(parts), borrow


class MapLayout(wiring.Component):
    """Offset of each mip, blocks of a chain, and whether all chains lie inside the memory.

    The sides of the map's mip 0, less one, come in as `side`, one a clock: `load_x`, `load_y` and
    `load_z` say which it is. x may come again; y starts the walk, with z one clock later at most.
    `map` and the memory's bounds must hold still from 3 clocks before y until `fits_valid`, 20
    clocks after y.

    Mips are walked from the smallest, since that is how they lie in memory: the block columns and
    rows less one enter shift registers from the top, two bits a clock, so that these hold those of
    two mips. Two multipliers take columns to rows, and then both halves of the chain to the slices.

    Members
    -------
    map : In(map_shape())
    memory_base, memory_limit : In(40), In(41)
        First block of the memory, and the first one behind it.
    side : In(14)
    load_x, load_y, load_z : In(1)
    columns : Out(11)
        Block columns of mip 0 less one, from the clock after `load_x`.
    offset_valid : Out(8)
        One bit per pair of mips: for bit n, `offset` is now that of mips 2n and 2n + 1.
    offset : Out(ArrayLayout(24, 2))
        Mips beyond `max_mip` have offset 0.
    chain : Out(24)
        Valid from `chain_valid` to the next y.
    chain_valid : Out(1)
        High 14 clocks after y.
    fits : Out(1)
        In the clock of `fits_valid` only.
    fits_valid : Out(1)
    """

    map: In(map_shape())
    memory_base: In(BLOCK_BITS)
    memory_limit: In(BLOCK_BITS + 1)
    side: In(TEXEL_BITS)
    load_x: In(1)
    load_y: In(1)
    load_z: In(1)
    columns: Out(COLUMN_BITS)
    offset_valid: Out(PAIRS)
    offset: Out(data.ArrayLayout(unsigned(CHAIN_BITS), 2))
    chain: Out(CHAIN_BITS)
    chain_valid: Out(1)
    fits: Out(1)
    fits_valid: Out(1)

    def elaborate(self, platform):
        m = Module()
        shape = delay(m, self.map, 1, name="map")
        walk, factors = self._walk(m, shape)
        slabs = self._slabs(m, shape)

        # Mip 2n is entry 0 of everything in pairs, mip 2n + 1 entry 1.
        mask = Signal(2, reset_less=True)
        for parity in range(2):
            there = Signal(PAIRS, name=f"there{parity}", reset_less=True)
            m.d.sync += [
                there.eq(Cat(_at_least(shape.max_mip, 2 * n + parity) for n in range(PAIRS))),
                mask[parity].eq((walk & there).any()),
            ]
        parts = [Multiplier(unsigned(len(a)), unsigned(len(b))) for a, b in factors]
        for parity, (part, (columns, rows)) in enumerate(zip(parts, factors, strict=True)):
            m.submodules[f"multiplier{parity}"] = part
            half = self.chain[_LIMB * parity : _LIMB * (parity + 1)]
            m.d.comb += [
                part.a.eq(Mux(self.chain_valid, half, columns & mask[parity].replicate(_LIMB))),
                part.b.eq(Mux(self.chain_valid, slabs, rows)),
            ]
        products = [part.p for part in parts]

        # A block more than CHAIN_BITS can count would be over 16384 texels wide: code 18.
        latency = parts[0].latency
        odd = Signal(CHAIN_BITS, reset_less=True)
        pair = Signal(CHAIN_BITS, reset_less=True)
        walk = delay(m, walk, latency + 2, name="walk", reset_less=False)
        m.d.sync += [odd.eq(products[1]), pair.eq(products[0] + products[1])]
        with m.If(self.load_y):
            m.d.sync += self.chain.eq(0)
        with m.Elif(walk.any()):
            m.d.sync += self.chain.eq(self.chain + pair)
        m.d.sync += [
            self.offset[1].eq(self.chain),
            self.offset[0].eq(self.chain + odd),
            self.offset_valid.eq(walk),
            self.chain_valid.eq(walk[0]),
        ]
        self._check(m, products, delay(m, self.chain_valid, latency, name="t", reset_less=False))
        return m

    def _walk(self, m, shape):
        """One-hot pair of mips, and one clock later [(columns, rows)] of its even and odd mip."""
        side = self.side
        linear = Signal(reset_less=True)
        thick = Signal(reset_less=True)
        m.d.sync += [
            linear.eq(~shape.swizzled),
            thick.eq(shape.swizzled & shape.volume),
        ]
        with m.If(self.load_x):
            m.d.sync += self.columns.eq(Mux(thick, side[3:], Mux(linear, side[8:], side[4:])))
        rows = Mux(thick, side[2:], Mux(linear, side, side[4:]))

        walk = Signal(PAIRS)
        m.d.sync += walk.eq(Cat(walk[1:], self.load_y))
        factors = [[], []]
        for name, start, width in (("columns", self.columns, COLUMN_BITS), ("rows", rows, 14)):
            below = Signal(TEXEL_BITS, name=f"{name}_below", reset_less=True)
            less_one = Signal(width, name=f"{name}_less_one", reset_less=True)
            m.d.sync += Cat(below, less_one).eq(Cat(below, less_one) << 2)
            with m.If(self.load_y):
                m.d.sync += [below.eq(start), less_one.eq(0)]
            for parity in range(2):
                # One growth bit: 1 to 2**width.
                count = Signal(width + 1, name=f"{name}{parity}", reset_less=True)
                m.d.sync += count.eq(less_one[parity:] + 1)
                factors[parity].append(count)
        return walk, factors

    def _slabs(self, m, shape):
        """Chains of the map: slices, or depth, or slabs of 8 in 256B_S volumes."""
        depth = Signal(TEXEL_BITS, reset_less=True)
        with m.If(self.load_z):
            m.d.sync += depth.eq(self.side)
        last = Signal(SLICE_BITS, reset_less=True)
        slabs = Signal(SLICE_BITS + 1, reset_less=True)  # 1 to 2**14
        with m.If(~shape.volume):
            m.d.sync += last.eq(shape.last_slice)
        with m.Else():
            m.d.sync += last.eq(Mux(shape.swizzled, depth[3:], depth))
        m.d.sync += slabs.eq(last + 1)
        return slabs

    def _check(self, m, products, valid):
        """Compare all chains, from their two products, with the room from `base` to the limit."""
        base, room_bits = self.map.base, BLOCK_BITS + 1
        _, below = _subtract(m, base, self.memory_base, "below")
        room, beyond = _subtract(m, self.memory_limit, Cat(base, Const(0, 1)), "room")
        outside = Signal(reset_less=True)
        vast = Signal(reset_less=True)
        m.d.sync += [outside.eq(below | beyond), vast.eq(room[_TOTAL_BITS:room_bits].any())]

        total = Signal(_TOTAL_BITS, reset_less=True)
        m.d.sync += total.eq(Cat(products[0][:_LIMB], products[1] + products[0][_LIMB:]))
        _, too_big = _subtract(m, room[:_TOTAL_BITS], total, "left")
        m.d.comb += [
            self.fits.eq((vast | ~too_big) & ~outside),
            self.fits_valid.eq(delay(m, valid, 3, name="check", reset_less=False)),
        ]
