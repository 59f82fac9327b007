# amaranth: UnusedElaboratable=no
"""The whole unit, verilated, against the golden model: answers, pattern and every byte of memory.

MINMIP_LONG=1 sends 10^6 quads through each preset and tries other parameters too, each a build of
minutes. MINMIP_FIRST_SEED (default 1) is printed on a failure.
"""

from dataclasses import replace

import numpy as np
import pytest
from acceptance_vectors import GRADIENTS, TEXELS, check_gradient, check_texel
from filter_vectors import check_filter_examples
from kit.mutants import planted
from kit.vlib import LONG, SEED, TRAFFIC
from map_vectors import with_pipe_xor
from mutants.top import MUTANTS
from random_traces import KINDS, random_trace
from unit_bench import UnitBench, cut, requests, unit_bench, with_flushes
from unit_others import random_others, untouched

from minmip.hw.build import verilog
from minmip.hw.config import DEFAULT, FULL, PRESETS, SMALL
from minmip.sim import golden
from minmip.sim.compare import differences
from minmip.sim.runners import verilated_unit
from minmip.sim.runners.pysim import SimulatedUnit
from minmip.sim.runners.unit import PATIENCE, TOP, window
from minmip.sim.runners.verilator import Design

BUILT = ("small", "default", "full")
OTHERS = {
    "lanes2": replace(FULL, lanes=2, lod_units=2),
    "units1": replace(FULL, lod_units=1),
    "units2": replace(FULL, lod_units=2),
    "word4": replace(FULL, word_bytes=4, combine_entries=2),
    "word8": replace(DEFAULT, word_bytes=8, memory_latency=1),
    "one_entry": replace(SMALL, descriptor_entries=1, combine_age=16, memory_latency=3),
    "many_entries": replace(SMALL, descriptor_entries=16, combine_entries=32, memory_latency=5),
    "pipe_xor": replace(DEFAULT, **with_pipe_xor("anaconda")),
    "latency4": replace(SMALL, word_bytes=4, combine_age=1 << 16, memory_latency=4),
}
MUTATED = replace(SMALL, resource_types=FULL.resource_types)
"""The smallest build with everything in it."""
STREAMS = ("i", "o", "o_pattern", "i_host", "o_host", "i_clear", "o_clear")


def send(cfg, seed, quads, kind, *, traffic="full", reset_after=0, change=None):
    """A random trace with flushes in it, host and clears beside it."""
    bench = unit_bench(cfg)
    rng = np.random.default_rng(seed)
    trace = random_trace(rng, quads, kind, cfg.swizzle_modes)
    if change is not None:
        trace = change(rng, trace)
    places = np.sort(rng.choice(quads, quads // 50, replace=False))
    return bench.run(
        trace,
        f"seed {seed}, {quads} quads, kind {kind!r}, traffic {traffic!r}, {cfg}",
        traffic=traffic,
        seed=seed,
        places=places,
        others=random_others(rng, trace, bench.cfg, quads // 5),
        reset_after=reset_after,
    )


@pytest.mark.parametrize("preset", BUILT)
def test_acceptance(preset):
    """The measured vectors of spec 03, the examples of spec 04."""
    unit = unit_bench(PRESETS[preset]).unit
    check_filter_examples(unit)
    for vector in GRADIENTS:
        check_gradient(vector, unit)
    for texel in TEXELS:
        check_texel(texel, unit)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("preset", BUILT)
def test_kinds(preset, kind):
    send(PRESETS[preset], SEED, 1000, kind)


@pytest.mark.parametrize("mode", TRAFFIC)
@pytest.mark.parametrize("preset", BUILT)
def test_traffic(preset, mode):
    """Every stream stalls at once."""
    number = sorted(TRAFFIC).index(mode)
    for kind in (KINDS[number], "mixed", "anisotropic", "volumes"):
        send(PRESETS[preset], SEED + number, 300, kind, traffic=mode)


@pytest.mark.parametrize("mode", TRAFFIC)
@pytest.mark.parametrize("preset", BUILT)
def test_hazards(preset, mode):
    """Writes and filter reads of the same texels in any order, few descriptors, stalls."""
    for number in range(100 if LONG else 8):
        send(PRESETS[preset], SEED + number, 300, "hazards", traffic=mode)


@pytest.mark.parametrize("stream", STREAMS)
@pytest.mark.parametrize("preset", BUILT)
def test_one_stream_stalls(preset, stream):
    for number, mode in enumerate(TRAFFIC):
        kind = "plain" if stream == "o_pattern" else KINDS[number]
        for one in (kind, "hazards"):
            send(PRESETS[preset], SEED + number, 200, one, traffic={stream: TRAFFIC[mode]})


@pytest.mark.parametrize("pairs", [1, 0, -1], ids=["one too many", "all held", "one too few"])
@pytest.mark.parametrize("preset", BUILT)
def test_descriptors_take_turns(preset, pairs):
    """As many descriptor pairs as are held, one more, one less: every quad another."""
    cfg = PRESETS[preset]
    count = cfg.descriptor_entries + pairs

    def take_turns(rng, trace):
        turn = np.arange(len(trace), dtype=np.uint32) % count
        return replace(trace, t_index=turn, s_index=turn)

    for kind in ("mixed", "feedback", "plain"):
        send(cfg, SEED + 10 * count, 300, kind, change=take_turns)
        send(cfg, SEED + 10 * count + 1, 300, kind, traffic="both", change=take_turns)


def test_new_descriptors_in_runs():
    """Descriptor pairs that stay for some quads and come back later."""

    def in_runs(rng, trace):
        turn = np.repeat(rng.integers(0, 9, len(trace)), rng.integers(1, 12, len(trace)))
        turn = turn[: len(trace)].astype(np.uint32)
        return replace(trace, t_index=turn, s_index=turn % 7)

    for seed in range(SEED, SEED + 3):
        send(FULL, seed, 1000, "mixed", traffic="random ready", change=in_runs)


@pytest.mark.parametrize("clocks", [40, 300, 2000])
@pytest.mark.parametrize("preset", BUILT)
def test_reset_in_the_middle(preset, clocks):
    for kind in ("mixed", "anisotropic", "volumes", "hazards"):
        send(PRESETS[preset], SEED, 200, kind, traffic="both", reset_after=clocks)


@pytest.mark.parametrize("preset", BUILT)
def test_a_million(preset):
    """With MINMIP_LONG; else a few thousand."""
    for number in range(500 if LONG else 2):
        mode = list(TRAFFIC)[number % 4] if number % 20 else "long stalls"
        send(PRESETS[preset], SEED + 1000 + number, 2000, KINDS[number % len(KINDS)], traffic=mode)


@pytest.mark.skipif(not LONG, reason="MINMIP_LONG: each is a build")
@pytest.mark.parametrize("name", OTHERS)
def test_other_parameters(name):
    cfg = OTHERS[name]
    for vector in GRADIENTS:
        check_gradient(vector, unit_bench(cfg).unit)
    for number, mode in enumerate(TRAFFIC):
        for kind in KINDS:
            send(cfg, SEED + number, 500, kind, traffic=mode)


def check_flushes(bench, seed, quads, kind="feedback"):
    """The memory, looked at in the clock of each answer to a flush, is that of the golden model.

    Behind quads of the filter the answer may be late: then bytes that later quads write are left
    out.
    """
    rng = np.random.default_rng(seed)
    cfg = bench.cfg
    trace = random_trace(rng, quads, kind, cfg.swizzle_modes)
    places = [*np.sort(rng.choice(np.arange(1, quads), quads // 10, replace=False)), quads]
    trace = with_flushes(trace, places[:-1])
    rows = requests(trace, cfg, places[:-1])
    memory = trace.memory.copy()
    bench.unit.start(memory, *window(trace))
    answered = 0
    for place in places:
        run = bench.model.run(
            {"i": rows},
            {"o": place + 1 - answered},
            any_full=True,
            patience=PATIENCE,
            max_cycles=1 << 62,
        )
        rows = rows[run.taken["i"] :]
        answered += run.given["o"]
        assert answered == place + 1, f"seed {seed}: no answer to the flush at {place}"
        wanted = golden.run(cut(trace, 0, place), cfg).memory
        settled = slice(None) if kind == "feedback" else untouched(cut(trace, place, quads), cfg)
        np.testing.assert_array_equal(
            memory[settled], wanted[settled], f"seed {seed}, {kind}, flush at {place}"
        )


@pytest.mark.parametrize("preset", BUILT)
def test_flush_says_that_all_is_in_memory(preset):
    for kind in ("feedback", "volumes", "hazards"):
        check_flushes(unit_bench(PRESETS[preset]), SEED, 200, kind)


def check_everything(bench):
    for seed in range(SEED, SEED + 5):
        check_flushes(bench, seed, 200)
        for kind in ("anisotropic", "volumes", "hazards"):
            rng, modes = np.random.default_rng(seed), bench.cfg.swizzle_modes
            bench.run(random_trace(rng, 200, kind, modes), f"seed {seed}, {kind}")


def test_without_a_mutant():
    """What must fail with a mutant holds without."""
    check_everything(unit_bench(MUTATED))


@pytest.mark.parametrize("mutant", MUTANTS if LONG else MUTANTS[:1], ids=lambda mutant: mutant.name)
def test_mutant_is_caught(mutant, monkeypatch):
    """Each is a build, so the others wait for MINMIP_LONG."""
    monkeypatch.setattr(
        verilated_unit, "unit_design", lambda unit: Design.of(verilog(unit, TOP), TOP)
    )
    monkeypatch.setattr(verilated_unit, "_SPEED", "-O0")
    with planted(mutant):
        bench = UnitBench(MUTATED)
    with pytest.raises(AssertionError):
        check_everything(bench)


def simulate(cfg, seed, quads, kind):
    """Compare a short trace in Amaranth's simulator, with stalls on every stream."""
    trace = random_trace(np.random.default_rng(seed), 60, kind, cfg.swizzle_modes)
    trace = cut(trace, 0, quads)
    unit = SimulatedUnit(cfg, traffic=TRAFFIC["random ready"], seed=seed)
    result = unit(trace, pattern=True)
    found = differences(trace, result, golden.run(trace, cfg, pattern=True))
    assert not found, "\n".join([f"seed {seed}, kind {kind!r}", *found])


@pytest.mark.parametrize("kind", ["mixed", "hazards"])
def test_pysim(kind):
    simulate(SMALL, SEED, 12, kind)
