# amaranth: UnusedElaboratable=no
"""Combine stage, with the bytes of its words, against a plain statement of its rule and
`sim.golden.combine`.

MINMIP_LONG=1 sends 20 times the beats; MINMIP_FIRST_SEED (default 1) is printed on a failure.
"""

from dataclasses import replace

import numpy as np
import pytest
from combine_vectors import PACKINGS, boxes, grouped, random_slabs, texel_of, word_of
from combined_words import CombinedWords
from kit.cocotb_bench import run_cocotb
from kit.mutants import planted
from kit.stream import simulate
from kit.vlib import LONG, SEED, TRAFFIC, VerilatedBlock, assert_columns_equal
from mutants.combine import MUTANTS

from minmip.hw.config import DEFAULT, FULL, PRESETS, SMALL
from minmip.sim.golden.combine import BEATS_PER_QUAD, combine

TWO_LANES = DEFAULT
GROUPS = 4000
"""What the golden model takes at once."""
CONFIGS = PRESETS | {
    "2 axes, 4 lanes, 4 bytes": replace(FULL, resource_types=SMALL.resource_types, word_bytes=4),
    "3 axes, 1 lane, 4 bytes": replace(FULL, lanes=1, lod_units=1, word_bytes=4),
    "3 axes, 4 lanes, 8 bytes": replace(FULL, word_bytes=8),
    "D alone": replace(DEFAULT, swizzle_modes=frozenset({6})),
    "D and volumes": replace(DEFAULT, swizzle_modes=frozenset({2, 9})),
}
"""Verilated with MINMIP_LONG, else the presets alone."""


def settled(columns, beats, word_bytes):
    """Groups with 0 where anything may be; a word is named by its place, not by one of its texels.

    Tags are numbers of beats.
    """
    words, lane = columns["word"], columns["lane"]
    some, joins = words["valid"].any(1), lane["joins"][..., None] >> np.arange(4) & 1
    names = ("mip", "slice", "y", "x")
    mip, slice_, y, x = (words[name] for name in names)
    kind = beats["packing"][columns["tag"]][:, None]
    words_by_kind = [word_of(mip, slice_, y, x, one, word_bytes)[0] for one in PACKINGS]
    return columns | {
        "op": np.where(some & (columns["read"] == 0), columns["op"], 0),
        "word": {"valid": words["valid"]}
        | {
            name: np.choose(kind, places) * words["valid"]
            for name, *places in zip(names, *words_by_kind, strict=True)
        },
        "lane": lane | {name: lane[name] * joins for name in ("slot", "byte")},
    }


def writes(result, beats, cfg):
    """(group, mip, slice, y, x) and value of every byte to write, sorted."""
    group, found = result["group"], result["bytes"]
    word_bytes = cfg.word_bytes
    mask = found["mask"] * (group["read"] == 0)[:, None]
    number, slot, byte = np.nonzero(mask[..., None] >> np.arange(word_bytes) & 1)
    mip, slice_, y, x = (group["word"][name][number, slot] for name in ("mip", "slice", "y", "x"))
    word, kind = (mip, slice_, y, x), beats["packing"][group["tag"][number]]
    texels = [texel_of(word, byte, one, word_bytes) for one in PACKINGS]
    texel = [np.choose(kind, places) for places in zip(*texels, strict=True)]
    value = found["data"][number, slot, byte % found["data"].shape[2]]
    columns = np.stack([number, *texel, value])
    return columns[:, np.lexsort(columns[::-1])]


def golden_writes(beat, groups, beats):
    """The same by the golden model, group by group."""
    lane = beats["lane"]
    joins = groups["lane"]["joins"] * (groups["read"] == 0)[:, None]
    number, n, t = np.nonzero(joins[..., None] >> np.arange(4) & 1)
    kind = beats["linked"][beat]
    mip = np.where(kind[number] == 1, lane["mip"][beat[number], n], 0)
    key = np.stack(
        [
            mip,
            lane["slice"][beat[number], n],
            lane["y"][beat[number], n, t >> 1],
            lane["x"][beat[number], n, t & 1],
        ]
    )
    value = lane["value"][beat[number], n]
    # The model takes addresses of 38 bits: any number will do that stands for one map texel.
    places, offset = np.unique(key, axis=1, return_inverse=True)
    offset, parts = offset.ravel(), []
    for start in range(0, len(kind), GROUPS):
        now = (number >= start) & (number < start + GROUPS)
        merged = combine(
            (number[now] - start) * BEATS_PER_QUAD,
            offset[now],
            value[now],
            kind[start : start + GROUPS],
        )
        parts.append(np.stack([start + merged.quad, *places[:, merged.offset], merged.value]))
    columns = np.concatenate(parts, axis=1)
    return columns[:, np.lexsort(columns[::-1])]


def compare(result, beats, cfg):
    """What came of `beats`, against the rule of grouping and the golden model's bytes."""
    beat, groups = grouped(beats, cfg)
    assert_columns_equal(
        settled(result["group"], beats, cfg.word_bytes), settled(groups, beats, cfg.word_bytes)
    )
    np.testing.assert_array_equal(result["bytes"]["mask"] != 0, groups["word"]["valid"])
    wanted = golden_writes(beat, groups, beats)
    np.testing.assert_array_equal(writes(result, beats, cfg), wanted)


@pytest.fixture(scope="module", params=CONFIGS if LONG else PRESETS)
def unit(request):
    return VerilatedBlock(CombinedWords(CONFIGS[request.param]), "combine")


def check(unit, beats, traffic="full", seed=1):
    cfg = unit.block.cfg
    count = len(grouped(beats, cfg)[0])
    result, run = unit.run({"i": beats}, count, traffic=traffic, seed=seed)
    compare(result["o"], beats, cfg)
    return run


def test_random(unit):
    for seed in range(SEED, SEED + (40 if LONG else 2)):
        print("seed", seed)
        check(unit, random_slabs(np.random.default_rng(seed), 8000, unit.block.cfg))


@pytest.mark.parametrize(("words", "apart"), [(4, 0), (1, 1), (2, 1), (4, 1)])
def test_clocks(unit, words, apart):
    """A beat whose texels lie in four words takes one clock; lanes in four words each one each."""
    cfg = unit.block.cfg
    clocks = -(-words * cfg.lanes // 4) if apart else 1
    run = check(unit, boxes(np.random.default_rng(1), 2000, cfg, words=words, apart=apart))
    stamps = run.output_stamps["o"]
    assert stamps[0] - run.input_stamps["i"][0] == unit.block.latency == 18 + cfg.lanes
    assert len(stamps) == 2000 * clocks
    assert stamps[-1] - stamps[0] == len(stamps) - 1  # no bubble


@pytest.mark.parametrize("traffic", TRAFFIC)
def test_traffic(unit, traffic):
    count = 200 if traffic == "long stalls" else 2000
    check(unit, random_slabs(np.random.default_rng(2), count, unit.block.cfg), traffic, seed=3)


@pytest.mark.parametrize("name", CONFIGS)
def test_pysim(name):
    simulated(CONFIGS[name], 100)


def simulated(cfg, count=200):
    """A few beats in Amaranth's simulator, with stalls on both sides."""
    beats = random_slabs(np.random.default_rng(4), count, cfg)
    groups = len(grouped(beats, cfg)[0])
    result = simulate(
        CombinedWords(cfg), {"i": beats}, groups, traffic="both", timeout=200 + 6 * groups
    )
    compare(result["o"], beats, cfg)
    return beats, result["o"]


def test_cocotb():
    # What the simulator gives is checked there, and fills what may be anything.
    beats, groups = simulated(TWO_LANES)
    run_cocotb(CombinedWords(TWO_LANES), "combine", {"i": beats}, {"o": groups})


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_mutant(mutant):
    # A sum that is too large can become smaller only with a third lane.
    cfg = FULL if mutant.name == "count_wraps" else TWO_LANES
    with planted(mutant), pytest.raises(AssertionError, match=r"differ|beats|no end|equal"):
        simulated(cfg)


def test_word_of_32_bytes():
    with pytest.raises(ValueError, match=r"^word_bytes must be 4, 8 or 16, not 32$"):
        CombinedWords(replace(FULL, word_bytes=32))
