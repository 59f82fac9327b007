"""AMD's address library: layouts and addresses of one-byte LINEAR and 256B_S surfaces (spec 05, 7).

These are the layouts that maps may have. Every such row of the full set is small enough to be
committed, in the full set's form.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from oracle.data import FULL as GPU_FULL
from oracle.data import REPOSITORY

FULL = GPU_FULL.parent / "addrlib"
EXCERPT = REPOSITORY / "tb" / "data" / "oracle_addrlib"
MAP_MODES = (0, 1)  # LINEAR, 256B_S
BLOCK_OFFSET = 4  # place of off_i of spec 05 section 4.2 in a mip's list


@dataclass(eq=False)
class Surfaces:
    """Answered surfaces, one row each; pitch and offset have a column per mip, 0 beyond the last.

    `size` [n, 3] is width, height and depth (1 for arrays); `slices` is the depth or array size.
    """

    rows: list[dict]

    def column(self, name: str) -> np.ndarray:
        return np.array([row[name] for row in self.rows])

    @property
    def volume(self) -> np.ndarray:
        return self.column("dim") == "3D"

    @property
    def slices(self) -> np.ndarray:
        return self.column("n")

    @property
    def size(self) -> np.ndarray:
        depth = np.where(self.volume, self.slices, 1)
        return np.stack([self.column("w"), self.column("h"), depth], axis=1)

    def mip_column(self, place: int) -> np.ndarray:
        table = np.zeros((len(self.rows), 16), np.int64)
        for row, line in zip(table, self.rows, strict=True):
            row[: line["mips"]] = [mip[place] for mip in line["mip"]]
        return table


def folders() -> dict[str, Path]:
    """The sets that exist: always the excerpt, the full one where it lies beside the repo."""
    return {name: path for name, path in (("excerpt", EXCERPT), ("full", FULL)) if path.is_dir()}


def surfaces(folder: Path) -> Surfaces:
    """Surfaces that a map can have and that the library answers."""
    return Surfaces([r for r in _lines(folder / "surfaces.jsonl.gz") if _is_map(r)])


def addresses(folder: Path, of: Surfaces) -> np.ndarray:
    """Sampled addresses, int64 [n, 6]: row of `of`, mip, x, y, z, address."""
    with gzip.open(folder / "addr.csv.gz", "rt") as file:
        table = np.loadtxt(file, np.int64, delimiter=",", skiprows=1)
    ids = of.column("id")
    table = table[np.isin(table[:, 0], ids)]
    order = np.argsort(ids)
    table[:, 0] = order[np.searchsorted(ids[order], table[:, 0])]
    return table


def exhaustive(folder: Path) -> Iterator[tuple[Surfaces, np.ndarray]]:
    """Whole maps: one surface, and int64 [n, 6] as `addresses`, every texel of every mip."""
    for line in _lines(folder / "exhaustive.jsonl.gz"):
        if not _is_map(line):
            continue
        depth = line["n"] if line["dim"] == "3D" else 1
        texels = []
        for mip in range(line["mips"]):
            width, height, volume = (max(1, n >> mip) for n in (line["w"], line["h"], depth))
            layers = volume if line["dim"] == "3D" else line["n"]
            z, y, x = np.indices((layers, height, width)).reshape(3, -1)
            texels.append(np.stack([np.zeros_like(x), np.full_like(x, mip), x, y, z], axis=1))
        table = np.concatenate(texels)
        yield Surfaces([line]), np.column_stack([table, line["addr"]])


def excerpt(source: Path = FULL, target: Path = EXCERPT) -> None:
    """Write the committed excerpt: the rows of map layouts, navi21 and the others alike."""
    target.mkdir(parents=True, exist_ok=True)
    kept = [line for line in _lines(source / "surfaces.jsonl.gz") if _is_map(line)]
    ids = {line["id"] for line in kept}
    with gzip.open(source / "addr.csv.gz", "rt") as file:
        header, *rows = file.read().splitlines()
    rows = [row for row in rows if int(row.partition(",")[0]) in ids]
    whole = [line for line in _lines(source / "exhaustive.jsonl.gz") if _is_map(line)]
    for name, lines in (
        ("surfaces.jsonl.gz", [json.dumps(line) for line in kept]),
        ("addr.csv.gz", [header, *rows]),
        ("exhaustive.jsonl.gz", [json.dumps(line) for line in whole]),
    ):
        (target / name).write_bytes(gzip.compress(("\n".join(lines) + "\n").encode(), mtime=0))


def _is_map(line: dict) -> bool:
    return line["sw"] in MAP_MODES and line["bpe"] == 1 and "refused" not in line


def _lines(path: Path) -> Iterator[dict]:
    with gzip.open(path, "rt") as file:
        yield from map(json.loads, file)
