"""From the paired texture to its map: the grid of a footprint and the value written (spec 03)."""

from __future__ import annotations

import numpy as np

from minmip.sim.golden.descriptor import LINKED_OR, Image

__all__ = ["OR_FLAG", "footprint_grid", "map_value"]

OR_FLAG = 0x01
"""What MipRegionUsed sets in a byte: AMD's driver writes 0x01 (choice of spec 03)."""


def footprint_grid(image: Image, mip: np.ndarray) -> np.ndarray:
    """Size [n, 3] of the grid in which a tap's texels are taken, for absolute mip levels [n].

    Plain textures: the texture's own mip. MipRegionUsed: the map's mip of the same level. Other
    linked types: the map's only level.
    """
    plain = image.linked == 0
    whole = np.where(plain[:, None], image.size, image.map_size)
    shift = np.where(plain | (image.linked == LINKED_OR), mip, 0)
    return np.maximum(1, whole >> shift[:, None])


def map_value(limited_lod: np.ndarray, image: Image) -> np.ndarray:
    """Byte written: U5.3 of the LOD inside the view (1/256), or the flag of MipRegionUsed."""
    level = (limited_lod + (image.base_level << 8)) >> 5
    return np.where(image.linked == LINKED_OR, OR_FLAG, level)
