"""The commands of the figures: `minmip rates` simulates, `minmip peers` reads the tables."""

from __future__ import annotations

import re
from pathlib import Path

import click

from minmip.hw.config import PRESETS
from minmip.sim.cli_options import one_sentence
from minmip.sim.hw_commands import commit, flow_errors
from minmip.sim.result_table import ResultTable

__all__ = ["peers", "rates"]

_RESULTS = Path("docs/results")
_RATES = ("preset", "traffic")
_PEERS = ("peer", "grade", "block", "preset", "part")


def _rates_table(file: Path) -> ResultTable:
    return ResultTable(file, (*_RATES, "quads", "clocks_per_quad", "commit"), _RATES)


def _file_option(name: str, file: Path, text: str):
    return click.option(
        name,
        type=click.Path(path_type=Path, dir_okay=False, exists=True),
        default=file,
        show_default=True,
        help=text,
    )


@click.command()
@click.option(
    "--preset",
    "presets",
    type=click.Choice(list(PRESETS)),
    multiple=True,
    default=list(PRESETS),
    help="Build of the unit; may be repeated. Default: all.",
)
@click.option("--quads", type=click.IntRange(100, 10**6), default=10_000, show_default=True)
@click.option(
    "--table",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Also put the rows into this CSV file, in place of older ones.",
)
@one_sentence
@flow_errors
def rates(presets, quads, table):
    """Say how many clocks a quad takes: typical and worst traffic, simulated and checked."""
    from minmip.sim.backends import make_backend, run_checked
    from minmip.sim.measure_hw import SEED
    from minmip.sim.workloads import workloads

    if table:
        _rates_table(table).check()
    for preset in presets:
        backend = make_backend("verilator", preset=preset)
        for traffic, trace in workloads(quads, SEED).items():
            result, found = run_checked(backend, trace)
            if found or result.cycles is None:
                raise ValueError(f"{preset}, {traffic}: the unit is wrong: {found[0]}")
            row = {"preset": preset, "traffic": traffic, "quads": str(quads), "commit": commit()}
            row["clocks_per_quad"] = f"{result.cycles / quads:.2f}"
            click.echo(f"{preset}, {traffic}: {row['clocks_per_quad']} clocks/quad")
            if table:
                _rates_table(table).put([row])


@click.command()
@_file_option("--synth", _RESULTS / "synth.csv", "Table of `minmip synth`.")
@_file_option("--rates", _RESULTS / "rates.csv", "Table of `minmip rates`.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Also write peers.csv and quads.csv into this folder, in place of older ones.",
)
@click.option(
    "--page",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="Also put the tables into this document, behind the lines <!-- peers --> and "
    "<!-- quads -->.",
)
@flow_errors
def peers(synth, rates, out, page):
    """Compare the clock speeds with those of peers, and say how many quads a second they give."""
    from minmip.sim.peers import peer_rows, quad_rows
    from minmip.sim.synth_commands import synth_table

    measured = synth_table(synth).rows()
    tables = {
        "peers": peer_rows(measured),
        "quads": quad_rows(measured, _rates_table(rates).rows()),
    }
    keys = {"peers": _PEERS, "quads": ("preset", "grade", "traffic")}
    for name, rows in tables.items():
        if not rows:
            raise ValueError(f"{synth} has no row that a peer's figure could stand beside")
        text = _markdown(rows)
        click.echo(text)
        if out:
            file = out / f"{name}.csv"
            file.unlink(missing_ok=True)  # rows of what is no longer there, too
            ResultTable(file, tuple(rows[0]), keys[name]).put(rows)
        if page:
            mark = f"<!-- {name} -->\n"
            before, found, behind = page.read_text().partition(mark)
            if not found:
                raise ValueError(f"{page} has no line {mark.strip()}")
            page.write_text(before + mark + text + re.sub(r"\A(\|.*\n)*", "", behind))


def _markdown(rows: list[dict[str, str]]) -> str:
    names = [re.sub("_", " ", name) for name in rows[0]]
    lines = [names, ["---"] * len(names), *(row.values() for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
