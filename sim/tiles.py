"""Which 64 KB tiles of a texture a feedback map asks for (spec 06 "Tile shapes")."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = [
    "TILE_BYTES",
    "TileCount",
    "cells_of_tiles",
    "count_tiles",
    "needs_from_levels",
    "packed_tiles",
]

TILE_BYTES = 65536


@dataclass(frozen=True, kw_only=True)
class TileCount:
    """Tiles of one texture: those needed and those of the whole, packed mips included in both."""

    needed: int
    whole: int
    packed: int


def needs_from_levels(levels: np.ndarray, mips: int) -> list[np.ndarray]:
    """Which regions need each mip level, from decoded MinMip levels uint8 [rows, columns].

    A region that recorded level n needs n and every coarser one; 0xFF (not sampled) needs none.
    """
    return [levels <= level for level in range(mips)]


def count_tiles(
    size: tuple[int, int], tile: tuple[int, int], bytes_per_texel: int, needs: list[np.ndarray]
) -> TileCount:
    """Count the tiles that cover the regions in need.

    Parameters
    ----------
    size : (int, int)
        Width and height of mip 0 in texels.
    tile : (int, int)
        Width and height of a tile in texels.
    bytes_per_texel : int
        For the packed mips, the levels that do not fill one tile in every axis; they are always
        resident.
    needs : list of bool [rows, columns]
        One for each mip level of the texture: the map texels that need it. The map's grid divides
        the level evenly, as the hardware's footprint does (spec 03).
    """
    needed = whole = 0
    for level, regions in enumerate(needs):
        width, height = (max(1, side >> level) for side in size)
        if width < tile[0] or height < tile[1]:
            continue
        columns = cells_of_tiles(width, tile[0], regions.shape[1])
        rows = cells_of_tiles(height, tile[1], regions.shape[0])
        # Summed-area table: how many regions in need each tile's box holds.
        table = np.pad(regions.astype(np.int64).cumsum(0).cumsum(1), ((1, 0), (1, 0)))
        (top, bottom), (left, right) = rows, columns
        box = table[bottom][:, right] - table[top][:, right]
        box += table[top][:, left] - table[bottom][:, left]
        needed += int((box > 0).sum())
        whole += box.size
    packed = packed_tiles(size, tile, bytes_per_texel, len(needs))
    return TileCount(needed=needed + packed, whole=whole + packed, packed=packed)


def packed_tiles(
    size: tuple[int, int], tile: tuple[int, int], bytes_per_texel: int, mips: int
) -> int:
    """Tiles that hold the packed mips of a texture of `mips` levels; arguments as above."""
    sizes = [tuple(max(1, side >> level) for side in size) for level in range(mips)]
    packed = sum(w * h for w, h in sizes if w < tile[0] or h < tile[1])
    return -(-packed * bytes_per_texel // TILE_BYTES)


def cells_of_tiles(size: int, tile: int, cells: int) -> tuple[np.ndarray, np.ndarray]:
    """First and one past the last map texel that each tile of one axis overlaps.

    `size` texels of a mip level in tiles of `tile`, under a map of `cells` texels.
    """
    start = np.arange(0, size, tile)
    end = np.minimum(start + tile, size)
    return start * cells // size, -(-end * cells // size)
