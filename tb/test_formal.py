"""Every proof, one test each: `minmip formal` runs the same list."""

import pytest
from kit.formal import run_proof
from kit.proofs import all_proofs


@pytest.mark.parametrize("proof", all_proofs(), ids=lambda proof: proof.title)
def test_proof(proof):
    outcome = run_proof(proof)
    assert outcome.status == "PASS", outcome.log
