"""Comparison of wide numbers in two stages."""

from amaranth.hdl import Cat, Module, Signal

from minmip.hw.lib.delay import delay

__all__ = ["less_than"]


def less_than(m: Module, a, b, *, name: str):
    """Return `a < b` of unsigned numbers, two clocks later: the lower half is compared first.

    By the sign of a difference: behind the carry chain of `<` Yosys puts an inverter, and of `<=`
    and `>` it makes a slow tree.

    Parameters
    ----------
    m : Module
        The registers are added to its `sync` domain.
    a, b : Value
        Unsigned numbers.
    name : str
        Prefix of the registers.
    """
    width = max(len(a), len(b))
    half = width // 2
    low = Signal(name=f"{name}_low", reset_less=True)
    less = Signal(name=f"{name}_less", reset_less=True)
    a_high = delay(m, a[half:], 1, name=f"{name}_a")
    b_high = delay(m, b[half:], 1, name=f"{name}_b")
    m.d.sync += [
        low.eq((a[:half] - b[:half])[-1]),
        # A bit below the upper halves decides when they are equal.
        less.eq((Cat(0, a_high) - Cat(low, b_high))[-1]),
    ]
    return less
