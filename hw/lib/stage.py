"""Elastic register: one pipeline stage of a stream."""

from amaranth.hdl import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

__all__ = ["Stage"]


class Stage(wiring.Component):
    """Register `valid` and `payload` of a stream.

    One beat per clock, latency 1. `i.ready` follows `o.ready` combinationally: cut long chains with
    a `Queue`.

    Parameters
    ----------
    shape : ShapeLike
        Payload.

    Members
    -------
    i : In(stream.Signature(shape))
    o : Out(stream.Signature(shape))
    """

    i: stream.Interface
    o: stream.Interface

    def __init__(self, shape):
        self.shape = shape
        super().__init__({"i": In(stream.Signature(shape)), "o": Out(stream.Signature(shape))})

    def elaborate(self, platform):
        m = Module()
        with m.If(~self.o.valid | self.o.ready):
            m.d.comb += self.i.ready.eq(1)
            m.d.sync += [self.o.valid.eq(self.i.valid), self.o.payload.eq(self.i.payload)]
        return m
