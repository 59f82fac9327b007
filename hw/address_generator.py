"""Address generator: the byte address of a map texel in any swizzle mode (spec 05, 1 to 4, 8)."""

from collections.abc import Callable, Hashable

from amaranth.hdl import Cat, Module, Signal, Value, unsigned
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from minmip.hw import swizzle
from minmip.hw.config import XOR_MODES, UnitConfig
from minmip.hw.layout_choice import LayoutChoice, layout_choice
from minmip.hw.lib.credit import CreditBuffer
from minmip.hw.lib.delay import delay
from minmip.hw.shapes import BLOCK_BITS, SLICE_BITS, TEXEL_BITS, address_request, address_result
from minmip.hw.swizzle import NO_SLOT, Layout
from minmip.hw.vendor.parts import Multiplier

__all__ = ["AddressDatapath", "AddressGenerator"]

PITCH_BITS = 12
"""A pitch in blocks: 16384 texels are 2048 blocks of 8 texels."""
CHAIN_LIMB = 18
"""Low bits of a chain, one multiplier wide; the rest goes through a second one."""
TOTAL_BITS = 34
"""All chains of the largest map, in blocks of 256 bytes."""


class AddressDatapath(wiring.Component):
    """Byte address of one texel.

    One texel per clock, latency 8, or 9 in builds with blocks of several sizes or of 4 or 64 KB.
    Every layout is a grid of blocks of 256 bytes, 4 KB or 64 KB (a LINEAR block is 256 texels of a
    row), so all sums count blocks. Address bits inside a block are parities of coordinate bits;
    those from bit 8 up and the base come in last.

    Parameters
    ----------
    cfg : UnitConfig
        `swizzle_modes`, `xor_patterns` and `resource_types`: what is left out costs nothing.

    Members
    -------
    i : In(address_request(cfg))
    i_valid : In(1)
    o : Out(address_result())
    o_valid : Out(1)
    """

    def __init__(self, cfg: UnitConfig):
        self.cfg = cfg
        chain = unsigned(address_request(cfg)["chain"].width)
        self.row = Multiplier(unsigned(TEXEL_BITS), unsigned(PITCH_BITS))
        self.chain_low = Multiplier(unsigned(CHAIN_LIMB), unsigned(SLICE_BITS))
        self.chain_high = Multiplier(unsigned(chain.width - CHAIN_LIMB), unsigned(SLICE_BITS))
        self.shifts = any(swizzle.block_log2(layout) > 8 for layout in swizzle.layouts(cfg))
        self.latency = 2 + self.row.latency + 3 + self.shifts
        super().__init__(
            {
                "i": In(address_request(cfg)),
                "i_valid": In(1),
                "o": Out(address_result()),
                "o_valid": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.row = row = self.row
        m.submodules.chain_low = chain_low = self.chain_low
        m.submodules.chain_high = chain_high = self.chain_high
        request = self.i

        # Clock 1: what the mode is made of; the place in the mip tail.
        boxes = [
            self._choice(m, lambda one, n=n: swizzle.box_log2(one)[n], f"box{n}") for n in range(3)
        ]
        tail_x, tail_y = self._tail()
        x_q1 = delay(m, request.x | tail_x, 1, name="x")
        y_q1 = delay(m, request.y | tail_y, 1, name="y")
        z_q1 = delay(m, request.z, 1, name="z")
        pitch_q1 = delay(m, (request.columns + 1)[:PITCH_BITS], 1, name="pitch")

        # Clock 2: block coordinates, and the texel in its block.
        place_q1 = (x_q1, y_q1, z_q1)
        column_q2, line_q2, slab_q2 = (
            delay(m, box.select(lambda log2, at=at: at[log2:]), 1, name=name)
            for box, at, name in zip(boxes, place_q1, ("column", "line", "slab"), strict=True)
        )
        inside_q2 = delay(m, self._inside(m, place_q1), 1, name="inside")

        # The products, while the offset takes the column in.
        wait = row.latency
        chain_q2 = delay(m, request.chain, 2, name="chain")
        m.d.comb += [
            row.a.eq(line_q2),
            row.b.eq(delay(m, pitch_q1, 1, name="pitch_later")),
            chain_low.a.eq(chain_q2[:CHAIN_LIMB]),
            chain_low.b.eq(slab_q2),
            chain_high.a.eq(chain_q2[CHAIN_LIMB:]),
            chain_high.b.eq(slab_q2),
        ]
        offset_q2 = delay(m, request.offset, 2, name="offset")
        origin_q3 = delay(m, (offset_q2 + column_q2)[: len(offset_q2)], 1, name="origin")
        origin_q5 = delay(m, origin_q3, wait - 1, name="origin_later")

        # Clocks 6 and 7: blocks from the base, of the mip in its slab, of the slab, and of all.
        place_q6 = Signal(len(origin_q5), reset_less=True)
        slice_q6, total_q7 = (
            Signal(TOTAL_BITS, name=name, reset_less=True) for name in ("slice_q6", "total_q7")
        )
        m.d.sync += [
            place_q6.eq(origin_q5 + row.p),
            slice_q6.eq(chain_low.p + (chain_high.p << CHAIN_LIMB)),
            total_q7.eq(place_q6 + slice_q6),
        ]
        upper, base = self._in_256_bytes(m, total_q7, inside_q2[8:])
        block = Signal(BLOCK_BITS, reset_less=True)
        m.d.sync += block.eq(upper + base)  # modulo the address space
        texel = delay(m, inside_q2[:8], self.latency - 2, name="texel")
        m.d.comb += [
            self.o.address.eq(Cat(texel, block)),
            self.o.tag.eq(delay(m, request.tag, self.latency, name="tag")),
            self.o_valid.eq(delay(m, self.i_valid, self.latency, name="valid", reset_less=False)),
        ]
        return m

    def _choice(self, m: Module, value_of: Callable[[Layout], Hashable], name: str) -> LayoutChoice:
        return layout_choice(m, self.cfg, self.i.mode, self.i.volume, value_of, name)

    def _tail(self) -> tuple[Value, Value]:
        """Bits of x and y that the slot in the mip tail sets, one axis after the other."""
        slot, mode, volume = self.i.slot, self.i.mode, self.i.volume
        tails = [layout for layout in swizzle.layouts(self.cfg) if swizzle.tail_slots(layout)]

        def large(layout: Layout) -> bool:
            return swizzle.block_log2(layout) == 16

        def deep(layout: Layout) -> bool:
            return layout[1]

        # Layouts of one size and depth have one tail.
        told = [
            swizzle.is_layout(
                self.cfg, mode, volume, lambda one, rule=rule: rule(one) if one in tails else None
            )
            for rule in (large, deep)
        ]
        key, places = Cat(slot, *told), {}
        for layout in tails:
            kind = (large(layout) | deep(layout) << 1) << len(slot)
            places[kind | NO_SLOT] = 0, 0
            for number in range(swizzle.tail_slots(layout)):
                places[kind | number] = swizzle.tail_place(layout, number)

        def bit(axis: int, n: int) -> Value:
            lit = {number for number, place in places.items() if place[axis] >> n & 1}
            return swizzle.told_apart(key, lit, set(places) - lit)

        x, y = (Cat(bit(axis, n) for n in range(TEXEL_BITS)) for axis in range(2))
        return x, y

    def _inside(self, m: Module, place_q1) -> Value:
        """Address bits inside a block, without those of the base."""
        masks = {
            layout: swizzle.address_masks(self.cfg, layout) for layout in swizzle.layouts(self.cfg)
        }

        def parity(wanted) -> Value:
            return Cat(
                at[bit]
                for at, mask in zip(place_q1, wanted, strict=True)
                for bit in range(len(at))
                if mask >> bit & 1
            ).xor()

        return Cat(
            self._choice(
                m, lambda one, n=n: dict(enumerate(masks[one])).get(n), f"inside{n}"
            ).select(parity)
            for n in range(max(map(len, masks.values())))
        )

    def _in_256_bytes(self, m: Module, total_q7, upper_q2) -> tuple[Value, Value]:
        """Blocks of 256 bytes from the base, and the base, 7 or 8 clocks after the request."""
        base = self.i.base
        if not self.shifts:
            return total_q7, delay(m, base, 7, name="base")
        size_q7 = self._choice(m, swizzle.block_log2, "size").later(m, 6, "size")
        pipes = self._choice(
            m, lambda one: swizzle.block_log2(one) - 8 if one[0] in XOR_MODES else 0, "pipes"
        ).later(m, 1, "pipes")
        base_q2 = delay(m, base, 2, name="base")
        # The base's bits inside the block are the pipe XOR of a surface: they are no offset.
        flipped = pipes.select(lambda bits: base_q2[:bits])
        cleared = pipes.select(lambda bits: base_q2 >> bits << bits)
        upper_q3 = delay(m, (upper_q2 ^ flipped)[: len(upper_q2)], 1, name="upper")
        base_q3 = delay(m, cleared[:BLOCK_BITS], 1, name="base_cleared")
        upper_q7 = delay(m, upper_q3, 4, name="upper_later")
        shifted = size_q7.select(lambda log2: Cat(upper_q7[: log2 - 8], total_q7)[:TOTAL_BITS])
        return delay(m, shifted, 1, name="shifted"), delay(m, base_q3, 5, name="base_later")


class AddressGenerator(CreditBuffer):
    """Stream block of `AddressDatapath`.

    One texel per clock, latency 2 more. No `ready` runs through it (`CreditBuffer`).

    Parameters
    ----------
    cfg : UnitConfig
        Layouts that are built in.

    Members
    -------
    i : In(stream.Signature(address_request(cfg)))
    o : Out(stream.Signature(address_result()))
    """

    def __init__(self, cfg: UnitConfig):
        self.cfg = cfg
        super().__init__(AddressDatapath(cfg))
