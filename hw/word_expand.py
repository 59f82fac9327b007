"""From texels to the bytes of memory words (spec 03 "Combine")."""

from amaranth.hdl import Cat, Const, Module, Mux, Value, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.beats import WORDS, word_beat
from minmip.hw.config import UnitConfig
from minmip.hw.lib.choose import choose
from minmip.hw.lib.delay import delay

__all__ = ["WordExpand"]


class WordExpand(wiring.Component):
    """Mask and data of the four words of a beat: of several values for one byte the strongest.

    One beat per clock, latency 4.

    Parameters
    ----------
    cfg : UnitConfig
        `lanes`, `word_bytes`.

    Members
    -------
    i : In(StructLayout({lane, rank of word_beat}))
    i_valid : In(1)
    o : Out(ArrayLayout(StructLayout({"valid", "mask", "data"}), 4))
        Words without a byte are not `valid`. Data without a mask bit is anything.
    o_valid : Out(1)
    """

    latency = 4

    def __init__(self, cfg: UnitConfig):
        self.cfg = cfg
        beat = word_beat(cfg)
        word = data.StructLayout(
            {
                "valid": unsigned(1),
                "mask": unsigned(cfg.word_bytes),
                "data": data.ArrayLayout(unsigned(8), cfg.word_bytes),
            }
        )
        super().__init__(
            {
                "i": In(data.StructLayout({name: beat[name].shape for name in ("lane", "rank")})),
                "i_valid": In(1),
                "o": Out(data.ArrayLayout(word, WORDS)),
                "o_valid": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        lane, rank = self.i.lane, self.i.rank
        ranks, words = range(self.cfg.lanes), range(WORDS)

        # Clock 1: which columns of a lane have a texel in a word; values and bytes by rank.
        hits_q1 = [delay(m, _hits(lane[n]), 1, name=f"hits{n}") for n in ranks]
        rank_q1 = [delay(m, rank[q], 1, name=f"rank{q}") for q in ranks]
        value_q1, byte_q1 = (
            [
                delay(m, choose(rank[q], [one[field] for one in lane]), 1, name=f"{field}{q}")
                for q in ranks
            ]
            for field in ("value", "byte")
        )

        # Clock 2: hits by rank, bytes decoded.
        hits_q2 = [delay(m, choose(rank_q1[q], hits_q1), 1, name=f"ranked{q}") for q in ranks]
        place_q2 = [
            [delay(m, self._decode(byte_q1[q], c), 1, name=f"place{q}{c}") for c in range(2)]
            for q in ranks
        ]

        # Clock 3: bytes of each word that each rank writes.
        writes_q3 = [
            [
                delay(m, _bytes(hits_q2[q][2 * w : 2 * w + 2], place_q2[q]), 1, name=f"bytes{w}{q}")
                for q in ranks
            ]
            for w in words
        ]
        valid_q3 = [
            delay(m, Cat(hits[2 * w : 2 * w + 2] for hits in hits_q2).any(), 1, name=f"word{w}")
            for w in words
        ]

        # Clock 4: the strongest.
        value_q3 = [delay(m, value_q1[q], 2, name=f"strong{q}") for q in ranks]
        for w in words:
            word = self.o[w]
            m.d.comb += word.valid.eq(delay(m, valid_q3[w], 1, name=f"valid{w}"))
            for byte in range(self.cfg.word_bytes):
                writers = [writes_q3[w][q][byte] for q in ranks]
                strongest = _strongest(writers, value_q3)
                m.d.comb += [
                    word.mask[byte].eq(delay(m, Cat(writers).any(), 1, name=f"mask{w}_{byte}")),
                    word.data[byte].eq(delay(m, strongest, 1, name=f"data{w}_{byte}")),
                ]
        m.d.comb += self.o_valid.eq(
            delay(m, self.i_valid, self.latency, name="through", reset_less=False)
        )
        return m

    def _decode(self, places: Value, column: int) -> Value:
        """Byte of a column, one-hot."""
        place = places.word_select(column, self.cfg.word_log2)
        return (Const(1, 1) << place)[: self.cfg.word_bytes]


def _hits(lane) -> Value:
    """Texels of a lane, its rows merged, by word and column: bit 2 * word + column."""
    hits = []
    for word in range(WORDS):
        in_row = [lane.second_row[row] == word >> 1 for row in range(2)]
        for column in range(2):
            in_column = lane.second_column[column] == (word & 1)
            texels = Cat(lane.joins[2 * row + column] & in_row[row] for row in range(2))
            hits.append(texels.any() & in_column)
    return Cat(hits)


def _bytes(hits, places) -> Value:
    """The bytes of those columns that have a hit: both, one or none."""
    first, second = (
        place & hit.replicate(len(place)) for hit, place in zip(hits, places, strict=True)
    )
    return first | second


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
