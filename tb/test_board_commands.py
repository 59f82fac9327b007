# amaranth: UnusedElaboratable=no
"""What each request of the host link does, against a unit made of Python."""

from __future__ import annotations

import random

import pytest
from amaranth.hdl import Value
from amaranth.sim import Simulator
from board_objects import SIMULATED
from kit.mutants import planted
from mutants.board_commands import MUTANTS, PROOF_ONLY

from minmip.hw.beats import quad_answer
from minmip.hw.board.commands import Commands
from minmip.hw.board.config import identity
from minmip.hw.board.protocol import Command, Status
from minmip.hw.counters import Counters

COUNTERS = 5
BASE, SIZE = 0x1200, 1024
"""Map memory of the unit that is played here."""
SEED = 1
NONE = (Status.MALFORMED, b"")


def number(value: int, size: int) -> bytes:
    return value.to_bytes(size, "little")


class PlayedUnit:
    """The unit's side of every stream, and requests to `Commands`."""

    def __init__(self, ctx, dut: Commands):
        self.ctx, self.dut = ctx, dut
        self.memory = bytearray(random.Random(SEED).randbytes(SIZE))
        self.window, self.clears, self.quads = (0, 0), [], []
        self.payload = self.reply = b""
        self.waiting: list[tuple[int, int, int]] = []  # clocks, stream, answer
        self.selected = [0] * Counters.latency

    async def request(self, code: int, payload: bytes = b"") -> tuple[int, bytes]:
        """Status and reply of a request."""
        ctx, dut = self.ctx, self.dut
        self.payload, self.reply = payload, b""
        ctx.set(dut.code, code)
        ctx.set(dut.length, len(payload))
        ctx.set(dut.empty, 0)
        ctx.set(dut.start, 1)
        for _ in range(30_000):
            await self.clock()
            ctx.set(dut.start, 0)
            if ctx.get(dut.done):
                status = ctx.get(dut.status)
                await self.clock()
                assert not ctx.get(dut.done)
                return status, self.reply
        raise AssertionError(f"request {code} does not end")

    async def clock(self):
        """Play one clock: what moved at its edge, then what is offered in the next one."""
        ctx, dut = self.ctx, self.dut
        took = ctx.get(dut.i_payload.ready) and ctx.get(dut.i_payload.valid)
        if ctx.get(dut.o_payload.valid):
            self.reply += bytes((ctx.get(dut.o_payload.payload),))
        if ctx.get(dut.i_answers.valid) and ctx.get(dut.i_answers.ready):
            self.waiting = [entry for entry in self.waiting if entry != self.first("answer")]
        if ctx.get(dut.o_host.valid) and ctx.get(dut.o_host.ready):
            self.waiting.append((7, "host", self.access(ctx.get(Value.cast(dut.o_host.payload)))))
        if ctx.get(dut.o_clear.valid) and ctx.get(dut.o_clear.ready):
            clear = ctx.get(dut.o_clear.payload)
            self.clears.append((clear.start, clear.length, clear.value))
            self.waiting.append((9, "clear", int(clear.start < BASE)))
        if ctx.get(dut.o_quads.valid) and ctx.get(dut.o_quads.ready):
            quad = ctx.get(dut.o_quads.payload)
            self.quads.append((quad.opcode, quad.uvw[0][0], quad.tag))
            answer = quad_answer().const({"code": quad.opcode, "tag": quad.tag})
            self.waiting.append((40, "answer", answer.as_bits()))
        self.window = ctx.get(dut.memory_base), ctx.get(dut.memory_limit)
        self.selected = [ctx.get(dut.counter_select), *self.selected[:-1]]
        await ctx.tick()
        if took:
            self.payload = self.payload[1:]
        ctx.set(dut.i_payload.valid, len(self.payload) > 0)
        ctx.set(dut.i_payload.payload, self.payload[0] if self.payload else 0)
        ctx.set(dut.empty, not self.payload)
        ctx.set(dut.counter_value, 0x1111_1111_1111 * (1 + self.selected[-1]))
        self.waiting = [(max(0, clocks - 1), *rest) for clocks, *rest in self.waiting]
        for stream, port in (
            ("host", dut.i_host),
            ("clear", dut.i_clear),
            ("answer", dut.i_answers),
        ):
            due = self.first(stream)
            ctx.set(port.valid, due is not None)
            if due is not None:
                ctx.set(Value.cast(port.payload), due[2])
                if stream != "answer":  # always taken
                    self.waiting.remove(due)
        for ready in (dut.o_host.ready, dut.o_clear.ready, dut.o_quads.ready):
            ctx.set(ready, 1)
        ctx.set(dut.o_payload.ready, 1)

    def first(self, stream: str):
        """What a stream has waited long enough with."""
        return next((e for e in self.waiting if e[1] == stream and e[0] == 0), None)

    def access(self, request: int) -> int:
        """The memory's answer to a host request, packed."""
        word = self.dut.cfg.unit.word_bytes
        bits = 48 - self.dut.cfg.unit.word_log2
        at = (request & (1 << bits) - 1) * word - BASE
        data, mask = request >> bits, request >> bits + 8 * word
        if not 0 <= at < SIZE:
            return 1 << 8 * word
        for lane in range(word):
            if mask >> lane & 1:
                self.memory[at + lane] = data >> 8 * lane & 255
        return int.from_bytes(self.memory[at : at + word], "little")


async def rules(unit: PlayedUnit):
    rng = random.Random(SEED)
    kept = bytes(unit.memory)
    base, limit = 0x12_3456_789A, 0x1_00_0000_0000
    done = await unit.request(Command.BOUNDS, number(base, 5) + number(limit, 6))
    assert done == (Status.DONE, b"")
    assert unit.window == (base, limit)

    wanted = (BASE + 3, SIMULATED.unit.memory_bytes, 0xA5)
    payload = number(wanted[0], 6) + number(wanted[1], 4) + number(wanted[2], 1)
    assert await unit.request(Command.CLEAR, payload) == (Status.DONE, b"")
    assert await unit.request(Command.CLEAR, bytes(11)) == (Status.OUTSIDE, b"")
    assert unit.clears == [wanted, (0, 0, 0)]

    content = rng.randbytes(48)
    payload = number(BASE + 64, 6) + content
    assert await unit.request(Command.WRITE, payload) == (Status.DONE, b"")
    assert bytes(unit.memory) == kept[:64] + content + kept[112:]
    payload = number(BASE + 48, 6) + number(3, 2)
    assert await unit.request(Command.READ, payload) == (Status.DONE, kept[48:64] + content[:32])
    payload = number(BASE + SIZE - 16, 6) + content[:32]
    assert await unit.request(Command.WRITE, payload) == (Status.OUTSIDE, b"")
    assert bytes(unit.memory[-16:]) == content[:16]
    payload = number(BASE + SIZE - 16, 6) + number(2, 2)
    status, reply = await unit.request(Command.READ, payload)
    assert (status, reply[:16]) == (Status.OUTSIDE, content[:16])

    record = number(1 << 2 | 1 << 8, 2)  # coordinates and small fields
    uvw = [rng.randbytes(32) for _ in range(2)]
    payload = record + uvw[0] + number(3, 4) + b"\0\0" + record + uvw[1] + number(1, 4)
    status, reply = await unit.request(Command.QUADS, payload)
    first, last = (int.from_bytes(part[:4], "little") for part in uvw)
    assert unit.quads == [(3, first, 0), (3, first, 1), (1, last, 2)]
    assert status == Status.DONE
    assert reply == b"".join(number(code | tag << 58, 12) for code, tag in ((3, 0), (3, 1), (1, 2)))
    assert await unit.request(Command.QUADS) == (Status.DONE, b"")

    sums = b"".join(number(0x1111_1111_1111 * (1 + n), 6) for n in range(COUNTERS))
    assert await unit.request(Command.COUNTERS) == (Status.DONE, sums)

    # What does not fit does nothing.
    kept, before = bytes(unit.memory), (unit.window, list(unit.clears), list(unit.quads))
    for code, payload in (
        (0, b""),
        (8, bytes(11)),
        (255, b""),
        (Command.HELLO, b"x"),
        (Command.BOUNDS, bytes(10)),
        (Command.BOUNDS, number(0, 5) + number((1 << 40) + 1, 6)),
        (Command.CLEAR, bytes(12)),
        (Command.CLEAR, number(BASE, 6) + number(SIMULATED.unit.memory_bytes + 1, 4) + b"\0"),
        (Command.WRITE, number(BASE, 6) + bytes(14)),
        (Command.WRITE, number(BASE, 5)),
        (Command.READ, number(BASE, 6) + number(128, 2)),
        (Command.QUADS, b"\x01\x00" + bytes(31)),
    ):
        assert await unit.request(code, payload) == NONE, f"{code} {payload.hex()}"
    assert bytes(unit.memory) == kept
    assert (unit.window, unit.clears, unit.quads) == before
    assert await unit.request(Command.HELLO) == (Status.DONE, identity(SIMULATED))


def simulate() -> None:
    dut = Commands(SIMULATED, COUNTERS)

    async def bench(ctx):
        await rules(PlayedUnit(ctx, dut))

    simulator = Simulator(dut)
    simulator.add_clock(1e-8)
    simulator.add_testbench(bench)
    simulator.run()


def test_commands():
    simulate()


@pytest.mark.parametrize(
    "mutant",
    [mutant for mutant in MUTANTS if mutant.name not in PROOF_ONLY],
    ids=lambda mutant: mutant.name,
)
def test_mutant_is_caught(mutant):
    with planted(mutant), pytest.raises(AssertionError):
        simulate()


@pytest.mark.parametrize("counters", [1, 342])
def test_counters_that_no_reply_holds(counters):
    with pytest.raises(ValueError, match=rf"counters must be in 2\.\.341, not {counters}"):
        Commands(SIMULATED, counters)
