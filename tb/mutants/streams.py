"""Mutants of the stream kit."""

from kit.mutants import Mutant

MUTANTS = [
    Mutant(
        "stage_forgets",
        "lib.stage",
        "with m.If(~self.o.valid | self.o.ready):",
        "with m.If(1):",
        "a beat waits for ready",
    ),
    Mutant(
        "queue_overflows",
        "lib.queue",
        "ready = 1 if self.never_full else ~self.free[-1]",
        "ready = 1",
        "a full queue takes nothing",
    ),
    Mutant(
        "queue_decides_too_late",
        "lib.queue",
        "ready.eq(self.free > 0)",
        "ready.eq(self.free >= 0)",
        "a beat that comes meanwhile has a row",
    ),
    Mutant(
        "queue_output_overwritten",
        "lib.queue",
        "go.eq(~self.o.valid | self.o.ready)",
        "go.eq(1)",
        "a beat waits for ready",
    ),
    Mutant(
        "fork_doubles",
        "lib.fork",
        "o.valid.eq(self.i.valid & ~had[n])",
        "o.valid.eq(self.i.valid)",
        "each output gets each beat once",
    ),
    Mutant(
        "join_loses",
        "lib.join",
        "i.ready.eq(self.o.valid & self.o.ready)",
        "i.ready.eq(self.o.ready)",
        "an input waits for the others",
    ),
    Mutant(
        "arbiter_forgets",
        "lib.arbiter",
        "with m.If(~self.o.valid | self.o.ready):",
        "with m.If(1):",
        "a beat waits for ready",
    ),
    Mutant(
        "arbiter_has_a_favourite",
        "lib.arbiter",
        "last.eq(n)",
        "last.eq(0)",
        "inputs are served in turn",
    ),
    Mutant(
        "credit_not_counted",
        "lib.credit_counter",
        "self.ready.eq(self.ready_next)",
        "self.ready.eq(1)",
        "no beat is taken without a place for its result",
    ),
    Mutant(
        "credit_not_given_back",
        "lib.credit_counter",
        "with m.If(give & ~take):",
        "with m.If(0):",
        "every result gives its place back",
    ),
]
