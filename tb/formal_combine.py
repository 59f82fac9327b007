"""Proofs of the combine stage and of the addresses of words, in a small configuration."""

from __future__ import annotations

from dataclasses import replace

from kit.formal import Proof, StreamContract, contract_proofs, valid_proof
from kit.side_contract import side_proofs

from minmip.hw.combine import Combine
from minmip.hw.config import SMALL
from minmip.hw.texel_groups import TexelGroups
from minmip.hw.word_addresses import WordAddresses

__all__ = ["proofs"]

CONFIG = replace(SMALL, lanes=2, word_bytes=4)


def proofs() -> list[Proof]:
    return [
        *contract_proofs(
            "combine",
            lambda: StreamContract(Combine(CONFIG)),
            cover=Combine(CONFIG).latency + 6,
        ),
        valid_proof("combine", lambda: TexelGroups(CONFIG)),
        *side_proofs(
            "word_addresses",
            lambda: WordAddresses(CONFIG),
            lambda block: (
                block.buffer.buffer,
                {block.buffer.queue: block.buffer.buffer.entry, block.words: block.expand.latency},
            ),
        ),
    ]
