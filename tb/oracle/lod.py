"""LODs from gradients: the golden model, and the measured devices, against exact log2.

The exact LOD is float64 arithmetic on float32 inputs: its own error is below 1e-12, the step of a
LOD is 1/256.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from minmip.sim.descriptor_words import S_FIELDS, S_WORDS, pack
from minmip.sim.trace import Trace
from oracle import build, h200
from oracle.build import Ops
from oracle.data import DDX, DDY, Job, Oracle
from oracle.judge import Model, golden_model

GROUPS = ("A2", "A3np", "A3rect", "A7")
MIDDLE = 8  # the biased LOD aims here: inside the sampler's range 0..15.996
LIMIT = 0xFFF / 256  # the largest MAX_LOD
TINY = float(np.finfo(np.float32).tiny)


def jobs(oracle: Oracle) -> list[Job]:
    """The trilinear LOD jobs: a gradient in, the LOD out."""
    return [job for job in oracle.jobs if job.group in GROUPS and job.mip == "L"]


def texel_gradients(ops: Ops) -> tuple[np.ndarray, np.ndarray]:
    """dX and dY in texels of mip 0, float64 [n, 2]; denormals are zero."""
    size = np.array([(job.width, job.height) for job in ops.jobs])[ops.job]

    def scaled(columns):
        value = ops.rows[:, columns][:, :2].astype(np.float64)
        return np.where(np.abs(value) < TINY, 0, value) * size

    return scaled(DDX), scaled(DDY)


def exact_lod(ops: Ops) -> np.ndarray:
    """LOD of spec 02 before bias and clamps, float64; NaN where a component is NaN or Inf.

    Isotropic: the longer length. Anisotropic samplers: the minor axis.
    """
    dx, dy = texel_gradients(ops)
    with np.errstate(all="ignore"):
        square = np.maximum((dx**2).sum(axis=1), (dy**2).sum(axis=1))
        isotropic = np.log2(square) / 2
        determinant = np.abs(dx[:, 0] * dy[:, 1] - dx[:, 1] * dy[:, 0])
        limit = ops.per_op(lambda job: max(job.max_aniso, 1))
        over = square > limit * determinant
        minor = np.where(over, isotropic - np.log2(limit), np.log2(determinant) - isotropic)
    lod = np.where(ops.per_op(lambda job: job.max_aniso > 1) & (square > 0), minor, isotropic)
    return np.where(np.isfinite(dx).all(axis=1) & np.isfinite(dy).all(axis=1), lod, np.nan)


def our_lod(ops: Ops, model: Model = golden_model) -> tuple[np.ndarray, np.ndarray]:
    """The model's LOD with a sampler bias, and that bias, both in 1/256, int64 [n].

    A sampler's limits cut LODs to 0..15.996, so each op gets the bias (whole levels, exact) that
    brings its LOD near 8: LODs from -31 to 47 come out uncut.
    """
    exact = np.nan_to_num(exact_lod(ops), posinf=1e9, neginf=-1e9)
    bias = np.clip(MIDDLE - np.floor(exact), -32, 31).astype(np.int64)
    lod = np.zeros(len(ops), np.int64)
    for value in np.unique(bias):
        chosen = np.flatnonzero(bias == value)
        trace, op_of = build.trace(ops, chosen)
        rows = build.Rows.of(model(_biased(trace, ops, int(value))), op_of)
        lod[chosen[rows.op]] = rows.lod
    return lod, bias * 256


def _biased(trace: Trace, ops: Ops, levels: int) -> Trace:
    extra = pack(S_FIELDS, S_WORDS, LOD_BIAS=levels * 256)
    if any(job.lod_bias for job in ops.jobs):
        raise ValueError("wanted samplers without a bias of their own")
    trace.s_sharp = trace.s_sharp | extra
    return trace


@dataclass(frozen=True)
class Accuracy:
    """Errors of LODs against exact log2 in levels: ops measured, worst, share rounded correctly."""

    ops: int
    lowest: float
    highest: float
    nearest: float

    @classmethod
    def of(cls, lod256: np.ndarray, exact: np.ndarray) -> Accuracy:
        error = lod256 / 256 - exact
        nearest = np.abs(error) <= 1 / 512 + 1e-9
        if not len(error):
            return cls(0, 0.0, 0.0, 1.0)
        return cls(len(error), float(error.min()), float(error.max()), float(nearest.mean()))

    @property
    def worst(self) -> float:
        return max(-self.lowest, self.highest)


def our_accuracy(
    oracle: Oracle, job: Job, model: Model = golden_model
) -> tuple[Accuracy, Accuracy]:
    """The model's LODs on one job's gradients: those in reach of the sampler, and those cut.

    A cut LOD must stand at its end of the range: zero and tiny gradients at 0, huge, infinite and
    NaN ones at MAX_LOD.
    """
    ops = Ops.of(oracle, [job])
    lod, bias = our_lod(ops, model)
    exact = np.nan_to_num(exact_lod(ops), nan=np.inf, posinf=np.inf, neginf=-np.inf) + bias / 256
    inside = (exact > 0) & (exact < LIMIT)
    cut = np.clip(exact, 0, LIMIT)
    return Accuracy.of(lod[inside], cut[inside]), Accuracy.of(lod[~inside], cut[~inside])


def device_accuracy(oracle: Oracle, device: str, job: Job) -> Accuracy:
    """A device's LODs against exact log2, where the chain does not cut the LOD."""
    ops = Ops.of(oracle, [job])
    exact = exact_lod(ops)
    measured = oracle.output(device, job)[:, 0].astype(np.float64)
    with np.errstate(invalid="ignore"):
        inside = (measured > 0) & (measured < job.mips - 1) & np.isfinite(exact)
    return Accuracy.of(measured[inside] * 256, exact[inside])


def h200_rule_error(oracle: Oracle, job: Job) -> np.ndarray:
    """Measured LOD of the H200 minus its own rule's, in 1/256, int64 [ops]; isotropic jobs."""
    ops = Ops.of(oracle, [job])
    size = np.array([[job.width, job.height]])
    rule = h200.gradient_lod(ops.rows[:, DDX][:, :2], ops.rows[:, DDY][:, :2], size)
    measured = oracle.output("h200", job)[:, 0].astype(np.float64) * 256
    return np.rint(measured).astype(np.int64) - np.clip(rule, 0, (job.mips - 1) * 256)
