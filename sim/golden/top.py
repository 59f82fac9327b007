"""The whole unit: a trace in, map memory, answers and sample pattern out (spec 08).

Quads are taken in blocks. Planning a block (descriptors, LOD, pattern, addresses, combining) reads
no map, so blocks are planned in parallel; committing them to memory keeps the order of the trace.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice

import numpy as np

from minmip.hw.config import FULL, UnitConfig
from minmip.sim.golden.address import texel_address
from minmip.sim.golden.combine import BEATS_PER_QUAD, Writes, combine
from minmip.sim.golden.coordinates import array_slice
from minmip.sim.golden.descriptor import (
    LINKED_FILTER,
    LINKED_OR,
    decode_image,
    decode_sampler,
    legality,
)
from minmip.sim.golden.lod import choose_mips, clamp_lod
from minmip.sim.golden.memory import apply
from minmip.sim.golden.minmip_filter import Kernel, filter_kernel, filter_values
from minmip.sim.golden.numbers import bits_of
from minmip.sim.golden.operands import lane_operands
from minmip.sim.golden.pattern import pattern_rows, sample_pattern
from minmip.sim.golden.rescale import map_value
from minmip.sim.trace import PATTERN_DTYPE, Result, Trace

__all__ = ["run"]

BLOCK = 4096
"""Quads planned at a time: arrays of one block stay in the cache."""


@dataclass(eq=False)
class _Plan:
    """What one block of quads will do to memory; quads are numbered from the block's first."""

    error: np.ndarray
    kind: np.ndarray
    samples: np.ndarray
    writes: Writes
    filter_quad: np.ndarray
    filter_lane: np.ndarray
    kernel: Kernel
    pattern_count: np.ndarray
    pattern: np.ndarray


def run(
    trace: Trace,
    config: UnitConfig = FULL,
    *,
    pattern: bool = False,
    workers: int = 2,
    progress: Callable[[int], object] | None = None,
) -> Result:
    """Run a trace through the golden model.

    Parameters
    ----------
    trace : Trace
        Quads, descriptors and map memory; not changed.
    config : UnitConfig
        What the build of the unit contains.
    pattern : bool
        Also return the sample pattern of plain requests.
    workers : int
        Threads that plan blocks.
    progress : callable
        Called with the number of quads done since the last call.
    """
    memory = trace.memory.copy()
    # Addresses have 48 bits: what a memory has beyond is out of reach (decision D40).
    base = min(trace.memory_base, 1 << 48)
    reach = min(len(memory), (1 << 48) - base)
    images, layouts = decode_image(trace.t_sharp, config, base, reach)
    # From here on addresses count from the memory's start.
    layouts.base -= base
    samplers = decode_sampler(trace.s_sharp)
    quads = len(trace)
    filtered = np.zeros((quads, 4), np.uint16)
    errors, samples, written, counts, rows = ([] for _ in range(5))

    def plan(start: int) -> _Plan:
        stop = min(start + BLOCK, quads)
        return _plan(trace, slice(start, stop), images, samplers, layouts, config, pattern)

    with ThreadPoolExecutor(workers) as pool:
        starts = iter(range(0, quads, BLOCK))
        pending = deque(pool.submit(plan, start) for start in islice(starts, 2 * workers))
        first = 0
        while pending:
            block = pending.popleft().result()
            start = next(starts, None)
            if start is not None:
                pending.append(pool.submit(plan, start))
            _commit(block, memory, filtered[first : first + BLOCK])
            errors.append(block.error)
            samples.append(block.samples)
            written.append(np.bincount(block.writes.quad, minlength=len(block.error)))
            counts.append(block.pattern_count)
            rows.append(block.pattern)
            first += BLOCK
            if progress is not None:
                progress(len(block.error))

    def joined(parts, dtype):
        return np.concatenate([np.zeros(0, dtype), *parts]).astype(dtype)

    start = np.zeros(quads + 1, np.uint64)
    start[1:] = joined(counts, np.uint64).cumsum()
    return Result(
        memory=memory,
        error=joined(errors, np.uint8),
        filtered=filtered,
        samples=joined(samples, np.uint16),
        writes=joined(written, np.uint16),
        pattern_start=start if pattern else None,
        pattern=joined(rows, PATTERN_DTYPE) if pattern else None,
        meta=dict(trace.meta),
    )


def _plan(trace: Trace, block: slice, images, samplers, layouts, config, want_pattern) -> _Plan:
    t_index = trace.t_index[block].astype(np.int64)
    image = images.take(t_index)
    sampler = samplers.take(trace.s_index[block].astype(np.int64))
    error = legality(image, sampler, trace.flags[block])
    count = len(error)
    live = (trace.exec_mask[block] & ~trace.helper_mask[block])[:, None] >> np.arange(4) & 1 == 1
    live &= (error == 0)[:, None]
    filtering = image.linked == LINKED_FILTER

    quad, lane = np.nonzero(live & filtering[:, None])
    lane_image, lane_sampler = image.take(quad), sampler.take(quad)
    whole = quad + block.start
    kernel = filter_kernel(
        bits_of(trace.uvw[whole, lane]),
        array_slice(bits_of(trace.slice[whole, lane]), lane_image),
        t_index[quad],
        lane_image,
        lane_sampler,
        layouts,
    )
    filter_quad, filter_lane = quad, lane

    quad, lane = np.nonzero(live & ~filtering[:, None])
    lane_image, lane_sampler = image.take(quad), sampler.take(quad)
    whole = quad + block.start
    operands = lane_operands(trace, whole, lane, lane_image, lane_sampler, config.lod)
    final = clamp_lod(
        operands.lod.lod,
        operands.lod.undefined,
        operands.bias,
        operands.clamp,
        lane_image,
        lane_sampler,
    )
    choice = choose_mips(final, lane_image, lane_sampler)
    samples = sample_pattern(
        bits_of(trace.uvw[whole, lane]),
        array_slice(bits_of(trace.slice[whole, lane]), lane_image),
        operands.line,
        operands.lod.taps_log2,
        choice,
        lane_image,
        lane_sampler,
    )

    linked = lane_image.linked[samples.lane] > 0
    feedback = np.flatnonzero(linked)
    at = samples.lane[feedback]
    offset = texel_address(
        layouts,
        t_index[quad[at]],
        np.where(lane_image.linked[at] == LINKED_OR, samples.mip[feedback], 0),
        samples.x[feedback],
        samples.y[feedback],
        samples.z[feedback],
    )
    beat = quad[at] * BEATS_PER_QUAD + samples.tap[feedback] * 2 + samples.slot[feedback]
    value = map_value(choice.limited, lane_image)[at]
    rows, rows_per_quad = np.zeros(0, PATTERN_DTYPE), np.zeros(count, np.int64)
    if want_pattern:
        plain = np.flatnonzero(~linked)
        rows = pattern_rows(samples, plain, lane, final)
        rows_per_quad = np.bincount(quad[samples.lane[plain]], minlength=count)
    return _Plan(
        error=error,
        kind=np.where(error == 0, image.linked, 0),
        samples=np.bincount(quad[at], minlength=count),
        writes=combine(beat, offset, value, image.linked),
        filter_quad=filter_quad,
        filter_lane=filter_lane,
        kernel=kernel,
        pattern_count=rows_per_quad,
        pattern=rows,
    )


def _commit(plan: _Plan, memory: np.ndarray, filtered: np.ndarray) -> None:
    """Apply a block to memory, in runs of quads of one linked type (their order matters)."""
    busy = np.flatnonzero(plan.kind)
    if not len(busy):
        return
    kind = plan.kind[busy]
    starts = np.flatnonzero(np.diff(kind, prepend=0))
    firsts = busy[starts]
    ends = np.append(firsts[1:], len(plan.kind))
    for linked, first, end in zip(kind[starts].tolist(), firsts, ends, strict=True):
        if linked == LINKED_FILTER:
            rows = slice(*np.searchsorted(plan.filter_quad, (first, end)))
            kernel = Kernel(
                plan.kernel.offset[rows], plan.kernel.inside[rows], plan.kernel.weight[rows]
            )
            answer = filter_values(kernel, memory)
            filtered[plan.filter_quad[rows], plan.filter_lane[rows]] = answer
        else:
            rows = slice(*np.searchsorted(plan.writes.quad, (first, end)))
            writes = Writes(
                plan.writes.quad[rows], plan.writes.offset[rows], plan.writes.value[rows]
            )
            apply(memory, linked, writes)
