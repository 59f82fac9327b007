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
    entries, rows, match, queue, credits
        What is held, and the parts around: for the benches and proofs.

    Members
    -------
    i : In(stream.Signature(words_request(cfg)))
        The valid words differ.
    o : Out(stream.Signature(memory_request(cfg)))
    drain : In(1)
        Write everything out.
    drained : Out(1)
        Nothing is inside that is not written: the last operation was taken at `o` 4 clocks before,
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
        self.rows = ReplayQueue(words_request(cfg), 16)
        self.match = WordMatch(cfg)
        self.queue = Queue(memory_request(cfg), 16, never_full=True)
        # The queue has 17 places; one is for the operation that is decided and not counted yet.
        self.credits = CreditCounter(16, registers=1)

    def elaborate(self, platform):
        m = Module()
        entries = len(self.entries)
        m.submodules.rows = rows = self.rows
        m.submodules.match = match = self.match
        m.submodules.queue = self.queue
        m.submodules.credits = credits = self.credits
        wiring.connect(m, wiring.flipped(self.i), rows.i)
        wiring.connect(m, self.queue.o, wiring.flipped(self.o))

        # One beat is at the output of `match`: first its hits, then its other words one by one.
        # `free`: a word may start an entry afresh: no visit, and room for what leaves.
        free = Signal(init=1)
        word, several, go, done = Signal(WORDS), Signal(), Signal(), Signal()
        m.d.comb += [
            word.eq(match.todo & (~match.todo + 1)[:WORDS]),
            several.eq((match.todo & (match.todo - 1)[:WORDS]).any()),
            go.eq(match.waits & ~match.merges & free),
            done.eq(match.settled | (match.valid & ~match.waits)),
            match.i.eq(rows.ahead),
            match.i_valid.eq(rows.ahead_valid),
            match.served.eq(word & go.replicate(WORDS)),
            match.last.eq(go & ~several),
            rows.done.eq(done),
            rows.again.eq(match.waits),
        ]
        for entry, held in zip(match.entry, self.entries, strict=True):
            m.d.comb += entry.eq(held)

        # The clock after: words that merge, or one that starts an entry afresh: the one that holds
        # it, or else that of the hand.
        merged = delay(m, match.same, 1, name="merged", reset_less=False)
        touched = [Cat(same[n] for same in match.same).any() for n in range(entries)]
        touched = delay(m, Cat(touched), 1, name="touched", reset_less=False)
        hits = Cat(same.any() for same in match.same)
        hits = delay(m, hits, 1, name="hits", reset_less=False)
        restart = delay(m, go, 1, name="restart", reset_less=False)
        is_conflict = delay(m, (word & match.conflicts).any(), 1, name="is_conflict")
        own = delay(m, choose(word, match.other), 1, name="own")
        word = delay(m, word, 1, name="word")
        beat = delay(m, rows.head, 1, name="beat")

        start, out, take = Signal(entries), Signal(entries), []
        dirty = Signal(entries)
        visit = Signal(entries)
        miss = restart & ~is_conflict
        hand = self._hand(m, miss, touched | start)
        for n in range(entries):
            m.d.comb += start[n].eq(restart & Mux(is_conflict, own[n], hand[n]))
            take.append(Cat(same[n] for same in merged) | (word & start[n].replicate(WORDS)))
        m.d.comb += out.eq((visit | start) & dirty)
        m.d.sync += dirty.eq(touched | start | (dirty & ~visit))
        m.d.sync += free.eq(~self._visit(m, visit, dirty) & credits.ready_next)
        self._write(m, beat, word, start, out, take)

        # Nothing was inside a clock before, and nothing has come since.
        pushed = Signal()
        m.d.comb += pushed.eq(rows.i.valid & rows.i.ready)
        calm = (
            rows.empty
            & ~delay(m, done, 1, name="was_done", reset_less=False)
            & ~dirty.any()
            & ~delay(m, out.any(), 1, name="was_out", reset_less=False)
            & (credits.credit == credits.places - credits.kept_back)
        )
        m.d.sync += [
            self.hits.eq(sum(hits[1:], hits[0])),
            self.misses.eq(miss),
            self.conflicts.eq(restart & is_conflict),
            self.aged.eq((visit & dirty).any() & ~self.drain),
            self.drained.eq(
                delay(m, calm, 1, name="calm", reset_less=False)
                & ~delay(m, pushed, 1, name="was_pushed", reset_less=False)
                & ~pushed
            ),
        ]
        return m

    def _hand(self, m, miss, touched):
        """Return the entry for the next miss: the hand passes those that were hit, once."""
        hand = Signal(len(self.entries), init=1)
        used = Signal.like(hand, init=0)
        m.d.sync += used.eq((used & ~hand) | touched)
        with m.If(miss | (used & hand).any()):
            m.d.sync += hand.eq(hand.rotate_left(1))
        return hand

    def _visit(self, m, visit, dirty):
        """Visit entry after entry: `visit` a clock after the buffer is `visiting` and has room.

        Returns whether it is visiting in the next clock: then no word starts an entry afresh.
        """
        visiting = Signal()
        next_visiting, leave = Signal(), Signal()
        turn = Signal(len(self.entries), init=1)
        visited = Signal.like(turn)
        left = Signal(range(-1, self.visit_clocks), init=self.visit_clocks - 2)
        drain = delay(m, self.drain, 1, name="drain", reset_less=False)
        due = Signal()
        m.d.comb += [
            due.eq(left[-1] | drain),
            leave.eq(visiting & self.credits.ready),
            next_visiting.eq(visiting),
        ]
        m.d.sync += [
            visiting.eq(next_visiting),
            visit.eq(visited & leave.replicate(len(visit))),
        ]
        with m.If(~left[-1]):
            m.d.sync += left.eq(left - 1)
        with m.If(~visiting | leave):
            m.d.comb += next_visiting.eq(due & (turn & dirty).any())
            m.d.sync += visited.eq(turn)
            with m.If(due):
                m.d.sync += [turn.eq(turn.rotate_left(1)), left.eq(self.visit_clocks - 2)]
        return next_visiting

    def _write(self, m, beat, word, start, out, take):
        """Change the entries; what they held before goes to the output."""
        address = choose(word, [one.address for one in beat.word])
        before = [delay(m, entry, 1, name=f"before{n}") for n, entry in enumerate(self.entries)]
        for n, entry in enumerate(self.entries):
            with m.If(start[n]):
                m.d.sync += [entry.valid.eq(1), entry.op.eq(beat.op), entry.address.eq(address)]

        rule = delay(m, byte_op.decode(beat.op), 1, name="rule")
        beat = delay(m, beat, 1, name="written")
        fresh = delay(m, start | out, 1, name="fresh", reset_less=False)
        words = []
        for n, takes in enumerate(take):
            m.submodules[f"word{n}"] = held = HeldWord(self.cfg)
            words.append(held)
            m.d.comb += [
                held.word.eq(beat.word),
                held.take.eq(delay(m, takes, 1, name=f"takes{n}", reset_less=False)),
                held.fresh.eq(fresh[n]),
                held.rule.eq(rule),
            ]

        # The mask is there one clock after the rest, the bytes two.
        m.d.comb += self.credits.take.eq(out.any())
        out = delay(m, out, 1, name="out", reset_less=False)
        leaving = self.queue.i.payload
        for field, values, age in (
            ("op", [entry.op for entry in before], 0),
            ("address", [entry.address for entry in before], 0),
            ("mask", [held.mask for held in words], 1),
            ("data", [held.data for held in words], 2),
        ):
            chosen = choose(delay(m, out, age, name=f"out_{field}"), values)
            m.d.comb += Value.cast(leaving[field]).eq(delay(m, chosen, 3 - age, name=field))
        m.d.comb += [
            self.queue.i.valid.eq(delay(m, out.any(), 3, name="leaving", reset_less=False)),
            self.credits.give.eq(self.o.valid & self.o.ready),
        ]
