"""The depth test (spec 07 "Early depth test")."""

import numpy as np

__all__ = ["DepthBuffer"]


class DepthBuffer:
    """A float32 depth buffer, cleared to 1; a fragment passes if it is nearer (less).

    Parameters
    ----------
    width, height : int
        The frame in pixels.
    """

    def __init__(self, width: int, height: int):
        self.width = width
        self.depth = np.ones(width * height, np.float32)

    def test(self, x: np.ndarray, y: np.ndarray, depth: np.ndarray) -> np.ndarray:
        """Test fragments and store those that pass, as if one came after the other.

        Parameters
        ----------
        x, y : ndarray
            int [F], pixels in the frame; one pixel may come many times.
        depth : ndarray
            float32 [F], in 0..1, in submission order.

        Returns
        -------
        ndarray
            bool [F]: nearer than all that came before at the same pixel.
        """
        if not len(depth):
            return np.zeros(0, bool)
        pixel = y.astype(np.int64) * self.width + x
        # Sort by pixel, submission order kept. The order of floats from 0 up is that of their bits.
        key = np.sort(pixel << 32 | np.arange(len(pixel)))
        order, pixel = key & 0xFFFFFFFF, key >> 32
        bits = depth[order].view(np.uint32).astype(np.int64)

        # One running minimum over all pixels: a high part that falls from pixel to pixel makes the
        # first fragment of each pixel less than anything before it.
        first = np.flatnonzero(np.diff(pixel, prepend=-1))
        last = np.append(first[1:], len(pixel)) - 1
        rank = np.cumsum(np.diff(pixel, prepend=pixel[0]) != 0)
        value = (len(first) - rank) << 32 | bits
        nearest = np.minimum.accumulate(value)
        passed_sorted = depth[order] < self.depth[pixel]
        passed_sorted[1:] &= value[1:] < nearest[:-1]

        best = (nearest[last] & 0xFFFFFFFF).astype(np.uint32).view(np.float32)
        self.depth[pixel[last]] = np.minimum(self.depth[pixel[last]], best)
        passed = np.empty(len(order), bool)
        passed[order] = passed_sorted
        return passed
