"""One frame after the other: load, filter, record, sample, and look at what came of it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from minmip.sim.backends import Backend
from minmip.sim.frontend import Quads, Scene, check_frame, render_quads
from minmip.sim.frontend.scene import TILE_SIZE
from minmip.sim.golden.descriptor import LINKED_FILTER, LINKED_MIN
from minmip.sim.painting import live_lanes, visible
from minmip.sim.scene_maps import check_region
from minmip.sim.streaming.bindings import Bindings
from minmip.sim.streaming.errors import StreamError
from minmip.sim.streaming.manager import TileManager
from minmip.sim.streaming.observe import (
    absent_tiles,
    blur_of,
    count_jumps,
    hard_clamp,
)
from minmip.sim.streaming.safety import check_safe, offset_of_spread
from minmip.sim.streaming.stochastic import some_lanes
from minmip.sim.streaming.tiling import tile_textures
from minmip.sim.streaming.unit import TextureUnit
from minmip.sim.tiles import TILE_BYTES

__all__ = ["Frame", "Loop", "Settings"]

UNSAFE_OFFSET = "1/128"


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How a scene is streamed.

    Attributes
    ----------
    size : (int, int)
        Frame in pixels.
    frames : int
        Frames of the flight.
    pool_bytes, budget : int
        Memory for tiles; most tiles to upload in a frame.
    latency : int
        Feedback of frame N drives what is resident from frame N + `latency` on; at least 1.
    filtering, max_anisotropy : str, int
        Filter of the samples: "point", "bilinear", "trilinear" or "aniso".
    slope, offset : str, str or None
        Of the MinMip filter; without an offset that of seed 000 for the spread.
    spread : int or None
        Largest difference of neighbours on a MinMip map; None for any, with a named offset.
    tail : int or None
        Levels from this one on stay resident, as packed mips do.
    region : (int, int) or None
        Texels of mip 0 for each map texel; None for a tile. Cut to the size of smaller textures.
    share, seed : float, int
        Share of the pixels that write feedback, drawn anew each frame.
    unsafe : bool
        Break the condition of spec 04: neighbours may differ by anything, the offset is the
        smallest one unless it is named, and nothing is refused.
    """

    size: tuple[int, int] = (960, 540)
    frames: int = 24
    pool_bytes: int = 32 << 20
    budget: int = 32
    latency: int = 2
    filtering: str = "trilinear"
    max_anisotropy: int = 1
    slope: str = "4"
    offset: str | None = None
    spread: int | None = 1
    tail: int | None = None
    region: tuple[int, int] | None = None
    share: float = 1.0
    seed: int = 0
    unsafe: bool = False

    def __post_init__(self):
        check_frame(*self.size, 0, self.frames)
        if self.latency < 1:
            raise StreamError(
                f"the latency must be at least 1 frame, not {self.latency}: feedback is known when "
                "its frame is done"
            )
        if self.spread is None and self.offset is None:
            raise StreamError("neighbours that may differ by anything want a named offset")
        if self.spread is not None and self.spread < 1:
            raise StreamError(f"the spread must be at least 1 level, not {self.spread}")
        if self.tail is not None and self.tail < 0:
            raise StreamError(f"the tail must begin at level 0 or a coarser one, not {self.tail}")
        if self.seed < 0:
            raise StreamError(f"the seed must be at least 0, not {self.seed}")
        if not 0 < self.share <= 1:
            raise StreamError(
                f"the share of pixels that write feedback must be above 0 and at most 1, "
                f"not {self.share:g}"
            )

    @property
    def chosen_offset(self) -> str:
        """The offset, named or that of the spread."""
        if self.offset is not None:
            return self.offset
        if self.unsafe or self.spread is None:
            return UNSAFE_OFFSET
        return offset_of_spread(self.spread)


@dataclass(frozen=True, eq=False)
class Frame:
    """One frame of the loop.

    Attributes
    ----------
    number : int
        From 0.
    quads : Quads
        What was drawn.
    wanted : int64 [Q]
        LOD without a clamp, in 1/256.
    blur, hard_blur : int64 [Q, 4]
        Levels, in 1/256, that lanes get less than they want, with the filter and without.
    shown : int64 [height, width]
        Lane that each pixel shows (`painting.visible`).
    recorded, maps : list of ndarray [rows, columns]
        Feedback and MinMip map of each texture in mip levels; feedback 255 where none.
    figures : dict
        The row of stream.csv.
    """

    number: int
    quads: Quads
    wanted: np.ndarray
    blur: np.ndarray
    hard_blur: np.ndarray
    shown: np.ndarray
    recorded: list[np.ndarray]
    maps: list[np.ndarray]
    figures: dict[str, int | float]


class Loop:
    """A scene, its manager and its texture unit; everything is checked before the first frame.

    Parameters
    ----------
    scene : Scene
        Its camera gives the flight.
    settings : Settings
        See there.
    backend : Backend
        Runs the traces.

    Raises
    ------
    StreamError, D3D12Error, SceneError
        When the settings cannot work, or are not safe.
    """

    def __init__(self, scene: Scene, settings: Settings, backend: Backend):
        missing = {LINKED_FILTER, LINKED_MIN} - set(backend.config.linked_types)
        if missing:
            raise StreamError(
                f"this build of the unit ({backend.name}) leaves out linked type {min(missing)}; "
                "streaming needs types 2 and 4, MinMip feedback and the MinMip filter"
            )
        if settings.region is not None:
            check_region(settings.region, scene)
        region = settings.region or (TILE_SIZE, TILE_SIZE)
        self.scene, self.settings, self.backend = scene, settings, backend
        self.tilings, self.table = tile_textures(scene.textures, region)
        self.offset = settings.chosen_offset
        if not settings.unsafe:
            check_safe(self.tilings, self.offset, settings.spread, settings.tail)
        self.manager = TileManager(
            self.tilings,
            self.table,
            pool_bytes=settings.pool_bytes,
            budget=settings.budget,
            spread=None if settings.unsafe else settings.spread,
            tail=settings.tail,
        )
        bindings = Bindings(
            self.tilings,
            region=region,
            filtering=settings.filtering,
            max_anisotropy=settings.max_anisotropy,
            slope=settings.slope,
            offset=self.offset,
        )
        self.unit = TextureUnit(self.tilings, bindings, backend.run)

    @property
    def whole_tiles(self) -> int:
        """Tiles of all textures, packed mips included."""
        return self.manager.packed + len(self.table)

    def frames(self) -> Iterator[Frame]:
        """Run the frames.

        Raises
        ------
        StreamError
            When a sample reads a tile that is not resident. With anisotropy the figures count
            such samples instead: a line of taps reaches farther than the condition allows for.
        """
        pending: deque[list[np.ndarray]] = deque()
        for number in range(self.settings.frames):
            wanted_tiles = loaded = evicted = missing = 0
            if len(pending) == self.settings.latency:
                step = self.manager.step(number - self.settings.latency, pending.popleft())
                wanted_tiles, loaded, evicted = map(len, (step.wanted, step.loaded, step.evicted))
                missing = wanted_tiles - int(self.manager.resident[step.wanted].sum())
            figures = {
                "frame": number,
                "resident_tiles": self.manager.resident_tiles(),
                "wanted_tiles": wanted_tiles,
                "missing_tiles": missing,
                "uploads": loaded,
                "evictions": evicted,
            }
            frame = self._draw(number, figures)
            pending.append(frame.recorded)
            yield frame

    def _draw(self, number: int, figures: dict) -> Frame:
        settings, manager = self.settings, self.manager
        quads = render_quads(self.scene, *settings.size, number, settings.frames)
        maps = manager.maps()
        self.unit.write_maps(maps)
        writing = some_lanes(len(quads), settings.share, settings.seed, number)
        answers = self.unit.filter_and_record(quads, writing)
        rows = self.unit.sample(quads, answers.clamp)
        absent, tiles = absent_tiles(rows, quads, self.table, manager.resident)
        if len(absent) and settings.filtering != "aniso":
            raise StreamError(self._accuse(number, rows, absent, tiles))

        live = live_lanes(quads)
        shown = visible(quads, settings.size)
        blur = np.where(live, blur_of(answers.clamp, answers.wanted), 0)
        hard = hard_clamp(quads, maps, self.tilings)
        hard_blur = np.where(live, blur_of(hard, answers.wanted), 0)
        pixels = int(live.sum())
        figures |= {
            "resident_mib": round(figures["resident_tiles"] * TILE_BYTES / (1 << 20), 4),
            "share_of_whole": round(figures["resident_tiles"] / self.whole_tiles, 6),
            "pixels": pixels,
            "misses": int((blur > 0).sum()),
            "mean_blur": round(float(blur.sum()) / 256 / max(pixels, 1), 4),
            "jumps": count_jumps(blur, quads, shown),
            "hard_misses": int((hard_blur > 0).sum()),
            "hard_mean_blur": round(float(hard_blur.sum()) / 256 / max(pixels, 1), 4),
            "hard_jumps": count_jumps(hard_blur, quads, shown),
            "texels_read": len(rows.quad),
            "absent_texels": len(absent),
        }
        return Frame(
            number,
            quads,
            answers.wanted,
            blur,
            hard_blur,
            shown,
            self.unit.recorded(),
            maps,
            figures,
        )

    def _accuse(self, number: int, rows, absent: np.ndarray, tiles: np.ndarray) -> str:
        first, tile = absent[0], tiles[0]
        mip, x, y = rows.mip[first], rows.x[first], rows.y[first]
        name = self.tilings[self.table.texture[tile]].texture.name
        return (
            f"frame {number}: {len(absent)} of {len(rows.quad)} texel samples read tiles that are "
            f"not resident, the first one tile {x // TILE_SIZE},{y // TILE_SIZE} of level {mip} of "
            f"texture {name!r}"
        )
