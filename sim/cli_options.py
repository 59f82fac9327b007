"""What the commands share: options, kinds of values, errors in one sentence."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path

import click

from minmip.hw.config import PRESETS

__all__ = ["Clocks", "Pair", "backend_from_options", "backend_options", "one_sentence"]


def one_sentence(command: Callable) -> Callable:
    """Turn the project's errors into one line on stderr and exit status 2."""

    @functools.wraps(command)
    def wrapper(*args, **kwargs):
        # Imported late, so that --help and doctor answer at once and without the libraries.
        from minmip.sim.d3d12 import D3D12Error
        from minmip.sim.frontend import SceneError
        from minmip.sim.layout.errors import LayoutError
        from minmip.sim.runners.verilate import RunnerError
        from minmip.sim.streaming.errors import StreamError
        from minmip.sim.trace import TraceError

        try:
            return command(*args, **kwargs)
        except (
            D3D12Error,
            LayoutError,
            RunnerError,
            SceneError,
            StreamError,
            TraceError,
        ) as error:
            text = str(error)
        except OSError as error:
            text = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        except MemoryError as error:
            text = f"not enough memory: {error}"
        click.echo(f"minmip: {text}", err=True)
        raise SystemExit(2)

    return wrapper


class Pair(click.ParamType):
    """Two sizes written 1920x1080."""

    name = "WxH"

    def get_metavar(self, param, ctx=None):
        """Return the name as it is; click would shout it."""
        return self.name

    def convert(self, value, param, ctx):
        """Return (width, height)."""
        if isinstance(value, tuple):
            return value
        width, cross, height = value.lower().partition("x")
        if not (cross and width.isascii() and height.isascii()):
            self.fail(f"wanted two whole numbers such as 1920x1080, not {value!r}", param, ctx)
        if not (width.isdigit() and height.isdigit() and len(value) <= 24):
            self.fail(f"wanted two whole numbers such as 1920x1080, not {value!r}", param, ctx)
        return int(width), int(height)


class Clocks(click.ParamType):
    """A span of clocks written 0:1000; the second is the first one left out."""

    name = "FROM:TO"

    def convert(self, value, param, ctx):
        """Return (first, one past the last)."""
        first, colon, last = value.partition(":")
        numbers = colon and first.isascii() and last.isascii() and (first + last).isdigit()
        if not (numbers and first and last and len(value) <= 30 and int(first) < int(last)):
            self.fail(f"wanted two rising whole numbers such as 0:1000, not {value!r}", param, ctx)
        return int(first), int(last)


def backend_options(command: Callable | None = None, *, board: bool = False) -> Callable:
    """Options that choose what runs the quads; with `board` it may be one at a serial port."""
    if command is None:
        return functools.partial(backend_options, board=board)
    decorated: Callable = command
    backends = ["golden", "pysim", "verilator", *(["board"] if board else [])]
    options = [
        click.option("--wave-cycles", type=Clocks(), help="Clocks of --wave. Default: 0:1000."),
        click.option(
            "--wave",
            type=click.Path(path_type=Path, dir_okay=False),
            help="Write waves of the unit's streams, .fst or .vcd (verilator).",
        ),
        click.option(
            "--lanes",
            type=click.Choice(["1", "2", "4"]),
            help="Lanes per clock in place of the preset's.",
        ),
        click.option(
            "--preset",
            type=click.Choice(list(PRESETS)),
            help="Build of the unit. Default: full.",
        ),
        click.option(
            "--backend",
            type=click.Choice(backends),
            default="golden",
            show_default=True,
            help="Golden model, or the gateware in Amaranth's simulator or Verilator"
            + (", or on a board." if board else "."),
        ),
    ]
    if board:
        options.append(click.option("--port", help="Serial port of the board: /dev/ttyUSB0."))
    for option in options:
        decorated = option(decorated)
    return decorated


def backend_from_options(backend, preset, lanes, wave, wave_cycles, port=None):
    """Make the backend that `backend_options` describe."""
    from minmip.sim.backends import make_backend

    return make_backend(
        backend,
        preset=preset,
        lanes=int(lanes) if lanes else None,
        wave=wave,
        wave_cycles=wave_cycles,
        port=port,
    )
