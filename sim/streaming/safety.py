"""When the MinMip filter keeps every sample inside what is resident (spec 04, its last lines).

A bilinear footprint of level L reaches half a texel of that level beyond the pixel. Within `offset`
of a border between two map texels the filter answers the coarser of the two, so a finer level that
only one side has is never sampled there. Farther away it may be, so half a texel of the coarsest
such level must be at most `offset` of a map texel: with regions of W texels 2^L / (2 W) <= offset.
Seed 000 takes the offset 1 / 2^(d + 1), d the largest difference of neighbours; with L = n - 1 this
becomes the n + d - 1 <= log2(W) of spec 04.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from minmip.sim.streaming.errors import StreamError
from minmip.sim.streaming.tiling import Tiling

__all__ = ["OFFSETS", "SLOPES", "check_safe", "offset_of_spread", "unsafe_level"]

SLOPES = {"2.5": 0, "3": 1, "4": 2, "5": 3, "8": 4, "16": 5, "32": 6, "64": 7}
"""Slope codes of spec 01 by the slope's name."""

OFFSETS = {f"1/{4 << code}": code for code in range(6)}
"""Offset codes of spec 01 by the offset's name."""


def offset_of_spread(spread: int) -> str:
    """Offset that seed 000 asks for: 1 / 2^(spread + 1). StreamError where there is none."""
    name = f"1/{2 << spread}"
    if name not in OFFSETS:
        raise StreamError(
            f"a spread of {spread} asks for an offset of {name}, but the smallest is 1/128: take a "
            "spread of at most 6, or name the offset"
        )
    return name


def unsafe_level(tiling: Tiling, offset: Fraction, tail: int | None) -> tuple[int, Fraction] | None:
    """Coarsest level whose footprint may leave what is resident, and its reach in regions.

    None if there is none.

    Levels of one tile across are no danger on that axis, whatever is beyond the border: the tile
    is the same. Nor are those that are always resident, `tail` and coarser.
    """
    last = len(tiling.levels) if tail is None else min(tail, len(tiling.levels))
    for number in reversed(range(last)):
        level = tiling.levels[number]
        for cells, texels, tiles in (
            (tiling.map_size[0], level.width, level.columns),
            (tiling.map_size[1], level.height, level.rows),
        ):
            reach = Fraction(cells, 2 * texels)
            if tiles > 1 and reach > offset:
                return number, reach
    return None


def check_safe(
    tilings: Sequence[Tiling], offset: str, spread: int | None, tail: int | None
) -> None:
    """Raise StreamError for the first texture with which the condition of spec 04 does not hold."""
    for tiling in tilings:
        found = unsafe_level(tiling, Fraction(offset), tail)
        if found is not None:
            level, reach = found
            name, kept = tiling.texture.name, "any" if spread is None else spread
            raise StreamError(
                f"texture {name!r} is not safe with an offset of {offset} (spread {kept}): level "
                f"{level} may lie beside level {level + 1}, and its samples reach "
                f"{float(reach):.4g} of a region, which must not exceed the offset; a larger "
                f"offset, a smaller spread, or --tail {level} would do"
            )
