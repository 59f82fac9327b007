"""`minmip peers` and `minmip rates`: ratios, quads per second, and what the documents print."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from minmip.hw.config import PRESETS
from minmip.sim import backends, golden
from minmip.sim.backends import Backend
from minmip.sim.cli import main
from minmip.sim.peers import PEERS, UNIT, peer_rows, quad_rows

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "docs/results"
PEER = PEERS[0].name


def call(*arguments):
    result = CliRunner().invoke(main, list(map(str, arguments)))
    return result.exit_code, result.output


def synth_row(block, part="ecp5-25k", grade="6", preset="small", mhz="130.5", cap=""):
    return {(block, preset, part, grade): {"median_mhz": mhz, "cap_mhz": cap, "part": part}}


@pytest.fixture
def tables():
    return ("--synth", RESULTS / "synth.csv", "--rates", RESULTS / "rates.csv")


def test_documents_and_tables_are_of_the_figures(tables, tmp_path):
    """What is checked in is what the command makes of the other tables."""
    page = tmp_path / "page.md"
    page.write_text((ROOT / "docs/results.md").read_text())
    code, output = call("peers", *tables, "--out", tmp_path, "--page", page)
    assert code == 0, output
    hint = "`minmip peers --out docs/results --page docs/results.md` writes them"
    assert page.read_text() == (ROOT / "docs/results.md").read_text(), hint
    for name in ("peers.csv", "quads.csv"):
        assert (tmp_path / name).read_text() == (RESULTS / name).read_text(), hint
    first, second = output.strip().split("\n\n")
    page.write_text("# Page\n<!-- peers -->\n| old |\n\nText.\n\n<!-- quads -->\nMore.\n")
    assert call("peers", *tables, "--page", page)[0] == 0
    wanted = f"# Page\n<!-- peers -->\n{first}\n\nText.\n\n<!-- quads -->\n{second}\nMore.\n"
    assert page.read_text() == wanted


def test_ratios():
    """Of the median or the cap, whichever is less; of the same part where there is a row."""
    (row,) = peer_rows(synth_row("coordinate"))
    assert (row["peer"], row["peer_mhz"], row["ratio"]) == (PEER, "87", "1.50")
    (row,) = peer_rows(synth_row("coordinate", mhz="300.0", cap="174"))
    assert (row["median_mhz"], row["cap_mhz"], row["ratio"]) == ("300.0", "174", "2.00")
    larger = synth_row("coordinate", part="ecp5-85k", mhz="87.0")
    (row,) = peer_rows(larger)
    assert (row["part"], row["ratio"]) == ("ecp5-85k", "1.00")
    (row,) = peer_rows(larger | synth_row("coordinate"))
    assert (row["part"], row["ratio"]) == ("ecp5-25k", "1.50")
    assert peer_rows(synth_row("coordinate", grade="7")) == []
    assert peer_rows(synth_row("coordinate", mhz="")) == []  # area only
    assert peer_rows(synth_row("counters")) == []


def test_quads_per_second():
    speeds = synth_row(UNIT, part="ecp5-85k", mhz="100.0")
    speeds |= synth_row(UNIT, part="ecp5-85k", grade="8", mhz="200.0", cap="150")
    rates = {
        ("small", "coherent"): {"clocks_per_quad": "5.00"},
        ("full", "coherent"): {"clocks_per_quad": "1.00"},
    }
    rows = {(row["preset"], row["grade"]): row for row in quad_rows(speeds, rates)}
    assert set(rows) == {(preset, grade) for preset in PRESETS for grade in ("6", "8")}
    assert rows["small", "6"]["mquads_per_second"] == "20.00"
    assert rows["small", "8"]["mquads_per_second"] == "30.00"
    assert rows["full", "6"]["mhz"] == "not routed"
    assert rows["default", "6"]["clocks_per_quad"] == "not simulated"
    assert rows["full", "6"]["mquads_per_second"] == rows["default", "6"]["mquads_per_second"] == ""


@pytest.fixture
def unit(monkeypatch):
    """A unit of seven clocks a quad, with an error in one answer if it is told so."""
    wrong = []

    def make(name, *, preset):
        def run(trace, *, pattern, progress):
            result = golden.run(trace, config=PRESETS[preset])
            error = result.error + np.uint8(len(wrong))
            return replace(result, cycles=7 * len(trace), error=error)

        return Backend(name, PRESETS[preset], run)

    monkeypatch.setattr(backends, "make_backend", make)
    return wrong


def test_rates(unit, tmp_path):
    table = tmp_path / "rates.csv"
    code, output = call("rates", "--preset", "small", "--quads", 100, "--table", table)
    assert code == 0, output
    assert "small, coherent: 7.00 clocks/quad" in output
    lines = table.read_text().splitlines()
    assert lines[0] == "preset,traffic,quads,clocks_per_quad,commit"
    assert len(lines) == 6
    assert "small,coherent,100,7.00," in lines[2]
    unit.append("wrong")
    code, output = call("rates", "--preset", "small", "--quads", 100)
    assert code == 2
    assert output.startswith("minmip: small, coherent: the unit is wrong: ")


def test_bad_input(unit, tables, tmp_path):
    empty = tmp_path / "empty.csv"
    empty.write_text("block,preset,part,grade\n")
    (tmp_path / "file").write_text("speed\n1\n")
    for arguments, sentence in (
        (("peers", "--rates", "nowhere.csv"), "'nowhere.csv' does not exist"),
        (("peers", "--synth", tmp_path / "file"), "file is no table of results: it has no column"),
        (("peers", *tables, "--page", tmp_path / "file"), "file has no line <!-- peers -->"),
        (("peers", *tables[2:], "--synth", empty), "no row that a peer's figure could stand besi"),
        (("rates", "--table", tmp_path / "file"), "file is no table of results: it has no column"),
        (("rates", "--quads", "1"), "1 is not in the range"),
    ):
        code, output = call(*arguments)
        assert code == 2
        assert sentence in output
