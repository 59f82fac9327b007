"""Which lanes of a beat leave together: those whose texels lie in four memory words (spec 03)."""

from functools import reduce
from operator import or_

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.config import UnitConfig
from minmip.hw.lib.choose import choose
from minmip.hw.lib.delay import delay
from minmip.hw.same_words import LaneComparison
from minmip.hw.shapes import PACKING_BITS, SLICE_BITS, TEXEL_BITS
from minmip.hw.value_rank import rank_values
from minmip.hw.word_beats import TEXELS, WORDS

__all__ = ["TexelGroups", "texel_groups", "texels_request"]


def texels_request(cfg: UnitConfig) -> data.StructLayout:
    """Texels and values of the lanes of one beat; `live` lanes write, or read for the filter.

    `mip` is the map's. A texel is touched when its `x` and its `y` are. `descending`: the largest
    value is the strongest, else the smallest. `packing`: which texels share a word.
    """
    axis = data.ArrayLayout(unsigned(TEXEL_BITS), 2)
    lane = data.StructLayout(
        {
            "live": unsigned(1),
            "mip": unsigned(4),
            "slice": unsigned(SLICE_BITS),
            "x": axis,
            "y": axis,
            "x_touched": unsigned(2),
            "y_touched": unsigned(2),
            "value": unsigned(8),
        }
    )
    return data.StructLayout(
        {
            "descending": unsigned(1),
            "packing": unsigned(PACKING_BITS),
            "lane": data.ArrayLayout(lane, cfg.lanes),
        }
    )


def texel_groups(cfg: UnitConfig) -> data.StructLayout:
    """Groups of the lanes of one beat, and the memory words of each group by `slot`.

    `group[k]` are the live lanes of group k, none in the groups that are not needed; `more`: there
    is a second. A touched texel t of a lane lies in the word `slot[t]` of its group. A lane whose
    `brings[s]` is `valid` is the first in its group with a texel in word s: that at `row`, `column`
    is one. `rank[q]` is the lane, one-hot, with the q-th strongest value.
    """
    lanes = unsigned(cfg.lanes)
    brings = data.StructLayout({"valid": unsigned(1), "row": unsigned(1), "column": unsigned(1)})
    lane = data.StructLayout(
        {
            "brings": data.ArrayLayout(brings, WORDS),
            "slot": data.ArrayLayout(unsigned(2), TEXELS),
        }
    )
    return data.StructLayout(
        {
            "group": data.ArrayLayout(lanes, cfg.lanes),
            "more": unsigned(1),
            "lane": data.ArrayLayout(lane, cfg.lanes),
            "rank": data.ArrayLayout(lanes, cfg.lanes),
        }
    )


class TexelGroups(wiring.Component):
    """Group the lanes of a beat by their memory words (spec 03 "Combine").

    A group is a run of lanes: a lane joins while the group has four different words or fewer with
    it, else it leads the next group. What each lane would add to a group that any earlier lane
    leads is counted for all of them at once; which lanes lead follows from the sums.

    One beat per clock, latency 9 + lanes.

    Parameters
    ----------
    cfg : UnitConfig
        `lanes`, `word_bytes`, `axes`.

    Members
    -------
    i : In(texels_request(cfg))
    i_valid : In(1)
    o : Out(texel_groups(cfg))
    o_valid : Out(1)
    """

    def __init__(self, cfg: UnitConfig):
        self.cfg = cfg
        self.latency = 9 + cfg.lanes
        super().__init__(
            {
                "i": In(texels_request(cfg)),
                "i_valid": In(1),
                "o": Out(texel_groups(cfg)),
                "o_valid": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        same_q2 = LaneComparison(self.cfg).pairs(m, self.i)
        adds_q4 = self._new_words(m, same_q2)
        fits, before = self._count(m, adds_q4)
        inside, together = self._choose_leaders(m, fits)
        new, number = self._number_words(m, adds_q4, before, inside)
        self._bring_words(m, new, number)
        self._find_slots(m, same_q2, together, number)
        values = [lane.value for lane in self.i.lane]
        rank = rank_values(m, values, self.i.descending, self.latency)
        m.d.comb += Value.cast(self.o.rank).eq(Cat(rank))
        m.d.comb += self.o_valid.eq(
            delay(m, self.i_valid, self.latency, name="valid", reset_less=False)
        )
        return m

    @property
    def _counted(self) -> int:
        """Clock after which the words of all groups are counted."""
        return 4 + self.cfg.lanes

    def _new_words(self, m: Module, same_q2: dict) -> dict:
        """Texels of a lane, one for each word that it adds to the group of a leader; clock 4."""
        lanes = range(self.cfg.lanes)
        touched_q2 = [
            {
                axis: delay(m, self.i.lane[n][f"{axis}_touched"], 2, name=f"{axis}{n}_touched")
                for axis in ("x", "y")
            }
            for n in lanes
        ]
        live_q2 = [delay(m, self.i.lane[n].live, 2, name=f"live{n}") for n in lanes]

        def texels(rows, columns):
            return Cat(rows[t >> 1] & columns[t & 1] for t in range(TEXELS))

        adds_q4, nothing = {}, Const(0, 1)
        for lane in lanes:
            x, y = touched_q2[lane]["x"], touched_q2[lane]["y"]
            own = same_q2[lane, lane]
            rows = y & ~Cat(nothing, y[0] & own.rows[1]) & live_q2[lane].replicate(2)
            columns = x & ~Cat(nothing, x[0] & own.columns[1])
            first_q3 = delay(m, texels(rows, columns), 1, name=f"first{lane}")
            adds_q4[lane, lane] = delay(m, first_q3, 1, name=f"adds{lane}{lane}")
            known_q3 = Const(0, TEXELS)
            # Behind each leader, from the nearest one.
            for lead in reversed(range(lane)):
                same, x, y = same_q2[lead, lane], touched_q2[lead]["x"], touched_q2[lead]["y"]
                rows, columns = (
                    [(touched[0] & near[n]) | (touched[1] & near[2 + n]) for n in range(2)]
                    for touched, near in ((y, same.rows), (x, same.columns))
                )
                near = (same.image & live_q2[lead]).replicate(TEXELS) & texels(rows, columns)
                known_q3 |= delay(m, near, 1, name=f"known{lead}{lane}")
                name = f"adds{lead}{lane}"
                adds_q4[lead, lane] = delay(m, first_q3 & ~known_q3, 1, name=name)
        return adds_q4

    def _count(self, m: Module, adds_q4: dict) -> tuple[dict, dict]:
        """Whether a lane fits in the group of a leader; the words before it, modulo 4.

        The first after clock `_counted`, the second one later. Each lane behind a leader takes a
        clock. A sum that is too large stays so.
        """
        count_q5 = {
            (lead, lane): delay(m, _ones(adds), 1, name=f"count{lead}{lane}")
            for (lead, lane), adds in adds_q4.items()
        }
        fits, before = {}, {}
        for lead in range(self.cfg.lanes):
            total = count_q5[lead, lead]
            for lane in range(lead + 1, self.cfg.lanes):
                name, steps = f"{lead}{lane}", lane - lead
                rest = self._counted - 5 - steps
                count = delay(m, count_q5[lead, lane], steps - 1, name=f"count{name}_later")
                before[lead, lane] = delay(m, total[:2], rest + 2, name=f"before{name}")
                # 7 + 4 at most: a lane has four words.
                words = Signal(4, name=f"words{name}")
                m.d.comb += words.eq(total + count)
                few = words <= WORDS
                fits[lead, lane] = delay(m, few, 1 + rest, name=f"fits{name}")
                total = delay(m, Mux(few, words[:3], 7), 1, name=f"total{name}")
        return fits, before

    def _choose_leaders(self, m: Module, fits: dict) -> tuple[dict, dict]:
        """Whether a lane is in the group that another leads; whether two are in one group.

        The first a clock after `_counted`, the second two. When a lane does not fit, those behind
        it do not either: a leader's group ends where the next begins.
        """
        lanes = range(self.cfg.lanes)
        one = Const(1, 1)
        leads: list[Value] = [one]
        inside: dict[tuple[int, int], Value] = {(0, 0): one}
        together = {}
        for lane in lanes[1:]:
            taken = [leads[lead] & fits[lead, lane] for lead in range(lane)]
            leads.append(~Cat(taken).any())
            for lead, joins in enumerate([*taken, leads[lane]]):
                inside[lead, lane] = delay(m, joins, 1, name=f"inside{lead}{lane}")
            for other in range(lane):
                both = Cat(inside[lead, lane] for lead in range(other + 1)).any()
                together[other, lane] = delay(m, both, 1, name=f"together{other}{lane}")

        rest = self.latency - self._counted - 1
        m.d.comb += self.o.more.eq(
            delay(m, Cat(inside[n, n] for n in lanes[1:]).any(), rest, name="more")
        )
        for lane in lanes:
            live = delay(m, self.i.lane[lane].live, self._counted + 1, name=f"member{lane}")
            number = _ones([inside[n, n] for n in range(1, lane + 1)])
            for group in range(lane + 1):
                m.d.comb += self.o.group[group][lane].eq(
                    delay(m, live & (number == group), rest, name=f"group{group}{lane}")
                )
        return inside, together

    def _number_words(self, m: Module, adds_q4: dict, before: dict, inside: dict):
        """New words of each lane by texel, and their slots, 0 for the other texels.

        Both three clocks after `_counted`.
        """
        wait = self._counted + 1 - 4
        new_words, numbers = [], []
        for lane in range(self.cfg.lanes):
            leads = [inside[lead, lane] for lead in range(lane + 1)]
            adds = [
                delay(m, adds_q4[lead, lane], wait, name=f"adds{lead}{lane}_later")
                for lead in range(lane + 1)
            ]
            new = delay(m, choose(leads, adds), 1, name=f"new{lane}")
            start = Const(0, 2)
            if lane:
                earlier = choose(leads[:lane], [before[lead, lane] for lead in range(lane)])
                start = delay(m, earlier, 1, name=f"start{lane}")
            new_words.append(delay(m, new, 1, name=f"new{lane}_later"))
            slots = [
                # A group has four words: no carry.
                Mux(new[t], (start + _ones(new[:t]))[:2], 0)
                for t in range(TEXELS)
            ]
            numbers.append(
                [delay(m, slot, 1, name=f"number{lane}_{t}") for t, slot in enumerate(slots)]
            )
        return new_words, numbers

    def _bring_words(self, m: Module, new_words, numbers) -> None:
        """Which texel stands for each word of a group, five clocks after `_counted`."""
        for lane, (new, number) in enumerate(zip(new_words, numbers, strict=True)):
            for slot in range(WORDS):
                texel = [new[t] & (number[t] == slot) for t in range(TEXELS)]
                found = Cat(Cat(texel).any(), texel[2] | texel[3], texel[1] | texel[3])
                m.d.comb += Value.cast(self.o.lane[lane].brings[slot]).eq(
                    delay(m, found, 2, name=f"brings{lane}_{slot}")
                )

    def _find_slots(self, m: Module, same_q2: dict, together: dict, numbers) -> None:
        """Give each texel the slot of its word, five clocks after `_counted`."""
        for lane in range(self.cfg.lanes):
            found = [[] for _ in range(TEXELS)]
            for other in range(lane + 1):
                name = f"{other}{lane}"
                same = same_q2[other, lane].later(m, self._counted, f"same{name}")
                for t in range(TEXELS):
                    # A word stands at the first of its lane's texels in it.
                    known = range(t + 1 if other == lane else TEXELS)
                    linked = Cat(same.texels(first, t) for first in known)
                    if other < lane:
                        linked &= together[other, lane].replicate(TEXELS)
                    linked = delay(m, linked, 1, name=f"linked{name}_{t}")
                    slot = choose(linked, [numbers[other][first] for first in known])
                    found[t].append(delay(m, slot, 1, name=f"found{name}_{t}"))
            for t in range(TEXELS):
                # All that are found are equal, or 0.
                slot = reduce(or_, found[t])
                m.d.comb += self.o.lane[lane].slot[t].eq(delay(m, slot, 1, name=f"slot{lane}_{t}"))


def _ones(bits) -> Value:
    """Count the ones of up to four bits."""
    bits = list(bits)
    return sum(bits, Const(0, 1))[: max(1, len(bits).bit_length())]
