"""Records of the host link: every field of every quad comes through, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
from amaranth.hdl import Value
from amaranth.sim import Simulator
from board_objects import SIMULATED
from kit.mutants import planted
from mutants.board_quads import MUTANTS, PROOF_ONLY

from minmip.hw.beats import quad_request
from minmip.hw.board.protocol import MAX_ANSWERS, MAX_PAYLOAD
from minmip.hw.board.quad_loader import GROUPS, QuadLoader, group_words
from minmip.hw.config import FULL
from minmip.sim.runners.board import packets, records

SEED = 1


def random_rows(cfg, quads: int, seed: int) -> np.ndarray:
    """Requests of random bits, in which any group of words may stay as it was."""
    rng = np.random.default_rng(seed)
    layout = quad_request(cfg)
    groups = group_words(cfg)
    rows = np.zeros((quads, groups[-1].stop), np.uint32)
    row = np.zeros(groups[-1].stop, np.uint32)
    for n in range(quads):
        for span in groups:
            if rng.random() < 0.4:
                row[span.start : span.stop] = rng.integers(0, 1 << 32, len(span))
        rows[n] = row
    tag = layout["tag"].offset % 32
    rows[:, -1] &= np.uint32((1 << tag) - 1)
    rows[:, -1] |= (np.arange(quads) << tag).astype(np.uint32)
    return rows


def load(cfg, payload: bytes, *, room: int = 1000) -> tuple[list[int], bool]:
    """Requests that the loader makes of a payload, and whether it calls it broken."""
    loader = QuadLoader(cfg)
    found, ends = [], []
    rng = np.random.default_rng(SEED)

    async def feed(ctx):
        ctx.set(loader.start, 1)
        await ctx.tick()
        ctx.set(loader.start, 0)
        for byte in payload:
            if rng.integers(0, 2):
                await ctx.tick()
            ctx.set(loader.i.payload, byte)
            ctx.set(loader.i.valid, 1)
            while True:
                _, _, ready, done = await ctx.tick().sample(loader.i.ready, loader.done)
                if ready or done:
                    break
            ctx.set(loader.i.valid, 0)
            if done and not ready:
                return
        await ctx.tick().repeat(2)
        ctx.set(loader.empty, 1)

    async def take(ctx):
        ctx.set(loader.o.ready, 1)
        ctx.set(loader.room, room > 0)
        clocks = 0
        while not ends:
            clocks += 1
            assert clocks < 50_000, "the loader does not end"
            _, _, valid, request, done, broken = await ctx.tick().sample(
                loader.o.valid, Value.cast(loader.o.payload), loader.done, loader.broken
            )
            if valid:
                found.append(request)
                ctx.set(loader.room, len(found) < room)
            if done:
                ends.append(bool(broken))

    simulator = Simulator(loader)
    simulator.add_clock(1e-8)
    simulator.add_testbench(feed)
    simulator.add_testbench(take)
    simulator.run()
    return found, ends[0]


def numbers(rows: np.ndarray) -> list[int]:
    return [int.from_bytes(row.astype("<u4").tobytes(), "little") for row in rows]


def masked(cfg, rows: np.ndarray) -> list[int]:
    bits = quad_request(cfg).size
    return [number & (1 << bits) - 1 for number in numbers(rows)]


def same(cfg, quads: int = 12) -> None:
    rows = random_rows(cfg, quads, SEED)
    payload = b"".join(records(rows, np.zeros_like(rows[0]), cfg))
    found, broken = load(cfg, payload)
    assert found == masked(cfg, rows), f"seed {SEED}"
    assert not broken


@pytest.mark.parametrize("cfg", [SIMULATED.unit, FULL], ids=["2 axes", "3 axes"])
def test_every_field(cfg):
    same(cfg)


@pytest.mark.parametrize(
    "mutant",
    [mutant for mutant in MUTANTS if mutant.name not in PROOF_ONLY],
    ids=lambda mutant: mutant.name,
)
def test_mutant_is_caught(mutant):
    with planted(mutant), pytest.raises(AssertionError):
        rules()


def rules() -> None:
    same(SIMULATED.unit)
    broken_records()


def broken_records() -> None:
    cfg = SIMULATED.unit
    rows = random_rows(cfg, 3, SEED)
    first, second, third = records(rows, np.zeros_like(rows[0]), cfg)
    wanted = masked(cfg, rows)
    for payload, count in (
        (first + second[:1], 1),
        (first + second[:-1], 1),
        (first + second + third[:2], 2),
    ):
        found, broken = load(cfg, payload)
        assert (found, broken) == (wanted[:count], True)
    assert load(cfg, first + second + third, room=2) == (wanted[:2], True)
    assert load(cfg, b"") == ([], False)


def test_broken_records():
    broken_records()


def test_packets_hold_whole_records():
    cfg = SIMULATED.unit
    rows = random_rows(cfg, 300, SEED)
    rows[100:] = rows[100]  # then nothing changes but the tag
    made = list(packets(iter([rows[:120], rows[120:]]), cfg))
    assert sum(count for _, count in made) == 300
    assert all(len(payload) <= MAX_PAYLOAD and count <= MAX_ANSWERS for payload, count in made)
    assert b"".join(payload for payload, _ in made) == b"".join(
        records(rows, np.zeros_like(rows[0]), cfg)
    )
    assert records(rows[150:151], rows[149], cfg) == [b"\0\0"]


def test_groups_are_all_fields():
    layout = quad_request(FULL)
    assert [name for name, _ in layout][: len(GROUPS)] == list(GROUPS)
    assert all(field.offset >= layout[GROUPS[-1]].offset for _, field in list(layout)[9:])
