"""The main job: a scene's quads through the driver and the golden model, maps and pictures out."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from pathlib import Path

import numpy as np
from tqdm import tqdm

from minmip.sim.backends import Backend
from minmip.sim.d3d12 import Device
from minmip.sim.drawing import Drawing
from minmip.sim.frontend import RasterCounters, check_frame, render_quads
from minmip.sim.painting import paint_levels
from minmip.sim.pictures import draw_frame, draw_levels, draw_used
from minmip.sim.scene_maps import (
    Binding,
    bind_textures,
    check_region,
    open_scene,
    record_draws,
    recorded_map,
)
from minmip.sim.staging import staged
from minmip.sim.summary import frame_report, texture_report

__all__ = ["run_job"]

OURS = re.compile(r"frame\d{4,}((_slice\d{2,})?\.png|_map\d{2,}_.*\.png|_trace\.npz)|summary\.json")
"""Names of the files that a run writes."""


def run_job(
    scene_name: str,
    *,
    size: tuple[int, int],
    frames: int,
    kind: str,
    region: tuple[int, int] | None,
    max_anisotropy: int,
    save_trace: bool,
    backend: Callable[[], Backend],
    drawing: Drawing,
    out: Path,
    say: Callable[[str], object],
) -> None:
    """Draw the frames of a scene, record their feedback, and write what it shows to a folder.

    Maps are cleared before every frame. All files appear at the end, or none; they replace those
    of an earlier run in the same folder.

    Parameters
    ----------
    scene_name : str
        "builtin" or the path of a glTF file.
    size : (int, int)
        Frame in pixels.
    frames : int
        Frames of the animation.
    kind : str
        "minmip" or "used".
    region : (int, int) or None
        Texels of mip 0 for each map texel; None is a 64 KB tile.
    max_anisotropy : int
        1 for each texture's own filter, 2 to 16 for anisotropic.
    save_trace : bool
        Also write each frame's trace.
    backend : callable
        Makes what runs the quads, once the scene is known to be good.
    drawing : Drawing
        How the frames are drawn.
    out : Path
        Folder, made if it is missing.
    say : callable
        Gets lines for the user.

    Raises
    ------
    SceneError, D3D12Error, RunnerError, OSError
        Before anything is left in the folder.
    """
    check_frame(*size, 0, frames, drawing.state)
    scene = drawing.apply(open_scene(scene_name))
    if region is not None:
        check_region(region, scene)
    device = Device()
    bindings = bind_textures(device, scene, kind, region, max_anisotropy)
    runs = backend()
    reports = []
    with staged(out, OURS) as folder:
        for frame in tqdm(range(frames), desc="frames", unit="frame", disable=None):
            start = time.perf_counter()
            counters = RasterCounters()
            quads = render_quads(scene, *size, frame, frames, drawing.state, counters)
            drawn = time.perf_counter()
            record_draws(device, bindings, quads, drawing.gradients)
            if save_trace:
                device.build_trace().save(folder / f"frame{frame:04}_trace.npz")
            with tqdm(
                total=len(quads), desc=runs.name, unit="quad", leave=False, disable=None
            ) as bar:
                result = device.execute(partial(runs.run, progress=bar.update))
            done = time.perf_counter()
            maps = [recorded_map(device, b) for b in bindings]
            _draw_maps(folder, frame, bindings, maps, kind)
            for slice_ in range(drawing.state.slices):
                levels, shade = paint_levels(bindings, maps, quads, size, kind, slice_)
                _draw_frame(folder, frame, levels, shade, kind, slice_, drawing.state.slices)
            report = frame_report(frame, quads, result, bindings, maps, kind)
            reports.append(report | {"rasteriser": vars(counters)})
            say(
                f"frame {frame}: {report['quads']} quads in {drawn - start:.2f} s, "
                f"{runs.name} {done - drawn:.2f} s, {report['samples']} samples, "
                f"{report['writes']['after_combining']} byte writes, 64 KB tiles needed "
                f"{report['tiles_64kb']['needed']} of {report['tiles_64kb']['whole']}"
            )
        summary = {
            "minmip": version("minmip"),
            "scene": scene.name,
            "size": list(size),
            "kind": kind,
            "max_anisotropy": max_anisotropy,
            "backend": runs.name,
            "drawing": drawing.report(),
            "textures": [texture_report(b) for b in bindings],
            "frames": reports,
        }
        (folder / "summary.json").write_text(json.dumps(summary, indent=1) + "\n")
    say(f"pictures and summary.json: {out}")


def _draw_maps(folder: Path, frame: int, bindings: list[Binding], maps: list, kind: str) -> None:
    for index, (binding, decoded) in enumerate(zip(bindings, maps, strict=True)):
        texture = binding.texture
        safe = re.sub(r"[^A-Za-z0-9._-]+", "_", texture.name)[:60] or "texture"
        path = folder / f"frame{frame:04}_map{index:02}_{safe}.png"
        title = (
            f"{texture.name}: {texture.width}x{texture.height}, {texture.mips} mips, "
            f"region {binding.region[0]}x{binding.region[1]}"
        )
        if kind == "minmip":
            draw_levels(path, decoded, title)
        else:
            draw_used(path, decoded, title)


def _draw_frame(
    folder: Path,
    frame: int,
    levels: np.ndarray,
    shade: np.ndarray,
    kind: str,
    slice_: int,
    slices: int,
) -> None:
    height, width = levels.shape
    name = "MinMip" if kind == "minmip" else "MipRegionUsed"
    title = f"minmip, {name} feedback of frame {frame}, {width}x{height}"
    file = f"frame{frame:04}"
    if slices > 1:
        title, file = f"{title}, slice {slice_}", f"{file}_slice{slice_:02}"
    draw_frame(folder / f"{file}.png", levels, shade, title)
