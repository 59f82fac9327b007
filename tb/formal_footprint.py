"""Proofs of the footprint: its contract whatever the datapath answers, and the datapath's valid."""

from __future__ import annotations

from kit.formal import Proof, ValidLatency
from kit.side import SideContract

from minmip.hw.blocks import PRESETS
from minmip.hw.footprint import Footprint, FootprintDatapath

__all__ = ["proofs"]

CONFIG = PRESETS["small"]


def contract() -> SideContract:
    block = Footprint(CONFIG)
    return SideContract(block, block.buffer)


def proofs() -> list[Proof]:
    clocks = FootprintDatapath(CONFIG).latency
    return [
        Proof(
            block="footprint",
            name="contract",
            says="valid and payload of every output stay until the transfer",
            make=contract,
        ),
        Proof(
            block="footprint",
            name="offers",
            says="every output is offered without waiting for ready",
            make=contract,
            mode="cover",
            depth=clocks + 8,
        ),
        Proof(
            block="footprint",
            name="valid",
            says=f"o_valid of the datapath is i_valid of {clocks} clocks ago",
            make=lambda: ValidLatency(FootprintDatapath(CONFIG)),
            depth=clocks + 1,
        ),
    ]
