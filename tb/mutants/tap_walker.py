"""Mutants of the tap walker."""

from kit.mutants import Mutant

MUTANTS = [
    Mutant(
        "dead_lanes_count",
        "tap_walker",
        "last_tap(lane.taps_log2) & live.replicate(TAP_BITS)",
        "last_tap(lane.taps_log2)",
        "only live lanes make beats",
    ),
    Mutant(
        "second_for_all",
        "tap_walker",
        "Mux(slot, lane.second, 1)",
        "1",
        "slot 1 is for lanes with a second mip",
    ),
    Mutant(
        "every_tap_for_all",
        "tap_walker",
        "part.live[n] & has_tap",
        "part.live[n]",
        "a lane is active in its own taps",
    ),
    Mutant(
        "empty_second_slot",
        "tap_walker",
        "next_second = has_second & (tap != last_second)",
        "next_second = has_second",
        "no beat without an active lane",
    ),
    Mutant(
        "ends_early",
        "tap_walker",
        "final.eq(((tap ^ last) == 1) & ~next_second)",
        "final.eq((tap ^ last) == 1)",
        "the last tap has a second mip too",
    ),
    Mutant(
        "first_mip_twice",
        "tap_walker",
        "lane.mip + (slot & lane.second)",
        "lane.mip",
        "slot 1 is the next mip",
    ),
    Mutant(
        "every_part_ends",
        "tap_walker",
        "final & part.last_part",
        "final",
        "only the last part ends the quad",
    ),
]
