"""Maps whose neighbours differ by little: the `d` of spec 04, how a manager keeps it."""

from __future__ import annotations

import numpy as np

__all__ = ["coarsened", "refined"]


def coarsened(levels: np.ndarray, spread: int, wraps: tuple[bool, bool]) -> np.ndarray:
    """Finest map that is nowhere finer than `levels` and keeps neighbours within `spread`.

    Parameters
    ----------
    levels : int [rows, columns]
        Mip levels.
    spread : int
        Largest difference of neighbours, diagonal ones included; at least 1.
    wraps : (bool, bool)
        Whether the first and the last column, the first and the last row are neighbours.

    Returns
    -------
    numpy.ndarray
        int [rows, columns]: the maximum over all texels of their level less `spread` a step.
    """
    while True:
        around = _largest(_largest(levels, 1, wraps[0]), 0, wraps[1])
        grown = np.maximum(levels, around - spread)
        if (grown == levels).all():
            return levels
        levels = grown


def refined(levels: np.ndarray, spread: int, wraps: tuple[bool, bool]) -> np.ndarray:
    """Coarsest map that is nowhere coarser than `levels` and keeps neighbours within `spread`.

    What must be resident all around, so that `levels` may be used; arguments as for `coarsened`.
    """
    return -coarsened(-levels, spread, wraps)


def _largest(values: np.ndarray, axis: int, wraps: bool) -> np.ndarray:
    """Maximum of each texel and its two neighbours on one axis."""
    before, after = np.roll(values, 1, axis), np.roll(values, -1, axis)
    if not wraps:
        edge = [slice(None)] * 2
        for side, moved in ((0, before), (-1, after)):
            edge[axis] = slice(0, 1) if side == 0 else slice(-1, None)
            moved[tuple(edge)] = values[tuple(edge)]
    return np.maximum(values, np.maximum(before, after))
