"""Mutants of the context table."""

from kit.mutants import Mutant

MUTANTS = [
    Mutant(
        "fresh_does_not_wait",
        "context_table",
        "unused.bit_select(answer.entry, 1)",
        "1",
        "new fields wait for the quads that use the old ones",
    ),
    Mutant(
        "count_seen_too_early",
        "context_table",
        "waits & waited &",
        "waits &",
        "the quad just before counts too",
    ),
    Mutant(
        "every_beat_is_copied",
        "context_table",
        "write.en.eq(self.load)",
        "write.en.eq(self.i.valid)",
        "only a fresh answer brings fields",
    ),
    Mutant(
        "both_count_up",
        "context_table",
        "with m.If(more[n] & ~less[n]):",
        "with m.If(more[n]):",
        "a quad that comes while another leaves changes no count",
    ),
    Mutant(
        "no_maximum",
        "context_table",
        " & ~full",
        "",
        "the count of a context never wraps",
    ),
]
