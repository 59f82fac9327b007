"""One byte of the memory port: MIN, MAX, OR or SET every clock, on the same byte too."""

from amaranth.hdl import Module, Mux
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from minmip.hw import byte_op
from minmip.hw.lib.delay import delay
from minmip.hw.shapes import MemoryOp

__all__ = ["ByteLane"]


class ByteLane(wiring.Component):
    """Read-modify-write of one byte with forwarding, one operation per clock, never waiting.

    The stages of an operation, by the clock in which its read is at the memory's pins (0) and the
    memory's latency L:

    ======= ======================================================================================
    1, 2    `hit` says which of the operations before it write the same byte.
    0..L    While the memory answers, the result of a hit is carried along: the operation d before
            is at `result` in stage L + 3 - d.
    L + 1   The byte before the operation: the hit of distance 2, what is carried, or the byte of
            the memory. It is compared with the operand.
    L + 2   The byte made of it; or, with a hit of distance 1, of `result`: the loop of one clock.
    L + 3   The new byte is at `result`, and goes to the memory.
    ======= ======================================================================================

    So no stage has more than one compare with one look-up table before or behind it. A read of the
    memory in stage L + 4 or later finds the byte there.

    Parameters
    ----------
    latency : int
        Of the memory, 1 or more.

    Members
    -------
    hit : In(latency + 3)
        Bit d - 1: the operation d before this one writes this byte of the same word; in the highest
        bit, any byte of it. Stage 1, but bit 0 in stage 2.
    read : In(8)
        Stage `latency`. Byte from the memory.
    op : In(MemoryOp)
        Stage `latency`.
    operand : In(8)
        Stage `latency`.
    enable : In(1)
        Stage `latency`. Without it the byte stays as it is.
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
                "enable": In(1),
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
                (2, latency),
                *((distance, latency + 2 - distance) for distance in range(3, latency + 3)),
            )
        ]

        # Stage 0 needs no choice: what is carried counts only with a hit.
        carried = delay(m, result, 1, name="carried")
        for distance in range(latency + 2, 2, -1):
            carried = Mux(hit[distance - 1], result, carried)
            carried = delay(m, carried, 1, name=f"carried{distance}")
        found = delay(m, self.hit[2:].any(), latency, name="found")
        read = delay(m, self.read, 1, name="read")

        # Decoded a clock early; OR with 0 leaves the byte as it is.
        op = Mux(self.enable, self.op, MemoryOp.OR)
        rule = delay(m, byte_op.decode(op), 1, name="rule")
        operand = delay(m, self.operand & self.enable.replicate(8), 1, name="operand")

        # Distance 2 and more.
        old = Mux(hit[1], result, Mux(found, carried, read))
        wins = delay(m, byte_op.compare(rule, old, operand), 1, name="wins")
        old = delay(m, old, 1, name="old")

        # Distance 1, the loop of one clock; without a hit the byte made above is set.
        loop = delay(m, hit[0], 1, name="loop")
        loop_rule = delay(m, Mux(hit[0], rule, byte_op.decode(MemoryOp.SET)), 1, name="loop_rule")
        operand = delay(m, operand, 1, name="loop_operand")
        new = Mux(loop, operand, byte_op.pick(wins, old, operand))
        wins = byte_op.compare(loop_rule, result, operand)
        m.d.sync += result.eq(byte_op.pick(wins, result, new))
        return m
