# amaranth: UnusedElaboratable=no
"""Map store: pipeline, host, clears and resolves at the same time, each on bytes of its own."""

import numpy as np
import pytest
from kit.cocotb_bench import run_cocotb
from kit.mutants import planted
from kit.packing import pack
from kit.stream import simulate
from kit.vlib import TRAFFIC, VerilatedBlock, assert_columns_equal, beats_of
from memory_bench import (
    BASE,
    BLOCKS,
    SMALL,
    apply_in_order,
    host_requests,
    operations,
)
from mutants.host_port import MUTANTS
from resolve_bench import columns_of, decoded_columns, map_part

from minmip.hw.config import FULL
from minmip.hw.map_store import MapStore
from minmip.hw.shapes import MemoryOp
from minmip.hw.word_beats import WORDS
from minmip.sim.golden.resolve import resolve
from minmip.sim.runners.verilator import Traffic

START = BASE * 256
WINDOW = {"base": BASE, "limit": BASE + BLOCKS}
"""Lanes of 4: 0 belongs to the pipeline, 1 to the host, 2 to the clears, 3 to the resolves; words
behind the 99th belong to the clears wholly."""


def narrow_parts(rng, count, cfg, encodes):
    """Parts one texel wide of a map of rows of 256 bytes; a share of them encodes."""
    rows = 100 * cfg.word_bytes // 256
    parts = []
    for _ in range(count):
        x, y = 4 * int(rng.integers(0, 64)) + 3, int(rng.integers(0, rows))
        size = (1, int(rng.integers(1, rows - y + 1)), 1)
        encode = rng.random() < encodes
        texels = rng.integers(0, 256, size[::-1]).astype(np.uint8) if encode else None
        kind = int(rng.integers(0, 3))
        parts.append(
            map_part(0, (256, rows, 1), (x, y, 0), size, kind=kind, texels=texels, base=START)
        )
    return parts


def four(rng, count, cfg, *, encodes=0.6):
    """Columns of all four requesters, and the bytes that must be there at the end."""
    every = sum(1 << lane for lane in range(0, cfg.word_bytes, 4))
    own, host = operations(rng, count, cfg), host_requests(rng, count // 3, cfg, tag_bits=8)
    first = START // cfg.word_bytes
    for columns in (own, host):
        columns["address"] = np.minimum(columns["address"], first + 99)
    own["mask"] = own["mask"] & every
    host["mask"] = host["mask"] & every << 1
    clears = count // 20
    word = rng.integers(0, 100, clears)
    short = {
        "start": START
        + word * cfg.word_bytes
        + 4 * rng.integers(0, cfg.word_bytes // 4, clears)
        + 2,
        "length": np.ones(clears, np.int64),
    }
    space = BLOCKS * 256 - 100 * cfg.word_bytes
    long = rng.random(clears) < 0.2
    at = rng.integers(0, space, clears)
    ranges = {
        "start": np.where(long, START + 100 * cfg.word_bytes + at, short["start"]),
        "length": np.where(long, rng.integers(0, 300, clears), short["length"]),
        "value": rng.integers(0, 256, clears),
        "tag": rng.integers(0, 256, clears),
    }
    memory = np.zeros(BLOCKS * 256, np.uint8)
    apply_in_order(memory, cfg, own | {"is_host": np.zeros(count, bool)})
    asked = host | {"op": np.full(len(host["tag"]), MemoryOp.SET)}
    answers = apply_in_order(memory, cfg, asked | {"is_host": np.ones(len(host["tag"]), bool)})
    error = ranges["start"] + ranges["length"] > START + BLOCKS * 256
    for at, length, value in zip(*(ranges[n] for n in ("start", "length", "value")), strict=True):
        memory[at - START : at - START + length] = value
    parts = narrow_parts(rng, count // 20, cfg, encodes)
    resolves = columns_of(rng, parts, cfg)
    texels = decoded_columns(parts, resolve(memory, START, parts), cfg)
    tag = resolves["i"]["tag"]
    return (
        {
            **{"i": own, "i_host": host, "i_clear": ranges},
            **{"i_resolve": resolves["i"], "i_texels": resolves["i_texels"]},
        },
        {
            "o_host": answers | {"tag": host["tag"]},
            "o_clear": {"error": error, "tag": ranges["tag"]},
            "o_resolve": {"error": np.zeros(len(tag)), "tag": tag},
            "o_texels": texels,
        },
        memory,
    )


def reads(cfg):
    address = START // cfg.word_bytes + np.arange(BLOCKS * 256 // cfg.word_bytes)
    columns = {
        "address": address,
        "data": np.zeros((len(address), cfg.word_bytes), np.int64),
        "mask": np.zeros(len(address), np.int64),
        "tag": address % 256,
    }
    return columns


def check(columns, wanted):
    """Compare; of the host's answers only its own bytes."""
    own = slice(1, None, 4)
    assert_columns_equal(columns["o_host"]["data"][:, own], wanted["o_host"]["data"][:, own])
    for name in ("o_host", "o_clear", "o_resolve"):
        for field in ("error", "tag"):
            assert_columns_equal(columns[name][field], wanted[name][field], f"{name}.{field}")
    found, texels = columns["o_texels"], wanted["o_texels"]
    assert_columns_equal(found["mask"], texels["mask"], "o_texels.mask")
    lanes = found["mask"][:, None] >> np.arange(found["texel"].shape[1]) & 1
    assert_columns_equal(found["texel"] * lanes, texels["texel"], "o_texels.texel")


def counts(wanted):
    return {name: beats_of(columns) for name, columns in wanted.items()}


@pytest.fixture(scope="module")
def store():
    block = VerilatedBlock(MapStore(FULL), "map_store")
    for name, value in WINDOW.items():
        block.model.set(name, value)
    return block


def clear_all(store):
    whole = {"start": [START], "length": [BLOCKS * 256], "value": [0], "tag": [1]}
    return store.run({"i_clear": whole}, {"o_host": 0, "o_clear": 1})


@pytest.mark.parametrize("traffic", TRAFFIC)
def test_four_requesters(store, traffic):
    clear_all(store)
    rng = np.random.default_rng(sorted(TRAFFIC).index(traffic))
    columns, wanted, memory = four(rng, 1000 if traffic == "long stalls" else 20_000, FULL)
    result, _ = store.run(columns, counts(wanted), traffic=traffic)
    check(result, wanted)
    after = store.run({"i_host": reads(FULL)}, {"o_host": BLOCKS * 16, "o_clear": 0})[0]
    np.testing.assert_array_equal(after["o_host"]["data"].ravel(), memory)


def test_read_ports(store):
    """The filter's ports see what the host wrote, each a word of its own."""
    columns = reads(FULL)
    words = len(columns["address"])
    data = np.random.default_rng(6).integers(0, 256, (words, FULL.word_bytes))
    columns |= {"data": data, "mask": np.full(words, (1 << FULL.word_bytes) - 1)}
    store.run({"i_host": columns}, {"o_host": words, "o_clear": 0})
    for first in range(0, 40, WORDS):
        for n in range(WORDS):
            store.model.set(f"reads__{n}__read_addr", first + n)
        store.model.run({}, {}, quiet=4)
        for n in range(WORDS):
            found = store.model.get(f"reads__{n}__read_data").to_bytes(16, "little")
            np.testing.assert_array_equal(np.frombuffer(found, np.uint8), data[first + n])


def test_host_that_leaves_its_answers(store):
    """The pipeline and a clear go on; the host's own requests wait."""
    columns = {
        "i_host": pack(store.inputs["i_host"], reads(FULL)),
        "i_clear": pack(
            store.inputs["i_clear"], {"start": [START], "length": [2000], "value": [3], "tag": [5]}
        ),
        "i": pack(store.inputs["i"], operations(np.random.default_rng(2), 500, FULL)),
    }
    run = store.model.run(
        columns,
        {"o_clear": 1, "o_host": 0},
        traffic={"o_host": Traffic(ready=1.0, longest=1 << 30)},
        max_cycles=2000,
    )
    assert run.given["o_clear"] == 1
    assert run.taken["i"] == 500
    assert 10 <= run.taken["i_host"] < 40  # as many as have a place
    store.model.reset()


def test_rates(store):
    """A clear, a resolve and the host's reads alone: one word per clock."""
    _, run = clear_all(store)
    assert run.output_stamps["o_clear"][0] - run.input_stamps["i_clear"][0] < BLOCKS * 16 + 25
    part = map_part(0, (256, 10, 1), (0, 0, 0), (256, 10, 1), base=START)
    resolves = columns_of(np.random.default_rng(1), [part], FULL)["i"]
    _, run = store.run({"i_resolve": resolves}, {"o_resolve": 1, "o_texels": 160})
    np.testing.assert_array_equal(np.diff(run.output_stamps["o_texels"]), 1)
    assert run.output_stamps["o_resolve"][0] - run.input_stamps["i_resolve"][0] == 160 + 29
    _, run = store.run({"i_host": reads(FULL)}, {"o_host": BLOCKS * 16, "o_clear": 0})
    np.testing.assert_array_equal(np.diff(run.output_stamps["o_host"]), 1)


def simulated(seed):
    columns, wanted, _ = four(np.random.default_rng(seed), 300, SMALL)
    result = simulate(
        MapStore(SMALL),
        columns,
        counts(wanted),
        traffic="both",
        seed=seed,
        ports=WINDOW,
        timeout=5000,
    )
    check(result, wanted)


def test_pysim():
    simulated(1)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_mutant_is_caught(mutant):
    with planted(mutant), pytest.raises(AssertionError):
        simulated(2)


def test_cocotb():
    """The host first writes and then reads words that nobody else touches."""
    rng = np.random.default_rng(3)
    columns, wanted, _ = four(
        rng, 300, SMALL, encodes=1
    )  # lanes beside a rectangle may be anything
    count = 60
    place = 200 + np.arange(2 * count) % count
    data = rng.integers(0, 256, (2 * count, SMALL.word_bytes))
    data[count:] = data[:count]
    tag = rng.integers(0, 256, 2 * count)
    host = {
        "address": START // SMALL.word_bytes + place,
        "data": data,
        "mask": np.where(np.arange(2 * count) < count, 15, 0),
        "tag": tag,
    }
    ranges = columns["i_clear"]
    ranges["start"] = np.minimum(ranges["start"], START + 99 * SMALL.word_bytes)
    ranges["length"] = np.minimum(ranges["length"], 8)
    answers = {"data": data, "error": np.zeros(2 * count, np.int64), "tag": tag}
    clears = {"error": np.zeros(len(ranges["tag"]), np.int64), "tag": ranges["tag"]}
    run_cocotb(
        MapStore(SMALL),
        "map_store",
        columns | {"i_host": host, "i_clear": ranges},
        {"o_host": answers, "o_clear": clears, "o_resolve": wanted["o_resolve"]},
        ports=WINDOW,
    )
