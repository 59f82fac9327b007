"""Choice by one bit per value."""

from functools import reduce
from operator import or_

from amaranth.hdl import Value

__all__ = ["choose"]


def choose(bits, values) -> Value:
    """Return the value whose bit is high, 0 when none is; one bit at most may be.

    Values have one width.
    """
    masked = [
        Value.cast(value) & bit.replicate(len(Value.cast(value)))
        for bit, value in zip(bits, values, strict=True)
    ]
    return reduce(or_, masked)
