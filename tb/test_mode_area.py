"""What swizzle modes cost: logic levels of a netlist, and the table of `docs/layout.md`."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from minmip.hw.levels import logic_levels
from minmip.sim.cli import main
from minmip.sim.runners.mode_area import mode_sets

ROOT = Path(__file__).resolve().parent.parent
TABLE = "| modes | LUT4 | carry cells | FF | multipliers | logic levels | latency |"


def cell(kind, outputs, inputs):
    """A cell of Yosys' JSON; ports have one bit, a number, or "0"."""
    ports = outputs | inputs
    return {
        "type": kind,
        "port_directions": dict.fromkeys(outputs, "output") | dict.fromkeys(inputs, "input"),
        "connections": {port: [bit] for port, bit in ports.items()},
    }


CELLS = {
    "first": cell("TRELLIS_FF", {"Q": 1}, {"DI": 2}),
    # Two tables and a mux between them are one level.
    "a": cell("LUT4", {"Z": 3}, {"A": 1, "B": "0"}),
    "b": cell("LUT4", {"Z": 4}, {"A": 1, "B": "1"}),
    "mux": cell("PFUMX", {"Z": 5}, {"ALUT": 3, "BLUT": 4, "C0": 1}),
    # So is a carry chain.
    "low": cell("CCU2C", {"S0": 6, "COUT": 7}, {"A0": 5, "CIN": "0"}),
    "high": cell("CCU2C", {"S0": 8}, {"A0": 1, "CIN": 7}),
    "last": cell("LUT4", {"Z": 9}, {"A": 8}),
    "memory": cell("TRELLIS_DPR16X4", {"DO": 10}, {"DI": 9, "RAD": 1}),
    "out": cell("TRELLIS_FF", {"Q": 11}, {"DI": 10}),
}


@pytest.mark.parametrize(
    ("left_out", "levels"), [((), 3), (("last",), 2), (("last", "low", "high"), 1)]
)
def test_levels(tmp_path, left_out, levels):
    cells = {name: one for name, one in CELLS.items() if name not in left_out}
    file = tmp_path / "top.json"
    file.write_text(json.dumps({"modules": {"top": {"cells": cells}}}))
    assert logic_levels(file) == levels


def test_command():
    result = CliRunner().invoke(main, ["mode-area", "--modes", "LINEAR"])
    assert result.exit_code == 0, result.output
    head, _, row = result.output.splitlines()
    assert head == TABLE
    assert row.startswith("| LINEAR | ")
    assert all(int(cell) > 0 for cell in row.strip("| ").split(" | ")[1:])
    result = CliRunner().invoke(main, ["mode-area", "--modes", "Z"])
    assert result.exit_code == 2
    assert "there is no set of modes 'Z'; there are: LINEAR; " in result.output


def test_the_document_has_every_set():
    text = (ROOT / "docs/layout.md").read_text()
    rows = text[text.index(TABLE) :].split("\n\n")[0].splitlines()[2:]
    assert [row.strip("| ").split(" | ")[0] for row in rows] == list(mode_sets())
