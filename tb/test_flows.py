"""The commands of the hardware flows: Verilog out, proofs; good and bad input."""

import csv
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from amaranth.hdl import Shape
from click.testing import CliRunner
from kit.mutants import planted
from kit.vlib import stream_ports
from mutants.streams import MUTANTS

from minmip.hw import build
from minmip.hw.blocks import BLOCKS, UNIT, make_block
from minmip.hw.build import rtlil, run_yosys, verilog
from minmip.hw.config import FULL, SMALL
from minmip.hw.tool import BuildError
from minmip.sim.cli import main


def call(*arguments):
    result = CliRunner().invoke(main, list(map(str, arguments)))
    return result.exit_code, result.output


@pytest.mark.parametrize("name", [*BLOCKS, UNIT])
def test_ports_of_every_block(name):
    """The Verilog has the members of the signature as its ports, each of the right width."""
    block = make_block(name, SMALL if name == UNIT else FULL)
    text = verilog(block, name)
    found = {
        port: int(high or 0) + 1
        for _, high, port in re.findall(
            r"^  (input|output) (?:\[(\d+):0\] )?(\w+);$", text.split("endmodule")[0], re.MULTILINE
        )
    }
    wanted = {"clk": 1, "rst": 1} if "clk" in found else {}
    inputs, outputs, plain_in, plain_out = stream_ports(block)
    for port, shape in {**inputs, **outputs}.items():
        wanted |= {f"{port}__valid": 1, f"{port}__ready": 1}
        wanted[f"{port}__payload"] = Shape.cast(shape).width
    assert found == wanted | plain_in | plain_out
    assert len(re.findall(rf"^module {name}\(", text, re.MULTILINE)) == 1
    assert "/" not in re.sub(r"/\*.*?\*/|//.*", "", text)  # no paths of this machine


def test_same_text_from_any_hash_seed(tmp_path):
    for seed in ("1", "2"):
        subprocess.run(
            [
                *(Path(sys.executable).with_name("minmip"), "verilog", "-o", tmp_path / seed),
                *("--block", "coordinate"),
            ],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
        )
    first, second = (tmp_path / seed / "coordinate.v" for seed in ("1", "2"))
    assert first.read_bytes() == second.read_bytes()


def test_verilog_of_every_block(tmp_path):
    folder = tmp_path / "new" / "folder"
    code, output = call("verilog", "-o", folder, "--preset", "small", "--block", "all")
    assert code == 0
    assert {file.stem for file in folder.iterdir()} == set(BLOCKS)
    assert len(output.splitlines()) == len(BLOCKS)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["verilog", "-o", "x", "--block", "nix"], "there is no block 'nix'; there are "),
        (
            ["verilog", "-o", "x", "--preset", "nix"],
            "there is no preset 'nix'; there are default, full",
        ),
        (
            ["verilog", "-o", "x", "--pipe-xor", "nix"],
            "there is no GPU 'nix'; there are anaconda, lockhart",
        ),
        (["formal", "nix"], "there is no proof 'nix'; there are proofs of "),
    ],
)
def test_bad_arguments(arguments, sentence):
    code, output = call(*arguments)
    assert code == 2
    assert sentence in output


def test_pipe_xor_is_built_in(tmp_path):
    texts = []
    for gpu in ("", "navi21", "lockhart"):
        folder = tmp_path / f"of{gpu}"
        options = ("--pipe-xor", gpu) if gpu else ()
        code, output = call("verilog", "-o", folder, "--block", "address_generator", *options)
        assert code == 0, output
        texts.append((folder / "address_generator.v").read_text())
    assert len(set(texts)) == 3


def test_folder_that_is_a_file(tmp_path):
    (tmp_path / "file").touch()
    code, output = call("verilog", "-o", tmp_path / "file" / "below", "--block", "stage")
    assert code == 2
    assert output == f"minmip: {tmp_path / 'file' / 'below'}: Not a directory\n"


def test_what_yosys_refuses(tmp_path, monkeypatch):
    with pytest.raises(BuildError, match=r"Yosys failed: ERROR: .*nowhere\.il"):
        run_yosys(["read_rtlil nowhere.il"], tmp_path)
    monkeypatch.setattr(build, "_RUN", "import pyosys_that_is_not_here")
    with pytest.raises(BuildError, match="Yosys failed"):
        run_yosys(["help"], tmp_path)


def test_inner_modules_have_plain_names():
    text = rtlil(make_block("coordinate"), "coordinate")
    assert not re.findall(r"^module \\\S*\.", text, re.MULTILINE)


def test_formal_says_what_it_proved(tmp_path):
    table = tmp_path / "formal.csv"
    table.write_text("block,property\nqueue,beats4\nqueue,of-old\n")
    code, output = call("formal", "stage", "--jobs", 2, "--table", table)
    assert code == 0
    assert output.splitlines()[-1] == "3 of 3 proved"
    rows = {row["property"]: row for row in csv.DictReader(table.read_text().splitlines())}
    assert rows.pop("beats4")["block"] == "queue"
    assert set(rows) == {"beats", "contract", "offers"}  # the proof that is gone has no row
    assert {row["status"] for row in rows.values()} == {"PASS"}
    assert call("formal", "stage", "--list")[1].count("\n") == 3


def test_formal_fails_for_a_mutant():
    mutant = next(mutant for mutant in MUTANTS if mutant.name == "stage_forgets")
    with planted(mutant):
        code, output = call("formal", "stage-beats")
    assert code == 1
    assert "0 of 1 proved" in output
