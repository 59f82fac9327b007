"""Event counters of the unit."""

from amaranth.hdl import Array, Cat, Const, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from minmip.hw.lib.delay import delay

__all__ = ["Counters"]

_HALF = 24
"""Bits of each half of a sum, which has a carry chain of its own."""


class Counters(wiring.Component):
    """Add up what each input says in each clock, in 48 bits; one sum at a time can be read.

    An event is in its sum 3 clocks later at the most: reading beside it shows a sum of any of these
    clocks, never a half. What is said in the clock of `clear`, or before, is forgotten.

    Parameters
    ----------
    widths : dict of str to int
        Name of each event and the bits of what it may add in one clock, 1 to 6.

    Attributes
    ----------
    names : tuple of str
        The events by `select`.
    latency : int
        Clocks from `select` to `value`.

    Members
    -------
    <name> : In(width)
        For each event.
    clear : In(1)
    select : In(unsigned)
        Number of the sum in `names`; a number behind the last gives 0.
    value : Out(48)
        The sum that was selected `latency` clocks before.
    """

    latency = 3

    clear: Signal
    select: Signal
    value: Signal

    def __init__(self, widths: dict[str, int]):
        for name, width in widths.items():
            if not 1 <= width <= 6:
                raise ValueError(f"an event must have 1 to 6 bits, but {name} has {width}")
        self.widths = dict(widths)
        self.names = tuple(widths)
        self.sums = [Signal(_HALF, name=f"{name}_low") for name in widths]  # the low halves
        super().__init__(
            {name: In(width) for name, width in widths.items()}
            | {"clear": In(1), "select": In(ceil_log2(len(widths))), "value": Out(48)}
        )

    def elaborate(self, platform):
        m = Module()
        clear = delay(m, self.clear, 1, name="clear", reset_less=False)
        later = delay(m, clear, 1, name="clear_high", reset_less=False)
        sums = []
        for name, low in zip(self.names, self.sums, strict=True):
            event = delay(m, getattr(self, name), 1, name=name, reset_less=False)
            carry = Signal(name=f"{name}_carry")
            high = Signal(_HALF, name=f"{name}_high")
            m.d.sync += [Cat(low, carry).eq(low + event), high.eq(high + carry)]
            with m.If(clear):
                m.d.sync += Cat(low, carry).eq(0)
            with m.If(later):
                m.d.sync += high.eq(0)
            # The low half waits for the high one.
            sums.append(Cat(delay(m, low, 1, name=f"{name}_low"), high))

        # Eight sums at a time, so that no choice is wide.
        sums += [Const(0, 48)] * (-len(sums) % 8)
        select = delay(m, self.select, 1, name="select")
        groups = [Array(sums[at : at + 8])[select[:3]] for at in range(0, len(sums), 8)]
        picked = [delay(m, group, 1, name=f"group{n}") for n, group in enumerate(groups)]
        group = delay(m, select[3:], 1, name="select_group")
        with m.Switch(group):
            for n, one in enumerate(picked):
                with m.Case(n):
                    m.d.sync += self.value.eq(one)
            with m.Default():
                m.d.sync += self.value.eq(0)
        return m
