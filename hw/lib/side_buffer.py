"""Credit buffer with side data that waits in a queue of its own."""

from amaranth.hdl import Module
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.lib.credit import CreditBuffer
from minmip.hw.lib.delay import delay
from minmip.hw.lib.queue import Queue

__all__ = ["SideBuffer"]


class SideBuffer(wiring.Component):
    """`CreditBuffer` around a datapath, and a queue beside it for what the datapath does not need.

    Wide side data costs look-up table memory instead of a register for each clock of the datapath.

    One beat per clock sustained, latency `datapath.latency + entry + 2`; `ready` as in
    `CreditBuffer`.

    Parameters
    ----------
    datapath : wiring.Component
        As for `CreditBuffer`.
    side : ShapeLike
        Shape of the side data.
    entry : int
        As for `CreditBuffer`; side data has these registers too.

    Members
    -------
    i : In(stream.Signature(StructLayout({"beat": datapath.i, "side": side})))
    o : Out(stream.Signature(StructLayout({"beat": datapath.o, "side": side})))
    """

    i: stream.Interface
    o: stream.Interface

    def __init__(self, datapath, side, *, entry: int = 0):
        self.buffer = CreditBuffer(datapath, entry=entry)
        # Whatever is inside the credit buffer has a place here too.
        self.queue = Queue(side, self.buffer.queue.depth, never_full=True)
        self.latency = self.buffer.latency
        members = datapath.signature.members
        super().__init__(
            {
                name: flow(
                    stream.Signature(data.StructLayout({"beat": members[name].shape, "side": side}))
                )
                for name, flow in (("i", In), ("o", Out))
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.buffer = buffer = self.buffer
        m.submodules.queue = queue = self.queue
        entry, take = self.buffer.entry, self.i.valid & buffer.i.ready
        m.d.comb += [
            self.i.ready.eq(buffer.i.ready),
            buffer.i.valid.eq(self.i.valid),
            buffer.i.payload.eq(self.i.payload.beat),
            queue.i.valid.eq(delay(m, take, entry, name="take", reset_less=False)),
            queue.i.payload.eq(delay(m, self.i.payload.side, entry, name="side")),
            # The side data is there first: a queue takes 2 clocks, the buffer 3 or more.
            self.o.valid.eq(buffer.o.valid),
            self.o.payload.beat.eq(buffer.o.payload),
            self.o.payload.side.eq(queue.o.payload),
            buffer.o.ready.eq(self.o.ready),
            queue.o.ready.eq(self.o.ready & buffer.o.valid),
        ]
        return m
