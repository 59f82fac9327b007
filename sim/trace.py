"""The trace file: quads, descriptors and map memory in, memory and answers out (spec 08)."""

from __future__ import annotations

import errno
import os
import tempfile
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from minmip.sim.descriptor_words import S_WORDS, T_WORDS

__all__ = [
    "FLAG_CLAMP",
    "FLAG_GATHER",
    "FLAG_OFFSET",
    "OPCODES",
    "PATTERN_DTYPE",
    "SAMPLE",
    "SAMPLE_B",
    "SAMPLE_D",
    "SAMPLE_L",
    "SAMPLE_LZ",
    "Result",
    "Trace",
    "TraceError",
]

VERSION = 1

SAMPLE, SAMPLE_B, SAMPLE_D, SAMPLE_L, SAMPLE_LZ = range(5)
OPCODES = ("SAMPLE", "SAMPLE_B", "SAMPLE_D", "SAMPLE_L", "SAMPLE_LZ")
FLAG_CLAMP, FLAG_OFFSET, FLAG_GATHER = 1, 2, 4

PATTERN_DTYPE = np.dtype(
    [
        ("lane", "u1"),
        ("mip", "u1"),
        ("x", "<u4"),
        ("y", "<u4"),
        ("z", "<u4"),
        ("weight", "<u4"),
        ("lod", "<i2"),
    ]
)
"""One texel sample of a plain request; weight 65536 is the whole tap and mip."""

# name: (dtype, shape). T, S and Q are the numbers of descriptors, samplers and quads; B is free.
_ARRAYS: dict[str, tuple[str, tuple]] = {
    "t_sharp": ("uint32", ("T", T_WORDS)),
    "s_sharp": ("uint32", ("S", S_WORDS)),
    "opcode": ("uint8", ("Q",)),
    "uvw": ("float32", ("Q", 4, 3)),
    "flags": ("uint8", ("Q",)),
    "t_index": ("uint32", ("Q",)),
    "s_index": ("uint32", ("Q",)),
    "exec_mask": ("uint8", ("Q",)),
    "helper_mask": ("uint8", ("Q",)),
    "slice": ("float32", ("Q", 4)),
    "ddx": ("float32", ("Q", 4, 3)),
    "ddy": ("float32", ("Q", 4, 3)),
    "lod": ("float32", ("Q", 4)),
    "clamp": ("float32", ("Q", 4)),
    "memory": ("uint8", ("B",)),
}
_REQUIRED = ("version", "t_sharp", "s_sharp", "opcode", "uvw", "memory_base", "memory")
_DEFAULTS = {"flags": 0, "t_index": 0, "s_index": 0, "exec_mask": 15, "helper_mask": 0, "slice": 0}


class TraceError(ValueError):
    """A trace that breaks spec 08; the text names the array, what was wanted and what came."""


@dataclass(eq=False)
class Trace:
    """The input of one run (spec 08). Attributes are the file's arrays; see there for meanings.

    Missing optional arrays take their defaults: `flags`, `t_index`, `s_index`, `helper_mask` and
    `slice` 0, `exec_mask` 15; `ddx`, `ddy`, `lod` and `clamp` stay None when nothing needs them.
    `meta` carries the free-form arrays without their `meta_` prefix.

    Raises
    ------
    TraceError
        When an array has the wrong shape, dtype or content.
    """

    t_sharp: np.ndarray
    s_sharp: np.ndarray
    opcode: np.ndarray
    uvw: np.ndarray
    # None stands for the default and is gone when the constructor is done; of the last four it
    # stays where no quad needs them.
    flags: np.ndarray = None  # pyright: ignore[reportAssignmentType]
    t_index: np.ndarray = None  # pyright: ignore[reportAssignmentType]
    s_index: np.ndarray = None  # pyright: ignore[reportAssignmentType]
    exec_mask: np.ndarray = None  # pyright: ignore[reportAssignmentType]
    helper_mask: np.ndarray = None  # pyright: ignore[reportAssignmentType]
    slice: np.ndarray = None  # pyright: ignore[reportAssignmentType]
    ddx: np.ndarray | None = None
    ddy: np.ndarray | None = None
    lod: np.ndarray | None = None
    clamp: np.ndarray | None = None
    memory_base: int = 0
    memory: np.ndarray = field(default_factory=lambda: np.zeros(0, np.uint8))
    meta: dict[str, np.ndarray] = field(default_factory=dict)

    def __post_init__(self):
        quads = len(self.opcode) if isinstance(self.opcode, np.ndarray) and self.opcode.ndim else 0
        for name, value in _DEFAULTS.items():
            if getattr(self, name) is None:
                dtype, shape = _ARRAYS[name]
                setattr(self, name, np.full((quads, *shape[1:]), value, dtype))
        sizes: dict[str, int] = {}
        for name, (dtype, shape) in _ARRAYS.items():
            array = getattr(self, name)
            if array is not None:
                setattr(self, name, _checked(name, array, dtype, shape, sizes))
        self._check_values()

    def __len__(self) -> int:
        """Return the number of quads."""
        return len(self.opcode)

    def _check_values(self):
        _check_range("opcode", self.opcode, len(OPCODES), "an opcode")
        _check_range("flags", self.flags, 8, "a set of the flag bits 0 to 2")
        _check_range("exec_mask", self.exec_mask, 16, "a mask of four lanes")
        _check_range("helper_mask", self.helper_mask, 16, "a mask of four lanes")
        _check_range("t_index", self.t_index, len(self.t_sharp), "a row of t_sharp")
        _check_range("s_index", self.s_index, len(self.s_sharp), "a row of s_sharp")
        needs = (
            ("ddx", self.opcode == SAMPLE_D, "opcode 2 (SAMPLE_D)"),
            ("ddy", self.opcode == SAMPLE_D, "opcode 2 (SAMPLE_D)"),
            (
                "lod",
                (self.opcode == SAMPLE_B) | (self.opcode == SAMPLE_L),
                "opcode 1 or 3 (SAMPLE_B, SAMPLE_L)",
            ),
            ("clamp", self.flags & FLAG_CLAMP != 0, "flags bit 0 (LOD clamp operand)"),
        )
        for name, wanted, why in needs:
            if getattr(self, name) is None and wanted.any():
                quad = int(np.flatnonzero(wanted)[0])
                raise TraceError(f"{name}: wanted because quad {quad} has {why}, but it is missing")
        if self.memory_base % 256 or not 0 <= self.memory_base < 1 << 64:
            raise TraceError(f"memory_base: wanted a multiple of 256, not {self.memory_base}")

    @classmethod
    def load(cls, path: str | os.PathLike) -> Trace:
        """Read a trace file; TraceError says what is wrong with it."""
        arrays = _read_npz(path)
        for name in _REQUIRED:
            if name not in arrays:
                raise TraceError(f"{path}: array {name!r} is missing")
        meta = {k.removeprefix("meta_"): v for k, v in arrays.items() if k.startswith("meta_")}
        arrays = {k: v for k, v in arrays.items() if not k.startswith("meta_")}
        unknown = sorted(arrays.keys() - _ARRAYS.keys() - {"version", "memory_base"})
        if unknown:
            raise TraceError(
                f"{path}: array {unknown[0]!r} is not part of a trace; "
                "names of additional arrays must start with 'meta_'"
            )
        try:
            version = _checked("version", arrays.pop("version"), "uint16", (), {})
            if version != VERSION:
                raise TraceError(f"version: wanted {VERSION}, not {version}")
            base = _checked("memory_base", arrays.pop("memory_base"), "uint64", (), {})
            return cls(**arrays, memory_base=int(base), meta=meta)
        except TraceError as error:
            raise TraceError(f"{path}: {error}") from None

    def save(self, path: str | os.PathLike) -> None:
        """Write the trace file; it appears whole or not at all."""
        arrays = {name: getattr(self, name) for name in _ARRAYS}
        arrays["version"] = np.uint16(VERSION)
        arrays["memory_base"] = np.uint64(self.memory_base)
        _write_npz(path, arrays, self.meta)


@dataclass(eq=False)
class Result:
    """The output of one run (spec 08).

    Attributes
    ----------
    memory : uint8 [B]
        Map memory after the last quad and a flush.
    error : uint8 [Q]
        0 or the code of the rule broken (spec 01).
    filtered : uint16 [Q, 4]
        U5.8 answer of the MinMip filter, else 0.
    samples, writes : uint16 [Q] or None
        Texel samples that write, and the bytes written once each beat (one tap, one mip of a quad)
        is combined. Hardware does not tell them of single quads.
    pattern_start, pattern : uint64 [Q+1], PATTERN_DTYPE [rows], or None
        The sample pattern of plain requests, when asked for.
    cycles : int or None
        Hardware: clocks from the first quad accepted to the flush done, both included.
    accept_cycle, done_cycle : uint64 [Q] or None
        Hardware: clock in which each quad was accepted and answered; the first was in clock 0.
    counters : dict
        Totals by name: `samples` and `byte_writes` (the sums of `samples` and `writes`) of every
        backend, and all event counters of hardware. Not part of the file.
    meta : dict
        The trace's free-form arrays.
    """

    memory: np.ndarray
    error: np.ndarray
    filtered: np.ndarray
    samples: np.ndarray | None = None
    writes: np.ndarray | None = None
    pattern_start: np.ndarray | None = None
    pattern: np.ndarray | None = None
    cycles: int | None = None
    accept_cycle: np.ndarray | None = None
    done_cycle: np.ndarray | None = None
    counters: dict[str, int] = field(default_factory=dict)
    meta: dict[str, np.ndarray] = field(default_factory=dict)

    def __post_init__(self):
        for name, of_quads in (("samples", self.samples), ("byte_writes", self.writes)):
            if of_quads is not None:
                self.counters[name] = int(of_quads.sum())

    def save(self, path: str | os.PathLike) -> None:
        """Write the result file; it appears whole or not at all."""
        names = (
            *("memory", "error", "filtered", "pattern_start", "pattern"),
            *("accept_cycle", "done_cycle"),
        )
        arrays = {name: getattr(self, name) for name in names}
        if self.cycles is not None:
            arrays["cycles"] = np.uint64(self.cycles)
        _write_npz(path, arrays, self.meta)


def _check_range(name: str, array: np.ndarray, count: int, what: str) -> None:
    if array.size and int(array.max()) >= count:
        quad = int(np.flatnonzero(array >= count)[0])
        raise TraceError(f"{name}: wanted {what} (below {count}), quad {quad} has {array[quad]}")


def _checked(name: str, array, dtype: str, shape: tuple, sizes: dict[str, int]) -> np.ndarray:
    """Return the array in C order, or raise: its dtype and its shape, free sizes taken once."""
    if not isinstance(array, np.ndarray):
        raise TraceError(f"{name}: wanted a {dtype} array, not {type(array).__name__}")
    if array.dtype != np.dtype(dtype):
        raise TraceError(f"{name}: wanted dtype {dtype}, not {array.dtype}")
    known = tuple(sizes.get(s, s) for s in shape)
    fits = array.ndim == len(known) and all(
        isinstance(want, str) or want == have for want, have in zip(known, array.shape, strict=True)
    )
    if not fits:
        wanted = ", ".join(str(s) for s in known)
        raise TraceError(f"{name}: wanted shape [{wanted}], not {list(array.shape)}")
    sizes.update((s, n) for s, n in zip(shape, array.shape, strict=True) if isinstance(s, str))
    return np.ascontiguousarray(array) if array.ndim else array


def _read_npz(path: str | os.PathLike) -> dict[str, np.ndarray]:
    arrays: dict[str, np.ndarray] = {}
    name = None
    try:
        # Opened here: np.load leaves a file open when it turns out to be damaged.
        with open(path, "rb") as file:
            if not zipfile.is_zipfile(file):  # np.load would take it for a pickle
                raise TraceError(f"{path}: not a readable .npz archive: no zip file, or cut short")
            file.seek(0)
            with np.load(file, allow_pickle=False) as archive:
                for name in archive.files:
                    arrays[name] = archive[name]
    except TraceError:
        raise
    except FileNotFoundError:
        raise TraceError(f"{path}: no such file") from None
    except OSError as error:
        raise TraceError(f"{path}: not a readable .npz archive: {error.strerror}") from None
    except Exception as error:  # zip, zlib, header and pickle errors have no common base class
        reason = str(error).split("\n")[0]
        where = f"array {name!r} is not readable" if name else "not a readable .npz archive"
        raise TraceError(f"{path}: {where}: {reason}") from None
    return arrays


def _write_npz(path: str | os.PathLike, arrays: dict, meta: dict[str, np.ndarray]) -> None:
    path = Path(path)
    present = {name: array for name, array in arrays.items() if array is not None}
    present |= {f"meta_{name}": array for name, array in meta.items()}
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".part")
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez(file, **present)
        os.chmod(temporary, 0o666 & ~_umask())
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
