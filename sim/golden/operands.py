"""What an opcode feeds the LOD unit: gradients, level, bias, clamp, by lane (spec 02 "Inputs")."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from minmip.hw.config import LodConfig
from minmip.sim.golden.descriptor import Image, Sampler
from minmip.sim.golden.lod import (
    LOD_MIN,
    GradientLod,
    explicit_lod,
    gradient_lod,
    op_bias,
    op_clamp,
)
from minmip.sim.golden.numbers import bits_of, float_sub
from minmip.sim.trace import FLAG_CLAMP, SAMPLE_B, SAMPLE_D, SAMPLE_L, Trace

__all__ = ["LaneOperands", "lane_operands"]


@dataclass(eq=False)
class LaneOperands:
    """LOD before bias, by lane.

    `line` [n, 2] is the major gradient, float32 patterns (the anisotropic line); `bias` and
    `clamp` [n] count 1/256.
    """

    lod: GradientLod
    line: np.ndarray
    bias: np.ndarray
    clamp: np.ndarray


def lane_operands(
    trace: Trace,
    quad: np.ndarray,
    lane: np.ndarray,
    image: Image,
    sampler: Sampler,
    config: LodConfig,
) -> LaneOperands:
    """Collect the operands of lanes, and turn their gradients or levels into LODs.

    Parameters
    ----------
    trace : Trace
        Where the operands are.
    quad, lane : int64 [n]
        Which lanes, in quad order.
    image, sampler
        Rows by lane.
    config : LodConfig
        Widths and table of the LOD algorithm.
    """
    opcode = trace.opcode[quad]
    axes = int(image.axes.max(initial=1))

    def operand(name, rows):
        return bits_of(getattr(trace, name)[quad[rows], lane[rows]])

    level = np.zeros(len(quad), np.int64)
    rows = np.flatnonzero(opcode == SAMPLE_L)
    if len(rows):
        level[rows] = operand("lod", rows)
    lod = explicit_lod(level)
    line = np.zeros((len(quad), 2), np.int64)

    def put(rows, result: GradientLod, source, ddx, ddy):
        for name in ("lod", "undefined", "taps_log2", "major_is_x"):
            getattr(lod, name)[rows] = getattr(result, name)[source]
        major = np.where(result.major_is_x[:, None], ddx, ddy)[:, :2]
        line[rows, : major.shape[1]] = major[source]

    rows = np.flatnonzero(opcode == SAMPLE_D)
    if len(rows):
        ddx, ddy = operand("ddx", rows)[:, :axes], operand("ddy", rows)[:, :axes]
        result = gradient_lod(ddx, ddy, image.take(rows), sampler.take(rows), config)
        put(rows, result, slice(None), ddx, ddy)

    rows = np.flatnonzero(opcode <= SAMPLE_B)
    if len(rows):
        # One pair of gradients for the whole quad: its first lane here stands for all of them.
        leads = np.ones(len(rows), bool)
        leads[1:] = quad[rows[1:]] != quad[rows[:-1]]
        leaders = rows[leads]
        corner = bits_of(np.ascontiguousarray(trace.uvw[quad[leaders], :3, :axes]))
        ddx = float_sub(corner[:, 1], corner[:, 0])
        ddy = float_sub(corner[:, 2], corner[:, 0])
        result = gradient_lod(ddx, ddy, image.take(leaders), sampler.take(leaders), config)
        put(rows, result, leads.cumsum() - 1, ddx, ddy)

    bias = np.zeros(len(quad), np.int64)
    rows = np.flatnonzero(opcode == SAMPLE_B)
    if len(rows):
        bias[rows] = op_bias(operand("lod", rows))
    clamp = np.full(len(quad), LOD_MIN, np.int64)
    rows = np.flatnonzero(trace.flags[quad] & FLAG_CLAMP)
    if len(rows):
        clamp[rows] = op_clamp(operand("clamp", rows))
    return LaneOperands(lod=lod, line=line, bias=bias, clamp=clamp)
