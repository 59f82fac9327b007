"""Proofs of the LOD of a part: operands for every float; its contract whatever the LODs are."""

from __future__ import annotations

from dataclasses import replace

from amaranth.hdl import Assert, Assume, Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from kit.formal import Proof, Spec
from kit.part_spec import PartSpec, part_proof
from kit.same_beat import same_beat_proof
from kit.side_contract import side_proofs

from minmip.hw.config import PRESETS
from minmip.hw.lane_lod import LaneLod
from minmip.hw.lib.delay import delay
from minmip.hw.lod_array import LodArray
from minmip.hw.operand_to_fixed import OperandToFixed
from minmip.hw.shapes import SLICE_BITS

__all__ = ["proofs"]

LANES = 4
CONFIG = replace(PRESETS["small"], lanes=LANES, lod_units=2)


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


class ShortUnit(wiring.Component):
    """In the place of an LOD datapath: a bit of each gradient and of the rest, 2 clocks later."""

    latency = 2

    def __init__(self, unit):
        super().__init__(dict(unit.signature.members.items()))

    def elaborate(self, platform):
        m = Module()
        seen = Cat(self.i.ddx[0][0], self.i.ddy[0][0], self.i.size[0][0])
        m.d.comb += [
            Cat(self.o.lod[:2], self.o.undefined).eq(delay(m, seen, self.latency, name="seen")),
            self.o.tag.eq(delay(m, self.i.tag, self.latency, name="tag")),
        ]
        return m


class OwnLods(Spec):
    """The LOD of each lane is made of its part's own gradients, or of the shared ones."""

    def __init__(self):
        array = LodArray(CONFIG)
        array.units = [ShortUnit(unit) for unit in array.units]
        array.latency = ShortUnit.latency + array.steps
        super().__init__(array)

    def properties(self, m: Module) -> None:
        array = self.block
        slow = array.i_valid & array.i.own
        for age in range(1, array.steps):
            m.d.comb += Assume(~array.i_valid | ~delay(m, slow, age, name=f"slow{age}"))
        came = Cat(array.i_valid, array.i.own, array.i.size[0][0])
        gradients = [Cat(array.i[name][n][0][0] for name in ("ddx", "ddy")) for n in range(LANES)]
        late = delay(m, Cat(came, gradients), array.latency, name="late", reset_less=False)
        valid, own, size, *shown = (
            *late[:3],
            *(late[3 + 2 * n : 5 + 2 * n] for n in range(LANES)),
        )
        with m.If(valid):
            for n in range(LANES):
                lane = array.o[n]
                m.d.comb += [
                    Assert(lane.lod[:2] == Mux(own, shown[n], shown[0])),
                    Assert(lane.undefined == size),
                ]


def proofs() -> list[Proof]:
    return [
        same_beat_proof("lane_lod", lambda: LaneLod(CONFIG).operands, part="operands"),
        Proof(
            block="lane_lod",
            name="own",
            says=OwnLods.__doc__,
            make=OwnLods,
            depth=ShortUnit.latency + LANES + 2,
        ),
        *side_proofs(
            "lane_lod",
            lambda: LaneLod(PRESETS["small"]),
            lambda block: (
                block.buffer,
                {block.side_queue: 1, block.operand_queue: 1 + block.operands.latency},
            ),
            pure=False,
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
