"""Quads for the front of the pipeline, and what the golden model makes of them."""

import numpy as np
from amaranth.hdl import Shape
from kit.packing import unpack
from lod_vectors import SPECIAL, float_pairs

from minmip.hw.beats import quad_operands
from minmip.sim.golden.numbers import float_sub
from minmip.sim.trace import SAMPLE_B

__all__ = ["quad_gradients", "random_columns", "random_operands"]


def random_columns(rng, shape, count):
    """Random bits in every field of a payload."""
    words = (Shape.cast(shape).width + 31) // 32
    return unpack(shape, rng.integers(0, 1 << 32, (count, words), np.uint32))


def random_operands(rng, count, cfg):
    """Columns of `quad_operands`: floats of all kinds and near each other, every opcode."""
    columns = random_columns(rng, quad_operands(cfg), count)
    pairs = np.stack([float_pairs(rng, count)[0][-count:] for _ in range(4 * cfg.axes)], axis=1)
    uvw = pairs.reshape(count, 4, cfg.axes)
    near = uvw[:, :1] ^ rng.integers(0, 1 << 32, uvw.shape) >> rng.integers(2, 32, uvw.shape)
    special = np.array(SPECIAL)[rng.integers(0, len(SPECIAL), uvw.shape)]
    kind = rng.random(uvw.shape)
    columns["uvw"] = np.select([kind < 0.2, kind < 0.6], [special, near], uvw)
    columns["opcode"] = np.where(rng.random(count) < 0.5, columns["opcode"] & 1, columns["opcode"])
    return columns


def quad_gradients(operands):
    """The quads with gradients of lane 0 for implicit opcodes (spec 02 "Inputs")."""
    implicit = (operands["opcode"] <= SAMPLE_B)[:, None]
    uvw = operands["uvw"]
    found = dict(operands)
    for name, lane in (("ddx", 1), ("ddy", 2)):
        found[name] = operands[name].copy()
        difference = float_sub(uvw[:, lane], uvw[:, 0])
        found[name][:, 0] = np.where(implicit, difference, operands[name][:, 0])
    return found
