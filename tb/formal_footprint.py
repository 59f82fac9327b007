"""Proofs of the footprint: its contract, whatever the datapath answers."""

from __future__ import annotations

from kit.formal import Proof
from kit.side_contract import side_proofs

from minmip.hw.config import PRESETS
from minmip.hw.footprint import Footprint

__all__ = ["proofs"]


def proofs() -> list[Proof]:
    return side_proofs(
        "footprint",
        lambda: Footprint(PRESETS["small"]),
        lambda block: (block.buffer.buffer, {block.buffer.queue: 0}),
    )
