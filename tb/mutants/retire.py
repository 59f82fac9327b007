"""Mutants of Retire."""

from kit.mutants import Mutant

MUTANTS = [
    Mutant(
        "memory_not_idle",
        "retire",
        "self.drained & self.memory_idle",
        "self.drained",
        "a flush is answered when all is in memory",
    ),
    Mutant(
        "not_drained",
        "retire",
        "self.drained & self.memory_idle",
        "self.memory_idle",
        "a flush is answered when the buffer is empty",
    ),
    Mutant(
        "flush_passes",
        "retire",
        "& (~flush | written)",
        "",
        "a flush waits",
    ),
    Mutant(
        "answer_overwritten",
        "retire",
        "go_answer.eq(~self.o_answer.valid | self.o_answer.ready)",
        "go_answer.eq(1)",
        "an answer waits until it is taken",
    ),
    Mutant(
        "words_overwritten",
        "retire",
        "go_words.eq(~self.o_words.valid | self.o_words.ready)",
        "go_words.eq(1)",
        "words wait until they are taken",
    ),
    Mutant(
        "flush_gives_a_context_back",
        "retire",
        "taken & beat.last & ~beat.flush",
        "taken & beat.last",
        "a flush has no context",
    ),
    Mutant(
        "answer_for_each_beat",
        "retire",
        "self.o_answer.valid.eq(taken & beat.last)",
        "self.o_answer.valid.eq(taken)",
        "one answer for each quad",
    ),
]
