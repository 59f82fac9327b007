"""A picture of a layout: where each mip lies in memory and in the tail, and the order of blocks."""

from __future__ import annotations

from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import ConnectionPatch, Rectangle

from minmip.sim.layout.errors import LayoutError
from minmip.sim.layout.picture_panels import (
    GAP,
    INK,
    draw_block,
    draw_box,
    draw_tail,
    mip_color,
    write,
)
from minmip.sim.layout.query import PlaneLayout, ResourceLayout

__all__ = ["draw_layout"]

DPI = 110
ENDINGS = (".png", ".svg", ".pdf")
MAX_BARS = 4
NARROW = 0.035
"""Share of a bar below which a mip is shown again in the next, finer bar."""
TAIL = (0.33, 0.33, 0.37, 1.0)


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
    draw_tail(panels[0], place)
    draw_block(panels[1], place)
    draw_box(panels[2], place)
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
    pieces = [(a, b, f"mip {n}", mip_color(n, mips)) for a, b, n in _extents(place) if a < end]
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
                write(axis, (start + stop) / 2, 0.5, words, 8.5)
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
