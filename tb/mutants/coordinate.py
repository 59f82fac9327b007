"""Mutants of the coordinate unit."""

from kit.mutants import Mutant

MUTANTS = [
    Mutant(
        "coordinate_rounds_half_up",
        "float_to_fixed",
        "half_q6 & (below_q6.any() | kept_q6[0])",
        "half_q6",
        "step 0: ties of the 32nd fraction bit go to even",
    ),
    Mutant(
        "nan_is_huge",
        "float_to_fixed",
        " | (special_q1 & some_q1.any())",
        "",
        "NaN is 0",
    ),
    Mutant(
        "tap_step_keeps_sign",
        "coordinate",
        "Mux(against_q1, -self.step, self.step)",
        "self.step",
        "the offset has a sign of its own",
    ),
    Mutant(
        "mirror_keeps_one_bit_less",
        "tap_coordinate",
        ".eq(tap_q3[TAP_FRACTION] & mirror_q3)",
        ".eq(0)",
        "step 1: mirror is modulo 2",
    ),
    Mutant(
        "floor_for_nearest_even",
        "texel_position",
        "half & (odd | below))",
        "0)",
        "step 2: RNE",
    ),
    Mutant(
        "truncate_rounds_toward_zero",
        "texel_position",
        "negative_q2 & (half | below)",
        "0",
        "TRUNC_COORD floors",
    ),
    Mutant(
        "no_saturation",
        "texel_position",
        "(over ^ sign.replicate(len(over))).any()",
        "0",
        "a texel position saturates at 16.8",
    ),
    Mutant(
        "weight_0_kept",
        "coordinate",
        "weight_q1.any() if n else 1",
        "1",
        "a texel of weight 0 is dropped",
    ),
    Mutant(
        "mirror_about_texel_0",
        "address_mode",
        "Mux(reflects, ~self.i, self.i)",
        "Mux(reflects, -self.i, self.i)",
        "t < 0 becomes -t - 1",
    ),
    Mutant(
        "mirror_off_by_one",
        "address_mode",
        "mirrored_q2.eq(Cat(Const(1, 1), last_q1)",
        "mirrored_q2.eq(Cat(Const(0, 1), last_q1)",
        "the mirrored period ends with N - 1",
    ),
    Mutant(
        "border_of_mirror_clamps",
        "address_mode",
        "Case(Mode.CLAMP, Mode.MIRROR_ONCE)",
        "Case(Mode.CLAMP, Mode.MIRROR_ONCE, Mode.MIRROR_BORDER)",
        "border modes have no texel beyond the grid",
    ),
]
