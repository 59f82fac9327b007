"""Proofs of the descriptor decode's control; what it decodes is left to the golden model.

The compare and the store are replaced by parts that do anything their contract allows. So the
proofs hold for every key, every pattern of hits and every number of entries.
"""

from __future__ import annotations

from amaranth.hdl import Assert, Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out
from kit.beats import WatchedBeat
from kit.formal import Proof, Spec, StreamContract

from minmip.hw.config import FULL, UnitConfig
from minmip.hw.control_store import ControlStore
from minmip.hw.descriptor_decode import DescriptorDecode
from minmip.hw.descriptor_match import DescriptorMatch

__all__ = ["proofs"]


class AnyMatch(DescriptorMatch):
    """Any request may be found or not, in any entry."""

    def __init__(self, cfg):
        super().__init__(cfg)
        self.any_found = Signal(name="any_found")
        self.any_entry = Signal(len(self.entry), name="any_entry")

    def elaborate(self, platform):
        m = Module()
        m.d.comb += [self.found.eq(self.any_found), self.entry.eq(self.any_entry)]
        return m


class AnyStore(ControlStore):
    """Contents change at any time between `begun` and `done`, and only then.

    `begun` is any number of clocks after `start`, but in the clock after `drained`; `soon` comes
    any number of clocks after that, and `done` 3 clocks after `soon`.
    """

    def __init__(self, cfg):
        super().__init__(cfg)
        self.any_content = Signal(name="any_content")
        self.any_soon = Signal(name="any_soon")
        self.filling = Signal()

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


class FreeDecode(DescriptorDecode):
    """The block with those parts."""

    match_part = AnyMatch
    store_part = AnyStore


def free_decode(spec_type):
    """Specification of the block with free parts."""
    block = FreeDecode(FULL)
    spec = spec_type(block)
    match, store = block.match, block.store
    spec.ports += [match.any_found, match.any_entry, store.any_content, store.any_soon]
    return spec


class WholeEntries(Spec):
    """While an entry is being written no request finds one, and no answer waits that reads one."""

    def properties(self, m: Module) -> None:
        self.assume_inputs(m)
        with m.If(self.block.store.filling):
            m.d.comb += [Assert(~self.block.match.used), Assert(~self.block.o.valid)]


class FairMatch(AnyMatch):
    """After a decode the request that missed finds its entry, as without a flush."""

    def elaborate(self, platform):
        m = super().elaborate(platform)
        fresh = Signal()
        with m.If(self.used):
            m.d.sync += fresh.eq(0)
        with m.If(self.fill):
            m.d.sync += fresh.eq(1)
        m.d.comb += self.found.eq(self.any_found | fresh)
        return m


class SmallDecode(FreeDecode):
    """Few rows: fewer states, the same control."""

    match_part = FairMatch
    rows = 4


class OneBit(wiring.Component):
    """Only one bit of the tag is looked at, and decodes are short."""

    def __init__(self):
        super().__init__({"i": In(stream.Signature(1)), "o": Out(stream.Signature(1))})
        self.decode = SmallDecode(UnitConfig(descriptor_entries=1))

    def elaborate(self, platform):
        m = Module()
        m.submodules.decode = decode = self.decode
        m.d.comb += [
            decode.i.payload.tag.eq(self.i.payload),
            decode.i.valid.eq(self.i.valid),
            self.i.ready.eq(decode.i.ready),
            self.o.payload.eq(decode.o.payload.tag[0]),
            self.o.valid.eq(decode.o.valid),
            decode.o.ready.eq(self.o.ready),
            decode.store.any_soon.eq(1),
        ]
        return m


def order():
    """Requests keep their order among hits and misses."""
    block = OneBit()
    spec = WatchedBeat(block, capacity=4, patience=19)
    spec.ports += [block.decode.match.any_found, block.decode.store.any_content]
    return spec


def proofs() -> list[Proof]:
    """The stream contract, nobody sees half an entry, and the order (which takes minutes)."""
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
        Proof(
            name="order",
            says="no request is lost, doubled or overtaken, whichever miss",
            make=order,
            long=True,
            **parts,
        ),
    ]
