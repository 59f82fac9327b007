"""Footprint beats for the slab split, and what it makes of them (spec 02, 03, 04)."""

from __future__ import annotations

from typing import Any

import numpy as np
from kit.packing import random_columns

from minmip.hw.beats import footprint_beat
from minmip.hw.config import UnitConfig
from minmip.sim.golden.descriptor import LINKED_FILTER

__all__ = ["golden_slabs", "random_footprints"]

HEAD = ("context", "code", "flush", "tag", "first_lane", "linked", "packing", "ramp")
LANE_KEPT = ("mip", "value")


def random_footprints(rng, count: int, cfg: UnitConfig, *, volumes=0.7) -> dict:
    """Beats of any bits, but such that slices, depths and active lanes fit together.

    Volumes have slice 0, and any depths; others have depth 0, touched once. Plain and refused quads
    and flushes have no active lanes. What is not touched is texel 0.
    """
    lanes = cfg.lanes
    beats: Any = random_columns(rng, footprint_beat(cfg), count)
    beats["linked"] = rng.integers(0, 5, count)
    idle = (beats["linked"] == 0) | (rng.random(count) < 0.1)
    calm = rng.random(count) < 0.5
    active = np.where(calm, (1 << lanes) - 1, beats["active"])
    beats["active"] = np.where(idle, 0, active)
    if cfg.volumes:
        axis, deep = beats["lane"]["axis"], rng.random(count) < volumes
        near = rng.integers(0, 1 << rng.choice([1, 2, 13, 14], (count, 1)), (count, lanes))
        # The second depth is beside the first, the same, or anywhere.
        step = rng.choice([-1, 0, 0, 1, 64, 128, 8191], (count, lanes))
        texel = np.stack([near, (near + step) % (1 << 14)], axis=-1)
        some = rng.choice([0, 1, 2, 3, 3], (count, lanes))
        mask = np.where(calm[:, None], some[:, :1], some)
        touched = mask[..., None] >> np.arange(2) & 1
        touched[~deep] = (1, 0)
        axis["touched"][:, :, 2] = touched
        axis["texel"][:, :, 2] = texel * touched * deep[:, None, None]
        beats["lane"]["slice"][deep] = 0
    return beats


def golden_slabs(beats: dict, cfg: UnitConfig) -> dict:
    """Columns of `slab_beat`."""
    axis, lane = beats["lane"]["axis"], beats["lane"]
    count = len(beats["tag"])
    live = beats["active"][:, None] >> np.arange(cfg.lanes) & 1 == 1
    depth, touched = (
        np.zeros((count, cfg.lanes, 2), np.int64),
        np.zeros((2, count, cfg.lanes), bool),
    )
    touched[0] = True
    if cfg.volumes:
        depth, touched = axis["texel"][:, :, 2], np.moveaxis(axis["touched"][:, :, 2] == 1, -1, 0)
    again = touched[0] & (depth[..., 0] == depth[..., 1])
    here = np.stack([touched[0], touched[1] & live & ~again])

    slabs = 1 + here[1].any(axis=1)
    beat = np.repeat(np.arange(count), slabs)
    slab = np.arange(len(beat)) - np.repeat(np.cumsum(slabs) - slabs, slabs)
    done = slab == slabs[beat] - 1
    here = here[slab, beat]
    filters = beats["linked"][beat] == LINKED_FILTER
    active = live[beat] & (here | filters[:, None])
    own = depth[beat, :, slab]

    def rows(column):
        return (
            {name: part[beat] for name, part in column.items()}
            if isinstance(column, dict)
            else column[beat]
        )

    def touches(n):
        return here * (axis["touched"][beat, :, n] * (1, 2)).sum(axis=-1)

    return {name: rows(beats[name]) for name in HEAD} | {
        "last": beats["last"][beat] & done,
        "active": (active << np.arange(cfg.lanes)).sum(axis=1),
        "slab": slab,
        "done": done,
        "lane": {name: lane[name][beat] for name in LANE_KEPT}
        | {
            "x": axis["texel"][beat, :, 0],
            "y": axis["texel"][beat, :, 1],
            "x_touched": touches(0),
            "y_touched": touches(1),
            "fraction": axis["weight"][beat],
            # A volume has no slices, and nothing else has depths.
            "slice": lane["slice"][beat] + own,
        },
    }
