"""Verilog of a block as its own top, and the one place that runs Yosys.

Yosys is the native one of the `pyosys` package, in a process of its own: an error ends that process
and not the caller's.
"""

import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from amaranth.back import rtlil as amaranth_rtlil

from minmip.hw.tool import BuildError

__all__ = ["rtlil", "run_yosys", "verilog"]

_RUN = """
import sys
from pyosys import libyosys
design = libyosys.Design()
for command in sys.argv[1:]:
    libyosys.run_pass(command, design)
"""

# What Amaranth marks for its own use.
_INTERNAL = "-remove generator -remove top -remove src -remove amaranth.hierarchy"


def run_yosys(commands: Sequence[str], folder: Path) -> str:
    """Run Yosys commands in a folder and return what they print.

    Raises
    ------
    BuildError
        When pyosys is not installed or a command fails; the text is Yosys' own.
    """
    done = subprocess.run(
        [sys.executable, "-c", _RUN, *commands],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if "No module named 'pyosys'" in done.stdout:
        raise BuildError("Yosys is missing: install pyosys (`make setup`)")
    if done.returncode:
        lines = done.stdout.splitlines()
        reason = next((line for line in lines if "ERROR" in line), "\n".join(lines[-3:]))
        raise BuildError(f"Yosys failed: {reason}")
    return done.stdout


def rtlil(block, name: str, platform=None, *, ports=None) -> str:
    """Convert a block to RTLIL, without source paths: the same text on every machine.

    Parameters
    ----------
    block : wiring.Component
        The design; its members become the ports, joined by `__`.
    name : str
        Name of the top module. Inner modules are called `<name>_<submodule>`.
    platform : object
        Passed to `elaborate`: None, or `minmip.hw.vendor.ecp5` for its hard blocks.
    ports : sequence of Signal
        For a design without a signature.
    """
    text = amaranth_rtlil.convert(block, name=name, platform=platform, ports=ports, emit_src=False)
    # Amaranth joins the names of inner modules by dots, which Verilog can only write escaped.
    return re.sub(
        r"^(\s*(?:module|cell) \\)([\w.$]+)",
        lambda found: found[1] + found[2].replace(".", "_"),
        text,
        flags=re.MULTILINE,
    )


def verilog(block, name: str, platform=None) -> str:
    """Convert a block to Verilog; parameters as in `rtlil`."""
    with tempfile.TemporaryDirectory(prefix="minmip-") as folder:
        Path(folder, "top.il").write_text(rtlil(block, name, platform))
        run_yosys(
            [
                "read_rtlil top.il",
                "proc -nomux -norom",
                "memory_collect",
                f"attrmap {_INTERNAL}",
                f"attrmap -modattr {_INTERNAL}",
                "write_verilog -norename top.v",
            ],
            Path(folder),
        )
        # The first line names the compiler of Yosys itself.
        _, _, text = Path(folder, "top.v").read_text().partition("\n")
        return text.lstrip()
