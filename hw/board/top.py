"""A board: the unit with its map memory behind a serial line. Wiring only."""

from amaranth.hdl import Module, ResetInserter, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.board.commands import Commands
from minmip.hw.board.config import BoardConfig
from minmip.hw.board.link import HostLink
from minmip.hw.top import TextureAddresser

__all__ = ["Board"]


class Board(wiring.Component):
    """The unit, driven by packets (`docs/board.md`). Sample patterns are dropped.

    Parameters
    ----------
    cfg : BoardConfig
        Unit, clock and times.

    Members
    -------
    rx : In(1)
        Serial line from the host, not in step with the clock.
    tx : Out(1)
        Serial line to the host.
    is_open, busy, refused : Out(1)
        As of `HostLink`.
    """

    rx: Signal
    tx: Signal
    is_open: Signal
    busy: Signal
    refused: Signal

    def __init__(self, cfg: BoardConfig):
        self.cfg = cfg
        super().__init__(
            {
                "rx": In(1, init=1),  # pyright: ignore[reportCallIssue]
                "tx": Out(1, init=1),  # pyright: ignore[reportCallIssue]
                "is_open": Out(1),
                "busy": Out(1),
                "refused": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.link = link = HostLink(self.cfg)
        unit = TextureAddresser(self.cfg.unit)
        commands = Commands(self.cfg, len(unit.counter_names))
        m.submodules.unit = ResetInserter(link.reset)(unit)
        m.submodules.commands = ResetInserter(link.reset)(commands)
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
