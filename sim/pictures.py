"""Pictures of what was recorded: maps with a colour scale, the frame painted with mip levels."""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np
from matplotlib import colors
from matplotlib.figure import Figure

__all__ = ["NOT_SAMPLED", "draw_frame", "draw_levels", "draw_used"]

NOT_SAMPLED = 0xFF
"""Decoded MinMip value of a region that no sample touched."""

DPI = 100
UNTOUCHED = (0.16, 0.16, 0.18, 1.0)
BACKGROUND = (0.07, 0.07, 0.08)


def _level_colors(levels: int) -> tuple[colors.Colormap, colors.BoundaryNorm]:
    """One colour a mip level, finest warm, coarsest dark blue; grey where nothing was sampled."""
    shades = matplotlib.colormaps["turbo"](np.linspace(0.92, 0.08, levels))
    cmap = colors.ListedColormap(shades).with_extremes(bad=UNTOUCHED, over=UNTOUCHED)
    return cmap, colors.BoundaryNorm(np.arange(levels + 1) - 0.5, levels)


def _scale(figure: Figure, image, axes, levels: int, label: str) -> None:
    bar = figure.colorbar(image, ax=axes, ticks=range(levels), fraction=0.04, pad=0.02)
    bar.set_label(label)


def draw_levels(path: Path, levels: np.ndarray, mips: int, title: str) -> None:
    """PNG of a decoded MinMip map, uint8 [rows, columns]: mip level by region, v down.

    `mips` is the paired texture's number of levels, `title` goes above.
    """
    cmap, norm = _level_colors(mips)
    figure = Figure(figsize=(7.5, 6.5), layout="constrained")
    axes = figure.add_subplot()
    shown = np.ma.masked_equal(levels, NOT_SAMPLED)
    image = axes.imshow(shown, cmap=cmap, norm=norm, interpolation="nearest")
    axes.set_title(title, fontsize=10)
    axes.set_xlabel("map texel x (one region of the texture each)")
    axes.set_ylabel("map texel y")
    _scale(figure, image, axes, mips, "finest mip level sampled (grey: not sampled)")
    figure.savefig(path, dpi=DPI, metadata={"Software": None})


def draw_used(path: Path, used: list[np.ndarray], title: str) -> None:
    """PNG of a decoded MipRegionUsed map: one panel a mip level, used regions in its colour."""
    mips = len(used)
    cmap, norm = _level_colors(mips)
    columns = min(mips, 5)
    rows = -(-mips // columns)
    figure = Figure(figsize=(2.2 * columns + 0.4, 2.3 * rows + 0.6), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False)
    for axes in grid.flat[mips:]:
        axes.set_axis_off()
    for level, (axes, regions) in enumerate(zip(grid.flat, used, strict=False)):
        shown = np.ma.masked_where(regions == 0, np.full(regions.shape, level))
        axes.imshow(shown, cmap=cmap, norm=norm, interpolation="nearest")
        share = 100 * np.count_nonzero(regions) / regions.size
        axes.set_title(f"mip {level}: {share:.0f} % used", fontsize=8)
        axes.set_xticks([])
        axes.set_yticks([])
    figure.suptitle(title, fontsize=10)
    figure.savefig(path, dpi=DPI, metadata={"Software": None})


def draw_frame(path: Path, levels: np.ndarray, shade: np.ndarray, mips: int, title: str) -> None:
    """PNG of the frame, pixel for pixel, with a legend below.

    Parameters
    ----------
    path : Path
        Where to.
    levels : int [height, width]
        Mip level that the map holds for the region under each pixel; 0xFF where it holds none,
        -1 where nothing was drawn.
    shade : float [height, width]
        0 to 1, brightness of the surface.
    mips : int
        Levels of the colour scale.
    title : str
        One line below the picture.
    """
    height, width = levels.shape
    cmap, norm = _level_colors(mips)
    color = cmap(norm(np.ma.masked_equal(levels, NOT_SAMPLED)))[..., :3]
    picture = np.where((levels < 0)[..., None], BACKGROUND, color * shade[..., None])
    legend = max(48, height // 12)
    whole = height + legend
    figure = Figure(figsize=(width / DPI, whole / DPI), facecolor="white")
    axes = figure.add_axes((0, legend / whole, 1, height / whole))
    axes.set_axis_off()
    axes.imshow(picture, interpolation="nearest", aspect="auto")
    # Text above the scale, in a size that fits the legend and the width.
    points = min(legend / 6, width / 62) * 72 / DPI
    text = f"{title}; colour: finest mip level recorded for the region, grey: none"
    figure.text(0.02, 0.8 * legend / whole, text, fontsize=points, va="center")
    scale = figure.add_axes((0.02, 0.36 * legend / whole, 0.96, 0.24 * legend / whole))
    scale.imshow(np.arange(mips)[None, :], cmap=cmap, norm=norm, aspect="auto")
    scale.set_yticks([])
    scale.set_xticks(range(mips))
    scale.tick_params(labelsize=points, length=0, pad=2)
    figure.savefig(path, dpi=DPI, metadata={"Software": None})
