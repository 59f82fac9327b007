"""The comparison of the two readings can fail: golden models with one small fault are caught.

Each mutant patches one constant or function of the golden model; random traces run until the
second reading disagrees.
"""

from dataclasses import replace
from functools import cache
from itertools import count

import numpy as np
import pytest
from compare import differences, reference_arrays
from layout_mutants import MODE_MUTANTS, constant
from random_traces import KINDS, random_trace

from minmip.hw.config import FULL, PLAIN_MODES, XOR_MODES
from minmip.sim.golden import (
    address,
    combine,
    coordinates,
    descriptor,
    lod,
    memory,
    minmip_filter,
    operands,
    pattern,
    top,
)
from minmip.sim.layout import NAVI21, xor_patterns

TWO_MODES = replace(FULL, swizzle_modes=frozenset({0, 1}))
ALL_MODES = replace(FULL, swizzle_modes=PLAIN_MODES | XOR_MODES, xor_patterns=xor_patterns(NAVI21))
TRACES, QUADS = 128, 200
LAYOUT_KINDS = ("used", "volumes", "mixed", "read")


def floor_shift(original):
    return lambda value, shift: value >> shift


def zero_weights_kept(original):
    def mutant(tap, size, mode, linear, truncate):
        found = original(tap, size, mode, linear, truncate)
        found.touched[:, 1] |= linear & found.touched[:, 0]
        return found

    return mutant


def mirror_about_texel_0(original):
    def mutant(texel, size, mode):
        wrong = (mode == coordinates.MIRROR) & (texel < 0)
        return original(np.where(wrong, texel + 1, texel), size, mode)

    return mutant


def border_clamps(original):
    return lambda texel, size, mode: original(
        texel, size, np.where(mode == coordinates.BORDER, coordinates.CLAMP, mode)
    )


def short_line(original):
    return lambda fixed, major, tap, taps_log2: original(fixed, major >> 1, tap, taps_log2)


def mip_rounds_half_down(original):
    def mutant(final, image, sampler):
        choice = original(final, image, sampler)
        nearest = (choice.limited + 127) >> 8
        return replace(choice, level=np.where(sampler.mip_filter == 1, nearest, choice.level))

    return mutant


def second_mip_always(original):
    def mutant(final, image, sampler):
        choice = original(final, image, sampler)
        inside = choice.level < image.last_level - image.base_level
        return replace(choice, second=(sampler.mip_filter > 1) & inside)

    return mutant


def magnify_after_the_limit(original):
    def mutant(final, image, sampler):
        last = (image.last_level - image.base_level) << 8
        return original(np.minimum(final, last), image, sampler)

    return mutant


def bias_after_the_clamps(original):
    def mutant(level, undefined, bias, clamp, image, sampler):
        unbiased = replace(sampler, lod_bias=np.zeros_like(sampler.lod_bias))
        clamped = original(level, undefined, np.zeros_like(bias), clamp, image, unbiased)
        return np.clip(clamped + sampler.lod_bias + bias, 0, lod.LOD_MAX)

    return mutant


def saturated_lod_takes_bias(original):
    def mutant(level, *rest):
        inside = np.clip(level, lod.LOD_MIN + 1, lod.LOD_MAX - 1)
        return original(inside, *rest)

    return mutant


def maximum_wins(original):
    def mutant(level, undefined, bias, clamp, image, sampler):
        low = np.minimum(sampler.min_lod, sampler.max_lod)
        return original(level, undefined, bias, clamp, image, replace(sampler, min_lod=low))

    return mutant


def log_a_little_high(original):
    return lambda value, config: original(value, config) + 16


def equal_lengths_follow_dx(original):
    def mutant(ddx, ddy, *rest):
        swapped = original(ddy, ddx, *rest)
        return replace(original(ddx, ddy, *rest), major_is_x=~swapped.major_is_x)

    return mutant


def value_without_base_level(original):
    return lambda limited, image: np.where(
        image.linked == 1, original(limited, image), limited >> 5
    )


def slice_without_first(original):
    return lambda bits, image: original(bits, image) - image.first_slice


def decoded(**changes):
    """Mutant of a descriptor decode: fields replaced by functions of the decoded struct."""

    def factory(original):
        def mutant(words):
            found = original(words)
            return replace(found, **{name: change(found) for name, change in changes.items()})

        return mutant

    return factory


def no_combining(original):
    def mutant(beat, offset, value, kind):
        order = np.argsort(beat, kind="stable")
        return combine.Writes((beat // combine.BEATS_PER_QUAD)[order], offset[order], value[order])

    return mutant


def filter_reads_early(original):
    """Type 4 does not see the writes before it."""

    def mutant(plan, map_memory, filtered):
        before = map_memory.copy()
        original(plan, map_memory, filtered)
        answer = minmip_filter.filter_values(plan.kernel, before)
        filtered[plan.filter_quad, plan.filter_lane] = answer

    return mutant


def filter_reads_late(original):
    """Type 4 sees the writes behind it."""

    def mutant(plan, map_memory, filtered):
        original(plan, map_memory, filtered)
        answer = minmip_filter.filter_values(plan.kernel, map_memory)
        filtered[plan.filter_quad, plan.filter_lane] = answer

    return mutant


def on_kernel(change):
    """Mutant of the filter's kernel: `change(kernel, image, sampler)` alters it in place."""

    def factory(original):
        def mutant(uvw, z, row, image, sampler, layout):
            kernel = original(uvw, z, row, image, sampler, layout)
            change(kernel, image, sampler)
            return kernel

        return mutant

    return factory


def w_by_z_filter(kernel, image, sampler):
    kernel.weight[(image.axes == 3) & ~sampler.z_linear, 2] = minmip_filter.ONE


def no_diagonals(kernel, image, sampler):
    """Corners off the axes count as 0."""
    kernel.inside[:, [3, 5, 6, 7]] = False


def ramps_of_w(field):
    """Mutant of volumes: u, v and w all take the fields U (0) or V (1)."""

    def factory(original):
        def mutant(uvw, z, row, image, sampler, layout):
            volume = (image.axes == 3)[:, None]
            fields = {
                name: np.where(volume, getattr(sampler, name)[:, [field]], getattr(sampler, name))
                for name in ("slope2", "offset")
            }
            return original(uvw, z, row, image, replace(sampler, **fields), layout)

        return mutant

    return factory


def blends_slices(original):
    """Arrays: half of the next slice."""

    def mutant(uvw, z, row, image, sampler, layout):
        kernel = original(uvw, z, row, image, sampler, layout)
        further = np.where(image.is_array, np.minimum(z + 1, image.last_slice), z)
        behind = original(uvw, further, row, image, sampler, layout)
        arrays = np.flatnonzero(image.is_array)
        kernel.offset[arrays, 4:] = behind.offset[arrays, 4:]
        kernel.weight[arrays, 2] = minmip_filter.ONE // 2
        return kernel

    return mutant


def depth_of_mip_0(original):
    def mutant(image, mip):
        grid = original(image, mip)
        used = (image.linked == 1) & (image.axes == 3)
        grid[used, 2] = image.map_size[used, 2]
        return grid

    return mutant


def w_gradient_ignored(original):
    def mutant(ddx, ddy, *rest):
        flat = np.arange(ddx.shape[-1]) < 2
        return original(ddx * flat, ddy * flat, *rest)

    return mutant


def faint_rows_dropped(original):
    def mutant(*arguments):
        found = original(*arguments)
        return replace(
            found, **{name: column[found.weight > 0] for name, column in vars(found).items()}
        )

    return mutant


def border_of_w_clamps(sampler):
    clamp = sampler.clamp.copy()
    clamp[:, 2] = np.where(clamp[:, 2] >= 4, coordinates.CLAMP, clamp[:, 2])
    return clamp


def highest_code_wins(original):
    return lambda rules, rows: original(rules[::-1], rows)


def unchecked(code):
    """Mutant without one of the legality rules."""

    def factory(original):
        return lambda rules, rows: original([rule for rule in rules if rule[0] != code], rows)

    return factory


def map_a_block_larger(original):
    return lambda layout, slices: original(layout, slices) + 256


MUTANTS = {
    # name: [(module, attribute, factory of the faulty object)]
    "texel grid floors": [(coordinates, "round_shift", floor_shift)],
    "weight 0 is touched": [(pattern, "axis_footprint", zero_weights_kept)],
    "mirror about texel 0": [(coordinates, "wrap_texel", mirror_about_texel_0)],
    "border clamps": [(coordinates, "wrap_texel", border_clamps)],
    "infinity is not 10": [(coordinates, "INFINITY", constant(0))],
    "16.8 one bit wider": [(coordinates, "TEXEL_MAX", constant((1 << 24) - 1))],
    "anisotropic line half as long": [(pattern, "tap_coordinate", short_line)],
    "equal lengths follow dX": [(operands, "gradient_lod", equal_lengths_follow_dx)],
    "log2 16/65536 too high": [(lod, "_log2", log_a_little_high)],
    "POINT mips round half down": [(top, "choose_mips", mip_rounds_half_down)],
    "second mip with weight 0": [(top, "choose_mips", second_mip_always)],
    "magnify judged after the limit": [(top, "choose_mips", magnify_after_the_limit)],
    "bias after the clamps": [(top, "clamp_lod", bias_after_the_clamps)],
    "saturated LOD takes a bias": [(top, "clamp_lod", saturated_lod_takes_bias)],
    "MAX_LOD wins over MIN_LOD": [(top, "clamp_lod", maximum_wins)],
    "value without BASE_LEVEL": [(top, "map_value", value_without_base_level)],
    "slice without BASE_ARRAY": [(top, "array_slice", slice_without_first)],
    "ANISO_THRESHOLD ignored": [
        (top, "decode_sampler", decoded(aniso_threshold=lambda s: 0 * s.aniso_threshold))
    ],
    "ANISO_OVERRIDE ignored": [
        (top, "decode_sampler", decoded(aniso_override=lambda s: s.aniso_override & False))
    ],
    "TRUNC_COORD ignored": [
        (top, "decode_sampler", decoded(trunc_coord=lambda s: s.trunc_coord & False))
    ],
    "LOD_BIAS unsigned": [(top, "decode_sampler", decoded(lod_bias=lambda s: s.lod_bias & 0x3FFF))],
    "MIN and MAX swapped": [
        (memory, "LINKED_MIN", constant(3)),
        (memory, "LINKED_MAX", constant(2)),
    ],
    "beats keep the larger value": [(combine, "LINKED_MAX", constant(2))],
    "no combining": [(top, "combine", no_combining)],
    "type 4 reads early": [(top, "_commit", filter_reads_early)],
    "type 4 reads late": [(top, "_commit", filter_reads_late)],
    "filter obeys Z_FILTER": [(top, "filter_kernel", on_kernel(w_by_z_filter))],
    "filter without diagonals": [(top, "filter_kernel", on_kernel(no_diagonals))],
    "filter clamps at borders": [(minmip_filter, "wrap_texel", border_clamps)],
    "filter's w takes the U fields": [(top, "filter_kernel", ramps_of_w(0))],
    "filter's u and v take the W fields": [(top, "filter_kernel", ramps_of_w(1))],
    "filter blends slices": [(top, "filter_kernel", blends_slices)],
    "filter rounds down": [(minmip_filter, "round_shift", floor_shift)],
    "filter fields U and V swapped": [
        (
            top,
            "decode_sampler",
            decoded(slope2=lambda s: s.slope2[:, ::-1], offset=lambda s: s.offset[:, ::-1]),
        )
    ],
    "volume mips keep their depth": [(pattern, "footprint_grid", depth_of_mip_0)],
    "volume LOD ignores w": [(operands, "gradient_lod", w_gradient_ignored)],
    "volume rows of weight 0 dropped": [(top, "sample_pattern", faint_rows_dropped)],
    "w by the XY filter": [
        (top, "decode_sampler", decoded(z_linear=lambda s: s.min_filter & 1 == 1))
    ],
    "w clamps at borders": [(top, "decode_sampler", decoded(clamp=border_of_w_clamps))],
    "highest code wins": [(descriptor, "_lowest", highest_code_wins)],
    **{f"code {n} unchecked": [(descriptor, "_lowest", unchecked(n))] for n in range(1, 19)},
    "map one block larger": [(address.MapLayout, "total_bytes", map_a_block_larger)],
}


@cache
def case(seed, config=TWO_MODES):
    """A random trace and what the second reading makes of it."""
    kinds = KINDS if config is TWO_MODES else LAYOUT_KINDS
    kind, modes = kinds[seed % len(kinds)], config.swizzle_modes
    request = random_trace(np.random.default_rng(seed), QUADS, kind, modes)
    return request, reference_arrays(request, config)


@pytest.mark.parametrize("config", [TWO_MODES, ALL_MODES], ids=["two modes", "all modes"])
def test_without_a_mutant_the_readings_agree(config):
    for seed in range(8):
        request, wanted = case(seed, config)
        assert differences(request, config, wanted) == [], f"seed {seed}"


@pytest.mark.parametrize("name", [*MUTANTS, *MODE_MUTANTS])
def test_mutant_is_caught(name, monkeypatch):
    config = ALL_MODES if name in MODE_MUTANTS else TWO_MODES
    for module, attribute, factory in (MUTANTS | MODE_MUTANTS)[name]:
        monkeypatch.setattr(module, attribute, factory(getattr(module, attribute)))
    for seed in count():
        assert seed < TRACES, f"{name}: not caught in {TRACES} traces of {QUADS} quads"
        request, wanted = case(seed, config)
        try:
            if differences(request, config, wanted):
                return
        except IndexError:  # an address outside the memory
            return
