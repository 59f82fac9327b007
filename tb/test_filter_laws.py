# amaranth: UnusedElaboratable=no
"""The laws of spec 04 on the answers of the gateware itself, without the golden model.

`test_minmip_laws.py` has those of the golden model, `formal_filter_unit.py` the proofs.
"""

from dataclasses import replace

import numpy as np
import pytest
from filter_bench import BASE, PAIRS, FilterBench, load, random_bytes, random_quads
from formal_filter_unit import proofs
from kit.formal import run_proof
from kit.mutants import planted
from kit.stream import simulate
from kit.vlib import LONG, VerilatedBlock
from mutants.filter_unit import MUTANTS

from minmip.hw.config import PRESETS

CFG = replace(PRESETS["default"], word_bytes=4, memory_bytes=1 << 12)
LEGAL = [(slope2, offset) for slope2, offset in PAIRS if (128 - offset) * slope2 >= 512]
"""Pairs whose own weight is 1 at the centre."""
SLOPES, OFFSETS = (sorted(set(side)) for side in zip(*PAIRS, strict=True))
MEMORY = random_bytes(np.random.default_rng(1), CFG)


class Verilated:
    """Answers [quads, 4] of the verilated filter."""

    count = 50_000 if LONG else 5000

    def __init__(self):
        self.block = VerilatedBlock(FilterBench(CFG), "filter_unit")
        self.block.model.set("base", BASE)
        self.block.run(load(MEMORY, CFG), 0)

    def __call__(self, requests):
        last = int(requests["last"].sum())
        return self.block.run({"i": requests}, last)[0]["o"]["filtered"]


class Simulated:
    """The same in Amaranth's simulator, for mutants."""

    count = 100

    def __call__(self, requests):
        bench = FilterBench(CFG, MEMORY.tobytes())
        last = int(requests["last"].sum())
        found = simulate(bench, {"i": requests}, {"o": last}, ports={"base": BASE})
        return found["o"]["filtered"]


def changed(requests, **fields):
    """Requests with other fields of the kernel."""
    return requests | {"kernel": requests["kernel"] | fields}


def named(name):
    return next(mutant for mutant in MUTANTS if mutant.name == name)


def ramp_of(requests, **fields):
    return changed(requests, ramp=requests["kernel"]["ramp"] | fields)


def some_quads(answers, seed, *, pairs=LEGAL, deep=0.5, split=0.3):
    rng = np.random.default_rng(seed)
    return random_quads(rng, answers.count, CFG, pairs=pairs, deep=deep, split=split)


def next_of(legal, column):
    """The next larger setting; the largest stays."""
    return np.array([*legal, legal[-1]])[np.searchsorted(legal, column) + 1]


def check_between(answers):
    """Never finer than the own texel, never coarser than the coarsest of the kernel."""
    quads = some_quads(answers, 2, pairs=PAIRS)
    found, texels = answers(quads.requests), quads.texels(MEMORY)
    assert (found >= 32 * texels[..., 0]).all(), "finer than the own texel"
    assert (found <= 32 * texels.max(-1)).all(), "coarser than the coarsest texel"


def check_centre(answers):
    """The own texel at its centre."""
    quads = some_quads(answers, 3)
    centre = np.full_like(quads.requests["kernel"]["fraction"], 128)
    found = answers(changed(quads.requests, fraction=centre))
    assert (found == 32 * quads.texels(MEMORY)[..., 0]).all(), "not the own texel at its centre"


def check_slope(answers):
    """Steeper is never coarser."""
    requests = some_quads(answers, 4, pairs=PAIRS).requests
    steeper = next_of(SLOPES, requests["kernel"]["ramp"]["slope2"])
    assert (answers(ramp_of(requests, slope2=steeper)) <= answers(requests)).all(), "slope"


def check_offset(answers):
    """A larger offset is never finer."""
    requests = some_quads(answers, 5, pairs=PAIRS).requests
    larger = next_of(OFFSETS, requests["kernel"]["ramp"]["offset"])
    assert (answers(ramp_of(requests, offset=larger)) >= answers(requests)).all(), "offset"


def check_border(answers, axis):
    """The last position of one texel and the first of the next see the same."""
    requests = some_quads(answers, 6, deep=1, split=0).requests
    fraction = requests["kernel"]["fraction"]
    sides = []
    for position in (0, 255):
        here = fraction.copy()
        here[..., axis] = position
        sides.append(changed(requests, fraction=here))
    sides[1] = swapped(sides[1], axis)
    assert (answers(sides[0]) == answers(sides[1])).all(), f"jump on axis {axis}"


def swapped(requests, axis):
    """Own and near texels of an axis in each other's place."""
    if axis == 2:
        other = np.arange(len(requests["last"])) ^ 1  # depths take turns
        word = {name: column[other] for name, column in requests["word"].items()}
        lane = {name: column[other] for name, column in requests["lane"].items()}
        return requests | {"word": word, "lane": lane}
    corners = np.arange(4) ^ 1 << axis
    lane = requests["lane"]
    bits = (lane["joins"][..., None] >> corners & 1) << np.arange(4)
    lane = (
        lane
        | {"joins": bits.sum(-1)}
        | {name: lane[name][..., corners] for name in ("slot", "byte")}
    )
    return requests | {"lane": lane}


LAWS = {
    # The law, and a mutant that breaks it.
    "never finer": (check_between, "minimum"),
    "never coarser": (check_between, "too_much_of_the_near"),
    "centre": (check_centre, "distance_one_less"),
    "slope": (check_slope, "ramp_without_end"),
    "offset": (check_offset, "no_flat_border"),
    "border of x": (lambda answers: check_border(answers, 0), "no_diagonal"),
    "border of y": (lambda answers: check_border(answers, 1), "no_diagonal"),
    "border of z": (lambda answers: check_border(answers, 2), "depths_apart"),
}


@pytest.fixture(scope="module")
def verilated():
    return Verilated()


@pytest.mark.parametrize("law", LAWS)
def test_law(verilated, law):
    LAWS[law][0](verilated)


@pytest.mark.parametrize("law", LAWS)
def test_law_can_fail(law):
    check, name = LAWS[law]
    with (
        planted(named(name)),
        pytest.raises(AssertionError, match=r"than|centre|slope|offset|jump"),
    ):
        check(Simulated())


@pytest.mark.parametrize(
    ("proof", "name"),
    [
        ("ramp", "ramp_without_end"),
        ("border_x", "no_diagonal"),
        ("bounds26", "limbs_apart"),
    ],
)
def test_proof_can_fail(proof, name):
    with planted(named(name)):
        outcome = run_proof(next(found for found in proofs() if found.name == proof))
    assert outcome.status == "FAIL", outcome.log
