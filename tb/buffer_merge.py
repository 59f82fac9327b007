"""The merge of the write-combining buffer: what goes out is what came in, for any one byte.

One byte of one memory word, any, is watched, and the operations on it are followed through the four
places of the buffer, one behind the other: rows of beats, held words, words on their way out, and
the queue at the output. Each place has its own statement (`PARTS`), by induction of one clock. Only
what an earlier part has proved is assumed in a later one, so there is no circle.

Rows and queue are shorter here than in the gateware, and addresses too; that they keep the order at
any length is proved of themselves (`rows16`, and `queue-beats16`).
"""

from __future__ import annotations

from itertools import combinations, pairwise

from amaranth.hdl import (
    Array,
    Assert,
    Assume,
    Cat,
    Const,
    Cover,
    Module,
    Mux,
    Signal,
    Value,
)
from amaranth.lib.data import View
from kit.fold import ByteWrite, Step, applied, byte_of
from kit.named import named
from short_buffer import BEATS, CFG, PLACE_BITS, PLACES, Probed

from minmip.hw import byte_op
from minmip.hw.lib.choose import choose
from minmip.hw.lib.delay import delay
from minmip.hw.word_beats import WORDS

__all__ = ["PARTS", "Merge"]


def one_hot(bits: Value, *, or_none: bool = False) -> Value:
    most = (bits & (bits - 1)[: len(bits)]) == 0
    return most if or_none else most & bits.any()


PARTS = {
    "rows": ("Beats in the rows.", ()),
    "entries": ("The look-up is right, no two entries have one address.", ("rows",)),
    "counts": ("Credits; drained says that nothing is inside.", ("rows", "entries")),
    "order": ("Each word of a beat is chosen once.", ("rows",)),
    "bytes": ("What is held and on its way is what was chosen.", ("rows", "entries", "order")),
    "fold": ("From what was chosen to what leaves.", ("bytes",)),
    "queue": ("From what leaves to the output.", ("counts",)),
    "reached": ("", ()),
}
"""Parts of the proof: what each says, and the earlier ones that it builds on."""


class Merge(Probed):
    """What went out and what is inside make of a byte what came in makes of it, in order."""

    def __init__(self, part, cfg=CFG):
        super().__init__(cfg)
        self.part = part
        self.rows, self.entries, self.counts, self.order, self.bytes = (
            Assert if name == part else Assume if name in PARTS[part][1] else lambda law: []
            for name in ("rows", "entries", "counts", "order", "bytes")
        )
        # What the look-up has to know of the beats behind the first, and the credits of decisions.
        self.asked = self.entries if part == "entries" else lambda law: []
        self.sums = self.counts if part == "counts" else lambda law: []
        self.address = self.free(len(self.block.entries[0].address), "watched_address")
        self.lane = self.free(cfg.word_log2, "watched_lane")
        self.before = self.free(8, "before")

    def properties(self, m: Module) -> None:
        self.assume_inputs(m)
        if self.part != "order":
            m.d.comb += Assume(self._differ(self.block.i.payload))
        self.begun = delay(m, Const(1, 1), 1, name="begun", reset_less=False)
        for value in (self.address, self.lane, self.before):
            m.d.comb += Assume(~self.begun | (value == delay(m, value, 1, name="same")))
        self._rows(m)
        self._decided(m)
        self._entries(m)
        self._match(m)
        self._counts(m)
        self._order(m)
        self._bytes(m)

    def _differ(self, beat) -> Value:
        return Cat(
            ~(a.valid & b.valid) | (a.address != b.address) for a, b in combinations(beat.word, 2)
        ).all()

    def _rows(self, m: Module) -> None:
        """Places in the rows, and the beats there, from the oldest."""
        rows, match, look_up = self.block.rows, self.block.match, self.look_up
        self.used, ahead, written = (Signal(range(2 * BEATS)) for _ in range(3))
        hold, compared, asked = (
            look_up[name] for name in ("hold", "compared_valid", "asked_valid_q1")
        )
        inside = Mux(hold & ~match.valid, 1, match.valid + compared + asked)
        finished = delay(m, rows.done, 1, name="finished", reset_less=False)
        written_at = delay(m, rows.write_at, 1, name="written_at", reset_less=False)
        m.d.comb += [
            self.used.eq(rows.write_at - rows.head_at),
            ahead.eq(rows.ahead_at - rows.head_at),
            written.eq(written_at - rows.head_at),
            self.rows(self.used <= BEATS),
            self.rows((written == self.used) | (written + 1 == self.used)),
            self.rows(rows.free == BEATS - 1 - self.used - finished),
            self.rows(finished == named(self.fragment, "rows")["done_q1"]),
            self.rows(ahead == inside),
            self.rows(ahead <= written),
            self.rows(rows.ahead_valid == (ahead < written)),
        ]
        self.beats = []
        for n, view in enumerate(self.views):
            m.d.comb += view.addr.eq(rows.head_at + n)
            self.beats.append(view.data)
            check = self.asked if n else self.entries
            m.d.comb += check((n >= self.used) | self._differ(view.data))

    def _decided(self, m: Module) -> None:
        """What was decided the clock before: words that merge, or one that starts an entry."""
        inside, entries = self.inside, len(self.block.entries)
        self.decided = self.beat(inside["beat_q1"])
        self.restart, self.word = inside["restart_q1"], inside["word_q1"]
        self.merged = View(self.block.match.same.shape(), inside["merged_q1"])
        self.hits = Signal(WORDS, name="decided_hits")
        self.start, self.out = Signal(entries, name="start"), Signal(entries, name="out")
        own = Mux(inside["is_conflict_q1"], inside["own_q1"], inside["hand"])
        m.d.comb += [
            self.hits.eq(inside["hits_q1"] | (self.word & self.restart.replicate(WORDS))),
            self.start.eq(self.restart.replicate(entries) & own),
            self.out.eq((inside["visit"] | self.start) & inside["dirty"]),
        ]

    def _entries(self, m: Module) -> None:
        """No two entries have one address, also when a word starts one afresh."""
        block, inside, merged = self.block, self.inside, self.merged
        beat, head = self.decided, self.beats[0]
        fresh = Signal.like(self.address)
        m.d.comb += fresh.eq(choose(self.word, [word.address for word in beat.word]))
        for a, b in combinations(block.entries, 2):
            m.d.comb += self.entries(~(a.valid & b.valid & (a.address == b.address)))
        for n, entry in enumerate(block.entries):
            holds = entry.valid & (entry.address == fresh)
            own = inside["is_conflict_q1"] & inside["own_q1"][n]
            takes = Cat(same[n] for same in merged)
            m.d.comb += [
                self.entries(~(self.restart & holds) | own),
                self.entries(one_hot(takes, or_none=True)),
                self.entries(inside["touched_q1"][n] == takes.any()),
            ]
        for k, word in enumerate(beat.word):
            other = head.word[k].address != fresh
            m.d.comb += [
                self.entries(~(self.restart & block.match.todo[k]) | other),
                self.entries(one_hot(merged[k], or_none=True)),
                self.entries(inside["hits_q1"][k] == merged[k].any()),
            ]
            for n, entry in enumerate(block.entries):
                same = entry.valid & (entry.address == word.address) & (entry.op == beat.op)
                m.d.comb += self.entries(~merged[k][n] | same)
        visits, ready = inside["visit"].any(), block.credits.ready
        m.d.comb += [
            self.entries(~self.restart | (one_hot(self.word) & one_hot(self.start))),
            self.entries(~(self.restart & (inside["hits_q1"].any() | visits))),
            *(self.entries(one_hot(inside[name])) for name in ("hand", "turn", "visited")),
            self.entries(one_hot(inside["visit"], or_none=True)),
            self.entries(inside["free"] == (ready & ~inside["visiting"])),
            *(
                self.entries(one_hot(inside[name], or_none=True))
                for name in ("out_q1", "out_mask_q1", "out_data_q2")
            ),
            self.entries(inside["leaving_q1"] == inside["out_mask_q1"].any()),
            self.entries(inside["out_data_q1"] == inside["out_mask_q1"]),
            self.entries(inside["leaving_q2"] == inside["out_data_q2"].any()),
        ]

    def _match(self, m: Module) -> None:
        """What the look-up knows is so; of the words that wait, also when others start entries."""
        block, match, look_up = self.block, self.block.match, self.look_up
        head, hold = self.beats[0], look_up["hold"]
        present, is_compared = look_up["present"], look_up["compared_valid"]
        is_asked = look_up["asked_valid_q1"] & ~hold
        asked = self.beat(look_up["asked_q1"])
        compared, behind = Signal.like(head, name="compared"), Signal.like(head, name="behind")
        at = (match.valid + is_compared)[:2]
        same = Cat(one.any() for one in match.same)
        m.d.comb += [
            compared.eq(Mux(match.valid, self.beats[1], head)),
            behind.eq(Mux(at == 2, self.beats[2], Mux(at == 1, self.beats[1], head))),
            self.rows(hold == (match.waits | match.settled)),
            self.rows(~(match.settled & (match.waits | match.valid))),
            self.rows(match.waits == match.todo.any()),
            self.rows(match.merges == same.any()),
            self.rows(match.valid | ~same.any()),
            self.rows(~hold | match.valid | ~is_compared),
            self.rows(~self.restart | (hold & ~match.valid)),
            self.rows((same & match.todo) == 0),
            self.rows(is_compared | ~present.any()),
            self.asked(~is_asked | (asked.op == behind.op)),
        ]
        for k in range(WORDS):
            word = head.word[k]
            m.d.comb += [
                self.rows(~is_asked | (asked.word[k].valid == behind.word[k].valid)),
                self.asked(~is_asked | (asked.word[k].address == behind.word[k].address)),
                self.rows(~is_compared | (present[k] == compared.word[k].valid)),
                self.rows(~(same[k] | match.todo[k]) | word.valid),
                self.entries(~match.todo[k] | one_hot(match.other[k], or_none=True)),
                self.entries(match.conflicts[k] == match.other[k].any()),
            ]
            for n, entry in enumerate(block.entries):
                may_same, may_other = look_up[f"same{k}_{n}"], look_up[f"other{k}_{n}"]
                equal = look_up[f"equal{k}_{n}"].all() == (
                    compared.word[k].address == entry.address
                )
                there = present[k] & entry.valid
                op = entry.op == compared.op
                held = entry.valid & (entry.address == word.address)
                is_same = word.valid & held & (entry.op == head.op)
                m.d.comb += [
                    self.rows(present[k] | ~(may_same | may_other)),
                    self.asked(~is_compared | equal),
                    self.asked(~is_compared | (may_same == (there & op))),
                    self.asked(~is_compared | (may_other == (there & ~op))),
                    self.entries(~match.valid | (match.same[k][n] == is_same)),
                    self.entries(~(match.todo[k] & held) | match.other[k][n]),
                ]

    def _counts(self, m: Module) -> None:
        """Credits and operations on their way add up; `drained` says that there is none."""
        block, inside, queue = self.block, self.inside, self.block.queue
        credits, dirty = block.credits, inside["dirty"]
        held = queue.more + 1
        flying = inside["out_q1"].any() + inside["leaving_q1"] + inside["leaving_q2"]
        decided = self.restart | inside["hits_q1"].any()
        nothing = (self.used == 0) & ~decided & ~dirty.any() & (credits.free == PLACES)
        m.d.comb += [
            self.sums(credits.free + flying + queue.i.valid + held + queue.o.valid == PLACES),
            self.sums(credits.promise),
            # What was decided when there was a place is not counted yet.
            self.sums(~(self.restart | inside["visit"].any()) | (credits.free >= 0)),
            self.sums(credits.free >= -1),
            self.counts((held >= 0) & (held <= queue.depth)),
            self.counts(queue.o.valid | (held <= 1)),
            self.counts(queue.vacant == ~queue.o.valid),
            self.counts((queue.write.addr - queue.read.addr - held)[:PLACE_BITS] == 0),
            self.counts(~(queue.i.valid & (held == queue.depth))),  # no overflow
            self.sums(inside["was_out_q1"] == inside["out_q1"].any()),
            self.sums(inside["was_out_q1"] == credits._take),
            self.sums(~decided | inside["was_done_q1"] | (self.used != 0)),
            self.sums(~inside["calm_q1"] | inside["was_pushed_q1"] | nothing),
            self.sums(~block.drained | nothing),
        ]

    def _of_beat(self, beat, hits) -> ByteWrite:
        """What some words of a beat do to the byte: one word at most has it."""
        return ByteWrite(hits.any(), beat.op, self._operand(beat, hits))

    def _operand(self, beat, hits) -> Value:
        return choose(hits, [byte_of(word.data, self.lane) for word in beat.word])

    def _order(self, m: Module) -> None:
        """Each word of the beat at the output of the look-up is chosen once."""
        rows, match, beat = self.block.rows, self.block.match, self.decided
        head = self.beats[0]
        same = Cat(one.any() for one in match.same)
        done = same | match.served
        valid = Cat(word.valid for word in head.word)
        had = Signal(WORDS)
        m.d.sync += had.eq(Mux(rows.done, 0, had | done))
        is_there = match.valid | match.waits | match.settled
        m.d.comb += [
            self.order(had == Mux(is_there, valid & ~(same | match.todo), 0)),
            self.order((done & ~(valid & ~had)) == 0),
            self.order(~rows.done | ((had | done) == valid)),
            self.order(self.hits == delay(m, done, 1, name="was_chosen", reset_less=False)),
        ]
        here = Cat(word.address == self.address for word in beat.word)
        masks = Cat(byte_of(word.mask, self.lane) for word in beat.word)
        self.chosen = self._of_beat(beat, self.hits & here & masks).kept(m, "chosen")
        # So they differ; with the watched address alone the proof is quicker.
        first = valid & Cat(word.address == self.address for word in head.word)
        m.d.comb += [
            self.entries((self.used == 0) | one_hot(first, or_none=True)),
            self.entries(one_hot(self.hits & here, or_none=True)),
        ]

    def _bytes(self, m: Module) -> None:
        """The held byte and those on their way out are the ones that were chosen, merged."""
        block, inside = self.block, self.inside
        held = ByteWrite.register(m, "held")
        flight = [ByteWrite.register(m, f"flight{n}") for n in range(4)]
        here = Cat(one.valid & (one.address == self.address) for one in block.entries)
        leaves = (here & self.out).any()
        chosen, kept = self.chosen, held.there & ~leaves
        merged = applied(m, held.operand, [chosen], name="merged")
        m.d.sync += [
            held.there.eq(chosen.there | kept),
            held.op.eq(Mux(chosen.there, chosen.op, held.op)),
            held.operand.eq(Mux(chosen.there & ~kept, chosen.operand, merged)),
            flight[0].all.eq(Cat(held.there & leaves, held.op, held.operand)),
            *(later.all.eq(one.all) for one, later in pairwise(flight)),
        ]
        m.d.comb += self.bytes(~(chosen.there & kept) | (chosen.op == held.op))

        places = [self._held(m, n, entry) for n, entry in enumerate(block.entries)]
        words, firsts, masks, mades, datas = zip(*places, strict=True)
        asked, later = inside["out_mask_q1"], inside["out_data_q2"]
        second = self._leaves(1, asked.any() & choose(asked, masks), choose(asked, mades))
        mask = byte_of(inside["mask_q1"], self.lane)
        third = self._leaves(2, inside["leaving_q2"] & mask, choose(later, datas))
        fourth = self._operation(block.queue.i.payload, block.queue.i.valid)
        m.d.comb += [
            *(self.bytes(~Cat(one.there for one in list).all()) for list in (words, firsts)),
            *(self.bytes(~one.there | one.same(held)) for one in words),
            *(self.bytes(~one.there | one.same(flight[0])) for one in firsts),
            self.bytes(held.there == Cat(one.there for one in words).any()),
            self.bytes(flight[0].there == Cat(one.there for one in firsts).any()),
            self.bytes(second.same(flight[1])),
            self.bytes(third.same(flight[2])),
            self.bytes(fourth.same(flight[3])),
        ]
        if self.part == "reached":
            joined, conflict = Signal(), Signal()
            m.d.sync += [
                joined.eq(joined | (chosen.there & kept)),
                conflict.eq(conflict | (held.there & leaves & chosen.there)),
            ]
            m.d.comb += Cover(block.drained & joined & conflict)
        if self.part == "fold":
            self._fold(m, held, flight)
        if self.part == "queue":
            self._queue(m, fourth)

    def _leaves(self, age: int, there, data) -> ByteWrite:
        """What is on its way out, some clocks after its entry was told to."""
        here = self.inside[f"address_q{age}"] == self.address
        return ByteWrite(there & here, self.inside[f"op_q{age}"], data)

    def _held(self, m: Module, n: int, entry):
        """What entry n holds of the byte, what of it leaves first; and its mask, made, old byte.

        Three clocks are behind the entry: in the first a word is chosen, in the second it meets
        the mask, in the third the byte is made.
        """
        inside, word = self.inside, self.words[n]
        lanes = range(len(word["mask"]))
        before = View(entry.shape(), inside[f"before{n}_q1"])
        beat, takes = self.beat(inside["written_q1"]), inside[f"takes{n}_q1"]
        mask, old = (
            byte_of(one, self.lane)
            for one in (word["mask"], [word["data"].word_select(lane, 8) for lane in lanes])
        )
        rule, new = (
            byte_of([word[name.format(lane)] for lane in lanes], self.lane)
            for name in ("rule{}_q1", "new{}_q2")
        )
        made = Signal(8, name=f"made{n}")
        m.d.comb += made.eq(byte_op.pick(byte_op.compare(rule, old, new), old, new))

        taken = byte_of(word["taken_q1"], self.lane)
        new = byte_of([word[f"new{lane}_q1"] for lane in lanes], self.lane)
        kept = mask & ~word["fresh_q1"]
        met = applied(m, made, [ByteWrite(taken, before.op, new)], name=f"met{n}")
        met_mask, met = taken | kept, Mux(taken & ~kept, new, met)
        is_out = inside["out_q1"][n] & (before.address == self.address)
        leaves = ByteWrite(is_out & met_mask, before.op, met)

        hits = Cat(takes[k] & byte_of(beat.word[k].mask, self.lane) for k in range(WORDS)).any()
        operand = self._operand(beat, takes)
        kept = met_mask & ~inside["fresh_q1"][n]
        merged = applied(m, met, [ByteWrite(hits, beat.op, operand)], name=f"merge{n}")
        is_rule = inside["rule_q1"] == byte_op.decode(beat.op)
        is_old_rule = word["rule_q1"] == byte_op.decode(before.op)
        m.d.comb += [
            self.entries(one_hot(takes, or_none=True)),
            self.entries(~(hits | kept) | (inside["dirty"][n] & entry.valid)),
            self.entries(~takes.any() | ((entry.op == beat.op) & is_rule)),
            self.entries(~taken | is_old_rule),
        ]
        holds = ByteWrite(
            (hits | kept) & (entry.address == self.address),
            entry.op,
            Mux(hits & ~kept, operand, merged),
        )
        return holds, leaves, mask, made, old

    def _memory(self, m: Module, name: str) -> tuple[Signal, Value]:
        """The byte behind one place: what to set, and what it is."""
        stored, now = Signal(8, name=name, reset_less=True), Signal(8, name=f"{name}_now")
        m.d.comb += now.eq(Mux(self.begun, stored, self.before))
        return stored, now

    def _fold(self, m: Module, held: ByteWrite, flight: list[ByteWrite]) -> None:
        """Both memories: behind what was chosen, and behind what leaves."""
        chosen, chosen_now = self._memory(m, "memory_chosen")
        left, left_now = self._memory(m, "memory_left")
        inside = [*reversed(flight), held]
        m.d.sync += [
            chosen.eq(applied(m, chosen_now, [self.chosen], name="choose")),
            left.eq(applied(m, left_now, [flight[-1]], name="leave")),
        ]
        m.d.comb += Assert(chosen_now == applied(m, left_now, inside, name="inside"))

    def _queue(self, m: Module, leaving: ByteWrite) -> None:
        """The queue at the output; beside each operation, the byte before and after it."""
        block, queue = self.block, self.block.queue
        left, left_now = self._memory(m, "memory_left")
        went, went_now = self._memory(m, "memory_went")
        left_next = applied(m, left_now, [leaving], name="leave")
        given = self._operation(block.o.payload, block.o.valid & block.o.ready)
        m.d.sync += [left.eq(left_next), went.eq(applied(m, went_now, [given], name="give"))]
        steps = [Step.register(m, f"step{n}") for n in range(PLACES)]
        rows, first = Array(step.all for step in steps), Step.register(m, "step_first")
        with m.If(queue.i.valid):
            now = Step(left_now, left_next, leaving)
            m.d.sync += rows[queue.write.addr].eq(now.all)
        with m.If(~block.o.valid | block.o.ready):
            m.d.sync += first.all.eq(rows[queue.read.addr])

        places = [(block.o.valid, block.o.payload, first)]
        for n, (view, step) in enumerate(zip(self.leaving, steps, strict=True)):
            behind = Signal(PLACE_BITS, name=f"behind{n}")
            m.d.comb += [view.addr.eq(n), behind.eq(n - queue.read.addr)]
            places.append((queue.more >= behind, view.data, step))
        for n, (there, operation, step) in enumerate(places):
            after = applied(m, step.before, [step.write], name=f"queued{n}")
            m.d.comb += [
                Assert(~there | self._operation(operation, 1).same(step.write)),
                Assert(~there | (step.after == after)),
            ]
        byte = Mux(block.o.valid, first.after, went_now)
        m.d.comb += Assert(~block.o.valid | (first.before == went_now))
        for n in range(PLACES):
            there, row = queue.more >= n, rows[(queue.read.addr + n)[:PLACE_BITS]]
            m.d.comb += Assert(~there | (row[:8] == byte))
            byte = Mux(there, row[8:16], byte)
        m.d.comb += Assert(left_now == byte)

    def _operation(self, operation, there) -> ByteWrite:
        hit = there & (operation.address == self.address)
        return ByteWrite(
            hit & byte_of(operation.mask, self.lane),
            operation.op,
            byte_of(operation.data, self.lane),
        )
