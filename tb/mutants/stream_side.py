"""Mutants of the parts that carry side data."""

from kit.mutants import Mutant

MUTANTS = [
    Mutant(
        "side_data_runs_ahead",
        "lib.side_buffer",
        "queue.o.ready.eq(self.o.ready & buffer.o.valid)",
        "queue.o.ready.eq(self.o.ready)",
        "a beat leaves with its own side data",
    ),
    Mutant(
        "side_data_without_a_transfer",
        "lib.side_buffer",
        "take = self.buffer.entry, self.i.valid & buffer.i.ready",
        "take = self.buffer.entry, self.i.valid",
        "side data is kept once for each beat",
    ),
    Mutant(
        "lookup_overwrites",
        "lookup",
        "with m.If(~self.o.valid | self.o.ready):",
        "with m.If(1):",
        "a beat waits for ready",
    ),
    Mutant(
        "pop_count_cuts",
        "lib.pop_count",
        'kept = Signal(total.shape(), name=f"sum{clock}_{n}")',
        'kept = Signal(2, name=f"sum{clock}_{n}")',
        "all ones are counted",
    ),
]
