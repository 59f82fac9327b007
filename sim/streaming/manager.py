"""The tile manager: what to load and what to give up, under a pool and an upload budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from minmip.sim.streaming.errors import StreamError
from minmip.sim.streaming.requests import NOT_ASKED, missed_levels
from minmip.sim.streaming.residency import Residency
from minmip.sim.streaming.tiling import TileTable, Tiling
from minmip.sim.tiles import TILE_BYTES

__all__ = ["Step", "TileManager"]

RANKS = 64
"""Above any rank inside a frame: mip levels and differences of them."""


@dataclass(frozen=True, eq=False)
class Step:
    """What one frame's decision did: numbers of tiles, int64 each.

    `wanted` are all tiles that the feedback asks for, resident or not; `loaded` and `evicted` are
    in the order in which they came and went.
    """

    wanted: np.ndarray
    loaded: np.ndarray
    evicted: np.ndarray


class TileManager:
    """Keeps the tiles of a pool, and for each texture a MinMip map that never promises too much.

    The feedback of a frame asks for every tile that its map must be able to name: the recorded
    level of each region, and around it what keeps neighbours within `spread`. Missing ones are
    loaded worst first, by how many levels too coarse they leave their pixels, as many as the budget
    allows. When the pool is full the tile that was wanted longest ago goes, the finest of them
    first; a tile that is wanted now goes only for one that is missed more. A coarser tile is missed
    more than the finer ones above it, so it comes before them and goes after them.

    Parameters
    ----------
    tilings, table
        From `tile_textures`.
    pool_bytes : int
        Memory for tiles, packed mips included.
    budget : int
        Most tiles to upload in a frame.
    spread : int or None
        Largest difference of neighbours on a map; None for any.
    tail : int or None
        Levels from this one on are always resident, as packed mips are.

    Attributes
    ----------
    resident : bool [tiles + 1]
        By tile; the last one stands for the packed mips and is True.

    Raises
    ------
    StreamError
        When the pool does not hold what is always resident, or nothing may be uploaded.
    """

    def __init__(
        self,
        tilings: Sequence[Tiling],
        table: TileTable,
        *,
        pool_bytes: int,
        budget: int,
        spread: int | None,
        tail: int | None = None,
    ):
        if budget < 1:
            raise StreamError(f"the upload budget must be at least 1 tile a frame, not {budget}")
        self.tilings, self.table = tilings, table
        self.budget, self.spread = budget, spread
        self.packed = sum(tiling.packed for tiling in tilings)
        self._pinned = np.zeros(len(table), bool) if tail is None else table.level >= tail
        always = self.packed + int(self._pinned.sum())
        self.pool = pool_bytes // TILE_BYTES
        if self.pool < always:
            what = "packed mips" if tail is None else f"packed mips, levels from {tail} on"
            raise StreamError(
                f"a pool of {pool_bytes / (1 << 20):g} MiB holds {self.pool} tiles of 64 KB, but "
                f"what is always resident ({what}) takes {always}: {always / 16:g} MiB"
            )
        self._room = self.pool - self.packed
        self.resident = np.append(self._pinned, True)
        self._last_used = np.full(len(table), -1)
        self._residency = [Residency(tiling) for tiling in tilings]
        for tile in np.flatnonzero(self._pinned).tolist():
            self._note(tile, here=True)

    def resident_tiles(self) -> int:
        """Tiles in the pool, those of the packed mips included."""
        return self.packed + int(self.resident[:-1].sum())

    def maps(self) -> list[np.ndarray]:
        """MinMip map of each texture in mip levels, int64 [rows, columns]."""
        return [residency.map(self.spread) for residency in self._residency]

    def step(self, frame: int, recorded: Sequence[np.ndarray]) -> Step:
        """Load and evict by the feedback of frame `frame`, the latest seen so far.

        `recorded` is each texture's decoded map, uint8 [rows, columns], 255 where nothing was
        sampled.
        """
        missed = missed_levels(recorded, self.tilings, self.table, self.spread)
        asked = missed != NOT_ASKED
        wanted = np.flatnonzero(asked)
        self._last_used[wanted] = frame
        # Tiles of the latest frame rank by how much they are missed, others by their level.
        rank = self._last_used * RANKS + np.where(asked, missed, self.table.level)

        missing = wanted[~self.resident[wanted]]
        missing = missing[np.argsort(-rank[missing], kind="stable")][: self.budget]
        held = np.flatnonzero(self.resident[:-1] & ~self._pinned)
        held = held[np.argsort(rank[held], kind="stable")]
        free = min(self._room - int(self.resident[:-1].sum()), len(missing))
        pairs = min(len(missing) - free, len(held))
        worth = rank[held[:pairs]] < rank[missing[free : free + pairs]]
        swaps = int(worth.sum())  # a falling row against a rising one: all True come first
        loaded, evicted = missing[: free + swaps], held[:swaps]
        for tile in evicted.tolist():
            self._note(tile, here=False)
        for tile in loaded.tolist():
            self._note(tile, here=True)
        return Step(wanted, loaded, evicted)

    def _note(self, tile: int, *, here: bool) -> None:
        residency = self._residency[self.table.texture[tile]]
        level = int(self.table.level[tile])
        inside = tile - residency.tiling.levels[level].first
        self.resident[tile] = here
        (residency.come if here else residency.go)(level, inside)
