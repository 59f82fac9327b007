"""Proofs of the resolve engine."""

from __future__ import annotations

from kit.formal import FreeDatapath, Proof, StreamContract, contract_proofs
from memory_bench import SMALL

from minmip.hw.resolve_engine import ResolveEngine

__all__ = ["proofs"]


def contract() -> StreamContract:
    """The stream contract, whatever the addresses are."""
    engine = ResolveEngine(SMALL)
    addresses = engine.addresses
    addresses.datapath = FreeDatapath(addresses.datapath)
    spec = StreamContract(engine)
    spec.ports.append(addresses.datapath.any_result)
    return spec


def proofs() -> list[Proof]:
    # From the request to the first word, and to texels of an answer that comes unasked.
    return contract_proofs("resolve_engine", contract, cover=20)
