"""Runs the cocotb bench of stream blocks (`cocotb_stream.py`) on a block's Verilog."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from kit.packing import beats_of_ints, pack
from kit.vlib import stream_ports
from minmip.hw.build import verilog
from minmip.sim.runners.cocotb_model import CocotbModel
from minmip.sim.runners.verilate import Design

__all__ = ["run_cocotb"]


def run_cocotb(
    block,
    name: str,
    columns,
    expected,
    *,
    ports=None,
    seed: int = 1,
    bench: str = "cocotb_stream",
) -> None:
    """Send golden columns through a block under cocotb in every traffic mode, and with a reset.

    Parameters
    ----------
    block : wiring.Component
        The design; its plain inputs must all be in `ports`.
    name : str
        Name of its Verilog module.
    columns, expected : mapping of str to columns
        What goes into each input stream, and what must come out of each output stream.
    ports : mapping of str to int
        Values of the plain inputs, by Verilog name.
    seed : int
        Of the stalls; printed by cocotb when a test fails.
    bench : str
        Module with the cocotb tests, for a block that needs its own; it finds all this in the file
        $MINMIP_BENCH.

    Raises
    ------
    AssertionError
        When a cocotb test fails, or none ran.
    """
    inputs, outputs, plain, _ = stream_ports(block)
    if set(ports or {}) != set(plain):
        raise ValueError(f"ports must give {sorted(plain)}, not {sorted(ports or {})}")
    model = CocotbModel(Design.of(verilog(block, name), name))
    with tempfile.TemporaryDirectory(prefix="minmip-cocotb-") as folder:
        beats = Path(folder, "bench.npz")
        np.savez(
            beats,
            **{f"i:{port}": pack(inputs[port], part) for port, part in columns.items()},
            **{f"o:{port}": pack(outputs[port], part) for port, part in expected.items()},
            **{
                f"p:{port}": beats_of_ints([value], plain[port])
                for port, value in (ports or {}).items()
            },
        )
        model.test(bench, Path(folder), seed=seed, variables={"MINMIP_BENCH": str(beats)})
