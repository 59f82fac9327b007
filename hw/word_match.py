"""Look up the words of a beat among those that the write-combining buffer holds."""

from amaranth.hdl import Cat, Module, Signal, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.config import UnitConfig
from minmip.hw.shapes import ADDRESS_BITS, MemoryOp
from minmip.hw.word_beats import WORDS, words_request

__all__ = ["WordMatch", "held_address"]

_CHUNK = 8
"""Address bits that are compared in one clock."""


def held_address(cfg: UnitConfig) -> data.StructLayout:
    """What is known of an entry: whether it is in use, for which word and operation."""
    return data.StructLayout(
        {"valid": unsigned(1), "op": MemoryOp, "address": unsigned(ADDRESS_BITS - cfg.word_log2)}
    )


class WordMatch(wiring.Component):
    """Compare each word of a beat with each entry, in three clocks: in, compared, out.

    What the entries hold must stay while a beat is inside, or `clear` it.

    Parameters
    ----------
    cfg : UnitConfig

    Members
    -------
    i : In(words_request(cfg))
    i_valid : In(1)
    entry : In(held_address(cfg)).array(combine_entries)
    step : In(1)
        All beats go on by one.
    finished : In(4)
        Without `step`: words that are neither `hit` nor `todo` any more.
    clear : In(1)
        All beats are forgotten, with or without `step`.
    valid : Out(1)
        There is a beat at the output.
    hit : Out(4)
        Words that are held with the same operation.
    todo : Out(4)
        Other words.
    same, other : Out(ArrayLayout(combine_entries, 4))
        Entries that hold the word, with the same or another operation: one at most.
    """

    step: Signal
    finished: Signal
    clear: Signal
    valid: Signal
    hit: Signal
    todo: Signal

    def __init__(self, cfg: UnitConfig):
        self.cfg = cfg
        by_entry = data.ArrayLayout(cfg.combine_entries, WORDS)
        super().__init__(
            {
                "i": In(words_request(cfg)),
                "i_valid": In(1),
                "entry": In(held_address(cfg)).array(cfg.combine_entries),
                "step": In(1),
                "finished": In(WORDS),
                "clear": In(1),
                "valid": Out(1),
                "hit": Out(WORDS),
                "todo": Out(WORDS),
                "same": Out(by_entry),
                "other": Out(by_entry),
            }
        )

    def elaborate(self, platform):
        m = Module()
        asked, asked_valid = Signal(words_request(self.cfg), reset_less=True), Signal()
        op, compared_valid = Signal(MemoryOp, reset_less=True), Signal()
        present = Signal(WORDS)
        valids = (asked_valid, compared_valid, present, self.valid, self.hit, self.todo)
        is_op = [op == entry.op for entry in self.entry]
        m.d.sync += [
            self.hit.eq(self.hit & ~self.finished),
            self.todo.eq(self.todo & ~self.finished),
        ]
        with m.If(self.step):
            m.d.sync += [
                asked.eq(self.i),
                asked_valid.eq(self.i_valid),
                op.eq(asked.op),
                compared_valid.eq(asked_valid),
                self.valid.eq(compared_valid),
            ]
            for n, word in enumerate(asked.word):
                m.d.sync += present[n].eq(word.valid & asked_valid)
                same, other = [], []
                for number, entry in enumerate(self.entry):
                    equal = self._equal(m, word.address, entry.address, f"equal{n}_{number}")
                    found = present[n] & entry.valid & equal
                    same.append(found & is_op[number])
                    other.append(found & ~is_op[number])
                m.d.sync += [
                    self.same[n].eq(Cat(same)),
                    self.other[n].eq(Cat(other)),
                    self.hit[n].eq(Cat(same).any()),
                    self.todo[n].eq(present[n] & ~Cat(same).any()),
                ]
        with m.If(self.clear):
            m.d.sync += [valid.eq(0) for valid in valids]
        return m

    def _equal(self, m, a, b, name):
        """Compare two addresses in pieces; the pieces are joined a step later."""
        pieces = Cat(a[at : at + _CHUNK] == b[at : at + _CHUNK] for at in range(0, len(a), _CHUNK))
        equal = Signal(len(pieces), name=name, reset_less=True)
        m.d.sync += equal.eq(pieces)
        return equal.all()
