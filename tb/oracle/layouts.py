"""AMD's address library: every mode's layouts, addresses and patterns (spec 05, 7)."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from oracle.addrlib import FULL, REPOSITORY

EXCERPT = REPOSITORY / "tb" / "data" / "oracle_layout"
SEED = 20261130
SURFACES, WHOLE_TEXELS, XOR_ROWS, ADDRESSES = 500, 4700, 150, 4


def folders() -> dict[str, Path]:
    """The sets that exist: always the excerpt, the full one where it lies beside the repo."""
    return {name: path for name, path in (("excerpt", EXCERPT), ("full", FULL)) if path.is_dir()}


def surfaces(folder: Path) -> list[dict]:
    """Rows of surfaces, refused ones too."""
    return list(_lines(folder / "surfaces.jsonl.gz"))


def addresses(folder: Path) -> dict[tuple[int, int], np.ndarray]:
    """Sampled addresses by surface and mip, each int64 [n, 4]: x, y, z, address."""
    with gzip.open(folder / "addr.csv.gz", "rt") as file:
        table = np.loadtxt(file, np.int64, delimiter=",", skiprows=1)
    table = table[np.lexsort((table[:, 1], table[:, 0]))]
    first = np.flatnonzero((np.diff(table[:, :2], axis=0, prepend=-1) != 0).any(axis=1))
    groups = np.split(table, first[1:])
    return {(int(group[0, 0]), int(group[0, 1])): group[:, 2:] for group in groups}


def whole_maps(folder: Path) -> Iterator[tuple[dict, list[np.ndarray]]]:
    """Surfaces with the address of every texel: one array [slices, rows, columns] for each mip."""
    for row in _lines(folder / "exhaustive.jsonl.gz"):
        mips, start = [], 0
        addr = np.array(row["addr"])
        for mip in range(row["mips"]):
            width, height = (max(1, row[side] >> mip) for side in "wh")
            slices = max(1, row["n"] >> mip) if row["dim"] == "3D" else row["n"]
            count = slices * height * width
            mips.append(addr[start : start + count].reshape(slices, height, width))
            start += count
        assert start == len(addr)
        yield row, mips


def xor_rows(folder: Path) -> list[dict]:
    """Addresses with a pipeBankXor."""
    with gzip.open(folder / "addr_pipebankxor.csv.gz", "rt") as file:
        names, *lines = file.read().splitlines()
    rows = [dict(zip(names.split(","), line.split(","), strict=True)) for line in lines]
    return [{k: v if k in ("chip", "mode") else int(v) for k, v in row.items()} for row in rows]


def patterns(folder: Path) -> Iterator[dict]:
    """Rows of all pipe and packer configurations, and those of the chips by name."""
    yield from _lines(folder / "patterns_all_configs.jsonl.gz")
    yield from _lines(folder / "patterns.jsonl.gz")


def excerpt(source: Path = FULL, target: Path = EXCERPT) -> None:
    """Write the committed excerpt: a sample of most files, the smaller whole maps, all patterns."""
    target.mkdir(parents=True, exist_ok=True)
    rng = random.Random(SEED)
    kept = rng.sample(surfaces(source), SURFACES)
    kept.sort(key=lambda row: row["id"])
    sampled = addresses(source)
    lines = ["sid,mip,x,y,z,addr"]
    for row in kept:
        for mip in range(row["mips"] if "refused" not in row else 0):
            texels = sampled.get((row["id"], mip), np.zeros((0, 4), np.int64)).tolist()
            for texel in rng.sample(texels, min(ADDRESSES, len(texels))):
                lines.append(",".join(map(str, (row["id"], mip, *texel))))  # noqa: PERF401
    whole = [r for r in _lines(source / "exhaustive.jsonl.gz") if len(r["addr"]) <= WHOLE_TEXELS]
    with gzip.open(source / "addr_pipebankxor.csv.gz", "rt") as file:
        head, *xors = file.read().splitlines()
    for name, texts in (
        ("surfaces.jsonl.gz", [json.dumps(row) for row in kept]),
        ("addr.csv.gz", lines),
        ("exhaustive.jsonl.gz", [json.dumps(row) for row in whole]),
        ("addr_pipebankxor.csv.gz", [head, *rng.sample(xors, XOR_ROWS)]),
    ):
        (target / name).write_bytes(gzip.compress(("\n".join(texts) + "\n").encode(), mtime=0))
    for name in ("patterns.jsonl.gz", "patterns_all_configs.jsonl.gz"):
        (target / name).write_bytes((source / name).read_bytes())


def _lines(path: Path) -> Iterator[dict]:
    with gzip.open(path, "rt") as file:
        yield from map(json.loads, file)


if __name__ == "__main__":
    excerpt()
