"""Place of a word address in the memory, and whether it lies there (spec 08 `memory_base`)."""

from amaranth.hdl import C, Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.config import UnitConfig
from minmip.hw.lib.delay import delay
from minmip.hw.shapes import ADDRESS_BITS

__all__ = ["BLOCK_BITS", "MemoryWindow"]

BLOCK_BITS = ADDRESS_BITS - 8
"""Base and limit of the memory count blocks of 256 bytes."""
_HALF = 22
"""Block bits subtracted first: the blocks of the largest memory, so that they give the place."""


class MemoryWindow(wiring.Component):
    """Subtract the base of the memory, compare with its limits; one address per clock.

    Parameters
    ----------
    cfg : UnitConfig
        Word and size of the memory.

    Members
    -------
    base, limit : In(40)
        First block of 256 bytes of the memory, and the first one behind it. May change while no
        address is under way.
    address : In(48 - word_log2)
        Memory word, counted from byte address 0.
    place : Out(unsigned)
        One clock later: the word, counted from the base, modulo the size of the memory.
    inside : Out(1)
        Two clocks later: the address is at or above the base, below the limit, and less than
        `memory_bytes` from the base. Not a register: two levels of logic.
    """

    def __init__(self, cfg: UnitConfig):
        self.cfg = cfg
        self.word_bits = 8 - cfg.word_log2  # of the words in a block
        self.block_bits = (cfg.memory_bytes // 256 - 1).bit_length()
        super().__init__(
            {
                "base": In(BLOCK_BITS),
                "limit": In(BLOCK_BITS),
                "address": In(ADDRESS_BITS - cfg.word_log2),
                "place": Out(self.word_bits + self.block_bits),
                "inside": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        block = self.address[self.word_bits :]
        word = delay(m, self.address[: self.word_bits], 1, name="word")

        # First clock: the low half; its highest bit is the borrow.
        low = delay(m, block[:_HALF] - self.base[:_HALF], 1, name="low")
        low_below = delay(m, block[:_HALF] < self.limit[:_HALF], 1, name="low_below")
        m.d.comb += self.place.eq(Cat(word, low[: self.block_bits]))

        # Second clock: the borrow enters as one bit more at the low end.
        block = delay(m, block[_HALF:], 1, name="block")
        high = Signal(BLOCK_BITS - _HALF + 1, reset_less=True)
        m.d.sync += high.eq((Cat(C(0, 1), block) - Cat(low[_HALF], self.base[_HALF:]))[1:])
        below = delay(
            m, Cat(C(0, 1), block) < Cat(low_below, self.limit[_HALF:]), 1, name="below_limit"
        )
        rest = delay(m, low[self.block_bits : _HALF], 1, name="rest")
        m.d.comb += self.inside.eq(below & ~high.any() & ~rest.any())
        return m
