"""A picture of a layout: where each mip lies in memory and in the tail, and the order of blocks."""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np
from matplotlib import patheffects
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import ConnectionPatch, Rectangle
from matplotlib.ticker import MaxNLocator

from minmip.sim.layout.errors import LayoutError
from minmip.sim.layout.patterns import block_shape
from minmip.sim.layout.query import PlaneLayout, ResourceLayout

__all__ = ["draw_layout"]

DPI = 110
ENDINGS = (".png", ".svg", ".pdf")
MAX_BARS = 4
NARROW = 0.035
"""Share of a bar below which a mip is shown again in the next, finer bar."""
GAP = "#e4e4e8"
INK = "#26262e"
TAIL = (0.33, 0.33, 0.37, 1.0)
MOST_NUMBERED = 64
"""Elements of a 256-byte box up to which each shows its number."""


def _mip_color(mip: int, mips: int):
    return matplotlib.colormaps["turbo"](0.92 - 0.8 * mip / max(mips - 1, 1))


def draw_layout(path: Path, resource: ResourceLayout, plane: int = 0) -> None:
    """Draw a plane of a resource to a PNG, SVG or PDF file, by the name's ending.

    Above, the memory of one array slice (of one slab of a volume), finer from bar to bar; below,
    the tail's block, the order of memory inside a block, and that inside a 256-byte box.
    """
    if path.suffix.lower() not in ENDINGS:
        raise LayoutError(f"a picture's name ends in {', '.join(ENDINGS)}, not {path.name!r}")
    place = resource.plane(plane)
    bars = _bar_ends(place)
    block = place.surface.block
    panel_inches = 3.3 * min(1, max(0.5, block[1] / block[0]))
    bar_inches = 0.62 * len(bars)
    height = panel_inches + bar_inches + 1.55
    figure = Figure(figsize=(11.5, height), facecolor="white")
    top = 1 - 0.62 / height
    bottom = top - (bar_inches - 0.2) / height
    grid = figure.add_gridspec(
        len(bars), 1, left=0.03, right=0.97, top=top, bottom=bottom, hspace=0.9
    )
    axes = [figure.add_subplot(grid[n]) for n in range(len(bars))]
    for n, (axis, end) in enumerate(zip(axes, bars, strict=True)):
        _draw_bar(axis, place, end, bars[n - 1] if n else None)
    for upper, lower, end in zip(axes, axes[1:], bars[1:], strict=False):
        _draw_zoom(figure, upper, lower, end)
    top = bottom - 0.68 / height
    below = figure.add_gridspec(
        1, 3, left=0.05, right=0.985, top=top, bottom=top - panel_inches / height, wspace=0.2
    )
    panels = [figure.add_subplot(below[n]) for n in range(3)]
    _draw_tail(panels[0], place)
    _draw_block(panels[1], place)
    _draw_box(panels[2], place)
    figure.suptitle(
        _title(resource, place),
        fontsize=11.5,
        color=INK,
        x=0.03,
        ha="left",
        y=1 - 0.13 / height,
        va="top",
    )
    figure.savefig(path, dpi=DPI)


def _title(resource: ResourceLayout, place: PlaneLayout) -> str:
    texture = resource.texture
    size = [texture.width, texture.height, texture.depth][: int(resource.Dimension[0])]
    words = "×".join(map(str, size))
    array = f" × {texture.array_size} slices" if texture.array_size > 1 else ""
    what = texture.format or f"{place.BytesPerElement}-byte elements"
    return (
        f"{words}{array}, {what}, {texture.swizzle.name}: {place.SizeBytes:,} bytes"
        f" ({place.surface.slabs} × {place.SliceSizeBytes:,})"
    )


def _extents(place: PlaneLayout) -> list[tuple[int, int, int]]:
    """First byte, end and mip of what lies outside the tail, in the chain of a slice or slab."""
    surface = place.surface
    starts = [mip.offset for mip in surface.mips[: surface.first_tail]]
    ends = [place.SliceSizeBytes, *starts[:-1]]
    return [(start, end, n) for n, (start, end) in enumerate(zip(starts, ends, strict=True))]


def _bar_ends(place: PlaneLayout) -> list[int]:
    """How many bytes each bar shows: all, then up to the end of what was too narrow to see."""
    ends = [place.SliceSizeBytes]
    while len(ends) < MAX_BARS:
        narrow = [end for start, end, _ in _extents(place) if 0 < end - start < NARROW * ends[-1]]
        tail = 1 << place.surface.block_log2
        if place.MipTailMipCount and tail < NARROW * ends[-1]:
            narrow.append(tail)
        if not narrow or max(narrow) >= ends[-1]:
            break
        ends.append(max(narrow))
    return ends


def _draw_bar(axis: Axes, place: PlaneLayout, end: int, before: int | None) -> None:
    mips = len(place.MipLayout)
    pieces = [(a, b, f"mip {n}", _mip_color(n, mips)) for a, b, n in _extents(place) if a < end]
    if place.MipTailMipCount:
        first = place.StandardMipCount
        name = f"tail: mips {first}–{mips - 1}" if first < mips - 1 else f"tail: mip {first}"
        pieces.append((0, 1 << place.surface.block_log2, name, TAIL))
    axis.add_patch(Rectangle((0, 0), end, 1, color=GAP, lw=0))
    for start, stop, name, color in pieces:
        axis.add_patch(
            Rectangle((start, 0), min(stop, end) - start, 1, fc=color, ec="white", lw=1.2)
        )
        for words in (name, name.partition(":")[0]):
            if stop - start > 0.0075 * end * len(words):
                _write(axis, (start + stop) / 2, 0.5, words, 8.5)
                break
    axis.set_xlim(0, end)
    axis.set_ylim(0, 1)
    axis.set_yticks([])
    ticks = sorted({0, end, *(s for s, _, _, _ in pieces if s > 0.045 * end and s < 0.93 * end)})
    shown: list[int] = []
    for tick in ticks:
        if not shown or tick - shown[-1] > 0.075 * end:
            shown.append(tick)
    axis.set_xticks(shown, [f"{tick:,}" for tick in shown])
    for label in axis.get_xticklabels():
        label.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 0.5})
    axis.get_xticklabels()[0].set_horizontalalignment("left")
    axis.get_xticklabels()[-1].set_horizontalalignment("right")
    axis.tick_params(length=2, labelsize=7, colors=INK, pad=2)
    for side in axis.spines.values():
        side.set_visible(False)
    if before is None:
        chain = "slab" if place.surface.block[2] > 1 else "slice"
        axis.set_title(
            f"memory of one {chain}, in bytes", loc="left", fontsize=8.5, color=INK, pad=3
        )


def _draw_zoom(figure: Figure, upper: Axes, lower: Axes, end: int) -> None:
    """Two thin lines from the part of a bar to the bar that shows it finer."""
    for at in (0, end):
        figure.add_artist(
            ConnectionPatch(
                (at, 0),
                (at, 1),
                "data",
                "data",
                axesA=upper,
                axesB=lower,
                color="#a0a0aa",
                lw=0.8,
                ls=(0, (3, 2)),
                zorder=-1,
            )
        )


def _write(axis: Axes, x: float, y: float, text: str, size: float) -> None:
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


def _draw_tail(axis: Axes, place: PlaneLayout) -> None:
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
        color = _mip_color(number, mips)
        axis.add_patch(
            Rectangle(mip.shift, mip.pitch, mip.rows, fc=(*color[:3], 0.35), ec=color, lw=1)
        )
        axis.add_patch(Rectangle(mip.shift, *mip.size[:2], color=color, lw=0))
        size = 200 * min(mip.pitch / width, mip.rows / height)
        if size > 9:
            x, y = mip.shift[0] + mip.pitch / 2, mip.shift[1] + mip.rows / 2
            _write(axis, x, y, str(number), min(9, size / 2))
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


def _draw_block(axis: Axes, place: PlaneLayout) -> None:
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


def _draw_box(axis: Axes, place: PlaneLayout) -> None:
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
            _write(axis, px + 0.5, py + 0.5, str(number), points)
    if not numbered:
        way = np.argsort(order)
        axis.plot(left[way] + 0.5, top[way] + 0.5, color="white", lw=0.9, alpha=0.9)
        axis.plot(left[way[0]] + 0.5, top[way[0]] + 0.5, "o", color="white", ms=4)
    if thick:
        axis.set_xlabel(f"z = 0 and 1 above, up to {box[2] - 1} below", fontsize=7.5, color=INK)
