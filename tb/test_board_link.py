"""The host link: every packet is carried out once or refused, whatever the line does to it."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from board_line import STUCK, simulate
from board_objects import SIMULATED
from kit.mutants import planted
from mutants.board import MUTANTS, PROOF_ONLY

from minmip.hw.board.protocol import MAX_PAYLOAD, SYNC, Command, Status
from minmip.sim.runners.board_link import encode

CFG = replace(SIMULATED, gap_us=3, patience_us=20)
GAP = CFG.gap_us * CFG.baud // 1_000_000
"""In bits."""
SEED = 1


def inverted(payload: bytes) -> bytes:
    return bytes(byte ^ 0xFF for byte in payload)


class Host:
    """Exchanges packets and knows how many requests must have been carried out."""

    def __init__(self, line, dut):
        self.line, self.dut, self.effects = line, dut, 0

    async def expect(self, wanted: tuple[int, int, bytes], patience: float = 40):
        assert await self.line.receive(patience) == wanted
        assert self.line.ctx.get(self.dut.effects) == self.effects

    async def carried_out(self, sequence: int, payload: bytes = b"", code: int = Command.READ):
        await self.line.send(encode(sequence, code, payload))
        self.effects = 1 if code == Command.HELLO else self.effects + 1
        patience = 40 + len(payload)
        await self.expect((sequence, Status.DONE, inverted(payload)), patience)

    async def refused(self, packet: bytes, following: int, status: int, patience=2 * GAP):
        await self.line.send(packet)
        await self.expect((following, status, b""), patience)


async def link_rules(line, dut):
    rng = random.Random(SEED)
    host = Host(line, dut)
    await host.refused(encode(3, Command.READ, b"abc"), 0, Status.CLOSED)
    await host.carried_out(254, code=Command.HELLO)
    await host.carried_out(255, b"\x00\xff\x6d")
    await host.carried_out(0, rng.randbytes(5))
    # The same again: its reply again, and no second effect.
    last = rng.randbytes(4)
    await host.carried_out(1, last)
    await line.send(encode(1, Command.READ, last))
    await host.expect((1, Status.DONE, inverted(last)))
    for sequence in (0, 3):
        await host.refused(encode(sequence, Command.READ, b"x"), 2, Status.SEQUENCE)

    good = encode(2, Command.READ, b"payload")
    for at in (1, 5, len(good) - 1):
        flipped = bytearray(good)
        flipped[at] ^= 1 << rng.randrange(8)
        await host.refused(bytes(flipped), 2, Status.CRC)
    # What comes behind a broken packet without a pause belongs to it.
    await host.refused(bytes(flipped) + good, 2, Status.CRC)
    for cut in (1, 5, len(good) - 1):
        await host.refused(good[:cut], 2, Status.SHORT)
    long = bytes((SYNC, 2, Command.READ)) + (MAX_PAYLOAD + 1).to_bytes(2, "little")
    await host.refused(long, 2, Status.LONG)

    # A byte without a stop bit; noise before a packet; a glitch that is no start bit.
    await line.send(good[:7])
    await line.hold(0, 10)
    await line.hold(1, 2)
    await host.refused(b"", 2, Status.NOISE)
    await line.hold(0, 30)
    await line.hold(1, 2)
    await line.send(b"noise")
    await line.silence(2 * GAP)
    await line.hold(0, 1 / line.clocks)
    await line.hold(1, 3)
    await host.carried_out(2, b"payload")

    # A request that does not end closes the session; hello opens one, and resets.
    await line.send(encode(3, STUCK, b""))
    host.effects = 0
    await host.expect((3, Status.STUCK, b""), 2 * CFG.patience_us * CFG.baud / 1e6)
    await host.refused(encode(4, Command.READ, b"x"), 4, Status.CLOSED)
    await host.carried_out(9, code=Command.HELLO)
    await host.carried_out(10, b"again")
    await host.carried_out(200, code=Command.HELLO)


def test_link():
    simulate(CFG, link_rules)


@pytest.mark.parametrize(
    "mutant",
    [mutant for mutant in MUTANTS if mutant.name not in PROOF_ONLY],
    ids=lambda mutant: mutant.name,
)
def test_mutant_is_caught(mutant):
    with planted(mutant), pytest.raises(AssertionError):
        simulate(CFG, link_rules)


@pytest.mark.parametrize(("clock_hz", "baud"), [(50_000_000, 3_000_000), (25_000_000, 3_000_000)])
def test_true_rates(clock_hz, baud):
    """The rate is no whole number of clocks; the host's may be 2 % off."""

    async def bench(line, dut):
        for drift in (0.98, 1.02):
            host = Host(line, dut)
            line.clocks = clock_hz / baud * drift
            await host.carried_out(7, code=Command.HELLO)
            await host.carried_out(8, b"\x00\xff\x55\xaa")

    simulate(replace(CFG, clock_hz=clock_hz, baud=baud, gap_us=100), bench)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"baud": 20_000_000}, "baud must be at most a quarter of the clock of 50000000 Hz"),
        ({"gap_us": 1}, "gap_us must be at least two bytes, 2 us at 12500000 baud, not 1"),
        ({"patience_us": 0}, "patience_us must be above 0, not 0"),
    ],
)
def test_bad_parameters(change, sentence):
    with pytest.raises(ValueError, match=sentence):
        replace(CFG, **change)
