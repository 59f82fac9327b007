"""Proofs of parts of the LOD unit; the products between them are left to the benches."""

from __future__ import annotations

from amaranth.hdl import Mux, Signal
from kit.formal import Proof
from kit.part_spec import PartSpec, part_proof

from minmip.hw.config import FULL
from minmip.hw.lod_lengths import det_bits
from minmip.hw.normalise import Normaliser
from minmip.hw.shapes import SIZE_BITS
from minmip.hw.tap_count import TapCount

__all__ = ["proofs"]


class Normalised(PartSpec):
    """The leading one on top, by one wide shift."""

    def legal(self, inputs):
        return inputs["i"] != 0

    def rule(self, m, inputs):
        block, number = self.block, inputs["i"]
        count = Signal.like(block.count)
        for n in range(block.width):
            with m.If(number[n]):
                m.d.comb += count.eq(block.width - 1 - n)
        shifted = Signal(block.width)
        m.d.comb += shifted.eq(number << count)
        return [(block.count, count), (block.o, shifted[block.width - block.keep :])]


class Taps(PartSpec):
    """`docs/lod.md` step 5 as written there, where it has no product.

    The ratio against the tap counts is left to the benches.
    """

    def legal(self, inputs):
        leading = inputs["length2"][2 * FULL.lod.mantissa_bits - 2 :].any()
        aligned = (inputs["exponent"] >= 25) & (inputs["exponent"] <= 293)
        return leading & aligned & (inputs["max_log2"] <= 4)

    def rule(self, m, inputs):
        length2, most = inputs["length2"], inputs["max_log2"]
        over = length2 > (inputs["det"] << most)
        # 64 * L2 * 2**(2 * (T - 168)) against the square of the reach.
        below = 168 - inputs["exponent"]
        places = Signal(7)
        fine = Signal(3)
        m.d.comb += [
            places.eq(Mux(below < 0, 0, Mux(below > 40, 80, below << 1))),
            fine.eq(most),
        ]
        for log2 in reversed(range(4)):
            square = Signal(13, name=f"square{log2}")
            with m.Switch(inputs["threshold"]):
                for a in range(8):
                    with m.Case(a):
                        m.d.comb += square.eq(((8 << log2) + a) ** 2)
            fits = (below >= 0) & ((length2 << 6) <= (square << places))
            with m.If(fits & (log2 < most)):
                m.d.comb += fine.eq(log2)
        return [(self.block.over, over), (self.block.fine_taps_log2, fine)]


def proofs() -> list[Proof]:
    """Leading zeros and tap counts."""
    widths = ((SIZE_BITS, SIZE_BITS), (det_bits(FULL), 20))
    return [
        *(
            part_proof(
                "lod",
                f"normalise{width}",
                f"the leading one of {width} bits comes to the top, for every number",
                lambda width=width, keep=keep: Normalised(Normaliser(width, keep)),
            )
            for width, keep in widths
        ),
        part_proof(
            "lod",
            "taps",
            "limit of the ratio, and taps of an axis under one texel: docs/lod.md for every length",
            lambda: Taps(TapCount(FULL)),
        ),
    ]
