"""Textures cut into 64 KB tiles, and which texels of their maps each tile lies under (spec 06)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from minmip.sim.frontend import Texture
from minmip.sim.frontend.scene import TILE_SIZE
from minmip.sim.summary import BYTES_PER_TEXEL
from minmip.sim.tiles import cells_of_tiles, packed_tiles

__all__ = ["Level", "TileTable", "Tiling", "cut_region", "tile_textures"]

MIPS = 16


@dataclass(frozen=True, eq=False)
class Level:
    """The tiles of one mip level: a grid, numbered row by row from `first` on.

    `width` and `height` are the level's texels. Tile column i lies under the map's texels
    `x_from[i]:x_to[i]`, tile row j under `y_from[j]:y_to[j]`: neighbours share a map texel where
    the two grids do not match.
    """

    width: int
    height: int
    first: int
    x_from: np.ndarray
    x_to: np.ndarray
    y_from: np.ndarray
    y_to: np.ndarray

    @property
    def columns(self) -> int:
        """Tiles across."""
        return len(self.x_from)

    @property
    def rows(self) -> int:
        """Tiles down."""
        return len(self.y_from)

    @property
    def count(self) -> int:
        """Tiles of the level."""
        return self.columns * self.rows


@dataclass(frozen=True, eq=False)
class Tiling:
    """One texture in tiles.

    Attributes
    ----------
    texture : Texture
        Name, size and address modes.
    map_size : (int, int)
        Texels of its maps across and down: floor(size / region), at least 1.
    levels : tuple of Level
        The mip levels that have tiles of their own, finest first. The rest, levels that do not fill
        one tile on every axis, are the packed mips, from level `len(levels)` on.
    packed : int
        Tiles that the packed mips take together.
    """

    texture: Texture
    map_size: tuple[int, int]
    levels: tuple[Level, ...]
    packed: int

    @property
    def wraps(self) -> tuple[bool, bool]:
        """Whether the first and last map texels across and down are neighbours."""
        return self.texture.wrap_u == "wrap", self.texture.wrap_v == "wrap"

    def least(self, values: np.ndarray, level: int) -> np.ndarray:
        """Smallest of a map's `values` [rows, columns] over each tile of a level, likewise."""
        tiles = self.levels[level]
        x, y = _spans(tiles.x_from, tiles.x_to), _spans(tiles.y_from, tiles.y_to)
        return values[:, x].min(axis=2)[y].min(axis=1)


@dataclass(frozen=True, eq=False)
class TileTable:
    """All tiles of all textures, numbered through; arrays by tile, then tables by [texture, mip].

    `first` and `columns` have 0 for packed mips and levels that do not exist, `tiled` says which
    are neither.
    """

    texture: np.ndarray
    level: np.ndarray
    first: np.ndarray
    columns: np.ndarray
    tiled: np.ndarray

    def __len__(self) -> int:
        """Return the number of tiles, packed mips left out."""
        return len(self.level)

    def tile_of(
        self, texture: np.ndarray, mip: np.ndarray, x: np.ndarray, y: np.ndarray
    ) -> np.ndarray:
        """Tile that holds each texel, -1 for one in the packed mips; int64 [n]."""
        row = texture * MIPS + mip
        tile = self.first.ravel()[row] + (y // TILE_SIZE) * self.columns.ravel()[row]
        return np.where(self.tiled.ravel()[row], tile + x // TILE_SIZE, -1)


def tile_textures(
    textures: Sequence[Texture], region: tuple[int, int]
) -> tuple[list[Tiling], TileTable]:
    """Cut textures into tiles.

    Parameters
    ----------
    textures : sequence of Texture
        At most 16 mip levels each.
    region : (int, int)
        Texels of mip 0 for each map texel, powers of two; cut to the largest that fits a texture.
    """
    tilings: list[Tiling] = []
    first = 0
    for texture in textures:
        size = (texture.width, texture.height)
        across, down = cut_region(texture, region)
        map_size = (texture.width // across, texture.height // down)
        levels = []
        for mip in range(texture.mips):
            width, height = texture.mip_size(mip)
            if width < TILE_SIZE or height < TILE_SIZE:
                break
            columns = cells_of_tiles(width, TILE_SIZE, map_size[0])
            rows = cells_of_tiles(height, TILE_SIZE, map_size[1])
            levels.append(Level(width, height, first, *columns, *rows))
            first += levels[-1].count
        packed = packed_tiles(size, (TILE_SIZE, TILE_SIZE), BYTES_PER_TEXEL, texture.mips)
        tilings.append(Tiling(texture, map_size, tuple(levels), packed))
    return tilings, _table(tilings)


def cut_region(texture: Texture, region: tuple[int, int]) -> tuple[int, int]:
    """Return the region, each side cut to the largest power of two that fits the texture's."""
    sides = zip(region, (texture.width, texture.height), strict=True)
    across, down = (min(wanted, 1 << side.bit_length() - 1) for wanted, side in sides)
    return across, down


def _table(tilings: list[Tiling]) -> TileTable:
    shape = (len(tilings), MIPS)
    first, columns, tiled = np.zeros(shape, int), np.zeros(shape, int), np.zeros(shape, bool)
    texture, level = [], []
    for index, tiling in enumerate(tilings):
        for mip, tiles in enumerate(tiling.levels):
            first[index, mip], columns[index, mip] = tiles.first, tiles.columns
            tiled[index, mip] = True
            texture.append(np.full(tiles.count, index))
            level.append(np.full(tiles.count, mip))
    none = np.zeros(0, int)
    return TileTable(
        np.concatenate([none, *texture]), np.concatenate([none, *level]), first, columns, tiled
    )


def _spans(start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Indices of spans of one length [n, k]; shorter spans repeat their last."""
    longest = int((end - start).max())
    return np.minimum(start[:, None] + np.arange(longest), end[:, None] - 1)
