"""cocotb bench of the whole board: a replay over a serial line that is not perfect.

The line is the UART of cocotbext-uart; the host side is the one of `minmip replay`, in a thread
that waits for the simulator, so that all its timeouts are simulated time. $MINMIP_BOARD is a folder
with the traces.
"""

from __future__ import annotations

import logging
import os
import random
import zlib
from collections.abc import Callable
from pathlib import Path

import cocotb
import numpy as np
from board_objects import SIMULATED, Faults
from cocotb.clock import Clock
from cocotb.task import bridge, resume
from cocotb.triggers import Event, RisingEdge, Timer
from cocotb.utils import get_sim_time
from cocotbext.uart import UartSink, UartSource

from minmip.hw.board.protocol import MAX_PAYLOAD, SYNC, Command, Status
from minmip.sim import golden
from minmip.sim.compare import differences
from minmip.sim.runners.board import BoardUnit
from minmip.sim.runners.board_link import BoardLink, encode
from minmip.sim.trace import Trace

PERIOD = 10**9 // SIMULATED.clock_hz
BYTE = 10 * 10**9 // SIMULATED.baud
"""Nanoseconds."""
GAP = 1000 * SIMULATED.gap_us + 20 * BYTE
"""Silence after which the board has refused half a packet."""


class SimulatedPort:
    """The board's line as a `serial.Serial`, for a thread beside the simulator."""

    name = "the simulated line"

    def __init__(self, dut, faults: Faults | None = None):
        self.timeout: float | None = None
        self.now = 0.0  # seconds, at the end of the last read
        self.source = UartSource(dut.rx, baud=SIMULATED.baud)
        self.sink = UartSink(dut.tx, baud=SIMULATED.baud)
        for end in (self.source, self.sink):
            end.log.setLevel(logging.WARNING)  # else a line for every byte
        self.faults = faults or Faults(0.0, seed=0)

    def write(self, data: bytes, /) -> int:
        resume(self.send)(data)
        return len(data)

    def read(self, size: int = 1, /) -> bytes:
        return resume(self.receive)(size)

    async def send(self, data: bytes):
        if spoilt := self.faults.spoil(data):  # of no bytes the UART would wait for ever
            self.source.write_nowait(spoilt)

    async def receive(self, size: int) -> bytes:
        """As `serial.Serial.read`; what the host has sent must be on its way first."""
        await self.source.wait()
        end = get_sim_time("ns") + round(self.timeout * 1e9)
        found = bytearray()
        while len(found) < size and get_sim_time("ns") < end:
            if self.sink.empty():
                await self.sink.wait(max(1, int(end - get_sim_time("ns"))), "ns")
            taken = self.sink.read_nowait(min(size - len(found), self.sink.count()))
            found += self.faults.spoil(bytes(taken))
        self.now = get_sim_time("ns") / 1e9
        return bytes(found[:size])

    async def answer(self, packet: bytes) -> tuple[int, int, bytes]:
        """Send a packet as it is, and take one whole reply: sequence, status, payload."""
        self.timeout = 40 * GAP / 1e9
        await self.send(packet)
        head = await self.receive(5)
        assert len(head) == 5, f"no reply, only {head.hex()}"
        assert head[0] == SYNC
        size = int.from_bytes(head[3:], "little")
        rest = await self.receive(size + 4)
        assert zlib.crc32(head[1:] + rest[:size]) == int.from_bytes(rest[size:], "little")
        return head[1], head[2], rest[:size]


async def power_up(dut) -> None:
    dut.rx.value = 1
    cocotb.start_soon(Clock(dut.clk, PERIOD, "ns").start())
    for level in (1, 0):
        dut.rst.value = level
        for _ in range(20):  # a reset takes a few clocks to come, and to go
            await RisingEdge(dut.clk)


def link(port: SimulatedPort) -> BoardLink:
    return BoardLink(port, timeout=8e-3, gap=GAP / 1e9, tries=20, clock=lambda: port.now)


async def replay(unit_of: Callable[[], BoardUnit], name: str):
    """Run a trace of the folder and compare it with the golden model."""
    trace = Trace.load(Path(os.environ["MINMIP_BOARD"], name))
    unit, result = await bridge(lambda: ((u := unit_of()), u(trace)))()
    wanted = golden.run(trace, config=SIMULATED.unit)
    found = differences(trace, result, wanted)
    assert not found, "\n".join(found)
    assert result.counters["quads"] == len(trace)
    assert result.counters["flushes"] == 1
    assert np.any(wanted.memory != trace.memory), "the trace writes nothing"
    return unit


@cocotb.test()
async def test_replay(dut):
    await power_up(dut)
    port = SimulatedPort(dut)
    unit = await replay(lambda: BoardUnit(link(port)), "trace.npz")
    assert unit.cfg == SIMULATED.unit
    assert unit.link.counts.again == 0


@cocotb.test()
async def test_replay_with_faults(dut):
    """Bits flipped, bytes lost and invented both ways: some requests go twice, the map is right."""
    await power_up(dut)
    faults = Faults(0.0008, seed=cocotb.RANDOM_SEED)
    port = SimulatedPort(dut, faults)
    unit = await replay(lambda: BoardUnit(link(port)), "trace.npz")
    counts = unit.link.counts
    dut._log.info("%d faults, %d of %d packets again", faults.count, counts.again, counts.packets)
    assert faults.count > 0
    assert counts.again > 0


@cocotb.test()
async def test_reset_in_the_middle(dut):
    """The board's reset button: the replay begins again, and its counters and tags at 0."""
    await power_up(dut)
    port = SimulatedPort(dut)
    pushed = Event()

    async def push():
        while port.source.count() < 1000:
            await Timer(BYTE, "ns")
        while port.source.count() > 500:  # half of the quads are in
            await Timer(BYTE, "ns")
        dut.rst.value = 1
        await Timer(5 * PERIOD, "ns")
        dut.rst.value = 0
        pushed.set()

    cocotb.start_soon(push())
    unit = await replay(lambda: BoardUnit(link(port)), "trace.npz")
    assert pushed.is_set()
    assert unit.link.counts.again > 0


@cocotb.test()
async def test_bad_packets(dut):
    """Each kind of bad packet is refused by its name and does nothing."""
    await power_up(dut)
    port = SimulatedPort(dut)
    rng = random.Random(cocotb.RANDOM_SEED)
    assert await port.answer(encode(5, Command.COUNTERS, b"")) == (0, Status.CLOSED, b"")
    sequence, status, text = await port.answer(encode(7, Command.HELLO, b""))
    assert (sequence, status) == (7, Status.DONE)
    assert text.startswith(b'{"minmip":')
    bounds = encode(8, Command.BOUNDS, bytes(5) + (16).to_bytes(6, "little"))
    assert await port.answer(bounds) == (8, Status.DONE, b"")
    content = rng.randbytes(64)
    write = encode(9, Command.WRITE, (512).to_bytes(6, "little") + content)
    assert await port.answer(write) == (9, Status.DONE, b"")
    read = (512).to_bytes(6, "little") + (4).to_bytes(2, "little")
    assert await port.answer(encode(10, Command.READ, read)) == (10, Status.DONE, content)

    clear = encode(
        11, Command.CLEAR, (512).to_bytes(6, "little") + (64).to_bytes(4, "little") + b"x"
    )
    flipped = bytearray(clear)
    flipped[rng.randrange(5, len(clear))] ^= 1 << rng.randrange(8)
    long = bytes((SYNC, 11, Command.CLEAR)) + (MAX_PAYLOAD + 1).to_bytes(2, "little")
    for packet, wanted in (
        (bytes(flipped), Status.CRC),
        (clear[: rng.randrange(2, len(clear))], Status.SHORT),
        (long, Status.LONG),
        (rng.randbytes(3).replace(bytes((SYNC,)), b"?") + bytes(flipped) + clear, Status.CRC),
        (encode(13, Command.CLEAR, clear[5:-4]), Status.SEQUENCE),
        (encode(9, Command.CLEAR, clear[5:-4]), Status.SEQUENCE),
    ):
        assert await port.answer(packet) == (11, wanted, b""), wanted.name
    # A byte without a stop bit, inside a packet: the line is pulled down behind its first bytes.
    await port.send(clear[:4])
    await port.source.wait()
    dut.rx.value = 0
    await Timer(2 * BYTE, "ns")
    dut.rx.value = 1
    assert await port.answer(b"") == (11, Status.NOISE, b"")
    # The request before, again: its reply once more, though the map has not been read again.
    assert await port.answer(encode(10, Command.READ, read)) == (10, Status.DONE, content)

    for packet, wanted in (
        (encode(11, 99, b""), Status.MALFORMED),
        (encode(12, Command.CLEAR, clear[5:-5]), Status.MALFORMED),
        (encode(13, Command.WRITE, (512).to_bytes(6, "little") + b"short"), Status.MALFORMED),
        (encode(14, Command.QUADS, b"\x01\x00abcdefg"), Status.MALFORMED),
        (encode(15, Command.READ, read[:6] + b"\xff\x0f"), Status.MALFORMED),
        (encode(16, Command.WRITE, (4096).to_bytes(6, "little") + bytes(16)), Status.OUTSIDE),
    ):
        sequence, status, payload = await port.answer(packet)
        assert (sequence, status, payload) == (packet[1], wanted, b""), wanted.name
    sequence, status, payload = await port.answer(encode(17, Command.READ, read))
    assert (status, payload) == (Status.DONE, content), "a refused packet changed the map"
    sequence, status, payload = await port.answer(encode(18, Command.COUNTERS, b""))
    assert status == Status.DONE
    assert not any(payload), "a refused packet reached the unit"
