"""Number of ones in a word."""

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

__all__ = ["PopCount"]


class PopCount(wiring.Component):
    """Count the ones of a word in a tree of adders; one word per clock.

    Parameters
    ----------
    width : int
        Bits of the word, 1 or more.

    Attributes
    ----------
    latency : int
        Clocks: one for each two levels of the tree.

    Members
    -------
    i : In(width)
    o : Out(unsigned)
        0 to `width`. Reset clears it and what is under way.
    """

    i: Signal
    o: Signal

    def __init__(self, width: int):
        if width < 1:
            raise ValueError(f"width must be 1 or more, not {width}")
        self.width = width
        self.latency = max(1, ((width - 1).bit_length() + 1) // 2)
        super().__init__({"i": In(width), "o": Out(width.bit_length())})

    def elaborate(self, platform):
        m = Module()
        sums = list(self.i)
        for clock in range(self.latency):
            groups = [sums[at : at + 4] for at in range(0, len(sums), 4)]
            sums = []
            for n, group in enumerate(groups):
                total = sum(group[1:], group[0])
                kept = Signal(total.shape(), name=f"sum{clock}_{n}")
                m.d.sync += kept.eq(total)
                sums.append(kept)
        m.d.comb += self.o.eq(sums[0])
        return m
