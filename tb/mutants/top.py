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
    Mutant(
        "filter_window_at_0",
        "top",
        "filter_unit.base.eq(self.memory_base)",
        "filter_unit.base.eq(0)",
        "the filter's reads begin at the first block of the map memory",
    ),
    Mutant(
        "reads_are_samples",
        "unit_counters",
        "beat.active & (beat.linked != LINKED_FILTER).replicate(unit.cfg.lanes)",
        "beat.active",
        "texels that the filter reads are not counted as samples",
    ),
    Mutant(
        "reads_pass_writes",
        "retire",
        "beat.ends | (beat.read & unwritten)",
        "beat.ends",
        "the filter sees every write of earlier quads",
    ),
    Mutant(
        "results_exchanged",
        "filter_gather",
        "beat.first_lane == quad_lane - quad_lane % lanes",
        "beat.first_lane == quad_lane ^ 1",
        "each lane gets its own filtered value",
    ),
    Mutant(
        "both_depths_first",
        "slab_split",
        "payload.slab.eq(1)",
        "payload.slab.eq(0)",
        "the filter tells the two depths of a volume apart",
    ),
    Mutant(
        "far_depth_twice",
        "slab_split",
        "payload.lane[n].slice.eq(beat.lane[n].slice | near)",
        "payload.lane[n].slice.eq(beat.lane[n].slice | far)",
        "the first slab of a volume is its own depth",
    ),
]
