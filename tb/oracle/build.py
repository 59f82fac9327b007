"""Traces of our model from measured requests: one plain T# and S# per job, one lane per op."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from minmip.sim import trace as trace_module
from minmip.sim.descriptor_words import S_FIELDS, S_WORDS, T_FIELDS, T_WORDS, pack
from minmip.sim.trace import FLAG_CLAMP, SAMPLE_D, SAMPLE_L, Trace
from oracle.data import CLAMP, DDX, DDY, LAYER, LEVEL, Job, Oracle

FORMAT_32_FLOAT = 22
TYPE_2D, TYPE_2D_ARRAY = 9, 13
CLAMP_CODE = {"W": 0, "M": 1, "C": 2, "O": 3, "B": 6}
FILTER_CODE = {"N": 0, "L": 1}
MIP_CODE = {"N": 1, "L": 2}
CLAMP_TO_LAST = CLAMP_CODE["C"]


@dataclass(eq=False)
class Ops:
    """Requests of many jobs in one row of arrays.

    Attributes
    ----------
    jobs : list of Job
    job : int64 [n]
        Index into `jobs`.
    rows : float32 [n, 12]
        Input columns (oracle/README.md).
    """

    jobs: list[Job]
    job: np.ndarray
    rows: np.ndarray

    @classmethod
    def of(cls, oracle: Oracle, jobs: list[Job]) -> Ops:
        rows = [oracle.rows(job) for job in jobs]
        index = np.repeat(np.arange(len(jobs)), [len(r) for r in rows])
        return cls(jobs, index, np.concatenate(rows))

    def __len__(self) -> int:
        return len(self.job)

    def per_op(self, value) -> np.ndarray:
        """Spread `value(job)` over the ops."""
        return np.array([value(job) for job in self.jobs])[self.job]


def u4_8(value: float) -> int:
    """Sampler and view LOD limits as a driver packs them: cut to 1/256, saturating."""
    return min(max(int(value * 256), 0), 0xFFF)


def s6_8(value: float) -> int:
    """Sampler bias as a driver packs it: cut toward zero (spec 01)."""
    return min(max(int(value * 256), -(1 << 13)), (1 << 13) - 1)


def texture(job: Job) -> np.ndarray:
    """T# words of the job's texture and its only view."""
    return pack(
        T_FIELDS,
        T_WORDS,
        FORMAT=FORMAT_32_FLOAT,
        TYPE=TYPE_2D_ARRAY if job.layers > 1 else TYPE_2D,
        WIDTH=job.width - 1,
        HEIGHT=job.height - 1,
        DEPTH=job.layers - 1,
        RESOURCE_LEVEL=1,
        LAST_LEVEL=job.mips - 1,
        MAX_MIP=job.mips - 1,
        MIN_LOD=u4_8(job.view_min_lod),
    )


def sampler(job: Job, clamp_address: bool = False) -> np.ndarray:
    """S# words; `clamp_address` replaces the address modes so that every footprint has texels.

    A gather takes the footprint of a bilinear filter whatever its sampler says.
    """
    codes = [CLAMP_TO_LAST if clamp_address else CLAMP_CODE[mode] for mode in job.address]
    anisotropic = 2 if job.max_aniso > 1 else 0
    linear = job.shader == "gat2u"
    return pack(
        S_FIELDS,
        S_WORDS,
        CLAMP_X=codes[0],
        CLAMP_Y=codes[1],
        CLAMP_Z=codes[2],
        MAX_ANISO_RATIO=max(job.max_aniso, 1).bit_length() - 1,
        MIN_LOD=u4_8(job.min_lod),
        MAX_LOD=u4_8(job.max_lod),
        LOD_BIAS=s6_8(job.lod_bias),
        XY_MAG_FILTER=anisotropic | (1 if linear else FILTER_CODE[job.mag]),
        XY_MIN_FILTER=anisotropic | (1 if linear else FILTER_CODE[job.min]),
        MIP_FILTER=MIP_CODE[job.mip],
        FILTER_MODE=2 if job.maximum else 0,
    )


def trace(
    ops: Ops,
    chosen: np.ndarray,
    *,
    uv: np.ndarray | None = None,
    level: np.ndarray | None = None,
    clamp: np.ndarray | None = None,
    clamp_address: bool = False,
) -> tuple[Trace, np.ndarray]:
    """Trace of the chosen ops, four to a quad where they share a job.

    Parameters
    ----------
    chosen : int64 [m]
        Ops to run, ascending.
    uv : float [m, 2], optional
        Coordinates instead of the measured ones.
    level : float [m], optional
        Explicit level instead of the measured level or gradients.
    clamp : float [m], optional
        LOD clamp operand instead of the measured one; it is given only to shaders that have one.
    clamp_address : bool
        See `sampler`.

    Returns
    -------
    trace : Trace
    op_of : int64 [quads, 4]
        Position in `chosen` of each lane, -1 for an idle lane.
    """
    job = ops.job[chosen]
    rows = ops.rows[chosen]
    used, job_of, count = np.unique(job, return_inverse=True, return_counts=True)
    first = np.cumsum(count) - count
    rank = np.arange(len(job)) - first[job_of]
    quads = -(-count // 4)
    quad = (np.cumsum(quads) - quads)[job_of] + rank // 4
    lane = rank % 4
    total = int(quads.sum())

    op_of = np.full((total, 4), -1, np.int64)
    op_of[quad, lane] = np.arange(len(job))
    quad_job = np.repeat(used, quads)

    def lanes(values, width=None):
        shape = (total, 4) if width is None else (total, 4, width)
        out = np.zeros(shape, np.float32)
        out[quad, lane] = values
        return out

    coordinates = rows[:, :3].copy()
    if uv is not None:
        coordinates[:, :2] = uv
    gradient = np.array([j.by_gradient for j in ops.jobs])[quad_job] & (level is None)
    has_clamp = np.array([j.has_clamp for j in ops.jobs])[quad_job]
    live = op_of >= 0
    built = Trace(
        t_sharp=np.stack([texture(j) for j in ops.jobs]),
        s_sharp=np.stack([sampler(j, clamp_address) for j in ops.jobs]),
        opcode=np.where(gradient, SAMPLE_D, SAMPLE_L).astype(np.uint8),
        uvw=lanes(coordinates, 3),
        flags=np.where(has_clamp, FLAG_CLAMP, 0).astype(np.uint8),
        t_index=quad_job.astype(np.uint32),
        s_index=quad_job.astype(np.uint32),
        exec_mask=(live << np.arange(4)).sum(axis=1).astype(np.uint8),
        slice=lanes(rows[:, LAYER]),
        ddx=lanes(rows[:, DDX], 3),
        ddy=lanes(rows[:, DDY], 3),
        lod=lanes(rows[:, LEVEL] if level is None else level),
        clamp=lanes(rows[:, CLAMP] if clamp is None else clamp),
    )
    return built, op_of


@dataclass(eq=False)
class Rows:
    """Texel samples of the model, one row each, by op and then in the model's order.

    `op` is the position in the chosen ops; `weight` is in 1/65536 of its mip.
    """

    op: np.ndarray
    mip: np.ndarray
    x: np.ndarray
    y: np.ndarray
    z: np.ndarray
    weight: np.ndarray
    lod: np.ndarray

    @classmethod
    def of(cls, result: trace_module.Result, op_of: np.ndarray) -> Rows:
        pattern, start = result.pattern, result.pattern_start
        if pattern is None or start is None:
            raise ValueError("wanted a result with its sample pattern")
        if result.error.any():
            raise ValueError(
                f"wanted legal requests only, error codes {set(result.error.tolist())}"
            )
        counts = np.diff(start.astype(np.int64))
        quad = np.repeat(np.arange(len(counts)), counts)
        fields = (pattern[n].astype(np.int64) for n in ("mip", "x", "y", "z", "weight", "lod"))
        return cls(op_of[quad, pattern["lane"]], *fields)

    def where(self, keep: np.ndarray) -> Rows:
        """Keep the rows that the mask names."""
        return Rows(*(getattr(self, name)[keep] for name in self.__dataclass_fields__))

    @staticmethod
    def join(parts: list[Rows]) -> Rows:
        """All parts' rows by op; an op's rows of an earlier part come first."""
        names = Rows.__dataclass_fields__
        joined = [np.concatenate([getattr(part, n) for part in parts]) for n in names]
        order = np.argsort(joined[0], kind="stable")
        return Rows(*(column[order] for column in joined))
