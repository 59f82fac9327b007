"""Proofs of the MinMip filter: its streams, its ramp, and the laws of spec 04 for its blends.

The laws of the whole follow: a ramp that is steeper, or begins nearer to the border, gives the near
neighbour less weight; maxima and blends keep order; the own texel is the start of every blend and
the largest texel the end of the last; and a value in 1/8 is one in 1/256, so that rounding does
not leave the bounds.
"""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Cat, Module, Mux
from kit.beats import Credits
from kit.formal import FreeDatapath, Proof, StreamContract, contract_proofs, valid_proof
from kit.part_spec import PartSpec, part_proof
from kit.products import LawSpec, law_proof

from minmip.hw.config import SMALL
from minmip.hw.filter_blend import LINE_BITS, PLANE_BITS, Blend, PlaneBlend
from minmip.hw.filter_ramp import ONE, FilterRamp
from minmip.hw.filter_unit import FilterUnit

__all__ = ["proofs"]


class FreeFilter(FreeDatapath):
    """Stands in for the datapath: any values, at the right clock; the memory ports are loose."""

    def __init__(self, datapath):
        self.base, self.memory = datapath.base, datapath.memory
        super().__init__(datapath)


def contract() -> StreamContract:
    """The streams do not depend on the values."""
    unit: Any = FilterUnit(SMALL)
    unit.datapath = unit.buffer.datapath = FreeFilter(unit.datapath)
    spec = StreamContract(unit)
    spec.ports.append(unit.datapath.any_result)
    return spec


class Ramp(PartSpec):
    """Spec 04 for every position, slope and offset, with true products."""

    def rule(self, m: Module, inputs: dict) -> list:
        fraction = inputs["fraction"]
        distance = Mux(fraction < 128, fraction, 256 - fraction)
        own = (distance - inputs["offset"]) * inputs["slope2"]
        return [(self.block.near, Mux(own < 0, ONE, Mux(own > ONE, 0, ONE - own)))]


class Bounds(LawSpec):
    """A blend lies between its ends, is the start with weight 0 and the end with weight 1."""

    due = (3,)

    def legal(self, *inputs):
        beat = inputs[0]
        fits = beat["start"] + beat["step"] < 1 << self.block.bits
        return fits & (beat["near"] <= ONE)

    def laws(self, *inputs):
        beat, o = inputs[0], self.block.o
        start, end = beat["start"] << 9, (beat["start"] + beat["step"]) << 9
        return [
            o >= start,
            o <= end,
            (beat["near"] != 0) | (o == start),
            (beat["near"] != ONE) | (o == end),
        ]


class WideBounds(Bounds):
    """The same with two multipliers for one step."""

    due = (3, 3)


class NearOrder(Bounds):
    """More weight of the end is not less."""

    def legal(self, *inputs):
        one, other = inputs
        same = (one["start"] == other["start"]) & (one["step"] == other["step"])
        return super().legal(other) & same & (one["near"] <= other["near"])

    def laws(self, *inputs):
        one, other = self.parts
        return [one.o <= other.o]


class WideNearOrder(NearOrder):
    """The same with two multipliers for one step."""

    due = (3, 3)


class EndOrder(NearOrder):
    """With one weight and one start, an end that is not less gives no less."""

    def legal(self, *inputs):
        one, other = inputs
        same = (one["start"] == other["start"]) & (one["near"] == other["near"])
        return Bounds.legal(self, other) & same & (one["step"] <= other["step"])


class StartOrder(NearOrder):
    """With one weight and one end, a start that is not less gives no less."""

    def legal(self, *inputs):
        one, other = inputs
        ends = [beat["start"] + beat["step"] for beat in inputs]
        same = (ends[0] == ends[1]) & (one["near"] == other["near"])
        return Bounds.legal(self, one) & same & (one["start"] <= other["start"])


class Border(LawSpec):
    """On the border of an axis, own and near texels in each other's place give the same."""

    due = (6, 6, 11)

    def __init__(self, axis: int):
        self.axis = axis
        super().__init__(PlaneBlend(), PlaneBlend())

    def legal(self, *inputs):
        one, other = inputs
        texels = Cat(one["texel"][n] == other["texel"][n ^ 1 << self.axis] for n in range(4))
        near = Cat(one["near"][n] == other["near"][n] for n in range(2))
        inside = Cat(one["near"][n] <= ONE for n in range(2))
        return texels.all() & near.all() & inside.all() & (one["near"][self.axis] == ONE)

    def laws(self, *inputs):
        one, other = self.parts
        return [one.o == other.o]


class Centre(LawSpec):
    """Without weight of the near neighbours a plane is its own texel."""

    due = (6, 6, 11)

    def legal(self, *inputs):
        return (inputs[0]["near"][0] == 0) & (inputs[0]["near"][1] == 0)

    def laws(self, *inputs):
        return [self.block.o == inputs[0]["texel"][0] << 18]


def laws() -> list[Proof]:
    """The arithmetic, one proof for each width."""

    def of_blend(name, says, spec, bits, copies=1):
        title = f"{name}{bits}"
        return law_proof(
            "filter_unit", title, says, lambda: spec(*(Blend(bits) for _ in range(copies)))
        )

    bounds = "a blend lies between its ends and reaches them"
    order = "more weight of the larger end is not less"
    found = [of_blend("bounds", bounds, Bounds, bits) for bits in (8, LINE_BITS)]
    found += [of_blend("order", order, NearOrder, bits, 2) for bits in (8, LINE_BITS)]
    for bits in (8, LINE_BITS):
        found += [
            of_blend("end", "a larger end gives no less", EndOrder, bits, 2),
            of_blend("start", "a larger start gives no less", StartOrder, bits, 2),
        ]
    found += [
        of_blend("bounds", bounds, WideBounds, PLANE_BITS),
        of_blend("order", order, WideNearOrder, PLANE_BITS, 2),
    ]
    for axis, name in enumerate("xy"):
        found.append(
            law_proof(
                "filter_unit",
                f"border_{name}",
                f"both sides of a border of {name} see one value",
                lambda axis=axis: Border(axis),
            )
        )
    says = "a plane is its own texel at the centre"
    return [*found, law_proof("filter_unit", "centre", says, lambda: Centre(PlaneBlend()))]


def proofs() -> list[Proof]:
    """Streams, valid bits, credits; ramp; laws."""
    latency = FilterUnit(SMALL).datapath.latency
    return [
        *contract_proofs("filter_unit", contract, cover=latency + 8),
        valid_proof("filter_unit", lambda: FilterUnit(SMALL).datapath),
        Proof(
            block="filter_unit",
            name="credits",
            says="credits and beats inside add up, the response queue never overflows",
            make=lambda: Credits(latency),
        ),
        part_proof(
            "filter_unit",
            "ramp",
            "the near weight is that of spec 04 for every position, slope and offset",
            lambda: Ramp(FilterRamp()),
        ),
        *laws(),
    ]
