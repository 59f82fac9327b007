"""Mutants of what the board does with requests."""

from kit.mutants import Mutant

MUTANTS = [
    Mutant(
        "length_unchecked",
        "board.commands",
        "with m.If((self.code == command) & fits):",
        "with m.If(self.code == command):",
        "a request whose length does not fit does nothing",
    ),
    Mutant(
        "halves_of_words",
        "board.commands",
        "self.length[:word_log2] == size % word_bytes",
        "self.length[:1] == size % 2",
        "whole words are written",
    ),
    Mutant(
        "written_at_one_place",
        "board.commands",
        "m.d.sync += address.eq(next_address)\n                    with m.If",
        "with m.If",
        "words are written one behind the other",
    ),
    Mutant(
        "outside_is_done",
        "board.commands",
        "finish(Mux(self.i_clear.payload.error, Status.OUTSIDE, Status.DONE))",
        "finish(Status.DONE)",
        "a clear that reaches outside the memory is said",
    ),
    Mutant(
        "word_too_many",
        "board.commands",
        "with m.Elif(count == words):",
        "with m.Elif(count > words):",
        "as many words are read as were asked for",
    ),
    Mutant(
        "any_number_of_words",
        "board.commands",
        "with m.If(words > MAX_PAYLOAD // word_bytes):",
        "with m.If(0):",
        "no more words are read than a reply holds",
    ),
    Mutant(
        "answers_left_behind",
        "board.commands",
        "with m.If(quads_over & (answers == records)):",
        "with m.If(quads_over):",
        "a request of quads ends with the last answer",
    ),
    Mutant(
        "broken_record_is_done",
        "board.commands",
        "with m.If(loader.broken):",
        "with m.If(0):",
        "a record that is not whole is said",
    ),
    Mutant(
        "counters_moved",
        "board.commands",
        "self.counter_select.eq(count),",
        "self.counter_select.eq(count + 1),",
        "counters come in their order",
    ),
]
