"""The whole unit in a bench: quads, flushes, host, clears at once, judged by the golden model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from kit.packing import pack, unpack
from kit.vlib import TRAFFIC
from unit_others import Others, no_others

from minmip.hw.beats import quad_answer, quad_request
from minmip.hw.config import UnitConfig
from minmip.hw.shapes import (
    clear_request,
    clear_result,
    host_request,
    host_response,
)
from minmip.sim import golden
from minmip.sim.compare import differences
from minmip.sim.runners.unit import PATIENCE, window
from minmip.sim.runners.unit_beats import (
    TAGS,
    filtered_of,
    flush_row,
    pattern_rows,
    request_rows,
)
from minmip.sim.runners.verilated_unit import VerilatedUnit
from minmip.sim.runners.verilator import Run, Traffic
from minmip.sim.trace import Result, Trace

__all__ = [
    "UnitBench",
    "cut",
    "flushed",
    "judge",
    "requests",
    "result_of",
    "unit_bench",
    "wanted_of",
    "with_flushes",
]

LONGEST_QUAD = 1500
"""Clocks in which a quad comes to its end: 128 beats of one lane, 4 words each; 32 of four lanes,
16 words each."""


def with_flushes(trace: Trace, places) -> Trace:
    """The trace with quads of no live lane at `places`: they stand for flushes."""
    mask = trace.exec_mask.copy()
    mask[list(places)] = 0
    return replace(trace, exec_mask=mask)


def cut(trace: Trace, first: int, last: int) -> Trace:
    """Quads `first` to `last` - 1 alone."""
    of_quads = (*("opcode", "uvw", "flags", "t_index", "s_index", "exec_mask", "helper_mask"),)
    of_quads += ("slice", "ddx", "ddy", "lod", "clamp")
    columns = {name: getattr(trace, name) for name in of_quads}
    kept = {name: column[first:last] for name, column in columns.items() if column is not None}
    return replace(trace, **kept)


def flushed(trace: Trace, places) -> np.ndarray:
    """Which requests are flushes: bool [quads]."""
    return np.isin(np.arange(len(trace)), places)


def requests(trace: Trace, cfg: UnitConfig, places=()) -> np.ndarray:
    """Packed requests, flushes at `places`, and one behind the end; tags count them."""
    rows = request_rows(trace, cfg, 0, len(trace))
    for place in places:
        rows[place] = flush_row(cfg, int(place))
    return np.concatenate([rows, flush_row(cfg, len(trace))])


def wanted_of(trace: Trace, cfg: UnitConfig, places=()) -> Result:
    """What the golden model answers; a flush has no error."""
    wanted = golden.run(trace, cfg, pattern=True)
    wanted.error[list(places)] = 0
    return wanted


def result_of(
    trace: Trace, cfg: UnitConfig, places, answers, beats, before, memory, counters
) -> Result:
    """Result of packed answers and pattern beats; their order and flush bits are checked.

    `before` are the requests accepted when each beat came.
    """
    layout: Any = quad_answer()
    columns = unpack(layout, answers)
    quads = len(trace)
    np.testing.assert_array_equal(columns["tag"], np.arange(quads + 1) % TAGS, "order of answers")
    flush = np.append(flushed(trace, places), True)
    np.testing.assert_array_equal(columns["flush"], flush, "which answers are flushes")
    error, filtered = filtered_of(answers[:quads])
    start, rows = pattern_rows(beats, before, quads, cfg)
    return Result(
        memory=memory,
        error=error,
        filtered=filtered,
        pattern_start=start,
        pattern=rows,
        counters=counters,
    )


def judge(trace: Trace, got: Result, wanted: Result, others: Others, name: str) -> None:
    """Raise unless both are the same, with what the others wrote."""
    memory = wanted.memory.copy()
    memory[others.where] = others.bytes
    found = differences(trace, got, replace(wanted, memory=memory))
    assert not found, "\n".join([name, *found])


class UnitBench:
    """A verilated unit with every stream at hand."""

    def __init__(self, cfg: UnitConfig):
        self.unit = VerilatedUnit(cfg)
        self.model = self.unit.model
        self.cfg = self.unit.cfg

    def run(
        self,
        trace: Trace,
        name: str,
        *,
        traffic: str | Traffic | Mapping[str, Traffic] = "full",
        seed: int = 1,
        places=(),
        others: Others | None = None,
        reset_after: int = 0,
        spoil: np.ndarray | None = None,
    ) -> Run:
        """Run a trace with flushes at `places`, and compare everything with the golden model.

        `name` says in a failure what was run. With `reset_after` the unit first runs for so many
        clocks, is reset, and starts again with the memory as it was. Quads in `spoil` (numbers) get
        an opcode that is none: they must have no live lane.
        """
        cfg = self.cfg
        trace = with_flushes(trace, places)
        wanted = wanted_of(trace, cfg, places)
        others = others or no_others(cfg)
        stalls = TRAFFIC[traffic] if isinstance(traffic, str) else traffic
        longest = max(
            t.longest for t in ([stalls] if isinstance(stalls, Traffic) else stalls.values())
        )
        sent = {
            "i": requests(trace, cfg, places),
            "i_host": pack(host_request(cfg), others.host),
            "i_clear": pack(clear_request(), others.clears),
        }
        if spoil is not None:
            word, bit = divmod(quad_request(cfg)["opcode"].offset, 32)
            sent["i"][spoil, word] |= np.uint32(5 << bit)
        due = {
            "o": len(sent["i"]),
            "o_pattern": _most_beats(trace, cfg),
            "o_host": len(sent["i_host"]),
            "o_clear": len(sent["i_clear"]),
        }

        def run(**limits) -> Run:
            self.memory = np.pad(trace.memory, (0, -len(trace.memory) % cfg.word_bytes))
            self.unit.start(self.memory, *window(trace))
            return self.model.run(
                *(sent, due),
                traffic=stalls,
                seed=seed,
                quiet=LONGEST_QUAD,
                patience=PATIENCE + longest,
                **limits,
            )

        if reset_after:
            run(max_cycles=reset_after)
        # Nothing but patience ends a run that hangs.
        found = run(max_cycles=1 << 62)
        for stream, rows in sent.items():
            assert found.taken[stream] == len(rows), f"{name}: stuck: {found.taken} of {due} taken"
        for stream in ("o", "o_host", "o_clear"):
            given = found.given[stream]
            assert given == due[stream], f"{name}: stuck: {stream}: {given} of {due[stream]}"
        assert not any(found.broken.values()), f"{name}: beats changed in waiting: {found.broken}"
        assert self.model.stray_writes == 0, f"{name}: writes behind the memory"

        before = np.searchsorted(found.input_stamps["i"], found.output_stamps["o_pattern"])
        counters = self.unit.counters()
        got = result_of(
            *(trace, cfg, places, found.results["o"], found.results["o_pattern"], before),
            *(self.memory[: len(trace.memory)], counters),
        )
        judge(trace, got, wanted, others, name)
        self._check_others(found, others, name)
        self._check_counters(trace, counters, wanted, places, name)
        self.counters = counters
        return found

    def _check_others(self, run: Run, others: Others, name: str) -> None:
        host = unpack(host_response(self.cfg), run.results["o_host"])
        clears = unpack(clear_result(), run.results["o_clear"])
        for columns, sent in ((host, others.host), (clears, others.clears)):
            np.testing.assert_array_equal(columns["tag"], sent["tag"], name)
            assert not columns["error"].any(), name
        np.testing.assert_array_equal(
            np.where(others.seen, host["data"], 0), np.where(others.seen, others.answers, 0), name
        )

    def _check_counters(self, trace, counters, wanted, places, name) -> None:
        codes, counts = np.unique(wanted.error[wanted.error > 0], return_counts=True)
        due = {f"code_{code}": int(n) for code, n in zip(codes, counts, strict=True)}
        due |= {"quads": len(trace) - len(places), "flushes": len(places) + 1, "dropped": 0}
        found = {key: counters[key] for key in due}
        assert found == due, name
        # Texels of different parts, groups of lanes and depths are combined only in the buffer.
        combined = wanted.counters["byte_writes"]
        assert combined <= counters["byte_writes"] <= counters["samples"], name
        errors = sum(n for key, n in counters.items() if key.startswith("code_"))
        assert errors == counts.sum(), name


def _most_beats(trace: Trace, cfg: UnitConfig) -> int:
    """No fewer than the pattern beats that may come: 16 taps of 2 mips for each part."""
    return len(trace) * 32 * (4 // cfg.lanes)


@cache
def unit_bench(cfg: UnitConfig) -> UnitBench:
    """One build of each configuration for all tests of a process."""
    return UnitBench(cfg)
