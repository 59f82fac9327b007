"""Mutants of the combine stage."""

from kit.mutants import Mutant

MUTANTS = [
    Mutant(
        "last_of_each_group",
        "combine",
        "side.last & ~more",
        "side.last",
        "only the final group of a beat ends the quad",
    ),
    Mutant(
        "min_mip_by_level",
        "combine",
        "Mux(beat.linked == LINKED_OR, lane.mip, 0)",
        "lane.mip",
        "a MinMip map has one mip",
    ),
    Mutant(
        "max_is_min",
        "combine",
        "request.descending.eq(beat.linked == LINKED_MAX)",
        "request.descending.eq(0)",
        "type 3 keeps the largest value",
    ),
    Mutant(
        "plain_writes",
        "combine",
        "beat.active[n] & beat.linked.any()",
        "beat.active[n]",
        "plain textures have no map",
    ),
    Mutant(
        "groups_lost_in_stalls",
        "combine",
        "groups.o.ready.eq(go & ~more)",
        "groups.o.ready.eq(~more)",
        "a beat waits while the output does",
    ),
    Mutant(
        "every_lane_leads",
        "texel_groups",
        "pending[lane] & ~(joins & leads.replicate(TEXELS))",
        "pending[lane]",
        "a texel leaves once",
    ),
    Mutant(
        "followers_take",
        "texel_groups",
        "~(joins & leads.replicate(TEXELS))",
        "~joins",
        "only leaders take texels",
    ),
    Mutant(
        "mips_meet",
        "texel_groups",
        "same_slice_q1.all() & same_mip_q1.all()",
        "same_slice_q1.all()",
        "texels of two mips are different",
    ),
    Mutant(
        "untouched_row_leads",
        "texel_groups",
        "near = touched_q1[0] & at[0].all()",
        "near = at[0].all()",
        "a texel that is not touched has no place",
    ),
    Mutant(
        "words_twice",
        "word_expand",
        "lane.second_row[row] == word >> 1",
        "(lane.second_row[row] == word >> 1) | (word < 2)",
        "a texel is in one word",
    ),
    Mutant(
        "rank_of_lane",
        "word_expand",
        "choose(rank_q1[q], hits_q1)",
        "hits_q1[q]",
        "texels go with the value of their lane",
    ),
]
