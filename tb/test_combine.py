# amaranth: UnusedElaboratable=no
"""Combine stage, with the bytes of its words, against a plain statement of its rule and
`sim.golden.combine`.

MINMIP_LONG=1 sends 20 times the beats; MINMIP_FIRST_SEED (default 1) is printed on a failure.
"""

from dataclasses import replace

import numpy as np
import pytest
from combined_words import CombinedWords
from footprint_vectors import (
    masked_data,
    random_footprints,
    scattered_footprints,
    texels,
    word_beats,
)
from kit.cocotb_bench import run_cocotb
from kit.mutants import planted
from kit.stream import simulate
from kit.vlib import LONG, SEED, TRAFFIC, VerilatedBlock, assert_columns_equal
from mutants.combine import MUTANTS

from minmip.hw.config import FULL
from minmip.sim.golden.combine import BEATS_PER_QUAD, combine

TWO_LANES = replace(FULL, lanes=2, lod_units=1, word_bytes=4)
QUADS = 4000
"""What the golden model takes at once."""
CONFIGS = {
    f"{lanes} lanes, {word_bytes} bytes": replace(
        FULL, lanes=lanes, lod_units=1, word_bytes=word_bytes
    )
    for lanes, word_bytes in ((1, 4), (2, 8), (4, 16))
}


def settled(columns):
    """Columns with 0 where anything may be: data without mask; place, operation without words."""
    some = columns["word"]["valid"].any(1)
    place = {
        name: np.where(some if columns[name].ndim == 1 else some[:, None], columns[name], 0)
        for name in ("mip", "slice", "x", "y", "op")
    }
    return masked_data(columns) | place


def writes(words):
    """(beat, mip, slice, y, x) and value of every byte written, sorted; the beat is its tag."""
    word, word_bytes = words["word"], words["word"]["data"].shape[-1]
    number, place, byte = np.nonzero(word["mask"][..., None] >> np.arange(word_bytes) & 1)
    y = words["y"][number, place >> 1]
    x = words["x"][number, place & 1] // word_bytes * word_bytes + byte
    found = [words["tag"][number], words["mip"][number], words["slice"][number], y, x]
    found = np.stack([*found, word["data"][number, place, byte]])
    return found[:, np.lexsort(found[::-1])]


def golden_writes(beats, cfg):
    """The same by the golden model; tags must differ."""
    beat, _, _, _, *key, value = texels(beats, cfg.lanes)
    # The model takes addresses of 38 bits: any number will do that stands for one map texel.
    places, offset = np.unique(np.stack(key), axis=1, return_inverse=True)
    offset, kind = offset.ravel(), beats["linked"]
    parts = []
    for start in range(0, len(kind), QUADS):
        now = (beat >= start) & (beat < start + QUADS)
        number = (beat[now] - start) * BEATS_PER_QUAD
        merged = combine(number, offset[now], value[now], kind[start : start + QUADS])
        tag = beats["tag"][start + merged.quad]
        parts.append(np.stack([tag, *places[:, merged.offset], merged.value]))
    found = np.concatenate(parts, axis=1)
    return found[:, np.lexsort(found[::-1])]


@pytest.fixture(scope="module", params=CONFIGS)
def unit(request):
    return VerilatedBlock(CombinedWords(CONFIGS[request.param]), "combine")


def check(unit, beats, traffic="full", seed=1):
    wanted = settled(word_beats(beats, unit.block.cfg))
    result, run = unit.run({"i": beats}, len(wanted["tag"]), traffic=traffic, seed=seed)
    assert_columns_equal(settled(result["o"]), wanted)
    return result["o"], run


def test_random(unit):
    for seed in range(SEED, SEED + (40 if LONG else 2)):
        print("seed", seed)
        beats = random_footprints(np.random.default_rng(seed), 15_000, unit.block.cfg)
        words = check(unit, beats)[0]
        np.testing.assert_array_equal(writes(words), golden_writes(beats, unit.block.cfg))


@pytest.mark.parametrize("distance", [0, 1, 2])
def test_clocks(unit, distance):
    """A beat in the words of one lane takes one clock; lanes apart, or partly, one clock each."""
    cfg = unit.block.cfg
    clocks = cfg.lanes if distance else 1
    beats = scattered_footprints(np.random.default_rng(1), 10_000, cfg, distance=distance)
    _, run = check(unit, beats)
    stamps = run.output_stamps["o"]
    assert stamps[0] - run.input_stamps["i"][0] == 12 + cfg.lanes
    assert len(stamps) == 10_000 * clocks
    assert stamps[-1] - stamps[0] == len(stamps) - 1  # no bubble


@pytest.mark.parametrize("traffic", TRAFFIC)
def test_traffic(unit, traffic):
    count = 200 if traffic == "long stalls" else 3000
    check(unit, random_footprints(np.random.default_rng(2), count, unit.block.cfg), traffic, seed=3)


@pytest.mark.parametrize(("lanes", "word_bytes"), [(4, 4), (2, 16), (1, 8)])
def test_pysim(lanes, word_bytes):
    simulated(replace(FULL, lanes=lanes, lod_units=1, word_bytes=word_bytes))


def simulated(cfg, count=200):
    """A few beats in Amaranth's simulator, with stalls on both sides."""
    beats = random_footprints(np.random.default_rng(4), count, cfg)
    wanted = settled(word_beats(beats, cfg))
    groups = len(wanted["tag"])
    result = simulate(
        CombinedWords(cfg), {"i": beats}, groups, traffic="both", timeout=200 + 6 * groups
    )
    assert_columns_equal(settled(result["o"]), wanted)
    return beats, result["o"]


def test_cocotb():
    # What the simulator gives is checked there, and fills what may be anything.
    beats, words = simulated(TWO_LANES)
    run_cocotb(CombinedWords(TWO_LANES), "combine", {"i": beats}, {"o": words})


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_mutant(mutant):
    with planted(mutant), pytest.raises(AssertionError, match=r"differ|beats|no end"):
        simulated(TWO_LANES)


def test_word_of_32_bytes():
    with pytest.raises(ValueError, match=r"^word_bytes must be 4, 8 or 16, not 32$"):
        CombinedWords(replace(FULL, word_bytes=32))
