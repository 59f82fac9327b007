"""The `minmip` command. Bad input gives one sentence and exit status 2."""

from __future__ import annotations

import errno
import os
from functools import partial
from pathlib import Path

import click

from minmip.sim import (
    board_commands,
    figures_commands,
    hw_commands,
    layout_commands,
    synth_commands,
)
from minmip.sim.cli_options import Pair, backend_from_options, backend_options, one_sentence
from minmip.sim.drawing_options import drawing_from_options, drawing_options
from minmip.sim.streaming import commands as stream_commands

__all__ = ["main"]


class _Commands(click.Group):
    """Lists each command with its whole sentence; click would cut them."""

    def format_commands(self, ctx, formatter):
        names = self.list_commands(ctx)
        rows = [(name, self.commands[name].get_short_help_str(limit=1000)) for name in names]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="minmip")
def main():
    """Open hardware for GPU sampler feedback and the MinMip filter: simulate it, look at it."""


@main.command()
@click.argument("scene", default="builtin", metavar="[FILE.glb|FILE.gltf|builtin]")
@click.option("--size", type=Pair(), default="1920x1080", show_default=True, help="Frame size.")
@click.option("--frames", type=int, default=1, show_default=True, help="Frames of the animation.")
@click.option(
    "--kind",
    type=click.Choice(["minmip", "used"]),
    default="minmip",
    show_default=True,
    help="MinMip (finest level per region) or MipRegionUsed (flag per region and mip).",
)
@click.option(
    "--region",
    type=Pair(),
    default=None,
    help="Texels of mip 0 for each map texel, powers of two. Default: one 64 KB tile, 128x128.",
)
@click.option(
    "--aniso",
    type=click.Choice(["1", "2", "4", "8", "16"]),
    default="1",
    show_default=True,
    help="Largest anisotropic ratio; 1 keeps each texture's own filter.",
)
@click.option("--trace", "save_trace", is_flag=True, help="Also save each frame's trace (.npz).")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("out"),
    show_default=True,
    help="Folder for pictures and summary.json.",
)
@drawing_options
@backend_options
@one_sentence
def run(
    scene,
    size,
    frames,
    kind,
    region,
    aniso,
    save_trace,
    out,
    backend,
    preset,
    lanes,
    wave,
    wave_cycles,
    **drawing,
):
    """Render a scene's quads and show what sampler-feedback hardware records for them."""
    from minmip.sim.job import run_job

    run_job(
        scene,
        size=size,
        frames=frames,
        kind=kind,
        region=region,
        max_anisotropy=int(aniso),
        save_trace=save_trace,
        backend=partial(backend_from_options, backend, preset, lanes, wave, wave_cycles),
        drawing=drawing_from_options(**drawing),
        out=out,
        say=click.echo,
    )


@main.command()
@click.argument("trace_file", metavar="TRACE.npz", type=click.Path(path_type=Path))
@click.option("-o", "--out", type=click.Path(path_type=Path), required=True, help="Result file.")
@click.option("--pattern", is_flag=True, help="Also write the sample pattern of plain requests.")
@click.option("--check", is_flag=True, help="Compare with a golden run; exit 1 on a difference.")
@backend_options(board=True)
@one_sentence
def replay(trace_file, out, pattern, check, **options):
    """Run a trace file and write memory, error codes and answers."""
    from tqdm import tqdm

    from minmip.sim.backends import run_checked
    from minmip.sim.trace import Trace

    trace = Trace.load(trace_file)
    if not out.parent.is_dir():  # known before the run, not after it
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(out))
    backend = backend_from_options(**options)
    found: list[str] = []
    with tqdm(
        total=len(trace), unit="quad", unit_scale=True, desc=backend.name, disable=None
    ) as bar:
        if check:
            result, found = run_checked(backend, trace, pattern=pattern, progress=bar.update)
        else:
            result = backend.run(trace, pattern=pattern, progress=bar.update)
    for sentence in found:
        click.echo(sentence, err=True)
    if found:
        raise SystemExit(1)
    result.save(out)
    broken = int((result.error != 0).sum())
    clocks = f"{result.cycles} clocks, " if result.cycles is not None else ""
    click.echo(
        f"{len(trace)} quads, {broken} refused, {clocks}{result.counters['samples']} texel "
        f"samples, {result.counters['byte_writes']} byte writes: {out}"
    )


@main.command()
def doctor():
    """Say which tools are found and what each is for."""
    from minmip.sim.doctor import examine

    findings = examine()
    for tool in findings:
        if tool.version is None:
            state = "MISSING" if tool.needed else "not found"
        else:
            state = tool.version or "found"
        click.echo(f"{tool.name:<22}{state:<22}{tool.use}")
    if any(tool.needed and tool.version is None for tool in findings):
        click.echo("minmip: something needed is missing; `make setup` installs it", err=True)
        raise SystemExit(1)


@main.command()
@click.option("--quick", is_flag=True, help="10^5 gradients and a 480x270 frame.")
def measure(quick):
    """Print the figures that README and docs quote: LOD error, golden model speed and memory."""
    from minmip.sim.measure import measure_all

    measure_all(quick=quick, say=click.echo)


@main.command("measure-hw")
@click.option("--quick", is_flag=True, help="A 480x270 frame, fewer quads and no builds.")
@one_sentence
def measure_hw(quick):
    """Print the unit's figures in simulation: clocks and writes per quad, speed, build time."""
    from minmip.sim.measure_hw import measure_hardware

    measure_hardware(quick=quick, say=click.echo)


main.add_command(hw_commands.verilog)
main.add_command(synth_commands.synth)
main.add_command(hw_commands.mode_area)
main.add_command(hw_commands.formal)
main.add_command(figures_commands.rates)
main.add_command(figures_commands.peers)
main.add_command(board_commands.bitstream)
main.add_command(board_commands.constraints)
main.add_command(stream_commands.stream)
main.add_command(stream_commands.stream_share)
main.add_command(stream_commands.measure_stream)
main.add_command(layout_commands.layout)
main.add_command(layout_commands.swizzle)
main.add_command(layout_commands.unswizzle)
main.add_command(layout_commands.convert)
main.add_command(layout_commands.measure_layout)
