"""Proofs of the LOD of a part: operands for every float; its contract whatever the LODs are."""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Mux, Signal
from kit.formal import Proof
from kit.part_spec import PartSpec, part_proof
from kit.side_contract import side_proofs

from minmip.hw.config import PRESETS
from minmip.hw.lane_lod import LaneLod
from minmip.hw.operand_to_fixed import OperandToFixed
from minmip.hw.shapes import SLICE_BITS

__all__ = ["proofs"]


class Operand(PartSpec):
    """The rule by one wide shift to the left: 26 bits below the last place are enough."""

    def rule(self, m, inputs):
        bits, block = inputs["i"], self.block
        fraction, exponent = bits[:23], bits[23:31]
        nan = exponent.all() & fraction.any()
        lowest = 150 - 26 - block.fraction_bits
        small, large = (
            exponent < lowest,
            exponent >= 127 + block.magnitude_bits - block.fraction_bits,
        )
        places = Signal(6)
        m.d.comb += places.eq(Mux(small | large, 0, exponent - lowest))
        wide = Signal(24 + 42)
        m.d.comb += wide.eq(Cat(fraction, Const(1, 1)) << places)
        rounded = Signal(24 + 42)
        m.d.comb += rounded.eq(wide[26:] + (wide[25] & (wide[:25].any() | wide[26])))
        limit = 1 << block.magnitude_bits
        over = large | (rounded >= limit)
        least = -limit if block.negative else 0
        negated = -rounded if block.negative else 0
        value = Mux(
            bits[31],
            Mux(over, least, negated),
            Mux(over, limit - 1, rounded),
        )
        return [(block.o, Mux(nan | small, 0, value)), (block.nan, nan)]


def proofs() -> list[Proof]:
    return [
        *side_proofs(
            "lane_lod",
            lambda: LaneLod(PRESETS["small"]),
            lambda block: (
                block.buffer,
                {block.side_queue: 1, block.operand_queue: 1 + block.operands.latency},
            ),
        ),
        part_proof(
            "lane_lod",
            "level",
            "level, bias and clamp are rounded right, for every float",
            lambda: Operand(OperandToFixed(15, 8, negative=True)),
        ),
        part_proof(
            "lane_lod",
            "slice",
            "the slice is rounded right, for every float",
            lambda: Operand(OperandToFixed(SLICE_BITS, 0, negative=False)),
        ),
    ]
