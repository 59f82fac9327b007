"""The host link in Amaranth's simulator: a stub that carries out requests, a line, an exchange."""

from __future__ import annotations

import zlib
from collections.abc import Callable

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.sim import Simulator

from minmip.hw.board.config import BoardConfig
from minmip.hw.board.link import HostLink
from minmip.hw.board.protocol import SYNC, Status

STUCK = 0x7F
"""Command that never ends."""


class Echo(wiring.Component):
    """A link whose requests are answered with their payload, each byte inverted.

    `effects` counts the requests that were carried out since the last reset.
    """

    rx: Signal
    tx: Signal
    effects: Signal
    busy: Signal

    def __init__(self, cfg: BoardConfig):
        self.cfg = cfg
        super().__init__(
            {
                "rx": In(1, init=1),  # pyright: ignore[reportCallIssue]
                "tx": Out(1),
                "effects": Out(8),
                "busy": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.link = link = HostLink(self.cfg)
        works = Signal()
        m.d.comb += [
            link.rx.eq(self.rx),
            self.tx.eq(link.tx),
            self.busy.eq(link.busy),
            link.o_payload.ready.eq(works),
            link.i_payload.valid.eq(works & link.o_payload.valid),
            link.i_payload.payload.eq(~link.o_payload.payload),
            link.status.eq(Status.DONE),
        ]
        with m.If(link.start):
            m.d.sync += works.eq(link.code != STUCK)
        with m.Elif(works & link.empty):
            m.d.comb += link.done.eq(1)
            m.d.sync += [works.eq(0), self.effects.eq(self.effects + 1)]
        with m.If(link.reset):
            m.d.sync += [works.eq(0), self.effects.eq(0)]
        return m


class Line:
    """Both ends of the serial line, inside a testbench; times in bits."""

    def __init__(self, ctx, dut: Echo):
        self.ctx, self.dut = ctx, dut
        self.clocks = dut.cfg.clock_hz / dut.cfg.baud
        self.late = 0.0

    async def wait(self, bits: float):
        """Wait for a number of bits; what is less than a clock is made up for later."""
        self.late += bits * self.clocks
        whole = int(self.late)
        self.late -= whole
        if whole:
            await self.ctx.tick().repeat(whole)

    async def hold(self, level: int, bits: float = 1):
        self.ctx.set(self.dut.rx, level)
        await self.wait(bits)

    async def send(self, packet: bytes):
        for byte in packet:
            for level in (0, *(byte >> bit & 1 for bit in range(8)), 1):
                await self.hold(level)

    async def receive(self, patience: float) -> tuple[int, int, bytes]:
        """One packet: sequence number, status, payload; starts within `patience` bits."""
        head = await self._bytes(5, patience)
        assert head[0] == SYNC
        size = int.from_bytes(head[3:], "little")
        rest = await self._bytes(size + 4, 12)
        assert zlib.crc32(head[1:] + rest[:size]) == int.from_bytes(rest[size:], "little"), "CRC"
        return head[1], head[2], rest[:size]

    async def silence(self, bits: int):
        for _ in range(int(bits * self.clocks)):
            await self.ctx.tick()
            assert self.ctx.get(self.dut.tx), "a reply that nobody asked for"

    async def _bytes(self, count: int, patience: float) -> bytes:
        found = bytearray()
        for _ in range(count):
            waited = 0
            while self.ctx.get(self.dut.tx):
                assert waited <= patience * self.clocks, f"no reply, only {found.hex()}"
                await self.ctx.tick()
                waited += 1
            await self.wait(1.5)
            byte = 0
            for bit in range(8):
                byte |= self.ctx.get(self.dut.tx) << bit
                await self.wait(1)
            assert self.ctx.get(self.dut.tx), "no stop bit"
            found.append(byte)
            patience = 12
        return bytes(found)


def simulate(cfg: BoardConfig, bench: Callable) -> None:
    """Run `bench(line, dut)` on an `Echo`."""
    dut = Echo(cfg)

    async def testbench(ctx):
        await ctx.tick().repeat(20)  # the reset after power-up
        await bench(Line(ctx, dut), dut)

    simulator = Simulator(dut)
    simulator.add_clock(1 / cfg.clock_hz)
    simulator.add_testbench(testbench)
    simulator.run()
