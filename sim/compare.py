"""Two results of one trace compared bit for bit, differences told in words (spec 08 `--check`)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from minmip.sim.trace import OPCODES, Result, Trace

__all__ = ["differences"]


def differences(trace: Trace, got: Result, wanted: Result, *, limit: int = 5) -> list[str]:
    """Sentences on the first `limit` differences of each output array; empty when all are equal.

    Parameters
    ----------
    trace : Trace
        What was run: the sentences name its opcodes and lanes.
    got, wanted : Result
        The backend's result and the golden model's.
    limit : int
        Sentences per output array.
    """

    def quad_name(quad: int) -> str:
        return f"quad {quad} ({OPCODES[trace.opcode[quad]]})"

    found: list[str] = []
    found.extend(
        f"{quad_name(quad)}: error code {got.error[quad]}, wanted {wanted.error[quad]}"
        for quad in np.flatnonzero(got.error != wanted.error)[:limit].tolist()
    )
    found.extend(
        f"{quad_name(quad)} lane {lane}: filtered value {got.filtered[quad, lane] / 256}, "
        f"wanted {wanted.filtered[quad, lane] / 256}"
        for quad, lane in np.argwhere(got.filtered != wanted.filtered)[:limit].tolist()
    )
    found.extend(
        f"map byte at 0x{trace.memory_base + offset:x}: 0x{got.memory[offset]:02x}, "
        f"wanted 0x{wanted.memory[offset]:02x}, was 0x{trace.memory[offset]:02x} at the start"
        for offset in np.flatnonzero(got.memory != wanted.memory)[:limit].tolist()
    )
    if got.counters["samples"] != wanted.counters["samples"]:
        found.append(
            f"{got.counters['samples']} texel samples, wanted {wanted.counters['samples']}"
        )
    if wanted.pattern is not None and got.pattern is not None:
        found.extend(_pattern_differences(got, wanted, limit, quad_name))
    return found


def _rows_by_quad(result: Result) -> Iterator[np.ndarray]:
    start, rows = result.pattern_start, result.pattern
    assert start is not None
    assert rows is not None
    for first, last in pairwise(start.tolist()):
        yield rows[first:last]


def _pattern_differences(got: Result, wanted: Result, limit: int, quad_name) -> list[str]:
    found: list[str] = []
    pairs = zip(_rows_by_quad(got), _rows_by_quad(wanted), strict=True)
    for quad, (rows, want) in enumerate(pairs):
        if len(rows) != len(want):
            found.append(f"{quad_name(quad)}: {len(rows)} texel samples, wanted {len(want)}")
        elif (rows != want).any():
            row = int(np.flatnonzero(rows != want)[0])
            found.append(f"{quad_name(quad)} sample {row}: {rows[row]}, wanted {want[row]}")
        if len(found) == limit:
            break
    return found
