"""The files of `constraints/`: pins and clocks of boards, timing for other tools.

Pins come from amaranth-boards, and Amaranth writes the pin files. Timing has one source, `TIMINGS`.
"""

from dataclasses import dataclass

from amaranth.hdl import Module, Signal
from amaranth.lib import io, wiring

from minmip.hw.board.config import ULX3S
from minmip.hw.tool import BuildError

__all__ = ["PINS", "TIMINGS", "Timing", "constraint_files", "sdc", "xdc"]

_HEADER = "# Made by `minmip constraints`: change hw/board/constraints.py and run it again.\n"
_LEDS = 3

PINS = {
    "ulx3s": ("ulx3s:ULX3S_85F_Platform", "ULX3S, ECP5-85F: the whole board", ("lpf",)),
    "ice40_hx8k_b_evn": (
        "ice40_hx8k_b_evn:ICE40HX8KBEVNPlatform",
        "iCE40HX8K-B-EVN: for blocks behind the host link; the whole unit does not fit",
        ("pcf",),
    ),
    "tang_nano_9k": (
        "tang_nano_9k:TangNano9kPlatform",
        "Tang Nano 9K (GW1NR-9C): for blocks behind the host link; the whole unit does not fit",
        ("cst", "sdc"),
    ),
}
"""Board name to its platform in amaranth-boards, what it is good for, kinds of files."""


@dataclass(frozen=True, kw_only=True)
class Timing:
    """What a tool must know of a design's clock and ports.

    Parameters
    ----------
    design : str
        Top module; its ports are those of `minmip verilog`, `clk` among them.
    mhz : float
        Clock.
    about : str
        Where the figure is from.
    share : float
        Part of a clock period that lies outside the ports, at inputs and outputs alike.
    free_inputs, free_outputs : tuple of str
        Ports that are not in step with the clock.
    """

    design: str
    mhz: float
    about: str
    share: float = 0.0
    free_inputs: tuple[str, ...] = ()
    free_outputs: tuple[str, ...] = ()

    def __post_init__(self):
        if self.mhz <= 0:
            raise ValueError(f"mhz must be above 0, not {self.mhz}")
        if not 0 <= self.share < 1:
            raise ValueError(f"share must be from 0 to below 1, not {self.share}")


TIMINGS = (
    Timing(
        design="texture_addresser",
        mhz=100.0,
        about="what four lanes must reach on ECP5 -6; half a clock is for what is outside",
        share=0.5,
    ),
    Timing(
        design="board",
        mhz=ULX3S.clock_hz / 1e6,
        about="the clock that the host link's rate is made from",
        free_inputs=("rst", "rx"),
        free_outputs=("tx", "is_open", "busy", "refused"),
    ),
)
"""Timing of every design that other tools get."""


def constraint_files() -> dict[str, str]:
    """Every file of `constraints/` and its text.

    Raises
    ------
    BuildError
        When amaranth-boards is missing.
    """
    files = {}
    for board, (path, about, kinds) in PINS.items():
        made = _pin_files(path)
        for kind in kinds:
            comment = "//" if kind == "cst" else "#"
            head = f"{_HEADER}# {about}.\n".replace("#", comment)
            files[f"{board}.{kind}"] = head + _without_notes(made[f"top.{kind}"])
    for timing in TIMINGS:
        files[f"{timing.design}.sdc"] = sdc(timing)
        files[f"{timing.design}.xdc"] = xdc(timing)
    return files


def sdc(timing: Timing) -> str:
    """Synopsys Design Constraints, as Quartus, Radiant and the Gowin tools read them."""
    return _timing_text(timing, "[remove_from_collection [all_inputs] [get_ports clk]]")


def xdc(timing: Timing) -> str:
    """Xilinx Design Constraints; pins are the user's: no Xilinx board is here."""
    return _timing_text(timing, "[get_ports -filter {DIRECTION == IN && NAME != clk}]")


def _timing_text(timing: Timing, inputs: str) -> str:
    """Both languages are Tcl with the same commands; they differ in how ports are chosen."""
    period = 1e3 / timing.mhz
    lines = [
        f"{_HEADER}# {timing.design} at {timing.mhz:g} MHz: {timing.about}.",
        f"create_clock -name clk -period {period:.3f} [get_ports clk]",
    ]
    if timing.share:
        delay = f"{period * timing.share:.3f}"
        lines += [
            f"set_input_delay -clock clk {delay} {inputs}",
            f"set_output_delay -clock clk {delay} [all_outputs]",
        ]
    lines += [f"set_false_path -from [get_ports {port}]" for port in timing.free_inputs]
    lines += [f"set_false_path -to [get_ports {port}]" for port in timing.free_outputs]
    return "\n".join(lines) + "\n"


class _Pins(wiring.Component):
    """Uses the pins of the host link, so that a platform writes them down."""

    def __init__(self):
        super().__init__({})

    def elaborate(self, platform):
        m = Module()
        uart = platform.request("uart", 0, dir="-")
        m.submodules.rx = rx = io.Buffer(io.Direction.Input, uart.rx)
        line = Signal()
        m.d.sync += line.eq(rx.i)
        for n, port in enumerate([uart.tx, *(_led(platform, n) for n in range(_LEDS))]):
            m.submodules[f"out{n}"] = out = io.Buffer(io.Direction.Output, port)
            m.d.comb += out.o.eq(line)
        return m


def _led(platform, n: int):
    return platform.request("led", n, dir="-")


def _pin_files(path: str) -> dict[str, str]:
    """What a platform of amaranth-boards makes of `_Pins`, and its clocks as `top.sdc`."""
    from importlib import import_module

    module, _, name = path.partition(":")
    try:
        platform = getattr(import_module(f"amaranth_boards.{module}"), name)()
    except ModuleNotFoundError as error:
        raise BuildError(f"{error.name} is missing: install it by `make setup`") from None
    plan = platform.prepare(_Pins(), "top")
    clocks = [
        f"create_clock -name {port.name} -period {1e9 / hertz:.3f} [get_ports {{{port.name}}}]\n"
        for port, hertz in platform.iter_port_clock_constraints()
    ]
    return {"top.sdc": "".join(clocks)} | {
        file: text if isinstance(text, str) else text.decode() for file, text in plan.files.items()
    }


def _without_notes(text: str) -> str:
    """Leave out comments, which name Amaranth's version, and blank lines."""
    lines = [line.strip() for line in text.splitlines()]
    return "".join(f"{line}\n" for line in lines if line and not line.startswith(("#", "//")))
