"""The oracle's judge can fail: models with one small fault each leave unexplained ops."""

from dataclasses import replace

import numpy as np
import pytest
from oracle import data, lod, report
from oracle.judge import golden_model, judge, rounds_to_nearest

from minmip.sim.descriptor_words import S_FIELDS, T_FIELDS, unpack
from minmip.sim.trace import FLAG_CLAMP

CLAMP_AXES = ("CLAMP_X", "CLAMP_Y", "CLAMP_Z")
WRAP, MIRROR, CLAMP, MIRROR_ONCE, BORDER = 0, 1, 2, 3, 6


def with_fields(words, fields, **changed):
    """Descriptors with some fields replaced: values or arrays by name, two's complement."""
    words = words.copy()
    for name, value in changed.items():
        low, width = fields[name]
        word, shift = divmod(low, 32)
        assert shift + width <= 32, "a field inside one word"
        mask = ((1 << width) - 1) << shift
        bits = (np.broadcast_to(value, len(words)).astype(np.int64) << shift) & mask
        words[:, word] = (words[:, word] & (0xFFFFFFFF ^ mask)) | bits.astype(np.uint32)
    return words


def on_samplers(change):
    """A model that sees samplers changed by `change(fields) -> new fields`."""

    def model(trace):
        changed = change(unpack(S_FIELDS, trace.s_sharp))
        return golden_model(replace(trace, s_sharp=with_fields(trace.s_sharp, S_FIELDS, **changed)))

    return model


def swap_mode(wrong, right):
    """Use the address mode `wrong` where `right` is asked for."""
    return on_samplers(lambda s: {a: np.where(s[a] == right, wrong, s[a]) for a in CLAMP_AXES})


def on_rows(change):
    """A model whose sample pattern is changed: `change(rows) -> rows to keep, or None for all`."""

    def model(trace):
        result = golden_model(trace)
        assert result.pattern is not None
        assert result.pattern_start is not None
        pattern, start = result.pattern.copy(), result.pattern_start
        keep = change(pattern)
        if keep is not None:
            kept = np.concatenate([[0], np.cumsum(keep)]).astype(np.uint64)
            pattern, start = pattern[keep], kept[start.astype(np.int64)]
        return replace(result, pattern=pattern, pattern_start=start)

    return model


def next_texel(pattern):
    pattern["x"] += 1


def lod_two_steps_up(pattern):
    pattern["lod"] += 2


def faint_mip_missing(pattern):
    """Drop the second mip where its weight is 1/256 or 2/256."""
    fraction = pattern["lod"] & 255
    second = pattern["mip"] == (pattern["lod"] >> 8) + 1
    return ~(second & (fraction > 0) & (fraction < 3))


def level_floored(trace):
    return golden_model(replace(trace, lod=np.floor(trace.lod * 256) / np.float32(256)))


def level_truncated(trace):
    return golden_model(replace(trace, lod=np.trunc(trace.lod * 256) / np.float32(256)))


def clamp_operand_ignored(trace):
    return golden_model(replace(trace, flags=trace.flags & np.uint8(~FLAG_CLAMP & 255)))


def view_limit_ignored(trace):
    words = trace.t_sharp.copy()
    low, width = T_FIELDS["MIN_LOD"]
    words[:, low // 32] &= np.uint32(0xFFFFFFFF ^ (((1 << width) - 1) << low % 32))
    return golden_model(replace(trace, t_sharp=words))


def slice_half_up(trace):
    return golden_model(replace(trace, slice=np.floor(trace.slice + np.float32(0.5))))


def point_mip_half_down(fields):
    """(LOD + 127) >> 8 instead of (LOD + 128) >> 8."""
    bias = fields["LOD_BIAS"]
    return {"LOD_BIAS": np.where(fields["MIP_FILTER"] == 1, bias - 1, bias)}


def min_lod_low(fields):
    return {"MIN_LOD": np.maximum(fields["MIN_LOD"] - 1, 0)}


def swapped_filters(fields):
    return {"XY_MAG_FILTER": fields["XY_MIN_FILTER"], "XY_MIN_FILTER": fields["XY_MAG_FILTER"]}


MUTANTS = {
    # name: (model, groups that must notice when asked by level, and by gradient)
    "mirror is mirror once": (swap_mode(MIRROR_ONCE, MIRROR), "B13 B16 X", "E64 X"),
    "mirror once is mirror": (swap_mode(MIRROR, MIRROR_ONCE), "B13 B16 X", "E64 X"),
    "mirror is wrap": (swap_mode(WRAP, MIRROR), "B13 B16 X", "E64 X"),
    "border is clamp": (swap_mode(CLAMP, BORDER), "B13 B16 X", "E64 X"),
    "coordinates floor": (on_samplers(lambda s: {"TRUNC_COORD": 1}), "B13 B16 E64 X", "E64 X"),
    "the next texel": (on_rows(next_texel), "B13 B16 C5 E64 X", "C5 E64 X"),
    "no bias": (on_samplers(lambda s: {"LOD_BIAS": 0}), "C2 C5 X", "C2 C5 X"),
    "point mip rounds half down": (on_samplers(point_mip_half_down), "C1 C5 E64 X", ""),
    "MIN_LOD one step low": (on_samplers(min_lod_low), "C2 C5 X", "C2 C5 X"),
    "magnify and minify swapped": (on_samplers(swapped_filters), "C5 X", "C5 X"),
    "explicit level floored": (level_floored, "C2 C5 X", ""),
    "clamp operand ignored": (clamp_operand_ignored, "", "C2 C3 C5 X"),
    "view limit ignored": (view_limit_ignored, "C4", "C4"),
    "slice rounds half up": (slice_half_up, "G1", ""),
    "faint second mip dropped": (on_rows(faint_mip_missing), "C1 C2 E64 X", "A2 A3np C2 C4 X"),
}


@pytest.fixture(scope="module")
def oracle():
    return data.Oracle(data.EXCERPT)


@pytest.mark.parametrize("name", MUTANTS)
def test_mutant_is_found(oracle, name):
    model, *wanted = MUTANTS[name]
    for kind, groups in zip(report.KINDS, map(str.split, wanted), strict=True):
        jobs = [job for job in report.jobs_of(oracle, kind) if job.group in groups]
        if jobs:
            found = judge(oracle, jobs, model).groups()
            assert {group: row["unexplained"] > 0 for group, row in found.items()} == dict.fromkeys(
                groups, True
            )


def test_truncating_model_is_found(oracle):
    """A model that truncates explicit levels as the H200 does is equal to it, and still wrong."""
    jobs = report.jobs_of(oracle, "level")
    assert judge(oracle, jobs, level_truncated).unexplained.sum() == 0
    assert not rounds_to_nearest(oracle, jobs, level_truncated).all()


def test_lod_two_steps_off_is_found(oracle):
    job = next(job for job in lod.jobs(oracle) if job.name == "A3np_an0")
    inside, _ = lod.our_accuracy(oracle, job, on_rows(lod_two_steps_up))
    assert inside.worst > 1 / 256
