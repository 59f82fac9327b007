# amaranth: UnusedElaboratable=no
"""The whole board under cocotb: host side (`cocotb_board.py`), hostile host (`.._hostile.py`)."""

import pytest
from board_objects import SIMULATED, board_trace

from minmip.hw.board.top import Board
from minmip.hw.build import verilog
from minmip.sim.runners.cocotb_model import CocotbModel
from minmip.sim.runners.unit import gateware_key
from minmip.sim.runners.verilate import Design

SEED = 1


@pytest.fixture(scope="module")
def model():
    design = Design(
        "board", gateware_key(repr(SIMULATED)), lambda: verilog(Board(SIMULATED), "board")
    )
    return CocotbModel(design, speed="-O1")


@pytest.mark.parametrize("bench", ["cocotb_board", "cocotb_board_hostile"])
def test_board(model, tmp_path, bench):
    board_trace(SEED).save(tmp_path / "trace.npz")
    log = tmp_path / "simulator.log"
    try:
        model.test(
            bench,
            tmp_path,
            seed=SEED,
            variables={"MINMIP_BOARD": str(tmp_path)},
            log=log,
        )
    finally:
        print(log.read_text() if log.exists() else "no simulator log")
