"""Mutants of the event counters."""

from kit.mutants import Mutant

MUTANTS = [
    Mutant(
        "carry_lost",
        "counters",
        "(high + low[half])[: len(high)]",
        "high",
        "a sum has 48 bits",
    ),
    Mutant(
        "torn_sum",
        "counters",
        'row.data, 2, name="row"',
        'row.data, 1, name="row"',
        "all bits are of one clock",
    ),
    Mutant(
        "wrong_group",
        "counters",
        'len(picked)), 2, name="select_group")',
        'len(picked)), 1, name="select_group")',
        "the sum is the one selected",
    ),
    Mutant(
        "clear_keeps_the_event",
        "counters",
        "m.d.sync += low.eq(0)",
        "m.d.sync += low.eq(event)",
        "events in the clock of a clear are forgotten",
    ),
    Mutant(
        "clear_keeps_the_rows",
        "counters",
        "[carry.eq(0), stale.eq(-1)]",
        "carry.eq(0)",
        "a clear counts for the rows of the memory too",
    ),
    Mutant(
        "carry_beside_the_visit",
        "counters",
        "carry.eq(wraps | (carry & ~done[0]))",
        "carry.eq(wraps | (carry & ~written))",
        "a carry that comes after the visit waits for the next",
    ),
]
