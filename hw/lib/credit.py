"""Credit buffer: makes a stream block of a free-running datapath."""

from amaranth.hdl import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from minmip.hw.lib.credit_counter import CreditCounter
from minmip.hw.lib.delay import delay
from minmip.hw.lib.queue import Queue

__all__ = ["CreditBuffer"]


class CreditBuffer(wiring.Component):
    """Stream block around a datapath that never stops.

    A beat is taken only while a place in the response queue is free for it (a credit), so no
    `ready` runs through the datapath and its registers need no clock enable.

    One beat per clock sustained, latency `datapath.latency + entry + 2`. `i.ready`, `o.valid` and
    `o.payload` are registers; `o.ready` reaches nothing but registers. `i.valid` and `i.payload`
    go straight into the datapath, or into the registers of `entry`. These need no clock enable
    either, since a beat that is taken never waits: better than an elastic register in front.

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
    entry : int
        Registers in front of the datapath.

    Attributes
    ----------
    latency : int
        Of the block.
    credits : CreditCounter
    queue : Queue
        The state that proofs look at: places for beats inside, and the response queue.

    Members
    -------
    i : In(stream.Signature(datapath.i))
    o : Out(stream.Signature(datapath.o))
    """

    i: stream.Interface
    o: stream.Interface

    def __init__(self, datapath, *, entry: int = 0):
        if datapath.latency < 1:
            raise ValueError(f"a datapath must take 1 clock or more, not {datapath.latency}")
        self.datapath = datapath
        self.entry = entry
        self.latency = datapath.latency + entry + 2
        # A credit is away for latency clocks, and two are kept back for the register of ready. What
        # the power of two adds lets the counter have more registers.
        rows = 1 << ceil_log2(self.latency + 1)
        members = datapath.signature.members
        self.queue = Queue(members["o"].shape, rows, never_full=True)
        places = rows + 1  # the queue's rows and its output register
        self.credits = CreditCounter(places, registers=min(places - self.latency - 2, 2))
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
        m.submodules.credits = credits = self.credits
        m.d.comb += [
            self.i.ready.eq(credits.ready),
            credits.take.eq(self.i.valid & credits.ready),
            credits.give.eq(self.o.valid & self.o.ready),
            datapath.i.eq(delay(m, self.i.payload, self.entry, name="entry")),
            datapath.i_valid.eq(
                delay(m, credits.take, self.entry, name="entered", reset_less=False)
            ),
            queue.i.payload.eq(datapath.o),
            queue.i.valid.eq(datapath.o_valid),
        ]
        wiring.connect(m, queue.o, wiring.flipped(self.o))
        return m
