"""Every proof of the repository: those that follow from the block list, and `formal_<block>.py`."""

from __future__ import annotations

import importlib
from pathlib import Path

from kit.formal import FreeDatapath, Proof, StreamContract, contract_proofs, valid_proof
from kit.same_beat import same_beat_proof
from kit.side_contract import passing_proof
from minmip.hw.blocks import BLOCKS, make_block
from minmip.hw.lib.credit import CreditBuffer

__all__ = ["all_proofs"]


def all_proofs() -> list[Proof]:
    """List the proofs of every block, sorted by title.

    A proof of `formal_<block>.py` takes the place of the standard one of the same title.
    """
    proofs = [proof for block in BLOCKS for proof in _standard(block)]
    for file in sorted(Path(__file__).parent.parent.glob("formal_*.py")):
        proofs += importlib.import_module(file.stem).proofs()
    by_title = {proof.title: proof for proof in proofs}
    return [by_title[title] for title in sorted(by_title)]


def _standard(name: str) -> list[Proof]:
    """The stream contract; for a credit buffer also its valid bits, beats and paths.

    A block without streams, as the counters, has none.
    """
    block = make_block(name)
    if not StreamContract(block).outputs:
        return []

    def contract():
        fresh = make_block(name)
        if not isinstance(fresh, CreditBuffer):
            return StreamContract(fresh)
        fresh.datapath = FreeDatapath(fresh.datapath)
        spec = StreamContract(fresh)
        spec.ports.append(fresh.datapath.any_result)
        return spec

    proofs = contract_proofs(name, contract, cover=getattr(block, "latency", 4) + 6)
    if isinstance(block, CreditBuffer):
        proofs += [
            valid_proof(name, lambda: make_block(name).datapath),
            passing_proof(name, lambda: make_block(name)),
            same_beat_proof(name, lambda: make_block(name).datapath),
        ]
    return proofs
