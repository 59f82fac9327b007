"""ULX3S with an ECP5-85F: clock, reset and pins around the board, and its bitstream.

Pins are those of amaranth-boards; Yosys, nextpnr and ecppack are called as everywhere else.
"""

from amaranth.hdl import Instance, Module, Signal
from amaranth.lib import io, wiring
from amaranth_boards.ulx3s import ULX3S_85F_Platform

from minmip.hw.board.config import ULX3S, BoardConfig
from minmip.hw.board.top import Board
from minmip.hw.vendor import ecp5

__all__ = ["Ulx3sPlatform", "Ulx3sTop"]

_VCO_HZ = 600_000_000
"""Of the PLL, 400 to 800 MHz."""


class Ulx3sPlatform(ULX3S_85F_Platform):
    """The board of amaranth-boards, with the hard blocks of `minmip.hw.vendor`."""

    def get_block_ram(self, part):
        """As in `minmip.hw.vendor.ecp5`."""
        return ecp5.get_block_ram(part)

    def get_multiplier(self, part):
        """As in `minmip.hw.vendor.ecp5`."""
        return ecp5.get_multiplier(part)


class Ulx3sTop(wiring.Component):
    """`Board` at the pins: USB serial line, FIRE 1 resets, LEDs 0 to 2 show open, busy, refused.

    Parameters
    ----------
    cfg : BoardConfig
        Its clock is a multiple of the board's 25 MHz and divides the PLL's 600 MHz.
    """

    def __init__(self, cfg: BoardConfig = ULX3S):
        self.cfg = cfg
        super().__init__({})

    def elaborate(self, platform):
        m = Module()
        m.submodules.board = board = Board(self.cfg)
        uart = platform.request("uart", 0, dir="-")
        inputs = {
            "rx": uart.rx,
            "button": platform.request("button_fire", 0, dir="-"),
            "source": platform.request(platform.default_clk, dir="-"),
        }
        outputs = {
            "tx": (uart.tx, board.tx),
            "led_open": (platform.request("led", 0, dir="-"), board.is_open),
            "led_busy": (platform.request("led", 1, dir="-"), board.busy),
            "led_refused": (platform.request("led", 2, dir="-"), board.refused),
        }
        pins = {}
        for name, port in inputs.items():
            m.submodules[name] = buffer = io.Buffer(io.Direction.Input, port)
            pins[name] = buffer.i
        for name, (port, value) in outputs.items():
            m.submodules[name] = buffer = io.Buffer(io.Direction.Output, port)
            m.d.comb += buffer.o.eq(value)
        clock = Signal(name="clock")  # the name that its constraint has
        locked = Signal()
        source_hz = int(platform.default_clk_constraint.frequency)
        m.submodules.pll = _pll(pins["source"], source_hz, clock, self.cfg.clock_hz, locked)
        platform.add_clock_constraint(clock, self.cfg.clock_hz)
        m.d.comb += [
            board.clk.eq(clock),
            board.rst.eq(~locked | pins["button"]),
            board.rx.eq(pins["rx"]),
        ]
        return m


def _pll(source, source_hz: int, clock, clock_hz: int, locked) -> Instance:
    """ECP5's PLL (FPGA-TN-02200): the output is fed back, so it is the input times a whole number.

    Raises
    ------
    ValueError
        When the clock is no multiple of the source, or does not divide the VCO's frequency.
    """
    if clock_hz % source_hz or _VCO_HZ % clock_hz:
        raise ValueError(
            f"the clock must be a multiple of {source_hz / 1e6:g} MHz that divides "
            f"{_VCO_HZ / 1e6:g} MHz, not {clock_hz / 1e6:g} MHz"
        )
    divide = _VCO_HZ // clock_hz
    return Instance(
        "EHXPLLL",
        p_PLLRST_ENA="DISABLED",
        p_INTFB_WAKE="DISABLED",
        p_STDBY_ENABLE="DISABLED",
        p_DPHASE_SOURCE="DISABLED",
        p_OUTDIVIDER_MUXA="DIVA",
        p_CLKOP_ENABLE="ENABLED",
        p_CLKI_DIV=1,
        p_CLKFB_DIV=clock_hz // source_hz,
        p_CLKOP_DIV=divide,
        p_CLKOP_CPHASE=divide // 2 - 1,
        p_CLKOP_FPHASE=0,
        p_FEEDBK_PATH="CLKOP",
        i_CLKI=source,
        i_CLKFB=clock,
        i_RST=0,
        i_STDBY=0,
        i_PHASESEL0=0,
        i_PHASESEL1=0,
        i_PHASEDIR=1,
        i_PHASESTEP=1,
        i_PHASELOADREG=1,
        i_PLLWAKESYNC=0,
        i_ENCLKOP=0,
        o_CLKOP=clock,
        o_LOCK=locked,
        a_FREQUENCY_PIN_CLKI=str(source_hz / 1e6),
        a_FREQUENCY_PIN_CLKOP=str(clock_hz / 1e6),
        a_ICP_CURRENT="12",
        a_LPF_RESISTOR="8",
        a_MFG_ENABLE_FILTEROPAMP="1",
        a_MFG_GMCREF_SEL="2",
    )
