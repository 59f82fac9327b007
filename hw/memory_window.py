"""Place of a word address in the memory, and whether it lies there (spec 08 `memory_base`)."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.config import UnitConfig
from minmip.hw.lib.delay import delay
from minmip.hw.shapes import ADDRESS_BITS, BLOCK_BITS

__all__ = ["MemoryWindow"]


class MemoryWindow(wiring.Component):
    """Subtract the base of the memory, compare with its limits; one address per clock.

    Parameters
    ----------
    cfg : UnitConfig
        Word and size of the memory.

    Members
    -------
    base, limit : In(40), In(41)
        First block of 256 bytes of the memory, and the first one behind it. May change while no
        address is under way, two clocks before the next one.
    address : In(48 - word_log2)
        Memory word, counted from byte address 0.
    place : Out(unsigned)
        One clock later: the word, counted from the base, modulo the size of the memory.
    inside : Out(1)
        Two clocks later: the address is at or above the base, below the limit, and less than
        `memory_bytes` from the base. Not a register.
    """

    base: Signal
    limit: Signal
    address: Signal
    place: Signal
    inside: Signal

    def __init__(self, cfg: UnitConfig):
        self.cfg = cfg
        self.word_bits = 8 - cfg.word_log2  # of the words in a block
        self.block_bits = (cfg.memory_bytes // 256 - 1).bit_length()
        super().__init__(
            {
                "base": In(BLOCK_BITS),
                "limit": In(BLOCK_BITS + 1),
                "address": In(ADDRESS_BITS - cfg.word_log2),
                "place": Out(self.word_bits + self.block_bits),
                "inside": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        bits = self.block_bits
        block = self.address[self.word_bits :]
        word = delay(m, self.address[: self.word_bits], 1, name="word")
        base = delay(m, self.base, 1, name="base")

        # First clock: the place, with a borrow; the bits above are compared with both that the base
        # may then ask for.
        place = delay(m, block[:bits] - base[:bits], 1, name="place")
        following = delay(m, self.base[bits:] + 1, 1, name="following")
        exact = delay(m, _equal(block[bits:], base[bits:]), 1, name="exact")
        borrowed = delay(m, _equal(block[bits:], following), 1, name="borrowed")
        m.d.comb += self.place.eq(Cat(word, place[:bits]))

        # Second clock.
        near = delay(m, Mux(place[-1], borrowed.all(), exact.all()), 1, name="near")
        below = delay(m, (place[:bits] - self._size(m))[-1], 1, name="below")
        m.d.comb += self.inside.eq(near & below)
        return m

    def _size(self, m):
        """Blocks between base and limit, 0 to those of `memory_bytes`, three clocks later."""
        bits = self.block_bits
        size = delay(m, self.limit - self.base, 1, name="size_whole")
        large = delay(m, size[bits:].any(), 1, name="size_large")
        size = delay(m, Cat(size[:bits], size[-1]), 1, name="size_short")
        size = Mux(size[-1], 0, Mux(large, 1 << bits, size[:bits]))
        return delay(m, size, 1, name="size")


def _equal(a, b):
    """Compare in pieces of 6 bits, all of which must be equal."""
    return Cat(a[at : at + 6] == b[at : at + 6] for at in range(0, max(len(a), len(b)), 6))
