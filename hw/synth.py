"""Synthesis, placement and routing of one block, beside what nextpnr does not check.

Every port gets a register, so that logic at the ports counts and pins do not. nextpnr runs for
several seeds: one seed alone says little (10 % spread).
"""

import json
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from minmip.hw.build import BuildError, rtlil, run_yosys
from minmip.hw.fanout import limit_fanout_in
from minmip.hw.fpga_parts import FAMILIES, LARGE, PARTS, Family
from minmip.hw.registered_ports import OnePin, Registered

__all__ = ["Netlist", "Report", "netlist_of"]

_TARGET_MHZ = 300
"""Asked of nextpnr; more than any block reaches, so that it never stops early."""


@dataclass(frozen=True, kw_only=True)
class Report:
    """Measured figures of a block: MHz by seed, cells, and the slowest path of the median seed.

    `comb` counts nextpnr's LUT sites (LUTs, carry chains and LUT memory), `lut4` the LUTs of Yosys
    (those of up to 6 inputs on Xilinx); `ff` leaves out the registers at the ports. `cap` is the
    MHz that the hard blocks in use allow, or None. Of parts that are not placed only the area is
    known: no `mhz`, `comb` or `path`.
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

    def place(self, *, part: str, grade: int | None, seeds: Sequence[int], jobs: int = 1) -> Report:
        """Place and route for every seed, `jobs` at once; count the area alone without a tool.

        Raises
        ------
        BuildError
            When nextpnr is missing or the design does not fit.
        """
        family, start = self.family, time.monotonic()
        area = {kind: family.count(self.cells, kind) for kind in ("ff", "dsp", "bram")}
        runs: list[dict] = []
        if family.tool:
            with ThreadPoolExecutor(jobs) as pool:
                runs = list(pool.map(lambda seed: self._place(part, grade, seed), seeds))
        mhz = {seed: _fmax(run) for seed, run in zip(seeds, runs, strict=False)}
        caps, path = [], ""
        if runs:
            middle = sorted(range(len(runs)), key=lambda n: mhz[seeds[n]])[(len(runs) - 1) // 2]
            used = {name: entry["used"] for name, entry in runs[middle]["utilization"].items()}
            area |= {kind: used[name] for kind, name in family.used.items()}
            caps = [limit[grade] for cell, limit in family.caps.items() if grade and used.get(cell)]
            path = _path_in_words(runs[middle])
        return Report(
            part=part,
            grade=grade,
            mhz=mhz,
            cap=min(caps, default=None),
            lut4=family.count(self.cells, "lut"),
            comb=area.get("comb"),
            # Yosys merges port registers that hold the same: there may be fewer than port bits.
            ff=max(0, area["ff"] - self.port_bits),
            dsp=area["dsp"],
            bram=area["bram"],
            path=path,
            seconds=self.seconds + time.monotonic() - start,
        )

    def _place(self, part: str, grade: int | None, seed: int) -> dict:
        """Run nextpnr and return its report. It sees no absolute path of a temporary folder."""
        name = self.family.tool or ""
        tool = shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)
        if tool is None:
            raise BuildError(f"nextpnr is missing: install {name} (`make setup`)")
        report = f"report{seed}.json"
        is_large = self.family.count(self.cells, "lut") >= LARGE
        done = subprocess.run(
            [
                *(tool, *PARTS[part].flags, *(("--speed", str(grade)) if grade else ())),
                *(("--out-of-context",) if self.family.out_of_context else ()),
                *(self.family.large if is_large else ()),
                *("--json", "top.json", "--report", report, "--seed", str(seed), "-q"),
                *("--freq", str(_TARGET_MHZ), "--timing-allow-fail"),
            ],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if done.returncode:
            full = re.search(
                r"no BELs remaining to implement cell type '(\w+)'|"
                r"Failed to expand region .* of \d+ (\w+)s\b",
                done.stdout,
            )
            if full:
                raise BuildError(
                    f"the block does not fit {part}: it has too few {full[1] or full[2]}"
                )
            lines = [line for line in done.stdout.splitlines() if "ERROR" in line]
            reason = lines[0] if lines else done.stdout.strip()[-300:]
            raise BuildError(f"nextpnr failed for {part}: {reason}")
        return json.loads((self.folder / report).read_text())


@contextmanager
def netlist_of(block, family: str = "ecp5") -> Iterator[Netlist]:
    """Synthesise a block; the netlist lasts as long as the context.

    Parameters
    ----------
    block : wiring.Component
        The design.
    family : str
        One of `FAMILIES`.

    Raises
    ------
    BuildError
        When Yosys is missing or refuses the design.
    """
    start = time.monotonic()
    flow = FAMILIES[family]
    placed = flow.tool is not None and not flow.out_of_context
    wrapped = OnePin(block) if placed else Registered(block)
    with tempfile.TemporaryDirectory(prefix="minmip-") as name:
        folder = Path(name)
        text = rtlil(wrapped, "top", flow.platform, ports=wrapped.ports)
        # Amaranth calls element n of an array `name[n]`: to Yosys' abc9 that is bit n of `name`.
        text = re.sub(r"(?<=\S)\[(\d+)\]", r".\1", text)
        (folder / "top.il").write_text(text)
        commands = ["read_rtlil top.il", flow.prepare, f"{flow.synth} -top top -json top.json"]
        run_yosys([*filter(None, commands), "tee -o stat.json stat -json"], folder)
        design = json.loads((folder / "stat.json").read_text())["design"]
        cells = design["num_cells_by_type"]
        if flow.copies:
            cells = limit_fanout_in(folder / "top.json", "top")
        yield Netlist(folder, flow, cells, wrapped.bits, time.monotonic() - start)


def _fmax(report: dict) -> float:
    return min(clock["achieved"] for clock in report["fmax"].values())


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
