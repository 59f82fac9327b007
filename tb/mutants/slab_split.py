"""Mutants of the slab split."""

from kit.mutants import Mutant

MUTANTS = [
    Mutant(
        "depth_written_twice",
        "slab_split",
        "depths[n].touched[1] & differs[n].any()",
        "depths[n].touched[1]",
        "a second depth that is the first one is not touched again",
    ),
    Mutant(
        "half_a_depth_compared",
        "slab_split",
        "either[HALF:].any()",
        "0",
        "depths differ in any bit",
    ),
    Mutant(
        "own_depth_in_the_border",
        "slab_split",
        " | ~depth.touched[0]",
        "",
        "depth 0 is touched by the second texel alone, too",
    ),
    Mutant(
        "idle_lane_opens_a_slab",
        "slab_split",
        "beat.active[n] & depths[n].touched[1]",
        "depths[n].touched[1]",
        "lanes that are not active make no slab",
    ),
    Mutant(
        "writes_beside_its_depth",
        "slab_split",
        "Mux(filters, beat.active, second)",
        "beat.active",
        "a lane writes only at depths that it touches",
    ),
    Mutant(
        "filter_lane_leaves",
        "slab_split",
        "first | filters.replicate(len(first))",
        "first",
        "lanes of the filter stay active in every slab",
    ),
    Mutant(
        "filter_reads_beside_its_depth",
        "slab_split",
        "waiting.lane[n].x_touched.eq(x & second[n].replicate(2))",
        "waiting.lane[n].x_touched.eq(x)",
        "the filter reads nothing at a depth that it does not touch",
    ),
    Mutant(
        "ends_with_the_first_slab",
        "slab_split",
        "beat.last & ~second.any()",
        "beat.last",
        "a quad ends with its last slab",
    ),
    Mutant(
        "second_slab_lost",
        "slab_split",
        "self.o.ready & payload.done",
        "self.o.ready",
        "the second slab leaves before the next beat",
    ),
]
