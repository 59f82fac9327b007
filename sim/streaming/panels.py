"""The animation's frames: what is seen, what was asked for, what is resident, what is missing."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib import font_manager
from PIL import Image, ImageDraw, ImageFont

from minmip.sim.frontend import Texture
from minmip.sim.pictures import SHADES, level_rgb
from minmip.sim.streaming.appearance import seen
from minmip.sim.streaming.loop import Frame

__all__ = ["draw_panels", "save_animation"]

WIDE = 960
"""Width of the frame's panel; the two below are half as wide, maps fit a square of MAP."""
MAP = 380
EDGE, TITLE, FOOT = 18, 30, 64
BACK, INK, SOFT = (250, 250, 248), (28, 30, 34), (110, 114, 120)
PAPER = (228, 228, 224)
WORST = 3.0
"""Levels of blur at which the heat scale ends."""


def draw_panels(
    frame: Frame, textures: Sequence[Texture], size: tuple[int, int], shown_map: int, note: str
) -> Image.Image:
    """Draw one frame of the animation.

    Parameters
    ----------
    frame : Frame
        From the loop.
    textures : sequence of Texture
        Of the scene.
    size : (int, int)
        Frame in pixels.
    shown_map : int
        Texture whose maps are drawn.
    note : str
        What all frames have in common: filter, pool, budget.
    """
    tall = WIDE * size[1] // size[0]
    half = (WIDE - EDGE) // 2
    low = half * size[1] // size[0]
    top = EDGE + TITLE
    below = top + tall + TITLE
    height = max(below + low, EDGE + 2 * (MAP + TITLE) + TITLE) + FOOT
    image = Image.new("RGB", (3 * EDGE + WIDE + MAP, height), BACK)
    draw = ImageDraw.Draw(image)
    figures, texture = frame.figures, textures[shown_map]

    view = Image.fromarray(seen(frame, textures, size))
    _title(
        draw, EDGE, EDGE, f"Frame {frame.number}", f"as sampled through the MinMip filter; {note}"
    )
    image.paste(_fitted(view, WIDE, tall), (EDGE, top))

    shade = np.asarray(view.convert("L"), np.float64) / 255
    for place, (name, blur, jumps, misses) in enumerate(
        (
            ("MinMip filter", frame.blur, figures["jumps"], figures["misses"]),
            ("Hard borders", frame.hard_blur, figures["hard_jumps"], figures["hard_misses"]),
        )
    ):
        left = EDGE + place * (half + EDGE)
        share = 100 * misses / max(figures["pixels"], 1)
        _title(draw, left, below - TITLE, name, f"{share:.1f} % of pixels blurred, {jumps} jumps")
        heat = Image.fromarray(_heat(frame, blur, shade))
        image.paste(_fitted(heat, half, low), (left, below))

    right = 2 * EDGE + WIDE
    for place, (name, what, levels) in enumerate(
        (
            ("Feedback map", "finest level asked for", frame.recorded[shown_map]),
            ("MinMip map", "finest level resident", frame.maps[shown_map]),
        )
    ):
        y = EDGE + place * (MAP + TITLE)
        _title(draw, right, y, name, f"of {texture.name}: {what}")
        _paste_map(image, levels, right, y + TITLE)
    _draw_figures(draw, right, EDGE + 2 * (MAP + TITLE) + 6, figures)
    _draw_scales(image, draw, EDGE, height - FOOT + 14)
    return image


def save_animation(path: Path, pictures: Sequence[Image.Image], milliseconds: int) -> None:
    """Save pictures of one size as an animated PNG that repeats; the last one stays longer."""
    first, *rest = pictures
    durations = [milliseconds] * len(rest) + [4 * milliseconds]
    first.save(path, save_all=True, append_images=rest, duration=durations, loop=0)


def _heat(frame: Frame, blur: np.ndarray, shade: np.ndarray) -> np.ndarray:
    """Picture of levels missing over a grey frame, uint8 [height, width, 3]."""
    levels = blur.ravel()[np.maximum(frame.shown, 0)] / 256 if blur.size else frame.shown * 0.0
    levels = np.where(frame.shown < 0, 0.0, levels)
    color = _heat_map()(np.clip(levels / WORST, 0, 1))[..., :3]
    grey = np.repeat((0.25 + 0.55 * shade)[..., None], 3, axis=-1)
    amount = np.clip(levels * 4, 0, 0.9)[..., None]
    return (255 * (grey * (1 - amount) + color * amount)).astype(np.uint8)


def _heat_map():
    return matplotlib.colormaps["plasma"].reversed()


def _paste_map(image: Image.Image, levels: np.ndarray, left: int, top: int) -> None:
    """Draw a map as large as the square allows, texels square unless it is very long."""
    rows, columns = levels.shape
    scale = MAP / max(rows, columns)
    width, height = max(24, round(columns * scale)), max(24, round(rows * scale))
    image.paste(PAPER, (left, top, left + MAP, top + MAP - 6))
    texels = Image.fromarray(level_rgb(levels.astype(np.int64)))
    texels = texels.resize((width, min(height, MAP - 6)), Image.Resampling.NEAREST)
    image.paste(texels, (left + (MAP - width) // 2, top + (MAP - 6 - texels.height) // 2))


def _draw_figures(draw: ImageDraw.ImageDraw, left: int, top: int, figures: dict) -> None:
    share = 100 * figures["share_of_whole"]
    changes = f"uploads {figures['uploads']}, evictions {figures['evictions']}"
    lines = (
        f"resident {figures['resident_mib']:.1f} MiB, {share:.2f} % of all textures",
        f"{changes}, still missing {figures['missing_tiles']} tiles",
    )
    for number, line in enumerate(lines):
        draw.text((left, top + 21 * number), line, fill=INK, font=_font(15))


def _draw_scales(image: Image.Image, draw: ImageDraw.ImageDraw, left: int, top: int) -> None:
    """Colour scales of mip levels and of blur, at the bottom."""
    cell = 34
    draw.text((left, top), "mip level", fill=INK, font=_font(15))
    colors = level_rgb(np.arange(SHADES))
    for level, color in enumerate(colors):
        x = left + 84 + cell * level
        draw.rectangle((x, top, x + cell - 1, top + 17), fill=tuple(int(c) for c in color))
        label = f"{level}" if level < SHADES - 1 else f"{level}+"
        draw.text((x + cell // 2, top + 20), label, fill=SOFT, font=_font(13), anchor="mt")
    draw.text((left + 84 + cell * SHADES + 12, top), "dark: none", fill=SOFT, font=_font(13))
    x = left + 84 + cell * SHADES + 130
    draw.text((x, top), "levels coarser than wanted", fill=INK, font=_font(15))
    x += 210
    ramp = _heat_map()(np.linspace(0, 1, 240), bytes=True)[None, :, :3]
    image.paste(Image.fromarray(np.repeat(ramp, 18, axis=0)), (x, top))
    for level in range(int(WORST) + 1):
        label = f"{level}" if level < WORST else f"{level}+"
        place = x + int(240 * level / WORST)
        draw.text((place, top + 20), label, fill=SOFT, font=_font(13), anchor="mt")


def _title(draw: ImageDraw.ImageDraw, left: int, top: int, name: str, rest: str) -> None:
    draw.text((left, top + 4), name, fill=INK, font=_font(17, bold=True))
    width = draw.textlength(name, font=_font(17, bold=True))
    draw.text((left + width + 10, top + 6), rest, fill=SOFT, font=_font(15))


def _fitted(image: Image.Image, width: int, height: int) -> Image.Image:
    """Scale a picture; pixels stay square blocks when it grows."""
    grows = width > image.width
    how = Image.Resampling.NEAREST if grows else Image.Resampling.BOX
    return image if image.size == (width, height) else image.resize((width, height), how)


@cache
def _font(points: int, bold: bool = False) -> ImageFont.FreeTypeFont:
    weight = "bold" if bold else "normal"
    found = font_manager.FontProperties(family="DejaVu Sans", weight=weight)
    return ImageFont.truetype(font_manager.findfont(found), points)
