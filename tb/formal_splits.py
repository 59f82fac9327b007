"""Proofs of the blocks that make several beats of one: these beats, in order, and nothing else.

The queue at the end of a block is replaced by a wire: `queue-beats` is its proof.
"""

from __future__ import annotations

from dataclasses import replace

from amaranth.hdl import Assert, Assume, Cat, Module, Mux, Signal, Value, signed
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from kit.formal import Proof, Spec
from kit.same_beat import same_beat_proof
from kit.side_contract import passing_proof

from minmip.hw.combine import Combine
from minmip.hw.config import FULL, SMALL
from minmip.hw.descriptor_words import LINKED_FILTER
from minmip.hw.lane_split import LaneSplit
from minmip.hw.slab_split import SlabSplit
from minmip.hw.tap_walker import TAP_BITS, TapWalker
from minmip.hw.texel_groups import TexelGroups
from minmip.hw.word_expand import WordExpand

__all__ = ["Wire", "proofs"]

TWO_LANES = replace(SMALL, lanes=2, word_bytes=4)
VOLUMES = replace(FULL, lanes=2, lod_units=1)


class Wire(wiring.Component):
    """In the place of a queue: what comes in goes out in the same clock."""

    def __init__(self, shape):
        super().__init__({"i": In(stream.Signature(shape)), "o": Out(stream.Signature(shape))})

    def elaborate(self, platform):
        m = Module()
        wiring.connect(m, wiring.flipped(self.i), wiring.flipped(self.o))
        return m


class Made(Spec):
    """A beat makes these beats, in order, and nothing else.

    A derived class says in `next_made` what the taken beat makes: from registers that it sets with
    `m.If(self.taken)`. It counts with `self.number` how many have gone.
    """

    def properties(self, m: Module) -> None:
        self.assume_inputs(m)
        i, o = self.block.i, self.block.o
        self.taken, self.given = Signal(), Signal()
        m.d.comb += [self.taken.eq(i.valid & i.ready), self.given.eq(o.valid & o.ready)]


class Parts(Made):
    """Every part of a quad comes once, in order, with its own lanes; the quad stays until then.

    The queue has as much room as it likes to say.
    """

    def __init__(self):
        block = LaneSplit(SMALL)
        rows = len(block.queue.free)
        block.queue = Wire(block.queue.shape)
        super().__init__(block)
        block.queue.free = self.free(signed(rows), "room")

    def properties(self, m: Module) -> None:
        super().properties(m)
        i, o, lanes = self.block.i, self.block.o, self.block.cfg.lanes
        part = Signal(range(4 // lanes))
        final = part == 4 // lanes - 1
        m.d.comb += Assume(o.ready)
        with m.If(o.valid):
            m.d.sync += part.eq(part + 1)
        # Parts come a clock after they left the quad.
        quad, made, left = Signal(i.payload.shape()), o.payload, Signal()
        m.d.sync += [quad.eq(i.payload), left.eq(self.taken)]
        m.d.comb += Assert(left == (o.valid & final))
        with m.If(o.valid):
            m.d.comb += [
                Assert(made.first_lane == part * lanes),
                Assert(made.last_part == final),
                Assert(made.live == quad.live.word_select(part, lanes)),
                *(Assert(made[name] == quad[name]) for name in ("context", "code", "flush", "tag")),
            ]
            for n, lane in enumerate(made.lane):
                for name in ("uvw", "slice", "clamp"):
                    own = data.View(quad[name].shape(), Value.cast(quad[name]))[part * lanes + n]
                    m.d.comb += Assert(Value.cast(lane[name]) == Value.cast(own))


class Room(Spec):
    """A part that goes finds a row in the queue, whenever the output takes one."""

    def __init__(self):
        super().__init__(LaneSplit(SMALL))

    def properties(self, m: Module) -> None:
        self.assume_inputs(m)
        queue, coming = self.block.queue, self.block.queue.i.valid
        m.d.comb += [
            Assert(~coming | (queue.free >= 0)),
            Assert(~self.block.room | (queue.free - coming >= 0)),
            Assert(~self.block.i.ready | self.block.room),
            Assert(queue.free + queue.more == queue.depth - 2),
            Assert((queue.free >= -1) & (queue.more >= -1)),
            Assert(queue.vacant == ~queue.o.valid),
        ]


class Taps(Made):
    """Every tap and slot with an active lane comes once, in order; a part without lanes makes one.

    `last` is at the end of the last part.
    """

    def __init__(self):
        block = TapWalker(TWO_LANES)
        block.queue = Wire(block.queue.shape)
        super().__init__(block)

    def properties(self, m: Module) -> None:
        super().properties(m)
        i, o = self.block.i, self.block.o
        lanes = self.block.cfg.lanes
        inside, tap, slot = Signal(), Signal(TAP_BITS), Signal()
        tag, last_part, live = Signal(), Signal(), Signal(lanes)
        taps, second = [Signal(3, name=f"taps{n}") for n in range(lanes)], Signal(lanes)
        for lane in i.payload.lane:
            m.d.comb += Assume(lane.taps_log2 <= TAP_BITS)
        with m.If(self.taken):
            part = i.payload
            m.d.sync += [tag.eq(part.tag[0]), last_part.eq(part.last_part), live.eq(part.live)]
            m.d.sync += [kept.eq(n.taps_log2) for kept, n in zip(taps, part.lane, strict=True)]
            m.d.sync += [second.eq(Cat(lane.second for lane in part.lane)), tap.eq(0), slot.eq(0)]

        def active(tap, slot):
            """Lanes of the part that have this tap and slot."""
            has = Cat(live[n] & (tap < (1 << taps[n])) for n in range(lanes))
            return has & Mux(slot, second, -1)

        more = active(tap + 1, 0).any()  # taps that a lane has are the first ones
        twice = ~slot & active(tap, 1).any()
        final = ~twice & ~more
        with m.If(self.given & twice):
            m.d.sync += slot.eq(1)
        with m.Elif(self.given & more):
            m.d.sync += [tap.eq(tap + 1), slot.eq(0)]
        m.d.sync += inside.eq(self.taken | (inside & ~(self.given & final)))
        m.d.comb += [
            Assert(o.valid == inside),
            Assert(i.ready == (~inside | (o.ready & final))),
        ]
        made = o.payload
        with m.If(inside):
            m.d.comb += [
                Assert((made.tap == tap) & (made.slot == slot)),
                Assert(made.active == active(tap, slot)),
                Assert(made.active.any() | ~live.any()),
                Assert(made.last == (final & last_part)),
                Assert(made.tag[0] == tag),
            ]


class Slabs(Made):
    """A beat goes on once, and a second time if a lane touches another depth; `done` says so."""

    def __init__(self):
        super().__init__(SlabSplit(VOLUMES))

    def properties(self, m: Module) -> None:
        super().properties(m)
        i, o = self.block.i, self.block.o
        lanes = range(self.block.cfg.lanes)
        near, far = Signal(len(lanes)), Signal(len(lanes))
        for n in lanes:
            depth = i.payload.lane[n].axis[2]
            apart = (depth.texel[0] != depth.texel[1]) | ~depth.touched[0]
            m.d.comb += [
                near[n].eq(depth.touched[0]),
                far[n].eq(i.payload.active[n] & depth.touched[1] & apart),
            ]
        # A pipeline of two beats: the one that came last, and the one at the output.
        facts = data.StructLayout(
            {"near": len(lanes), "far": len(lanes), "filters": 1, "last": 1, "tag": 1, "slice": 1}
            | {"active": len(lanes), "deep": 1}
        )
        held, shown = Signal(facts), Signal(facts)
        holds, shows, slab = Signal(), Signal(), Signal()
        final = slab | ~shown.far.any()
        moves = ~shows | (o.ready & final)
        with m.If(i.ready):
            came, lane = i.payload, i.payload.lane[0]
            m.d.sync += [
                holds.eq(i.valid),
                held.near.eq(near),
                held.far.eq(far),
                held.filters.eq(came.linked == LINKED_FILTER),
                held.last.eq(came.last),
                held.tag.eq(came.tag[0]),
                held.active.eq(came.active),
                held.slice.eq(lane.slice[0] | lane.axis[2].texel[0][0]),
                held.deep.eq(lane.axis[2].texel[1][0]),
            ]
        with m.If(moves):
            m.d.sync += [shows.eq(holds), shown.eq(held), slab.eq(0)]
        with m.Elif(o.ready):
            m.d.sync += slab.eq(1)
        m.d.comb += [Assert(i.ready == (~holds | moves)), Assert(o.valid == shows)]
        made, filters = o.payload, shown.filters.replicate(len(lanes))
        with m.If(shows):
            m.d.comb += [
                Assert((made.slab == slab) & (made.done == final)),
                Assert(made.last == (shown.last & final)),
                Assert(made.tag[0] == shown.tag),
                Assert(made.lane[0].slice[0] == Mux(slab, shown.deep, shown.slice)),
                Assert(
                    made.active
                    == Mux(
                        slab,
                        Mux(shown.filters, shown.active, shown.far),
                        shown.active & (shown.near | filters),
                    )
                ),
            ]


class AnyGroups(wiring.Component):
    """In the place of the datapath with its side queue: a wire, and any answer."""

    def __init__(self, groups):
        members = groups.signature.members
        super().__init__({"i": In(members["i"].signature), "o": Out(members["o"].signature.flip())})
        self.any_result = Signal(self.o.payload.beat.shape(), name="any_result")

    def elaborate(self, platform):
        m = Module()
        m.d.comb += [
            self.o.valid.eq(self.i.valid),
            self.i.ready.eq(self.o.ready),
            self.o.payload.side.eq(self.i.payload.side),
            self.o.payload.beat.eq(self.any_result),
        ]
        return m


class Groups(Made):
    """Every group of lanes comes once, in order, or one beat if there is none; `last` at the end.

    Whatever the groups are.
    """

    def __init__(self):
        block = Combine(TWO_LANES)
        self.groups = block.groups = AnyGroups(block.groups)
        super().__init__(block)
        self.ports.append(self.groups.any_result.as_value())

    def properties(self, m: Module) -> None:
        super().properties(m)
        i, o, found = self.block.i, self.block.o, self.groups.any_result
        lanes = self.block.cfg.lanes
        # What `TexelGroups` promises: no gap, `more`; and it waits like the beat.
        waiting, before = Signal(), Signal.like(found.as_value())
        m.d.sync += [waiting.eq(i.valid & ~i.ready), before.eq(found)]
        some = [group.any() for group in found.group]
        m.d.comb += [
            Assume(~waiting | (found.as_value() == before)),
            Assume(found.more == some[1]),
            *(Assume(some[n - 1] | ~some[n]) for n in range(1, lanes)),
        ]
        number = Signal(range(lanes))
        behind = Cat(*some[1:], 0).bit_select(number, 1)
        shows, members, last, tag = Signal(), Signal(lanes), Signal(), Signal()
        moves = ~shows | o.ready
        with m.If(moves):
            m.d.sync += [
                shows.eq(i.valid),
                members.eq(found.group.as_value().word_select(number, lanes)),
                last.eq(i.payload.last & ~behind),
                tag.eq(i.payload.tag[0]),
            ]
            with m.If(i.valid):
                m.d.sync += number.eq(Mux(behind, number + 1, 0))
        m.d.comb += [Assert(o.valid == shows), Assert(self.taken == (i.valid & moves & ~behind))]
        with m.If(shows):
            m.d.comb += [
                Assert(Cat(lane.member for lane in o.payload.lane) == members),
                Assert(o.payload.last == last),
                Assert(o.payload.tag[0] == tag),
            ]


def proofs() -> list[Proof]:
    return [
        passing_proof(
            "combine",
            lambda: Combine(TWO_LANES).groups,
            lambda groups: (groups.buffer, {groups.queue: groups.buffer.entry}),
        ),
        same_beat_proof("combine", lambda: TexelGroups(TWO_LANES)),
        same_beat_proof("word_addresses", lambda: WordExpand(TWO_LANES), part="bytes"),
        Proof(
            block="lane_split",
            name="parts",
            says=" ".join(Parts.__doc__.split()),
            make=Parts,
            engine="abc pdr",
        ),
        Proof(block="lane_split", name="room", says=Room.__doc__, make=Room),
        Proof(
            block="tap_walker",
            name="taps",
            says=" ".join(Taps.__doc__.split()),
            make=Taps,
            engine="abc pdr",
        ),
        Proof(block="slab_split", name="slabs", says=Slabs.__doc__, make=Slabs, engine="abc pdr"),
        Proof(
            block="combine",
            name="groups",
            says=" ".join(Groups.__doc__.split()),
            make=Groups,
            engine="abc pdr",
        ),
    ]
