"""From the texels that leave together to memory words with mask and data (spec 03 "Combine")."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.beats import WORDS, word_beat
from minmip.hw.config import UnitConfig
from minmip.hw.texel_groups import texel_groups

__all__ = ["WordExpand", "select", "texel_group", "word_head"]


def select(choice, values):
    """The value whose bit is set in the one-hot `choice`, or 0."""
    chosen = Const(0, 1)
    for bit, value in zip(choice, map(Value.cast, values), strict=True):
        chosen = chosen | (value & bit.replicate(len(value)))
    return chosen


def word_head(cfg: UnitConfig) -> data.StructLayout:
    """A `word_beat` without its words."""
    fields = {name: field.shape for name, field in word_beat(cfg) if name != "word"}
    return data.StructLayout(fields)


def texel_group(cfg: UnitConfig) -> data.StructLayout:
    """Texels of one group.

    Each lane gives the texels `joins` (2 * row + column); each of its rows and columns is in the
    first or second row and word column of the group. `byte` is the place of its columns in a word.
    `rank[q]` is the lane, one-hot, with the q-th strongest value.
    """
    lane = data.StructLayout(
        {
            "joins": unsigned(4),
            "second_row": unsigned(2),
            "second_column": unsigned(2),
            "value": unsigned(8),
            "byte": data.ArrayLayout(unsigned(cfg.word_log2), 2),
        }
    )
    return data.StructLayout(
        {
            "head": word_head(cfg),
            "lane": data.ArrayLayout(lane, cfg.lanes),
            "rank": texel_groups(cfg)["rank"].shape,
        }
    )


class WordExpand(wiring.Component):
    """Mask and data of the four words of a group; of several values for one byte the strongest.

    One group per clock, latency 4. All registers stand still together while the output waits, so
    `i.ready` follows `o.ready` through one gate.

    Parameters
    ----------
    cfg : UnitConfig
        `lanes`, `word_bytes`.

    Members
    -------
    i : In(stream.Signature(texel_group(cfg)))
    o : Out(stream.Signature(word_beat(cfg)))
        Data bytes without their mask bit hold anything.
    """

    i: stream.Interface
    o: stream.Interface

    def __init__(self, cfg: UnitConfig):
        self.cfg = cfg
        self.latency = 4
        super().__init__(
            {
                "i": In(stream.Signature(texel_group(cfg))),
                "o": Out(stream.Signature(word_beat(cfg))),
            }
        )

    def elaborate(self, platform):
        m = Module()
        go = self.i.ready
        m.d.comb += go.eq(~self.o.valid | self.o.ready)

        def hold(value, name, *, reset_less=True):
            """Register that moves with the pipeline."""
            held = Signal(value.shape(), name=name, reset_less=reset_less)
            with m.If(go):
                m.d.sync += held.eq(value)
            return held

        cfg, group = self.cfg, self.i.payload
        lanes, words, columns = range(cfg.lanes), range(WORDS), range(2)
        head, valid = group.head, self.i.valid
        for age in range(1, self.latency):
            head = hold(head, f"head_q{age}")
            valid = hold(valid, f"valid_q{age}", reset_less=False)

        # Clock 1: which columns of a lane have a texel in a word; values and bytes by rank.
        hits_q1 = [hold(_hits(group.lane[n]), f"hits{n}_q1") for n in lanes]
        rank_q1 = [hold(group.rank[q], f"rank{q}_q1") for q in lanes]
        value_q1, byte_q1 = (
            [
                hold(select(group.rank[q], [lane[field] for lane in group.lane]), f"{field}{q}_q1")
                for q in lanes
            ]
            for field in ("value", "byte")
        )

        # Clock 2: hits by rank, bytes decoded.
        hits_q2 = [hold(select(rank_q1[q], hits_q1), f"hits{q}_q2") for q in lanes]
        place_q2 = [
            [
                hold(
                    (Const(1, 1) << byte_q1[q].word_select(c, cfg.word_log2))[: cfg.word_bytes],
                    f"place{q}{c}_q2",
                )
                for c in columns
            ]
            for q in lanes
        ]
        value_q2 = [hold(value_q1[q], f"value{q}_q2") for q in lanes]

        # Clock 3: bytes of each word that each rank writes.
        value_q3 = [hold(value_q2[q], f"value{q}_q3") for q in lanes]
        writes_q3 = [
            [
                hold(
                    Value.cast(
                        _gate(place_q2[q][0], hits_q2[q][2 * w])
                        | _gate(place_q2[q][1], hits_q2[q][2 * w + 1])
                    ),
                    f"writes{w}{q}_q3",
                )
                for q in lanes
            ]
            for w in words
        ]
        valid_q3 = [
            hold(Cat(hits[2 * w : 2 * w + 2] for hits in hits_q2).any(), f"valid{w}_q3")
            for w in words
        ]

        # Clock 4: the strongest.
        with m.If(go):
            m.d.sync += self.o.valid.eq(valid)
            m.d.sync += [self.o.payload[name].eq(head[name]) for name, _ in word_head(cfg)]
            for w in words:
                word = self.o.payload.word[w]
                m.d.sync += word.valid.eq(valid_q3[w])
                for byte in range(cfg.word_bytes):
                    writers = [writes_q3[w][q][byte] for q in lanes]
                    m.d.sync += [
                        word.mask[byte].eq(Cat(writers).any()),
                        word.data[byte].eq(_strongest(writers, value_q3)),
                    ]
        return m


def _hits(lane):
    """Texels of a lane, rows merged, by word and column: bit 2 * word + column."""
    hits = []
    for word in range(WORDS):
        in_row = [lane.second_row[row] == word >> 1 for row in range(2)]
        for column in range(2):
            in_column = lane.second_column[column] == (word & 1)
            texels = Cat(lane.joins[2 * row + column] & in_row[row] for row in range(2))
            hits.append(texels.any() & in_column)
    return Cat(hits)


def _gate(bits, enable):
    return bits & enable.replicate(len(bits))


def _strongest(writers, values):
    """Value of the first writer; without one, of the last."""
    if len(values) == 1:
        return values[0]
    half = len(values) // 2
    return Mux(
        Cat(writers[:half]).any(),
        _strongest(writers[:half], values[:half]),
        _strongest(writers[half:], values[half:]),
    )
