"""From the feedback of a frame to the tiles that it asks for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from minmip.sim.streaming.spread import refined
from minmip.sim.streaming.tiling import TileTable, Tiling

__all__ = ["NOT_ASKED", "missed_levels"]

NOT_ASKED = -1


def missed_levels(
    recorded: Sequence[np.ndarray],
    tilings: Sequence[Tiling],
    table: TileTable,
    spread: int | None,
) -> np.ndarray:
    """By how much pixels would miss each tile: int64 [tiles], NOT_ASKED where none would.

    A region that recorded level n asks for the tiles over it at level n and every coarser one, and
    for what must be resident around it to keep neighbours within `spread`. The figure of a tile of
    level L is the largest L - n: the coarser tile counts more than the finer ones above it.

    Parameters
    ----------
    recorded : sequence of uint8 [rows, columns]
        Decoded MinMip feedback of each texture, 255 where nothing was sampled.
    tilings, table
        The textures in tiles.
    spread : int or None
        Largest difference of neighbours; None for any.
    """
    missed = np.full(len(table), NOT_ASKED)
    for tiling, levels in zip(tilings, recorded, strict=True):
        need = np.minimum(levels.astype(np.int64), len(tiling.levels))
        if spread is not None:
            need = refined(need, spread, tiling.wraps)
        for number, level in enumerate(tiling.levels):
            finest = tiling.least(need, number).ravel()
            asked = np.maximum(number - finest, NOT_ASKED)
            missed[level.first : level.first + level.count] = asked
    return missed
