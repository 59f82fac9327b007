"""The viewport: from clip space to pixels and to the range of depth (spec 07 "viewport")."""

from dataclasses import dataclass

from minmip.sim.frontend.errors import SceneError, finite, told

__all__ = ["GUARD", "SUBPIXEL", "Viewport"]

SUBPIXEL = 256
"""Steps a pixel is divided into: 8 bits of sub-pixel precision."""

GUARD = 32768
"""Reach of the guard band in pixels, to both sides of the frame's origin. With it edge functions
stay below 2**50."""

MOST_LEFT, MOST_RIGHT = -GUARD, GUARD - 1
"""Direct3D's bounds of a viewport in pixels."""


@dataclass(frozen=True, kw_only=True)
class Viewport:
    """Direct3D's viewport: x = -w is its left edge, y = w its top edge; nothing is drawn beyond it.

    Parameters
    ----------
    left, top, width, height : float
        In pixels of the frame, of which it may be a part or reach beyond; -32768..32767. Edges
        snap to 1/256 pixel, as vertices do. One of width or height 0 draws nothing.
    near, far : float
        Depth of z = 0 and of z = w, 0 <= near <= far <= 1. All depth stays between them.
    """

    left: float = 0.0
    top: float = 0.0
    width: float
    height: float
    near: float = 0.0
    far: float = 1.0

    def __post_init__(self):
        numbers = self.left, self.top, self.width, self.height, self.near, self.far
        if not all(map(finite, numbers)):
            raise SceneError(f"a viewport must be six finite numbers, not {told(numbers)}")
        if self.width < 0 or self.height < 0:
            raise SceneError(
                "a viewport's width and height must be at least 0, "
                f"not {self.width:g} x {self.height:g}"
            )
        for axis, low, size in (("x", self.left, self.width), ("y", self.top, self.height)):
            if low < MOST_LEFT or low + size > MOST_RIGHT:
                raise SceneError(
                    f"a viewport must lie in {MOST_LEFT}..{MOST_RIGHT} along {axis}, "
                    f"not in {low:g}..{low + size:g}"
                )
        if not 0 <= self.near <= self.far <= 1:
            raise SceneError(
                "a viewport's depths must be 0 <= near <= far <= 1, "
                f"not {self.near:g} and {self.far:g}"
            )

    @property
    def bounds(self) -> tuple[int, int, int, int]:
        """Left, top, right, bottom in 1/256 pixel, rounded to nearest (ties to even)."""
        left, top = round(self.left * SUBPIXEL), round(self.top * SUBPIXEL)
        right = round((self.left + self.width) * SUBPIXEL)
        bottom = round((self.top + self.height) * SUBPIXEL)
        return left, top, right, bottom

    @property
    def aspect(self) -> float:
        """Width / height, 1 if it is empty."""
        return self.width / self.height if self.width and self.height else 1.0

    @property
    def guard(self) -> tuple[float, float]:
        """How far x and y may go before they are cut, in units of w (>= 1)."""
        return _reach(self.left, self.width), _reach(self.top, self.height)


def _reach(low: float, size: float) -> float:
    """Furthest from 0 that x / w may be for pixels within the guard band on both sides."""
    if not size:
        return 1.0
    return min(2 * (GUARD - low) / size - 1, 2 * (GUARD + low) / size + 1)
