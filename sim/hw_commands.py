"""The commands of the hardware flows: `minmip verilog`, `mode-area`, `formal`."""

from __future__ import annotations

import functools
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import click

from minmip.sim.result_table import ResultTable

__all__ = ["commit", "flow_errors", "formal", "mode_area", "parameters", "verilog", "xor_option"]

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


def parameters(name: str, hardware: str | None = None):
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


def commit() -> str:
    """Last commit of the gateware, with + when files of it have changed since; none without git."""
    root = Path(__file__).resolve().parents[1]

    def git(*words: str) -> str:
        command = ["git", "-C", str(root), *words, "--", "hw"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=True)
        except (OSError, subprocess.CalledProcessError):
            return ""
        return done.stdout.strip()

    commit = git("log", "-1", "--format=%h")
    return f"{commit}+" if commit and git("status", "--porcelain") else commit


_preset_option = click.option("--preset", default="full", show_default=True, help="Parameter set.")
xor_option = click.option(
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
@xor_option
@flow_errors
def verilog(out, block, preset, pipe_xor):
    """Write the Verilog of the whole unit, or of blocks: NAME.v with top module NAME."""
    from minmip.hw.blocks import BLOCKS, UNIT, make_block
    from minmip.hw.build import verilog as convert

    cfg = parameters(preset, pipe_xor)
    names = sorted(BLOCKS) if block == "all" else [block or UNIT]
    blocks = {name: make_block(name, cfg) for name in names}
    out.mkdir(parents=True, exist_ok=True)
    for name, component in blocks.items():
        file = out / f"{name}.v"
        file.write_text(convert(component, name))
        click.echo(file)


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


@click.command()
@click.argument("name", required=False, metavar="[BLOCK|PROOF]")
@click.option("--list", "only_list", is_flag=True, help="List the proofs and stop.")
@click.option("--jobs", type=click.IntRange(1, 64), default=1, show_default=True, help="At once.")
@click.option(
    "--table",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Also put the rows into this CSV file; older ones, and proofs that are gone, leave it.",
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
            depth = proof.depth if proof.engine.startswith("smtbmc") else ""
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
        known = {(proof.block, proof.name) for proof in proofs}
        ResultTable(table, _PROOF_COLUMNS, _PROOF_KEY).put(rows, known)
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
