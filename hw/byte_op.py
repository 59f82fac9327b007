"""MIN, MAX, OR and SET of two bytes in one comparison and one look-up table per bit."""

from amaranth.hdl import Cat, Const

from minmip.hw.shapes import MemoryOp

__all__ = ["KEEP", "compare", "decode", "pick"]

KEEP = Const(0b0101, 4)
"""Rule that leaves the old byte."""


def decode(op):
    """Return the rule of an operation, which says who wins.

    It is two pairs of bits, for the new byte below and above the old one, lower bit first. 00
    leaves it to the comparison, 01 says no, 10 says yes. So MIN needs 00 and 01, MAX 01 and 00.
    Both win for OR, which joins the two bytes; for SET just one of them, no matter which.
    """
    is_min, is_max = op == MemoryOp.MIN, op == MemoryOp.MAX
    is_or, is_set = op == MemoryOp.OR, op == MemoryOp.SET
    return Cat(is_max, is_or | is_set, is_min | is_set, is_or)


def compare(rule, old, new):
    """Compare two bytes, each with a bit above of the rule: two signs of a difference."""
    below = (Cat(new, rule[0]) - Cat(old, rule[1]))[-1]
    above = (Cat(old, rule[2]) - Cat(new, rule[3]))[-1]
    return Cat(below, above)


def pick(wins, old, new):
    """Choose the new byte where one wins, the old one where none does, both joined where both do.

    One look-up table per bit; made of gates, because a multiplexer becomes a clock enable.
    """
    below, above = wins[0].replicate(8), wins[1].replicate(8)
    return (new & (below | above)) | (old & ~(below ^ above))
