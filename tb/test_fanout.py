"""Copies of drivers: every net within its loads, and the same netlist when they are taken back."""

from __future__ import annotations

import copy
import random
import re

import pytest

from minmip.hw.fanout import limit_fanout

PORTS = {
    "LUT4": {"A": "input", "B": "input", "Z": "output"},
    "TRELLIS_FF": {"DI": "input", "CE": "input", "Q": "output"},
    "DP16KD": {"ADA": "input", "DOA": "output"},
}


def random_netlist(seed, count):
    """Cells that mostly listen to the same few nets, themselves too."""
    rng = random.Random(seed)
    cells, nets = {}, {}
    for n in range(count):
        kind = rng.choice(list(PORTS))
        pins = {}
        for port, direction in PORTS[kind].items():
            popular = rng.random() < 0.7
            source = 2 + rng.randrange(6 if popular else count)
            wide = port == "ADA"
            pins[port] = [2 + n] if direction == "output" else [source, "0"] if wide else [source]
        cells[f"cell_{n}"] = {"type": kind, "port_directions": PORTS[kind], "connections": pins}
        nets[f"net_{n}"] = {"bits": [2 + n]}
    return {"cells": cells, "netnames": nets}


def fanouts(module):
    """(loads, whether a block RAM is one, type of the driver) of every net."""
    loads, far, driver = {}, set(), {}
    for cell in module["cells"].values():
        for port, pins in cell["connections"].items():
            for pin in pins:
                if cell["port_directions"][port] == "output":
                    driver[pin] = cell["type"]
                else:
                    loads[pin] = loads.get(pin, 0) + 1
                    if cell["type"] == "DP16KD":
                        far.add(pin)
    return [(loads[pin], pin in far, driver.get(pin)) for pin in loads]


def taken_back(module):
    """The netlist with each copy's loads on its original; the copies, likewise."""
    origin = {}
    for name, cell in module["cells"].items():
        if found := re.fullmatch(r"(.*?)(_copy\d+)+", name):
            (port,) = (p for p, d in cell["port_directions"].items() if d == "output")
            original = module["cells"][found[1]]["connections"][port]
            origin[cell["connections"][port][0]] = original[0]
    cells = copy.deepcopy(module["cells"])
    for cell in cells.values():
        cell["connections"] = {
            port: [origin.get(pin, pin) for pin in pins]
            for port, pins in cell["connections"].items()
        }
    copies = {name: cells.pop(name) for name in list(cells) if "_copy" in name}
    return cells, copies


@pytest.mark.parametrize("seed", range(20))
def test_same_netlist(seed):
    before = random_netlist(seed, 300)
    after = copy.deepcopy(before)
    made = limit_fanout(after, 16)
    cells, copies = taken_back(after)
    assert cells == before["cells"]
    assert len(copies) == made > 0
    for name, cell in copies.items():
        assert cell == before["cells"][name.split("_copy")[0]]
    for loads, far, driver in fanouts(after):
        assert loads <= (2 if far else 16) or driver not in ("LUT4", "TRELLIS_FF")


def test_neighbours_stay_together():
    """Loads are dealt out in the order of their numbers: 0 to 15, then 16 to 31."""
    cells = {"enable": {"type": "LUT4", "port_directions": {"Z": "output"}}}
    cells["enable"]["connections"] = {"Z": [2]}
    for n in range(48):
        cells[f"bit_{n}"] = {"type": "TRELLIS_FF", "port_directions": {"CE": "input"}}
        cells[f"bit_{n}"]["connections"] = {"CE": [2]}
    module = {"cells": cells, "netnames": {"enable": {"bits": [2]}}}
    assert limit_fanout(module, 16) == 2
    sources = [cells[f"bit_{n}"]["connections"]["CE"][0] for n in range(48)]
    assert sources == [2] * 16 + [3] * 16 + [4] * 16


def test_logic_has_a_driver_of_its_own():
    """From a quarter of the loads on: what is behind an enable does not wait for its registers."""
    for registers, copies in ((3, 0), (13, 1)):
        cells = {"go": {"type": "LUT4", "port_directions": {"Z": "output"}}}
        cells["go"]["connections"] = {"Z": [2]}
        for n in range(registers):
            cells[f"bit_{n}"] = {"type": "TRELLIS_FF", "port_directions": {"CE": "input"}}
            cells[f"bit_{n}"]["connections"] = {"CE": [2]}
        cells["behind"] = {"type": "LUT4", "port_directions": {"A": "input"}}
        cells["behind"]["connections"] = {"A": [2]}
        module = {"cells": cells, "netnames": {"go": {"bits": [2]}}}
        assert limit_fanout(module, 16) == copies
        registers_at = {cells[f"bit_{n}"]["connections"]["CE"][0] for n in range(registers)}
        assert len(registers_at) == 1
        assert (cells["behind"]["connections"]["A"][0] in registers_at) == (copies == 0)


def test_wide_enables_have_registers_of_their_own():
    """Two LUTs that enable 5 registers each do not share the register in front of them."""
    for width, copies in ((4, 0), (5, 1)):
        cells = {"ready": {"type": "TRELLIS_FF", "port_directions": {"Q": "output"}}}
        cells["ready"]["connections"] = {"Q": [2]}
        for lut in (3, 4):
            directions = {"A": "input", "Z": "output"}
            cells[f"go_{lut}"] = {"type": "LUT4", "port_directions": directions}
            cells[f"go_{lut}"]["connections"] = {"A": [2], "Z": [lut]}
            for n in range(width):
                cells[f"bit_{lut}_{n}"] = {"type": "TRELLIS_FF", "port_directions": {"CE": "input"}}
                cells[f"bit_{lut}_{n}"]["connections"] = {"CE": [lut]}
        module = {"cells": cells, "netnames": {"ready": {"bits": [2, 3, 4]}}}
        assert limit_fanout(module, 16) == copies
        sources = {cells[f"go_{lut}"]["connections"]["A"][0] for lut in (3, 4)}
        assert len(sources) == 1 + copies


def test_refuses_few_loads():
    with pytest.raises(ValueError, match="a net must be allowed 16 loads or more, not 15"):
        limit_fanout(random_netlist(1, 10), 15)
