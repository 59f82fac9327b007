"""`minmip stream`: a flight through the loop, figures and pictures out."""

from __future__ import annotations

import csv
import json
import re
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import numpy as np
from PIL import Image
from tqdm import tqdm

from minmip.sim.backends import Backend
from minmip.sim.frontend import Scene, SceneError
from minmip.sim.scene_maps import open_scene
from minmip.sim.staging import staged
from minmip.sim.streaming.flight import fly
from minmip.sim.streaming.loop import Loop, Settings
from minmip.sim.streaming.panels import draw_panels, save_animation

__all__ = ["open_flight", "run_stream"]

OURS = re.compile(r"stream\.(csv|png)|stream_frame\d{4,}\.png|summary\.json")
"""Names of the files that a run writes."""
MILLISECONDS = 250


def run_stream(
    scene_name: str,
    settings: Settings,
    *,
    backend: Callable[[], Backend],
    cut: int | None,
    pictures: bool,
    out: Path,
    say: Callable[[str], object],
) -> None:
    """Stream a scene along its flight, and write what came of it to a folder.

    Parameters
    ----------
    scene_name : str
        "builtin" or the path of a glTF file.
    settings : Settings
        How it is streamed.
    backend : callable
        Makes what runs the traces, once the scene is known to be good.
    cut : int or None
        Frame of the camera cut.
    pictures : bool
        Whether to draw, besides the figures.
    out : Path
        Folder, made if it is missing; all files appear at the end, or none.
    say : callable
        Gets lines for the user.

    Raises
    ------
    StreamError, SceneError, D3D12Error, RunnerError, OSError
        Before anything is left in the folder.
    """
    scene = open_flight(scene_name, settings, cut)
    loop = Loop(scene, settings, backend())
    shown_map = int(np.argmax([np.prod(tiling.map_size) for tiling in loop.tilings]))
    note = _note(settings, loop.offset)
    rows, drawn, start = [], [], time.perf_counter()
    with staged(out, OURS) as folder:
        for frame in tqdm(loop.frames(), total=settings.frames, unit="frame", disable=None):
            rows.append(frame.figures)
            seconds = time.perf_counter() - start
            say(_line(frame.figures, seconds))
            if pictures:
                picture = draw_panels(frame, scene.textures, settings.size, shown_map, note)
                picture.save(folder / f"stream_frame{frame.number:04}.png")
                drawn.append(folder / f"stream_frame{frame.number:04}.png")
            start = time.perf_counter()
        with open(folder / "stream.csv", "w", newline="") as file:
            table = csv.DictWriter(file, list(rows[0]))
            table.writeheader()
            table.writerows(rows)
        if pictures:
            save_animation(folder / "stream.png", [Image.open(p) for p in drawn], MILLISECONDS)
        summary = _summary(scene.name, loop, cut, rows)
        (folder / "summary.json").write_text(json.dumps(summary, indent=1) + "\n")
    say(f"stream.csv, summary.json{', stream.png (animated)' if pictures else ''}: {out}")


def open_flight(scene_name: str, settings: Settings, cut: int | None) -> Scene:
    """Open a scene and put its camera on a flight, with a cut at frame `cut` unless None.

    Raises
    ------
    SceneError
        Also for a scene without textures and a cut outside the flight.
    """
    scene = open_scene(scene_name)
    if not scene.textures:
        raise SceneError(f"scene {scene.name!r} has no texture to stream")
    if cut is not None and not 0 < cut < settings.frames:
        raise SceneError(
            f"the camera can cut at a frame above 0 and below {settings.frames}, not at {cut}"
        )
    return fly(scene, settings.frames, cut)


def _note(settings: Settings, offset: str) -> str:
    kind = settings.filtering
    if kind == "aniso":
        kind = f"{settings.max_anisotropy}x anisotropic"
    return (
        f"{kind}, slope {settings.slope}, offset {offset}, spread {settings.spread}; "
        f"pool {settings.pool_bytes / (1 << 20):g} MiB, {settings.budget} tiles a frame"
    )


def _line(figures: dict, seconds: float) -> str:
    share = 100 * figures["misses"] / max(figures["pixels"], 1)
    line = (
        f"frame {figures['frame']}: {seconds:.2f} s, {figures['resident_tiles']} tiles resident, "
        f"{figures['uploads']} uploads, {figures['evictions']} evictions, "
        f"{share:.1f} % of {figures['pixels']} pixels blurred, {figures['jumps']} jumps "
        f"({figures['hard_jumps']} with hard borders)"
    )
    if figures["absent_texels"]:
        line += f", {figures['absent_texels']} samples of tiles that are not resident"
    return line


def _summary(scene: str, loop: Loop, cut: int | None, rows: list[dict]) -> dict:
    """What summary.json says; nothing in it depends on the machine's speed."""
    settings = loop.settings
    totals = ("uploads", "evictions", "pixels", "misses", "jumps", "hard_misses", "hard_jumps")
    return {
        "minmip": version("minmip"),
        "scene": scene,
        "backend": loop.backend.name,
        "size": list(settings.size),
        "frames": settings.frames,
        "filter": settings.filtering,
        "max_anisotropy": settings.max_anisotropy,
        "slope": settings.slope,
        "offset": loop.offset,
        "spread": settings.spread,
        "tail": settings.tail,
        "region": list(settings.region) if settings.region else None,
        "unsafe": settings.unsafe,
        "pool_mib": settings.pool_bytes / (1 << 20),
        "budget": settings.budget,
        "latency": settings.latency,
        "share": settings.share,
        "seed": settings.seed,
        "cut": cut,
        "tiles_64kb": {"whole": loop.whole_tiles, "packed": loop.manager.packed},
        "most_resident_tiles": max(row["resident_tiles"] for row in rows),
        "absent_texels": sum(row["absent_texels"] for row in rows),
        "totals": {name: sum(row[name] for row in rows) for name in totals},
        "textures": [
            {
                "name": tiling.texture.name,
                "size": [tiling.texture.width, tiling.texture.height],
                "map": list(tiling.map_size),
                "tiles": sum(level.count for level in tiling.levels),
                "packed_tiles": tiling.packed,
            }
            for tiling in loop.tilings
        ],
        "frames_of_the_flight": rows,
    }
