"""The measured GPU data: jobs, inputs and outputs (oracle/README.md, `gpu/`)."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np

REPOSITORY = Path(__file__).resolve().parents[2]
FULL = REPOSITORY.parent / "shared" / "oracle" / "gpu"
EXCERPT = REPOSITORY / "tb" / "data" / "oracle_gpu"

# Columns of an input row.
U, V, LEVEL, CLAMP, LAYER = 0, 1, 3, 7, 11
DDX, DDY = slice(4, 7), slice(8, 11)


@dataclass(frozen=True)
class Job:
    """One texture, one sampler and one shader over a range of input rows."""

    run: str
    name: str
    shader: str
    width: int
    height: int
    layers: int
    mips: int
    fill: str
    mag: str
    min: str
    mip: str
    address: str
    max_aniso: int
    lod_bias: float
    min_lod: float
    max_lod: float
    view_min_lod: float
    maximum: bool
    inputs: str
    first: int
    ops: int

    @classmethod
    def from_json(cls, entry: dict) -> Job:
        texture, sampler = entry["tex"], entry["sampler"]
        return cls(
            run=entry["run"],
            name=entry["name"],
            shader=entry["shader"],
            width=texture["w"],
            height=texture["h"],
            # A one-hot texture spends its layers on the weights; requests see one of them.
            layers=1 if texture["fill"] == "onehot" else texture["depth_or_layers"],
            mips=texture["mips"],
            fill=texture["fill"],
            mag=sampler["mag"],
            min=sampler["min"],
            mip=sampler["mip"],
            address=sampler["address_uvw"],
            max_aniso=int(sampler["max_aniso"]),
            lod_bias=sampler["lod_bias"],
            min_lod=sampler["min_lod"],
            max_lod=sampler["max_lod"],
            view_min_lod=entry["view_min_lod"] or 0.0,
            maximum=sampler["reduction"] == "X",
            inputs=entry["inputs"],
            first=entry["first"],
            ops=entry["nops"],
        )

    @property
    def key(self) -> str:
        """Name of the output arrays."""
        return f"{self.run}_{self.name}"

    @property
    def group(self) -> str:
        """B13, C2, E64, X ...: what the job looks at."""
        return "X" if self.name.startswith("X") else self.name.split("_")[0]

    @property
    def by_gradient(self) -> bool:
        """The shader gives gradients; else an explicit level."""
        return self.shader.startswith(("g", "oh2g")) and self.shader != "gat2u"

    @property
    def has_clamp(self) -> bool:
        """The shader gives a LOD clamp operand."""
        return "gc" in self.shader

    @property
    def anisotropic(self) -> bool:
        """More than one tap is possible: gradients and an anisotropic sampler."""
        return self.by_gradient and self.max_aniso > 1

    def size(self, mip):
        """Width and height of a mip, for an int or an array."""
        return np.maximum(self.width >> mip, 1), np.maximum(self.height >> mip, 1)

    @cached_property
    def mip_start(self) -> np.ndarray:
        """Linear texel index of each mip's first texel in the chain, level 0 first."""
        width, height = self.size(np.arange(self.mips))
        return np.concatenate([[0], np.cumsum(width * height)])


class Oracle:
    """A folder of measured data, whole or an excerpt of the same form.

    Raises
    ------
    FileNotFoundError
        When the folder lacks the job list.
    """

    def __init__(self, folder: Path):
        self.folder = Path(folder)
        with gzip.open(self.folder / "jobs.json.gz", "rt") as file:
            self.entries = json.load(file)
        self.jobs = [Job.from_json(entry) for entry in self.entries]
        self._files: dict[str, np.lib.npyio.NpzFile] = {}

    def _file(self, name: str) -> np.lib.npyio.NpzFile:
        if name not in self._files:
            self._files[name] = np.load(self.folder / f"{name}.npz")
        return self._files[name]

    def input(self, name: str) -> np.ndarray:
        """All rows of an input array, float32 [n, 12]."""
        return self._array("inputs", name)

    def rows(self, job: Job) -> np.ndarray:
        """Input rows of the job, float32 [ops, 12]."""
        return self.input(job.inputs)[job.first : job.first + job.ops]

    @lru_cache(maxsize=8)  # noqa: B019  an Oracle lives as long as the process
    def _array(self, file: str, name: str) -> np.ndarray:
        """One array; the last few are kept, for inputs are shared by many jobs."""
        return self._file(file)[name]

    def has(self, device: str, job: Job) -> bool:
        """Whether the device ran the job."""
        if not (self.folder / f"{device}.npz").exists():
            return False
        files = self._file(device).files
        return job.key in files or f"{job.key}__cnt" in files

    def output(self, device: str, job: Job) -> np.ndarray:
        """What the shader returned, [ops, words]."""
        return self._file(device)[job.key]

    def weights(self, device: str, job: Job) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Weight lists of a one-hot job, by op: op, texel index in the chain, weight."""
        file = self._file(device)
        count = file[f"{job.key}__cnt"].astype(np.int64)
        op = np.repeat(np.arange(len(count)), count)
        return op, file[f"{job.key}__idx"].astype(np.int64), file[f"{job.key}__w"]


def folders() -> dict[str, Path]:
    """The data sets that exist: always the excerpt, the full set where it lies beside the repo."""
    return {name: path for name, path in (("excerpt", EXCERPT), ("full", FULL)) if path.is_dir()}
