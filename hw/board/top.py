"""A board: the unit with its map memory behind a serial line. Wiring only."""

from amaranth.hdl import ClockDomain, ClockSignal, Module, ResetInserter, Signal
from amaranth.lib import wiring
from amaranth.lib.cdc import AsyncFFSynchronizer
from amaranth.lib.wiring import In, Out

from minmip.hw.board.commands import Commands
from minmip.hw.board.config import BoardConfig
from minmip.hw.board.link import HostLink
from minmip.hw.top import TextureAddresser

__all__ = ["RESET_STAGES", "Board"]

RESET_STAGES = 4
"""Registers from a reset to what it resets. The unit has thousands of loads: `minmip.hw.fanout`
copies these registers, more from stage to stage, so that no wire has many loads or a long way."""


class Board(wiring.Component):
    """The unit, driven by packets (`docs/board.md`). Sample patterns are dropped.

    Parameters
    ----------
    cfg : BoardConfig
        Unit, clock and times.

    Members
    -------
    clk : In(1)
    rst : In(1)
        Reset button, not in step with the clock.
    rx : In(1)
        Serial line from the host, not in step with the clock.
    tx : Out(1)
        Serial line to the host.
    is_open, busy, refused : Out(1)
        As of `HostLink`.
    """

    clk: Signal
    rst: Signal
    rx: Signal
    tx: Signal
    is_open: Signal
    busy: Signal
    refused: Signal

    def __init__(self, cfg: BoardConfig):
        self.cfg = cfg
        super().__init__(
            {
                "clk": In(1),
                "rst": In(1),
                "rx": In(1, init=1),  # pyright: ignore[reportCallIssue]
                "tx": Out(1, init=1),  # pyright: ignore[reportCallIssue]
                "is_open": Out(1),
                "busy": Out(1),
                "refused": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        # No reset of the domain: one net, with logic behind it, would go to every register.
        m.domains += ClockDomain("sync", reset_less=True, local=True)
        m.d.comb += ClockSignal().eq(self.clk)
        pushed = Signal(init=1)
        m.submodules.pushed = AsyncFFSynchronizer(self.rst, pushed)
        link = HostLink(self.cfg)
        m.submodules.link = ResetInserter(_stages(m, pushed, "link_reset"))(link)
        unit = TextureAddresser(self.cfg.unit)
        commands = Commands(self.cfg, len(unit.counter_names))
        reset = _stages(m, link.reset, "unit_reset")
        m.submodules.unit = ResetInserter(reset)(unit)
        m.submodules.commands = ResetInserter(reset)(commands)
        for source, sink in (
            (link.o_payload, commands.i_payload),
            (commands.o_payload, link.i_payload),
            (commands.o_quads, unit.i),
            (unit.o, commands.i_answers),
            (commands.o_host, unit.i_host),
            (unit.o_host, commands.i_host),
            (commands.o_clear, unit.i_clear),
            (unit.o_clear, commands.i_clear),
        ):
            wiring.connect(m, source, sink)
        m.d.comb += [
            link.rx.eq(self.rx),
            self.tx.eq(link.tx),
            commands.start.eq(link.start),
            commands.code.eq(link.code),
            commands.length.eq(link.length),
            commands.empty.eq(link.empty),
            link.done.eq(commands.done),
            link.status.eq(commands.status),
            unit.o_pattern.ready.eq(1),
            unit.memory_base.eq(commands.memory_base),
            unit.memory_limit.eq(commands.memory_limit),
            unit.counter_select.eq(commands.counter_select),
            commands.counter_value.eq(unit.counter_value),
            self.is_open.eq(link.is_open),
            self.busy.eq(link.busy),
            self.refused.eq(link.refused),
        ]
        return m


def _stages(m: Module, reset, name: str) -> Signal:
    """Return a reset as it was `RESET_STAGES` clocks ago; it begins asserted."""
    for n in range(RESET_STAGES):
        later = Signal(init=1, name=f"{name}_q{n + 1}")
        m.d.sync += later.eq(reset)
        reset = later
    return reset
