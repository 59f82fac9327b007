"""Proofs of the context table: nobody's fields are overwritten, and nothing waits for ever."""

from __future__ import annotations

from amaranth.hdl import Assert, Assume, Module, Mux, Signal
from kit.formal import Proof, Spec

from minmip.hw.config import PRESETS
from minmip.hw.context_table import ContextTable

__all__ = ["proofs"]


class SmallTable(ContextTable):
    """Short queue and short counts: fewer states, the same control."""

    rows = 2
    count_bits = 3


class InUse(Spec):
    """Fields are written only while no quad of their context is inside, and counts never wrap.

    With nothing inside a beat waits for 3 clocks at most, and then for the counts to be seen.
    """

    most = (1 << SmallTable.count_bits) - 1
    patience = 6

    def __init__(self):
        super().__init__(SmallTable(PRESETS["small"], ()))

    def properties(self, m: Module) -> None:
        self.assume_inputs(m)
        block = self.block
        i, o = block.i, block.o
        used = Signal(2)
        for context in range(2):
            inside, behind = (Signal(range(self.most + 2), name=f"{n}{context}") for n in "ib")
            taken, given, left = (Signal(name=f"{n}{context}") for n in ("taken", "given", "left"))
            m.d.comb += [
                taken.eq(i.valid & i.ready & (i.payload.entry == context)),
                given.eq(o.valid & o.ready & (o.payload.context == context)),
                left.eq(block.released_valid & (block.released == context)),
                # Only what has come out can leave.
                Assume(~left | (behind != 0)),
                Assert(inside <= self.most),
                used[context].eq(inside != 0),
            ]
            m.d.sync += [
                inside.eq(inside + taken - left),
                behind.eq(behind + given - left),
            ]
        entry = i.payload.entry
        m.d.comb += Assert(~(block.load & used.bit_select(entry, 1)))
        with m.If(i.valid & i.ready & i.payload.fresh):
            m.d.comb += Assert(block.load)

        waits = Signal(range(self.patience + 2))
        m.d.sync += waits.eq(Mux(i.valid & ~i.ready & ~used.any(), waits + 1, 0))
        m.d.comb += Assert(waits <= self.patience)


def proofs() -> list[Proof]:
    return [
        Proof(
            block="context_table",
            name="in-use",
            says="no field of a context with quads inside is written; no wait without a reason",
            make=InUse,
            engine="abc pdr",
        )
    ]
