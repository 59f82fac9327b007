"""What leaves for one byte is the merge of the lanes' texels: combine stage and bytes together.

One beat enters; its groups leave one after the other, and their words become bytes (`WordExpand`).
Any one texel of the map is watched. The queue inside the combine stage is a wire here, and the
coordinates are short: 4 bits, slices 2. What comes of a beat depends on no other
(`combine-same-beat`), so a run with one is enough. Mutants of `combine` and `texel_groups` do not
suit this proof: the widths are patched in those modules.
"""

from __future__ import annotations

from contextlib import ExitStack
from itertools import combinations
from unittest.mock import patch

from amaranth.hdl import Assert, Assume, Cat, Const, Cover, Module, Mux, Signal, Value
from amaranth.lib import wiring
from kit.fold import ByteWrite, applied, byte_of
from kit.formal import Spec

from minmip.hw import combine, texel_groups, word_beats
from minmip.hw.config import UnitConfig
from minmip.hw.descriptor_words import LINKED_MAX, LINKED_MIN, LINKED_OR
from minmip.hw.lib.delay import delay
from minmip.hw.word_beats import TEXELS
from minmip.hw.word_expand import WordExpand

__all__ = ["CombineMerge"]


class Wire(wiring.Component):
    """In the place of the `SideBuffer`: the beat at the input stays, so its groups stay too."""

    def __init__(self, buffer):
        self.datapath = buffer.buffer.datapath
        self.latency = self.datapath.latency
        super().__init__(dict(buffer.signature.members.items()))

    def elaborate(self, platform):
        m = Module()
        m.submodules.datapath = self.datapath
        gone = Signal()
        begun = delay(m, Const(1, 1), self.latency, name="begun", reset_less=False)
        m.d.sync += gone.eq(gone | (self.o.valid & self.o.ready))
        m.d.comb += [
            self.datapath.i.eq(self.i.payload.beat),
            self.o.payload.beat.eq(self.datapath.o),
            self.o.payload.side.eq(self.i.payload.side),
            self.o.valid.eq(begun & ~gone),
        ]
        return m


class CombineMerge(Spec):
    """For any texel, what the groups of a beat write is the merge of the lanes, none invented."""

    def __init__(self, cfg: UnitConfig):
        with ExitStack() as short:
            for module in (combine, texel_groups, word_beats):
                short.enter_context(patch.object(module, "TEXEL_BITS", 4))
                short.enter_context(patch.object(module, "SLICE_BITS", 2))
            block = combine.Combine(cfg)
            block.groups = Wire(block.groups)
            self.expand = WordExpand(cfg)
        # The bytes of the last group are counted in.
        self.clocks = block.groups.latency + cfg.lanes + self.expand.latency + 1
        super().__init__(block)
        word = block.o.payload.word[0]
        self.place = {
            name: self.free(len(word[name]), f"watched_{name}")
            for name in ("x", "y", "slice", "mip")
        }

    def properties(self, m: Module) -> None:
        block, expand, beat = self.block, self.expand, self.block.i.payload
        m.submodules.expand = expand
        m.d.comb += [
            Value.cast(expand.i[name]).eq(block.o.payload[name]) for name in ("value", "rank")
        ]
        m.d.comb += Value.cast(expand.i.lane).eq(Value.cast(block.o.payload.lane))
        later = delay(m, Const(1, 1), 1, name="later", reset_less=False)
        for value in (Value.cast(beat), *self.place.values()):
            m.d.comb += Assume(~later | (value == delay(m, value, 1, name="same")))
        written = [LINKED_OR, LINKED_MIN, LINKED_MAX]
        m.d.comb += [
            Assume(block.o.ready),
            Assume(Cat(beat.linked == kind for kind in written).any()),
            # A texel of a map of type 1 is used or not.
            *(Assume((beat.linked != LINKED_OR) | (lane.value == 1)) for lane in beat.lane),
        ]

        # The groups, each with its bytes.
        clocks = expand.latency
        valid = delay(m, block.o.valid, clocks, name="valid", reset_less=False)
        words = [
            delay(m, word, clocks, name=f"word{n}") for n, word in enumerate(block.o.payload.word)
        ]
        op = delay(m, block.o.payload.op, clocks, name="op")
        lane = self.place["x"][: len(block.o.payload.lane[0].byte[0])]
        bits = len(lane)
        hits, values = [], []
        for word, made in zip(words, expand.o, strict=True):
            hits.append(
                valid & word.valid & self._here(word, word.mip, bits) & byte_of(made.mask, lane)
            )
            values.append(byte_of(made.data, lane))
        for a, b in combinations(words, 2):
            same = Cat(a[name] == b[name] for name in ("y", "slice", "mip")).all()
            same &= a.x[bits:] == b.x[bits:]
            m.d.comb += Assert(~(valid & a.valid & b.valid & same))
        there, value = Signal(), Signal(8)
        writes = [
            ByteWrite(hit & (there | Cat(hits[:n]).any()), op, one)
            for n, (hit, one) in enumerate(zip(hits, values, strict=True))
        ]
        first = value
        for n in reversed(range(len(hits))):
            first = Mux(~there & hits[n] & ~Cat(hits[:n]).any(), values[n], first)
        m.d.sync += [
            there.eq(there | Cat(hits).any()),
            value.eq(applied(m, first, writes, name="out")),
        ]

        # The lanes.
        live = [
            active & self._touches(beat, one)
            for active, one in zip(beat.active, beat.lane, strict=True)
        ]
        least = most = Const(0, 8)
        for n, one in enumerate(beat.lane):
            least = Mux(live[n] & (~Cat(live[:n]).any() | (one.value < least)), one.value, least)
            most = Mux(live[n] & (one.value > most), one.value, most)
        wanted = Mux(beat.linked == LINKED_MAX, most, least)
        clock = Signal(range(self.clocks + 2))
        m.d.sync += clock.eq(clock + (clock <= self.clocks))
        done = clock == self.clocks
        m.d.comb += [
            Assert(~done | (there == Cat(live).any())),
            Assert(~(done & there) | (value == wanted)),
            Cover(done & Cat(live).all() & (least != most)),
        ]

    def _here(self, place, mip, bits: int) -> Value:
        """Whether a place is the watched one, but for the lowest bits of x."""
        same = Cat(place[name] == self.place[name] for name in ("y", "slice")).all()
        return same & (mip == self.place["mip"]) & (place.x[bits:] == self.place["x"][bits:])

    def _touches(self, beat, lane) -> Value:
        mip = Mux(beat.linked == LINKED_OR, lane.mip, 0)
        texels = Cat(
            lane.x_touched[t & 1]
            & lane.y_touched[t >> 1]
            & (lane.x[t & 1] == self.place["x"])
            & (lane.y[t >> 1] == self.place["y"])
            for t in range(TEXELS)
        )
        return texels.any() & (lane.slice == self.place["slice"]) & (mip == self.place["mip"])
