# amaranth: UnusedElaboratable=no
"""The blocks of the board stand alone, as those of the unit do; their proofs can fail."""

from __future__ import annotations

import re
from dataclasses import replace

import formal_board_commands
import formal_board_packets
import formal_board_session
import formal_board_uart
import pytest
from amaranth.hdl import Shape
from kit.formal import run_proof
from kit.mutants import planted
from kit.vlib import stream_ports
from mutants import board, board_commands, board_quads

from minmip.hw.blocks import BLOCKS, BOARD_BLOCKS, make_block
from minmip.hw.build import verilog
from minmip.hw.config import SMALL


@pytest.mark.parametrize("name", sorted(set(BOARD_BLOCKS) - {"board"}))
def test_ports(name):
    block = make_block(name, SMALL)
    head = verilog(block, name).split("endmodule")[0]
    found = set(re.findall(r"^  (?:input|output) (?:\[\d+:0\] )?(\w+);$", head, re.MULTILINE))
    inputs, outputs, plain_in, plain_out = stream_ports(block)
    wanted = {
        f"{port}__{part}"
        for port, shape in {**inputs, **outputs}.items()
        for part in ("valid", "ready", "payload")
        if part != "payload" or Shape.cast(shape).width
    }
    assert found == wanted | set(plain_in) | set(plain_out) | {"clk", "rst"}


def test_names_are_apart():
    assert not set(BLOCKS) & set(BOARD_BLOCKS)


PROOFS = {
    proof.title: proof
    for module in (
        formal_board_commands,
        formal_board_packets,
        formal_board_session,
        formal_board_uart,
    )
    for proof in module.proofs()
}
BROKEN = [
    (mutant, module.PROOFS[mutant.name])
    for module in (board, board_commands, board_quads)
    for mutant in module.MUTANTS
    if mutant.name in module.PROOFS
]


@pytest.mark.parametrize(("mutant", "title"), BROKEN, ids=lambda case: getattr(case, "name", case))
def test_mutant_in_proof(mutant, title):
    proof = PROOFS[title]
    # Broken, the induction only gives up; where a short run from reset shows the fault, it must.
    if proof.block.startswith("packet"):
        proof = replace(proof, mode="bmc", depth=22)
    with planted(mutant):
        assert run_proof(proof).status == ("FAIL" if proof.mode == "bmc" else "UNKNOWN")
