"""Proofs of the descriptor decode's control; what it decodes is left to the golden model.

The compare and the store are replaced by parts that do anything their contract allows. So the
proofs hold for every key, every pattern of hits and every number of entries.
"""

from __future__ import annotations

from amaranth.hdl import Assert, Module, Mux, Signal, Value
from amaranth.lib import wiring
from kit.formal import Proof, Spec, StreamContract

from minmip.hw.config import FULL
from minmip.hw.descriptor_decode import DescriptorDecode

__all__ = ["proofs"]


class AnyMatch(wiring.Component):
    """Any request may be found or not, in any entry."""

    def __init__(self, original):
        self.latency = original.latency
        self.any_found = Signal(name="any_found")
        self.any_entry = Signal(len(original.entry), name="any_entry")
        super().__init__(dict(original.signature.members.items()))

    def elaborate(self, platform):
        m = Module()
        m.d.comb += [self.found.eq(self.any_found), self.entry.eq(self.any_entry)]
        return m


class AnyStore(wiring.Component):
    """Contents change at any time between `begun` and `done`, and only then.

    `begun` is any number of clocks after `start`, but in the clock after `drained`; `soon` comes
    any number of clocks after that, and `done` 3 clocks after `soon`.
    """

    def __init__(self, original):
        self.any_content = Signal(name="any_content")
        self.any_soon = Signal(name="any_soon")
        self.filling = Signal()
        super().__init__(dict(original.signature.members.items()))

    def elaborate(self, platform):
        m = Module()
        asked, content = Signal(), Signal()
        late = Signal(3)
        m.d.sync += [
            self.begun.eq(asked & self.drained),
            late.eq(Value.cast(late) << 1 | self.soon),
        ]
        with m.If(asked & self.drained):
            m.d.sync += [asked.eq(0), self.filling.eq(1)]
        with m.If(self.start):
            m.d.sync += asked.eq(1)
        with m.If(self.done):
            m.d.sync += self.filling.eq(0)
        m.d.comb += [
            self.soon.eq(self.filling & ~late.any() & self.any_soon),
            self.done.eq(late[-1]),
        ]
        with m.If(self.filling):
            m.d.sync += content.eq(self.any_content)
        choice = content ^ self.read_entry.any()
        m.d.comb += Value.cast(self.o).eq(Mux(choice, -1, 0))
        return m


def free_decode(spec_type):
    """Specification of a block whose compare and store are free."""
    block = DescriptorDecode(FULL)
    block.match = match = AnyMatch(block.match)
    block.store = store = AnyStore(block.store)
    spec = spec_type(block)
    spec.ports += [match.any_found, match.any_entry, store.any_content, store.any_soon]
    return spec


class WholeEntries(Spec):
    """While an entry is being written no request finds one, and no answer waits that reads one."""

    def properties(self, m: Module) -> None:
        self.assume_inputs(m)
        with m.If(self.block.store.filling):
            m.d.comb += [Assert(~self.block.match.used), Assert(~self.block.o.valid)]


def proofs() -> list[Proof]:
    """The stream contract, and that nobody sees half an entry."""
    parts = {"block": "descriptor_decode", "engine": "abc pdr"}
    return [
        Proof(
            name="contract",
            says="valid and payload of every output stay until the transfer",
            make=lambda: free_decode(StreamContract),
            **parts,
        ),
        Proof(
            name="entries",
            says="no request finds, and no answer reads, an entry that is being written",
            make=lambda: free_decode(WholeEntries),
            **parts,
        ),
        Proof(
            block="descriptor_decode",
            name="offers",
            says="every output is offered without waiting for ready",
            make=lambda: free_decode(StreamContract),
            mode="cover",
            depth=14,
        ),
    ]
