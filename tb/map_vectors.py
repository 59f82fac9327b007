"""Random maps of every layout that a build has, and where their texels lie by the golden model."""

from dataclasses import dataclass
from functools import cache

import numpy as np

from minmip.hw.config import PLAIN_MODES, VOLUME_MODES, XOR_MODES, UnitConfig
from minmip.sim.golden.address import MapLayout, map_layout, texel_address
from minmip.sim.layout import HARDWARE, xor_patterns

__all__ = [
    "ALL_MODES",
    "NO_SLOT",
    "Maps",
    "map_layouts",
    "random_maps",
    "random_texels",
    "with_pipe_xor",
]

ALL_MODES = PLAIN_MODES | XOR_MODES
LIMITS = [16384, 16384, 8192]
"""Width, height, and depth or slices of a map."""
NO_SLOT = 15
"""Of a mip that is not in the tail."""


@cache
def with_pipe_xor(part: str) -> dict:
    """Parameters of a build that has every mode, with the pipe XOR of a part."""
    return {"swizzle_modes": ALL_MODES, "xor_patterns": xor_patterns(HARDWARE[part])}


@dataclass(eq=False)
class Maps:
    """Maps by number: golden layout, size [n, 3] in texels, and mips."""

    layout: MapLayout
    size: np.ndarray
    mips: np.ndarray

    @property
    def control(self) -> dict:
        """What `control` says of the maps."""
        layout = self.layout
        block, box = layout.blocks.bytes_log2[layout.kind], layout.blocks.log2[layout.kind, 0]
        return {
            "base": layout.base + layout.flip >> 8,
            "columns": (layout.pitch[:, 0] >> box) - 1,
            "chain": layout.chain_bytes >> block,
            "mip_offset": layout.offset >> block[:, None],
            "mode": layout.sw_mode,
            "first_tail": np.where(layout.first_tail < self.mips, layout.first_tail, 16),
            "volume": layout.volume,
        }

    def requests(self, row, mip, x, y, z, tag) -> dict:
        """Columns of `address_request` of texels; `row` is the number of the map."""
        control = {name: column[row] for name, column in self.control.items()}
        offset, first = control.pop("mip_offset"), control.pop("first_tail")
        place = {
            "offset": offset[np.arange(len(row)), mip],
            "columns": control["columns"] >> mip,
            "slot": np.where(mip < first, NO_SLOT, mip - first),
        }
        return control | place | {"x": x, "y": y, "z": z, "tag": tag}

    def addresses(self, row, mip, x, y, z) -> np.ndarray:
        """Byte addresses of texels, modulo 2**48."""
        return texel_address(self.layout, row, mip, x, y, z) & (1 << 48) - 1


def map_layouts(cfg: UnitConfig) -> list[tuple[int, bool]]:
    """Swizzle mode, and whether it is a volume, of every kind of map that a build has."""
    kinds = [(mode, volume) for mode in sorted(cfg.swizzle_modes) for volume in (False, True)]
    return [kind for kind in kinds if not kind[1] or (cfg.volumes and kind[0] in VOLUME_MODES)]


def random_maps(rng, count: int, cfg: UnitConfig) -> Maps:
    """Maps of all kinds and of any size up to the largest, some with more mips than they need."""
    sides = [np.minimum(2.0 ** rng.uniform(0, 14.01, count), limit) for limit in LIMITS]
    size = np.stack(sides, axis=1).astype(np.int64)
    size = np.where(rng.random((count, 3)) < 0.2, np.array(LIMITS) - size % 3, size)
    longest = np.log2(size[:, :2].max(axis=1)).astype(np.int64) + 1
    longest = np.where(rng.random(count) < 0.2, 16, longest)
    mips = 1 + rng.integers(0, 1 << 30, count) % longest
    kinds = np.array(map_layouts(cfg), np.int64)
    sw_mode, volume = kinds[rng.integers(0, len(kinds), count)].T
    base = rng.integers(0, 1 << 40, count) << 8
    layout = map_layout(sw_mode, base, size, mips, volume == 1, cfg.xor_patterns)
    return Maps(layout, size, mips)


def random_texels(rng, maps: Maps, row: np.ndarray) -> tuple[np.ndarray, ...]:
    """Mip, x, y and z of texels of the maps in `row`, half of them on a border."""
    mip = rng.integers(0, 1 << 30, row.shape) % maps.mips[row]
    texel = []
    for axis in range(3):
        level = mip if axis < 2 else np.where(maps.layout.volume[row], mip, 0)
        last = np.maximum(1, maps.size[row, axis] >> level) - 1
        inside = rng.integers(0, 1 << 30, row.shape) % (last + 1)
        texel.append(np.choose(rng.integers(0, 4, row.shape), [inside, inside, last, 0]))
    return mip, *texel
