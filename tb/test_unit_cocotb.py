# amaranth: UnusedElaboratable=no
"""The whole unit under cocotb, its Verilog with the map memory inside (`cocotb_unit.py`)."""

import pytest
from cocotb_unit import CONFIGS
from kit.cocotb_bench import run_cocotb
from kit.vlib import LONG

from minmip.hw.top import TextureAddresser

PORTS = dict.fromkeys(("memory_base", "memory_limit", "counter_clear", "counter_select"), 0)
"""The bench drives them itself."""


@pytest.mark.parametrize("preset", CONFIGS if LONG else ["small"])
def test_cocotb(preset, monkeypatch):
    monkeypatch.setenv("MINMIP_UNIT", preset)
    unit = TextureAddresser(CONFIGS[preset])
    run_cocotb(unit, "texture_addresser", {}, {}, ports=PORTS, bench="cocotb_unit")
