"""Mutants for proofs alone."""

from kit.mutants import Mutant

MUTANTS = [
    Mutant(
        "order_turned",
        "texel_groups",
        "values, self.i.descending",
        "values, ~self.i.descending",
        "the lane with the strongest value is the first",
    ),
]
