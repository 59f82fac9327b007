"""The golden model and the slow second reading of the spec, bit for bit, over the input space.

Longer runs: MINMIP_SEEDS (traces, default 24), MINMIP_QUADS (requests in each, default 300) and
MINMIP_FIRST_SEED (default 0). A failure prints its seed; run it alone with
`MINMIP_FIRST_SEED=<seed> MINMIP_SEEDS=1`.
"""

import numpy as np
import pytest
from compare import differences, disagreement, environment
from hypothesis import HealthCheck, given, settings
from random_traces import KINDS, random_trace
from strategies import traces
from traces import LINEAR, MIN, MIRROR, image, sampler, trace

from minmip.hw.config import UnitConfig
from minmip.sim.golden import top

FIRST = environment("MINMIP_FIRST_SEED", 0)
SEEDS = range(FIRST, FIRST + environment("MINMIP_SEEDS", 24))
QUADS = environment("MINMIP_QUADS", 300)
SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]


@pytest.mark.parametrize("seed", SEEDS)
def test_seeded(seed):
    text = disagreement(seed, QUADS, KINDS[seed % len(KINDS)])
    assert not text, text


@settings(
    max_examples=400,
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
    ],
    ids=["flat", "minmip", "others"],
)
def test_smaller_builds(config):
    for seed in range(4):
        text = disagreement(seed, 120, ("mixed", "plain", "feedback", "read")[seed], config)
        assert not text, text


def test_every_code_is_generated():
    """The generator must reach each error code, and leave most requests legal."""
    codes = np.concatenate(
        [
            top.run(random_trace(np.random.default_rng(seed), 400, KINDS[seed % len(KINDS)])).error
            for seed in range(16)
        ]
    )
    counts = np.bincount(codes, minlength=32)
    assert counts[0] > 0.6 * len(codes)
    assert all(counts[code] >= 10 for code in [*range(1, 19), 31]), counts


# Corners that random numbers rarely meet


def test_mirror_where_16_8_saturates():
    t, s = image((16384, 1), type=8), sampler(MIRROR, LINEAR, LINEAR)
    edge = [-2 + k * 2.0**-23 for k in range(1, 6)] + [2 - k * 2.0**-23 for k in range(1, 6)]
    assert differences(trace(t, s, [{"uvw": [u]} for u in edge])) == []


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
