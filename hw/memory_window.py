"""Place of a word address in the memory, and whether it lies there (spec 08 `memory_base`)."""

from amaranth.hdl import C, Cat, Module, Mux
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
        `memory_bytes` from the base. Not a register.
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
        base, limit = delay(m, self.base, 1, name="base"), delay(m, self.limit, 1, name="limit")
        block = self.address[self.word_bits :]
        word = delay(m, self.address[: self.word_bits], 1, name="word")

        # First clock: the low halves, where the sign of a difference is the borrow; and the high
        # halves are compared with both that the base may ask for.
        low = delay(m, block[:_HALF] - base[:_HALF], 1, name="low")
        low_limit = delay(m, block[:_HALF] - limit[:_HALF], 1, name="low_limit")
        high, high_limit = block[_HALF:], delay(m, limit[_HALF:], 1, name="high_limit")
        without = delay(m, _equal(high, base[_HALF:]), 1, name="without")
        following = delay(m, base[_HALF:] + 1, 1, name="following")
        borrowed = delay(m, _equal(high, following), 1, name="borrowed")
        m.d.comb += self.place.eq(Cat(word, low[: self.block_bits]))

        # Second clock. The borrow enters a difference as one bit more at the low end.
        near = delay(m, Mux(low[-1], borrowed.all(), without.all()), 1, name="near")
        rest = delay(m, low[self.block_bits : _HALF].any(), 1, name="rest")
        high = Cat(C(0, 1), delay(m, high, 1, name="high"))
        below = delay(m, (high - Cat(low_limit[-1], high_limit))[-1], 1, name="below")
        m.d.comb += self.inside.eq(near & ~rest & below)
        return m


def _equal(a, b):
    """Compare in pieces of 6 bits, all of which must be equal."""
    return Cat(a[at : at + 6] == b[at : at + 6] for at in range(0, max(len(a), len(b)), 6))
