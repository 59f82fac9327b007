"""Leading one to the top: zero count and left shift, in stages."""

from amaranth.hdl import C, Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

__all__ = ["Normaliser"]

DIGIT = 4
"""Bits of a coarse step; the fine shift stays inside one digit."""


class Normaliser(wiring.Component):
    """Shift a number left until its leading one is the top bit.

    Free running, one number per clock, no handshake. Zero gives zero, and a count without meaning.

    Parameters
    ----------
    width : int
        Bits of the number, 5 to 64.
    keep : int
        How many of the leading bits of the result are wanted.

    Members
    -------
    i : In(width)
    o : Out(keep)
        Top bits of the shifted number.
    count : Out(4 or 6)
        Zeros above the leading one.
    """

    i: Signal
    o: Signal
    count: Signal

    def __init__(self, width: int, keep: int):
        if not 5 <= width <= 64:
            raise ValueError(f"width must be in 5..64, not {width}")
        if not 1 <= keep <= width:
            raise ValueError(f"keep must be in 1..{width}, not {keep}")
        self.width = width
        self.keep = keep
        self.digits = -(-width // DIGIT)
        self.wide = self.digits > 4
        self.latency = 5 if self.wide else 2
        super().__init__({"i": In(width), "o": Out(keep), "count": Out(6 if self.wide else 4)})

    def elaborate(self, platform):
        m = Module()
        full = self.digits * DIGIT
        index_bits = 4 if self.wide else 2
        padded = Signal(full)
        some = Signal(self.digits)  # digits that hold a one, the top one first
        m.d.comb += [
            padded.eq(Cat(C(0, full - self.width), self.i)),
            some.eq(Cat(padded.word_select(n, DIGIT).any() for n in reversed(range(self.digits)))),
        ]

        def register(value, name):
            older = Signal(value.shape(), name=name, reset_less=True)
            m.d.sync += older.eq(value)
            return older

        if self.wide:
            some, padded = register(some, "some_q"), register(padded, "value_q")
        first = Signal(index_bits)
        m.d.comb += first.eq(self.digits - 1)
        for n in reversed(range(self.digits - 1)):
            with m.If(some[n]):
                m.d.comb += first.eq(n)

        if self.wide:
            first, padded = register(first, "first_q2"), register(padded, "value_q2")
            sixteens = Signal(full)
            m.d.comb += sixteens.eq(padded << (first[2:] << 4))
            first, padded = register(first, "first_q3"), register(sixteens, "value_q3")

        # The count inside the digit is found beside the shift, in each digit that it may be.
        fours = Signal(full)
        ones = Signal(2)
        m.d.comb += fours.eq(padded << (first[:2] << 2))
        with m.Switch(first[:2]):
            for n in range(4):
                with m.Case(n):
                    digit = padded[full - DIGIT * (n + 1) : full - DIGIT * n]
                    m.d.comb += ones.eq(Cat(~digit[3] & (digit[2] | ~digit[1]), ~digit[2:].any()))
        ones, first = register(ones, "ones_q4"), register(first, "first_q4")
        shifted = Signal(full)
        m.d.comb += shifted.eq(register(fours, "value_q4") << ones)
        m.d.comb += [
            self.o.eq(register(shifted, "value_q5")[full - self.keep :]),
            self.count.eq(register(Cat(ones, first), "count_q5")),
        ]
        return m
