"""Host and clear engine beside the quads of the unit's benches.

They own bytes that no quad of the trace writes and the filter does not read, so that every byte has
one right value at the end and every quad one right answer, whatever the order.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any
from unittest.mock import patch

import numpy as np

from minmip.hw.config import UnitConfig
from minmip.hw.shapes import ADDRESS_BITS
from minmip.sim import golden
from minmip.sim.golden import top
from minmip.sim.trace import Trace

__all__ = ["Others", "no_others", "random_others", "untouched"]

OWN_BYTES = 32
"""Bytes that belong to the host and to the clears in turn."""


@dataclass(frozen=True)
class Others:
    """What host and clear engine do beside the quads: columns, answers due, bytes at the end.

    Only bytes `seen` of the host's answers are known: the others are no business of the host.
    """

    host: dict[str, Any]
    answers: np.ndarray
    seen: np.ndarray
    clears: dict[str, Any]
    where: np.ndarray
    bytes: np.ndarray


def untouched(trace: Trace, cfg: UnitConfig) -> np.ndarray:
    """Bytes that no quad can change: those that stay from 0x00 and from 0xFF; bool [bytes].

    Neither does the filter read them.
    """
    free = np.ones(len(trace.memory), bool)
    values = top.filter_values

    def noted(kernel, memory):
        free[kernel.offset[kernel.inside]] = False
        return values(kernel, memory)

    with patch.object(top, "filter_values", noted):
        for fill in (0, 0xFF):
            memory = np.full(len(trace.memory), fill, np.uint8)
            free &= golden.run(replace(trace, memory=memory), cfg).memory == fill
    return free


def no_others(cfg: UnitConfig) -> Others:
    """Nobody but the quads."""
    none = np.zeros(0, np.int64)
    lanes = np.zeros((0, cfg.word_bytes), np.int64)
    host = {"address": none, "data": lanes, "mask": none, "tag": none}
    clears = {"start": none, "length": none, "value": none, "tag": none}
    return Others(host, lanes, lanes.astype(bool), clears, none, none)


def random_others(rng, trace: Trace, cfg: UnitConfig, count: int) -> Others:
    """`count` host requests, mostly writes, and a fifth as many clears."""
    width = cfg.word_bytes
    # The end of all addresses may lie in the memory.
    size = min(len(trace.memory), (1 << ADDRESS_BITS) - trace.memory_base)
    free = untouched(trace, cfg)[:size]
    of_host = np.arange(size) // OWN_BYTES % 2 == 0
    now = trace.memory.copy()

    words = rng.integers(0, size // width, count)
    lanes = words[:, None] * width + np.arange(width)
    seen = (free & of_host)[lanes]
    writes = seen & (rng.random(seen.shape) < 0.5) & (rng.random((count, 1)) < 0.7)
    data = rng.integers(0, 256, seen.shape)
    answers = np.empty_like(data)
    for at, write, bytes_, answer in zip(lanes, writes, data, answers, strict=True):
        now[at[write]] = bytes_[write]
        answer[:] = now[at]
    host = {
        "address": trace.memory_base // width + words,
        "data": data,
        "mask": (writes << np.arange(width)).sum(axis=1),
        "tag": rng.integers(0, 256, count),
    }

    open_to_clears = np.flatnonzero(free & ~of_host)
    ranges = []
    for start in rng.permutation(open_to_clears)[: count // 5]:
        behind = np.append(np.flatnonzero(~(free & ~of_host)[start:]), size - start)[0]
        length, value = int(rng.integers(0, behind + 1)), int(rng.integers(0, 256))
        now[start : start + length] = value
        ranges.append((trace.memory_base + int(start), length, value, int(rng.integers(0, 256))))
    columns = np.array(ranges, np.int64).reshape(-1, 4).T
    clears = dict(zip(("start", "length", "value", "tag"), columns, strict=True))
    where = np.flatnonzero(free)
    return Others(host, answers, seen, clears, where, now[where])
