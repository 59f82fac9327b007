# amaranth: UnusedElaboratable=no
"""Words of a beat: addresses against `sim.golden.address`, bytes against their plain rule.

MINMIP_LONG=1 sends 50 times the beats; MINMIP_FIRST_SEED (default 1) is printed on a failure.
"""

from dataclasses import replace

import numpy as np
import pytest
from footprint_vectors import masked_data
from kit.cocotb_bench import run_cocotb
from kit.mutants import planted
from kit.stream import simulate
from kit.vlib import LONG, SEED, TRAFFIC, VerilatedBlock, assert_columns_equal
from mutants.word_addresses import MUTANTS

from minmip.hw.config import FULL, SMALL
from minmip.hw.shapes import MemoryOp
from minmip.hw.word_addresses import WordAddresses
from minmip.sim.golden.address import map_layout, texel_address

CONFIGS = {
    "4 bytes": replace(SMALL, word_bytes=4),
    "16 bytes": FULL,
    "8 bytes, linear": replace(FULL, word_bytes=8, swizzle_modes=frozenset({0})),
    "swizzled": replace(FULL, swizzle_modes=frozenset({1})),
}
HEAD = {"code": 32, "flush": 2, "tag": 65536, "last": 2, "op": 4}


def random_maps(rng, count, cfg):
    """Flat maps of any size up to the largest: layout, size, mips."""
    sides = np.minimum(2.0 ** rng.uniform(0, 14.01, (count, 2)), 16384)
    size = np.concatenate([sides, np.ones((count, 1))], 1).astype(np.int64)
    size[:, :2] = np.where(rng.random((count, 2)) < 0.2, 16384 - size[:, :2] % 3, size[:, :2])
    longest = np.log2(size[:, :2].max(1)).astype(np.int64) + 1
    mips = 1 + rng.integers(0, 1 << 30, count) % longest
    sw_mode = rng.choice(np.array(sorted(cfg.swizzle_modes)), count)
    base = rng.integers(0, 1 << 40, count) << 8
    return map_layout(sw_mode, base, size, mips, np.zeros(count, bool)), size, mips


def random_texels(rng, op, cfg):
    """(lanes and rank, words): any texels; the smallest value of a byte wins, or the largest."""
    count, lanes = len(op), cfg.lanes
    shape = (count, lanes)
    fields = {name: rng.integers(0, 4, shape) for name in ("second_row", "second_column")}
    joins = rng.integers(0, 16, shape) * (rng.random(shape) < 0.8)
    value = rng.integers(0, 256, shape) >> rng.choice([0, 6], (count, 1))
    byte = rng.integers(0, cfg.word_bytes, (*shape, 2))
    flip = np.where(op == MemoryOp.MAX, 0xFF, 0)
    order = np.argsort(value ^ flip[:, None], axis=1, kind="stable")
    strongest = np.full((count, 4, cfg.word_bytes), 256)
    for lane, row, column in np.ndindex(lanes, 2, 2):
        beat = np.nonzero(joins[:, lane] >> (2 * row + column) & 1)[0]
        second = [fields[name][beat, lane] for name in ("second_row", "second_column")]
        word = 2 * (second[0] >> row & 1) + (second[1] >> column & 1)
        place = beat, word, byte[beat, lane, column]
        strongest[place] = np.minimum(strongest[place], value[beat, lane] ^ flip[beat])
    written = strongest < 256
    words = {
        "valid": written.any(2),
        "mask": (written << np.arange(cfg.word_bytes)).sum(2),
        "data": (strongest ^ flip[:, None, None]) * written,
    }
    lane = fields | {"joins": joins, "value": value, "byte": byte}
    return {"lane": lane, "rank": 1 << order}, words


def random_beats(rng, count, cfg):
    """(input columns, golden output): any words of random maps, half of them on a border."""
    maps = max(1, count // 64)
    layout, size, mips = random_maps(rng, maps, cfg)
    row = rng.integers(0, maps, count)
    mip = rng.integers(0, 1 << 30, count) % mips[row]
    last = np.maximum(1, size[row, :2] >> mip[:, None])[..., None] - 1
    inside = rng.integers(0, 1 << 30, (count, 2, 2)) % (last + 1)
    texel = np.choose(rng.integers(0, 4, inside.shape), [inside, inside, last, 0])
    x, y = texel[:, 0], texel[:, 1]
    slice_ = rng.integers(0, 8192, count)
    head = {name: rng.integers(0, limit, count) for name, limit in HEAD.items()}
    head["context"] = rng.integers(0, cfg.descriptor_entries, count)
    texels, words = random_texels(rng, head["op"], cfg)
    columns = layout.pitch[:, 0] >> np.where(layout.swizzled, 4, 8)
    control = {
        "base": layout.base >> 8,
        "columns": columns - 1,
        "chain": layout.chain_bytes >> 8,
        "mip_offset": layout.offset >> 8,
        "swizzled": layout.swizzled,
    }
    beats = {
        "beat": head | {"mip": mip, "slice": slice_, "x": x, "y": y} | texels,
        "control": {name: column[row] for name, column in control.items()},
    }
    address = [
        texel_address(layout, row, mip, x[:, word & 1], y[:, word >> 1], slice_)
        for word in range(4)
    ]
    address = (np.stack(address, 1) & (1 << 48) - 1) >> cfg.word_log2
    return beats, head | {"word": words | {"address": address}}


@pytest.fixture(scope="module", params=CONFIGS)
def unit(request):
    return VerilatedBlock(WordAddresses(CONFIGS[request.param]), "word_addresses")


def check(unit, beats, traffic="full", seed=1):
    sent, wanted = beats
    result, run = unit.run({"i": sent}, len(wanted["tag"]), traffic=traffic, seed=seed)
    assert_columns_equal(masked_data(result["o"]), wanted)
    return run


def test_random(unit):
    for seed in range(SEED, SEED + (50 if LONG else 1)):
        print("seed", seed)
        run = check(unit, random_beats(np.random.default_rng(seed), 20_000, unit.block.cfg))
        assert run.cycles < 20_000 + 300  # one beat per clock
        assert run.output_stamps["o"][0] - run.input_stamps["i"][0] == 10


@pytest.mark.parametrize("traffic", TRAFFIC)
def test_traffic(unit, traffic):
    count = 300 if traffic == "long stalls" else 2000
    check(unit, random_beats(np.random.default_rng(2), count, unit.block.cfg), traffic, seed=3)


def simulated(traffic="full"):
    """A few beats in Amaranth's simulator."""
    cfg = CONFIGS["4 bytes"]
    sent, wanted = random_beats(np.random.default_rng(4), 300, cfg)
    result = simulate(WordAddresses(cfg), {"i": sent}, 300, traffic=traffic)
    assert_columns_equal(masked_data(result["o"]), wanted)
    return sent, result["o"]


def test_pysim():
    simulated("both")


def test_cocotb():
    # What the simulator gives is checked there, and fills what may be anything.
    sent, words = simulated()
    run_cocotb(WordAddresses(CONFIGS["4 bytes"]), "word_addresses", {"i": sent}, {"o": words})


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_mutant(mutant):
    with planted(mutant), pytest.raises(AssertionError, match="differ"):
        simulated()
