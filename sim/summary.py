"""What `summary.json` says of a frame: quads, samples, writes, mip levels and tiles."""

from __future__ import annotations

import numpy as np

from minmip.sim.frontend import Quads
from minmip.sim.frontend.scene import TILE_SIZE
from minmip.sim.pictures import NOT_SAMPLED
from minmip.sim.scene_maps import Binding
from minmip.sim.tiles import count_tiles, needs_from_levels
from minmip.sim.trace import Result

__all__ = ["BYTES_PER_TEXEL", "frame_report", "texture_report"]

BYTES_PER_TEXEL = 4
"""Textures count as RGBA8, whatever their file holds (`frontend.scene`)."""


def frame_report(
    frame: int,
    quads: Quads,
    result: Result | None,
    bindings: list[Binding],
    maps: list,
    kind: str,
) -> dict:
    """Figures of one frame, ready for JSON.

    `maps` are those of `bindings` (`scene_maps.recorded_map`); `result` is None when nothing was
    drawn. Texel samples are writes before combining.
    """
    live = np.bitwise_count(quads.live_mask).astype(np.int64)
    textures = []
    for index, (binding, decoded) in enumerate(zip(bindings, maps, strict=True)):
        mine = quads.texture == index
        texture = binding.texture
        size = (texture.width, texture.height)
        if kind == "minmip":
            needs = needs_from_levels(decoded, texture.mips)
            level, regions = np.unique(decoded, return_counts=True)
            histogram = dict(zip(level.tolist(), regions.tolist(), strict=True))
        else:
            needs = [mip != 0 for mip in decoded]
            histogram = {mip: int(flags.sum()) for mip, flags in enumerate(needs) if flags.any()}
        tiles = count_tiles(size, (TILE_SIZE, TILE_SIZE), BYTES_PER_TEXEL, needs)
        entry = {
            "name": texture.name,
            "quads": int(mine.sum()),
            "live_lanes": int(live[mine].sum()),
            "regions_by_mip_level": {k: v for k, v in histogram.items() if k != NOT_SAMPLED},
            "tiles_64kb": {"needed": tiles.needed, "whole": tiles.whole, "packed": tiles.packed},
        }
        if kind == "minmip":
            entry["regions_not_sampled"] = histogram.get(NOT_SAMPLED, 0)
        textures.append(entry)
    needed, whole = (sum(t["tiles_64kb"][k] for t in textures) for k in ("needed", "whole"))
    counters = result.counters if result is not None else {"samples": 0, "byte_writes": 0}
    return {
        "frame": frame,
        "quads": len(quads),
        "live_lanes": int(live.sum()),
        "samples": counters["samples"],
        "writes": {
            "before_combining": counters["samples"],
            "after_combining": counters["byte_writes"],
        },
        "tiles_64kb": {"needed": needed, "whole": whole},
        "textures": textures,
    }


def texture_report(binding: Binding) -> dict:
    """What stays the same over the frames: the texture, its region and wrap modes."""
    texture = binding.texture
    return {
        "name": texture.name,
        "size": [texture.width, texture.height],
        "mips": texture.mips,
        "region": list(binding.region),
        "wrap": [texture.wrap_u, texture.wrap_v],
    }
