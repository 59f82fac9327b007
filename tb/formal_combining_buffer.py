"""Proofs of the write-combining buffer, with few and short words.

`buffer_merge.py` has the merge; here are the streams and the queue whose beats are read twice.
"""

from __future__ import annotations

from amaranth.hdl import Assert, Assume, Module, Signal
from buffer_merge import PARTS, Merge
from kit.formal import Proof, Spec, StreamContract
from short_buffer import CFG

from minmip.hw.combining_buffer import CombiningBuffer
from minmip.hw.lib.delay import delay
from minmip.hw.replay_queue import ReplayQueue

__all__ = ["proofs"]


class ReplayBeats(Spec):
    """Beats are at the head, and ahead of it, as they came and in order; 16 rows."""

    def __init__(self):
        super().__init__(ReplayQueue(1, 16))
        self.watch = self.free(1, "watch")
        self.probe = self.block.rows.read_port(domain="comb")

    def properties(self, m: Module) -> None:
        rows = self.block
        used, ahead, place, written = (Signal(range(2 * rows.depth)) for _ in range(4))
        watched, value = Signal(), Signal()
        finished = delay(m, rows.done, 1, name="finished", reset_less=False)
        written_at = delay(m, rows.write_at, 1, name="written_at", reset_less=False)
        m.d.comb += [
            used.eq(rows.write_at - rows.head_at),
            ahead.eq(rows.ahead_at - rows.head_at),
            Assume(~rows.done | (ahead != 0)),
            written.eq(written_at - rows.head_at),
            Assume(~rows.again | ((ahead != 0) & ~rows.done)),
            Assert((used <= rows.depth) & (ahead <= written)),
            Assert((written == used) | (written + 1 == used)),
            Assert(rows.free == rows.depth - 1 - used - finished),
            Assert(~rows.i.ready | (used < rows.depth)),
            Assert(rows.empty == (used == 0)),
            Assert(rows.ahead_valid == (ahead < written)),
            self.probe.addr.eq(place),
        ]
        with m.If(self.watch & ~watched & rows.i.valid & rows.i.ready):
            m.d.sync += [watched.eq(1), place.eq(rows.write_at), value.eq(rows.i.payload)]
        with m.If(watched):
            m.d.comb += [
                Assert((place - rows.head_at)[: len(used)] < used),
                Assert(self.probe.data == value),
                Assert((place != rows.head_at) | (rows.head == value)),
                Assert((place != rows.ahead_at) | (rows.ahead == value)),
            ]
            with m.If(rows.done & (place == rows.head_at)):
                m.d.sync += watched.eq(0)


def proofs() -> list[Proof]:
    made = [
        Proof(
            block="combining_buffer",
            name="contract",
            says="valid and payload of every output stay until the transfer",
            make=lambda: StreamContract(CombiningBuffer(CFG)),
        ),
        Proof(
            block="combining_buffer",
            name="offers",
            says="every output is offered without waiting for ready",
            make=lambda: StreamContract(CombiningBuffer(CFG)),
            mode="cover",
            depth=30,
        ),
    ]
    made += [
        Proof(
            block="combining_buffer",
            name=f"merge-{part}",
            says=f"{Merge.__doc__} {says}",
            make=lambda part=part: Merge(part),
            depth=1,
            long=part == "queue",  # `queue-beats` says the same of any payload
        )
        for part, (says, _) in PARTS.items()
        if says
    ]
    made += [
        Proof(
            block="combining_buffer",
            name="merge-reached",
            says="All has left after a word was merged, and one of another operation put out.",
            make=lambda: Merge("reached"),
            mode="cover",
            depth=24,
        ),
        Proof(
            block="combining_buffer",
            name="rows16",
            says=str(ReplayBeats.__doc__),
            make=ReplayBeats,
        ),
    ]
    return made
