"""Several streams to one, in turn."""

from amaranth.hdl import Module, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

__all__ = ["Arbiter"]


class Arbiter(wiring.Component):
    """Choose one of `count` inputs each clock, round robin: who waits is served after at most
    `count - 1` other beats.

    One beat per clock, latency 1. Each `i.ready` follows `o.ready` and every `i.valid`
    combinationally; `o.valid` and `o.payload` are registers.

    Parameters
    ----------
    shape : ShapeLike
        Payload.
    count : int
        Inputs, 2 or more.

    Members
    -------
    i : In(stream.Signature(shape)).array(count)
    o : Out(stream.Signature(data.StructLayout({"beat": shape, "source": range(count)})))
        The beat and the number of its input.
    """

    i: list[stream.Interface]
    o: stream.Interface

    def __init__(self, shape, count: int):
        if count < 2:
            raise ValueError(f"count must be 2 or more, not {count}")
        self.shape = shape
        self.count = count
        result = data.StructLayout({"beat": shape, "source": range(count)})
        super().__init__(
            {"i": In(stream.Signature(shape)).array(count), "o": Out(stream.Signature(result))}
        )

    def elaborate(self, platform):
        m = Module()
        last = Signal(range(self.count))
        chosen = Signal(range(self.count))
        with m.Switch(last):
            for n in range(self.count):
                with m.Case(n):
                    # Of several assignments the latest counts: the nearest after `last`.
                    for step in range(self.count, 0, -1):
                        other = (n + step) % self.count
                        with m.If(self.i[other].valid):
                            m.d.comb += chosen.eq(other)

        with m.If(~self.o.valid | self.o.ready):
            m.d.sync += self.o.valid.eq(0)
            with m.Switch(chosen):
                for n, i in enumerate(self.i):
                    with m.Case(n):
                        m.d.comb += i.ready.eq(1)
                        with m.If(i.valid):
                            m.d.sync += [
                                self.o.valid.eq(1),
                                self.o.p.beat.eq(i.payload),
                                self.o.p.source.eq(n),
                                last.eq(n),
                            ]
        return m
