"""The frame seen through its maps: which mip level each pixel's region recorded."""

from __future__ import annotations

import numpy as np

from minmip.sim.frontend import Quads
from minmip.sim.pictures import NOT_SAMPLED
from minmip.sim.scene_maps import Binding

__all__ = ["live_lanes", "paint_levels", "visible", "wrapped"]


def live_lanes(quads: Quads) -> np.ndarray:
    """Which lanes are pixels and no helpers, bool [Q, 4]."""
    return quads.live_mask[:, None] >> np.arange(4) & 1 == 1


def visible(quads: Quads, size: tuple[int, int], slice_: int = 0) -> np.ndarray:
    """Which lane each pixel shows, `4 * quad + lane`, -1 for none; int64 [height, width]."""
    width, height = size
    shown = np.full(width * height, -1)
    quad, lane = np.nonzero((quads.samples != 0) & (quads.slice == slice_)[:, None])
    pixel = (quads.y[quad] + (lane >> 1)) * width + quads.x[quad] + (lane & 1)
    # These passed the depth test: the last one written is the visible one.
    shown[pixel] = 4 * quad + lane
    return shown.reshape(height, width)


def paint_levels(
    bindings: list[Binding],
    maps: list,
    quads: Quads,
    size: tuple[int, int],
    kind: str,
    slice_: int = 0,
) -> tuple[np.ndarray, np.ndarray]:
    """What `pictures.draw_frame` wants: the level that each pixel's region recorded, and a shade.

    The shade is a chequer of regions, so that the map's grid can be seen on the surfaces.
    """
    width, height = size
    levels = np.full(width * height, -1, np.int32)
    shade = np.ones(width * height, np.float32)
    shown = visible(quads, size, slice_).ravel()
    drawn = np.flatnonzero(shown >= 0)
    owner = quads.texture[shown[drawn] >> 2]
    for index, (binding, decoded) in enumerate(zip(bindings, maps, strict=True)):
        pixel = drawn[owner == index]
        quad, lane = shown[pixel] >> 2, shown[pixel] & 3
        texture = binding.texture
        at = [
            wrapped(quads.uv[quad, lane, axis].astype(np.float64), mode)
            for axis, mode in enumerate((texture.wrap_u, texture.wrap_v))
        ]

        def texel(regions, at=at):
            rows, columns = regions.shape
            x, y = (
                np.minimum(u * n, n - 1).astype(np.int64)
                for u, n in zip(at, (columns, rows), strict=True)
            )
            return y, x

        if kind == "minmip":
            recorded = decoded[texel(decoded)].astype(np.int32)
        else:
            recorded = np.full(len(quad), NOT_SAMPLED, np.int32)
            for mip in reversed(range(len(decoded))):
                recorded[decoded[mip][texel(decoded[mip])] != 0] = mip
        y, x = texel(decoded if kind == "minmip" else decoded[0])
        levels[pixel] = recorded
        shade[pixel] = np.where((x + y) & 1, 0.78, 1.0)
    return levels.reshape(height, width), shade.reshape(height, width)


def wrapped(u: np.ndarray, mode: str) -> np.ndarray:
    """Coordinates brought into 0..1 by an address mode, for pictures only."""
    u = np.nan_to_num(u)
    if mode == "clamp":
        return np.clip(u, 0, 1)
    if mode == "mirror":
        return 1 - np.abs(u % 2 - 1)
    return u % 1
