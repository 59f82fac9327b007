"""A board in Python, on the golden model: what the host side talks to where there is no hardware.

It is written from `docs/board.md`, not from the gateware, and knows nothing of clocks.
"""

from __future__ import annotations

import os
import select
import threading
import tty
import zlib
from contextlib import contextmanager, suppress

import numpy as np
from board_objects import Faults

from minmip.hw.board.config import BoardConfig, identity
from minmip.sim import golden
from minmip.sim.trace import FLAG_CLAMP, FLAG_GATHER, FLAG_OFFSET, Trace

SYNC, MAX_PAYLOAD = 0x6D, 2047
HELLO, BOUNDS, CLEAR, WRITE, READ, QUADS, COUNTERS = range(1, 8)
DONE, CRC, SHORT, _, LONG, SEQUENCE, CLOSED = range(7)
MALFORMED, OUTSIDE = 16, 17
GAP = 0.02
"""Seconds of silence that end half a packet."""
GROUPS = {"t_sharp": 8, "s_sharp": 4, "uvw": 0, "slice": 4, "ddx": 0, "ddy": 0, "lod": 4}
GROUPS |= {"clamp": 4, "small": 1}
"""32-bit words of each group of a record; 0: four lanes of as many axes as the unit has."""


class ModelBoard:
    """A board: bytes in, bytes out. One that is `deaf` takes none; `EOFError` pulls the cable."""

    deaf = False

    def __init__(self, cfg: BoardConfig, counter_names: tuple[str, ...]):
        self.cfg, self.names = cfg, counter_names
        self.text = identity(cfg)
        self.memory = np.zeros(cfg.unit.memory_bytes, np.uint8)
        self.received = bytearray()
        self.reset()

    def reset(self):
        """Reset button: the map stays."""
        self.open, self.following, self.kept = False, 0, b""
        self.start()

    def start(self):
        axes = self.cfg.unit.axes
        self.words = {name: np.zeros(n or 4 * axes, np.uint32) for name, n in GROUPS.items()}
        self.tag, self.window = 0, (0, 0)
        self.sums = dict.fromkeys(self.names, 0)

    def feed(self, data: bytes) -> bytes:
        """Take bytes; the reply if they end a packet."""
        self.received += data
        while self.received and self.received[0] != SYNC:
            del self.received[0]
        if len(self.received) < 5:
            return b""
        sequence, code, size = self.received[1], self.received[2], self.received[3:5]
        end = 9 + int.from_bytes(size, "little")
        if end > 9 + MAX_PAYLOAD or len(self.received) < end:
            return b""
        body, check = bytes(self.received[1 : end - 4]), bytes(self.received[end - 4 : end])
        if zlib.crc32(body) != int.from_bytes(check, "little") or len(self.received) > end:
            return b""  # refused when the line is silent
        self.received.clear()
        return self.request(sequence, code, body[4:])

    def silence(self) -> bytes:
        """Nothing came for GAP: refuse what was left."""
        if not self.received:
            return b""
        size = int.from_bytes(self.received[3:5], "little") if len(self.received) >= 5 else 0
        status = SHORT
        if size > MAX_PAYLOAD:
            status = LONG
        elif len(self.received) >= 9 + size:
            status = CRC
        self.received.clear()
        return packet(self.following, status, b"")

    def request(self, sequence: int, code: int, payload: bytes) -> bytes:
        if code != HELLO:
            if not self.open:
                return packet(self.following, CLOSED, b"")
            if sequence == (self.following - 1) % 256:
                return self.kept
            if sequence != self.following:
                return packet(self.following, SEQUENCE, b"")
        status, reply = self.work(code, payload)
        self.following = (sequence + 1) % 256
        self.kept = packet(sequence, status, reply)
        return self.kept

    def work(self, code: int, payload: bytes) -> tuple[int, bytes]:
        def number(first, last):
            return int.from_bytes(payload[first:last], "little")

        word = self.cfg.unit.word_bytes
        if code == HELLO:
            self.open = True
            self.start()
            return DONE, self.text
        if code == BOUNDS:
            self.window = number(0, 5), number(5, 11)
            return DONE, b""
        if code == CLEAR:
            return self.store(number(0, 6), bytes(payload[10:11]) * number(6, 10)), b""
        if code == WRITE:
            return self.store(number(0, 6) // word * word, payload[6:]), b""
        if code == READ:
            start = number(0, 6) // word * word - 256 * self.window[0]
            return DONE, self.memory[start : start + word * number(6, 8)].tobytes()
        if code == QUADS:
            return DONE, self.quads(payload)
        if code == COUNTERS:
            return DONE, b"".join(self.sums[name].to_bytes(6, "little") for name in self.names)
        return MALFORMED, b""

    def store(self, start: int, data: bytes) -> int:
        first = start - 256 * self.window[0]
        size = min(256 * (self.window[1] - self.window[0]), len(self.memory))
        if first < 0 or first + len(data) > size:
            return OUTSIDE
        self.memory[first : first + len(data)] = np.frombuffer(data, np.uint8)
        return DONE

    def quads(self, payload: bytes) -> bytes:
        at, answers = 0, b""
        while at < len(payload):
            mask = int.from_bytes(payload[at : at + 2], "little")
            at += 2
            for n, words in enumerate(self.words.values()):
                if mask >> n & 1:
                    words[:] = np.frombuffer(payload, "<u4", len(words), at)
                    at += 4 * len(words)
            answers += self.quad().to_bytes(12, "little")
            self.tag = (self.tag + 1) % (1 << 16)
        return answers

    def quad(self) -> int:
        """Run the quad that the words hold; its answer: code, flush, four values, tag."""
        w, small = self.words, int(self.words["small"][0])
        if small >> 6 & 1:
            self.sums["flushes"] += 1
            return 1 << 5 | self.tag << 58
        size = 256 * (self.window[1] - self.window[0])

        def floats(name):
            values = w[name].view(np.float32).reshape(4, -1)
            return np.pad(values, ((0, 0), (0, 3 - values.shape[1])))[None]

        flags = (FLAG_CLAMP, FLAG_OFFSET, FLAG_GATHER)
        trace = Trace(
            t_sharp=w["t_sharp"][None].copy(),
            s_sharp=w["s_sharp"][None].copy(),
            opcode=np.array([small & 7], np.uint8),
            flags=np.array([sum(f for n, f in enumerate(flags) if small >> 3 + n & 1)], np.uint8),
            exec_mask=np.array([small >> 7 & 15], np.uint8),
            helper_mask=np.array([small >> 11 & 15], np.uint8),
            **{name: floats(name) for name in ("uvw", "ddx", "ddy")},
            **{name: w[name].view(np.float32)[None].copy() for name in ("slice", "lod", "clamp")},
            memory_base=256 * self.window[0],
            memory=self.memory[:size].copy(),
        )
        result = golden.run(trace, config=self.cfg.unit)
        self.memory[:size] = result.memory
        self.sums["quads"] += 1
        for name in ("samples", "byte_writes"):
            self.sums[name] += result.counters[name]
        lanes = sum(int(value) << 13 * n for n, value in enumerate(result.filtered[0]))
        return int(result.error[0]) | lanes << 6 | self.tag << 58


def packet(sequence: int, code: int, payload: bytes) -> bytes:
    body = bytes((sequence, code)) + len(payload).to_bytes(2, "little") + payload
    return bytes((SYNC,)) + body + zlib.crc32(body).to_bytes(4, "little")


@contextmanager
def on_a_terminal(board, faults: Faults | None = None):
    """Serve a board on a pseudo-terminal; yields the name of its port."""
    ours, theirs = os.openpty()
    tty.setraw(theirs)
    stop = threading.Event()
    spoil = faults.spoil if faults else bytes

    def serve():
        while not stop.is_set():
            if select.select([] if board.deaf else [ours], [], [], GAP)[0]:
                try:
                    reply = board.feed(spoil(os.read(ours, 4096)))
                except EOFError:
                    os.close(ours)
                    return
            else:
                reply = board.silence()
            if reply:
                os.write(ours, spoil(reply))

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield os.ttyname(theirs)
    finally:
        stop.set()
        thread.join()
        for end in (ours, theirs):
            with suppress(OSError):  # one may be closed already
                os.close(end)
