"""Mutants of the lane split."""

from kit.mutants import Mutant

MUTANTS = [
    Mutant(
        "own_gradients",
        "lane_split",
        "if n == 0:",
        "if False:",
        "every part gets the one pair of gradients",
    ),
    Mutant(
        "level_zero_ignored",
        "lane_split",
        "Mux(is_level_zero(quad.opcode), 0, quad.lod[own])",
        "quad.lod[own]",
        "SAMPLE_LZ has level 0, whatever the operand",
    ),
    Mutant(
        "given_level_is_no_level",
        "lane_split",
        "beat.explicit.eq(is_explicit(opcode))",
        "beat.explicit.eq(is_level_zero(opcode))",
        "SAMPLE_L gives the level",
    ),
    Mutant(
        "parts_lost",
        "lane_split",
        "go.eq(next_last & (queue.free > 1))",
        "go.eq(queue.free > 1)",
        "a quad stays until its last part",
    ),
    Mutant(
        "no_room",
        "lane_split",
        "room.eq(queue.free > 1)",
        "room.eq(1)",
        "a part stays until there is a row for it",
    ),
    Mutant(
        "live_of_lane_0",
        "lane_split",
        "quad.live[first : first + self.cfg.lanes]",
        "quad.live[: self.cfg.lanes]",
        "each part has its own live bits",
    ),
]
