# amaranth: UnusedElaboratable=no
"""The files of `constraints/` are what `minmip constraints` makes, and fit the designs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from minmip.hw.board.config import ULX3S
from minmip.hw.board.constraints import PINS, TIMINGS, Timing, constraint_files, sdc, xdc
from minmip.hw.board.top import Board
from minmip.hw.config import FULL
from minmip.hw.top import TextureAddresser
from minmip.sim.cli import main

FOLDER = Path(__file__).resolve().parent.parent / "constraints"
DESIGNS = {"texture_addresser": lambda: TextureAddresser(FULL), "board": lambda: Board(ULX3S)}


@pytest.fixture(scope="module")
def made():
    return constraint_files()


def test_checked_in_files_are_what_is_made(made):
    there = {path.name: path.read_text() for path in FOLDER.iterdir() if path.name != "README.md"}
    assert there == made


def test_command_writes_them(made, tmp_path):
    done = CliRunner().invoke(main, ["constraints", "-o", str(tmp_path)], catch_exceptions=False)
    assert done.exit_code == 0
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == made


@pytest.mark.parametrize("board", PINS)
def test_pins(made, board):
    """Every board has its clock, both ends of the serial line and three LEDs, each at a pin."""
    kinds = PINS[board][2]
    text = "".join(made[f"{board}.{kind}"] for kind in kinds)
    pins = dict(re.findall(r'(?:LOCATE COMP|IO_LOC|set_io) "?([\w.]+)"? (?:SITE )?"?(\w+)"?', text))
    wanted = {"uart_0__rx__io", "uart_0__tx__io", "led_0__io", "led_1__io", "led_2__io"}
    clocks = {port for port in pins if port.startswith("clk")}
    assert wanted <= set(pins)
    assert len(clocks) == 1
    assert len(set(pins.values())) == len(pins)
    assert re.search(rf"(FREQUENCY PORT|set_frequency|get_ports) [{{\"]?{clocks.pop()}", text)


@pytest.mark.parametrize("timing", TIMINGS, ids=lambda timing: timing.design)
def test_timing_names_ports_that_are_there(timing):
    component = DESIGNS[timing.design]()
    ports = {"__".join(map(str, path)) for path, _, _ in component.signature.flatten(component)}
    assert set(timing.free_inputs + timing.free_outputs) <= ports | {"clk", "rst"}


def test_both_languages_say_the_same():
    timing = Timing(design="x", mhz=80, about="a trial", share=0.25, free_inputs=("rst",))
    said = [re.sub(r"\[[^\n]*", "", language(timing)) for language in (sdc, xdc)]
    assert said[0] == said[1]
    assert "-period 12.500 " in said[0]
    assert "set_input_delay -clock clk 3.125 " in said[0]
    assert "set_false_path -from " in said[0]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"mhz": 0}, "mhz must be above 0, not 0"),
        ({"share": 1.0}, "share must be from 0 to below 1, not 1.0"),
    ],
)
def test_bad_timing(change, sentence):
    with pytest.raises(ValueError, match=sentence):
        Timing(**({"design": "x", "mhz": 1.0, "about": ""} | change))
