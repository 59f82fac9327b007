"""From texels to the bytes of memory words (spec 03 "Combine")."""

from amaranth.hdl import Cat, Const, Module, Mux, Value, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.config import UnitConfig
from minmip.hw.lib.choose import choose
from minmip.hw.lib.delay import delay
from minmip.hw.word_beats import TEXELS, WORDS, word_beat, word_data

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
    i : In(StructLayout({lane, value, rank of word_beat}))
    i_valid : In(1)
    o : Out(ArrayLayout(StructLayout({"mask", "data"}), 4))
        Data without a mask bit is anything.
    o_valid : Out(1)
    """

    latency = 4

    def __init__(self, cfg: UnitConfig):
        self.cfg = cfg
        beat = word_beat(cfg)
        word = data.StructLayout(
            {
                "mask": unsigned(cfg.word_bytes),
                "data": word_data(cfg),
            }
        )
        names = ("lane", "value", "rank")
        super().__init__(
            {
                "i": In(data.StructLayout({name: beat[name].shape for name in names})),
                "i_valid": In(1),
                "o": Out(data.ArrayLayout(word, WORDS)),
                "o_valid": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        lane, value, rank = self.i.lane, self.i.value, self.i.rank
        ranks, words = range(self.cfg.lanes), range(WORDS)

        # Clock 1: which texels of a lane are in a word; values and bytes by rank.
        hits_q1 = [delay(m, _hits(lane[n]), 1, name=f"hits{n}") for n in ranks]
        rank_q1 = [delay(m, rank[q], 1, name=f"rank{q}") for q in ranks]
        value_q1 = [delay(m, choose(rank[q], value), 1, name=f"value{q}") for q in ranks]
        byte_q1 = [
            delay(m, choose(rank[q], [one.byte for one in lane]), 1, name=f"byte{q}") for q in ranks
        ]

        # Clock 2: hits by rank, bytes decoded.
        hits_q2 = [delay(m, choose(rank_q1[q], hits_q1), 1, name=f"ranked{q}") for q in ranks]
        place_q2 = [
            [delay(m, self._decode(byte_q1[q], t), 1, name=f"place{q}{t}") for t in range(TEXELS)]
            for q in ranks
        ]

        # Clock 3: bytes of each word that each rank writes.
        in_word = [[hits.word_select(w, TEXELS) for hits in hits_q2] for w in words]
        writes_q3 = [
            [delay(m, choose(in_word[w][q], place_q2[q]), 1, name=f"bytes{w}{q}") for q in ranks]
            for w in words
        ]

        # Clock 4: the strongest.
        value_q3 = [delay(m, value_q1[q], 2, name=f"strong{q}") for q in ranks]
        for w in words:
            word = self.o[w]
            for byte in range(self.cfg.word_bytes):
                writers = [writes_q3[w][q][byte] for q in ranks]
                mask = delay(m, Cat(writers).any(), 1, name=f"mask{w}_{byte}")
                m.d.comb += word.mask[byte].eq(mask)
                if byte < len(word.data):
                    strongest = _strongest(writers, value_q3)
                    m.d.comb += word.data[byte].eq(delay(m, strongest, 1, name=f"data{w}_{byte}"))
        m.d.comb += self.o_valid.eq(
            delay(m, self.i_valid, self.latency, name="through", reset_less=False)
        )
        return m

    def _decode(self, bytes_of_lane: Value, texel: int) -> Value:
        """Byte of a texel, one-hot."""
        byte = bytes_of_lane.word_select(texel, self.cfg.word_log2)
        return (Const(1, 1) << byte)[: self.cfg.word_bytes]


def _hits(lane) -> Value:
    """Texels of a lane that are in each word: bit 4 * word + texel."""
    return Cat(
        lane.joins[t] & (lane.slot[t] == word) for word in range(WORDS) for t in range(TEXELS)
    )


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
