"""Mutants of the event counters."""

from kit.mutants import Mutant

MUTANTS = [
    Mutant(
        "carry_lost",
        "counters",
        "len(row))) + carry)",
        "len(row))))",
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
        'select_q2 = delay(m, select[3:], 1, name="select_group")',
        "select_q2 = select[3:]",
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
        "carry_in_the_clock_of_the_visit",
        "counters",
        "carry.eq(wraps | (carry & ~(visit_q1 & carry_q1.replicate(count))))",
        "carry.eq((wraps | carry) & ~(visit_q1 & carry_q1.replicate(count)))",
        "a sum may wrap again in the clock in which it is visited",
    ),
]
