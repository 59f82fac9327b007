"""The commands of boards: `minmip bitstream`, `minmip constraints`."""

from __future__ import annotations

from pathlib import Path

import click

from minmip.sim.hw_commands import flow_errors

__all__ = ["bitstream", "constraints"]


@click.command()
@click.option("--board", required=True, metavar="NAME", help="Which board: ulx3s.")
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder. Default: out/BOARD.",
)
@click.option("--mhz", type=click.IntRange(1), help="Clock. Default: the board's own.")
@click.option("--seed", type=click.IntRange(1), default=1, show_default=True, help="Of placement.")
@flow_errors
def bitstream(board, out, mhz, seed):
    """Build a board's bitstream: the unit, its map memory and the host link. It takes long."""
    from minmip.hw.board.bitstream import make_bitstream, plan

    cfg = plan(board, mhz)
    out = out or Path("out", board)
    click.echo(
        f"{board}: {cfg.unit.lanes} lane, {cfg.unit.memory_bytes >> 10} KiB of map memory, "
        f"{cfg.clock_hz / 1e6:g} MHz, {cfg.baud / 1e6:g} Mbaud; into {out}, which may take an hour"
    )
    made = make_bitstream(board, out, cfg=cfg, seed=seed, say=click.echo)
    click.echo(
        f"{made.file}: {made.mhz:.1f} MHz, {made.wanted_mhz:g} MHz wanted; "
        f"{made.cells.get('TRELLIS_COMB', 0)} LUT sites, {made.cells.get('TRELLIS_FF', 0)} FF, "
        f"{made.cells.get('MULT18X18D', 0)} DSP, {made.cells.get('DP16KD', 0)} block RAM; "
        f"{made.seconds:.0f} s"
    )


@click.command()
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("constraints"),
    show_default=True,
    help="Folder.",
)
@flow_errors
def constraints(out):
    """Write the pin, clock and timing files of `constraints/`."""
    from minmip.hw.board.constraints import constraint_files

    out.mkdir(parents=True, exist_ok=True)
    for name, text in constraint_files().items():
        (out / name).write_text(text)
        click.echo(out / name)
