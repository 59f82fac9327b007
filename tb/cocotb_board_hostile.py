"""cocotb bench of the board with a host that does everything wrong: no hang, no wrong map."""

from __future__ import annotations

import random

import cocotb
from board_objects import SIMULATED
from cocotb.triggers import Timer
from cocotb_board import BYTE, GAP, PERIOD, SimulatedPort, power_up
from kit.vlib import LONG

from minmip.hw.board.protocol import MAX_ANSWERS, MAX_PAYLOAD, SYNC, Command, Status
from minmip.sim.runners.board_link import encode

MOST = SIMULATED.unit.memory_bytes
SIZE = 512
"""Bytes that the host has asked for; the line is slow."""
WORD = SIMULATED.unit.word_bytes
STEP = 1 if LONG else 3
"""Of how many bytes of a request one is tried."""


def number(value: int, size: int) -> bytes:
    return value.to_bytes(size, "little")


def clear(start: int, length: int, value: int) -> bytes:
    return number(start, 6) + number(length, 4) + number(value, 1)


class Host:
    """A host that knows what the map must hold."""

    def __init__(self, dut):
        self.dut, self.port = dut, SimulatedPort(dut)
        self.rng = random.Random(cocotb.RANDOM_SEED)
        self.sequence = 0
        self.map = bytearray()

    async def start(self) -> Host:
        """Switch the board on and fill its map."""
        await power_up(self.dut)
        await self.hello()
        self.map = bytearray(self.rng.randbytes(SIZE))
        await self.done(Command.WRITE, number(0, 6) + self.map)
        return self

    async def hello(self) -> None:
        """Open a session, whatever was before."""
        self.sequence = self.rng.randrange(256)
        await self.done(Command.HELLO)
        await self.done(Command.BOUNDS, number(0, 5) + number(SIZE // 256, 6))

    def packet(self, command: int, payload: bytes = b"") -> bytes:
        """Return the next request."""
        return encode(self.sequence, command, payload)

    async def ask(self, command: int, payload: bytes = b"") -> tuple[int, bytes]:
        """Status and reply of the next request."""
        sequence, status, reply = await self.port.answer(self.packet(command, payload))
        assert sequence == self.sequence
        self.sequence = (self.sequence + 1) % 256
        return status, reply

    async def done(self, command: int, payload: bytes = b"") -> bytes:
        status, reply = await self.ask(command, payload)
        assert status == Status.DONE, f"{command}: {status}"
        return reply

    async def silence(self) -> None:
        """Wait until the board has refused what came, and throw its replies away."""
        await self.port.source.wait()
        await Timer(GAP + 30 * BYTE, "ns")
        while not self.port.sink.empty():  # a long reply is still on its way
            self.port.sink.read_nowait()
            await Timer(5 * BYTE, "ns")

    async def read(self) -> bytes:
        """Return the whole map."""
        return await self.done(Command.READ, number(0, 6) + number(SIZE // WORD, 2))

    async def check(self) -> None:
        assert await self.read() == self.map, f"the map has changed, seed {cocotb.RANDOM_SEED}"


@cocotb.test()
async def test_random_bytes(dut):
    """Noise, half of it bytes that look like packets."""
    host = await Host(dut).start()
    parts = [bytes((SYNC,)), host.packet(Command.CLEAR, clear(0, SIZE, 1))]
    for _ in range(3 if LONG else 1):
        noise = b"".join(
            host.rng.choice(parts)[: host.rng.randrange(1, 24)] + host.rng.randbytes(3)
            for _ in range(60)
        )
        await host.port.send(noise)
        await host.silence()
        await host.hello()
        await host.check()


@cocotb.test()
async def test_a_bit_of_each_byte(dut):
    """One bit of a request is wrong, in every byte; behind each the board is as it was."""
    host = await Host(dut).start()
    request = host.packet(Command.CLEAR, clear(0, SIZE, 0x55))
    for at in range(0, len(request), STEP):
        flipped = bytearray(request)
        flipped[at] ^= 1 << host.rng.randrange(8)
        await host.port.send(bytes(flipped))
        await host.silence()
    await host.check()


@cocotb.test()
async def test_every_length(dut):
    """A request stops behind each of its bytes."""
    host = await Host(dut).start()
    request = host.packet(Command.CLEAR, clear(0, SIZE, 0x55))
    for size in range(1, len(request), STEP):
        wanted = (host.sequence, Status.SHORT, b"")
        assert await host.port.answer(request[:size]) == wanted, f"{size} bytes"
    await host.check()


@cocotb.test()
async def test_reset_in_each_request(dut):
    """Reset while a request comes in, is carried out or is answered: each byte is old or new."""
    host = await Host(dut).start()
    content = host.rng.randbytes(8 * WORD)
    cleared = bytes((0xA5,)) * (SIZE - 6)
    requests = {  # payload, and what it writes where
        Command.HELLO: (b"", b"", 0),
        Command.BOUNDS: (number(0, 5) + number(1, 6), b"", 0),
        Command.WRITE: (number(64, 6) + content, content, 64),
        Command.READ: (number(0, 6) + number(20, 2), b"", 0),
        Command.QUADS: (b"\0\0" * 30, b"", 0),
        Command.CLEAR: (clear(3, len(cleared), 0xA5), cleared, 3),
        Command.COUNTERS: (b"", b"", 0),
    }
    for command, (payload, written, start) in requests.items():
        after = bytearray(host.map)
        after[start : start + len(written)] = written
        request = host.packet(command, payload)
        inside = host.rng.randrange(len(request) * BYTE)
        # Behind it: while the command works, a word per clock or so, and while the reply is sent.
        behind = len(request) * BYTE + host.rng.randrange(400 * PERIOD)
        for late in (inside, behind) if LONG else (host.rng.choice((inside, behind)),):
            await host.port.send(request)
            await Timer(late, "ns")
            dut.rst.value = 1
            await Timer(host.rng.randrange(1, 3 * PERIOD), "ns")
            dut.rst.value = 0
            await host.silence()
            await host.hello()
            found = await host.read()
            wrong = [n for n in range(SIZE) if found[n] not in (host.map[n], after[n])]
            assert not wrong, f"{command.name}: byte {wrong[0]}, seed {cocotb.RANDOM_SEED}"
            host.map[:] = found


@cocotb.test()
async def test_host_that_does_not_wait(dut):
    """Requests behind each other, replies not read: one is carried out, the others have no part."""
    host = await Host(dut).start()
    first = host.packet(Command.CLEAR, clear(0, 256, 1))
    host.sequence = (host.sequence + 1) % 256
    second = host.packet(Command.CLEAR, clear(256, 256, 2))
    for _ in range(3):
        await host.port.send(first + second + second[: host.rng.randrange(len(second))])
        await host.silence()
    host.map[:256] = bytes((1,)) * 256
    await host.check()
    assert await host.ask(Command.CLEAR, clear(256, 256, 2)) == (Status.DONE, b"")
    host.map[256:512] = bytes((2,)) * 256
    await host.check()


@cocotb.test()
async def test_numbers_out_of_range(dut):
    """Addresses and sizes that there are not; what lies inside is as it should be."""
    host = await Host(dut).start()
    end, content = (1 << 48) - WORD, host.rng.randbytes(2 * WORD)
    for wanted, command, payload in (
        (Status.MALFORMED, Command.CLEAR, clear(0, MOST + 1, 0)),
        (Status.MALFORMED, Command.CLEAR, clear(0, (1 << 32) - 1, 0)),
        (Status.OUTSIDE, Command.CLEAR, clear(SIZE, SIZE, 0)),
        (Status.OUTSIDE, Command.CLEAR, clear(end, WORD, 0)),
        (Status.OUTSIDE, Command.WRITE, number(SIZE, 6) + content),
        (Status.OUTSIDE, Command.WRITE, number(end, 6) + content[:WORD]),
        (Status.MALFORMED, Command.BOUNDS, number(0, 5) + number((1 << 48) - 1, 6)),
        (Status.MALFORMED, Command.READ, number(0, 6) + number(0xFFFF, 2)),
        (Status.MALFORMED, Command.READ, number(0, 6) + number(MAX_PAYLOAD // WORD + 1, 2)),
    ):
        assert await host.ask(command, payload) == (wanted, b""), f"{command.name} {payload.hex()}"
    status, found = await host.ask(Command.READ, number(SIZE - WORD, 6) + number(2, 2))
    assert (status, len(found)) == (Status.OUTSIDE, 2 * WORD)
    assert found[:WORD] == host.map[-WORD:]
    status, answers = await host.ask(Command.QUADS, b"\0\0" * (MAX_ANSWERS + 1))
    assert (status, len(answers)) == (Status.MALFORMED, 12 * MAX_ANSWERS)
    await host.check()
    # A window larger than the memory shows no byte of it twice.
    await host.done(Command.BOUNDS, number(0, 5) + number(1 << 40, 6))
    status, _ = await host.ask(Command.WRITE, number(MOST, 6) + content)
    assert status == Status.OUTSIDE
    await host.check()
    # A window of nothing has no bytes.
    await host.done(Command.BOUNDS, number(9, 5) + number(2, 6))
    status, _ = await host.ask(Command.WRITE, number(9 * 256, 6) + content)
    assert status == Status.OUTSIDE
    await host.hello()
    await host.check()
