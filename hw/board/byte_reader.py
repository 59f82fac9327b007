"""The bytes of a buffer, one after the other."""

from amaranth.hdl import Module, Signal, unsigned
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.board.packet_receiver import LENGTH
from minmip.hw.vendor.parts import BlockRam

__all__ = ["ByteReader"]

_CLOCKS = BlockRam.latency + 1
"""From an address to its byte in the register of `o`."""


class ByteReader(wiring.Component):
    """Read a block RAM from its first byte on; far faster than any serial line, at 4 clocks a byte.

    Members
    -------
    start : In(1)
        Begin again at byte 0; what was at `o` is gone.
    length : In(unsigned)
        Bytes that there are; stays as it is between two starts.
    address : Out(unsigned)
    data : In(8)
        Of the block RAM.
    o : Out(stream.Signature(8))
    empty : Out(1)
        Every byte was taken.
    """

    start: Signal
    length: Signal
    address: Signal
    data: Signal
    o: stream.Interface
    empty: Signal

    def __init__(self):
        super().__init__(
            {
                "start": In(1),
                "length": In(LENGTH),
                "address": Out(LENGTH),
                "data": In(8),
                "o": Out(stream.Signature(unsigned(8))),
                "empty": Out(1, init=1),  # pyright: ignore[reportCallIssue]
            }
        )

    def elaborate(self, platform):
        m = Module()
        wait = Signal(range(_CLOCKS + 1))
        m.d.comb += [self.o.valid.eq((wait == 0) & ~self.empty), self.o.payload.eq(self.data)]
        m.d.sync += self.empty.eq(self.address == self.length)
        with m.If(wait != 0):
            m.d.sync += wait.eq(wait - 1)
        with m.If(self.o.valid & self.o.ready):
            m.d.sync += [self.address.eq(self.address + 1), wait.eq(_CLOCKS)]
        with m.If(self.start):
            m.d.sync += [self.address.eq(0), wait.eq(_CLOCKS), self.empty.eq(0)]
        return m
