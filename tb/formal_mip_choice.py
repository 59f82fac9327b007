"""Proofs of the mip choice: its contract, whatever the datapath answers."""

from __future__ import annotations

from kit.formal import Proof
from kit.side_contract import side_proofs

from minmip.hw.config import PRESETS
from minmip.hw.mip_choice import MipChoice

__all__ = ["proofs"]


def proofs() -> list[Proof]:
    return side_proofs(
        "mip_choice",
        lambda: MipChoice(PRESETS["small"]),
        lambda block: (block.buffer.buffer, {block.buffer.queue: 1}),
    )
