"""Side of a mip or of a map: max(1, floor(side / 2**shift)) (spec 01 "Building a linked T#")."""

from amaranth.hdl import C, Cat, Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.descriptor_words import among
from minmip.hw.shapes import TEXEL_BITS

__all__ = ["ScaledSize"]


class ScaledSize(wiring.Component):
    """Scale one side down. Sides go in and out less one, as descriptors store them.

    `max(1, (field + 1) >> shift) - 1` is `(field + 1 - 2**shift) >> shift`, or 0 if that is
    negative. One side per clock, latency 3.

    Members
    -------
    field : In(14)
        Side less one.
    shift : In(4)
    used : In(1)
        0: the axis is not in use and its side is 1.
    less_one : Out(14)
    """

    latency = 3

    field: In(TEXEL_BITS)
    shift: In(4)
    used: In(1)
    less_one: Out(TEXEL_BITS)

    def elaborate(self, platform):
        m = Module()
        unit = Signal(15)  # 2**shift - 1
        for bit in range(len(unit)):
            m.d.comb += unit[bit].eq(among(self.shift, range(bit + 1, 16)))
        least = Signal(signed(TEXEL_BITS + 2), reset_less=True)  # one bit for `unit`, one the sign
        shift_q1 = Signal(4, reset_less=True)
        used_q1 = Signal(reset_less=True)
        m.d.sync += [
            least.eq(self.field - unit),
            shift_q1.eq(self.shift),
            used_q1.eq(self.used),
        ]
        partial = Signal(TEXEL_BITS, reset_less=True)
        shift_q2 = Signal(2, reset_less=True)
        m.d.sync += [
            partial.eq(Mux(used_q1 & ~least[-1], least[:TEXEL_BITS] >> shift_q1[:2], 0)),
            shift_q2.eq(shift_q1[2:]),
            self.less_one.eq(partial >> Cat(C(0, 2), shift_q2)),
        ]
        return m
