"""State of the rasteriser: what holds for a whole frame (spec 07 "RS")."""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral

import numpy as np

from minmip.sim.frontend.errors import SceneError, told
from minmip.sim.frontend.viewport import SUBPIXEL, Viewport

__all__ = ["CULL_MODES", "PATTERNS", "PLAIN", "RasterCounters", "RasterState", "Window"]

PATTERNS = {
    1: np.array([[0, 0]]),
    2: np.array([[4, 4], [-4, -4]]) * 16,
    4: np.array([[-2, -6], [6, -2], [-6, 2], [2, 6]]) * 16,
    8: np.array([[1, -3], [-1, 3], [5, 1], [-3, -5], [-5, 5], [-7, -1], [3, 7], [7, -7]]) * 16,
}
"""Sample places by sample count: Direct3D's standard patterns, x and y from the pixel's centre in
1/256 pixel, y down, int64 [S, 2]."""

Window = tuple[int, int, int, int]
"""Left, top, right, bottom in 1/256 pixel; right and bottom are the first outside."""

CULL_MODES = ("material", "none", "front", "back")
"""Which faces are not drawn; by "material" back faces of primitives that are not double-sided."""

MAX_SLICES = 2048
"""Most slices of a frame: what an array of Direct3D may have."""


@dataclass(frozen=True, kw_only=True)
class RasterState:
    """How a frame is rasterised.

    Parameters
    ----------
    viewport : Viewport, optional
        Where the view goes; none is the whole frame and all of the depth.
    scissor : tuple of int, optional
        Left, top, right, bottom in pixels: only pixels from left to right - 1 and top to
        bottom - 1 are drawn. What lies beyond the frame is cut; none draws the whole frame.
    cull : str
        One of `CULL_MODES`.
    samples : int
        Samples of a pixel: 1, 2, 4 or 8, in Direct3D's standard patterns.
    slices : int
        Slices of the target, each with a depth of its own; `Primitive.slice` chooses one.
    early_z : bool
        The depth test comes before the shader: hidden pixels sample nothing. Otherwise it comes
        after: every covered pixel samples, and is then hidden or not.
    hierarchical_z : bool
        Drop 8x8 tiles that lie wholly behind what is there, before their pixels are looked at.
        The picture is the same; it only saves work. Needs `early_z`.
    """

    viewport: Viewport | None = None
    scissor: tuple[int, int, int, int] | None = None
    cull: str = "material"
    samples: int = 1
    slices: int = 1
    early_z: bool = True
    hierarchical_z: bool = False

    def __post_init__(self):
        if self.viewport is not None and not isinstance(self.viewport, Viewport):
            raise SceneError(f"the viewport must be a Viewport, not {told(self.viewport)}")
        if not isinstance(self.cull, str) or self.cull not in CULL_MODES:
            raise SceneError(f"cull must be one of {', '.join(CULL_MODES)}, not {told(self.cull)}")
        if not isinstance(self.samples, Integral) or self.samples not in PATTERNS:
            raise SceneError(f"samples must be 1, 2, 4 or 8, not {told(self.samples)}")
        if not isinstance(self.slices, Integral) or not 1 <= self.slices <= MAX_SLICES:
            raise SceneError(
                f"slices must be an integer in 1..{MAX_SLICES}, not {told(self.slices)}"
            )
        for what in ("early_z", "hierarchical_z"):
            if not isinstance(getattr(self, what), bool | np.bool):
                raise SceneError(f"{what} must be True or False, not {told(getattr(self, what))}")
        if self.hierarchical_z and not self.early_z:
            raise SceneError("hierarchical_z needs early_z, but early_z is off")
        if self.scissor is not None:
            edges = self.scissor if isinstance(self.scissor, Sequence) else ()
            if len(edges) != 4 or not all(isinstance(n, Integral) for n in edges):
                raise SceneError(f"a scissor must be four integers, not {told(self.scissor)}")
            left, top, right, bottom = edges
            if not (0 <= left <= right and 0 <= top <= bottom):
                raise SceneError(
                    "a scissor must have 0 <= left <= right and 0 <= top <= bottom, "
                    f"not {told((left, top, right, bottom))}"
                )

    @property
    def pattern(self) -> np.ndarray:
        """Places of the samples, see `PATTERNS`."""
        return PATTERNS[self.samples]

    def view(self, width: int, height: int) -> Viewport:
        """The viewport in a frame of this size."""
        return self.viewport or Viewport(width=width, height=height)

    def window(self, width: int, height: int) -> Window:
        """Where samples are drawn in a frame of this size: inside viewport, scissor and frame."""
        boxes = [(0, 0, width * SUBPIXEL, height * SUBPIXEL), self.view(width, height).bounds]
        if self.scissor is not None:
            left, top, right, bottom = (SUBPIXEL * edge for edge in self.scissor)
            boxes.append((left, top, right, bottom))
        left, top, right, bottom = zip(*boxes, strict=True)
        return max(left), max(top), min(right), min(bottom)


PLAIN = RasterState()
"""One sample, one slice, early z, the whole frame."""


@dataclass(kw_only=True)
class RasterCounters:
    """Work that a frame took; a frame adds to what is there.

    Parameters
    ----------
    tiles, hidden_tiles : int
        Pairs of triangle and 8x8 tile that it may cover, and those that hierarchical z dropped.
    samples, passed_samples : int
        Samples that were covered and looked at, and those that passed the depth test.
    """

    tiles: int = 0
    hidden_tiles: int = 0
    samples: int = 0
    passed_samples: int = 0
