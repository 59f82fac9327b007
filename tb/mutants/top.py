"""Mutants of the whole unit: faults of its wiring."""

from kit.mutants import Mutant

MUTANTS = [
    Mutant(
        "contexts_exchanged",
        "top",
        'getattr(front, f"context_{n}").eq(lookup.context)',
        'getattr(front, f"context_{n ^ 1}").eq(lookup.context)',
        "each stage fetches what belongs to its own beat",
    ),
    Mutant(
        "drained_at_once",
        "top",
        "retire.drained.eq(buffer.drained)",
        "retire.drained.eq(1)",
        "a flush is answered when the buffer is empty",
    ),
    Mutant(
        "memory_is_idle",
        "top",
        "retire.memory_idle.eq(store.idle)",
        "retire.memory_idle.eq(1)",
        "a flush is answered when all is in memory",
    ),
    Mutant(
        "release_behind_the_pattern",
        "top",
        """front.released_valid.eq(retire.released_valid),
            front.released.eq(retire.released),""",
        """front.released_valid.eq(
                router.o.valid & router.o.ready & router.o.payload.last & ~router.o.payload.flush
            ),
            front.released.eq(router.o.payload.context),""",
        "a context is held until the last beat of its quad has passed its last lookup",
    ),
]
