"""The write-combining buffer: what hits the same memory word becomes one operation (spec 03)."""

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from minmip.hw import byte_op
from minmip.hw.config import UnitConfig
from minmip.hw.held_word import HeldWord
from minmip.hw.lib.choose import choose
from minmip.hw.lib.credit_counter import CreditCounter
from minmip.hw.lib.delay import delay
from minmip.hw.lib.queue import Queue
from minmip.hw.replay_queue import ReplayQueue
from minmip.hw.shapes import memory_request
from minmip.hw.word_beats import WORDS, words_request
from minmip.hw.word_match import WordMatch, held_address

__all__ = ["MARGIN", "CombiningBuffer"]

MARGIN = 16
"""Clocks from the input to an entry, and from an entry to the output, and to spare."""


class CombiningBuffer(wiring.Component):
    """Hold a few memory words and merge what hits them; each leaves as one operation.

    Fully associative; never two entries with one address. Three things happen to a word:

    * *hit*: it is held with the same operation. All hits of a beat are merged in one clock.
    * *conflict*: it is held with another operation. What is held leaves, the entry starts afresh:
      operations of different kinds on one word stay in order.
    * *miss*: it is not held. The same, in an entry that was not hit since a hand last went round;
      what the entry held leaves, if anything.

    Each entry is visited in turn, one every `visit_clocks`. If it has bytes to write, they leave;
    the address stays, so that a word that is hit all the time is no miss because of its age. While
    `drain` is high there is a visit every clock.

    A beat whose words all hit takes 1 clock. With m misses and conflicts it takes m + 3 clocks,
    and 1 more if it has hits too: the beats behind it, already looked up, are looked up anew. A
    visit that has something to write takes the clock of a miss. Output: one operation per clock.

    A word leaves at the latest `max_age` clocks after it was accepted, if the output takes what it
    is offered and no misses hold the word up before its entry. `i.ready`, `o.valid` and `o.payload`
    are registers.

    Parameters
    ----------
    cfg : UnitConfig
        `combine_entries` and `combine_age`.

    Attributes
    ----------
    visit_clocks : int
        `(combine_age - 16) // combine_entries`, 1 or more.
    max_age : int
        `combine_entries * visit_clocks + 16`: `combine_age` unless the entries are too many for it.
    entries, touched, queue, credits
        What is held, which of it changes in this clock, and the output: for the benches.

    Members
    -------
    i : In(stream.Signature(words_request(cfg)))
        The valid words differ.
    o : Out(stream.Signature(memory_request(cfg)))
    drain : In(1)
        Write everything out.
    drained : Out(1)
        Nothing is inside that is not written: the last operation was taken at `o` 2 clocks before,
        or earlier. Low from the clock after a beat is accepted.
    hits : Out(3)
        Words merged.
    misses, conflicts, aged : Out(1)
        One clock for each miss, conflict, and write of an entry visited without `drain`.
    """

    i: stream.Interface
    o: stream.Interface
    drain: Signal
    drained: Signal
    hits: Signal
    misses: Signal
    conflicts: Signal
    aged: Signal

    def __init__(self, cfg: UnitConfig):
        self.cfg = cfg
        self.visit_clocks = max(1, (cfg.combine_age - MARGIN) // cfg.combine_entries)
        self.max_age = cfg.combine_entries * self.visit_clocks + MARGIN
        super().__init__(
            {
                "i": In(stream.Signature(words_request(cfg))),
                "o": Out(stream.Signature(memory_request(cfg))),
                "drain": In(1),
                "drained": Out(1),
                "hits": Out(3),
                "misses": Out(1),
                "conflicts": Out(1),
                "aged": Out(1),
            }
        )
        self.entries = [
            Signal(held_address(cfg), name=f"entry{n}") for n in range(cfg.combine_entries)
        ]
        self.touched = Signal(cfg.combine_entries)
        self.queue = Queue(memory_request(cfg), 16, never_full=True)
        self.credits = CreditCounter(17)

    def elaborate(self, platform):
        m = Module()
        entries = len(self.entries)
        m.submodules.rows = rows = ReplayQueue(words_request(self.cfg), 16)
        m.submodules.match = match = WordMatch(self.cfg)
        m.submodules.queue = self.queue
        m.submodules.credits = credits = self.credits
        wiring.connect(m, wiring.flipped(self.i), rows.i)
        wiring.connect(m, self.queue.o, wiring.flipped(self.o))

        # One beat is at the output of `match`: first its hits, then its other words one by one.
        merge, restart, last = Signal(), Signal(), Signal()
        word, several, is_conflict = Signal(WORDS), Signal(), Signal()
        visiting = Signal()
        # A word may start an entry afresh: no visit, and room for what leaves. Much hangs on it.
        free = Signal(init=1)
        m.d.comb += [
            merge.eq(match.hit.any()),
            word.eq(match.todo & (~match.todo + 1)[:WORDS]),
            several.eq((match.todo & (match.todo - 1)[:WORDS]).any()),
            is_conflict.eq(choose(word, [other.any() for other in match.other])),
            restart.eq(match.todo.any() & ~merge & free),
            last.eq(restart & (match.todo == word)),
            match.i.eq(rows.ahead),
            match.i_valid.eq(rows.ahead_valid),
            # ~match.todo.any() | last, by fewer gates one behind another.
            match.step.eq(~match.todo.any() | (~several & ~merge & free)),
            match.finished.eq(match.hit | (word & restart.replicate(WORDS))),
            match.clear.eq(last),
            rows.go.eq(match.step),
            rows.done.eq(match.valid & match.step),
            rows.again.eq(last),
        ]
        for entry, held in zip(match.entry, self.entries, strict=True):
            m.d.comb += entry.eq(held)

        # What becomes of the entries: a word that starts one afresh, words that merge.
        hand = self._hand(m, restart & ~is_conflict)
        dirty, visit = Signal(entries), Signal(entries)
        leave = Signal()
        m.d.comb += leave.eq(visiting & credits.ready)
        next_visiting = Signal()
        m.d.sync += [visiting.eq(next_visiting), free.eq(~next_visiting & credits.ready_next)]
        start, out, take = Signal(entries), Signal(entries), []
        for n in range(entries):
            own = choose(word, [other[n] for other in match.other])
            takes = Signal(WORDS, name=f"takes{n}")
            m.d.comb += [
                start[n].eq(restart & Mux(is_conflict, own, hand[n])),
                takes.eq(
                    Mux(
                        merge, Cat(same[n] for same in match.same), word & start[n].replicate(WORDS)
                    )
                ),
                out[n].eq((visit[n] & leave) | (start[n] & dirty[n])),
            ]
            take.append(takes)
        touched = Cat(takes.any() for takes in take)
        m.d.comb += self.touched.eq(touched)
        m.d.sync += dirty.eq(touched | (dirty & ~(visit & leave.replicate(entries))))
        self._visit(m, visiting, next_visiting, visit, leave, dirty)
        m.d.comb += credits.take.eq(out.any())
        self._write(m, rows.head, word, start, out, take)

        merged = delay(m, match.hit, 1, name="merged", reset_less=False)
        m.d.sync += [
            self.hits.eq(sum(merged[1:], merged[0])),
            self.misses.eq(restart & ~is_conflict),
            self.conflicts.eq(restart & is_conflict),
            self.aged.eq(leave & ~self.drain),
            self.drained.eq(
                rows.empty
                & ~(rows.i.valid & rows.i.ready)
                & ~dirty.any()
                & (credits.credit == credits.places - 2)
            ),
        ]
        return m

    def _hand(self, m, miss):
        """Return the entry for the next miss: the hand passes those that were hit, once."""
        hand = Signal(len(self.entries), init=1)
        used = Signal.like(hand, init=0)
        m.d.sync += used.eq((used & ~hand) | self.touched)
        with m.If(miss | (used & hand).any()):
            m.d.sync += hand.eq(hand.rotate_left(1))
        return hand

    def _visit(self, m, visiting, next_visiting, visit, leave, dirty):
        """Visit entry after entry; `visiting` until the one in `visit` has left, if it has to."""
        m.d.comb += next_visiting.eq(visiting)
        turn = Signal(len(self.entries), init=1)
        left = Signal(range(-1, self.visit_clocks), init=self.visit_clocks - 2)
        due = Signal()
        m.d.comb += due.eq(left[-1] | self.drain)
        with m.If(~left[-1]):
            m.d.sync += left.eq(left - 1)
        with m.If(~visiting | leave):
            m.d.comb += next_visiting.eq(due & (turn & dirty).any())
            m.d.sync += visit.eq(turn)
            with m.If(due):
                m.d.sync += [turn.eq(turn.rotate_left(1)), left.eq(self.visit_clocks - 2)]

    def _write(self, m, beat, word, start, out, take):
        """Change the entries a clock later; what they held before goes to the output."""
        rule = delay(m, byte_op.decode(beat.op), 1, name="rule")
        beat = delay(m, beat, 1, name="beat")
        word = delay(m, word, 1, name="word")
        start = delay(m, start, 1, name="start", reset_less=False)
        out = delay(m, out, 1, name="out", reset_less=False)
        address = choose(word, [one.address for one in beat.word])
        words = []
        for n, (entry, takes) in enumerate(zip(self.entries, take, strict=True)):
            m.submodules[f"word{n}"] = held = HeldWord(self.cfg)
            words.append(held)
            m.d.comb += [
                held.word.eq(beat.word),
                held.take.eq(delay(m, takes, 1, name=f"takes{n}", reset_less=False)),
                held.fresh.eq(start[n] | out[n]),
                held.rule.eq(rule),
            ]
            with m.If(start[n]):
                m.d.sync += [entry.valid.eq(1), entry.op.eq(beat.op), entry.address.eq(address)]

        # The bytes are there one clock after the rest.
        later = delay(m, out, 1, name="out_later")
        leaving = self.queue.i.payload
        for field, values in (
            ("op", [entry.op for entry in self.entries]),
            ("address", [entry.address for entry in self.entries]),
            ("mask", [held.mask for held in words]),
        ):
            m.d.comb += leaving[field].eq(delay(m, choose(out, values), 2, name=field))
        data = choose(later, [held.data for held in words])
        m.d.comb += [
            Value.cast(leaving.data).eq(delay(m, data, 1, name="data")),
            self.queue.i.valid.eq(delay(m, out.any(), 2, name="leaving", reset_less=False)),
            self.credits.give.eq(self.o.valid & self.o.ready),
        ]
