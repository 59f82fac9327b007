"""Combine: texel samples of one beat that fall on one map texel become one write (spec 03)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from minmip.sim.golden.descriptor import LINKED_MAX

__all__ = ["BEATS_PER_QUAD", "Writes", "combine"]

BEATS_PER_QUAD = 32
"""16 taps of two mip levels."""
ADDRESS_BITS = 38


@dataclass(eq=False)
class Writes:
    """Byte writes in quad order, int64 [n] each: quad, address from memory's start, byte value."""

    quad: np.ndarray
    offset: np.ndarray
    value: np.ndarray


def combine(beat: np.ndarray, offset: np.ndarray, value: np.ndarray, kind: np.ndarray) -> Writes:
    """Merge samples of one beat and address: MIN of their values, MAX for type 3 (OR is constant).

    Parameters
    ----------
    beat : int64 [n]
        `quad * BEATS_PER_QUAD + beat of the quad`, below 2**17.
    offset : int64 [n]
        Byte address from the memory's start, below 2**38.
    value : int64 [n]
        Byte to write.
    kind : int64 [q]
        Linked type of each quad.
    """

    def complement(beat):
        # One sort serves both: MAX is MIN of the complement.
        return np.where(kind[beat // BEATS_PER_QUAD] == LINKED_MAX, 0xFF, 0)

    key = np.sort((beat << ADDRESS_BITS | offset) << 8 | (value ^ complement(beat)))
    first = np.ones(len(key), bool)
    first[1:] = (key[1:] ^ key[:-1]) >> 8 != 0
    key = key[first]
    beat = key >> 8 + ADDRESS_BITS
    return Writes(
        quad=beat // BEATS_PER_QUAD,
        offset=key >> 8 & (1 << ADDRESS_BITS) - 1,
        value=key & 0xFF ^ complement(beat),
    )
