"""Proofs of the MinMip filter: its streams, and the laws of spec 04 for its parts."""

from __future__ import annotations

from kit.beats import Credits
from kit.formal import FreeDatapath, Proof, StreamContract, contract_proofs, valid_proof

from minmip.hw.config import SMALL
from minmip.hw.filter_unit import FilterUnit

__all__ = ["proofs"]


class FreeFilter(FreeDatapath):
    """Stands in for the datapath: any values, at the right clock; the memory ports are loose."""

    def __init__(self, datapath):
        self.base, self.memory = datapath.base, datapath.memory
        super().__init__(datapath)


def contract() -> StreamContract:
    """The streams do not depend on the values."""
    unit = FilterUnit(SMALL)
    unit.datapath = unit.buffer.datapath = FreeFilter(unit.datapath)
    spec = StreamContract(unit)
    spec.ports.append(unit.datapath.any_result)
    return spec


def proofs() -> list[Proof]:
    """Streams, valid bits, credits."""
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
    ]
