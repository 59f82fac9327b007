"""One byte of the memory port: MIN, MAX, OR or SET every clock, on the same byte too."""

from amaranth.hdl import Module, Mux
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.lib.delay import delay
from minmip.hw.shapes import MemoryOp

__all__ = ["ByteLane"]


class ByteLane(wiring.Component):
    """Read-modify-write of one byte with forwarding, one operation per clock, never waiting.

    The stages of an operation, by the clock in which its read is at the memory's pins (0) and the
    memory's latency L:

    ======= ======================================================================================
    1, 2    `hit` says which of the operations before it wrote the same byte.
    1..L-1  While the memory answers, the result of a hit is carried along: the operation d before
            is at `result` in stage L + 3 - d.
    L       Base: the hit of distance 3, what is carried, or the byte of the memory.
    L + 1   The operation on the base, and at the same time on `result`, for distance 2.
    L + 2   The operation on `result`, for distance 1: the loop of one clock. Else one of the two
            above.
    L + 3   The new byte is at `result`, and goes to the memory.
    ======= ======================================================================================

    So every stage has at most one compare and one select of two bytes. A read of the memory in
    clock L + 4 or later finds the byte there.

    Parameters
    ----------
    latency : int
        Of the memory, 1 or more.

    Members
    -------
    hit : In(latency + 3)
        Bit d - 1: the operation d before this one writes this byte of the same word. Stage 1, but
        bit 0 in stage 2.
    read : In(8)
        Stage `latency`. Byte from the memory.
    op : In(MemoryOp)
        Stage `latency + 1`.
    operand : In(8)
        Stage `latency + 1`.
    result : Out(8)
        Stage `latency + 3`. New byte.
    """

    def __init__(self, latency: int):
        if latency < 1:
            raise ValueError(f"latency must be 1 or more, not {latency}")
        self.latency = latency
        super().__init__(
            {
                "hit": In(latency + 3),
                "read": In(8),
                "op": In(MemoryOp),
                "operand": In(8),
                "result": Out(8),
            }
        )

    def elaborate(self, platform):
        m = Module()
        latency, result = self.latency, self.result
        hit = [
            delay(m, self.hit[distance - 1], clocks, name=f"hit{distance}")
            for distance, clocks in (
                (1, latency - 1),
                (2, latency + 1),
                *((distance, latency + 2 - distance) for distance in range(3, latency + 3)),
                (latency + 3, 0),
            )
        ]

        # Stage 0 needs no select: what is carried counts only with a hit.
        carried = delay(m, result, 1, name="carried")
        held = hit[latency + 2]
        for distance in range(latency + 2, 3, -1):
            carried = delay(
                m, Mux(hit[distance - 1], result, carried), 1, name=f"carried{distance}"
            )
            held = delay(m, hit[distance - 1] | held, 1, name=f"held{distance}")
        base = delay(m, Mux(hit[2], result, Mux(held, carried, self.read)), 1, name="base")

        operand = delay(m, self.operand, 1, name="operand")
        on_base = _apply(self.op, base, self.operand, self.operand < base)
        on_base = delay(m, on_base, 1, name="on_base")
        on_result = _apply(self.op, result, self.operand, self.operand < result)
        on_result = delay(m, on_result, 1, name="on_result")
        # SET gives the same on any byte: without a hit the loop sets the byte made before.
        loop = Mux(hit[0], self.op, MemoryOp.SET)
        loop = delay(m, loop, 1, name="loop")

        new = Mux(loop == MemoryOp.SET, Mux(hit[1], on_result, on_base), operand)
        m.d.sync += result.eq(_apply(loop, result, new, operand < result))
        return m


def _apply(op, old, new, less):
    """Byte after `op`; `less` says that the operand is below the old byte."""
    return Mux(
        op == MemoryOp.OR,
        old | new,
        Mux((op == MemoryOp.SET) | (less ^ (op == MemoryOp.MAX)), new, old),
    )
