"""AMD's address library: one-byte surfaces in the modes that maps may have (spec 05, 7).

Every such row of the full set is committed, in the full set's form; of the whole maps, the smaller
ones.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from minmip.hw.config import PLAIN_MODES, VOLUME_MODES, XOR_MODES, XorPattern
from oracle.data import FULL as GPU_FULL
from oracle.data import REPOSITORY

FULL = GPU_FULL.parent / "addrlib"
EXCERPT = REPOSITORY / "tb" / "data" / "oracle_addrlib"
WHOLE_TEXELS = 6000  # of the whole maps in the excerpt, at most
BLOCK_OFFSET = 4  # place of off_i of spec 05 section 4.2 in a mip's list
TAIL_SHIFT = 6, 7  # of tail_x and tail_y


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

    def by_chip(self) -> dict[str, Surfaces]:
        """The surfaces of each chip; their pipe XOR is its own."""
        chips = sorted({row["chip"] for row in self.rows})
        return {chip: Surfaces([r for r in self.rows if r["chip"] == chip]) for chip in chips}

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
    ids = of.column("id")
    table = _address_table(folder)
    table = table[np.isin(table[:, 0], ids)]
    order = np.argsort(ids)
    table[:, 0] = order[np.searchsorted(ids[order], table[:, 0])]
    return table


@cache
def _address_table(folder: Path) -> np.ndarray:
    with gzip.open(folder / "addr.csv.gz", "rt") as file:
        return np.loadtxt(file, np.int64, delimiter=",", skiprows=1)


@cache
def xor_patterns(folder: Path) -> dict[str, tuple[XorPattern, ...]]:
    """Pipe XOR of each chip, one byte per texel."""
    found: dict[str, tuple[XorPattern, ...]] = {}
    for row in _lines(folder / "patterns.jsonl.gz"):
        if _is_map(row) and row["sw"] in XOR_MODES:
            bits = tuple(map(tuple, row["bits"][8:]))
            pattern = XorPattern(mode=row["sw"], volume=row["dim"] == "3D", bits=bits)
            found[row["chip"]] = (*found.get(row["chip"], ()), pattern)
    return found


def pipe_bank_xors(folder: Path) -> list[tuple[Surfaces, np.ndarray]]:
    """Addresses with a pipeBankXor: a surface whose row has `pbx`, and int64 [1, 6]."""
    with gzip.open(folder / "addr_pipebankxor.csv.gz", "rt") as file:
        names, *lines = file.read().split()
    found = []
    for line in lines:
        texts = dict(zip(names.split(","), line.split(","), strict=True))
        row = {k: v if k in ("chip", "mode") else int(v) for k, v in texts.items()}
        row["dim"] = "2D"
        if _is_map(row):
            table = np.array([[0, *(row[name] for name in ("mip", "x", "y", "z", "addr"))]])
            found.append((Surfaces([row]), table))
    return found


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
    """Write the committed excerpt: the rows of map layouts, of all chips."""
    target.mkdir(parents=True, exist_ok=True)
    kept = [line for line in _lines(source / "surfaces.jsonl.gz") if _is_map(line)]
    ids = {line["id"] for line in kept}
    with gzip.open(source / "addr.csv.gz", "rt") as file:
        header, *rows = file.read().splitlines()
    rows = [row for row in rows if int(row.partition(",")[0]) in ids]
    whole = [line for line in _lines(source / "exhaustive.jsonl.gz") if _is_map(line)]
    whole = [line for line in whole if len(line["addr"]) <= WHOLE_TEXELS]
    patterns = [line for line in _lines(source / "patterns.jsonl.gz") if _is_map(line)]
    with gzip.open(source / "addr_pipebankxor.csv.gz", "rt") as file:
        names, *xors = file.read().splitlines()
    bpe = names.split(",").index("bpe")
    xors = [row for row in xors if row.split(",")[bpe] == "1"]
    for name, lines in (
        ("surfaces.jsonl.gz", [json.dumps(line) for line in kept]),
        ("addr.csv.gz", [header, *rows]),
        ("exhaustive.jsonl.gz", [json.dumps(line) for line in whole]),
        ("patterns.jsonl.gz", [json.dumps(line) for line in patterns]),
        ("addr_pipebankxor.csv.gz", [names, *xors]),
    ):
        (target / name).write_bytes(gzip.compress(("\n".join(lines) + "\n").encode(), mtime=0))


def _is_map(line: dict) -> bool:
    modes = PLAIN_MODES | XOR_MODES
    if line["dim"] == "3D":
        modes &= VOLUME_MODES
    return line["sw"] in modes and line["bpe"] == 1 and "refused" not in line


def _lines(path: Path) -> Iterator[dict]:
    with gzip.open(path, "rt") as file:
        yield from map(json.loads, file)
