"""Each proof can fail: with its mutant in the gateware it must find a fault.

One of each kind is tried in every run, all with MINMIP_LONG.
"""

from dataclasses import replace
from importlib import import_module

import pytest
from kit.formal import run_proof
from kit.mutants import planted
from kit.proofs import all_proofs
from kit.vlib import LONG
from mutants.proofs import BROKEN_BY

PROOFS = {proof.title: proof for proof in all_proofs()}
QUICK = (
    "answer_join-once",
    "arbiter-fair",
    "combine-groups",
    "credit-credits3",
    "credit-credits5",
    "host_port-once",
    "lane_split-parts",
    "mip_choice-beats",
    "queue-beats4",
    "queue-offers",
    "rescale-beats",
    "rescale-same-beat",
    "rescale-valid",
    "retire-once",
    "slab_split-slabs",
    "tap_walker-taps",
)
CLOCKS = 60
"""In so many from reset the fault is seen at last: the induction itself only gives up."""


def mutant_of(title):
    file, _, name = BROKEN_BY[title].partition(".")
    return next(one for one in import_module(f"mutants.{file}").MUTANTS if one.name == name)


@pytest.mark.parametrize("title", BROKEN_BY if LONG else QUICK)
def test_mutant_is_refused(title):
    proof = PROOFS[title]
    if proof.mode == "prove":
        proof = replace(proof, mode="bmc", depth=CLOCKS, engine="smtbmc yices")
    with planted(mutant_of(title)):
        outcome = run_proof(proof)
    assert outcome.status == "FAIL", outcome.log


def test_every_name_is_known():
    for title in BROKEN_BY:
        assert title in PROOFS
        assert mutant_of(title).breaks
