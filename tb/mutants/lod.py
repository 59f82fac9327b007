"""Mutants of the LOD unit."""

from kit.mutants import Mutant

MUTANTS = [
    Mutant(
        "component_truncated",
        "lod_scale",
        "shifted_q4[1:] + up",
        "shifted_q4[1:]",
        "step 1: components are rounded to nearest even",
    ),
    Mutant(
        "component_wraps",
        "lod_scale",
        "rounded_q5[:width] | rounded_q5[width].replicate(width)",
        "rounded_q5[:width]",
        "step 1: a component that rounds to 2^18 is limited to 2^18 - 1",
    ),
    Mutant(
        "unused_axis_counts",
        "lod_scale",
        "used = [self.axes > n for n in range(self.cfg.axes)] * 2",
        "used = [1] * self.components",
        "only the components of the resource type are used",
    ),
    Mutant(
        "exponent_of_dx_only",
        "lod_scale",
        "self._largest(m, [top for _, top in scaled])",
        "self._largest(m, [scaled[n % self.cfg.axes][1] for n in range(self.components)])",
        "step 1: T is the largest of both vectors",
    ),
    Mutant(
        "major_axis_of_equals_is_x",
        "lod_lengths",
        'less_than(m, y2, x2, name="larger")',
        '~less_than(m, x2, y2, name="larger")',
        "step 2: of equal lengths dY is the major axis",
    ),
    Mutant(
        "det_ignores_signs",
        "lod_lengths",
        'differ = delay(m, differ, 3, name="differ")',
        "differ = Signal()",
        "step 5: det is a difference of signed products",
    ),
    Mutant(
        "log_without_slope",
        "log2",
        "base + (self.multiplier.p >> low_bits)",
        "base",
        "step 3: the logarithm is interpolated",
    ),
    Mutant(
        "lod_truncated",
        "lod",
        "floor_q1 + up_q1",
        "floor_q1",
        "step 4: the LOD is rounded to nearest even",
    ),
    Mutant(
        "lod_wraps",
        "lod",
        "Mux(outside, Cat((~sign).replicate(15), sign), rounded_q2[:16])",
        "rounded_q2[:16]",
        "step 4: the LOD saturates",
    ),
    Mutant(
        "limit_is_always_16",
        "tap_count",
        "limit_q1.eq(self.det << self.max_log2)",
        "limit_q1.eq(self.det << 4)",
        "step 5: over means a ratio above MAX_ANISO",
    ),
    Mutant(
        "threshold_ignored",
        "tap_count",
        "rest_q4.eq(length2_q3 - (share_q3 >> 3))",
        "rest_q4.eq(length2_q3)",
        "step 5: ANISO_THRESHOLD lowers the tap count",
    ),
    Mutant(
        "fine_length_loses_bits",
        "tap_count",
        "Cat(sticky, window_q1[shift:])",
        "Cat(0, window_q1[shift:])",
        "step 5: the length is compared exactly",
    ),
]
