# amaranth: UnusedElaboratable=no
"""Descriptor decode against `sim.golden.descriptor` and `sim.golden.address`."""

from dataclasses import replace

import numpy as np
import pytest
from amaranth.hdl import Module
from amaranth.lib import stream, wiring
from amaranth.sim import Simulator
from descriptor_vectors import (
    EVERY,
    MAP_FIELDS,
    MEMORY_BASE,
    MEMORY_BYTES,
    HeldPairs,
    Pairs,
    assert_control_equal,
    edge_maps,
    golden_codes,
    golden_control,
    large_maps,
    legal_pair,
    map_pairs,
    one_rule_broken,
    random_pairs,
    request_columns,
)
from kit.cocotb_bench import run_cocotb
from kit.mutants import planted
from kit.packing import ints_of_beats, pack
from kit.stream import simulate
from kit.vlib import LONG, TRAFFIC, VerilatedBlock
from layout_corners import corner_maps
from map_vectors import random_maps
from mutants.descriptor_decode import ANSWERS, HELD, MOVED

from minmip.hw.config import PLAIN_MODES, PRESETS, UnitConfig
from minmip.hw.descriptor_decode import DescriptorDecode
from minmip.hw.descriptor_words import S_FIELDS, T_FIELDS
from minmip.hw.shapes import descriptor_request
from minmip.sim.trace import FLAG_GATHER, FLAG_OFFSET

MISS = 31
"""Clocks from one answer to the next when that one misses."""
MOST = 32
"""What the issue allows a miss."""
BOUNDS = {
    "memory_base": MEMORY_BASE >> 8,
    "memory_limit": MEMORY_BASE + MEMORY_BYTES >> 8,
}
"""Of the memory, in 256-byte blocks."""
SMALL = UnitConfig(
    swizzle_modes=frozenset({9}),
    resource_types=frozenset({9, 13}),
    linked_types=frozenset({1, 2}),
    descriptor_entries=1,
)
CONFIGS = {"full": EVERY, "flat": PRESETS["small"], "small": SMALL}
if LONG:
    CONFIGS["plain"] = replace(EVERY, swizzle_modes=PLAIN_MODES)
MODE_BYTES = 1 << 22
"""Memory for maps of a few blocks of 64 KB."""


class Unit:
    """A verilated block and its parameters."""

    def __init__(self, cfg):
        self.cfg = cfg
        self.block = VerilatedBlock(DescriptorDecode(cfg), "descriptor_decode")
        self.held = HeldPairs(cfg)
        self.memory = 0, 0
        self.bound()

    def reset(self):
        self.block.model.reset()
        self.held.reset()

    def bound(self, base=MEMORY_BASE, size=MEMORY_BYTES):
        if self.memory != (base, size):
            self.held.drop()
        self.memory = base, size
        self.block.model.set("memory_base", base >> 8)
        self.block.model.set("memory_limit", base + size >> 8)

    def check(self, pairs, index, flags=None, traffic="full", seed=1):
        """Run requests, compare every answer; return error codes and the clocks of the answers."""
        flags = np.zeros(len(index), np.int64) if flags is None else flags
        columns = request_columns(pairs, index, flags)
        result, run = self.block.run({"i": columns}, len(index), traffic=traffic, seed=seed)
        codes = golden_codes(pairs, index, flags, self.cfg, *self.memory)
        wanted = golden_control(pairs, self.cfg, *self.memory)
        assert_control_equal(result["o"], wanted, index, codes, self.held.answers(pairs, index))
        return codes, run.output_stamps["o"].astype(np.int64)


@pytest.fixture(scope="module", params=CONFIGS)
def unit(request):
    return Unit(CONFIGS[request.param])


@pytest.fixture(scope="module")
def full_unit():
    return Unit(EVERY)


def random_requests(rng, count, pairs):
    """Mostly from a few pairs at a time (hits), else from all; some with flags."""
    fresh = rng.integers(0, pairs, count)
    few = np.repeat(rng.integers(0, pairs - 8, count // 500 + 1), 500)[:count]
    few += (rng.random(count) ** 2 * 6).astype(np.int64)
    flags = np.where(rng.random(count) < 0.03, rng.integers(0, 8, count), 0)
    return np.where(rng.random(count) < 0.03, fresh, few), flags


def test_random(unit):
    """All codes and every mode; a million and more requests in long runs."""
    unit.bound(size=MODE_BYTES)
    seen = np.zeros(32, np.int64)
    for seed in range(12 if LONG else 1):
        rng = np.random.default_rng(seed)
        pairs = random_pairs(seed, 6000, MODE_BYTES, unit.cfg.swizzle_modes)
        index, flags = random_requests(rng, 100_000, len(pairs))
        codes, _ = unit.check(pairs, index, flags)
        seen += np.bincount(codes, minlength=32)
    unit.bound()
    assert set(np.flatnonzero(seen)) == {*range(19), 31}


@pytest.mark.parametrize("traffic", TRAFFIC)
def test_traffic(unit, traffic):
    count = 300 if traffic == "long stalls" else 3000
    rng = np.random.default_rng(2)
    pairs = random_pairs(3, 200)
    index, flags = random_requests(rng, count, len(pairs))
    unit.check(pairs, index, flags, traffic, seed=3)


def test_each_code(full_unit):
    """One rule broken at a time: exactly its code."""
    pairs, codes = one_rule_broken()
    found, _ = full_unit.check(pairs, np.arange(len(pairs)))
    np.testing.assert_array_equal(found, codes)
    assert set(codes.tolist()) >= {2, 3, *range(5, 14), *range(14, 19), 31}


def test_flags(full_unit):
    """Offset is code 1, gather 4, and the lowest code wins."""
    pairs, codes = one_rule_broken()
    index = np.repeat(np.arange(len(pairs)), 4)
    flags = np.tile([0, FLAG_OFFSET, FLAG_GATHER, FLAG_OFFSET | FLAG_GATHER], len(pairs))
    found, _ = full_unit.check(pairs, index, flags)
    gathered = np.where((codes > 0) & (codes < 4), codes, 4)
    wanted = np.stack([codes, np.ones_like(codes), gathered, np.ones_like(codes)], axis=1)
    np.testing.assert_array_equal(found, wanted.ravel())


def test_large_maps(unit):
    """Largest and smallest maps of every layout, in all of 48 bits of memory."""
    unit.bound(0, 1 << 48)
    pairs = large_maps(unit.cfg.swizzle_modes)
    codes, _ = unit.check(pairs, np.arange(len(pairs)))
    unit.bound()
    assert (codes == 0).sum() > len(pairs) // 9


def test_layouts(unit):
    """Maps at the corners of the layout rules, and of any size, in all of 48 bits of memory."""
    rng = np.random.default_rng(12)
    unit.bound(0, 1 << 48)
    for maps in (corner_maps(unit.cfg), random_maps(rng, 10_000 if LONG else 500, unit.cfg)):
        pairs = map_pairs(maps)
        codes, _ = unit.check(pairs, np.arange(len(pairs)))
        if unit.cfg.volumes:
            assert (codes == 0).sum() > len(pairs) // 2
    unit.bound()


def test_edges_of_memory(full_unit):
    """Maps that end with the memory are inside, those one block farther or before it are not."""
    for base, size in ((MEMORY_BASE, MEMORY_BYTES), (0, 1 << 48), ((1 << 48) - 4096, 4096)):
        full_unit.bound(base, size)
        pairs, codes = edge_maps(base, size)
        found, _ = full_unit.check(pairs, np.arange(len(pairs)))
        np.testing.assert_array_equal(found, codes)
        assert set(codes.tolist()) == {0, 31}
    full_unit.bound()


def test_new_bounds_drop_entries(full_unit):
    """The same pairs are judged anew when the memory has moved."""
    pairs = legal_pair()
    index = np.zeros(20, np.int64)
    full_unit.check(pairs, index)
    full_unit.bound(MEMORY_BASE, 0)
    codes, _ = full_unit.check(pairs, index)
    assert (codes == 31).all()
    full_unit.bound()
    codes, _ = full_unit.check(pairs, index)
    assert (codes == 0).all()


def lru_hits(index, entries):
    """Which requests find their pair among the `entries` least recently asked for."""
    held, hits = [], []
    for pair in index.tolist():
        hits.append(pair in held)
        held = [other for other in held if other != pair][-(entries - 1) :] if entries > 1 else []
        held.append(pair)
    return np.array(hits)


def assert_timing(stamps, hits):
    """A hit comes one clock after the request before, a miss `MISS` clocks."""
    np.testing.assert_array_equal(np.diff(stamps), np.where(hits[1:], 1, MISS))


@pytest.mark.parametrize("over", [0, 1])
def test_alternating(unit, over):
    """D pairs in turn cost no clock, D + 1 at most 32 each."""
    entries = unit.cfg.descriptor_entries
    pairs = random_pairs(4, 20)
    index = np.arange(400) % (entries + over)
    _, stamps = unit.check(pairs, index)
    gaps = np.diff(stamps)[entries - 1 :]
    assert (gaps == 1).all() if not over else (gaps <= MOST).all()


def test_two_alternating(full_unit):
    pairs = random_pairs(4, 20)
    _, stamps = full_unit.check(pairs, 7 + np.arange(400) % 2)
    assert (np.diff(stamps)[1:] == 1).all()


@pytest.mark.parametrize("entries", [3, 16] if LONG else [3])
def test_least_recent_goes(entries):
    """Timing tells which pairs are held: the least recently asked for, always."""
    unit = Unit(replace(EVERY, descriptor_entries=entries))
    rng = np.random.default_rng(5)
    pairs = random_pairs(6, 3 * entries)
    index = rng.integers(0, len(pairs), 2000) % np.repeat(rng.integers(1, len(pairs), 100), 20)
    _, stamps = unit.check(pairs, index)
    hits = lru_hits(index, entries)
    assert 100 < hits.sum() < 1900
    assert_timing(stamps, hits)


def bit_pairs(words, bits):
    """The words as they are, then with each of the bits turned over."""
    out = np.repeat(words, len(bits) + 1, axis=0)
    for row, bit in enumerate(bits):
        out[row + 1, bit // 32] ^= np.uint32(1 << bit % 32)
    return out


def split_bits(fields, width):
    """Bits of a word that have an effect, and the others."""
    used = {bit for low, count in fields.values() for bit in range(low, low + count)}
    return sorted(used), sorted(set(range(width)) - used)


def test_every_bit_of_the_key(full_unit):
    """Each bit with an effect makes another pair, no other bit does."""
    legal = legal_pair()
    image, sampler = legal.image, legal.sampler
    t_used, t_idle = split_bits(T_FIELDS, 256)
    s_used, s_idle = split_bits(S_FIELDS, 128)
    parts = []
    for t_bits, s_bits in ((t_used, s_used), (t_idle, s_idle)):
        images = bit_pairs(image, t_bits)
        samplers = bit_pairs(sampler, s_bits)[1:]
        parts.append(np.concatenate([images, np.repeat(image, len(samplers), axis=0)]))
        parts.append(np.concatenate([np.repeat(sampler, len(images), axis=0), samplers]))
    used, idle = Pairs(*parts[:2]), Pairs(*parts[2:])
    # The original in between is always a hit, the other one never.
    index = np.zeros(2 * len(used), np.int64)
    index[1::2] = np.arange(len(used))
    _, stamps = full_unit.check(used, index)
    hits = index == 0
    assert_timing(stamps[4:], hits[4:])
    _, stamps = full_unit.check(idle, np.arange(len(idle)))
    assert_timing(stamps, np.ones(len(idle), bool))


def test_reset_empties_the_store(full_unit):
    """In the middle of anything; the first request afterwards misses."""
    pairs, zero = legal_pair(), np.zeros(1, np.int64)
    model = full_unit.block.model
    others = request_columns(random_pairs(7, 30), np.arange(30), np.zeros(30, np.int64))
    for clocks in (5, 12, 20, 30, 60):
        full_unit.check(pairs, zero)
        model.run({"i": pack(descriptor_request(), others)}, {"o": 30}, max_cycles=clocks)
        full_unit.reset()
        _, stamps = full_unit.check(pairs, zero)
        assert stamps[0] >= MISS


class Meaningful(wiring.Component):
    """The block with fixed bounds; what means nothing in an answer is 0."""

    i: stream.Interface
    o: stream.Interface

    def __init__(self):
        self.decode = DescriptorDecode(EVERY)
        members = self.decode.signature.members
        super().__init__({name: members[name] for name in "io"})

    def elaborate(self, platform):
        m = Module()
        m.submodules.decode = decode = self.decode
        wiring.connect(m, wiring.flipped(self.i), decode.i)
        answer = decode.o.payload
        m.d.comb += [
            decode.memory_base.eq(BOUNDS["memory_base"]),
            decode.memory_limit.eq(BOUNDS["memory_limit"]),
            self.o.valid.eq(decode.o.valid),
            decode.o.ready.eq(self.o.ready),
            self.o.payload.code.eq(answer.code),
            self.o.payload.tag.eq(answer.tag),
            self.o.payload.entry.eq(answer.entry),
            self.o.payload.fresh.eq(answer.fresh),
        ]
        for name in golden_control(legal_pair(), EVERY):
            means = answer.linked.any() if name in MAP_FIELDS else 1
            with m.If((answer.code == 0) & means):
                m.d.comb += self.o.payload[name].eq(answer[name])
        return m


def meaningful(pairs, index, flags):
    """Columns of `Meaningful.o`."""
    codes = golden_codes(pairs, index, flags, EVERY)
    wanted = {"code": codes, "tag": np.arange(len(index)) & 255}
    wanted |= HeldPairs(EVERY).answers(pairs, index)
    columns = {name: np.array(part)[index] for name, part in golden_control(pairs, EVERY).items()}
    for name, column in columns.items():
        dead = codes != 0
        if name in MAP_FIELDS:
            dead |= columns["linked"] == 0
        wanted[name] = np.where(dead.reshape(-1, *[1] * (column.ndim - 1)), 0, column)
    return wanted


def test_cocotb():
    rng = np.random.default_rng(8)
    pairs = random_pairs(8, 40)
    index = np.where(rng.random(150) < 0.2, rng.integers(0, 40, 150), rng.integers(0, 3, 150))
    flags = np.where(rng.random(150) < 0.1, rng.integers(0, 8, 150), 0)
    columns = request_columns(pairs, index, flags)
    run_cocotb(
        Meaningful(), "descriptor_decode", {"i": columns}, {"o": meaningful(pairs, index, flags)}
    )


def simulated(pairs, index, flags, traffic="full"):
    """Requests in Amaranth's simulator."""
    columns, count = request_columns(pairs, index, flags), len(index)
    block = DescriptorDecode(EVERY)
    result = simulate(block, {"i": columns}, count, traffic=traffic, ports=BOUNDS)
    codes = golden_codes(pairs, index, flags, EVERY)
    held = HeldPairs(EVERY).answers(pairs, index)
    assert_control_equal(result["o"], golden_control(pairs, EVERY), index, codes, held)


def test_pysim():
    rng = np.random.default_rng(9)
    index = rng.integers(0, 40, 150) % rng.integers(3, 40, 150)
    simulated(random_pairs(9, 40), index, rng.integers(0, 8, 150) % 3, "both")


def rules_and_edges():
    """Pairs that break each rule, with flags too, and maps at the memory's ends."""
    parts = [one_rule_broken()[0], edge_maps(MEMORY_BASE, MEMORY_BYTES)[0]]
    pairs = Pairs(
        np.concatenate([part.image[:90] for part in parts])[:100],
        np.concatenate([part.sampler[:90] for part in parts])[:100],
    )
    index = np.arange(len(pairs)).repeat(2)
    return pairs, index, np.where(index < 8, np.arange(len(index)) % 2 * FLAG_GATHER, 0)


def test_pysim_rules():
    simulated(*rules_and_edges())


@pytest.mark.parametrize("mutant", ANSWERS, ids=lambda mutant: mutant.name)
def test_mutant_answers(mutant):
    with planted(mutant), pytest.raises(AssertionError, match=r"differ|no end|changed"):
        simulated(*rules_and_edges())


def held_in_time():
    """In Amaranth's simulator, in no more clocks than least recently used pairs need."""
    pairs = random_pairs(10, 6)
    index = np.array([0, 1, 2, 3, 0, 1, 4, 0, 1, 3, 5, 0, 1, 2, 3])
    misses = (~lru_hits(index, 4)).sum()
    columns = request_columns(pairs, index, np.zeros_like(index))
    timeout = int(misses) * MISS + len(index) + 8 + 20
    block = DescriptorDecode(EVERY)
    simulate(block, {"i": columns}, len(index), ports=BOUNDS, extra=10, timeout=timeout)


def test_held_in_time():
    held_in_time()


@pytest.mark.parametrize("mutant", HELD, ids=lambda mutant: mutant.name)
def test_mutant_held(mutant):
    with planted(mutant), pytest.raises(AssertionError, match="no end"):
        held_in_time()


def moving(pairs, index, moves):
    """Codes when the memory's size changes in given clocks, [(clock, bytes)], and the clocks of
    acceptance and answer.

    Checks that whoever keeps what the fresh answer of an entry says knows all about the others.
    """
    block = DescriptorDecode(EVERY)
    columns = request_columns(pairs, index, np.zeros_like(index))
    beats = ints_of_beats(pack(descriptor_request(), columns))
    accepted, answered, codes, clock = [], [], [], 0
    steps, kept, differ = dict(moves), {}, 0

    async def bench(ctx):
        nonlocal clock, differ
        ctx.set(block.memory_base, BOUNDS["memory_base"])
        ctx.set(block.o.ready, 1)
        while len(codes) < len(beats):
            if clock in steps:
                ctx.set(block.memory_limit, MEMORY_BASE + steps[clock] >> 8)
            left = len(accepted) < len(beats)
            ctx.set(block.i.valid, left)
            if left:
                ctx.set(block.i.payload.as_value(), beats[len(accepted)])
            _, _, taken, valid, answer = await ctx.tick().sample(
                block.i.ready & block.i.valid, block.o.valid, block.o.payload
            )
            if taken:
                accepted.append(clock)
            if valid:
                answered.append(clock)
                codes.append(answer.code)
                says = (
                    answer.code,
                    *(
                        answer[name].as_bits() if hasattr(answer[name], "as_bits") else answer[name]
                        for name in ("base", "size", "mip_offset", "lod_bias")
                    ),
                )
                if answer.fresh:
                    kept[answer.entry] = says
                differ += kept.get(answer.entry) != says
            clock += 1
            assert clock < 100 * len(beats), "no end"

    simulator = Simulator(block)
    simulator.add_clock(1e-8)
    simulator.add_testbench(bench)
    simulator.run()
    assert differ == 0, f"{differ} answers differ from the fresh one of their entry"
    return np.array(accepted), np.array(answered), np.array(codes)


def check_moving():
    """Bounds that change in any clock of a decode: the old or the new ones, and no mix."""
    rng = np.random.default_rng(11)
    pairs = random_pairs(11, 60, 1 << 12)
    sizes = [1 << 12, 1024, 0]
    zero = np.zeros(60, np.int64)
    by_size = [golden_codes(pairs, np.arange(60), zero, EVERY, MEMORY_BASE, size) for size in sizes]
    # Three pairs that are held all the time, unless the memory moves.
    few = np.flatnonzero((by_size[0] == 0) & (by_size[2] == 31))[:3]
    index = few[rng.integers(0, 3, 1500)]
    starts = np.cumsum([0, *rng.integers(5, 120, 50)])
    moves = [(int(clock), sizes[n % 3]) for n, clock in enumerate(starts)]
    accepted, answered, codes = moving(pairs, index, moves)
    wanted = np.array([by_size[n % 3][index] for n in range(len(moves))])
    first = np.searchsorted(starts, accepted, "right") - 1
    last = np.searchsorted(starts, answered, "right") - 1
    right = np.array(
        [code in wanted[first[row] : last[row] + 1, row] for row, code in enumerate(codes)]
    )
    assert right.all(), f"{(~right).sum()} codes differ from all bounds since acceptance"
    assert last[-1] > 20


def test_memory_moves():
    check_moving()


@pytest.mark.parametrize("mutant", MOVED, ids=lambda mutant: mutant.name)
def test_mutant_moved(mutant):
    with planted(mutant), pytest.raises(AssertionError, match="differ"):
        check_moving()
