"""Anisotropic footprints: where ours and the H200's lie along the line of the longer gradient.

The devices place their probes differently, so nothing is compared by texel (oracle/README.md): the
texels' weighted centre and spread along the line are, on ops whose whole line is inside the image.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from oracle import build
from oracle.build import Ops, Rows
from oracle.data import Job, Oracle, U, V
from oracle.judge import golden_model
from oracle.lod import texel_gradients


def jobs(oracle: Oracle) -> list[Job]:
    """One-hot jobs by gradient with an anisotropic, bilinear sampler."""
    hot = [job for job in oracle.jobs if job.anisotropic and job.fill == "onehot"]
    return [job for job in hot if job.mag == job.min == "L"]


@dataclass(frozen=True)
class Comparison:
    """Ours against the H200, over ops; lengths in units of the line's length.

    Attributes
    ----------
    ops : int
        Ops compared.
    centre : list of float
        Median and 95th percentile of the distance between the centres.
    spread : list of float
        5th percentile, median and 95th percentile of our standard deviation over the H200's.
    """

    ops: int
    centre: list[float]
    spread: list[float]


def compare(oracle: Oracle, jobs: list[Job]) -> Comparison:
    """Compare the footprints of all ops whose line is inside and a texel of its level long."""
    ops = Ops.of(oracle, jobs)
    line = Line(ops)
    footprints = [_measured(oracle, ops), _ours(ops)]
    theirs, ours = (line.moments(footprint) for footprint in footprints)
    chosen = np.flatnonzero(line.usable(footprints) & (theirs[1] > 0))
    centre = np.abs(theirs[0] - ours[0])[chosen] / line.length[chosen]
    spread = ours[1][chosen] / theirs[1][chosen]
    return Comparison(
        len(chosen),
        np.percentile(centre, [50, 95]).tolist(),
        np.percentile(spread, [5, 50, 95]).tolist(),
    )


@dataclass(eq=False)
class Footprint:
    """Weighted texels, one row each: op, mip, texel, size of the mip, weight in any unit."""

    op: np.ndarray
    mip: np.ndarray
    x: np.ndarray
    y: np.ndarray
    size: np.ndarray
    weight: np.ndarray


class Line:
    """The longer gradient of each op, through its coordinate, in texels of mip 0."""

    def __init__(self, ops: Ops):
        dx, dy = texel_gradients(ops)
        lengths = np.stack([np.hypot(d[:, 0], d[:, 1]) for d in (dx, dy)])
        self.major = np.where((lengths[0] > lengths[1])[:, None], dx, dy)
        self.length, self.minor = lengths.max(axis=0), lengths.min(axis=0)
        self.limit = ops.per_op(lambda job: job.max_aniso)
        self.direction = self.major / np.maximum(self.length, 1e-30)[:, None]
        self.size = np.array([(job.width, job.height) for job in ops.jobs])[ops.job]
        self.centre = ops.rows[:, [U, V]].astype(np.float64) * self.size

    def usable(self, footprints: list[Footprint]) -> np.ndarray:
        """Ops whose line, widened by two texels of the coarsest level, meets no edge, bool [n]."""
        coarsest = np.zeros(len(self.length), np.int64)
        for footprint in footprints:
            np.maximum.at(coarsest, footprint.op, footprint.mip)
        texel = 2.0**coarsest
        reach = np.abs(self.major) / 2 + 2 * texel[:, None]
        inside = (self.centre > reach) & (self.centre < self.size - reach)
        slender = self.length <= self.limit * np.maximum(self.minor, 1)
        return inside.all(axis=1) & slender & (self.length >= texel)

    def moments(self, footprint: Footprint) -> tuple[np.ndarray, np.ndarray]:
        """Weighted mean and standard deviation of texel centres along each op's line."""
        op, weight = footprint.op, footprint.weight
        texel = np.stack([footprint.x, footprint.y], axis=1) + 0.5
        position = texel / footprint.size * self.size[op] - self.centre[op]
        along = (position * self.direction[op]).sum(axis=1)

        def total(value):
            return np.bincount(op, weights=value, minlength=len(self.length))

        with np.errstate(invalid="ignore"):
            mean = total(along * weight) / total(weight)
            square = total(along**2 * weight) / total(weight)
            return mean, np.sqrt(np.maximum(square - mean**2, 0))


def _measured(oracle: Oracle, ops: Ops) -> Footprint:
    parts, start = [], 0
    for job in ops.jobs:
        op, texel, weight = oracle.weights("h200", job)
        mip = np.searchsorted(job.mip_start, texel, side="right") - 1
        size = np.stack(job.size(mip), axis=1)
        y, x = np.divmod(texel - job.mip_start[mip], size[:, 0])
        parts.append((op + start, mip, x, y, size, weight.astype(np.float64)))
        start += job.ops
    return Footprint(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _ours(ops: Ops) -> Footprint:
    trace, op_of = build.trace(ops, np.arange(len(ops)))
    rows = Rows.of(golden_model(trace), op_of)
    size = np.array([(job.width, job.height) for job in ops.jobs])[ops.job[rows.op]]
    last = ops.per_op(lambda job: job.mips - 1)[rows.op]
    lod = np.clip(rows.lod, 0, last * 256)
    share = np.where(rows.mip == lod >> 8, 256 - (lod & 255), lod & 255)
    trilinear = ops.per_op(lambda job: job.mip == "L")[rows.op]
    weight = rows.weight * np.where(trilinear, share, 256).astype(np.float64)
    size = np.maximum(size >> rows.mip[:, None], 1)
    return Footprint(rows.op, rows.mip, rows.x, rows.y, size, weight)
