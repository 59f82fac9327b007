"""The options of `minmip run` that say how a scene is rasterised (spec 07)."""

from __future__ import annotations

from collections.abc import Callable

import click

__all__ = ["drawing_from_options", "drawing_options"]


class _Numbers(click.ParamType):
    """Numbers with commas between them, such as 8,0,640,360."""

    def __init__(self, name: str, counts: tuple[int, ...], kind: type):
        self.name, self.counts, self.kind = name, counts, kind

    def convert(self, value, param, ctx):
        """Return a tuple of `kind`."""
        words = value.split(",")
        try:
            numbers = tuple(self.kind(word) for word in words)
        except ValueError:
            numbers = ()
        if len(numbers) not in self.counts or len(value) > 200:
            what = "whole numbers" if self.kind is int else "numbers"
            self.fail(f"wanted {what} {self.name}, not {value[:60]!r}", param, ctx)
        return numbers


def drawing_options(command: Callable) -> Callable:
    """Options of the rasteriser."""
    for option in reversed(
        (
            click.option(
                "--viewport",
                type=_Numbers("LEFT,TOP,WIDTH,HEIGHT[,NEAR,FAR]", (4, 6), float),
                help="Part of the frame that the view goes to, in pixels, and its depths. "
                "Default: the whole frame, 0,1.",
            ),
            click.option(
                "--scissor",
                type=_Numbers("LEFT,TOP,RIGHT,BOTTOM", (4,), int),
                help="Draw no pixels outside; RIGHT and BOTTOM are the first outside.",
            ),
            click.option(
                "--cull",
                type=click.Choice(["material", "none", "front", "back"]),
                default="material",
                show_default=True,
                help="Faces not drawn; material: back faces of what is not double-sided.",
            ),
            click.option(
                "--samples",
                type=click.Choice(["1", "2", "4", "8"]),
                default="1",
                show_default=True,
                help="Coverage samples of a pixel, in Direct3D's standard patterns.",
            ),
            click.option(
                "--centroid",
                is_flag=True,
                help="Coordinates at the first covered sample where the centre is outside.",
            ),
            click.option(
                "--interpolation",
                type=click.Choice(["constant", "linear", "perspective"]),
                help="Of texture coordinates. Default: perspective.",
            ),
            click.option(
                "--gradients",
                type=click.Choice(["implicit", "coarse", "fine"]),
                default="implicit",
                show_default=True,
                help="By the texture unit, or given with the sample: one a quad, or by row and "
                "column.",
            ),
            click.option(
                "--depth-bias",
                type=_Numbers("CONSTANT[,SLOPE[,CLAMP]]", (1, 2, 3), float),
                help="Direct3D's depth bias, for all triangles. Default: none.",
            ),
            click.option(
                "--early-z/--late-z",
                default=True,
                show_default=True,
                help="Depth test before the shader, or after it: hidden pixels then sample too.",
            ),
            click.option(
                "--hierarchical-z",
                is_flag=True,
                help="Drop hidden 8x8 tiles before their pixels are looked at.",
            ),
            click.option(
                "--slices",
                type=int,
                default=1,
                show_default=True,
                help="Slices of the target, a picture each; primitives go to them in turn.",
            ),
        )
    ):
        command = option(command)
    return command


def drawing_from_options(
    *,
    viewport,
    scissor,
    cull,
    samples,
    centroid,
    interpolation,
    gradients,
    depth_bias,
    early_z,
    hierarchical_z,
    slices,
):
    """Make the Drawing that `drawing_options` describe.

    Raises
    ------
    SceneError
        For values that are not legal, or not together.
    """
    from minmip.sim.drawing import Drawing
    from minmip.sim.frontend import DepthBias, RasterState, SceneError, Viewport

    if depth_bias and not depth_bias[0].is_integer():
        raise SceneError(
            f"depth bias: the constant must be a whole number of steps, not {depth_bias[0]:g}"
        )
    edges = ("left", "top", "width", "height", "near", "far")
    numbers = ("constant", "slope_scaled", "clamp")
    return Drawing(
        state=RasterState(
            viewport=Viewport(**dict(zip(edges, viewport, strict=False))) if viewport else None,
            scissor=scissor,
            cull=cull,
            samples=int(samples),
            slices=slices,
            early_z=early_z,
            hierarchical_z=hierarchical_z,
        ),
        interpolation=interpolation,
        centroid=centroid,
        depth_bias=DepthBias(**dict(zip(numbers, depth_bias, strict=False)))
        if depth_bias
        else None,
        gradients=gradients,
    )
