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
_CONTROL = ("CE", "LSR", "WRE")
"""Pins that a whole word of registers or memory shares."""
_FEW = 4
"""Logic is late: so many fewer loads are enough for a copy."""
_FAR = 8
"""Block RAMs lie far apart: a net that reaches one has so many fewer loads."""


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

    A net that reaches a block RAM may have an eighth of the loads. From a quarter on, clock enables
    and the logic behind have different drivers: logic does not wait for the way to a whole word.
    A LUT that enables so many has a register of its own at each input: the three lie together, and
    the long way leads to the register.

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
    if most < 2 * _FAR:
        raise ValueError(f"a net must be allowed {2 * _FAR} loads or more, not {most}")
    cells, nets = module["cells"], module["netnames"]
    driver, loads = _connections(cells)
    free = 1 + max(bit for net in nets.values() for bit in net["bits"] if isinstance(bit, int))
    copies = 0
    pending = [bit for bit in loads if bit in driver]
    while pending:
        bit = pending.pop()
        alone, rest = [], loads[bit]
        if cells[driver[bit]]["type"] == "TRELLIS_FF":
            wide = {user for user, *_ in rest if _enables(cells, loads, user) > most // _FEW}
            alone = [[user for user in rest if user[0] == name] for name in sorted(wide)]
            rest = [user for user in rest if user[0] not in wide]
        loads[bit], *others = alone + (_dealt(cells, rest, most) if rest else [])
        for users in others:
            copies += 1
            cell = cells[driver[bit]]
            copy = f"{driver[bit]}_copy{copies}"
            output = _OUTPUT[cell["type"]]
            cells[copy] = cell | {"connections": cell["connections"] | {output: [free]}}
            nets[f"{copy}_o"] = {"hide_name": 0, "bits": [free], "attributes": {}}
            for user, port, index in users:
                pins = cells[user]["connections"]
                pins[port] = [*pins[port][:index], free, *pins[port][index + 1 :]]
            driver[free], loads[free] = copy, users
            free += 1
            for port, pins in cells[copy]["connections"].items():
                for index, pin in enumerate(pins):
                    if port != output:
                        loads[pin].append((copy, port, index))
                        if pin in driver:
                            pending.append(pin)
    return copies


def _enables(cells: dict, loads: dict, name: str) -> int:
    """Count the enables behind a LUT."""
    cell = cells[name]
    output = cell["connections"].get("Z", []) if cell["type"] == "LUT4" else []
    return sum(port in _CONTROL for bit in output for _, port, _ in loads[bit])


def _dealt(cells: dict, users: list, most: int) -> list[list]:
    """Divide the loads of a net among as many drivers as it needs."""
    few = most // _FEW
    if len(users) <= most // _FAR:
        return [users]
    kinds = [
        [user for user in users if (user[1] in _CONTROL) == control] for control in (False, True)
    ]
    if len(users) <= few or not all(kinds):
        kinds = [users]
    dealt = []
    for kind in kinds:
        far = any(cells[user]["type"] == "DP16KD" for user, *_ in kind)
        count = -(-len(kind) // (most // _FAR if far else most))
        size = -(-len(kind) // count)
        kind = sorted(kind, key=_by_name)
        dealt += [kind[at : at + size] for at in range(0, len(kind), size)]
    return dealt


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
