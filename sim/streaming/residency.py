"""Which tiles of a texture are resident, and the MinMip map that says so (seed 000, spec 04)."""

from __future__ import annotations

import numpy as np

from minmip.sim.streaming.spread import coarsened
from minmip.sim.streaming.tiling import Tiling

__all__ = ["Residency"]


class Residency:
    """The residency of one texture, kept by region as tiles come and go; packed mips always are.

    Parameters
    ----------
    tiling : Tiling
        The texture.

    Attributes
    ----------
    finest : int64 [rows, columns]
        By map texel: the finest level that is resident over the whole region together with every
        coarser one.
    """

    def __init__(self, tiling: Tiling):
        self.tiling = tiling
        columns, rows = tiling.map_size
        levels = len(tiling.levels)
        # Tiles that are missing over each region, by level: two or more where the grids differ.
        self._missing = np.zeros((levels, rows, columns), np.int16)
        for level in range(levels):
            for tile in range(tiling.levels[level].count):
                self._missing[level][self._under(level, tile)] += 1
        self.finest = np.full((rows, columns), levels)

    def come(self, level: int, tile: int) -> None:
        """Note that a tile, numbered in its level, is resident from now on."""
        self._change(level, tile, -1)

    def go(self, level: int, tile: int) -> None:
        """Note that a tile, numbered in its level, is resident no longer."""
        self._change(level, tile, 1)

    def map(self, spread: int | None) -> np.ndarray:
        """MinMip map in mip levels, int64 [rows, columns]; neighbours within `spread` unless None.

        It is nowhere finer than what is resident.
        """
        if spread is None:
            return self.finest.copy()
        return coarsened(self.finest, spread, self.tiling.wraps)

    def _under(self, level: int, tile: int) -> tuple[slice, slice]:
        """Map texels under a tile: 2^n x 2^n of them at level n where a region is a tile."""
        tiles = self.tiling.levels[level]
        row, column = divmod(tile, tiles.columns)
        return (
            slice(tiles.y_from[row], tiles.y_to[row]),
            slice(tiles.x_from[column], tiles.x_to[column]),
        )

    def _change(self, level: int, tile: int, by: int) -> None:
        block = self._under(level, tile)
        self._missing[level][block] += by
        gaps = self._missing[:, *block] > 0
        levels = len(gaps)
        # One past the coarsest level with a gap.
        coarsest = levels - np.argmax(gaps[::-1], axis=0)
        self.finest[block] = np.where(gaps.any(axis=0), coarsest, 0)
