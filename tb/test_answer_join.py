# amaranth: UnusedElaboratable=no
"""Answers of filter quads get the filter's results in order; the others get none."""

from dataclasses import replace

import numpy as np
import pytest
from kit.cocotb_bench import run_cocotb
from kit.mutants import planted
from kit.packing import pack
from kit.stream import check_simulated
from kit.vlib import LONG, SEED, TRAFFIC, VerilatedBlock
from mutants.answer_join import MUTANTS

from minmip.hw.answer_join import AnswerJoin
from minmip.hw.config import FULL


def random_answers(rng, count, *, reads=0.5):
    """(input columns by stream, golden answers): filter quads in runs, other quads between."""
    lengths = rng.choice([1, 2, 5, 30], count)
    read = np.repeat(rng.random(count) < reads, lengths)[:count].astype(np.int64)
    answers = {
        "code": rng.integers(0, 32, count),
        "flush": rng.integers(0, 2, count) * (1 - read),
        "tag": np.arange(count) % 65536,
    }
    results = rng.integers(0, 1 << 13, (int(read.sum()), 4))
    waiting = iter(results.tolist())
    filtered = [next(waiting) if filters else [0] * 4 for filters in read]
    sent = {"i": answers | {"read": read}, "i_filter": {"filtered": results}}
    return sent, {"o": answers | {"filtered": np.array(filtered)}}


@pytest.fixture(scope="module")
def unit():
    return VerilatedBlock(AnswerJoin(FULL), "answer_join")


@pytest.mark.parametrize("traffic", TRAFFIC)
def test_traffic(unit, traffic):
    count = 1000 if traffic == "long stalls" else 1_000_000 if LONG else 20_000
    seed = SEED + list(TRAFFIC).index(traffic)
    print("seed", seed)
    sent, wanted = random_answers(np.random.default_rng(seed), count)
    unit.check(sent, wanted, traffic=traffic, seed=seed)


@pytest.mark.parametrize("reads", [0, 0.5, 1])
def test_rate(unit, reads):
    """One answer per clock; 3 clocks from `i`."""
    sent, wanted = random_answers(np.random.default_rng(7), 3000, reads=reads)
    run = unit.check(sent, wanted)
    np.testing.assert_array_equal(np.diff(run.output_stamps["o"]), 1)
    assert run.output_stamps["o"][0] - run.input_stamps["i"][0] == unit.block.latency == 3


def taken_without_results(cfg):
    """Filter quads that are taken while there is no result; and the clocks from it to an answer."""
    unit = VerilatedBlock(AnswerJoin(cfg), "answer_join")
    sent, wanted = random_answers(np.random.default_rng(8), 200, reads=1)
    beats = {name: pack(unit.inputs[name], columns) for name, columns in sent.items()}
    waiting = unit.model.run({"i": beats["i"]}, {"o": 0}, traffic=TRAFFIC["full"])
    assert waiting.given["o"] == 0, "an answer without its result"
    count = int(waiting.taken["i"])
    later = {"i": beats["i"][count:], "i_filter": beats["i_filter"]}
    run = unit.model.run(later, {"o": 200}, traffic=TRAFFIC["full"])
    assert run.given["o"] == len(wanted["o"]["tag"])
    assert run.output_stamps["o"][0] - run.input_stamps["i_filter"][0] == 1
    return count


def test_room():
    """The filter may have 64 quads inside; without a filter nothing needs room."""
    assert taken_without_results(FULL) >= 64
    assert AnswerJoin(replace(FULL, linked_types=frozenset({2}))).queue.depth == 4


def simulated(seed):
    sent, wanted = random_answers(np.random.default_rng(seed), 200)
    for traffic in ("both", "random valid"):
        check_simulated(AnswerJoin(FULL), sent, wanted, traffic=traffic, seed=seed)
    # Nothing but answers without `read`, and no result ever.
    sent, wanted = random_answers(np.random.default_rng(seed), 20, reads=0)
    check_simulated(AnswerJoin(FULL), sent, wanted, timeout=200)


def test_pysim():
    simulated(1)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_mutant_is_caught(mutant):
    with planted(mutant), pytest.raises(AssertionError):
        simulated(2)


def test_cocotb():
    sent, wanted = random_answers(np.random.default_rng(3), 200)
    run_cocotb(AnswerJoin(FULL), "answer_join", sent, wanted)
