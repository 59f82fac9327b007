"""Proofs of the coordinate unit's parts: equal to the rule of spec 02 for every input."""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Mux, Signal, signed
from kit.formal import Proof
from kit.part_spec import PartSpec, part_proof

from minmip.hw.address_mode import AddressMode, Mode
from minmip.hw.float_to_fixed import FloatToFixed
from minmip.hw.tap_coordinate import CLAMP_LIMIT, TAP, TAP_FRACTION, RangeReduction

__all__ = ["proofs"]


class FixedPoint(PartSpec):
    """Step 0, by one wide shift to the left: 26 bits below the last fraction bit are enough."""

    def rule(self, m, inputs):
        bits, wraps = inputs["i"], inputs["wraps"]
        fraction, exponent = bits[:23], bits[23:31]
        nan = exponent.all() & fraction.any()
        places = Signal(6)  # 2**-35 and less become 0, 2**25 and more are even
        m.d.comb += places.eq(Mux(exponent < 92, 0, Mux(exponent > 152, 60, exponent - 92)))
        wide = Signal(24 + 60)
        m.d.comb += wide.eq(Cat(fraction, Const(1, 1)) << places)
        rounded = Signal(24 + 60 - 26 + 1)
        tie = (wide[:25] == 0) & wide[25]
        m.d.comb += rounded.eq(wide[26:] + (wide[25] & (~tie | wide[26])))
        large = exponent >= 127 + 15
        limit = Mux(exponent.all(), self.block.infinity, 1 << 15) << 32
        value = Mux(
            (exponent < 92) | nan,
            0,
            Mux(wraps, Mux(exponent > 152, 0, rounded[:33]), Mux(large, limit, rounded)),
        )
        return [(self.block.magnitude, value)]


class Reduced(PartSpec):
    """Step 1, on the tap itself."""

    def legal(self, inputs):
        has_magnitude = inputs["i"] > -(1 << TAP.width - 1)
        return has_magnitude & ~(inputs["wrap"] & inputs["mirror"])

    def rule(self, m, inputs):
        tap = Signal(signed(TAP.width + 1))
        m.d.comb += tap.eq(Mux(inputs["negative"], -inputs["i"], inputs["i"]))
        size = Signal(TAP.width)
        m.d.comb += size.eq(abs(tap))
        limit = CLAMP_LIMIT << TAP_FRACTION
        value = Mux(
            inputs["wrap"],
            tap[:TAP_FRACTION],
            Mux(inputs["mirror"], size[: TAP_FRACTION + 1], Mux(size > limit, limit, size)),
        )
        negative = (tap < 0) & ~inputs["wrap"]
        zero = value == 0  # has no sign
        return [(self.block.o, value), (self.block.o_negative & ~zero, negative & ~zero)]


class Addressed(PartSpec):
    """Step 4, with the grid's size."""

    def legal(self, inputs):
        texel, size = inputs["i"], inputs["last"] + 1
        wrapped = (texel >= -1) & (texel <= size)
        mirrored = (texel >= -2 * size - 1) & (texel <= 2 * size)
        mode = inputs["mode"]
        return Mux(mode == Mode.WRAP, wrapped, (mode != Mode.MIRROR) | mirrored)

    def rule(self, m, inputs):
        texel, mode = inputs["i"], inputs["mode"]
        size = Signal(15)
        reflected = Signal(signed(18))
        mirrors = mode.matches(Mode.MIRROR, Mode.MIRROR_ONCE) | mode.matches(
            Mode.MIRROR_HALF_BORDER, Mode.MIRROR_BORDER
        )
        m.d.comb += [
            size.eq(inputs["last"] + 1),
            reflected.eq(Mux(mirrors & (texel < 0), -texel - 1, texel)),
        ]
        below, beyond = reflected < 0, reflected >= size
        value, touched = Signal(14), Signal(init=1)
        m.d.comb += [value.eq(reflected), touched.eq(1)]
        with m.Switch(mode):
            with m.Case(Mode.WRAP):
                m.d.comb += value.eq(Mux(below, texel + size, Mux(beyond, texel - size, texel)))
            with m.Case(Mode.MIRROR):
                with m.If(reflected >= 2 * size):
                    m.d.comb += value.eq(reflected - 2 * size)
                with m.Elif(beyond):
                    m.d.comb += value.eq(size - 1 - (reflected - size))
            with m.Case(Mode.CLAMP, Mode.MIRROR_ONCE):
                m.d.comb += value.eq(Mux(below, 0, Mux(beyond, size - 1, reflected)))
            with m.Default():
                m.d.comb += touched.eq(~below & ~beyond)
        touched = touched & inputs["use"]
        return [(self.block.touched, touched), (self.block.o, Mux(touched, value, 0))]


def proofs() -> list[Proof]:
    """Parts of the unit; the products between them are left to the benches."""
    return [
        part_proof(
            "coordinate",
            "fixed",
            "float to fixed point is rounded right, for every float",
            lambda: FixedPoint(FloatToFixed(CLAMP_LIMIT)),
        ),
        part_proof(
            "coordinate",
            "reduced",
            "range reduction is exact, for every tap",
            lambda: Reduced(RangeReduction()),
        ),
        part_proof(
            "coordinate",
            "modes",
            "address modes are those of spec 02, for every texel and grid",
            lambda: Addressed(AddressMode()),
        ),
    ]
