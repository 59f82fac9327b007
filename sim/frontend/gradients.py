"""Gradients from differences inside a quad, coarse and fine (spec 07 "Gradients").

Lanes: 0 top left, 1 top right, 2 bottom left, 3 bottom right. Helper lanes take part.
"""

import numpy as np

from minmip.sim.frontend.float_rules import subtract

__all__ = ["coarse_gradients", "fine_gradients"]


def coarse_gradients(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """One gradient per quad: lane 1 less lane 0 and lane 2 less lane 0.

    Parameters
    ----------
    values : ndarray
        float32 [Q, 4, ...], such as `Quads.uv`.

    Returns
    -------
    ddx, ddy : ndarray
        float32 [Q, 4, ...], the same in all lanes: what an implicit sample takes.

    Raises
    ------
    ValueError
        If the values are of another type or shape.
    """
    _check(values)
    left, right, below = values[:, :1], values[:, 1:2], values[:, 2:3]
    shape = values.shape
    return (
        np.broadcast_to(subtract(right, left), shape),
        np.broadcast_to(subtract(below, left), shape),
    )


def fine_gradients(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Along x by rows of a quad, along y by columns; arguments as of `coarse_gradients`."""
    _check(values)
    ddx = subtract(values[:, 1::2], values[:, ::2])  # upper row, lower row
    ddy = subtract(values[:, 2:], values[:, :2])  # left column, right column
    return np.repeat(ddx, 2, axis=1), np.concatenate([ddy, ddy], axis=1)


def _check(values: np.ndarray) -> None:
    if values.dtype != np.float32 or values.ndim < 2 or values.shape[1] != 4:
        raise ValueError(
            f"values must be float32 [Q, 4, ...], not {values.dtype} {list(values.shape)}"
        )
