"""Address generator: the byte address of a map texel in LINEAR and 256B_S (spec 05, 1 to 4, 8)."""

from amaranth.hdl import Cat, Const, Module, Signal, unsigned
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.config import UnitConfig
from minmip.hw.lib.credit import CreditBuffer
from minmip.hw.lib.delay import delay
from minmip.hw.shapes import BLOCK_BITS, SLICE_BITS, TEXEL_BITS, address_request, address_result
from minmip.hw.vendor.parts import Multiplier

__all__ = ["AddressDatapath", "AddressGenerator"]

PITCH_BITS = 12
"""A pitch in blocks: 16384 texels are 2048 blocks of 8 texels."""
CHAIN_LIMB = 18
"""Low bits of a chain, one multiplier wide; the rest goes through a second one."""


class AddressDatapath(wiring.Component):
    """Byte address of one texel.

    One texel per clock, latency 6. Every layout is a grid of 256-byte blocks (rows of 256 texels,
    boxes of 16 x 16, or of 8 x 4 x 8 in volumes), so all sums count blocks and the low 8 bits of
    the address only pick a texel of the block.

    Parameters
    ----------
    cfg : UnitConfig
        `swizzle_modes` and `resource_types`: layouts that are left out cost nothing.

    Members
    -------
    i : In(address_request(cfg))
        `pitch` must be a multiple of the block's width: 256, 16 or 8.
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
        self.latency = 1 + self.row.latency + 2
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
        m.submodules.row, m.submodules.chain_low, m.submodules.chain_high = products = (
            self.row,
            self.chain_low,
            self.chain_high,
        )
        row, chain_low, chain_high = products
        request, modes = self.i, self.cfg.swizzle_modes
        swizzled = request.swizzled if len(modes) == 2 else Const(1 in modes, 1)
        thick = (request.volume if self.cfg.axes == 3 else Const(0, 1)) & swizzled
        x, y, z = request.x, request.y, request.z

        # Clock 1: block coordinates, and the texel in its block.
        column_q1 = Signal(TEXEL_BITS - 3, reset_less=True)
        line_q1 = Signal(TEXEL_BITS, reset_less=True)
        pitch_q1 = Signal(PITCH_BITS, reset_less=True)
        slab_q1 = Signal(SLICE_BITS, reset_less=True)
        texel_q1 = Signal(8, reset_less=True)
        origin_q1 = Signal(BLOCK_BITS, reset_less=True)
        chain_q1 = delay(m, request.chain, 1, name="chain")
        m.d.sync += [slab_q1.eq(z), origin_q1.eq(request.base + request.offset)]
        with m.If(thick):
            m.d.sync += [
                column_q1.eq(x >> 3),
                line_q1.eq(y >> 2),
                pitch_q1.eq(request.pitch >> 3),
                slab_q1.eq(z >> 3),
                texel_q1.eq(Cat(x[0], x[1], z[0], y[0], z[1], y[1], x[2], z[2])),
            ]
        with m.Elif(swizzled):
            m.d.sync += [
                column_q1.eq(x >> 4),
                line_q1.eq(y >> 4),
                pitch_q1.eq(request.pitch >> 4),
                texel_q1.eq(Cat(x[:4], y[:4])),
            ]
        with m.Else():
            m.d.sync += [
                column_q1.eq(x >> 8),
                line_q1.eq(y),
                pitch_q1.eq(request.pitch >> 8),
                texel_q1.eq(x),
            ]

        # The products, while the origin takes the column in.
        wait = row.latency
        m.d.comb += [
            row.a.eq(line_q1),
            row.b.eq(pitch_q1),
            chain_low.a.eq(chain_q1[:CHAIN_LIMB]),
            chain_low.b.eq(slab_q1),
            chain_high.a.eq(chain_q1[CHAIN_LIMB:]),
            chain_high.b.eq(slab_q1),
        ]
        origin_q2 = delay(m, (origin_q1 + column_q1)[:BLOCK_BITS], 1, name="origin_2")
        origin_q4 = delay(m, origin_q2, wait - 1, name="origin_3")

        # Two clocks of sums, modulo the address space.
        place_q5, slice_q5, block_q6 = (
            Signal(BLOCK_BITS, name=name, reset_less=True)
            for name in ("place_q5", "slice_q5", "block_q6")
        )
        m.d.sync += [
            place_q5.eq(origin_q4 + row.p),
            slice_q5.eq(chain_low.p + (chain_high.p << CHAIN_LIMB)),
            block_q6.eq(place_q5 + slice_q5),
        ]
        m.d.comb += [
            self.o.address.eq(Cat(delay(m, texel_q1, self.latency - 1, name="texel"), block_q6)),
            self.o.tag.eq(delay(m, request.tag, self.latency, name="tag")),
            self.o_valid.eq(delay(m, self.i_valid, self.latency, name="valid", reset_less=False)),
        ]
        return m


class AddressGenerator(CreditBuffer):
    """Stream block of `AddressDatapath`.

    One texel per clock, latency 8. No `ready` runs through it (`CreditBuffer`).

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
