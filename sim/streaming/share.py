"""`minmip stream-share`: how many tiles are missed when a share of the pixels writes feedback."""

from __future__ import annotations

import csv
import re
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from tqdm import tqdm

from minmip.sim.backends import Backend
from minmip.sim.frontend import render_quads
from minmip.sim.staging import staged
from minmip.sim.streaming.errors import StreamError
from minmip.sim.streaming.job import open_flight
from minmip.sim.streaming.loop import Loop, Settings
from minmip.sim.streaming.requests import NOT_ASKED, missed_levels
from minmip.sim.streaming.stochastic import some_lanes

__all__ = ["KEPT", "run_share", "share_curve"]

OURS = re.compile(r"share\.(csv|png)")
KEPT = 8
"""Frames whose feedback counts together in the second curve: what a pool keeps that long."""


@dataclass
class _Tally:
    """Sums over the frames, for one share."""

    writing: int = 0
    missed: int = 0
    missed_kept: int = 0
    late: deque = field(default_factory=lambda: deque(maxlen=KEPT))


def share_curve(loop: Loop, shares: Sequence[float]) -> list[dict[str, float]]:
    """Compare the tiles that a share of the pixels asks for with those that all ask for.

    Parameters
    ----------
    loop : Loop
        Scene, flight, unit; nothing is loaded, only feedback is written.
    shares : sequence of float
        In 0..1.

    Returns
    -------
    list of dict
        For each share: `pixels` that wrote; `wanted` tiles of all frames, by all pixels; `missed`
        of them that the share did not ask for in the same frame, and `missed_kept` that it did not
        ask for in the last KEPT frames either; the same as shares of `wanted`.
    """
    settings = loop.settings
    tallies = [_Tally() for _ in shares]
    wanted = 0
    for number in tqdm(range(settings.frames), unit="frame", disable=None):
        quads = render_quads(loop.scene, *settings.size, number, settings.frames)

        def asked(writing, quads=quads):
            loop.unit.record(quads, writing)
            recorded = loop.unit.recorded()
            missed = missed_levels(recorded, loop.tilings, loop.table, settings.spread)
            return missed != NOT_ASKED

        everything = asked(some_lanes(len(quads), 1, settings.seed, number))
        wanted += int(everything.sum())
        for share, tally in zip(shares, tallies, strict=True):
            writing = some_lanes(len(quads), share, settings.seed, number)
            tally.writing += int(np.bitwise_count(writing & quads.live_mask).sum())
            tally.late.append(asked(writing) if share < 1 else everything)
            tally.missed += int((everything & ~tally.late[-1]).sum())
            tally.missed_kept += int((everything & ~np.logical_or.reduce(tally.late)).sum())
    return [
        {
            "share": share,
            "pixels": tally.writing,
            "wanted": wanted,
            "missed": tally.missed,
            "missed_kept": tally.missed_kept,
            "missed_share": round(tally.missed / max(wanted, 1), 6),
            "missed_kept_share": round(tally.missed_kept / max(wanted, 1), 6),
        }
        for share, tally in zip(shares, tallies, strict=True)
    ]


def run_share(
    scene_name: str,
    settings: Settings,
    shares: Sequence[float],
    *,
    backend: Callable[[], Backend],
    out: Path,
    say: Callable[[str], object],
) -> None:
    """Measure the curve, print it, and write share.csv and share.png to a folder.

    Errors as those of `job.run_stream`.
    """
    if not shares or not all(0 < share <= 1 for share in shares):
        wrong = next((share for share in shares if not 0 < share <= 1), None)
        raise StreamError(f"shares must be above 0 and at most 1, not {wrong}")
    loop = Loop(open_flight(scene_name, settings, None), settings, backend())
    with staged(out, OURS) as folder:
        curve = share_curve(loop, sorted(shares, reverse=True))
        with open(folder / "share.csv", "w", newline="") as file:
            table = csv.DictWriter(file, list(curve[0]))
            table.writeheader()
            table.writerows(curve)
        _plot(folder / "share.png", curve, settings)
    for row in curve:
        say(
            f"share {row['share']:.6g}: {100 * row['missed_share']:.2f} % of the tiles missed in a "
            f"frame, {100 * row['missed_kept_share']:.2f} % in {KEPT} frames"
        )
    say(f"share.csv, share.png: {out}")


def _plot(path: Path, curve: list[dict[str, float]], settings: Settings) -> None:
    figure = Figure(figsize=(7.5, 4.5), layout="constrained")
    axes = figure.add_subplot()
    share = [row["share"] for row in curve]
    for name, label in (
        ("missed_share", "in the same frame"),
        ("missed_kept_share", f"in the last {KEPT} frames"),
    ):
        axes.plot(share, [100 * row[name] for row in curve], marker="o", label=label)
    axes.set_xscale("log", base=2)
    axes.set_xlabel("share of the pixels that write feedback")
    axes.set_ylabel("tiles missed, % of those all pixels ask for")
    width, height = settings.size
    axes.set_title(f"stochastic feedback, {width}x{height}, {settings.frames} frames", fontsize=11)
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(path, dpi=100, metadata={"Software": None})
