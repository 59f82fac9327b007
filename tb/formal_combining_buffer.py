"""Proofs of the write-combining buffer, with few and short words."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

from amaranth.hdl import Assert, Assume, Module, Value
from kit.formal import Proof, Spec, StreamContract
from kit.vlib import LONG

from minmip.hw.combining_buffer import CombiningBuffer
from minmip.hw.config import SMALL

__all__ = ["proofs"]

CFG = replace(SMALL, word_bytes=4, combine_entries=2, combine_age=16)


class OneEntryEach(Spec):
    """Never two entries with one address, if the words of a beat differ."""

    def __init__(self):
        super().__init__(CombiningBuffer(CFG))

    def properties(self, m: Module) -> None:
        self.assume_inputs(m)
        block = self.block
        for a, b in combinations(block.i.payload.word, 2):
            m.d.comb += Assume(a.address != b.address)
            # Few addresses are enough, and quicker.
            m.d.comb += Assume(Value.cast(a.address)[2:] == Value.cast(b.address)[2:])
        for a, b in combinations(block.entries, 2):
            m.d.comb += Assert(~(a.valid & b.valid & (a.address == b.address)))


def proofs() -> list[Proof]:
    """The third takes minutes: behind MINMIP_LONG."""
    made = [
        Proof(
            block="combining_buffer",
            name="contract",
            says="valid and payload of every output stay until the transfer",
            make=lambda: StreamContract(CombiningBuffer(CFG)),
        ),
        Proof(
            block="combining_buffer",
            name="offers",
            says="every output is offered without waiting for ready",
            make=lambda: StreamContract(CombiningBuffer(CFG)),
            mode="cover",
            depth=30,
        ),
    ]
    if LONG:
        made.append(
            Proof(
                block="combining_buffer",
                name="one-entry",
                says=f"{OneEntryEach.__doc__} In every run of 16 clocks.",
                make=OneEntryEach,
                mode="bmc",
                depth=16,
            )
        )
    return made
