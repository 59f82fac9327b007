"""Proof of the rescale unit: the rule of spec 03 for every request."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux
from kit.formal import Proof
from kit.part_spec import PartSpec, part_proof

from minmip.hw.config import FULL
from minmip.hw.rescale import RescaleDatapath

__all__ = ["proofs"]


def halved(side, halvings):
    """`max(1, side >> halvings)`."""
    return Mux((side >> halvings) == 0, 1, side >> halvings)


class Rescaled(PartSpec):
    """The map's mip 0 first, then its mip of the level."""

    def legal(self, inputs):
        sizes = Cat((size > 0) & (size <= 1 << 14) for size in inputs["i"].size)
        return sizes.all()

    def rule(self, m: Module, inputs: dict) -> list:
        request, result = inputs["i"], self.block.o
        plain, used = request.linked == 0, request.linked == 1
        level = (request.limited_lod + (request.base_level << 8)) >> 5
        pairs = [(result.value, Mux(used, 1, level)), (result.tag, request.tag)]
        for size, scale, grid in zip(request.size, request.scale, result.grid, strict=True):
            whole = Mux(plain, size, halved(size, scale))
            pairs.append((grid, Mux(plain | used, halved(whole, request.mip), whole)))
        return pairs


def proofs() -> list[Proof]:
    """The whole datapath at once."""
    return [
        part_proof(
            "rescale",
            "rule",
            "grid and byte are those of spec 03, for every request",
            lambda: Rescaled(RescaleDatapath(FULL)),
        )
    ]
