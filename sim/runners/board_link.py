"""Requests to a board and their replies, over a line that may lose or change bytes."""

from __future__ import annotations

import os
import sys
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from minmip.hw.board.protocol import HEADER_BYTES, MAX_PAYLOAD, SYNC, Command, Status
from minmip.sim.runners.verilate import RunnerError

__all__ = ["BoardLink", "BoardReset", "Port", "encode", "open_port"]

_UNREAD = (Status.CRC, Status.SHORT, Status.NOISE, Status.LONG)
"""The board did not get the request: send it again."""
_WRITE_TIMEOUT = 2.0
"""Seconds after which a port that takes no more bytes is given up; a packet takes milliseconds."""


class BoardReset(RunnerError):
    """The board knows nothing of this session any more: it was reset."""


class Port(Protocol):
    """What is used of `serial.Serial`; `timeout` counts seconds."""

    name: str | None
    timeout: float | None

    def read(self, size: int = 1, /) -> bytes:
        """Return up to `size` bytes: all, or those that came within the timeout."""
        ...

    def write(self, data: bytes, /) -> int | None:
        """Send bytes."""
        ...


def open_port(name: str, baud: int) -> Port:
    """Open a serial port, for this process alone.

    Raises
    ------
    RunnerError
        When pyserial is missing, or the port is not there or in use.
    """
    try:
        import serial
        from serial.tools.list_ports import comports
    except ModuleNotFoundError:
        raise RunnerError("pyserial is missing: install it by `make setup`") from None
    try:
        port: Any = serial.Serial(name, baud, exclusive=True, write_timeout=_WRITE_TIMEOUT)
    except (serial.SerialException, ValueError, OSError) as error:
        there = ", ".join(sorted(found.device for found in comports())) or "none"
        number = getattr(error, "errno", None)
        reason = os.strerror(number) if number else str(error)
        raise RunnerError(
            f"the serial port {name} does not open ({reason}); serial ports here: {there}"
        ) from None
    if sys.platform == "linux":  # elsewhere pyserial cannot set it
        try:  # the USB chip else waits 16 ms for more bytes
            port.set_low_latency_mode(True)
        except ValueError:
            pass  # what pyserial makes of a driver's refusal: it works without, only slower
    return port


def encode(sequence: int, code: int, payload: bytes) -> bytes:
    """Return a packet."""
    if len(payload) > MAX_PAYLOAD:
        raise ValueError(f"a payload must have {MAX_PAYLOAD} bytes at most, not {len(payload)}")
    body = bytes((sequence, code)) + len(payload).to_bytes(2, "little") + payload
    return bytes((SYNC,)) + body + zlib.crc32(body).to_bytes(4, "little")


@dataclass
class LinkCounts:
    """What the line did: packets sent, those of them sent again, bytes both ways."""

    packets: int = 0
    again: int = 0
    sent: int = 0
    received: int = 0


class BoardLink:
    """One session with a board: each request is sent until its reply has come whole.

    Parameters
    ----------
    port : Port
        Serial line.
    timeout : float
        Seconds within which a whole reply must come; more than the board lets a request take.
    gap : float
        Seconds of silence after which nothing more of a broken reply will come.
    tries : int
        How often a request is sent.
    clock : callable
        Seconds of the clock that these times are of.

    Attributes
    ----------
    counts : LinkCounts
    """

    def __init__(
        self,
        port: Port,
        *,
        timeout: float = 1.0,
        gap: float = 0.06,
        tries: int = 5,
        clock: Callable[[], float] = time.monotonic,
    ):
        self.port, self.timeout, self.gap, self.tries = port, timeout, gap, tries
        self.clock = clock
        self.counts = LinkCounts()
        self._sequence = 0

    def hello(self) -> bytes:
        """Open a session, which resets the unit; return what the board says of its build.

        Raises
        ------
        RunnerError
            When no board answers.
        """
        self._drain()
        return self.request(Command.HELLO)

    def request(self, command: Command, payload: bytes = b"") -> bytes:
        """Send a request and return the payload of its reply.

        Raises
        ------
        BoardReset
            When the board has no such session.
        RunnerError
            When no whole reply comes, the port fails, or the board can't do it.
        """
        self._sequence = (self._sequence + 1) % 256
        packet = encode(self._sequence, command, payload)
        for attempt in range(self.tries):
            self._write(packet)
            self.counts.packets += 1
            self.counts.again += attempt > 0
            self.counts.sent += len(packet)
            reply = self._reply()
            if reply is None:
                continue
            status, answer = reply
            if status in (Status.CLOSED, Status.SEQUENCE):
                raise BoardReset(f"the board on {self.port.name} was reset in the middle")
            if status in _UNREAD:
                continue
            if status != Status.DONE:
                raise RunnerError(_refusal(command, status))
            return answer
        raise RunnerError(
            f"no board answers on {self.port.name}: {self.tries} requests "
            f"({command.name.lower()}), and no whole reply within {self.timeout:g} s to any"
        )

    def _reply(self) -> tuple[int, bytes] | None:
        """Status and payload of the next reply to this request; None if it is broken or missing."""
        end = self.clock() + self.timeout
        while (left := end - self.clock()) > 0:
            first = self._read(1, left)
            if first != bytes((SYNC,)):
                continue  # nothing, or noise
            header = self._read(HEADER_BYTES, left)
            length = int.from_bytes(header[2:], "little")
            if len(header) < HEADER_BYTES or length > MAX_PAYLOAD:
                return self._drain()
            rest = self._read(length + 4, left)
            if len(rest) < length + 4:
                return self._drain()
            if zlib.crc32(header + rest[:length]) != int.from_bytes(rest[length:], "little"):
                return self._drain()
            sequence, status = header[0], header[1]
            if status in _UNREAD or status in (Status.CLOSED, Status.SEQUENCE):
                return status, b""
            if sequence == self._sequence:
                return status, rest[:length]
            # The reply to an earlier request, which came twice.
        return None

    def _drain(self) -> None:
        """Throw away what comes, up to a silence; of one that never comes, what is enough."""
        end = self.clock() + self.timeout
        while self._read(MAX_PAYLOAD, self.gap) and self.clock() < end:
            pass

    def _read(self, size: int, timeout: float) -> bytes:
        try:
            self.port.timeout = timeout
            found = self.port.read(size)
        except OSError as error:  # pyserial's exceptions are some of these
            raise RunnerError(f"the serial port {self.port.name} failed: {error}") from None
        self.counts.received += len(found)
        return found

    def _write(self, data: bytes) -> None:
        try:
            self.port.write(data)
        except OSError as error:
            raise RunnerError(f"the serial port {self.port.name} failed: {error}") from None


def _refusal(command: Command, status: int) -> str:
    reasons: dict[int, str] = {
        Status.MALFORMED: "it does not fit what the board understands",
        Status.OUTSIDE: "it reaches outside the board's map memory",
        Status.STUCK: "the unit did not answer in time",
    }
    reason = reasons.get(status, f"status {status}")
    return f"the board refused a request ({command.name.lower()}): {reason}"
