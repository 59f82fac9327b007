"""Look up the words of a beat among those that the write-combining buffer holds."""

from amaranth.hdl import Cat, Module, Mux, Signal, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.config import UnitConfig
from minmip.hw.lib.delay import delay
from minmip.hw.shapes import ADDRESS_BITS, MemoryOp
from minmip.hw.word_beats import WORDS, words_request

__all__ = ["WordMatch", "held_address"]

_CHUNK = 16
"""Address bits that are compared in one clock."""


def held_address(cfg: UnitConfig) -> data.StructLayout:
    """What is known of an entry: whether it is in use, for which word and operation."""
    return data.StructLayout(
        {"valid": unsigned(1), "op": MemoryOp, "address": unsigned(ADDRESS_BITS - cfg.word_log2)}
    )


class WordMatch(wiring.Component):
    """Compare each word of a beat with each entry, in three clocks: in, compared, out.

    A beat goes on in every clock. If it has words that are not held, it stays at the output until
    they are `served`, and those behind it are forgotten: what the entries hold changes. Decisions
    about the beat at the output are made of registers.

    Parameters
    ----------
    cfg : UnitConfig

    Members
    -------
    i : In(words_request(cfg))
    i_valid : In(1)
    entry : In(held_address(cfg)).array(combine_entries)
    served : In(4)
        Words that are not `todo` any more.
    last : In(1)
        They were the last.
    valid : Out(1)
        There is a beat at the output, unless it is held.
    waits : Out(1)
        It is held, for words that are not served.
    settled : Out(1)
        It is held for the last clock: the beat that is at `i` then must be the one behind.
    merges : Out(1)
        A word is there with the same operation: in the first clock of the beat.
    same : Out(ArrayLayout(combine_entries, 4))
        The entry that has the word so, one at most. Likewise.
    todo : Out(4)
        Other words, as long as they are not served.
    other : Out(ArrayLayout(combine_entries, 4))
        The entry that has such a word with another operation, one at most.
    conflicts : Out(4)
        There is one.
    """

    i_valid: Signal
    served: Signal
    last: Signal
    valid: Signal
    waits: Signal
    settled: Signal
    merges: Signal
    todo: Signal
    conflicts: Signal

    def __init__(self, cfg: UnitConfig):
        self.cfg = cfg
        by_entry = data.ArrayLayout(cfg.combine_entries, WORDS)
        super().__init__(
            {
                "i": In(words_request(cfg)),
                "i_valid": In(1),
                "entry": In(held_address(cfg)).array(cfg.combine_entries),
                "served": In(WORDS),
                "last": In(1),
                "valid": Out(1),
                "waits": Out(1),
                "settled": Out(1),
                "merges": Out(1),
                "same": Out(by_entry),
                "todo": Out(WORDS),
                "other": Out(by_entry),
                "conflicts": Out(WORDS),
            }
        )

    def elaborate(self, platform):
        m = Module()
        hold = Signal()  # self.waits | self.settled
        asked = delay(m, self.i, 1, name="asked")
        asked_valid = delay(m, self.i_valid, 1, name="asked_valid", reset_less=False)
        compared_valid = Signal()
        present = Signal(WORDS)
        m.d.sync += [
            compared_valid.eq(asked_valid & ~hold),
            self.valid.eq(compared_valid & ~hold),
            self.todo.eq(self.todo & ~self.served),
        ]
        found, missed = [], []
        for n, word in enumerate(asked.word):
            here = word.valid & asked_valid & ~hold
            m.d.sync += present[n].eq(here)
            same, other = [], []
            for number, entry in enumerate(self.entry):
                name = f"{n}_{number}"
                equal = self._equal(m, word.address, entry.address, f"equal{name}")
                is_op = asked.op == entry.op
                for kind, entries, operation in (("same", same, is_op), ("other", other, ~is_op)):
                    may = Signal(name=f"{kind}{name}")
                    m.d.sync += may.eq(here & entry.valid & operation)
                    entries.append(may & equal)
            found.append(Cat(same).any())
            missed.append(present[n] & ~Cat(same).any())
            m.d.sync += self.same[n].eq(Cat(same))
            with m.If(~hold):
                m.d.sync += [
                    self.todo[n].eq(missed[n]),
                    self.other[n].eq(Cat(other)),
                    self.conflicts[n].eq(Cat(other).any()),
                ]
        # While a beat is held none is compared; what the first clock misses is looked up anew.
        m.d.sync += [
            self.merges.eq(Cat(found).any()),
            self.waits.eq(Mux(self.waits, ~self.last, Cat(missed).any())),
            self.settled.eq(self.last),
            hold.eq(Cat(missed).any() | self.waits),
        ]
        with m.If(hold):
            m.d.sync += [self.same.eq(0), self.merges.eq(0)]
        return m

    def _equal(self, m, a, b, name):
        """Compare two addresses in pieces; the pieces are joined a clock later."""
        pieces = Cat(a[at : at + _CHUNK] == b[at : at + _CHUNK] for at in range(0, len(a), _CHUNK))
        equal = Signal(len(pieces), name=name, reset_less=True)
        m.d.sync += equal.eq(pieces)
        return equal.all()
