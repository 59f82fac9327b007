"""Every proof, one test each, but for those of minutes: `minmip formal` runs the whole list."""

import pytest
from kit.formal import run_proof
from kit.proofs import all_proofs
from kit.vlib import LONG


@pytest.mark.parametrize(
    "proof", [one for one in all_proofs() if LONG or not one.long], ids=lambda proof: proof.title
)
def test_proof(proof):
    outcome = run_proof(proof)
    assert outcome.status == "PASS", outcome.log
