"""`minmip synth`: clock speed and area of blocks, their table, and the check of it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

import click

from minmip.sim.hw_commands import commit, flow_errors, parameters, xor_option
from minmip.sim.result_table import ResultTable

__all__ = ["KEY", "drift", "synth", "synth_table"]

KEY = ("block", "preset", "part", "grade")
_AREA = ("comb", "lut4", "ff", "dsp", "bram")
_COLUMNS = (
    *(*KEY, "median_mhz", "min_mhz", "max_mhz", "cap_mhz", *_AREA, "seeds", "mhz_by_seed"),
    *("seconds", "commit", "design", "tools", "path"),
)


def synth_table(file: Path) -> ResultTable:
    """Open the table of `minmip synth`."""
    return ResultTable(file, _COLUMNS, KEY)


class _Seeds(click.ParamType):
    """How many seeds, written 5, or which, written 1,4."""

    name = "N|LIST"

    def get_metavar(self, param, ctx=None):
        return self.name

    def convert(self, value, param, ctx):
        if isinstance(value, tuple):
            return value
        words = value.removesuffix(",").split(",")
        if not all(word.isascii() and word.isdigit() and 0 < len(word) < 7 for word in words):
            self.fail(f"wanted how many, as 5, or which, as 1,4, not {value!r}", param, ctx)
        if "," in value:
            return tuple(dict.fromkeys(map(int, words)))
        if int(value) > 100:
            self.fail(f"wanted at most 100 seeds, not {value}", param, ctx)
        return tuple(range(1, int(value) + 1))


@click.command()
@click.option(
    "--block", "blocks", required=True, multiple=True, help="Name, or all; may be repeated."
)
@click.option(
    "--preset",
    "presets",
    multiple=True,
    default=["full"],
    show_default=True,
    help="Parameter set; may be repeated.",
)
@xor_option
@click.option(
    "--part",
    "parts",
    metavar="PART",
    multiple=True,
    default=["ecp5-85k"],
    show_default=True,
    help="ecp5-85k, ecp5-25k, ice40-hx8k, ice40-up5k; gowin-gw2a and xilinx-xc7: area only. May be "
    "repeated.",
)
@click.option(
    "--grade",
    "grades",
    type=click.Choice(["6", "7", "8"]),
    multiple=True,
    default=["6"],
    show_default=True,
    help="Speed grade of an ECP5; may be repeated.",
)
@click.option(
    "--seeds",
    type=_Seeds(),
    default="1",
    show_default=True,
    help="How many, as 5, or which, as 1,4; seed 4 alone is 4,. With 0 nothing is placed.",
)
@click.option("--jobs", type=click.IntRange(1, 64), default=1, show_default=True, help="At once.")
@click.option(
    "--table",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Also put the rows into this CSV file, in place of older ones.",
)
@click.option(
    "--check",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="Compare area and MHz with the rows of this CSV file; exit 1 on a difference.",
)
@flow_errors
def synth(blocks, presets, pipe_xor, parts, grades, seeds, jobs, table, check):
    """Synthesise, place and route blocks; say their clock speed, size and slowest path.

    Netlists and finished seeds are kept under .build/synth ($MINMIP_BUILD/synth): a campaign that
    was stopped goes on where it was. A design that does not fit does not stop the others.
    """
    if table and not seeds:
        raise ValueError("a table wants rows with clock speeds: --seeds 1 or more")
    target = synth_table(table) if table else None
    wanted = synth_table(check).rows() if check else {}
    if target:
        target.check()
    broken = found = 0
    for block, label, report in _reports(blocks, presets, pipe_xor, parts, grades, seeds, jobs):
        if isinstance(report, Exception):
            broken += 1
            click.echo(f"minmip: {block} {label}: {report}", err=True)
            continue
        _say(block, report)
        row = _row(block, label, report)
        if target:
            target.put([row])
        if check:
            name = " ".join(filter(None, (row[column] for column in KEY)))
            if sentence := drift(wanted.get(tuple(row[column] for column in KEY)), row):
                found += 1
                click.echo(f"minmip: {name}: {sentence} ({check})", err=True)
    if broken or found:
        raise SystemExit(2 if broken else 1)


def _reports(blocks, presets, pipe_xor, parts, grades, seeds, jobs) -> Iterator[tuple]:
    """Block, label of its parameters, and the report, or why the design does not fit."""
    from amaranth.hdl import UnusedElaboratable

    from minmip.hw.blocks import BLOCKS, make_block
    from minmip.hw.fpga_parts import PARTS
    from minmip.hw.place import TooLargeError
    from minmip.hw.synth import netlist_of
    from minmip.sim.runners.verilate import build_folder

    unknown = [part for part in parts if part not in PARTS]
    if unknown:
        raise ValueError(f"there is no part {unknown[0]!r}; there are {', '.join(PARTS)}")
    if "all" in blocks:
        blocks = sorted(BLOCKS)
    warnings.simplefilter("ignore", UnusedElaboratable)  # of blocks behind an error
    builds = [  # at once: a wrong name is known before the first run
        (f"{preset} {pipe_xor}" if pipe_xor else preset, block, make_block(block, cfg))
        for preset, cfg in [(name, parameters(name, pipe_xor)) for name in presets]
        for block in blocks
    ]
    for label, block, component in builds:
        for family, members in groupby(parts, lambda part: PARTS[part].family):
            with netlist_of(component, family, build_folder() / "synth") as netlist:
                for part, grade in [(p, g) for p in members for g in _grades(PARTS[p], grades)]:
                    try:
                        report = netlist.place(part=part, grade=grade, seeds=seeds, jobs=jobs)
                    except TooLargeError as error:
                        report = error
                    yield block, label, report


def drift(row: dict[str, str] | None, fresh: dict[str, str]) -> str:
    """Say how a row of the table differs from a fresh one, or nothing.

    Area must be equal, and MHz of every seed that was run: nextpnr makes the same of the same. When
    nothing was placed the netlist must be the same.
    """
    if row is None:
        return "the table has no such row"
    names = _AREA if fresh["comb"] or not row["comb"] else ("lut4", "design")
    found = [
        f"{name} is {fresh[name]}, not {row[name] or 'given'}"
        for name in names
        if fresh[name] != row[name]
    ]
    old, new = (
        dict(zip(r["seeds"].split(), r["mhz_by_seed"].split(), strict=True)) for r in (row, fresh)
    )
    for seed, mhz in new.items():
        if old.get(seed) != mhz:
            found.append(f"{mhz} MHz with seed {seed}, not {old.get(seed, 'in the row')}")
    if not found:
        return ""
    cause = "same netlist"
    if not row["design"]:
        cause = "the row does not name its netlist"
    elif row["design"] != fresh["design"]:
        cause = f"another netlist than at commit {row['commit'] or 'unknown'}"
    elif row["tools"] != fresh["tools"]:
        cause = f"{fresh['tools']}, not {row['tools']}"
    return f"{', '.join(found)}; {cause}"


def _grades(part, asked: Sequence[str]) -> list[int | None]:
    """Give the speed grades of a part that are asked for, or the one of a part without any."""
    return [grade for grade in part.grades if grade is None or str(grade) in asked]


def _say(block: str, report) -> None:
    grade = f" -{report.grade}" if report.grade else ""
    size = f"{report.ff} FF, {report.dsp} DSP, {report.bram} block RAM, {report.seconds:.0f} s"
    if report.median is None:
        click.echo(f"{block} {report.part}: area only, {report.lut4} LUT, {size}")
        return
    limit = f"hard blocks allow {report.cap} MHz" if report.cap else "no limit of a hard block"
    seeds = "1 seed" if len(report.mhz) == 1 else f"{len(report.mhz)} seeds"
    kept = f", {report.kept} made before" if report.kept else ""
    click.echo(
        f"{block} {report.part}{grade}: {report.median:.0f} MHz ({min(report.mhz.values()):.0f} to "
        f"{max(report.mhz.values()):.0f} over {seeds}{kept}; {limit})\n"
        f"  {report.comb} LUT sites ({report.lut4} LUT4), {size}\n"
        f"  slowest path: {report.path}"
    )


def _row(block: str, preset: str, report) -> dict[str, str]:
    counts = ("part", "grade", *_AREA, "design", "tools", "path")
    values = {name: getattr(report, name) for name in counts}
    speed = {}
    if report.mhz:
        speeds = report.mhz.values()
        medians = (report.median, min(speeds), max(speeds))
        speed = {
            name: f"{mhz:.1f}"
            for name, mhz in zip(("median_mhz", "min_mhz", "max_mhz"), medians, strict=True)
        }
    return {
        **dict.fromkeys(_COLUMNS, ""),
        "block": block,
        "preset": preset,
        **speed,
        "cap_mhz": str(report.cap or ""),
        "seeds": " ".join(map(str, report.mhz)),
        "mhz_by_seed": " ".join(f"{mhz:.1f}" for mhz in report.mhz.values()),
        "seconds": f"{report.seconds:.0f}",
        "commit": commit(),
        **{name: "" if value is None else str(value) for name, value in values.items()},
    }
