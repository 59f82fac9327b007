"""Pictures of what was recorded: maps with a colour scale, the frame painted with mip levels."""

from __future__ import annotations

import warnings
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib import colors
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

__all__ = [
    "NOT_SAMPLED",
    "SHADES",
    "draw_frame",
    "draw_levels",
    "draw_used",
    "level_rgb",
]

NOT_SAMPLED = 0xFF
"""Decoded MinMip value of a region that no sample touched."""

DPI = 100
SHADES = 10
"""Colours of the scale: the last one stands for all coarser levels too."""
LONGEST_SHAPE = 16
"""Ratio of a map's sides up to which its texels are drawn square."""
UNTOUCHED = (0.16, 0.16, 0.18, 1.0)
BACKGROUND = (0.07, 0.07, 0.08)


def _level_colors() -> tuple[colors.Colormap, colors.BoundaryNorm]:
    """One colour a mip level, finest red, the same in all pictures; grey where nothing is held."""
    shades = matplotlib.colormaps["turbo"](np.linspace(0.92, 0.1, SHADES))
    cmap = colors.ListedColormap(shades).with_extremes(bad=UNTOUCHED)
    return cmap, colors.BoundaryNorm(np.arange(SHADES + 1) - 0.5, SHADES)


def level_rgb(levels: np.ndarray) -> np.ndarray:
    """Colours of mip levels, 0xFF for none, as in all pictures; uint8 [..., 3]."""
    cmap, norm = _level_colors()
    return cmap(norm(_shaded(levels)), bytes=True)[..., :3]


def _shaded(levels: np.ndarray) -> np.ndarray:
    """Levels as the scale has them, regions without one masked."""
    return np.ma.masked_where(levels == NOT_SAMPLED, np.minimum(levels, SHADES - 1))


def _label_levels(axis) -> None:
    axis.set_ticks(range(SHADES), [*map(str, range(SHADES - 1)), f"{SHADES - 1}+"])


def _save(figure: Figure, path: Path) -> None:
    with warnings.catch_warnings():
        # A texture's name may be in a script that the font has not: boxes will do.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure.savefig(path, dpi=DPI, metadata={"Software": None})


def draw_levels(path: Path, levels: np.ndarray, title: str) -> None:
    """PNG of a decoded MinMip map, uint8 [rows, columns]: mip level by region, v down."""
    cmap, norm = _level_colors()
    figure = Figure(figsize=(7.5, 6.5), layout="constrained")
    axes = figure.add_subplot()
    rows, columns = levels.shape
    aspect = "equal" if max(rows, columns) <= LONGEST_SHAPE * min(rows, columns) else "auto"
    image = axes.imshow(
        _shaded(levels), cmap=cmap, norm=norm, interpolation="nearest", aspect=aspect
    )
    axes.set_title(title, fontsize=10, parse_math=False)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    axes.set_xlabel("map texel x (one region of the texture each)")
    axes.set_ylabel("map texel y")
    bar = figure.colorbar(image, ax=axes, fraction=0.04, pad=0.02)
    bar.set_label("finest mip level sampled (grey: not sampled)")
    _label_levels(bar.ax.yaxis)
    _save(figure, path)


def draw_used(path: Path, used: list[np.ndarray], title: str) -> None:
    """PNG of a decoded MipRegionUsed map: one panel a mip level, used regions in its colour."""
    mips = len(used)
    cmap, norm = _level_colors()
    columns = min(mips, 5)
    rows = -(-mips // columns)
    figure = Figure(figsize=(2.2 * columns + 0.4, 2.3 * rows + 0.6), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False)
    for axes in grid.flat[mips:]:
        axes.set_axis_off()
    for level, (axes, regions) in enumerate(zip(grid.flat, used, strict=False)):
        shown = np.where(regions != 0, level, NOT_SAMPLED)
        axes.imshow(_shaded(shown), cmap=cmap, norm=norm, interpolation="nearest")
        share = 100 * np.count_nonzero(regions) / regions.size
        axes.set_title(f"mip {level}: {share:.0f} % used", fontsize=8)
        axes.set_xticks([])
        axes.set_yticks([])
    figure.suptitle(title, fontsize=10, parse_math=False)
    _save(figure, path)


def draw_frame(path: Path, levels: np.ndarray, shade: np.ndarray, title: str) -> None:
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
    title : str
        One line below the picture.
    """
    height, width = levels.shape
    cmap, norm = _level_colors()
    color = cmap(norm(_shaded(levels)))[..., :3]
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
    scale.imshow(np.arange(SHADES)[None, :], cmap=cmap, norm=norm, aspect="auto")
    scale.set_yticks([])
    _label_levels(scale.xaxis)
    scale.tick_params(labelsize=points, length=0, pad=2)
    _save(figure, path)
