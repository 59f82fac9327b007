"""Mutants of the gradient unit."""

from kit.mutants import Mutant

MUTANTS = [
    Mutant(
        "difference_ties_up",
        "float_sub",
        "(self.sum_q10[: low - 1].any() | self.sum_q10[low])",
        "C(1)",
        "float subtraction rounds ties to even",
    ),
    Mutant(
        "difference_loses_sticky",
        "float_sub",
        "Cat(lost_q3.any() | lost, fine, 0)",
        "Cat(lost, fine, 0)",
        "float subtraction rounds once, from the exact difference",
    ),
    Mutant(
        "denormals_kept",
        "float_sub",
        "with m.If(small_zero):",
        "with m.If(0):",
        "denormals count as zero",
    ),
    Mutant(
        "tiny_results_kept",
        "float_sub",
        "under.eq(exponent_q11[9] | ~exponent_q11.any() | zero_q11)",
        "under.eq(zero_q11)",
        "denormal results are zero",
    ),
    Mutant(
        "infinity_minus_infinity",
        "float_sub",
        "| (small_infinite & self.subtract_q4)",
        "",
        "infinity minus infinity is NaN",
    ),
    Mutant(
        "overflow_keeps_fraction",
        "float_sub",
        "| (~exponent_q11[9] & (exponent_q11[8] | exponent_q11[:8].all()))",
        "",
        "a difference past the largest number is infinite",
    ),
    Mutant(
        "lanes_swapped",
        "gradient",
        "((1, self.o.ddx), (2, self.o.ddy))",
        "((2, self.o.ddx), (1, self.o.ddy))",
        "ddx is lane 1 - lane 0, ddy is lane 2 - lane 0",
    ),
]
