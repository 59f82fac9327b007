"""Logic levels of a netlist for ECP5: look-up tables in a row from register to register.

Yosys' `ltp` takes a register for a cell like any other, and a carry chain for as many levels as it
has cells.
"""

import json
from collections.abc import Mapping
from pathlib import Path

__all__ = ["logic_levels"]

_LEVELS = {"LUT4": 1, "TRELLIS_DPR16X4": 1, "CCU2C": 1, "PFUMX": 0, "L6MUX21": 0}
"""Levels of a cell from its inputs to its outputs; other cells end a path."""
_CLOCKED = {"TRELLIS_DPR16X4": {"DI", "WAD", "WRE", "WCK"}}
"""Inputs that a register takes."""


def logic_levels(netlist: Path, top: str = "top") -> int:
    """Count the levels of the longest path through logic.

    A look-up table is a level, and the muxes that join tables none. A carry chain is one level,
    however long.

    Parameters
    ----------
    netlist : Path
        JSON of Yosys, of one flat module.
    top : str
        Its name.
    """
    cells = json.loads(netlist.read_text())["modules"][top]["cells"]
    drivers = {
        bit: name
        for name, cell in cells.items()
        if cell["type"] in _LEVELS
        for port, bits in cell["connections"].items()
        if cell["port_directions"][port] == "output"
        for bit in bits
    }
    depth: dict[str, int] = {}
    # Sources first, without recursion: chains are longer than Python's stack.
    waiting = list(cells)
    while waiting:
        name = waiting[-1]
        cell = cells[name]
        if name in depth or cell["type"] not in _LEVELS:
            waiting.pop()
            continue
        inputs = [
            (drivers[bit], port)
            for port, bit in _inputs(cell)
            if isinstance(bit, int) and bit in drivers
        ]
        missing = [source for source, _ in inputs if source not in depth]
        if missing:
            waiting += missing
            continue
        depth[waiting.pop()] = max(
            # From CIN the chain goes on.
            (
                depth[source] + (0 if port == "CIN" else _LEVELS[cell["type"]])
                for source, port in inputs
            ),
            default=_LEVELS[cell["type"]],
        )
    return max(depth.values(), default=0)


def _inputs(cell: Mapping) -> list[tuple[str, object]]:
    """Port and bit of each input that reaches an output in the same clock."""
    clocked = _CLOCKED.get(cell["type"], set())
    return [
        (port, bit)
        for port, bits in cell["connections"].items()
        if cell["port_directions"][port] == "input" and port not in clocked
        for bit in bits
    ]
