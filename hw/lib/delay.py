"""Delay line for data that travels beside a pipeline."""

from amaranth.hdl import Module, Signal

__all__ = ["delay"]


def delay(m: Module, value, clocks: int, *, name: str, reset_less: bool = True):
    """Return `value` as it was `clocks` clocks ago, of the same shape; 0 clocks give it back.

    Parameters
    ----------
    m : Module
        The registers are added to its `sync` domain.
    value : Value or View
        What to delay.
    clocks : int
        Number of registers, 0 or more.
    name : str
        The registers are called `<name>_q1`, `<name>_q2` and so on by age.
    reset_less : bool
        True for payloads; False for valid bits, which reset must clear.
    """
    if clocks < 0:
        raise ValueError(f"a delay must be 0 or more clocks, not {clocks}")
    for age in range(1, clocks + 1):
        older = Signal(value.shape(), name=f"{name}_q{age}", reset_less=reset_less)
        m.d.sync += older.eq(value)
        value = older
    return value
