"""The depth test, fragment by fragment and tile by tile (spec 07 "Early depth test")."""

import numpy as np

__all__ = ["TILE", "DepthBuffer"]

TILE = 8
"""Edge in pixels of the tiles of hierarchical z, those of the rasteriser."""


class DepthBuffer:
    """A float32 depth buffer, cleared to 1; a fragment passes if it is nearer (less).

    Parameters
    ----------
    width, height : int
        The frame in pixels.
    samples, slices : int
        Samples of a pixel and slices of the target.
    """

    def __init__(self, width: int, height: int, samples: int = 1, slices: int = 1):
        self.columns, self.rows = -(-width // TILE), -(-height // TILE)
        shape = slices, self.rows * TILE, self.columns * TILE, samples
        # What lies beyond the frame is as near as can be: it hides nothing that is seen.
        depth = np.zeros(shape, np.float32)
        depth[:, :height, :width] = 1
        self.shape, self.depth = shape, depth.reshape(-1)
        self.farthest = np.ones((slices, self.rows, self.columns), np.float32)

    def test(
        self,
        x: np.ndarray,
        y: np.ndarray,
        depth: np.ndarray,
        sample: np.ndarray | int = 0,
        slice_: np.ndarray | int = 0,
    ) -> np.ndarray:
        """Test fragments and store those that pass, as if one came after the other.

        Parameters
        ----------
        x, y : ndarray
            int [F], pixels in the frame; one pixel may come many times.
        depth : ndarray
            float32 [F], in 0..1, in submission order.
        sample, slice_ : ndarray or int
            int [F], sample in the pixel and slice of the target.

        Returns
        -------
        ndarray
            bool [F]: nearer than all that came before at the same place.
        """
        if not len(depth):
            return np.zeros(0, bool)
        _, height, width, samples = self.shape
        place = ((y.astype(np.int64) + height * slice_) * width + x) * samples + sample
        # Sort by place, submission order kept. The order of floats from 0 up is that of their bits.
        key = np.sort(place << 32 | np.arange(len(place)))
        order, place = key & 0xFFFFFFFF, key >> 32
        bits = depth[order].view(np.uint32).astype(np.int64)

        # One running minimum over all places: a high part that falls from place to place makes the
        # first fragment of each place less than anything before it.
        first = np.flatnonzero(np.diff(place, prepend=-1))
        last = np.append(first[1:], len(place)) - 1
        rank = np.cumsum(np.diff(place, prepend=place[0]) != 0)
        value = (len(first) - rank) << 32 | bits
        nearest = np.minimum.accumulate(value)
        passed_sorted = depth[order] < self.depth[place]
        passed_sorted[1:] &= value[1:] < nearest[:-1]

        best = (nearest[last] & 0xFFFFFFFF).astype(np.uint32).view(np.float32)
        self.depth[place[last]] = np.minimum(self.depth[place[last]], best)
        passed = np.empty(len(order), bool)
        passed[order] = passed_sorted
        return passed

    def update_tiles(self, x: np.ndarray, y: np.ndarray, slice_: np.ndarray) -> None:
        """Take up in `farthest` what has changed in the tiles of pixels x, y, int [n]."""
        slices, _, _, samples = self.shape
        tile = (slice_ * self.rows + y // TILE) * self.columns + x // TILE
        tile = np.unique(tile)
        row, column = np.divmod(tile, self.columns)  # rows of all slices lie one after the other
        tiled = self.depth.reshape(slices * self.rows, TILE, self.columns, TILE * samples)
        self.farthest.reshape(-1)[tile] = tiled[row, :, column].max(axis=(1, 2))

    def hides(
        self, column: np.ndarray, row: np.ndarray, slice_: np.ndarray, nearest: np.ndarray
    ) -> np.ndarray:
        """True [n] where nothing can pass that is at least as far as `nearest` in a tile.

        Parameters
        ----------
        column, row, slice_ : ndarray
            int [n], the tile.
        nearest : ndarray
            float64 [n], lower bound of the depth; fragments round theirs to float32.
        """
        return nearest.astype(np.float32) >= self.farthest[slice_, row, column]
