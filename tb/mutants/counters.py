"""Mutants of the event counters."""

from kit.mutants import Mutant

MUTANTS = [
    Mutant(
        "carry_lost",
        "counters",
        "high.eq(high + carry)",
        "high.eq(high)",
        "a sum has 48 bits",
    ),
    Mutant(
        "torn_sum",
        "counters",
        'Cat(delay(m, low, 1, name=f"{name}_low"), high)',
        "Cat(low, high)",
        "both halves are of one clock",
    ),
    Mutant(
        "wrong_group",
        "counters",
        'group = delay(m, select[3:], 1, name="select_group")',
        "group = select[3:]",
        "the sum is the one selected",
    ),
    Mutant(
        "clear_keeps_the_event",
        "counters",
        "m.d.sync += Cat(low, carry).eq(0)",
        "m.d.sync += Cat(low, carry).eq(event)",
        "events in the clock of a clear are forgotten",
    ),
]
