"""Makes the committed excerpts from the full data sets, the same bytes each time.

    .venv/bin/python tb/oracle/excerpt.py

GPU: every n-th op of every job, n by group (`STRIDE`), in the same form as the full set, H200 only.
Layouts: see `addrlib.excerpt`.
"""

import gzip
import json
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from oracle import addrlib
from oracle.data import EXCERPT, FULL, Oracle

STRIDE = {
    "A2": 32,
    "A3np": 8,
    "A3rect": 8,
    "A7": 4,
    "B13": 8,
    "B16": 8,
    "C1": 32,
    "C2": 8,
    "C3": 32,
}
STRIDE |= {"C4": 8, "C5": 16, "E64": 4, "G1": 8, "X": 1}


def gpu(source: Path = FULL, target: Path = EXCERPT) -> None:
    """Write the GPU excerpt."""
    oracle = Oracle(source)
    target.mkdir(parents=True, exist_ok=True)
    entries, inputs, outputs = [], {}, {}
    for entry, job in zip(oracle.entries, oracle.jobs, strict=True):
        if not oracle.has("h200", job):
            continue
        # C4 reads the rows of C2: the stride belongs to the input, so that the rows are shared.
        name = job.inputs.partition("_")[2]
        stride = STRIDE["X" if name.startswith("X") else name]
        kept = np.arange(-job.first % stride, job.ops, stride)
        inputs[job.inputs] = oracle.input(job.inputs)[::stride]
        entries.append(entry | {"first": (job.first + int(kept[0])) // stride, "nops": len(kept)})
        if job.fill == "onehot":
            op, texel, weight = oracle.weights("h200", job)
            keep = np.isin(op, kept)
            count = np.bincount(op, minlength=job.ops)[kept]
            outputs[f"{job.key}__cnt"] = count.astype(np.uint16)
            outputs[f"{job.key}__idx"] = texel[keep].astype(np.uint16)
            outputs[f"{job.key}__w"] = weight[keep]
        else:
            outputs[job.key] = oracle.output("h200", job)[kept]
    np.savez_compressed(target / "inputs.npz", **inputs)
    np.savez_compressed(target / "h200.npz", **outputs)
    text = "[\n" + ",\n".join(json.dumps(entry) for entry in entries) + "\n]\n"
    (target / "jobs.json.gz").write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    gpu()
    addrlib.excerpt()
