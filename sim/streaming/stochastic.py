"""Which pixels write feedback when not all of them do (stochastic update)."""

from __future__ import annotations

import numpy as np

__all__ = ["some_lanes"]

ALL_LANES = 15


def some_lanes(quads: int, share: float, seed: int, frame: int) -> np.ndarray:
    """Draw the lanes that write feedback in a frame: mask of four, uint8 [quads].

    Each lane is drawn by itself with the chance `share`, anew in every frame; the same seed and
    frame give the same lanes, and a larger share gives them and more.
    """
    if share >= 1:
        return np.full(quads, ALL_LANES, np.uint8)
    rng = np.random.default_rng([seed, frame])
    chosen = rng.random((quads, 4)) < share
    return np.packbits(chosen, axis=1, bitorder="little")[:, 0]
