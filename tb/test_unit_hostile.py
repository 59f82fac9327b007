# amaranth: UnusedElaboratable=no
"""Watchdog: whatever comes in, the unit answers, and every byte is right.

Illegal and random descriptors, a new pair with every quad, maps in any swizzle mode, some of them
outside the memory, NaN and infinity, opcodes that are none, volumes, 16x anisotropic storms in
which every lane is elsewhere, the filter behind writes to many words, flushes, host and clears at
any time. MINMIP_LONG=1 sends 10^6 quads instead of 2 * 10^4; MINMIP_FIRST_SEED (default 1) is
printed on a failure.
"""

from dataclasses import replace

import numpy as np
import pytest
from kit.vlib import LONG, SEED, TRAFFIC
from random_traces import KINDS, random_trace
from traces import ANISO_LINEAR, LINEAR, MAX, MIN, READ, USED, WRAP, image, sampler
from unit_bench import unit_bench
from unit_others import random_others

from minmip.hw.config import FULL
from minmip.sim.runners.verilator import Traffic
from minmip.sim.trace import SAMPLE_D, SAMPLE_L

QUADS = 1000
RUNS = 1000 if LONG else 20
MEAN = 60
"""Clocks per quad, on the average, without stalls from outside."""
MEMORY = 1 << 16
FLOATS = ("uvw", "ddx", "ddy", "lod", "clamp", "slice")
BAD_BITS = np.array(
    [
        *(0x7FC00000, 0xFFC00001, 0x7F800001, 0x7F800000, 0xFF800000, 0x7F7FFFFF, 0xFF7FFFFF),
        *(0x00000001, 0x80000000, 0x007FFFFF, 0x4F000000, 0xC7000000),
    ],
    np.uint32,
)
STALLS = [
    *TRAFFIC.values(),
    {name: Traffic(ready=0.001, longest=5000) for name in ("o", "o_pattern", "o_host", "o_clear")},
]


def damaged(rng, words):
    """Descriptors with a few wrong bits, and some that are nothing but random bits."""
    flips = np.zeros_like(words)
    for _ in range(3):
        bit = rng.integers(0, 32, words.shape).astype(np.uint32)
        flips |= np.where(rng.random(words.shape) < 0.1, np.uint32(1) << bit, np.uint32(0))
    noise = rng.integers(0, 1 << 32, (len(words) // 8 + 1, words.shape[1]), np.uint32)
    return np.concatenate([words, words ^ flips, noise])


def turned(rng, count, quads):
    """Numbers of descriptors, never the same twice running."""
    steps = rng.integers(1, count, quads)
    return (np.cumsum(steps) % count).astype(np.uint32)


def put(rng, trace, quads, kinds, s, **columns):
    """Put live quads in, on a large map of the trace's memory, in any swizzle mode: `kinds` are
    their linked types.
    """
    mode = int(rng.choice(sorted(FULL.swizzle_modes)))
    images = np.stack(
        [
            image((128, 128), kind=USED, view=(0, 7), mips=8, SW_MODE=mode),
            *(image((64, 64), kind=kind, view=(0, 7), SW_MODE=mode) for kind in (MIN, MAX, READ)),
        ]
    )
    images[:, 0] = trace.memory_base >> 8 & 0xFFFFFFFF
    images[:, 1] |= trace.memory_base >> 40
    names = ("opcode", "flags", "t_index", "s_index", "exec_mask", "helper_mask", *FLOATS)
    whole = {name: getattr(trace, name).copy() for name in names}
    columns |= {"flags": 0, "exec_mask": 15, "helper_mask": 0}
    columns |= {"t_index": len(trace.t_sharp) + kinds - 1, "s_index": len(trace.s_sharp)}
    for name, column in columns.items():
        if name in ("uvw", "ddx", "ddy"):
            whole[name][quads, :, :2] = column
        else:
            whole[name][quads] = column
    return replace(
        trace,
        t_sharp=np.concatenate([trace.t_sharp, images]),
        s_sharp=np.concatenate([trace.s_sharp, s[None]]),
        **whole,
    )


def storm(rng, trace, quads):
    """16x anisotropic SAMPLE_D quads: lanes and taps on other words."""
    s = sampler(WRAP, ANISO_LINEAR, ANISO_LINEAR, 2, MAX_ANISO_RATIO=4, LOD_BIAS=100)
    angle = rng.uniform(0, 2 * np.pi, (len(quads), 4))
    line = np.stack([np.cos(angle), np.sin(angle)], axis=2) / 128
    return put(
        *(rng, trace, quads, np.full(len(quads), USED), s),
        opcode=SAMPLE_D,
        uvw=rng.uniform(-4, 4, line.shape),
        ddx=line * 16,
        ddy=line[:, :, ::-1] * [-1, 1],
    )


def waves(rng, trace, quads):
    """Writes and filter reads of one map in turn: every read waits for 16 words."""
    s = sampler(WRAP, LINEAR, LINEAR, MINMIP_SLOPE_U=3, MINMIP_SLOPE_V=3)
    kinds = np.where(np.arange(len(quads)) % 2, READ, rng.choice([MIN, MAX], len(quads)))
    # Where four words meet.
    at = rng.integers(0, 4, (len(quads), 4, 2)) / 4 + rng.uniform(-1, 1, (len(quads), 4, 2)) / 256
    lod = rng.uniform(0, 7, (len(quads), 4))
    return put(rng, trace, quads, kinds, s, opcode=SAMPLE_L, uvw=at, lod=lod)


def hostile_trace(rng, kind, storms, bad_weather=(storm, waves)):
    trace = random_trace(rng, QUADS, kind)
    t_sharp, s_sharp = damaged(rng, trace.t_sharp), damaged(rng, trace.s_sharp)
    spoilt = {}
    for name in FLOATS:
        column = getattr(trace, name)
        bad = rng.choice(BAD_BITS, column.shape).view(np.float32)
        spoilt[name] = np.where(rng.random(column.shape) < 0.05, bad, column)
    trace = replace(
        trace,
        t_sharp=t_sharp,
        s_sharp=s_sharp,
        t_index=turned(rng, len(t_sharp), QUADS),
        s_index=turned(rng, len(s_sharp), QUADS),
        memory=rng.integers(0, 256, max(MEMORY, len(trace.memory)), np.uint8),
        **spoilt,
    )
    for weather in bad_weather:
        trace = weather(rng, trace, np.sort(rng.choice(QUADS, storms, replace=False)))
    return trace


def attack(seed, traffic, storms=QUADS // 64, **weather):
    """Clocks of a hostile run; fails when it hangs or anything is wrong."""
    rng = np.random.default_rng(seed)
    kind = KINDS[seed % len(KINDS)]
    bench = unit_bench(FULL)
    trace = hostile_trace(rng, kind, storms, **weather)
    places = np.sort(rng.choice(QUADS, rng.integers(0, 100), replace=False))
    others = random_others(rng, trace, bench.cfg, 300)
    dead = np.flatnonzero(trace.exec_mask & ~trace.helper_mask == 0)
    name = f"seed {seed}, kind {kind!r}, stalls {traffic}"
    run = bench.run(
        *(trace, name),
        traffic=traffic,
        seed=seed,
        places=places,
        others=others,
        spoil=dead,
    )
    return int(run.output_stamps["o"][-1] - run.input_stamps["i"][0])


def test_watchdog():
    clocks = []
    for number in range(RUNS):
        stalls = Traffic() if number % 2 else STALLS[number // 2 % len(STALLS)]
        clocks.append(attack(SEED + number, stalls))
    free = clocks[1::2]
    mean = sum(free) / len(free) / QUADS
    print(f"{RUNS * QUADS} hostile quads, {mean:.1f} clocks per quad without stalls from outside")
    assert mean <= MEAN


@pytest.mark.parametrize("weather", [storm, waves])
def test_bad_weather(weather):
    """Every fourth quad a storm, or all of them waves: slow, and right."""
    storms = QUADS // 4 if weather is storm else QUADS
    clocks = attack(SEED, Traffic(), storms=storms, bad_weather=(weather,))
    print(f"{clocks / QUADS:.0f} clocks per quad")
