"""Prints every table of the GPU oracle in Markdown.

    .venv/bin/python tb/oracle/report.py [FOLDER]

FOLDER is a data set; default: the full one beside the repository, else the committed excerpt.
"""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from oracle import anisotropy, data, lod
from oracle.data import Job, Oracle
from oracle.judge import RULES, judge

KINDS = {"level": "Explicit levels, op by op", "gradient": "Isotropic gradients, op by op"}


def jobs_of(oracle: Oracle, kind: str) -> list[Job]:
    """The judged jobs: `level` by explicit level, `gradient` by gradient without anisotropy."""
    by_gradient = kind == "gradient"
    jobs = [job for job in oracle.jobs if oracle.has("h200", job) and not job.anisotropic]
    return [job for job in jobs if job.by_gradient == by_gradient]


def judge_table(groups: dict[str, dict[str, int]]) -> str:
    """One row per group: ops, equal, how many each rule helped to explain, unexplained."""
    head = ["group", "ops", "equal", *RULES, "unexplained"]
    rows = [[name, *row.values()] for name, row in groups.items()]
    total = [sum(column) for column in zip(*(row.values() for row in groups.values()), strict=True)]
    return _table(head, [*rows, ["all", *total]])


def lod_table(oracle: Oracle) -> str:
    """Our LOD and the devices' against exact log2, and the H200 against its own rule."""
    head = [
        "job",
        "ops",
        "ours: worst",
        "nearest",
        "H200",
        "its own rule",
        "SwiftShader",
        "lavapipe",
    ]
    rows = []
    for job in lod.jobs(oracle):
        inside, cut = lod.our_accuracy(oracle, job)
        row = [job.name, inside.ops + cut.ops, f"{inside.worst:.5f}", f"{inside.nearest:.2%}"]
        own = "-"
        if job.max_aniso <= 1:
            error = lod.h200_rule_error(oracle, job)
            own = f"{error.min()} .. {error.max()} /256, {np.mean(error == 0):.0%} equal"
        devices = [_device(oracle, name, job) for name in ("h200", "swiftshader", "lavapipe")]
        rows.append([*row, devices[0], own, *devices[1:]])
    return _table(head, rows)


def anisotropy_table(oracle: Oracle) -> str:
    """Centre and spread along the line, ours against the H200."""
    head = ["jobs", "ops", "centre apart / line: median, 95 %", "spread ours / H200: 5, 50, 95 %"]
    jobs = anisotropy.jobs(oracle)
    parts = [("E64", ratio) for ratio in (2, 4, 8, 16)] + [("X", None)]
    rows = []
    for group, ratio in parts:
        chosen = [j for j in jobs if j.group == group and ratio in (None, j.max_aniso)]
        found = anisotropy.compare(oracle, chosen)
        centre = ", ".join(f"{value:.4f}" for value in found.centre)
        spread = ", ".join(f"{value:.2f}" for value in found.spread)
        rows.append(
            [f"{group} {ratio}:1" if ratio else f"{group}, all ratios", found.ops, centre, spread]
        )
    return _table(head, rows)


def _device(oracle: Oracle, device: str, job: Job) -> str:
    if not oracle.has(device, job):
        return "-"
    found = lod.device_accuracy(oracle, device, job)
    return f"{found.lowest:+.4f} .. {found.highest:+.4f}"


def _table(head: list, rows: list[list]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def tables(oracle: Oracle) -> list[str]:
    """Every table under its heading."""
    judged = [
        f"### {title}\n\n{judge_table(judge(oracle, jobs_of(oracle, kind)).groups())}"
        for kind, title in KINDS.items()
    ]
    return [
        *judged,
        f"### LOD against exact log2, in levels\n\n{lod_table(oracle)}",
        f"### Anisotropic footprints along their line\n\n{anisotropy_table(oracle)}",
    ]


if __name__ == "__main__":
    default = data.folders().get("full", data.EXCERPT)
    print("\n\n".join(tables(Oracle(Path(sys.argv[1]) if len(sys.argv) > 1 else default))))
