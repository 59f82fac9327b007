"""Synthesis, placement and routing of one block, beside what nextpnr does not check.

Every port gets a register, so that logic at the ports counts and pins do not. nextpnr runs for
several seeds: one seed alone says little (10 % spread).

Results are kept in a folder by content: `HASH/` of the RTLIL and of Yosys' commands holds the
netlist, which all parts and grades of a family share, and the runs of nextpnr (`minmip.hw.place`).
"""

import json
import re
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from minmip.hw.build import rtlil, run_yosys
from minmip.hw.fanout import LOADS, limit_fanout
from minmip.hw.fpga_parts import FAMILIES, LARGE, Family
from minmip.hw.place import NETLIST, place, tool_version
from minmip.hw.registered_ports import OnePin, Registered
from minmip.hw.tool import BuildError

__all__ = ["Netlist", "Report", "netlist_of"]

_TOP = "top"
# Where a cell comes from: paths of this machine.
_NO_PATHS = ("attrmap -remove src", "attrmap -modattr -remove src")


@dataclass(frozen=True, kw_only=True)
class Report:
    """Measured figures of a block: MHz by seed, cells, and the slowest path of the median seed.

    `comb` counts nextpnr's LUT sites (LUTs, carry chains and LUT memory), `lut4` the LUTs of Yosys
    (those of up to 6 inputs on Xilinx); `ff` leaves out the registers at the ports. `cap` is the
    MHz that the hard blocks in use allow, or None. Of parts that are not placed only the area is
    known: no `mhz`, `comb` or `path`. `seconds` are those of synthesis and of all seeds, `kept`
    says how many of these were made earlier. `design` is the hash of the netlist.
    """

    part: str
    grade: int | None
    mhz: dict[int, float]
    cap: int | None
    lut4: int
    comb: int | None
    ff: int
    dsp: int
    bram: int
    path: str
    seconds: float
    kept: int
    design: str
    tools: str

    @property
    def median(self) -> float | None:
        """Median MHz over the seeds."""
        return statistics.median(self.mhz.values()) if self.mhz else None


@dataclass(frozen=True)
class Netlist:
    """A block after synthesis, ready to be placed on any part of the family; see `netlist_of`."""

    folder: Path
    family: Family
    cells: dict[str, int]
    port_bits: int
    seconds: float
    design: str

    def place(self, *, part: str, grade: int | None, seeds: Sequence[int], jobs: int = 1) -> Report:
        """Place and route for every seed, `jobs` at once; without seeds or a tool count the area.

        Raises
        ------
        BuildError
            When nextpnr is missing or the design does not fit.
        """
        family = self.family
        area = {kind: family.count(self.cells, kind) for kind in ("lut", "ff", "dsp", "bram")}
        runs, tools = {}, f"Yosys {_yosys_version()}"
        if family.tool and seeds:
            tools += f", nextpnr {tool_version(family.tool)}"
            call = {"design": self.design, "large": area["lut"] >= LARGE}
            with ThreadPoolExecutor(jobs) as pool:
                runs = {
                    seed: pool.submit(place, self.folder, family, part, grade, seed, **call)
                    for seed in seeds
                }
                runs = {seed: run.result() for seed, run in runs.items()}
        caps, path = [], ""
        if runs:
            middle = sorted(runs.values(), key=lambda run: run.mhz)[(len(runs) - 1) // 2]
            area |= {kind: middle.used[name] for kind, name in family.used.items()}
            caps = [
                limit[grade] for cell, limit in family.caps.items() if grade and middle.used[cell]
            ]
            path = middle.path
        return Report(
            part=part,
            grade=grade,
            mhz={seed: run.mhz for seed, run in runs.items()},
            cap=min(caps, default=None),
            lut4=area["lut"],
            comb=area.get("comb"),
            # Yosys merges port registers that hold the same: there may be fewer than port bits.
            ff=max(0, area["ff"] - self.port_bits),
            dsp=area["dsp"],
            bram=area["bram"],
            path=path,
            seconds=self.seconds + sum(run.seconds for run in runs.values()),
            kept=sum(run.kept for run in runs.values()),
            design=self.design,
            tools=tools,
        )


@contextmanager
def netlist_of(block, family: str = "ecp5", results: Path | None = None) -> Iterator[Netlist]:
    """Synthesise a block, or take the netlist that is kept.

    Parameters
    ----------
    block : wiring.Component
        The design.
    family : str
        One of `FAMILIES`.
    results : Path
        Where netlists and runs are kept. By default they last as long as the context.

    Raises
    ------
    BuildError
        When Yosys is missing or refuses the design.
    """
    flow = FAMILIES[family]
    placed = flow.tool is not None and not flow.out_of_context
    wrapped = OnePin(block) if placed else Registered(block)
    text = rtlil(wrapped, _TOP, flow.platform, ports=wrapped.ports)
    # Amaranth calls element n of an array `name[n]`: to Yosys' abc9 that is bit n of `name`.
    text = re.sub(r"(?<=\S)\[(\d+)\]", r".\1", text)
    commands = [
        *(f"read_rtlil {_TOP}.il", flow.prepare, f"{flow.synth} -top {_TOP}", *_NO_PATHS),
        *("write_json netlist.json", "tee -o stat.json stat -json"),
    ]
    commands = [command for command in commands if command]
    key = _hash("\n".join([_yosys_version(), *commands, text]))
    scratch = tempfile.TemporaryDirectory(prefix="minmip-") if results is None else None
    with scratch or nullcontext(str(results)) as root:
        folder = Path(root, key)
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / "synthesis.json").exists():
            _synthesise(text, commands, folder)
        made = json.loads((folder / "synthesis.json").read_text())
        cells, design = _write_netlist(folder, flow, made["cells"])
        yield Netlist(folder, flow, cells, wrapped.bits, made["seconds"], design)


def _synthesise(text: str, commands: list[str], folder: Path) -> None:
    """Make `netlist.json`, and at last `synthesis.json`: cells by type, seconds."""
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="yosys", dir=folder) as name:
        scratch = Path(name)
        (scratch / f"{_TOP}.il").write_text(text)
        run_yosys(commands, scratch)
        statistic = json.loads((scratch / "stat.json").read_text())["design"]
        made = {
            "cells": statistic["num_cells_by_type"],
            "seconds": time.monotonic() - start,
        }
        (scratch / "netlist.json").replace(folder / "netlist.json")
        (scratch / "made").write_text(json.dumps(made))
        (scratch / "made").replace(folder / "synthesis.json")


def _write_netlist(
    folder: Path, family: Family, cells: dict[str, int]
) -> tuple[dict[str, int], str]:
    """Write what nextpnr reads; return its cells by type and its hash."""
    design = json.loads((folder / "netlist.json").read_text())
    modules = design["modules"].items()
    # Without the cells of the family and the compiler of Yosys, it is the same on every machine.
    own = {name: it for name, it in modules if not {"blackbox", "whitebox"} & set(it["attributes"])}
    design = {"modules": own}
    if family.copies:
        top = design["modules"][_TOP]
        limit_fanout(top, LOADS)
        cells = Counter(cell["type"] for cell in top["cells"].values())
    text = json.dumps(design)
    with tempfile.NamedTemporaryFile("w", dir=folder, delete=False) as file:
        file.write(text)
    Path(file.name).replace(folder / NETLIST)
    return cells, _hash(text)


def _yosys_version() -> str:
    try:
        return version("pyosys")
    except PackageNotFoundError:
        raise BuildError("Yosys is missing: install pyosys (`make setup`)") from None


def _hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:12]
