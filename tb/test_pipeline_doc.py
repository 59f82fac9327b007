# amaranth: UnusedElaboratable=no
"""`docs/pipeline.md` says what the code is: stages, latencies, ports, counters."""

import re
from importlib import import_module
from pathlib import Path

import pytest
from amaranth.hdl import Shape
from kit.vlib import stream_ports

from minmip.hw.config import DEFAULT, FULL, SMALL
from minmip.hw.top import LOOKUPS, TextureAddresser
from minmip.hw.unit_counters import CODES, STALLS

ROOT = Path(__file__).resolve().parent.parent
TEXT = (ROOT / "docs/pipeline.md").read_text()
TOP = (ROOT / "hw/top.py").read_text()


def rows(header):
    """Cells of the table whose header line starts so."""
    lines = TEXT[TEXT.index(header) :].split("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


STAGES = rows("| stage |")


@pytest.mark.parametrize("stage", STAGES, ids=lambda row: row[0])
def test_stage(stage):
    name, block, latency, _ = stage
    module, _, cls = block.strip("`").partition(":")
    assert re.search(rf"m\.submodules\.{name} = \w+ = {cls}\(", TOP)
    constructor = getattr(import_module(f"minmip.hw.{module}"), cls)
    for cfg in (SMALL, DEFAULT, FULL):
        arguments = (tuple(LOOKUPS.values()),) if name == "front" else ()
        built = getattr(constructor(cfg, *arguments), "latency", None)
        if latency == "-":
            continue
        letters = {"L": cfg.lanes, "L/U": cfg.lanes // cfg.lod_units}
        letters |= {
            "B": int(max(cfg.swizzle_modes) > 2),
            "M": cfg.memory_latency,
            "V": int(cfg.volumes),
            "2V": 2 * cfg.volumes,
            "7V": 7 * cfg.volumes,
        }
        said = sum(letters[part] if part in letters else int(part) for part in latency.split(" + "))
        assert built == said, f"{name} with {cfg.lanes} lanes"


def test_every_part_is_listed():
    """Whatever the top has as a part stands in the document, in the same order."""
    parts = re.findall(r"^ +m\.submodules\.(\w+) =", TOP, re.M)
    stages = [row[0] for row in STAGES]
    assert [part for part in parts if part in stages] == stages
    for name in [*parts, *(f"lookup_{name}" for name in LOOKUPS)]:
        assert re.search(rf"\b{name}\b", TEXT), name


def test_ports():
    streams_in, streams_out, plain_in, plain_out = stream_ports(
        TextureAddresser(FULL, external_memory=True)
    )
    said = {row[0].strip("`"): (row[1], int(row[3])) for row in rows("| port | direction |")}
    wanted = {name: ("in", Shape.cast(shape).width) for name, shape in streams_in.items()}
    wanted |= {name: ("out", Shape.cast(shape).width) for name, shape in streams_out.items()}
    assert said == wanted
    said = {row[0].strip("`"): (row[1], int(row[2])) for row in rows("| plain port |")}
    del said["clk`, `rst"]
    wanted = {name: ("in", width) for name, width in plain_in.items()}
    assert said == wanted | {name: ("out", width) for name, width in plain_out.items()}


def test_counters():
    said = set()
    for names, _ in rows("| counter |"):
        said |= set(names.split(", "))
    said -= {"code_1 ... code_18", "code_31", "stall_front ... stall_memory"}
    said |= {f"code_{code}" for code in CODES} | {f"stall_{name}" for name in STALLS}
    assert said == set(TextureAddresser(FULL).counter_names)
