"""Which texels of a beat leave together: those in the memory words of one lane (spec 03)."""

from amaranth.hdl import Cat, Const, Module, Signal, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.config import UnitConfig
from minmip.hw.lib.delay import delay
from minmip.hw.shapes import SLICE_BITS, TEXEL_BITS

__all__ = ["TexelGroups", "lane_pairs", "texel_groups", "texels_request"]

TEXELS = 4
"""Texels of a lane: 2 * row + column."""


def lane_pairs(cfg: UnitConfig) -> list[tuple[int, int]]:
    """Each lane with itself and every later lane, in the order of `texel_groups`."""
    return [(lead, lane) for lead in range(cfg.lanes) for lane in range(lead, cfg.lanes)]


def texels_request(cfg: UnitConfig) -> data.StructLayout:
    """Texels and values of the lanes of one beat; `live` lanes write.

    `mip` is the map's. A texel is written when its `x` and its `y` are touched. `descending`: the
    largest value is the strongest, else the smallest.
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
    return data.StructLayout({"descending": unsigned(1), "lane": data.ArrayLayout(lane, cfg.lanes)})


def texel_groups(cfg: UnitConfig) -> data.StructLayout:
    """Groups of the texels of one beat, each led by a lane.

    `first` is the first leader, one-hot, or 0 when no texel is written; `others` are the leaders
    that follow, in the order of the lanes; `more`: there are some. `pair` says what each lane gives
    to the group of a leader (`lane_pairs`): the texels that join, and whether its rows and columns
    are in the second row and second word column of the leader, not the first. `rank[q]` is the
    lane, one-hot, with the q-th strongest value.
    """
    pair = data.StructLayout(
        {"joins": unsigned(TEXELS), "second_row": unsigned(2), "second_column": unsigned(2)}
    )
    lanes = unsigned(cfg.lanes)
    return data.StructLayout(
        {
            "first": lanes,
            "others": lanes,
            "more": unsigned(1),
            "pair": data.ArrayLayout(pair, len(lane_pairs(cfg))),
            "rank": data.ArrayLayout(lanes, cfg.lanes),
        }
    )


class TexelGroups(wiring.Component):
    """Group the texels of a beat by the memory words of its lanes (spec 03 "Combine").

    The first lane with a texel that is in no group yet leads the next group. Every such texel, of
    any lane, that is in one of the leader's four words (two rows, each with the words of two
    columns) joins. So each lane leads one group at most, and which lanes lead follows from lane to
    lane without a loop: one clock for each.

    One beat per clock, latency 3 + lanes.

    Parameters
    ----------
    cfg : UnitConfig
        `lanes`, `word_bytes`.

    Members
    -------
    i : In(texels_request(cfg))
    i_valid : In(1)
    o : Out(texel_groups(cfg))
    o_valid : Out(1)
    """

    def __init__(self, cfg: UnitConfig):
        self.cfg = cfg
        self.latency = 3 + cfg.lanes
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
        joins_q3 = {}
        for number, (lead, lane) in enumerate(lane_pairs(self.cfg)):
            name = f"pair{lead}{lane}"
            row_near, row_reached = self._axis_match(m, "y", 0, lead, lane, f"{name}_row")
            column_near, column_reached = self._axis_match(
                m, "x", self.cfg.word_log2, lead, lane, f"{name}_column"
            )
            image_q2 = self._same_image(m, lead, lane, f"{name}_image")
            joins_q3[lead, lane] = delay(
                m,
                Cat(
                    image_q2 & row_reached[texel >> 1] & column_reached[texel & 1]
                    for texel in range(TEXELS)
                ),
                1,
                name=f"{name}_joins",
            )
            rest = self.latency - 2
            m.d.comb += [
                self.o.pair[number].second_row.eq(delay(m, ~row_near, rest, name=f"{name}_row2")),
                self.o.pair[number].second_column.eq(
                    delay(m, ~column_near, rest, name=f"{name}_column2")
                ),
            ]
        self._choose_leaders(m, joins_q3)
        self._rank_values(m)
        m.d.comb += self.o_valid.eq(
            delay(m, self.i_valid, self.latency, name="valid", reset_less=False)
        )
        return m

    def _axis_match(self, m: Module, axis: str, shift: int, lead: int, lane: int, name: str):
        """Per texel of `lane`: at the leader's first place, and at either; 2 clocks.

        Places are compared without the low `shift` bits.
        """
        leader, other = self.i.lane[lead], self.i.lane[lane]
        touched_q1 = delay(m, leader[f"{axis}_touched"], 1, name=f"{name}_touched")
        near_q2, reached_q2 = (
            Signal(2, name=f"{name}_{what}_q2", reset_less=True) for what in ("near", "reached")
        )
        for n in range(2):
            at = [
                _equal_halves(
                    m, leader[axis][place][shift:], other[axis][n][shift:], f"{name}_{place}{n}"
                )
                for place in range(2)
            ]
            near = touched_q1[0] & at[0].all()
            m.d.sync += [
                near_q2[n].eq(near),
                reached_q2[n].eq(near | (touched_q1[1] & at[1].all())),
            ]
        return near_q2, reached_q2

    def _same_image(self, m: Module, lead: int, lane: int, name: str):
        """Two lanes write to one mip and slice, 2 clocks."""
        leader, other = self.i.lane[lead], self.i.lane[lane]
        same_slice_q1 = _equal_halves(m, leader.slice, other.slice, f"{name}_slice")
        same_mip_q1 = _equal_halves(m, leader.mip, other.mip, f"{name}_mip")
        return delay(m, same_slice_q1.all() & same_mip_q1.all(), 1, name=name)

    def _choose_leaders(self, m: Module, joins_q3) -> None:
        """From the clock after `joins_q3`, one lane in each clock."""
        lanes = self.cfg.lanes
        pending = []
        for lane in range(lanes):
            request = self.i.lane[lane]
            touched = Cat(
                request.live & request.y_touched[texel >> 1] & request.x_touched[texel & 1]
                for texel in range(TEXELS)
            )
            pending.append(delay(m, touched, 3, name=f"touched{lane}"))

        found, more = Const(0, 1), Const(0, 1)
        for lead in range(lanes):
            rest = lanes - 1 - lead
            leads = pending[lead].any()
            for lane in range(lead, lanes):
                joins = delay(m, joins_q3[lead, lane], lead, name=f"joins{lead}{lane}")
                number = lane_pairs(self.cfg).index((lead, lane))
                group = delay(m, pending[lane] & joins, 1 + rest, name=f"group{lead}{lane}")
                left = pending[lane] & ~(joins & leads.replicate(TEXELS))
                pending[lane] = delay(m, left, 1, name=f"pending{lead}{lane}")
                m.d.comb += self.o.pair[number].joins.eq(group)
            m.d.comb += [
                self.o.first[lead].eq(delay(m, leads & ~found, 1 + rest, name=f"first{lead}")),
                self.o.others[lead].eq(delay(m, leads & found, 1 + rest, name=f"other{lead}")),
            ]
            more = delay(m, more | (leads & found), 1, name=f"more{lead}")
            found = delay(m, leads | found, 1, name=f"found{lead}")
        m.d.comb += self.o.more.eq(more)

    def _rank_values(self, m: Module) -> None:
        """Sort the lanes; of equal values the first lane's is the strongest."""
        lanes = self.cfg.lanes
        complement = self.i.descending.replicate(8)
        value_q1 = [
            delay(m, self.i.lane[n].value ^ complement, 1, name=f"value{n}") for n in range(lanes)
        ]
        beaten_by = {lane: [] for lane in range(lanes)}
        for first in range(lanes):
            for second in range(first + 1, lanes):
                later = delay(
                    m,
                    # The sign of the difference: the second lane's is smaller.
                    (value_q1[second] - value_q1[first])[-1],
                    self.latency - 2,
                    name=f"later{first}{second}",
                )
                beaten_by[first].append(later)
                beaten_by[second].append(~later)
        for lane, others in beaten_by.items():
            place = sum(others)
            for rank in range(lanes):
                m.d.sync += self.o.rank[rank][lane].eq(place == rank)


def _equal_halves(m: Module, a, b, name: str):
    """Whether the lower and the upper halves of two numbers are equal, a clock later."""
    half = len(a) // 2
    return delay(m, Cat(a[:half] == b[:half], a[half:] == b[half:]), 1, name=name)
