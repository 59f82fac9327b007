"""The panels of a layout's picture: the mips of the tail, the order in a block and in 256 bytes."""

from __future__ import annotations

import matplotlib
import numpy as np
from matplotlib import patheffects
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from minmip.sim.layout.patterns import block_shape
from minmip.sim.layout.query import PlaneLayout

__all__ = ["GAP", "INK", "draw_block", "draw_box", "draw_tail", "mip_color", "write"]

GAP = "#e4e4e8"
INK = "#26262e"
MOST_NUMBERED = 64
"""Elements of a 256-byte box up to which each shows its number."""


def mip_color(mip: int, mips: int):
    """Colour of a mip level, red the finest."""
    return matplotlib.colormaps["turbo"](0.92 - 0.8 * mip / max(mips - 1, 1))


def write(axis: Axes, x: float, y: float, text: str, size: float) -> None:
    """White text with a dark rim, centred."""
    outline = [patheffects.withStroke(linewidth=2, foreground=(0, 0, 0, 0.55))]
    axis.text(
        x,
        y,
        text,
        ha="center",
        va="center",
        fontsize=size,
        color="white",
        path_effects=outline,
        clip_on=True,
    )


def _frame(axis: Axes, width: float, height: float, title: str) -> None:
    axis.set_xlim(0, width)
    axis.set_ylim(height, 0)
    axis.set_aspect("equal", anchor="N")
    axis.set_title(title, fontsize=9, color=INK)
    axis.tick_params(length=2, labelsize=7, colors=INK)
    for side in axis.spines.values():
        side.set_color("#a0a0aa")


def draw_tail(axis: Axes, place: PlaneLayout) -> None:
    """Draw where the tail's mips lie in their block: texels in full colour, slots pale."""
    surface = place.surface
    if not place.MipTailMipCount:
        axis.set_axis_off()
        axis.text(0.5, 0.5, "no mip tail", ha="center", va="center", fontsize=9, color="#80808a")
        return
    width, height, depth = surface.block
    deep = f", all {depth} slices deep" if depth > 1 else ""
    _frame(axis, width, height, f"mips of the tail in their block{deep}")
    axis.add_patch(Rectangle((0, 0), width, height, color=GAP, lw=0))
    mips = len(surface.mips)
    for number in range(surface.first_tail, mips):
        mip = surface.mips[number]
        assert mip.shift is not None
        color = mip_color(number, mips)
        axis.add_patch(
            Rectangle(mip.shift, mip.pitch, mip.rows, fc=(*color[:3], 0.35), ec=color, lw=1)
        )
        axis.add_patch(Rectangle(mip.shift, *mip.size[:2], color=color, lw=0))
        size = 200 * min(mip.pitch / width, mip.rows / height)
        if size > 9:
            x, y = mip.shift[0] + mip.pitch / 2, mip.shift[1] + mip.rows / 2
            write(axis, x, y, str(number), min(9, size / 2))
    axis.set_xlabel("x (elements)", fontsize=7.5, color=INK)


def _order(place: PlaneLayout, shape: tuple[int, int]) -> np.ndarray:
    """Bytes before each element of a corner of mip 0, [rows, columns]; tail and XOR left aside."""
    surface = place.surface
    y, x = np.ogrid[: shape[1], : shape[0]]
    if surface.pattern is None:
        return (y * surface.mips[0].pitch + x) << surface.element_log2
    return surface.pattern.offset(x, y, 0) & (1 << surface.block_log2) - 1


def _bits(place: PlaneLayout) -> tuple[tuple[int, int, int], ...]:
    pattern = place.surface.pattern
    return pattern.bits if pattern else ()


def draw_block(axis: Axes, place: PlaneLayout) -> None:
    """Draw the order of memory in a block by colour, and without XOR the way through its boxes."""
    surface = place.surface
    if surface.pattern is None:
        width, height = surface.mips[0].pitch, surface.mips[0].rows
        shape = (min(width, 256), min(height, 256))
        title = f"memory order in the first {shape[0]}×{shape[1]} elements"
        box = shape
    else:
        shape = surface.block[:2]
        deep = f", z = 0 of {surface.block[2]}" if surface.block[2] > 1 else ""
        title = f"memory order in a block of {shape[0]}×{shape[1]}{deep}"
        box = block_shape(surface.element_log2, 8, thick=surface.block[2] > 1)[:2]
    order = _order(place, shape)
    _frame(axis, shape[0], shape[1], title)
    axis.imshow(order, cmap="viridis", extent=(0, shape[0], shape[1], 0), interpolation="nearest")
    xor = any(sum(map(int.bit_count, masks)) > 1 for masks in _bits(place))
    if surface.pattern is None:
        axis.set_aspect("auto")  # rows may be few
        axis.yaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    if xor or surface.pattern is None:
        axis.set_xlabel("dark first, bright last", fontsize=7.5, color=INK)
    elif shape[0] > box[0] or shape[1] > box[1]:
        # The way through the middles of the 256-byte boxes, as memory runs.
        corners = order[:: box[1], :: box[0]]
        rows, columns = np.unravel_index(np.argsort(corners, axis=None), corners.shape)
        x, y = (columns + 0.5) * box[0], (rows + 0.5) * box[1]
        axis.plot(x, y, color="white", lw=max(0.4, min(1.4, 16 / len(corners))), alpha=0.85)
        axis.plot(x[0], y[0], "o", color="white", ms=3.5)
        axis.set_xlabel("line: from one 256-byte box to the next", fontsize=7.5, color=INK)


def draw_box(axis: Axes, place: PlaneLayout) -> None:
    """Draw the order of the elements in 256 bytes, by number or, if they are many, by a line."""
    surface = place.surface
    thick = surface.block[2] > 1
    if surface.pattern is None:
        box = (8, min(4, surface.mips[0].rows), 1)
        title = "memory order, first elements of mip 0"
    else:
        box = block_shape(surface.element_log2, 8, thick=thick)
        title = f"elements of a 256-byte box ({'×'.join(map(str, box[: 3 if thick else 2]))})"
    # Slices of a volume's box side by side, in two lines if there are many.
    across = 1 if box[2] == 1 else 2
    down = -(-box[2] // across)
    gap = 0.6
    width = across * (box[0] + gap) - gap
    height = down * (box[1] + gap) - gap
    _frame(axis, width, height, title)
    axis.set_xticks([])
    axis.set_yticks([])
    for side in axis.spines.values():
        side.set_visible(False)
    z, y, x = np.indices((box[2], box[1], box[0])).reshape(3, -1)
    if surface.pattern is None:
        order = y * surface.mips[0].pitch + x
    else:
        order = (surface.pattern.offset(x, y, z) & 255) >> surface.element_log2
    left = (z % across) * (box[0] + gap) + x
    top = (z // across) * (box[1] + gap) + y
    ranks = np.argsort(np.argsort(order))
    numbered = thick or surface.pattern is None or len(order) <= MOST_NUMBERED
    points = min(10, 78 / max(width, height), 32 / len(str(max(order))))
    for px, py, number, rank in zip(left, top, order, ranks, strict=True):
        color = matplotlib.colormaps["viridis"](rank / max(len(order) - 1, 1))
        axis.add_patch(Rectangle((px, py), 1, 1, fc=color, ec="white", lw=0.6 if numbered else 0.2))
        if numbered:
            write(axis, px + 0.5, py + 0.5, str(number), points)
    if not numbered:
        way = np.argsort(order)
        axis.plot(left[way] + 0.5, top[way] + 0.5, color="white", lw=0.9, alpha=0.9)
        axis.plot(left[way[0]] + 0.5, top[way[0]] + 0.5, "o", color="white", ms=4)
    if thick:
        axis.set_xlabel(f"z = 0 and 1 above, up to {box[2] - 1} below", fontsize=7.5, color=INK)
