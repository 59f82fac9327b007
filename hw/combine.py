"""Combine: texels of a beat on one byte are merged, those in few words leave together (spec 03)."""

from amaranth.hdl import Cat, Module, Mux, Signal, Value, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from minmip.hw import swizzle
from minmip.hw.config import UnitConfig
from minmip.hw.descriptor_words import LINKED_FILTER, LINKED_MAX, LINKED_MIN, LINKED_OR
from minmip.hw.lib.choose import choose
from minmip.hw.lib.side_buffer import SideBuffer
from minmip.hw.shapes import SLICE_BITS, TEXEL_BITS, MemoryOp
from minmip.hw.texel_groups import TexelGroups
from minmip.hw.word_beats import TEXELS, WORDS, kernel, slab_beat, word_beat

__all__ = ["Combine"]

HEAD = ("context", "code", "flush", "tag", "last")
"""What goes through unchanged, to `word_beat`."""
FILTER = ("first_lane", "slab", "done", "ramp")
"""And to its `kernel`."""


def _side(cfg: UnitConfig) -> data.StructLayout:
    """What waits while the texels are grouped; `mip` is the map's."""
    head = {name: slab_beat(cfg)[name].shape for name in (*HEAD, "packing")}
    lane = data.StructLayout(
        {
            "mip": unsigned(4),
            "slice": unsigned(SLICE_BITS),
            "x": data.ArrayLayout(unsigned(TEXEL_BITS), 2),
            "y": data.ArrayLayout(unsigned(TEXEL_BITS), 2),
            "x_touched": unsigned(2),
            "y_touched": unsigned(2),
            "value": unsigned(8),
        }
    )
    rest = {"op": MemoryOp, "read": unsigned(1), "kernel": kernel(cfg)}
    return data.StructLayout(head | rest | {"lane": data.ArrayLayout(lane, cfg.lanes)})


class Combine(wiring.Component):
    """Bring together the texels of a beat that lie in the same memory words (spec 03 "Combine").

    A memory word is a part of one row of texels in LINEAR and the S modes. Of 16 bytes, it is two
    rows apart, 8 texels wide, in the D modes, and a box of 4 x 2 x 2 in volumes of the S modes;
    shorter words have the lower bits of that (`Packing`). The lanes leave in groups, one per
    clock (`TexelGroups`): a run of lanes whose texels lie in four different words or fewer. So a
    beat takes one clock when its texels lie in four words, lanes in different places take one clock
    each, and no lane is divided. The words of a group differ; a word may come again in a later
    group of the beat, so bytes that are counted behind are counted for each group. The next beat
    follows without a bubble. A beat without a lane that writes or reads passes as one beat without
    words. The bytes are made of a group where it has its addresses (`WordExpand`): a group is a
    third as wide as its words.

    Beats for the filter (linked type 4) are grouped in the same way, to be read.

    Latency 12 + lanes. In order. `i.ready` is a register; `o.ready` reaches registers only.

    Parameters
    ----------
    cfg : UnitConfig
        `word_bytes`: 4, 8 or 16, so that a word is one row of a block of 16 texels or part of it.

    Members
    -------
    i : In(stream.Signature(slab_beat(cfg)))
        Lanes of refused quads and flushes are not `active`. Plain quads have no map: none of their
        lanes is a member of a group.
    o : Out(stream.Signature(word_beat(cfg)))
        Of words that are not valid, and texels that do not join, the rest is anything.
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
                "i": In(stream.Signature(slab_beat(cfg))),
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
        m.d.comb += [side.kernel[name].eq(beat[name]) for name in FILTER]
        m.d.comb += [
            request.descending.eq(beat.linked == LINKED_MAX),
            request.packing.eq(beat.packing),
            side.packing.eq(beat.packing),
            side.read.eq((beat.linked == LINKED_FILTER) & ~beat.code.any() & ~beat.flush),
        ]
        with m.Switch(beat.linked):
            with m.Case(LINKED_MIN):
                m.d.comb += side.op.eq(MemoryOp.MIN)
            with m.Case(LINKED_MAX):
                m.d.comb += side.op.eq(MemoryOp.MAX)
            with m.Default():
                m.d.comb += side.op.eq(MemoryOp.OR)
        for n in range(self.cfg.lanes):
            lane = beat.lane[n]
            # MipRegionUsed has a map of several mips, the others have one.
            mip = Mux(beat.linked == LINKED_OR, lane.mip, 0)
            for part in (request.lane[n], side.lane[n]):
                m.d.comb += [
                    part.mip.eq(mip),
                    part.slice.eq(lane.slice),
                    part.x.eq(lane.x),
                    part.y.eq(lane.y),
                    part.x_touched.eq(lane.x_touched),
                    part.y_touched.eq(lane.y_touched),
                    part.value.eq(lane.value),
                ]
            m.d.comb += [
                request.lane[n].live.eq(beat.active[n] & beat.linked.any()),
                side.kernel.fraction[n].eq(lane.fraction),
            ]

    def _issue(self, m: Module) -> None:
        """Send the groups of a beat, one per clock."""
        lanes = self.cfg.lanes
        groups, side = self.groups.o.payload.beat, self.groups.o.payload.side
        valid, go = self.groups.o.valid, Signal()
        # The groups from the one that goes now: of the queue, and later of these registers.
        later = Signal()
        left, next_left = Signal(lanes * lanes), Signal(lanes * lanes)
        more, next_more = Signal(), Signal()
        m.d.comb += [
            go.eq(~self.o.valid | self.o.ready),
            left.eq(Mux(later, next_left, groups.group)),
            more.eq(Mux(later, next_more, groups.more)),
            self.groups.o.ready.eq(go & ~more),
        ]
        with m.If(go & valid):
            m.d.sync += [
                later.eq(more),
                next_left.eq(left >> lanes),
                next_more.eq(left[2 * lanes : 3 * lanes].any()),
            ]

        beat, members = self.o.payload, left[:lanes]
        with m.If(go):
            m.d.sync += [
                self.o.valid.eq(valid),
                *(beat[name].eq(side[name]) for name in (*HEAD, "op", "read", "kernel")),
                beat.last.eq(side.last & ~more),
                beat.rank.eq(groups.rank),
            ]
            for slot in range(WORDS):
                self._load_word(m, beat.word[slot], slot, members)
            for n in range(lanes):
                m.d.sync += beat.value[n].eq(side.lane[n].value)
                self._load_lane(m, beat.lane[n], n, members[n])

    def _load_word(self, m: Module, word, slot: int, members) -> None:
        """Take the place of a word from the lane that brings it."""
        groups, side = self.groups.o.payload.beat, self.groups.o.payload.side
        brings = [lane.brings[slot] for lane in groups.lane]
        chosen = Cat(member & one.valid for member, one in zip(members, brings, strict=True))
        m.d.sync += [
            word.valid.eq(chosen.any()),
            word.mip.eq(choose(chosen, [lane.mip for lane in side.lane])),
            word.slice.eq(choose(chosen, [lane.slice for lane in side.lane])),
        ]
        for axis, place in (("x", "column"), ("y", "row")):
            texels = [
                Mux(one[place], lane[axis][1], lane[axis][0])
                for one, lane in zip(brings, side.lane, strict=True)
            ]
            m.d.sync += word[axis].eq(choose(chosen, texels))

    def _load_lane(self, m: Module, lane, number: int, member) -> None:
        """Give the texels of a lane their words and bytes."""
        groups, side = self.groups.o.payload.beat, self.groups.o.payload.side
        texels = side.lane[number]
        m.d.sync += [lane.member.eq(member), lane.slot.eq(groups.lane[number].slot)]
        for t in range(TEXELS):
            row, column = t >> 1, t & 1
            place = {"x": texels.x[column], "y": texels.y[row], "z": texels.slice}
            m.d.sync += [
                lane.joins[t].eq(member & texels.y_touched[row] & texels.x_touched[column]),
                lane.byte[t].eq(self._byte(side.packing, place)),
            ]

    def _byte(self, packing: Value, place: dict[str, Value]) -> Value:
        """Number of a texel's byte in its memory word."""
        bits = []
        kinds = swizzle.packings(self.cfg)
        for sources in zip(*(swizzle.word_bits(self.cfg, kind) for kind in kinds), strict=True):
            chosen, *others = dict.fromkeys(sources)
            bit = place[chosen[0]][chosen[1]]
            for axis, number in others:
                with_it = {
                    k for k, source in zip(kinds, sources, strict=True) if source == (axis, number)
                }
                told = swizzle.told_apart(packing, with_it, set(kinds) - with_it)
                bit = Mux(told, place[axis][number], bit)
            bits.append(bit)
        return Cat(bits)
