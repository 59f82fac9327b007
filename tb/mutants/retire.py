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
        "beat.ends | (beat.read & unwritten)",
        "(beat.read & unwritten)",
        "a flush waits",
    ),
    Mutant(
        "read_passes_writes",
        "retire",
        "beat.ends | (beat.read & unwritten)",
        "beat.ends",
        "a read waits for the words before it",
    ),
    Mutant(
        "read_waits_always",
        "retire",
        "(beat.read & unwritten)",
        "beat.read",
        "a read waits only after a word",
    ),
    Mutant(
        "drain_never_over",
        "retire",
        "with m.If(written):",
        "with m.If(0):",
        "after a complete drain reads need no other",
    ),
    Mutant(
        "writes_forgotten",
        "retire",
        "with m.Elif(writes):",
        "with m.Elif(writes & beat.last):",
        "any word that is handed on counts",
    ),
    Mutant(
        "reads_are_written",
        "retire",
        "writes.eq(taken & beat.writes)",
        "writes.eq(taken)",
        "only beats with words are handed on",
    ),
    Mutant(
        "empty_reads_lost",
        "retire",
        "self.o_reads.valid.eq(taken & beat.read)",
        "self.o_reads.valid.eq(taken & beat.read & beat.word[0].valid)",
        "the filter gets read beats without a word too",
    ),
    Mutant(
        "answer_overwritten",
        "retire",
        "with m.If(go_answer):",
        "with m.If(1):",
        "an answer waits until it is taken",
    ),
    Mutant(
        "words_overwritten",
        "retire",
        "with m.If(go_words):",
        "with m.If(1):",
        "words wait until they are taken",
    ),
    Mutant(
        "reads_overwritten",
        "retire",
        "with m.If(go_reads):",
        "with m.If(1):",
        "read requests wait until they are taken",
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
