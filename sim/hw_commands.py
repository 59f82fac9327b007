"""The commands of the hardware flows: `minmip verilog`, `synth`, `mode-area`, `formal`."""

from __future__ import annotations

import csv
import functools
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import click

__all__ = ["flow_errors", "formal", "mode_area", "synth", "verilog"]

_COLUMNS = (
    *("block", "preset", "part", "grade", "median_mhz", "min_mhz", "max_mhz", "cap_mhz"),
    *("comb", "lut4", "ff", "dsp", "bram", "seeds", "mhz_by_seed", "seconds", "path"),
)
_KEY = ("block", "preset", "part", "grade")
_PROOF_COLUMNS = ("block", "property", "says", "mode", "depth", "engine", "status", "seconds")
_PROOF_KEY = ("block", "property")


def flow_errors(command: Callable) -> Callable:
    """Turn errors of the flows into one line on stderr and exit status 2."""

    @functools.wraps(command)
    def wrapper(*args, **kwargs):
        try:
            return command(*args, **kwargs)
        except ModuleNotFoundError as error:
            text = f"{error.name} is missing: install the tools of the flows by `make setup`"
        except OSError as error:
            text = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        except (ValueError, RuntimeError) as error:
            text = str(error)
        click.echo(f"minmip: {text}", err=True)
        raise SystemExit(2)

    return wrapper


def _preset(name: str, hardware: str | None = None):
    """Parameters by name; with the pipe XOR of a GPU, the modes that have one too."""
    from minmip.hw.config import PRESETS, XOR_MODES
    from minmip.sim.layout import HARDWARE, xor_patterns

    if name not in PRESETS:
        raise ValueError(f"there is no preset {name!r}; there are {', '.join(sorted(PRESETS))}")
    if hardware is None:
        return PRESETS[name]
    if hardware not in HARDWARE:
        raise ValueError(f"there is no GPU {hardware!r}; there are {', '.join(HARDWARE)}")
    modes = PRESETS[name].swizzle_modes | XOR_MODES
    patterns = xor_patterns(HARDWARE[hardware])
    return replace(PRESETS[name], swizzle_modes=modes, xor_patterns=patterns)


_preset_option = click.option("--preset", default="full", show_default=True, help="Parameter set.")
_xor_option = click.option(
    "--pipe-xor",
    metavar="GPU",
    help="Also the swizzle modes with a pipe XOR, as on anaconda, lockhart, navi21 or navi10.",
)


@click.command()
@click.option(
    "-o", "--out", type=click.Path(path_type=Path, file_okay=False), required=True, help="Folder."
)
@click.option("--block", help="A block as its own top, or all of them. Default: the whole unit.")
@_preset_option
@_xor_option
@flow_errors
def verilog(out, block, preset, pipe_xor):
    """Write the Verilog of the whole unit, or of blocks: NAME.v with top module NAME."""
    from minmip.hw.blocks import BLOCKS, UNIT, make_block
    from minmip.hw.build import verilog as convert

    cfg = _preset(preset, pipe_xor)
    names = sorted(BLOCKS) if block == "all" else [block or UNIT]
    blocks = {name: make_block(name, cfg) for name in names}
    out.mkdir(parents=True, exist_ok=True)
    for name, component in blocks.items():
        file = out / f"{name}.v"
        file.write_text(convert(component, name))
        click.echo(file)


@click.command()
@click.option(
    "--block", "blocks", required=True, multiple=True, help="Name, or all; may be repeated."
)
@_preset_option
@_xor_option
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
    "--seeds", type=click.IntRange(1, 100), default=1, show_default=True, help="How many."
)
@click.option("--jobs", type=click.IntRange(1, 64), default=1, show_default=True, help="At once.")
@click.option(
    "--table",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Also put the rows into this CSV file, in place of older ones.",
)
@flow_errors
def synth(blocks, preset, pipe_xor, parts, grades, seeds, jobs, table):
    """Synthesise, place and route blocks; say their clock speed, size and slowest path."""
    from minmip.hw.blocks import BLOCKS, make_block
    from minmip.hw.fpga_parts import PARTS
    from minmip.hw.synth import netlist_of

    unknown = [part for part in parts if part not in PARTS]
    if unknown:
        raise ValueError(f"there is no part {unknown[0]!r}; there are {', '.join(PARTS)}")
    if "all" in blocks:
        blocks = sorted(BLOCKS)
    cfg = _preset(preset, pipe_xor)
    label = f"{preset} {pipe_xor}" if pipe_xor else preset
    for block, component in [(block, make_block(block, cfg)) for block in blocks]:
        for family, members in groupby(parts, lambda part: PARTS[part].family):
            with netlist_of(component, family) as netlist:
                for part, grade in [(p, g) for p in members for g in _grades(PARTS[p], grades)]:
                    report = netlist.place(
                        part=part, grade=grade, seeds=range(1, seeds + 1), jobs=jobs
                    )
                    _say_report(block, report)
                    if table:
                        row = _report_row(block, label, report)
                        _put_rows(table, [row], _COLUMNS, _KEY)


@click.command("mode-area")
@click.option(
    "--modes", "names", metavar="SET", multiple=True, help="One of the sets; may be repeated."
)
@flow_errors
def mode_area(names):
    """Say what the swizzle modes cost in the address generator: cells of an ECP5, logic levels."""
    from minmip.sim.runners.mode_area import mode_area, mode_sets

    sets = mode_sets()
    unknown = [name for name in names if name not in sets]
    if unknown:
        known = "; ".join(sets)
        raise ValueError(f"there is no set of modes {unknown[0]!r}; there are: {known}")
    click.echo("| modes | LUT4 | carry cells | FF | multipliers | logic levels | latency |")
    click.echo("|---|---|---|---|---|---|---|")
    for name in names or sets:
        area = mode_area(sets[name])
        cells = (area.lut4, area.carry, area.ff, area.dsp, area.levels, area.latency)
        click.echo(f"| {name} | {' | '.join(map(str, cells))} |")


def _grades(part, asked: Sequence[str]) -> list[int | None]:
    """Give the speed grades of a part that are asked for, or the one of a part without any."""
    return [grade for grade in part.grades if grade is None or str(grade) in asked]


def _say_report(block: str, report) -> None:
    grade = f" -{report.grade}" if report.grade else ""
    size = f"{report.ff} FF, {report.dsp} DSP, {report.bram} block RAM, {report.seconds:.0f} s"
    if report.median is None:
        click.echo(f"{block} {report.part}: area only, {report.lut4} LUT, {size}")
        return
    limit = f"hard blocks allow {report.cap} MHz" if report.cap else "no limit of a hard block"
    click.echo(
        f"{block} {report.part}{grade}: {report.median:.0f} MHz ({min(report.mhz.values()):.0f} to "
        f"{max(report.mhz.values()):.0f} over {len(report.mhz)} seeds; {limit})\n"
        f"  {report.comb} LUT sites ({report.lut4} LUT4), {size}\n"
        f"  slowest path: {report.path}"
    )


def _report_row(block: str, preset: str, report) -> dict[str, str]:
    counts = ("part", "grade", "comb", "lut4", "ff", "dsp", "bram", "path")
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
        **{name: "" if value is None else str(value) for name, value in values.items()},
    }


@click.command()
@click.argument("name", required=False, metavar="[BLOCK|PROOF]")
@click.option("--list", "only_list", is_flag=True, help="List the proofs and stop.")
@click.option("--jobs", type=click.IntRange(1, 64), default=1, show_default=True, help="At once.")
@click.option(
    "--table",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Also put the rows into this CSV file, in place of older ones.",
)
@flow_errors
def formal(name, only_list, jobs, table):
    """Prove the properties of every block, of one block, or one property."""
    import warnings
    from concurrent.futures import ThreadPoolExecutor

    from amaranth.hdl import UnusedElaboratable

    warnings.simplefilter("ignore", UnusedElaboratable)  # proofs ask a block for its latency only
    proofs, run_proof = _proofs()
    chosen = [proof for proof in proofs if name in (None, proof.block, proof.title)]
    if not chosen:
        blocks = ", ".join(sorted({proof.block for proof in proofs}))
        raise ValueError(f"there is no proof {name!r}; there are proofs of {blocks}")
    if only_list:
        for proof in chosen:
            click.echo(f"{proof.title:<28}{proof.says}")
        return
    rows = []
    with ThreadPoolExecutor(jobs) as pool:
        for proof, outcome in zip(chosen, pool.map(run_proof, chosen), strict=True):
            depth = "" if proof.engine.startswith("abc") else proof.depth
            click.echo(
                f"{proof.title:<28}{outcome.status:<9}{proof.mode:<7}{depth!s:>3}"
                f"{outcome.seconds:7.1f} s  {proof.says}"
            )
            if outcome.status != "PASS":
                click.echo(outcome.log, err=True)
            rows.append(
                {
                    "block": proof.block,
                    "property": proof.name,
                    "says": proof.says,
                    "mode": proof.mode,
                    "depth": str(depth),
                    "engine": proof.engine,
                    "status": outcome.status,
                    "seconds": f"{outcome.seconds:.1f}",
                }
            )
    if table:
        _put_rows(table, rows, _PROOF_COLUMNS, _PROOF_KEY)
    failed = sum(row["status"] != "PASS" for row in rows)
    click.echo(f"{len(rows) - failed} of {len(rows)} proved")
    if failed:
        raise SystemExit(1)


def _proofs():
    """The proofs of a checkout: they live with the benches, which are not installed."""
    benches = Path(__file__).resolve().parents[1] / "tb"
    if not (benches / "kit" / "proofs.py").exists():
        raise ValueError("the proofs are part of a checkout of the repository, not of the package")
    if str(benches) not in sys.path:
        sys.path.insert(0, str(benches))
    from kit.formal import run_proof  # pyright: ignore[reportMissingImports]
    from kit.proofs import all_proofs  # pyright: ignore[reportMissingImports]

    return all_proofs(), run_proof


def _put_rows(table: Path, rows: list[dict], columns: tuple[str, ...], key: tuple[str, ...]):
    """Replace the rows of the same key, or add them; the table stays sorted."""
    new = {tuple(row[name] for name in key): row for row in rows}
    old = {}
    if table.exists():
        with table.open(newline="") as file:
            old = {tuple(row[name] for name in key): row for row in csv.DictReader(file)}
    merged = {**old, **new}
    table.parent.mkdir(parents=True, exist_ok=True)
    with table.open("w", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(merged[name] for name in sorted(merged))
