"""Copies of the drivers of nets with many loads, which Yosys makes none of.

A wide payload register has one clock enable. Placed as one net, its loads lie all over the part and
the slowest of them sets the clock. Every set of loads with a driver of its own stays together.
"""

import json
import re
from collections import Counter, defaultdict
from pathlib import Path

__all__ = ["LOADS", "limit_fanout", "limit_fanout_in"]

LOADS = 64
"""Loads of a net before its driver is copied."""

_OUTPUT = {"LUT4": "Z", "TRELLIS_FF": "Q"}
"""Cells that may be copied, and their output."""
_FAR = 4
"""Block RAMs lie far apart: so many fewer of them may share a driver."""


def limit_fanout_in(file: Path, top: str, most: int = LOADS) -> Counter[str]:
    """Rewrite a netlist of Yosys' `write_json` by `limit_fanout`; return its cells by type."""
    design = json.loads(file.read_text())
    module = design["modules"][top]
    limit_fanout(module, most)
    file.write_text(json.dumps(design))
    return Counter(cell["type"] for cell in module["cells"].values())


def limit_fanout(module: dict, most: int) -> int:
    """Copy LUTs and FFs until each drives at most `most` loads.

    A copy has the inputs of its original, so it does the same. Loads are dealt out in the order of
    their names: neighbouring bits of a word stay together. What the copies load more is copied in
    turn. Nets that ports, carry chains or hard blocks drive stay as they are: the clock is one.
    A net that reaches a block RAM may have a quarter of the loads.

    Parameters
    ----------
    module : dict
        A module of Yosys' `write_json` for ECP5, which is changed.
    most : int
        Loads of a net, 16 or more.

    Returns
    -------
    int
        Number of copies.

    Raises
    ------
    ValueError
        When `most` is so small that copies of copies might have no end.
    """
    if most < 4 * _FAR:
        raise ValueError(f"a net must be allowed {4 * _FAR} loads or more, not {most}")
    cells, nets = module["cells"], module["netnames"]
    driver, loads = _connections(cells)
    free = 1 + max(bit for net in nets.values() for bit in net["bits"] if isinstance(bit, int))
    copies = 0

    def allowed(bit):
        return (
            most // _FAR
            if any(cells[user]["type"] == "DP16KD" for user, *_ in loads[bit])
            else most
        )

    pending = [bit for bit in loads if bit in driver and len(loads[bit]) > allowed(bit)]
    while pending:
        bit = pending.pop()
        users, name = sorted(loads[bit], key=_by_name), driver[bit]
        if len(users) <= allowed(bit):
            continue
        cell = cells[name]
        size = -(-len(users) // -(-len(users) // allowed(bit)))
        loads[bit] = users[:size]
        for at in range(size, len(users), size):
            copies += 1
            copy = f"{name}_copy{copies}"
            cells[copy] = cell | {
                "connections": cell["connections"] | {_OUTPUT[cell["type"]]: [free]}
            }
            nets[f"{copy}_o"] = {"hide_name": 0, "bits": [free], "attributes": {}}
            for user, port, index in users[at : at + size]:
                pins = cells[user]["connections"]
                pins[port] = [*pins[port][:index], free, *pins[port][index + 1 :]]
            driver[free], loads[free] = copy, users[at : at + size]
            free += 1
            for port, pins in cells[copy]["connections"].items():
                if port != _OUTPUT[cell["type"]]:
                    for index, pin in enumerate(pins):
                        loads[pin].append((copy, port, index))
                        if pin in driver and len(loads[pin]) > allowed(pin):
                            pending.append(pin)
    return copies


def _connections(cells: dict) -> tuple[dict, dict]:
    """Cell that drives each net and may be copied; cell, port and index of each load."""
    driver, loads = {}, defaultdict(list)
    for name, cell in cells.items():
        for port, pins in cell["connections"].items():
            for index, pin in enumerate(pins):
                if cell["port_directions"].get(port) != "output":
                    loads[pin].append((name, port, index))
                elif cell["type"] in _OUTPUT:
                    driver[pin] = name
    return driver, loads


def _by_name(load):
    """Key that sorts bit 9 of a word before bit 10."""
    name, port, index = load
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)], port, index
