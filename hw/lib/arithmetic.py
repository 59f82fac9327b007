"""Adders that map on one carry chain."""

from amaranth.hdl import Cat, Const, Value

__all__ = ["add_carry"]


def add_carry(a: Value, b: Value, carry: Value) -> Value:
    """Return `a + b + carry`, as wide as the two equally wide operands.

    Synthesis makes two adders of `a + b + carry`; here the carry-in is one more bit at the low end.

    Raises
    ------
    ValueError
        When the operands differ in width.
    """
    if len(a) != len(b):
        raise ValueError(f"operands must have one width, not {len(a)} and {len(b)} bits")
    return (Cat(Const(1, 1), a) + Cat(carry, b))[1 : 1 + len(a)]
