"""Combine: texels of a beat on one byte are merged, those in one word leave together (spec 03)."""

from amaranth.hdl import Cat, Module, Mux, Signal, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.beats import footprint_beat, word_beat
from minmip.hw.config import UnitConfig
from minmip.hw.descriptor_words import LINKED_MAX, LINKED_MIN, LINKED_OR
from minmip.hw.lib.choose import choose
from minmip.hw.lib.side_buffer import SideBuffer
from minmip.hw.shapes import SLICE_BITS, TEXEL_BITS, MemoryOp
from minmip.hw.texel_groups import TexelGroups, lane_pairs

__all__ = ["Combine"]

HEAD = ("context", "code", "flush", "tag", "last")
"""What goes through unchanged."""


def _side(cfg: UnitConfig) -> data.StructLayout:
    """What waits while the texels are grouped; `mip` is the map's."""
    head = {name: footprint_beat(cfg)[name].shape for name in HEAD}
    lane = data.StructLayout(
        {
            "mip": unsigned(4),
            "slice": unsigned(SLICE_BITS),
            "x": data.ArrayLayout(unsigned(TEXEL_BITS), 2),
            "y": data.ArrayLayout(unsigned(TEXEL_BITS), 2),
            "value": unsigned(8),
        }
    )
    return data.StructLayout(head | {"op": MemoryOp, "lane": data.ArrayLayout(lane, cfg.lanes)})


class Combine(wiring.Component):
    """Bring together the texels of a beat that lie in the same memory words (spec 03 "Combine").

    A memory word is a part of one row of texels, in LINEAR and in 256B_S. The texels leave in
    groups, one per clock (`TexelGroups`): the first lane with a texel that has not left leads, and
    all texels in its four words go with it, so no word of a beat is in two groups. A beat whose
    texels lie in the words of one lane takes one clock; lanes in different places take one clock
    each. The next beat follows without a bubble. A beat with no texel to write passes as one beat
    without texels. The bytes are made of a group where it has its addresses (`WordExpand`): a group
    is a third as wide as its words.

    Latency 6 + lanes. In order. `i.ready` is a register; `o.ready` reaches registers only.

    Parameters
    ----------
    cfg : UnitConfig
        `word_bytes`: 4, 8 or 16, so that a word is one row of a block of 16 texels or part of it.

    Members
    -------
    i : In(stream.Signature(footprint_beat(cfg)))
        Lanes of refused quads and flushes are not `active`.
    o : Out(stream.Signature(word_beat(cfg)))
        `x` and `y` are the leader's texels. A beat without texels may have any place and `op`.
    """

    i: stream.Interface
    o: stream.Interface

    def __init__(self, cfg: UnitConfig):
        if cfg.word_bytes > 16:
            raise ValueError(f"word_bytes must be 4, 8 or 16, not {cfg.word_bytes}")
        self.cfg = cfg
        self.groups = SideBuffer(TexelGroups(cfg), _side(cfg))
        self.latency = self.groups.latency + 1
        super().__init__(
            {
                "i": In(stream.Signature(footprint_beat(cfg))),
                "o": Out(stream.Signature(word_beat(cfg))),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.groups = self.groups
        self._feed(m)
        self._issue(m)
        return m

    def _feed(self, m: Module) -> None:
        """Hand each part of a beat to those who need it."""
        beat, into = self.i.payload, self.groups.i
        request, side = into.payload.beat, into.payload.side
        m.d.comb += [into.valid.eq(self.i.valid), self.i.ready.eq(into.ready)]
        m.d.comb += [side[name].eq(beat[name]) for name in HEAD]
        m.d.comb += request.descending.eq(beat.linked == LINKED_MAX)
        with m.Switch(beat.linked):
            with m.Case(LINKED_MIN):
                m.d.comb += side.op.eq(MemoryOp.MIN)
            with m.Case(LINKED_MAX):
                m.d.comb += side.op.eq(MemoryOp.MAX)
            with m.Default():
                m.d.comb += side.op.eq(MemoryOp.OR)
        for n in range(self.cfg.lanes):
            lane = beat.lane[n]
            x, y = lane.axis[0], lane.axis[1]
            # MipRegionUsed has a map of several mips, the others have one.
            mip = Mux(beat.linked == LINKED_OR, lane.mip, 0)
            for part in (request.lane[n], side.lane[n]):
                m.d.comb += [
                    part.mip.eq(mip),
                    part.slice.eq(lane.slice),
                    part.x.eq(x.texel),
                    part.y.eq(y.texel),
                    part.value.eq(lane.value),
                ]
            m.d.comb += [
                request.lane[n].live.eq(beat.active[n] & beat.linked.any()),
                request.lane[n].x_touched.eq(x.touched),
                request.lane[n].y_touched.eq(y.touched),
            ]

    def _issue(self, m: Module) -> None:
        """Send the groups of a beat, one per clock."""
        lanes = range(self.cfg.lanes)
        groups, side = self.groups.o.payload.beat, self.groups.o.payload.side
        valid, go = self.groups.o.valid, Signal()
        # The group that goes now, those after it: of the queue, and later of these registers.
        later = Signal()
        leader, others = Signal.like(groups.first), Signal.like(groups.others)
        next_leader, next_others = Signal.like(leader), Signal.like(others)
        more, next_more = Signal(), Signal()
        m.d.comb += [
            go.eq(~self.o.valid | self.o.ready),
            leader.eq(Mux(later, next_leader, groups.first)),
            others.eq(Mux(later, next_others, groups.others)),
            more.eq(Mux(later, next_more, groups.more)),
            self.groups.o.ready.eq(go & ~more),
        ]
        with m.If(go & valid):
            nearest = Cat(others[n] & ~others[:n].any() for n in lanes)
            m.d.sync += [
                later.eq(more),
                next_leader.eq(nearest),
                next_others.eq(others & ~nearest),
                next_more.eq((others & ~nearest).any()),
            ]

        beat, order = self.o.payload, lane_pairs(self.cfg)
        with m.If(go):
            m.d.sync += [
                self.o.valid.eq(valid),
                *(beat[name].eq(side[name]) for name in HEAD),
                beat.last.eq(side.last & ~more),
                beat.op.eq(side.op),
                beat.rank.eq(groups.rank),
            ]
            for name in ("mip", "slice", "x", "y"):
                m.d.sync += beat[name].eq(choose(leader, [lane[name] for lane in side.lane]))
            for n in lanes:
                # Lanes before the leader have left.
                pairs = [groups.pair[order.index((lead, n))] for lead in range(n + 1)]
                for name in ("joins", "second_row", "second_column"):
                    given = choose(leader[: n + 1], [pair[name] for pair in pairs])
                    m.d.sync += beat.lane[n][name].eq(given)
                m.d.sync += beat.lane[n].value.eq(side.lane[n].value)
                for column in range(2):
                    byte = side.lane[n].x[column][: self.cfg.word_log2]
                    m.d.sync += beat.lane[n].byte[column].eq(byte)
