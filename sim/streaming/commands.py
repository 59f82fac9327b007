"""The commands `minmip stream`, `minmip stream-share` and `minmip measure-stream`."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from minmip.sim.cli_options import Pair, backend_from_options, backend_options, one_sentence

__all__ = ["measure_stream", "stream", "stream_share"]

MIB = 1 << 20
_scene = click.argument("scene", default="builtin", metavar="[FILE.glb|FILE.gltf|builtin]")


def _loop_options(command):
    """Options that say how a scene is streamed."""
    for option in reversed(
        (
            click.option(
                "--size", type=Pair(), default="960x540", show_default=True, help="Frame size."
            ),
            click.option(
                "--frames", type=int, default=24, show_default=True, help="Frames of the flight."
            ),
            click.option(
                "--pool",
                type=float,
                default=32,
                show_default=True,
                metavar="MiB",
                help="Memory for tiles, packed mips included.",
            ),
            click.option(
                "--budget",
                type=int,
                default=32,
                show_default=True,
                metavar="TILES",
                help="Most tiles to upload in a frame.",
            ),
            click.option(
                "--latency",
                type=int,
                default=2,
                show_default=True,
                metavar="K",
                help="Feedback of frame N drives what is resident from frame N + K on.",
            ),
            click.option(
                "--filter",
                "filtering",
                type=click.Choice(["point", "bilinear", "trilinear", "aniso"]),
                default="trilinear",
                show_default=True,
                help="Filter of the samples.",
            ),
            click.option(
                "--aniso",
                type=click.Choice(["2", "4", "8", "16"]),
                help="Largest ratio of --filter aniso. Default: 16.",
            ),
            click.option(
                "--slope",
                type=click.Choice(["2.5", "3", "4", "5", "8", "16", "32", "64"]),
                default="4",
                show_default=True,
                help="Slope of the MinMip filter.",
            ),
            click.option(
                "--offset",
                type=click.Choice(["1/4", "1/8", "1/16", "1/32", "1/64", "1/128"]),
                help="Offset of the MinMip filter. Default: 1/2^(d+1), d the spread.",
            ),
            click.option(
                "--spread",
                type=int,
                default=1,
                show_default=True,
                metavar="D",
                help="Largest difference of neighbours on a MinMip map, in levels.",
            ),
            click.option(
                "--tail",
                type=int,
                metavar="LEVEL",
                help="Keep this level and coarser ones resident, as packed mips are.",
            ),
            click.option(
                "--region",
                type=Pair(),
                help="Texels of mip 0 for each map texel, powers of two. Default: a tile, 128x128.",
            ),
            click.option(
                "--seed", type=int, default=0, show_default=True, help="Of the pixels of --share."
            ),
        )
    ):
        command = option(command)
    return command


def _settings(*, pool, filtering, aniso, **options):
    from minmip.sim.streaming.errors import StreamError
    from minmip.sim.streaming.loop import Settings

    if aniso and filtering != "aniso":
        raise StreamError(f"--aniso {aniso} wants --filter aniso, not {filtering}")
    if not 0 <= pool <= 1 << 24:
        raise StreamError(f"the pool must have 0 to 2^24 MiB, not {pool:g}")
    return Settings(
        pool_bytes=int(pool * MIB),
        filtering=filtering,
        max_anisotropy=int(aniso or 16) if filtering == "aniso" else 1,
        **options,
    )


@click.command()
@_scene
@_loop_options
@click.option(
    "--share",
    type=float,
    default=1.0,
    show_default=True,
    help="Share of the pixels that write feedback, drawn anew each frame (stochastic update).",
)
@click.option("--cut", type=int, metavar="FRAME", help="From this frame on, half a flight ahead.")
@click.option(
    "--unsafe",
    is_flag=True,
    help="Break the condition of spec 04, to see it found: any spread, offset 1/128 by default.",
)
@click.option("--pictures/--no-pictures", default=True, show_default=True, help="Draw the frames.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("out/stream"),
    show_default=True,
    help="Folder for stream.csv, summary.json and pictures.",
)
@backend_options
@one_sentence
def stream(scene, cut, pictures, out, backend, preset, lanes, wave, wave_cycles, **options):
    """Stream a scene's textures by what the hardware records, along a camera flight."""
    from minmip.sim.streaming.job import run_stream

    run_stream(
        scene,
        _settings(**options),
        backend=partial(backend_from_options, backend, preset, lanes, wave, wave_cycles),
        cut=cut,
        pictures=pictures,
        out=out,
        say=click.echo,
    )


class _Shares(click.ParamType):
    """Numbers with commas between them."""

    name = "P,P,..."

    def convert(self, value, param, ctx):
        """Return a tuple of float."""
        if isinstance(value, tuple):
            return value
        try:
            return tuple(float(share) for share in value.split(","))
        except ValueError:
            self.fail(f"wanted numbers such as 1,0.25,0.01, not {value!r}", param, ctx)


@click.command("stream-share")
@_scene
@_loop_options
@click.option(
    "--shares",
    type=_Shares(),
    default=",".join(f"{2.0**-k:.10g}" for k in range(11)),
    help="Shares of the pixels that write feedback. Default: 1, 1/2, 1/4 ... 1/1024.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("out/share"),
    show_default=True,
    help="Folder for share.csv and share.png.",
)
@backend_options
@one_sentence
def stream_share(scene, shares, out, backend, preset, lanes, wave, wave_cycles, **options):
    """Stochastic update: share of the pixels that write feedback against tiles missed."""
    from minmip.sim.streaming.share import run_share

    run_share(
        scene,
        _settings(**options),
        shares,
        backend=partial(backend_from_options, backend, preset, lanes, wave, wave_cycles),
        out=out,
        say=click.echo,
    )


@click.command("measure-stream")
@click.option("--quick", is_flag=True, help="Frames of 240x136, and fewer of them.")
@click.option(
    "--only",
    type=click.Choice(["memory", "pools", "speed"]),
    multiple=True,
    help="Take this measure only; may be repeated.",
)
@backend_options
@one_sentence
def measure_stream(quick, only, **options):
    """Print the streaming figures of the docs: memory, frames to converge, jumps, speed."""
    from minmip.sim.streaming.measure import MEASURES, measure_streaming

    backend = backend_from_options(**options)
    measure_streaming(backend, quick=quick, only=only or MEASURES, say=click.echo)
