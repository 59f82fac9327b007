"""Proofs of what the board does with requests: its streams to the unit keep their contract."""

from __future__ import annotations

from dataclasses import replace

from amaranth.hdl import Assert, Assume, Cat, Module, Signal
from kit.formal import Proof, StreamContract, contract_proofs

from minmip.hw.board.config import ULX3S
from minmip.hw.board.memory_commands import MemoryCommands
from minmip.hw.board.protocol import Command
from minmip.hw.board.quad_loader import QuadLoader

__all__ = ["proofs"]

UNIT = replace(ULX3S.unit, memory_bytes=1 << 12)


class MemoryContract(StreamContract):
    """The contract; a request stays as it is until its end."""

    def properties(self, m: Module) -> None:
        block = self.block
        works, numbers, code = Signal(), Signal.like(block.numbers), Signal(8)
        m.d.sync += [
            *(works.eq((works | block.start) & ~block.done), numbers.eq(block.numbers)),
            code.eq(block.code),
        ]
        known = [block.code == command for command in (Command.CLEAR, Command.WRITE, Command.READ)]
        m.d.comb += [Assume(~block.start | Cat(known).any()), Assert(block.resting == ~works)]
        with m.If(works):
            m.d.comb += [
                *(Assume(block.numbers == numbers), Assume(block.code == code)),
                Assume(~block.start),
            ]
        super().properties(m)


def proofs() -> list[Proof]:
    loader, *_ = contract_proofs("quad_loader", lambda: StreamContract(QuadLoader(UNIT)), cover=1)
    return [
        loader,
        *contract_proofs("memory_commands", lambda: MemoryContract(MemoryCommands(UNIT)), cover=26),
    ]
