"""From the model's sample pattern to the answer that the measured shader would return.

The fills of the textures make the answer show the footprint: texel ids, the four bilinear weights
(parity), texel coordinates (ramp), the LOD (mipconst), the slice (layer) or the whole weight list
(onehot). Final weights are those of the H200 (`h200.requantise`), exact to the bit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from oracle import h200
from oracle.build import Ops, Rows
from oracle.data import U, V

NEAREST, LINEAR = "N", "L"


def our_fixed_coordinate(
    u: np.ndarray, size: np.ndarray | int, linear: np.ndarray | bool
) -> np.ndarray:
    """Texel coordinate in 1/256 by spec 02 steps 0 and 2 (RNE), where saturation plays no part."""
    steps = np.rint(u.astype(np.float64) * 2.0**32) * 2.0**-32 * size
    return np.rint(np.where(linear, steps - 0.5, steps) * 256).astype(np.int64)


@dataclass(eq=False)
class Levels:
    """One row per op and mip level that the request touches, by op, then mip.

    Attributes
    ----------
    op, mip : int64 [n]
        Position in the chosen ops, and the level.
    weight : int64 [n]
        Share of the level in 1/256.
    t0 : int64 [n, 2]
        First texel of the footprint on each axis, before the address mode.
    w1 : int64 [n, 2]
        Weight of the second texel on each axis in 1/256; 0 under POINT.
    inside : bool [n, 4]
        Corners (j, i) in row-major order that no border takes away.
    size : int64 [n, 2]
        Width and height of the level.
    linear : bool [n]
        Bilinear, else point.
    split : int64 [n]
        Column 1's weight as the H200 splits it: none where u is clamped beyond the outer texels,
        because its footprint is then one column, not two columns of the same texel.
    """

    op: np.ndarray
    mip: np.ndarray
    weight: np.ndarray
    t0: np.ndarray
    w1: np.ndarray
    inside: np.ndarray
    size: np.ndarray
    linear: np.ndarray
    split: np.ndarray

    @classmethod
    def of(cls, ops: Ops, chosen: np.ndarray, probe: Rows, h200_coordinates: bool) -> Levels:
        """Footprints at the LODs of `probe`, the model's rows with clamped addresses."""
        key, first = np.unique(probe.op * 16 + probe.mip, return_index=True)
        op, mip, lod = key >> 4, key & 15, probe.lod[first]
        job = ops.job[chosen[op]]

        def per(value):
            return np.array([value(j) for j in ops.jobs])[job]

        last = per(lambda j: j.mips - 1)
        limited = np.clip(lod, 0, last * 256)
        share = np.where(mip == limited >> 8, 256 - (limited & 255), limited & 255)
        weight = np.where(per(lambda j: j.mip == LINEAR), share, 256)
        gather = per(lambda j: j.shader == "gat2u")
        mag, minify = per(lambda j: j.mag == LINEAR), per(lambda j: j.min == LINEAR)
        linear = np.where(lod <= 0, mag, minify) | gather
        size = np.maximum(per(lambda j: (j.width, j.height)) >> mip[:, None], 1)
        uv = ops.rows[chosen[op]][:, [U, V]]
        rule = h200.fixed_coordinate if h200_coordinates else our_fixed_coordinate
        fixed = rule(uv, size, linear[:, None])
        # POINT: a texel of full weight, whatever the fraction.
        t0, w1 = fixed >> 8, np.where(linear[:, None], fixed & 255, 0)
        corner = t0[:, None, :] + np.array([[0, 0], [1, 0], [0, 1], [1, 1]])
        border = np.stack([per(lambda j, a=a: j.address[a] == "B") for a in (0, 1)], 1)
        inside = ~border[:, None, :] | ((corner >= 0) & (corner < size[:, None, :]))
        mode, left, width = per(lambda j: j.address[0]), t0[:, 0], size[:, 0]
        beyond = (mode == "C") & (left < 0) | (mode == "O") & (left < -width)
        beyond |= np.isin(mode, ["C", "O"]) & (left >= width - 1)
        split = np.where(beyond, 0, w1[:, 0])
        return cls(op, mip, weight, t0, w1, np.asarray(inside.all(axis=2)), size, linear, split)

    def where(self, keep: np.ndarray, **changed: np.ndarray) -> Levels:
        """Keep the levels that the mask names, with some columns replaced."""
        columns = {name: getattr(self, name)[keep] for name in self.__dataclass_fields__}
        return Levels(**columns | changed)

    @property
    def kept(self) -> np.ndarray:
        """Corners that the model must touch: inside and of non-zero weight, bool [n, 4]."""
        second = self.w1 > 0
        weighty = [np.ones(len(self.op), bool), second[:, 0], second[:, 1], second.all(axis=1)]
        return self.inside & np.stack(weighty, axis=1)

    def corners(self, rows: Rows, ops: int) -> tuple[Rows, np.ndarray, np.ndarray, np.ndarray]:
        """Find the footprint corner of each row of the model.

        Returns
        -------
        rows, level, corner : the rows of agreeing levels, their index into `self`, corner 0..3
        agree : bool [ops]
            False where the model's rows are not exactly the kept corners with their weights.
        """
        key = self.op * 16 + self.mip
        level = np.searchsorted(key, rows.op * 16 + rows.mip)
        level = np.minimum(level, len(key) - 1)
        known = key[level] == rows.op * 16 + rows.mip
        agree = np.zeros(ops, bool)
        agree[self.op] = True
        agree[rows.op[~known]] = False
        rows, level = rows.where(known), level[known]
        order = np.argsort(level, kind="stable")
        rows, level = rows.where(order), level[order]

        kept = self.kept
        full = np.bincount(level, minlength=len(key)) == kept.sum(axis=1)
        agree[self.op[~full]] = False
        rows, level = rows.where(full[level]), level[full[level]]
        _, corner = np.nonzero(kept & full[:, None])
        i, j = corner & 1, corner >> 1
        wx, wy = self.w1[level, 0], self.w1[level, 1]
        product = np.where(i == 1, wx, 256 - wx) * np.where(j == 1, wy, 256 - wy)
        agree[rows.op[rows.weight != product]] = False
        return rows, level, corner, agree


@dataclass(eq=False)
class Answers:
    """What shaders return: a vector per op, and a weight list for one-hot textures.

    Attributes
    ----------
    vector : float64 [n, 4]
        Unused words are 0.
    op, texel, weight : int64 [m]
        Weight lists in 1/256, by op, then texel index in the chain; no zero weights.
    """

    vector: np.ndarray
    op: np.ndarray
    texel: np.ndarray
    weight: np.ndarray

    @classmethod
    def measured(cls, oracle, device: str, ops: Ops) -> Answers:
        """Collect the device's outputs of all jobs."""
        vectors, lists, start = [], [], 0
        for job, count in zip(ops.jobs, np.bincount(ops.job, minlength=len(ops.jobs)), strict=True):
            vector = np.zeros((count, 4))
            if job.fill == "onehot":
                op, texel, weight = oracle.weights(device, job)
                lists.append((op + start, texel, weight))
            else:
                output = oracle.output(device, job)
                vector[:, : output.shape[1]] = output
            vectors.append(vector)
            start += count
        columns = [np.concatenate(c) for c in zip(*lists, strict=True)] if lists else [[], [], []]
        op, texel = (np.asarray(c, np.int64) for c in columns[:2])
        # Anisotropic probes have finer weights than 1/256; they are not judged by weight.
        weight = np.rint(np.asarray(columns[2], np.float64) * 256).astype(np.int64)
        return cls(np.concatenate(vectors), op, texel, weight)

    def of(self, chosen: np.ndarray) -> Answers:
        """Answers of the chosen ops, renumbered."""
        position = np.full(len(self.vector), -1, np.int64)
        position[chosen] = np.arange(len(chosen))
        op = position[self.op]
        keep = op >= 0
        return Answers(self.vector[chosen], op[keep], self.texel[keep], self.weight[keep])

    def equal(self, other: Answers) -> np.ndarray:
        """Ops whose vectors and weight lists are the same, bool [n]."""
        same = (self.vector == other.vector).all(axis=1)
        counts = [np.bincount(a.op, minlength=len(same)) for a in (self, other)]
        same &= counts[0] == counts[1]
        mine, theirs = (a.op[np.isin(a.op, np.flatnonzero(same))] for a in (self, other))
        assert np.array_equal(mine, theirs)
        at = [np.isin(a.op, np.flatnonzero(same)) for a in (self, other)]
        differs = (self.texel[at[0]] != other.texel[at[1]]) | (
            self.weight[at[0]] != other.weight[at[1]]
        )
        same[mine[differs]] = False
        return same


def answer(ops: Ops, chosen: np.ndarray, levels: Levels, rows: Rows, level, corner):
    """Answers of the model's rows.

    Returns
    -------
    answers : Answers
    small : bool [n]
        Ops with a texel whose final weight falls below 1/256: we touch it, the H200 does not.
    """
    count = len(chosen)
    job = ops.job[chosen[rows.op]]
    i, j = corner & 1, corner >> 1
    share = h200.requantise(levels.split[level], levels.w1[level, 1], levels.weight[level], i, j)
    fill = np.array([j.fill for j in ops.jobs])[job]
    vector = np.zeros((count, 4))

    def add(mask, word, value):
        words = np.broadcast_to(word, rows.op.shape)[mask]
        total = np.bincount(
            rows.op[mask] * 4 + words, weights=(value * share)[mask] / 256, minlength=count * 4
        )
        vector[...] += total.reshape(count, 4)

    add(fill == "parity", (rows.x & 1) + 2 * (rows.y & 1), np.ones_like(rows.x))
    add(fill == "ramp", 0, rows.x)
    add(fill == "ramp", 1, rows.y)
    add(fill == "mipconst", 0, rows.mip)
    add(fill == "layer", 0, rows.z)
    add(fill == "id", 0, texel_id(rows))
    maximum = np.array([j.maximum for j in ops.jobs])[ops.job[chosen]]
    vector[maximum] = vector[maximum] > 0

    hot = fill == "onehot"
    starts = np.zeros((len(ops.jobs), 16), np.int64)
    for k, each in enumerate(ops.jobs):
        starts[k, : each.mips] = each.mip_start[:-1]
    texel = starts[job, rows.mip] + rows.y * levels.size[level, 0] + rows.x
    key, inverse = np.unique(rows.op[hot] << 16 | texel[hot], return_inverse=True)
    weight = np.bincount(inverse, weights=share[hot], minlength=len(key)).astype(np.int64)
    small = np.zeros(count, bool)
    small[key[weight == 0] >> 16] = True
    key, weight = key[weight > 0], weight[weight > 0]
    return Answers(vector, key >> 16, key & 0xFFFF, weight), small


def texel_id(rows: Rows) -> np.ndarray:
    """The word that an id texture holds at each texel."""
    return (1 << 31) | rows.mip << 26 | rows.y << 15 | rows.x
