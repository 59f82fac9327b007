"""The stream kit: every part under every traffic, and its mutants."""

import numpy as np
import pytest
from kit.beats import DelayDatapath
from kit.cocotb_bench import run_cocotb
from kit.mutants import planted
from kit.stream import simulate
from kit.vlib import TRAFFIC, VerilatedBlock
from mutants.streams import MUTANTS

from minmip.hw.lib.arbiter import Arbiter
from minmip.hw.lib.credit import CreditBuffer
from minmip.hw.lib.credit_counter import CreditCounter
from minmip.hw.lib.fork import Fork
from minmip.hw.lib.join import Join
from minmip.hw.lib.queue import Queue
from minmip.hw.lib.stage import Stage

COUNT = 400
BEATS = np.arange(1, COUNT + 1)
ONE_TO_ONE = {
    "stage": lambda: Stage(20),
    "queue": lambda: Queue(20, 4),
    "early_queue": lambda: Queue(20, 4, early=True),
    "credit": lambda: CreditBuffer(DelayDatapath(20, 5)),
    # Here the credit counter has two more registers.
    "far_credit": lambda: CreditBuffer(DelayDatapath(20, 3)),
}


def check(name, run):
    """Give a part beats through `run` (columns, expected counts -> columns) and check the order."""
    if name in ONE_TO_ONE:
        got = run({"i": BEATS}, {"o": COUNT})
        assert np.array_equal(got["o"], BEATS)
    elif name == "fork":
        got = run({"i": BEATS}, {f"o__{n}": COUNT for n in range(3)})
        for n in range(3):
            assert np.array_equal(got[f"o__{n}"], BEATS)
    elif name == "join":
        got = run({"i_a": BEATS, "i_b": BEATS + 7}, {"o": COUNT})
        assert np.array_equal(got["o"]["a"], BEATS)
        assert np.array_equal(got["o"]["b"], BEATS + 7)
    else:
        got = run({f"i__{n}": BEATS + 1000 * n for n in range(3)}, {"o": 3 * COUNT})["o"]
        for n in range(3):
            assert np.array_equal(got["beat"][got["source"] == n], BEATS + 1000 * n)
        return got["source"]
    return None


def part(name):
    others = {
        "fork": lambda: Fork(20, 3),
        "join": lambda: Join({"a": 20, "b": 20}),
        "arbiter": lambda: Arbiter(20, 3),
    }
    return (ONE_TO_ONE | others)[name]()


PARTS = [*ONE_TO_ONE, "fork", "join", "arbiter"]


def simulated(name, traffic):
    def run(columns, expected):
        return simulate(part(name), columns, expected, traffic=traffic)

    source = check(name, run)
    if name == "arbiter" and traffic == "full":
        assert sorted(source[:3].tolist()) == [0, 1, 2]
        assert np.array_equal(source, np.resize(source[:3], len(source)))  # in turn


def every_traffic(name):
    for traffic in TRAFFIC:
        simulated(name, traffic)


@pytest.mark.parametrize("traffic", TRAFFIC)
@pytest.mark.parametrize("name", PARTS)
def test_pysim(name, traffic):
    simulated(name, traffic)


@pytest.mark.parametrize("name", PARTS)
def test_verilator(name):
    model = VerilatedBlock(part(name), f"stream_{name}")
    for seed, traffic in enumerate(TRAFFIC):

        def run(columns, expected, traffic=traffic, seed=seed):
            model.model.reset()
            return model.run(columns, expected, traffic=traffic, seed=seed)[0]

        check(name, run)


@pytest.mark.parametrize("latency", [1, 3, 4, 13, 29])
def test_credit_buffer_keeps_up(latency):
    block = CreditBuffer(DelayDatapath(20, latency))
    got, run = VerilatedBlock(block, f"credit{latency}").run({"i": np.arange(5000)}, 5000)
    assert np.array_equal(got["o"], np.arange(5000))
    first, last = run.output_stamps["o"][[0, -1]]
    assert last - first == 4999  # one beat per clock, for ever
    assert first - run.input_stamps["i"][0] == block.latency


@pytest.mark.parametrize(("name", "latency"), [("stage", 1), ("queue", 2), ("early_queue", 2)])
def test_keeps_up(name, latency):
    got, run = VerilatedBlock(part(name), f"stream_{name}").run({"i": np.arange(5000)}, 5000)
    assert np.array_equal(got["o"], np.arange(5000))
    assert run.output_stamps["o"][-1] == 4999 + latency


@pytest.mark.parametrize("name", ["queue", "credit"])
def test_cocotb(name):
    run_cocotb(part(name), name, {"i": BEATS}, {"o": BEATS})


def test_failing_cocotb_is_seen_without_pytest(monkeypatch):
    """cocotb's runner itself raises under pytest only."""
    monkeypatch.delenv("PYTEST_CURRENT_TEST")
    with pytest.raises(AssertionError, match="cocotb tests failed"):
        run_cocotb(part("queue"), "queue", {"i": BEATS}, {"o": BEATS ^ 1})


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_mutant_in_simulation(mutant):
    name = mutant.module.removeprefix("lib.").removesuffix("_counter")
    if mutant.name == "queue_decides_too_late":
        name = "early_queue"
    with planted(mutant), pytest.raises(AssertionError):
        every_traffic(name)


def test_refusals():
    for make, text in (
        (lambda: Queue(8, 3), "depth must be a power of two from 2, not 3"),
        (lambda: Queue(8, 2, early=True), "depth must be a power of two from 4, not 2"),
        (lambda: Fork(8, 1), "count must be 2 or more, not 1"),
        (lambda: Arbiter(8, 0), "count must be 2 or more, not 0"),
        (lambda: Join({"a": 1}), "shapes must name 2 inputs or more, not 1"),
        (lambda: CreditCounter(2), "places must be 3 or more, not 2"),
        (lambda: CreditCounter(9, registers=3), "registers must be 0, 1 or 2, not 3"),
        (lambda: CreditBuffer(DelayDatapath(8, 0)), "a datapath must take 1 clock or more, not 0"),
    ):
        with pytest.raises(ValueError, match=text):
            make()
