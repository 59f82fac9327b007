"""Mutants of what the board does with requests; `PROOFS` names the proof that must also fail."""

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
        "limit_of_any_size",
        "board.commands",
        "with m.If(limit > 1 << BLOCK_BITS):",
        "with m.If(0):",
        "bounds behind the end of all addresses are refused",
    ),
    Mutant(
        "clear_of_any_length",
        "board.memory_commands",
        "with m.If(self.numbers[48:80] > self.cfg.memory_bytes):",
        "with m.If(0):",
        "no more is cleared than there is",
    ),
    Mutant(
        "written_at_one_place",
        "board.memory_commands",
        "m.d.sync += address.eq(address + 1)",
        "m.d.sync += address.eq(address)",
        "words are written one behind the other",
    ),
    Mutant(
        "outside_is_done",
        "board.memory_commands",
        "Mux(error, Status.OUTSIDE, Status.DONE)",
        "Status.DONE",
        "a clear that reaches outside the memory is said",
    ),
    Mutant(
        "word_too_many",
        "board.memory_commands",
        "with m.Elif(count == words):",
        "with m.Elif(count > words):",
        "as many words are read as were asked for",
    ),
    Mutant(
        "any_number_of_words",
        "board.memory_commands",
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
    Mutant(
        "word_not_held",
        "board.memory_commands",
        'with m.If(self.o_host.ready):\n                    m.next = "written"',
        'with m.If(1):\n                    m.next = "written"',
        "a word is offered until it is taken",
    ),
]

PROOFS = {"word_not_held": "memory_commands-contract"}

PROOF_ONLY = {"word_not_held"}
"""What the simulations do not see: in them it makes no difference."""
