"""Mutants of the descriptor decode."""

from kit.mutants import Mutant

ANSWERS = [
    Mutant(
        "key_without_bits",
        "descriptor_match",
        "range(0, len(key), _FIRST)\n        ]",
        "range(_FIRST, len(key), _FIRST)\n        ]",
        "a pair that differs in the first bits is not the one that is held",
    ),
    Mutant(
        "replay_from_the_next",
        "descriptor_decode",
        "reading.eq(answered), some",
        "reading.eq(answered + 1), some",
        "the request that missed is read again",
    ),
    Mutant(
        "too_soon",
        "control_store",
        "layout.chain_valid, 3, name=",
        "layout.chain_valid, 1, name=",
        "the first hit comes after the entry is complete",
    ),
    Mutant(
        "low_code_last",
        "legality",
        "in reversed(group)",
        "in group",
        "the lowest code of a group wins",
    ),
    Mutant(
        "low_group_last",
        "legality",
        "in reversed(lowest)",
        "in lowest",
        "the lowest code of all groups wins",
    ),
    Mutant(
        "pair_rule_of_u_for_v",
        "legality",
        "key.offset_v < least[key.slope_v]",
        "key.offset_v < least[key.slope_u]",
        "code 9 looks at the slope of the same axis",
    ),
    Mutant(
        "one_axis_uses_v",
        "legality",
        "~among(key.type, (TYPE_1D, TYPE_1D_ARRAY))",
        "(key.type != TYPE_1D)",
        "1D and 1D arrays have no V pair (D6)",
    ),
    Mutant(
        "any_mode_of_a_volume",
        "legality",
        "(volume, VOLUME_MODES)",
        "(volume, modes)",
        "a volume has no D mode",
    ),
    Mutant(
        "any_mode_of_one_axis",
        "legality",
        "(~uses_v, ONE_AXIS_MODES)",
        "(~uses_v, VOLUME_MODES)",
        "a 1D map has no block of 4 KB or more",
    ),
    Mutant(
        "slice_of_volume",
        "legality",
        "((volume | is_array) & over",
        "(is_array & over",
        "the depth of a volume is checked by code 18",
    ),
    Mutant(
        "outside_first",
        "control_store",
        "Mux(broken | outside, worst, 0)",
        "Mux(outside, CODE_OUTSIDE, Mux(broken, worst, 0))",
        "code 31 is the last one",
    ),
    Mutant(
        "gather_over_msaa",
        "control_store",
        "code.any() & (code < CODE_GATHER)",
        "C(0)",
        "a gather of an illegal type answers the type's code",
    ),
    Mutant(
        "size_not_less_one",
        "scaled_size",
        "self.field - unit",
        "self.field",
        "a map is the floor of the scaled size, not of the size less one",
    ),
    Mutant(
        "unused_axis",
        "control_store",
        "key.height_scale, ~one_axis",
        "key.height_scale, C(1)",
        "1D has height 1 (D10)",
    ),
    Mutant(
        "every_answer_is_fresh",
        "descriptor_decode",
        "m.d.sync += bit.eq(0)",
        "m.d.sync += bit.eq(1)",
        "the second answer of an entry is not fresh",
    ),
    Mutant(
        "fresh_only_once",
        "descriptor_decode",
        "with m.If(store.done & (store.write_entry == entry)):",
        "with m.If(0):",
        "an entry is fresh when it was decoded anew",
    ),
]
"""Wrong answers."""

HELD = [
    Mutant(
        "used_is_oldest",
        "descriptor_match",
        "newer[e, x] if e < x else ~newer[x, e]",
        "newer[x, e] if x < e else ~newer[e, x]",
        "the least recently used entry goes",
    ),
    Mutant(
        "use_not_counted",
        "descriptor_match",
        "self.used & hit[a]",
        "self.used & 0",
        "each hit makes its entry the most recent",
    ),
]
"""Right answers, but other pairs are held."""

MOVED = [
    Mutant(
        "old_bounds_kept",
        "descriptor_decode",
        "match.flush.eq(flush)",
        "match.flush.eq(0)",
        "a change of the memory's bounds drops all entries",
    ),
    Mutant(
        "stale_fill",
        "descriptor_match",
        "self.fill & ~stale",
        "self.fill",
        "an entry that was being decoded when the bounds changed does not count",
    ),
]
"""Wrong codes when the memory moves."""

MUTANTS = ANSWERS + HELD + MOVED
