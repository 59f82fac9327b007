"""Proofs of the serial line: what is sent is received, by a clock that is a little off.

Both ends are without memory between bytes (the receiver ends at rest, the transmitter with nothing
left), so every run of one byte is every run.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor

from amaranth.hdl import Array, Assert, Assume, Cat, Const, Module, Mux, Signal
from kit.formal import Proof, Spec

from minmip.hw.board.uart import UartReceiver, UartTransmitter

__all__ = ["proofs"]

RATES = {"4": (4, 1), "25": (25, 3)}
"""Clock and baud: the fastest line that there may be, and 3 Mbaud at 25 MHz."""
OFF = {"4": Fraction(0), "25": Fraction(2, 100)}
"""How far the sender's clock may be off."""
SYNC = 2
"""Clocks from the line to what the receiver sees."""


class Received(Spec):
    """A byte comes out as it was sent, each of its edges anywhere within the tolerance."""

    def __init__(self, rate: str):
        clock, baud = RATES[rate]
        super().__init__(UartReceiver(clock_hz=clock, baud=baud))
        self.ports = []  # the line is not free
        self.byte, self.early = self.free(8, "byte"), self.free(1, "early")
        bit, off = Fraction(clock, baud), OFF[rate]
        # Clocks from the first edge to that in front of bit `n`, of 10 bits and the next start.
        self.first = [floor(n * bit * (1 - off)) for n in range(11)]
        self.last = [ceil(n * bit * (1 + off)) for n in range(11)]
        self.depth = self.first[10] + SYNC + 3

    def properties(self, m: Module) -> None:
        block = self.block
        first, last = Array(self.first), Array(self.last)
        sent = Signal(8)
        now = Signal(range(self.depth + 2))  # clocks since the first edge, and one
        index = Signal(range(10))  # which bit is on the line
        seen = Signal()
        following = Signal(range(11))
        bits = Cat(Const(0, 1), sent, Const(1, 1))
        m.d.comb += [block.rx.eq((now == 0) | bits.bit_select(index, 1)), following.eq(index + 1)]
        m.d.sync += now.eq(now + 1)
        with m.If(now == 0):
            m.d.sync += sent.eq(self.byte)
        with m.Elif((index != 9) & (now >= first[following])):
            with m.If(self.early | (now >= last[following])):
                m.d.sync += index.eq(following)
        with m.If(block.valid):
            m.d.sync += seen.eq(1)
            m.d.comb += [Assert(~seen), Assert(block.data == sent), Assert(~block.broken)]
        # The next start bit finds it at rest.
        with m.If(now == self.first[10] + SYNC):
            m.d.comb += [Assert(seen | block.valid), Assert(block.resting)]


class Sent(Spec):
    """A byte is a start bit, its bits from the lowest on, a stop bit; edges are right to a clock.

    To none where the clock is a multiple of the rate.
    """

    def __init__(self, rate: str):
        clock, baud = RATES[rate]
        super().__init__(UartTransmitter(clock_hz=clock, baud=baud))
        self.bit = Fraction(clock, baud)
        self.depth = ceil(10 * self.bit) + 5

    def properties(self, m: Module) -> None:
        self.assume_inputs(m)
        i, tx = self.block.i, self.block.tx
        whole = floor(10 * self.bit)
        sent = Signal(8)
        now = Signal(range(self.depth + 2))  # clocks since the byte was taken; 0 at rest
        m.d.comb += Assume(i.valid)  # a pause changes nothing: at rest all that counts is fixed
        m.d.sync += now.eq(Mux(now == 0, 0, now + 1))
        with m.If(i.ready):
            m.d.sync += [sent.eq(i.payload), now.eq(i.valid)]
            m.d.comb += [Assert(tx), Assert((now == 0) | (now >= whole))]
        m.d.comb += Assert(now <= whole + 3)
        bits = Cat(Const(0, 1), sent, Const(1, 1))
        for n in range(10):
            first = floor(n * self.bit) + 2 + (n > 0 and self.bit.denominator > 1)
            last = floor((n + 1) * self.bit) + 1
            with m.If((now >= first) & (now <= last)):
                m.d.comb += Assert(tx == bits[n])


def proofs() -> list[Proof]:
    made = []
    for rate in RATES:
        for block, kind, says in (
            ("uart_receiver", Received, "a byte comes out as sent, its edges a little off"),
            ("uart_transmitter", Sent, "start bit, the byte's bits, stop bit, right to a clock"),
        ):
            made.append(
                Proof(
                    block=block,
                    name=f"bytes{rate}",
                    says=f"{says}; {Fraction(*RATES[rate])} clocks per bit",
                    make=lambda kind=kind, rate=rate: kind(rate),
                    mode="bmc",
                    depth=kind(rate).depth,
                )
            )
    return made
