"""Holds the model against the H200, op by op: equal, explained by named rules, or unexplained.

A difference counts as explained only if the model, given the H200's number by that rule's formula
(`h200`), returns the measured answer to the bit. Rules are tried from none to all, and a rule may
speak only where its formula and ours give different numbers for the op.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from minmip.sim import golden
from minmip.sim.trace import Result, Trace
from oracle import build, h200
from oracle.answers import Answers, Levels, answer, texel_id
from oracle.build import Ops, Rows
from oracle.data import CLAMP, DDX, DDY, LEVEL, Job, Oracle

Model = Callable[[Trace], Result]

RULES = {
    "coordinate": "coordinates cut to 21 bits, POINT floors, LINEAR rounds half up",
    "number": "explicit LOD and clamp operand truncated to 8 fraction bits",
    "lod": "the H200's own LOD of the gradients",
    "fit": "that LOD rule's own error, at most 2/256",
    "small": "texels of final weight below 1/256 absent",
}
"""The kinds of difference that oracle/README.md names."""


def golden_model(trace: Trace) -> Result:
    """The model under judgement."""
    return golden.run(trace, pattern=True)


@dataclass(frozen=True)
class Variant:
    """Which of the H200's numbers the model is given."""

    coordinate: bool = False
    number: bool = False
    lod: bool = False
    fit: int = 0

    @property
    def rules(self) -> frozenset[str]:
        return frozenset(name for name in ("coordinate", "number", "lod", "fit") if self[name])

    def __getitem__(self, name: str) -> bool:
        return bool(getattr(self, name))


def variants(by_gradient: bool) -> list[Variant]:
    """Every set of rules, the fewest first; for gradients our own LOD first."""
    numbers = [
        Variant(coordinate=c, number=n)
        for c, n in sorted(itertools.product((False, True), repeat=2), key=sum)
    ]
    if not by_gradient:
        return numbers
    steps = sorted(range(-h200.FIT_ERROR, h200.FIT_ERROR + 1), key=abs)
    fitted = [Variant(v.coordinate, v.number, True, step) for step in steps for v in numbers]
    return numbers + fitted


@dataclass(eq=False)
class Verdict:
    """The judgement of every op.

    Attributes
    ----------
    ops : Ops
    found : int64 [n]
        Index into `variants` of the first that gives the measured answer, -1 if none does.
    small : bool [n]
        The answer lacks a texel of weight below 1/256.
    """

    ops: Ops
    variants: list[Variant]
    found: np.ndarray
    small: np.ndarray = field(repr=False)

    def needs(self, rule: str) -> np.ndarray:
        """Ops that the rule helps to explain, bool [n]."""
        if rule == "small":
            return self.small & (self.found >= 0)
        wanted = np.array([rule in v.rules for v in self.variants] + [False])
        return wanted[self.found]

    @property
    def unexplained(self) -> np.ndarray:
        return self.found < 0

    @property
    def equal(self) -> np.ndarray:
        """Ops that need no rule."""
        return (self.found == 0) & ~self.small

    def groups(self) -> dict[str, dict[str, int]]:
        """Counts by group of jobs, in the order of the jobs."""
        group = np.array([job.group for job in self.ops.jobs])
        table = {}
        for name in dict.fromkeys(group):
            at = (group == name)[self.ops.job]
            table[name] = {
                "ops": int(at.sum()),
                "equal": int((self.equal & at).sum()),
                **{rule: int((self.needs(rule) & at).sum()) for rule in RULES},
                "unexplained": int((self.unexplained & at).sum()),
            }
        return table


def judge(oracle: Oracle, jobs: list[Job], model: Model = golden_model) -> Verdict:
    """Compare the jobs' ops with the H200. All jobs by gradient, or none; none anisotropic."""
    by_gradient = jobs[0].by_gradient
    if any(job.anisotropic or job.by_gradient != by_gradient for job in jobs):
        raise ValueError("wanted jobs that are all by gradient or all by level, none anisotropic")
    ops = Ops.of(oracle, jobs)
    measured = Answers.measured(oracle, "h200", ops)
    tried = variants(by_gradient)
    found = np.full(len(ops), -1, np.int64)
    small = np.zeros(len(ops), bool)
    for index, variant in enumerate(tried):
        chosen = np.flatnonzero(found < 0)
        if variant.number:
            chosen = chosen[_numbers_differ(ops, chosen)]
        if not len(chosen):
            continue
        expected, absent = predict(ops, chosen, variant, model)
        hit = measured.of(chosen).equal(expected)
        found[chosen[hit]] = index
        small[chosen[hit]] = absent[hit]
    return Verdict(ops, tried, found, small)


def predict(ops: Ops, chosen: np.ndarray, variant: Variant, model: Model):
    """What the H200 would answer if the model were right and given the variant's numbers.

    Returns
    -------
    answers : Answers
    small : bool [n]
    """
    given = _given(ops, chosen, variant)

    def run(uv=None, clamp_address=False, subset=None):
        keep = np.arange(len(chosen)) if subset is None else subset
        part = {name: value[keep] for name, value in given.items()}
        trace, op_of = build.trace(ops, chosen[keep], uv=uv, clamp_address=clamp_address, **part)
        rows = Rows.of(model(trace), op_of)
        rows.op = keep[rows.op]
        return rows

    probe, rows = run(clamp_address=True), run()
    levels = Levels.of(ops, chosen, probe, h200_coordinates=False)
    rows, level, corner, agree = levels.corners(rows, len(chosen))
    if variant.coordinate:
        ours, levels = levels, Levels.of(ops, chosen, probe, h200_coordinates=True)
        rows = _at_h200_coordinates(levels, run, len(chosen))
        rows, level, corner, agrees_there = levels.corners(rows, len(chosen))
        differs = np.zeros(len(chosen), bool)
        differs[levels.op[((levels.t0 != ours.t0) | (levels.w1 != ours.w1)).any(axis=1)]] = True
        agree &= agrees_there & differs
    expected, small = answer(ops, chosen, levels, rows, level, corner)
    gather = np.flatnonzero(ops.per_op(lambda job: job.shader == "gat2u")[chosen])
    if len(gather):
        expected.vector[gather], whole = _gather(levels, run, rows, level, corner, gather)
        agree[gather] &= whole
    expected.vector[~agree] = np.nan  # equals nothing
    return expected, small


def rounds_to_nearest(oracle: Oracle, jobs: list[Job], model: Model = golden_model) -> np.ndarray:
    """Ops whose rows stay when level and clamp operand are rounded to 1/256 (RNE) first, bool [n].

    A model that truncates as the H200 does would look equal to it; by spec 02 ours rounds.
    """
    ops = Ops.of(oracle, jobs)
    every = np.arange(len(ops))
    rounded = [np.rint(ops.rows[:, column] * 256) / np.float32(256) for column in (LEVEL, CLAMP)]
    level = None if jobs[0].by_gradient else rounded[0]
    before, after = (
        Rows.of(model(trace), op_of)
        for trace, op_of in (
            build.trace(ops, every),
            build.trace(ops, every, level=level, clamp=rounded[1]),
        )
    )
    same = np.bincount(before.op, minlength=len(ops)) == np.bincount(after.op, minlength=len(ops))
    before, after = (rows.where(same[rows.op]) for rows in (before, after))
    for name in ("mip", "x", "y", "z", "weight", "lod"):
        same[before.op[getattr(before, name) != getattr(after, name)]] = False
    return same


def _numbers_differ(ops: Ops, chosen: np.ndarray) -> np.ndarray:
    """Ops whose explicit level or clamp operand truncates to another 1/256 step than it rounds."""
    differ = np.zeros(len(chosen), bool)
    for column, used in (
        (LEVEL, lambda job: not job.by_gradient),
        (CLAMP, lambda job: job.has_clamp),
    ):
        value = ops.rows[chosen][:, column].astype(np.float64)
        differ |= ops.per_op(used)[chosen] & (np.trunc(value * 256) != np.rint(value * 256))
    return differ


def _given(ops: Ops, chosen: np.ndarray, variant: Variant) -> dict[str, np.ndarray]:
    rows = ops.rows[chosen]
    given = {}
    if variant.lod:
        job = ops.job[chosen]
        size = np.array([(j.width, j.height) for j in ops.jobs])[job]
        lod = h200.gradient_lod(rows[:, DDX][:, :2], rows[:, DDY][:, :2], size)
        given["level"] = ((lod + variant.fit) / 256).astype(np.float32)
    if variant.number:
        given["clamp"] = h200.cut(rows[:, CLAMP])
        if not ops.jobs[0].by_gradient:
            given["level"] = h200.cut(rows[:, LEVEL])
    return given


def _at_h200_coordinates(levels: Levels, run, count: int) -> Rows:
    """Rows of the model at coordinates that are the H200's to the 1/256 texel.

    The two mips of a trilinear op round apart, so each is run at coordinates of its own.
    """
    first = np.concatenate([[True], levels.op[1:] != levels.op[:-1]])
    found = []
    for part in (first, ~first):
        op = levels.op[part]
        if len(op):
            rows = run(uv=_centre(levels.where(part)), subset=op)
            wanted = np.full(count, -1)
            wanted[op] = levels.mip[part]
            found.append(rows.where(rows.mip == wanted[rows.op]))
    return Rows.join(found)


def _centre(levels: Levels) -> np.ndarray:
    """Normalised coordinates at which each level has its footprint exactly.

    Under POINT that is the texel's centre.
    """
    fixed = levels.t0 * 256 + levels.w1 + 128
    exact = fixed / (256 * levels.size)
    rounded = exact.astype(np.float32)
    assert np.all(np.abs(rounded - exact) * 256 * levels.size < 0.25)
    return rounded


def _gather(levels: Levels, run, rows: Rows, level, corner, gather: np.ndarray):
    """The four texel ids, from a run in the middle of the footprint where all four carry weight.

    Returns
    -------
    ids : float64 [gather, 4]
    whole : bool [gather]
        The rows of the request itself are the same texels at the same corners.
    """
    at = np.isin(levels.op, gather)
    middle = levels.where(at, w1=np.full((len(gather), 2), 128))
    found, _, place, agree = middle.corners(
        run(uv=_centre(middle), subset=gather), int(gather.max()) + 1
    )
    ids = np.zeros((len(agree), 4), np.int64)  # a corner outside the border keeps 0
    ids[found.op, place] = texel_id(found)
    mine = at[level]
    differs = ids[rows.op[mine], corner[mine]] != texel_id(rows)[mine]
    agree[rows.op[mine][differs]] = False
    return ids[gather][:, [2, 3, 1, 0]], agree[gather]
