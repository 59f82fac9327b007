"""Proofs of the combine stage and of the addresses of words, in a small configuration."""

from __future__ import annotations

from dataclasses import replace

from amaranth.hdl import Assert, Module
from kit.formal import Proof, StreamContract, ValidLatency
from kit.side import AnyDatapath, SideContract

from minmip.hw.combine import Combine
from minmip.hw.config import SMALL
from minmip.hw.texel_groups import TexelGroups
from minmip.hw.word_addresses import WordAddressDatapath, WordAddresses

__all__ = ["proofs"]

CONFIG = replace(SMALL, lanes=2, word_bytes=4)


class AddressesContract(SideContract):
    """The bytes are there when the addresses are; any addresses, any bytes."""

    def __init__(self):
        block = WordAddresses(CONFIG)
        super().__init__(block, block.buffer)
        block.expand = self.expand = AnyDatapath(block.expand)
        self.ports.append(self.expand.any_result)

    def properties(self, m: Module) -> None:
        super().properties(m)
        clocks = self.expand.latency
        for n, valid in enumerate(self.expand.valids):
            m.d.comb += Assert(valid == self.datapath.valids[n])
        self.waits_beside(m, self.block.words, clocks)


def proofs() -> list[Proof]:
    made = []
    for name, block, contract, datapath in (
        ("combine", Combine(CONFIG), lambda: StreamContract(Combine(CONFIG)), TexelGroups),
        ("word_addresses", WordAddresses(CONFIG), AddressesContract, WordAddressDatapath),
    ):
        clocks = datapath(CONFIG).latency
        made += [
            Proof(
                block=name,
                name="contract",
                says="valid and payload of every output stay until the transfer",
                make=contract,
            ),
            Proof(
                block=name,
                name="offers",
                says="every output is offered without waiting for ready",
                make=contract,
                mode="cover",
                depth=block.latency + 6,
            ),
            Proof(
                block=name,
                name="valid",
                says=f"o_valid of {datapath.__name__} is i_valid of {clocks} clocks ago",
                make=lambda datapath=datapath: ValidLatency(datapath(CONFIG)),
                depth=clocks + 1,
            ),
        ]
    return made
