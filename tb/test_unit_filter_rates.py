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
from rate_bench import LEAST, LENGTH, QUADS, WARM, clocks_of, share_of
from traces import MAX, MIN, READ, USED

from minmip.hw.config import DEFAULT, FULL, SMALL, UnitConfig
from minmip.sim import golden
from minmip.sim.golden import top
from minmip.sim.trace import Trace
from minmip.sim.workloads import filter_trace, filter_workloads, tile_pixels

SMALL_3D = replace(SMALL, resource_types=FULL.resource_types)
"""One lane a clock, volumes too."""
PICTURE = (tile_pixels(LENGTH, 256) + 0.5) / 16
"""Positions in map texels: tiles of 8x8 pixels, 16 pixels a texel."""


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


@dataclass(frozen=True)
class Case:
    """Quads, and the clocks that each takes; None if they differ."""

    name: str
    cfg: UnitConfig
    trace: Trace
    clocks: float | None = None


RUNS = filter_workloads(LENGTH, SEED)
ROWS = filter_workloads(LENGTH, SEED, sw_mode=0)
CASES = [
    Case("full, tiles", FULL, RUNS["2D, tiles"], 1),
    Case("full, tiles, LINEAR", FULL, ROWS["2D, tiles"], 1),
    Case("full, tiles one pixel off", FULL, filter_trace(PICTURE + 1 / 16)),
    Case("full, row", FULL, filter_trace(PICTURE[:, :, :1]), 1),
    Case("full, random boxes", FULL, RUNS["2D, random boxes"]),
    Case("full, worst-case boxes", FULL, RUNS["2D, worst-case boxes"], 4),
    Case("full, volume, tiles", FULL, RUNS["volume, tiles"], 2),
    Case("full, volume, random boxes", FULL, RUNS["volume, random boxes"]),
    Case("full, volume, worst-case boxes", FULL, RUNS["volume, worst-case boxes"], 8),
    Case("default, tiles", DEFAULT, RUNS["2D, tiles"], 2),
    Case("default, volume, tiles", DEFAULT, RUNS["volume, tiles"], 4),
    Case("one lane, random boxes", SMALL_3D, RUNS["2D, random boxes"], 4),
    Case("one lane, random boxes, LINEAR", SMALL_3D, ROWS["2D, random boxes"], 4),
    Case("one lane, worst-case boxes", SMALL_3D, RUNS["2D, worst-case boxes"], 4),
    Case("one lane, volume, random boxes", SMALL_3D, RUNS["volume, random boxes"], 8),
    Case("one lane, volume, worst-case boxes", SMALL_3D, RUNS["volume, worst-case boxes"], 8),
    Case("small, random boxes", SMALL, RUNS["2D, random boxes"], 4),
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
    """Every depth of a tap is a beat; 128 pixels a texel, as in the rates of flat maps."""
    name = f"feedback of a volume, type {kind}, Z_FILTER {z_filter}"
    texels = np.concatenate([PICTURE, PICTURE[:, :, :1]], axis=2) / 8
    trace = filter_trace(texels, linked_type=kind, z_filter=z_filter)
    clocks, counters = clocks_of(FULL, trace, name)
    assert share_of(clocks, name, z_filter, counters) >= LEAST


def test_write_and_read_in_turn():
    """Measured only: the filter waits until the map has what the quad before wrote."""
    write, read = (filter_trace(PICTURE, linked_type=kind) for kind in (MIN, READ))
    turn = replace(
        read,
        t_sharp=np.concatenate([write.t_sharp, read.t_sharp]),
        t_index=np.arange(LENGTH, dtype=np.uint32) % 2,
    )
    name = "write and filter in turn"
    clocks, counters = clocks_of(FULL, turn, name)
    share_of(clocks, name, 1, counters)
