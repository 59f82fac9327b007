"""Credit buffer: makes a stream block of a free-running datapath."""

from amaranth.hdl import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from minmip.hw.lib.queue import Queue

__all__ = ["CreditBuffer"]


class CreditBuffer(wiring.Component):
    """Stream block around a datapath that never stops.

    A beat is taken only while a place in the response queue is free for it (a credit), so no
    `ready` runs through the datapath and its registers need no clock enable.

    One beat per clock sustained, latency `datapath.latency + 2`. `i.ready`, `o.valid` and
    `o.payload` are registers; `o.ready` reaches nothing but registers. `i.valid` and `i.payload`
    go straight into the datapath.

    A block is made by deriving from this class::

        class Lod(CreditBuffer):
            def __init__(self, cfg):
                self.cfg = cfg
                super().__init__(LodDatapath(cfg))

    Parameters
    ----------
    datapath : wiring.Component
        Members `i: In(shape)`, `i_valid: In(1)`, `o: Out(shape)`, `o_valid: Out(1)`; attribute
        `latency`, 1 or more: what enters in clock t (`i_valid` high) shows at `o`, with `o_valid`
        high, in clock t + latency. Reset clears the valid bits.

    Attributes
    ----------
    latency : int
        Of the block.
    credits : int
        Beats that can be inside.
    credit : Signal
        The state that proofs look at.

    Members
    -------
    i : In(stream.Signature(datapath.i))
    o : Out(stream.Signature(datapath.o))
    """

    i: stream.Interface
    o: stream.Interface

    def __init__(self, datapath):
        if datapath.latency < 1:
            raise ValueError(f"a datapath must take 1 clock or more, not {datapath.latency}")
        self.datapath = datapath
        # A credit is away for latency + 2 clocks, and two are kept back for the register of ready.
        rows = 1 << ceil_log2(datapath.latency + 3)
        members = datapath.signature.members
        self.queue = Queue(members["o"].shape, rows, never_full=True)
        self.credits = rows + 1  # the queue's rows and its output register
        self.latency = datapath.latency + 2
        # Free places less 2: the sign says "fewer than two", so that one clock later, after at
        # most one more beat, a place is still there. No adder feeds the register of ready.
        self.credit = Signal(range(-2, self.credits - 1), init=self.credits - 2)
        super().__init__(
            {
                "i": In(stream.Signature(members["i"].shape)),
                "o": Out(stream.Signature(members["o"].shape)),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.datapath = datapath = self.datapath
        m.submodules.queue = queue = self.queue

        credit = self.credit
        ready = Signal(init=1)
        take, give = Signal(), Signal()
        m.d.comb += [
            take.eq(self.i.valid & ready),
            give.eq(self.o.valid & self.o.ready),
            self.i.ready.eq(ready),
        ]
        m.d.sync += ready.eq(~credit[-1])
        with m.If(take & ~give):
            m.d.sync += credit.eq(credit - 1)
        with m.If(give & ~take):
            m.d.sync += credit.eq(credit + 1)

        m.d.comb += [
            datapath.i.eq(self.i.payload),
            datapath.i_valid.eq(take),
            queue.i.payload.eq(datapath.o),
            queue.i.valid.eq(datapath.o_valid),
        ]
        wiring.connect(m, queue.o, wiring.flipped(self.o))
        return m
