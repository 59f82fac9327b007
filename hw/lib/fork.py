"""One stream to several."""

from amaranth.hdl import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

__all__ = ["Fork"]


class Fork(wiring.Component):
    """Give every beat to each of `count` outputs once; each takes it when it likes.

    One beat per clock, latency 0: `o.valid` and `o.payload` follow the input and `i.ready` follows
    every `o.ready` combinationally. An output that has taken a beat waits for the others.

    Parameters
    ----------
    shape : ShapeLike
        Payload.
    count : int
        Outputs, 2 or more.

    Members
    -------
    i : In(stream.Signature(shape))
    o : Out(stream.Signature(shape)).array(count)
    """

    i: stream.Interface
    o: list[stream.Interface]

    def __init__(self, shape, count: int):
        if count < 2:
            raise ValueError(f"count must be 2 or more, not {count}")
        self.shape = shape
        self.count = count
        super().__init__(
            {"i": In(stream.Signature(shape)), "o": Out(stream.Signature(shape)).array(count)}
        )

    def elaborate(self, platform):
        m = Module()
        had = Signal(self.count)  # the output has taken the beat that is still offered
        now = Signal(self.count)  # had, or takes it in this clock
        m.d.comb += self.i.ready.eq(now.all())
        for n, o in enumerate(self.o):
            m.d.comb += [
                o.payload.eq(self.i.payload),
                o.valid.eq(self.i.valid & ~had[n]),
                now[n].eq(had[n] | o.ready),
            ]
        with m.If(self.i.valid):
            m.d.sync += had.eq(now & ~now.all().replicate(self.count))
        return m
