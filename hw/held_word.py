"""One word of the write-combining buffer: its bytes, which of them are held, and the merge."""

from amaranth.hdl import Module, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from minmip.hw import byte_op
from minmip.hw.config import UnitConfig
from minmip.hw.lib.choose import choose
from minmip.hw.lib.delay import delay
from minmip.hw.shapes import MemoryOp
from minmip.hw.word_beats import words_request

__all__ = ["HeldWord"]


class HeldWord(wiring.Component):
    """Bytes of one memory word that wait to be written, with the same operation for all.

    One word of the four of a beat is merged per clock, whatever came the clock before. The first
    clock chooses it, the second knows what is held, and in the third the bytes are made: the loop
    of one clock is a compare and a look-up table, as in `ByteLane`.

    Parameters
    ----------
    cfg : UnitConfig

    Members
    -------
    word : In(words_request(cfg)["word"])
        The words of a beat.
    take : In(4)
        Which of them is merged, one at most.
    fresh : In(1)
        What was held before is forgotten, with or without a new word: it is on its way out.
    rule : In(4)
        `byte_op.decode` of the operation.
    mask : Out(word_bytes)
        One clock later: the bytes that were held before this merge.
    data : Out(ArrayLayout(8, word_bytes))
        Two clocks later: the bytes that `mask` named.
    """

    def __init__(self, cfg: UnitConfig):
        self.cfg = cfg
        super().__init__(
            {
                "word": In(words_request(cfg)["word"].shape),
                "take": In(4),
                "fresh": In(1),
                "rule": In(4),
                "mask": Out(cfg.word_bytes),
                "data": Out(data.ArrayLayout(unsigned(8), cfg.word_bytes)),
            }
        )

    def elaborate(self, platform):
        m = Module()
        lanes = self.cfg.word_bytes
        taken = choose(self.take, [word.mask for word in self.word])
        taken = delay(m, taken, 1, name="taken", reset_less=False)
        fresh = delay(m, self.fresh, 1, name="fresh", reset_less=False)
        rule = delay(m, self.rule, 1, name="rule")
        m.d.sync += self.mask.eq(taken | (self.mask & ~fresh.replicate(lanes)))

        # Of gates: a multiplexer with a constant becomes the reset of a register.
        first = byte_op.decode(MemoryOp.SET)
        for n in range(lanes):
            replace = (fresh | ~self.mask[n]).replicate(4)
            takes = taken[n].replicate(4)
            own = (((rule & ~replace) | (first & replace)) & takes) | (byte_op.KEEP & ~takes)
            own = delay(m, own, 1, name=f"rule{n}")
            new = choose(self.take, [word.data[n % len(word.data)] for word in self.word])
            new = delay(m, new, 2, name=f"new{n}")
            wins = byte_op.compare(own, self.data[n], new)
            m.d.sync += self.data[n].eq(byte_op.pick(wins, self.data[n], new))
        return m
