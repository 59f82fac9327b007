"""Mutants of the rescale unit."""

from kit.mutants import Mutant

MUTANTS = [
    Mutant(
        "side_of_0",
        "rescale",
        "side_q2[0] | ~side_q2.any()",
        "side_q2[0]",
        "a grid has one texel at least",
    ),
    Mutant(
        "plain_is_scaled",
        "rescale",
        "Mux(plain, 0, request.scale[axis])",
        "request.scale[axis]",
        "plain textures ignore the scale",
    ),
    Mutant(
        "min_mip_by_level",
        "rescale",
        "Mux(plain | region_used, request.mip, 0)",
        "request.mip",
        "MinMip has one level",
    ),
    Mutant(
        "value_of_view",
        "rescale",
        " + (request.base_level << 8 - REGION_SHIFT)",
        "",
        "the value counts the resource's levels",
    ),
]
