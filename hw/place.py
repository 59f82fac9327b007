"""One run of nextpnr, kept: its figures and log lie beside the netlist and are not made again."""

import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from minmip.hw.fpga_parts import PARTS, Family
from minmip.hw.tool import BuildError

__all__ = ["NETLIST", "Run", "TooLargeError", "place", "tool_version"]

NETLIST = "top.json"
"""Name of the netlist in its folder."""
_TARGET_MHZ = 300
"""Asked of nextpnr; more than any block reaches, so that it never stops early."""


class TooLargeError(BuildError):
    """The design does not fit the part."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """Figures of one seed.

    `used` counts nextpnr's cells by type, `path` tells the slowest path in words, `kept` says that
    the run was made earlier.
    """

    mhz: float
    used: dict[str, int]
    path: str
    seconds: float
    kept: bool = False


def place(
    folder: Path,
    family: Family,
    part: str,
    grade: int | None,
    seed: int,
    *,
    design: str = "",
    large: bool = False,
) -> Run:
    """Place and route the netlist of a folder, or read the run that is kept there.

    A run is kept as `PART-GRADE-seedN.json`, with nextpnr's log as `.log`, as soon as it is done:
    a campaign that stops goes on where it was.

    Parameters
    ----------
    folder : Path
        Holds `NETLIST`.
    family, part, grade, seed
        What is asked of nextpnr.
    design : str
        Hash of the netlist: runs of another one in the same folder do not count.
    large : bool
        Whether to take the family's flags for large designs.

    Raises
    ------
    TooLargeError
        When the design does not fit.
    BuildError
        When nextpnr is missing or fails, or a kept run is broken.
    """
    tool = _find(family.tool or "")
    flags = [
        *(*PARTS[part].flags, *(("--speed", str(grade)) if grade else ())),
        *(("--out-of-context",) if family.out_of_context else ()),
        *(family.large if large else ()),
        *("--seed", str(seed), "--freq", str(_TARGET_MHZ), "--timing-allow-fail"),
    ]
    made_by = {"design": design, "version": tool_version(family.tool or ""), "flags": flags}
    name = f"{part}-{grade}-seed{seed}" if grade else f"{part}-seed{seed}"
    kept = _kept(folder / f"{name}.json", made_by)
    if kept:
        return kept
    start = time.monotonic()
    # The tool of the wheel sees no absolute path of a temporary folder.
    with tempfile.TemporaryDirectory(prefix=name, dir=folder) as scratch:
        done = subprocess.run(
            [
                *(tool, *flags, "--json", f"../{NETLIST}", "--report", "report.json"),
                *("--log", "log", "-q"),
            ],
            cwd=scratch,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if done.returncode:
            raise _reason(part, done.stdout, done.returncode)
        report = json.loads(Path(scratch, "report.json").read_text())
        figures = {
            "mhz": min(clock["achieved"] for clock in report["fmax"].values()),
            "used": {name: entry["used"] for name, entry in report["utilization"].items()},
            "path": _path_in_words(report),
            "seconds": time.monotonic() - start,
        }
        # The figures come last and whole: who finds them finds the log too.
        Path(scratch, "log").replace(folder / f"{name}.log")
        record = Path(scratch, "record")
        record.write_text(json.dumps({"made_by": made_by, "figures": figures}, indent=1))
        record.replace(folder / f"{name}.json")
    return Run(**figures)


@cache
def tool_version(tool: str) -> str:
    """Return the version that nextpnr gives of itself.

    Raises
    ------
    BuildError
        When the tool is missing.
    """
    done = subprocess.run(
        [_find(tool), "--version"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    found = re.search(r"Version (?:nextpnr-)?([^)\s]+)", done.stdout)
    return found[1] if found else "unknown"


def _find(name: str) -> str:
    own = str(Path(sys.executable).parent)
    tool = shutil.which(name, path=own) or shutil.which(name)
    if tool is None:
        raise BuildError(f"nextpnr is missing: install {name} (`make setup`)")
    return tool


def _kept(record: Path, made_by: dict) -> Run | None:
    """Read a run, unless it is of another netlist, version or call."""
    if not record.exists():
        return None
    try:
        found = json.loads(record.read_text())
        return Run(**found["figures"], kept=True) if found["made_by"] == made_by else None
    except (ValueError, KeyError, TypeError):
        raise BuildError(
            f"{record} is no record of a run: delete it, and it is made anew"
        ) from None


def _reason(part: str, said: str, status: int) -> BuildError:
    full = re.search(
        r"no BELs remaining to implement cell type '(\w+)'|"
        r"Failed to expand region .* of \d+ (\w+)s\b",
        said,
    )
    if full:
        return TooLargeError(f"the block does not fit {part}: it has too few {full[1] or full[2]}")
    lines = [line for line in said.splitlines() if "ERROR" in line]
    text = lines[0] if lines else said.strip()[-300:] or f"it ended with status {status}"
    return BuildError(f"nextpnr failed for {part}: {text}")


def _path_in_words(report: dict) -> str:
    """Describe the slowest register-to-register path."""
    steps = next(
        path["path"]
        for path in report["critical_paths"]
        if "async" not in path["from"] + path["to"]
    )
    time_of = Counter()
    for step in steps:
        time_of["routing" if step["type"] == "routing" else "logic"] += step["delay"]
    levels = sum(step["type"] == "logic" for step in steps)
    start, end = steps[0]["from"]["cell"], steps[-1]["to"]["cell"]
    return (
        f"{_signal(start)} to {_signal(end)}: {levels} logic cells, "
        f"{time_of['logic']:.2f} ns logic + {time_of['routing']:.2f} ns routing"
    )


def _signal(cell: str) -> str:
    """Name of the register or memory behind a cell that Yosys named."""
    name = re.sub(
        r"_(TRELLIS_FF|LUT4|CCU2C|PFUMX|L6MUX21|DP16KD|MULT18X18D|SB_[A-Z0-9_]+)_.*", "", cell
    )
    return name.removeprefix("block.")
