"""The golden model and the slow second reading of the spec, bit for bit, over the input space.

Longer runs: MINMIP_SEEDS (traces, default 24), MINMIP_QUADS (requests in each, default 300) and
MINMIP_FIRST_SEED (default 0). A failure prints its seed; run it alone with
`MINMIP_FIRST_SEED=<seed> MINMIP_SEEDS=1`.
"""

import random

import numpy as np
import pytest
from compare import differences, disagreement, environment
from hypothesis import HealthCheck, given, settings
from random_floats import gradient_pair
from random_traces import KINDS, random_trace, to_float32
from reference.lod import from_gradients
from reference.words import decode_image, decode_sampler
from strategies import traces
from traces import ANISO_LINEAR, LINEAR, MIN, MIRROR, image, sampler, trace

from minmip.hw.config import PLAIN_MODES, XOR_MODES, LodConfig, UnitConfig
from minmip.sim.descriptor_words import T_FIELDS, unpack
from minmip.sim.golden import descriptor, lod, top
from minmip.sim.golden.numbers import bits_of
from minmip.sim.layout import ANACONDA, LOCKHART, NAVI21, xor_patterns

FIRST = environment("MINMIP_FIRST_SEED", 0)
SEEDS = range(FIRST, FIRST + environment("MINMIP_SEEDS", 24))
QUADS = environment("MINMIP_QUADS", 300)
SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]


@pytest.mark.parametrize("seed", SEEDS)
def test_seeded(seed):
    text = disagreement(seed, QUADS, KINDS[seed % len(KINDS)])
    assert not text, text


@settings(
    max_examples=250,
    deadline=None,
    suppress_health_check=SLOW,
)
@given(traces())
def test_any_trace(request_trace):
    assert differences(request_trace) == []


@pytest.mark.parametrize("block", [1, 3, 64])
def test_blocks_keep_the_order(block, monkeypatch):
    """Types 1 to 4 on the same bytes, with the golden model's blocks cut small."""
    monkeypatch.setattr(top, "BLOCK", block)
    for seed in range(4):
        text = disagreement(seed, 120, ("mixed", "read", "feedback", "mixed")[seed])
        assert not text, text


@pytest.mark.parametrize(
    "config",
    [
        UnitConfig(resource_types=frozenset({9, 13}), swizzle_modes=frozenset({1})),
        UnitConfig(linked_types=frozenset({2, 4}), swizzle_modes=frozenset({0})),
        UnitConfig(resource_types=frozenset({8, 10, 12}), linked_types=frozenset({1, 3})),
        UnitConfig(swizzle_modes=PLAIN_MODES),
        UnitConfig(swizzle_modes=PLAIN_MODES | XOR_MODES, xor_patterns=xor_patterns(NAVI21)),
        UnitConfig(swizzle_modes=XOR_MODES, xor_patterns=xor_patterns(ANACONDA)),
        UnitConfig(
            swizzle_modes=frozenset({1, 10, 18}),
            xor_patterns=xor_patterns(LOCKHART),
            resource_types=frozenset({9, 13}),
        ),
    ],
    ids=["flat", "minmip", "others", "plain modes", "all modes", "pipe XOR", "one XOR"],
)
def test_builds(config):
    for seed in range(4):
        text = disagreement(seed, 120, ("mixed", "plain", "feedback", "read")[seed], config)
        assert not text, text


@pytest.mark.parametrize("seed", range(FIRST, FIRST + 4))
def test_gradient_lod(seed):
    """The LOD before bias and clamps, which would hide most of its range, tap count and axis."""
    pairs = 10 * QUADS
    r = random.Random(seed)
    kinds, sides = (8, 9, 9, 9, 10, 13), [1, 3, 16, 1000, 4096, 16384]
    images = np.stack(
        [
            image([r.choice(sides) for _ in range(3)], type=r.choice(kinds), view=(0, 1))
            for _ in range(pairs)
        ]
    )
    samplers = np.stack(
        [
            sampler(min=3, MAX_ANISO_RATIO=r.randint(0, 4), ANISO_THRESHOLD=r.randint(0, 7))
            for _ in range(pairs)
        ]
    )
    gradients = [gradient_pair(r, (*decode_image(words).size, 1, 1)[:3]) for words in images]
    ddx, ddy = (bits_of(to_float32([pair[i] for pair in gradients])) for i in range(2))
    golden_image, _ = descriptor.decode_image(images, UnitConfig(), 0, 0)
    golden_sampler = descriptor.decode_sampler(samplers)
    ours = lod.gradient_lod(ddx, ddy, golden_image, golden_sampler, LodConfig())
    for i, (x, y) in enumerate(zip(ddx.tolist(), ddy.tolist(), strict=True)):
        slow_image, slow_sampler = decode_image(images[i]), decode_sampler(samplers[i])
        x, y = tuple(x[: slow_image.axes]), tuple(y[: slow_image.axes])
        slow = from_gradients(x, y, slow_image, slow_sampler)
        have = None if ours.undefined[i] else int(ours.lod[i]), 1 << int(ours.taps_log2[i])
        assert have == (slow.lod, slow.taps), f"seed {seed}, pair {i}: {gradients[i]}"
        if slow.taps > 1:
            assert (x if ours.major_is_x[i] else y) == slow.major, f"seed {seed}, pair {i}"


ALL_MODES = UnitConfig(swizzle_modes=PLAIN_MODES | XOR_MODES, xor_patterns=xor_patterns(NAVI21))


@pytest.mark.parametrize("config", [UnitConfig(), ALL_MODES], ids=["default", "all modes"])
def test_every_code_is_generated(config):
    """The generator must reach each error code, and leave most requests legal, in each mode."""
    codes, modes = [], []
    for seed in range(24):
        kind = KINDS[seed % len(KINDS)]
        request = random_trace(np.random.default_rng(seed), 400, kind, config.swizzle_modes)
        answer = top.run(request, config)
        assert answer.samples is not None
        codes.append(answer.error)
        busy = (answer.samples > 0) | (answer.filtered > 0).any(axis=1)
        mode = unpack(T_FIELDS, request.t_sharp)["SW_MODE"][request.t_index]
        modes.append(mode[busy & (answer.error == 0)])
    counts = np.bincount(np.concatenate(codes), minlength=32)
    assert counts[0] > 0.6 * counts.sum()
    assert all(counts[code] >= 10 for code in [*range(1, 19), 31]), counts
    reached = np.bincount(np.concatenate(modes), minlength=32)
    assert all(reached[mode] > 20 for mode in config.swizzle_modes), reached


def test_tails_are_reached():
    """Maps of type 1 with a tail, written in the tail and before it."""
    inside = before = 0
    for seed in range(12):
        request = random_trace(np.random.default_rng(seed), 200, "used", ALL_MODES.swizzle_modes)
        answer = top.run(request, ALL_MODES)
        assert answer.samples is not None
        written = answer.memory != request.memory
        images, layouts = descriptor.decode_image(request.t_sharp, ALL_MODES, 0, 1 << 48)
        start = layouts.base - request.memory_base
        block = layouts.block_bytes
        tail = layouts.first_tail <= unpack(T_FIELDS, request.t_sharp)["MAX_MIP"]
        used = np.unique(request.t_index[(answer.error == 0) & (answer.samples > 0)])
        for row in used[tail[used] & (images.linked[used] == 1)]:
            end = start[row] + block[row]
            inside += written[start[row] : end].any()
            before += written[end : start[row] + layouts.chain_bytes[row]].any()
    assert inside > 20
    assert before > 5


# Corners that random numbers rarely meet


def test_mirror_where_16_8_saturates():
    t, s = image((16384, 1), type=8), sampler(MIRROR, LINEAR, LINEAR)
    edge = [-2 + k * 2.0**-23 for k in range(1, 6)] + [2 - k * 2.0**-23 for k in range(1, 6)]
    assert differences(trace(t, s, [{"uvw": [u]} for u in edge])) == []


@pytest.mark.parametrize("address", range(8))
@pytest.mark.parametrize("u", [np.inf, -np.inf, 40000.0, -40000.0, 12.0, 0.25])
def test_long_lines_from_far_away(address, u):
    """Taps of lines so long that step 0 saturates, from coordinates that do, too (D8)."""
    t = image((64, 64), view=(0, 6))
    s = sampler(address, LINEAR, ANISO_LINEAR, MAX_ANISO_RATIO=4)
    quads = [
        {"opcode": 2, "uvw": [u, 0.3], "ddx": [sign * du, 0.0], "ddy": [0.0, du / 16]}
        for du in (12.0, 22.0, 40.0, 30000.0, 70000.0, 1e20)
        for sign in (1, -1)
    ]
    assert differences(trace(t, s, quads)) == []


@pytest.mark.parametrize("base", [1 << 48, (1 << 63) - 256, 1 << 63, (1 << 64) - 256])
def test_memory_far_beyond_every_address(base):
    t, quad = image((16, 16), kind=MIN, scales=(2, 2)), {"uvw": [0.1, 0.1]}
    request = trace(t, sampler(), [quad], memory_base=base)
    assert top.run(request).error.tolist() == [31]
    assert differences(request) == []


def test_nothing_in_nothing_out():
    empty = trace(image((4, 4)), sampler(), [{}], memory=0)
    for name in ("opcode", "uvw", "flags", "exec_mask", "helper_mask", "slice", "t_index"):
        setattr(empty, name, getattr(empty, name)[:0])
    for name in ("ddx", "ddy", "lod", "clamp", "s_index"):
        setattr(empty, name, getattr(empty, name)[:0])
    assert differences(empty) == []


def test_a_map_at_the_last_address():
    base = ((1 << 40) - 1) << 8
    t = image((16, 16), kind=MIN, BASE_ADDRESS=(1 << 40) - 1)
    request = trace(t, sampler(), [{"uvw": [0.9, 0.9]}], memory_base=base, fill=0xFF)
    assert top.run(request).error.tolist() == [0]
    assert differences(request) == []
