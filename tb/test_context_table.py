# amaranth: UnusedElaboratable=no
"""Context table: in front of a queue of quads that release their context when they leave.

The fields are read when a quad enters the queue and all the time while it waits to leave.
MINMIP_LONG=1 sends 10^6 beats; MINMIP_FIRST_SEED (default 1) is printed on a failure.
"""

import numpy as np
import pytest
from amaranth.hdl import Module, Shape
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from kit.cocotb_bench import run_cocotb
from kit.mutants import planted
from kit.packing import unpack
from kit.stream import check_simulated, simulate
from kit.vlib import LONG, SEED, TRAFFIC, VerilatedBlock
from mutants.context_table import MUTANTS

from minmip.hw.beats import context_answer, control_fields
from minmip.hw.config import PRESETS
from minmip.hw.context_table import ContextTable, context_fields
from minmip.hw.lib.queue import Queue
from minmip.hw.shapes import control

FEW = ("size", "mip_offset")
"""Fields that the second reader asks for."""
ROOM = 512
MOST = 255
"""Quads of one context inside."""


class Inside(wiring.Component):
    """The table and the quads behind it; `o` has the fields that each saw first and last."""

    i: stream.Interface
    o: stream.Interface

    def __init__(self, cfg, room=ROOM):
        every = context_fields(cfg)
        self.table = ContextTable(cfg, (every, FEW))
        seen = {"answer": context_answer(cfg), "first": control_fields(cfg, *every)}
        self.queue = Queue(data.StructLayout(seen), room)
        leaving = data.StructLayout(seen | {"last": control_fields(cfg, *FEW)})
        super().__init__(
            {"i": In(stream.Signature(control(cfg))), "o": Out(stream.Signature(leaving))}
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.table = table = self.table
        m.submodules.queue = queue = self.queue
        wiring.connect(m, wiring.flipped(self.i), table.i)
        leaving = queue.o.payload
        m.d.comb += [
            queue.i.valid.eq(table.o.valid),
            table.o.ready.eq(queue.i.ready),
            queue.i.payload.answer.eq(table.o.payload),
            table.context_0.eq(table.o.payload.context),
            queue.i.payload.first.eq(table.control_0),
            self.o.valid.eq(queue.o.valid),
            queue.o.ready.eq(self.o.ready),
            self.o.payload.answer.eq(leaving.answer),
            self.o.payload.first.eq(leaving.first),
            table.context_1.eq(leaving.answer.context),
            self.o.payload.last.eq(table.control_1),
            table.released_valid.eq(self.o.valid & self.o.ready),
            table.released.eq(leaving.answer.context),
        ]
        return m


def random_answers(rng, count, cfg, often=0.05):
    """Answers of the decode; the fields of those that are not fresh mean nothing here."""
    shape = control(cfg)
    words = rng.integers(0, 1 << 32, (count, (Shape.cast(shape).width + 31) // 32), np.uint32)
    columns = unpack(shape, words)
    contexts = cfg.descriptor_entries
    columns["entry"] = (
        rng.integers(0, contexts, count)
        % np.repeat(rng.integers(1, contexts + 1, count // 20 + 1), 20)[:count]
    )
    columns["fresh"] = (rng.random(count) < often).astype(np.int64)
    _, first = np.unique(columns["entry"], return_index=True)
    columns["fresh"][first] = 1
    return columns


def golden(answers):
    """What each quad sees: the fields of the last fresh answer of its context."""
    entry = answers["entry"]
    latest = np.zeros(len(entry), np.int64)
    held = {}
    for row, (context, fresh) in enumerate(zip(entry.tolist(), answers["fresh"], strict=True)):
        if fresh:
            held[context] = row
        latest[row] = held[context]
    fields = {
        name: column[latest]
        for name, column in answers.items()
        if name not in ("code", "entry", "fresh", "tag")
    }
    return {
        "answer": {"context": entry, "code": answers["code"]},
        "first": fields,
        "last": {name: fields[name] for name in FEW},
    }


class Unit:
    """The verilated bench and its parameters."""

    def __init__(self, name):
        self.cfg = PRESETS[name]
        self.block = VerilatedBlock(Inside(self.cfg), "context_table")

    def check(self, answers, traffic="full", seed=1):
        self.block.model.reset()
        run = self.block.check({"i": answers}, {"o": golden(answers)}, traffic=traffic, seed=seed)
        return run.input_stamps["i"].astype(np.int64), run.output_stamps["o"].astype(np.int64)


@pytest.fixture(scope="module", params=("small", "full"))
def unit(request):
    return Unit(request.param)


def test_random(unit):
    print("seed", SEED)
    rng = np.random.default_rng(SEED)
    for often in (0.5, 0.05, 0.001):
        unit.check(random_answers(rng, 1_000_000 if LONG else 30_000, unit.cfg, often))


@pytest.mark.parametrize("traffic", TRAFFIC)
def test_traffic(unit, traffic):
    count = 1000 if traffic == "long stalls" else 10_000
    unit.check(random_answers(np.random.default_rng(2), count, unit.cfg), traffic, seed=3)


def crowd(cfg):
    """Many quads of one context, then many of another."""
    answers = random_answers(np.random.default_rng(4), 3000, cfg, 0)
    answers["entry"] = np.arange(3000) // 1000 % 2
    answers["fresh"][1000] = 1
    return answers


def most_inside(entry, taken, left):
    """The most quads that one context has inside."""
    most = 0
    for context in np.unique(entry):
        own = entry == context
        inside = np.arange(1, own.sum() + 1) - np.searchsorted(left[own], taken[own])
        most = max(most, int(inside.max()))
    return most


def test_never_too_many(unit):
    answers = crowd(unit.cfg)
    taken, left = unit.check(answers, "long stalls", seed=5)
    assert MOST - 2 <= most_inside(answers["entry"], taken, left) <= MOST


def test_rate(unit):
    """Two contexts in turn: one quad per clock, latency 2 (and 2 of the queue); fresh ones 3."""
    answers = random_answers(np.random.default_rng(6), 5000, unit.cfg, 0)
    answers["entry"] = np.arange(5000) % 2
    answers["fresh"] = (np.arange(5000) < 2).astype(np.int64)
    taken, left = unit.check(answers)
    np.testing.assert_array_equal(np.diff(taken), [3] + [1] * 4998)
    assert taken[0] == 2
    np.testing.assert_array_equal(left - taken, 2 + 2)


def simulated():
    """Fresh answers often and one after the other, then many of one context."""
    cfg = PRESETS["small"]
    answers = random_answers(np.random.default_rng(7), 300, cfg, 0.3)
    for traffic in ("full", "both"):
        check_simulated(Inside(cfg), {"i": answers}, {"o": golden(answers)}, traffic=traffic)
    # Nothing leaves before 300 quads wait.
    table = ContextTable(cfg, ())
    answers = random_answers(np.random.default_rng(8), 300, cfg, 0)
    answers["entry"][:] = 0
    answers["fresh"][1:] = 0
    with pytest.raises(AssertionError, match=f"{{'o': '{MOST} of 300'}}"):
        simulate(table, {"i": answers}, 300)


def test_pysim():
    simulated()


def test_cocotb():
    cfg = PRESETS["small"]
    answers = random_answers(np.random.default_rng(9), 150, cfg, 0.2)
    run_cocotb(Inside(cfg, 16), "context_table", {"i": answers}, {"o": golden(answers)})


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_mutant(mutant):
    with planted(mutant), pytest.raises((AssertionError, pytest.fail.Exception)):
        simulated()
