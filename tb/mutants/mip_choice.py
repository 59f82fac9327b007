"""Mutants of the mip choice."""

from kit.mutants import Mutant

MUTANTS = [
    Mutant(
        "ends_take_a_bias",
        "mip_choice",
        "Mux(at_end_q2, 0, offset_q2)",
        "offset_q2",
        "a LOD at either end takes no bias",
    ),
    Mutant(
        "undefined_ignored",
        "mip_choice",
        "over_q4 | lane[4].undefined",
        "over_q4",
        "an undefined LOD is MAX_LOD",
    ),
    Mutant(
        "max_lod_wins",
        "mip_choice",
        "Mux(less_q6, lower_q6, upper_q6)",
        "Mux(upper_q6 == control[6].max_lod, upper_q6, Mux(less_q6, lower_q6, upper_q6))",
        "MIN_LOD wins over MAX_LOD",
    ),
    Mutant(
        "view_limit_ignored",
        "mip_choice",
        "Mux(less_q1, before.view_min_lod, before.min_lod)",
        "before.min_lod",
        "the view's MIN_LOD is a lower limit",
    ),
    Mutant(
        "clamp_may_be_negative",
        "mip_choice",
        "Mux(below_q3, lower_q3, lane[3].clamp)",
        "lane[3].clamp",
        "the op clamp only raises the limit",
    ),
    Mutant(
        "beyond_the_view",
        "mip_choice",
        "Mux(inside_q8, lod_q8[:12], Cat(Const(0, 8), span_q8))",
        "lod_q8[:12]",
        "the LOD is limited to the view's last level",
    ),
    Mutant(
        "always_minified",
        "mip_choice",
        "Mux(magnifies_q8, control_q8.mag_linear, control_q8.min_linear)",
        "control_q8.min_linear",
        "a LOD of 0 magnifies",
    ),
    Mutant(
        "point_floors",
        "mip_choice",
        "(control_q9.mip_filter == MIP_POINT) & limited_q9[7]",
        "Const(0, 1)",
        "the point filter takes the nearest mip",
    ),
    Mutant(
        "second_of_weight_0",
        "mip_choice",
        "second_q10.eq(two & limited_q9[:8].any())",
        "second_q10.eq(two)",
        "a mip of weight 0 is not touched",
    ),
    Mutant(
        "two_levels_of_min_mip",
        "mip_choice",
        "control_q9.mip_filter[1] & ~Cat(control_q9.linked == one for one in ONE_LEVEL).any()",
        "control_q9.mip_filter[1]",
        "a MinMip map has one level",
    ),
    Mutant(
        "filter_minifies",
        "mip_choice",
        "zero_q8 | (control_q8.linked == LINKED_FILTER)",
        "zero_q8",
        "the MinMip filter takes the magnifying filter at any LOD",
    ),
    Mutant(
        "filter_of_two_mips",
        "mip_choice",
        "for one in ONE_LEVEL",
        "for one in ONE_LEVEL[:2]",
        "the MinMip filter reads one level",
    ),
    Mutant(
        "filter_of_many_taps",
        "mip_choice",
        "Mux(filters, 0, lane.taps_log2)",
        "lane.taps_log2",
        "the MinMip filter has one tap",
    ),
]
