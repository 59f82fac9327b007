"""A trace on a board: `minmip replay --backend board` (`docs/board.md`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields
from typing import Any

import numpy as np

from minmip.hw.beats import quad_request
from minmip.hw.board.config import ULX3S, unit_of
from minmip.hw.board.protocol import ANSWER_BYTES, COUNTER_BYTES, MAX_ANSWERS, MAX_PAYLOAD, Command
from minmip.hw.board.quad_loader import group_words
from minmip.hw.config import UnitConfig
from minmip.sim.runners.board_link import BoardLink, BoardReset, open_port
from minmip.sim.runners.unit import make_unit, window
from minmip.sim.runners.unit_beats import (
    TAGS,
    check_order,
    filtered_of,
    flush_row,
    request_rows,
)
from minmip.sim.runners.verilate import RunnerError
from minmip.sim.trace import Result, Trace

__all__ = ["BoardUnit", "connect", "packets", "records"]

_CHUNK = 1 << 12
"""Quads that are made into packets at a time."""
_RESTARTS = 2
"""How often a trace begins again after the board was reset."""
_MIXED = 64
"""Bytes that a run of equal ones must have to be cleared and not written."""


def connect(port: str | None, *, wanted: UnitConfig | None = None) -> BoardUnit:
    """Open the serial port and ask the board what it is.

    Parameters
    ----------
    port : str
        Such as /dev/ttyUSB0.
    wanted : UnitConfig
        What the board's unit must be, but for the size of its memory.

    Raises
    ------
    RunnerError
        When there is no port, no board, or another build.
    """
    if port is None:
        raise RunnerError("--backend board wants --port, the serial port, such as /dev/ttyUSB0")
    board = BoardUnit(BoardLink(open_port(port, ULX3S.baud)))
    if wanted is not None:
        for field in fields(UnitConfig):
            found, asked = getattr(board.cfg, field.name), getattr(wanted, field.name)
            if found != asked and field.name != "memory_bytes":
                raise RunnerError(
                    f"the board on {port} is another build: {field.name} is {_plain(found)}, "
                    f"wanted {_plain(asked)}"
                )
    return board


class BoardUnit:
    """Runs traces on a board.

    Parameters
    ----------
    link : BoardLink
        Its line.

    Attributes
    ----------
    cfg : UnitConfig
        Of the unit on the board, as the board says.
    clock_hz : int
        The board's clock.

    Raises
    ------
    RunnerError
        When no board answers, or one that this program does not know.
    """

    def __init__(self, link: BoardLink):
        self.link = link
        try:
            self.cfg, self.clock_hz = unit_of(link.hello())
        except ValueError as error:
            raise RunnerError(f"{link.port.name}: {error}") from None
        self._counter_names = make_unit(self.cfg).counter_names

    def __call__(
        self,
        trace: Trace,
        *,
        pattern: bool = False,
        progress: Callable[[int], object] | None = None,
    ) -> Result:
        """Run a trace and a flush; parameters as of `run_unit`. Clock cycles are not known.

        Raises
        ------
        RunnerError
            When the trace does not fit the board, or the board fails.
        """
        if pattern:
            raise RunnerError("a board keeps no sample pattern: leave out --pattern")
        if len(trace.memory) > self.cfg.memory_bytes:
            raise RunnerError(
                f"the trace has {len(trace.memory)} bytes of map memory, the board holds "
                f"{self.cfg.memory_bytes}"
            )
        done = 0

        def advance(quads: int) -> None:
            """Tell the progress; a trace that begins again is behind for a while."""
            nonlocal done
            if progress is not None and quads > done:
                progress(quads - done)
                done = quads

        for restart in range(_RESTARTS + 1):
            try:
                return self._run(trace, advance)
            except BoardReset as error:
                if restart == _RESTARTS:
                    raise RunnerError(f"{error}, {restart + 1} times") from None
        raise AssertionError("the last round returns or raises")

    def _run(self, trace: Trace, advance: Callable[[int], object]) -> Result:
        link = self.link
        link.hello()  # resets the unit: counters and tags begin at 0
        base, limit = window(trace)
        link.request(Command.BOUNDS, base.to_bytes(5, "little") + limit.to_bytes(6, "little"))
        if limit > base:
            self._fill(256 * base, trace.memory[: 256 * (limit - base)])
        answers = self._send(trace, advance)
        code, filtered = filtered_of(answers[: len(trace)])
        memory = trace.memory.copy()
        if limit > base:
            inside = min(len(memory), 256 * (limit - base))
            memory[:inside] = self._read(256 * base, inside)
        return Result(
            memory=memory,
            error=code,
            filtered=filtered,
            counters=self.counters(),
            meta=dict(trace.meta),
        )

    def _fill(self, base: int, memory: np.ndarray) -> None:
        """Write the map memory: long runs of equal bytes by the clear engine."""
        word = self.cfg.word_bytes
        memory = np.pad(memory, (0, -len(memory) % word))
        rows = memory.reshape(-1, word)
        # Words that are one byte over and over, and which: others have -1.
        same = np.where((rows == rows[:, :1]).all(axis=1), rows[:, 0].astype(np.int64), -1)
        edges = np.flatnonzero(np.diff(same)) + 1
        spans = zip([0, *edges.tolist()], [*edges.tolist(), len(same)], strict=True)
        written: list[tuple[int, int]] = []
        for first, last in spans:
            if same[first] >= 0 and (last - first) * word >= _MIXED:
                start = (base + first * word).to_bytes(6, "little")
                size = ((last - first) * word).to_bytes(4, "little")
                self.link.request(Command.CLEAR, start + size + bytes((int(same[first]),)))
            elif written and written[-1][1] == first:
                written[-1] = written[-1][0], last
            else:
                written.append((first, last))
        step = (MAX_PAYLOAD - 6) // word
        for first, last in written:
            for at in range(first, last, step):
                start = (base + at * word).to_bytes(6, "little")
                self.link.request(Command.WRITE, start + rows[at : min(at + step, last)].tobytes())

    def _read(self, base: int, size: int) -> np.ndarray:
        word = self.cfg.word_bytes
        step = MAX_PAYLOAD // word
        words = -(-size // word)
        parts = []
        for at in range(0, words, step):
            count = min(step, words - at)
            start = (base + at * word).to_bytes(6, "little")
            part = self.link.request(Command.READ, start + count.to_bytes(2, "little"))
            self._check_size("read", part, count * word)
            parts.append(part)
        return np.frombuffer(b"".join(parts), np.uint8)[:size]

    def _send(self, trace: Trace, advance: Callable[[int], object]) -> np.ndarray:
        """Send every quad and a flush; return the answers, uint32 [quads + 1, 3]."""
        quads = len(trace)
        answers = [np.zeros((0, ANSWER_BYTES // 4), np.uint32)]
        answered = 0
        for payload, count in packets(_rows(trace, self.cfg), self.cfg):
            reply = self.link.request(Command.QUADS, payload)
            self._check_size("quads", reply, count * ANSWER_BYTES)
            rows = np.frombuffer(reply, "<u4").reshape(count, -1)
            check_order(rows, answered, quads)
            answers.append(rows)
            answered += count
            advance(min(answered, quads))
        return np.concatenate(answers)

    def counters(self) -> dict[str, int]:
        """Event counters since the session began."""
        reply = self.link.request(Command.COUNTERS)
        self._check_size("counters", reply, COUNTER_BYTES * len(self._counter_names))
        sums = [
            int.from_bytes(reply[at : at + COUNTER_BYTES], "little")
            for at in range(0, len(reply), COUNTER_BYTES)
        ]
        return dict(zip(self._counter_names, sums, strict=True))

    def _check_size(self, request: str, reply: bytes, wanted: int) -> None:
        if len(reply) != wanted:
            raise RunnerError(
                f"the board on {self.link.port.name} is another build: the reply to {request} has "
                f"{len(reply)} bytes, wanted {wanted}"
            )


def records(rows: np.ndarray, before: np.ndarray, cfg: UnitConfig) -> list[bytes]:
    """Records of the host link (`QuadLoader`) for packed requests.

    Parameters
    ----------
    rows : uint32 [n, words]
        Requests.
    before : uint32 [words]
        The request before the first one.
    cfg : UnitConfig
        Axes of the coordinates.
    """
    groups = group_words(cfg)
    rows, before = _untagged(rows, cfg), _untagged(before, cfg)
    changed = rows != np.concatenate([before[None], rows[:-1]])
    sent = np.stack([changed[:, span.start : span.stop].any(axis=1) for span in groups], axis=1)
    masks = (sent << np.arange(len(groups))).sum(axis=1).astype("<u2")
    words = np.repeat(sent, [len(span) for span in groups], axis=1)
    return [
        mask.tobytes() + row[present].astype("<u4").tobytes()
        for mask, row, present in zip(masks, rows, words, strict=True)
    ]


def packets(chunks: Iterator[np.ndarray], cfg: UnitConfig) -> Iterator[tuple[bytes, int]]:
    """Payloads of QUADS and the number of quads in each, from packed requests by chunks."""
    before = np.zeros(group_words(cfg)[-1].stop, np.uint32)
    payload, count = b"", 0
    for rows in chunks:
        for record in records(rows, before, cfg):
            if count == MAX_ANSWERS or len(payload) + len(record) > MAX_PAYLOAD:
                yield payload, count
                payload, count = b"", 0
            payload, count = payload + record, count + 1
        before = rows[-1]
    if count:
        yield payload, count


def _untagged(rows: np.ndarray, cfg: UnitConfig) -> np.ndarray:
    """Requests with tag 0: the board numbers them."""
    tag: Any = quad_request(cfg)["tag"]
    at, bit = divmod(tag.offset, 32)
    rows = rows.copy()
    rows[..., at] &= np.uint32(0xFFFFFFFF ^ (TAGS - 1) << bit)
    return rows


def _rows(trace: Trace, cfg: UnitConfig) -> Iterator[np.ndarray]:
    """Packed requests by chunks; the last one ends with a flush."""
    for first in range(0, len(trace), _CHUNK):
        yield request_rows(trace, cfg, first, min(first + _CHUNK, len(trace)))
    yield flush_row(cfg, len(trace))


def _plain(value: object) -> object:
    return sorted(value) if isinstance(value, frozenset) else value
