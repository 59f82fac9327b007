# amaranth: UnusedElaboratable=no
"""Rates of the MinMip filter, and of volumes, over 10,000 quads after a warm-up.

The unit takes a clock for each group of lanes whose texels lie in at most four memory words, at
each depth. `groups` counts these from the golden model's addresses; boxes that share their words
must make one group a quad, others at most one for each lane. Every run is compared with the golden
model too.
"""

from dataclasses import dataclass, replace
from unittest.mock import patch

import numpy as np
import pytest
from kit.vlib import SEED
from rate_bench import LEAST, LENGTH, QUADS, WARM, clocks_of, share_of, tiles
from traces import LINEAR, MAX, MIN, READ, USED, WRAP, image, sampler

from minmip.hw.config import DEFAULT, FULL, SMALL, UnitConfig
from minmip.sim import golden
from minmip.sim.golden import top
from minmip.sim.trace import SAMPLE_LZ, Trace

SMALL_3D = replace(SMALL, resource_types=FULL.resource_types)
"""One lane a clock, volumes too."""
TEXELS = 64
"""Side of a map."""
DEPTH = 16
RNG = np.random.default_rng(SEED)
PIXELS = 16
"""Side of a map texel in pixels of a picture."""


def kernels(trace: Trace, cfg: UnitConfig):
    """Offset and presence of every texel of the filter [quads, 4, 8]; all lanes must be live."""
    found = []
    values = top.filter_values

    def noted(kernel, memory):
        found.append(kernel)
        return values(kernel, memory)

    with patch.object(top, "filter_values", noted):
        golden.run(trace, cfg)
    return tuple(
        np.concatenate([getattr(kernel, name) for kernel in found]).reshape(-1, 4, 8)
        for name in ("offset", "inside")
    )


def groups(trace: Trace, cfg: UnitConfig) -> np.ndarray:
    """Groups of lanes of each quad, which is its clocks."""
    offset, inside = kernels(trace, cfg)
    deep = (inside[:, :, 4:] & (offset[:, :, 4:] != offset[:, :, :4])).any(axis=2)
    words = np.where(inside, offset // cfg.word_bytes, -1)
    count = np.zeros(len(offset), np.int64)
    for first in range(0, 4, cfg.lanes):
        lanes = slice(first, first + cfg.lanes)
        second = deep[:, lanes].any(axis=1)
        for slab in range(2):
            part = words[:, lanes, 4 * slab : 4 * slab + 4].tolist()
            count += np.where(second | (slab == 0), [_groups_of(lane) for lane in part], 0)
    return count


def _groups_of(lanes) -> int:
    """Runs of lanes, each of at most four words; -1 is none."""
    number, group = 1, set()
    for lane in lanes:
        touched = set(lane) - {-1}
        if len(group | touched) > 4:
            number, group = number + 1, set()
        group |= touched
    return number


def filter_trace(texels, *, depth=1, swizzle=1, kind=READ, **fields) -> Trace:
    """Quads at positions [quads, 4, axes] in texels of a map."""
    axes = texels.shape[2]
    t = image((TEXELS, TEXELS, depth), kind=kind, type=8 + axes - 1, SW_MODE=swizzle)
    s = sampler(WRAP, LINEAR, LINEAR, **({"MINMIP_SLOPE_U": 3, "MINMIP_SLOPE_V": 3} | fields))
    uvw = np.zeros((len(texels), 4, 3), np.float32)
    uvw[:, :, :axes] = texels / np.array([TEXELS, TEXELS, depth])[:axes]
    rng = np.random.default_rng(SEED)
    size = TEXELS * (TEXELS if swizzle else 256) * depth
    return Trace(
        t_sharp=t[None],
        s_sharp=s[None],
        opcode=np.full(len(texels), SAMPLE_LZ, np.uint8),
        uvw=uvw,
        memory=rng.integers(0, 256, size, np.uint8),
    )


def aligned(axes=2, shift=0.0):
    """Pixels in tiles, 16 a texel; no quad lies across a border or centre unless shifted."""
    at = (tiles() + 0.5 + shift) / PIXELS
    return at if axes == 2 else np.concatenate([at, at[:, :, :1] / 8], axis=2)


def anywhere(axes=2):
    """Every lane on its own."""
    return RNG.random((LENGTH, 4, axes)) * np.array([TEXELS, TEXELS, DEPTH])[:axes]


def corners(axes=2):
    """Every lane where four words meet, on other rows than the lanes beside it."""
    column = 16 * RNG.integers(1, 4, (LENGTH, 4))
    row = 8 * RNG.integers(0, 8, (LENGTH, 4)) + 2 * np.arange(4) + (1 if axes == 2 else 2)
    depth = RNG.integers(1, DEPTH, (LENGTH, 4))
    at = np.stack([column, row, depth], axis=2)[:, :, :axes]
    return at + RNG.uniform(-0.49, 0.49, at.shape)


@dataclass(frozen=True)
class Case:
    """Quads, and the clocks that each takes; None if they differ."""

    name: str
    cfg: UnitConfig
    trace: Trace
    clocks: float | None = None


CASES = [
    Case("full, tiles", FULL, filter_trace(aligned()), 1),
    Case("full, tiles, LINEAR layout", FULL, filter_trace(aligned(), swizzle=0), 1),
    Case("full, tiles one pixel off", FULL, filter_trace(aligned(shift=1))),
    Case("full, random boxes", FULL, filter_trace(anywhere())),
    Case("full, worst-case boxes", FULL, filter_trace(corners()), 4),
    Case("full, row", FULL, filter_trace(aligned()[:, :, :1]), 1),
    Case("full, volume, tiles", FULL, filter_trace(aligned(3), depth=DEPTH), 2),
    Case("full, volume, random boxes", FULL, filter_trace(anywhere(3), depth=DEPTH)),
    Case("full, volume, worst-case boxes", FULL, filter_trace(corners(3), depth=DEPTH), 8),
    Case("default, tiles", DEFAULT, filter_trace(aligned()), 2),
    Case("default, volume, tiles", DEFAULT, filter_trace(aligned(3), depth=DEPTH), 4),
    *(
        Case(f"one lane, {name}", SMALL_3D, filter_trace(boxes(axes), depth=depth), 4 * (axes - 1))
        for boxes, name in ((anywhere, "random boxes"), (corners, "worst-case boxes"))
        for axes, depth in ((2, 1), (3, DEPTH))
    ),
    Case("one lane, LINEAR", SMALL_3D, filter_trace(anywhere(), swizzle=0), 4),
    Case("small, random boxes", SMALL, filter_trace(anywhere()), 4),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_rate(case):
    wanted = groups(case.trace, case.cfg)
    measured = wanted[WARM + 1 : WARM + QUADS + 1].mean()
    assert wanted.max() <= 4 * (1 if case.trace.t_sharp[0, 3] >> 28 < 10 else 2)
    if case.clocks is not None:
        assert measured == case.clocks
    clocks, counters = clocks_of(case.cfg, case.trace, case.name)
    assert counters["filter_reads"] == wanted.sum()
    assert share_of(clocks, case.name, measured, counters) >= LEAST


@pytest.mark.parametrize("kind", [USED, MIN, MAX])
@pytest.mark.parametrize("z_filter", [1, 2], ids=["point", "linear"])
def test_rate_of_volume_feedback(kind, z_filter):
    """Every depth of a tap is a beat."""
    name = f"feedback of a volume, type {kind}, Z_FILTER {z_filter}"
    trace = filter_trace(aligned(3), depth=DEPTH, kind=kind, Z_FILTER=z_filter)
    clocks, counters = clocks_of(FULL, trace, name)
    assert share_of(clocks, name, z_filter, counters) >= LEAST


def test_write_and_read_in_turn():
    """Measured only: the filter waits until the map has what the quad before wrote."""
    write = filter_trace(aligned(), kind=MIN)
    read = filter_trace(aligned())
    turn = replace(
        read,
        t_sharp=np.concatenate([write.t_sharp, read.t_sharp]),
        t_index=np.arange(LENGTH, dtype=np.uint32) % 2,
    )
    name = "write and filter in turn"
    clocks, counters = clocks_of(FULL, turn, name)
    share_of(clocks, name, 1, counters)
