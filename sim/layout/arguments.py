"""Checks of single arguments, and how messages show them."""

from __future__ import annotations

from operator import index

import numpy as np

from minmip.sim.layout.errors import LayoutError

__all__ = ["as_array", "need", "shown", "whole_number"]

LONGEST = 80
LARGEST = 1 << 64


def shown(value: object) -> str:
    """Return a value as a message shows it: in one short line."""
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # Python prints no number of thousands of digits
        text = f"a huge {type(value).__name__}"
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


def whole_number(name: str, value: object) -> int:
    """Return a whole number, which may be one of numpy; LayoutError for anything else."""
    try:
        if isinstance(value, bool):
            raise TypeError
        number = index(value)  # pyright: ignore[reportArgumentType]
    except TypeError:
        raise LayoutError(f"{name} is a whole number, not {shown(value)}") from None
    if abs(number) >= LARGEST:
        raise LayoutError(f"{name} is a number of 64 bits at most, not {shown(value)}")
    return number


def as_array(name: str, values: object) -> np.ndarray:
    """Return anything as an array; LayoutError for ragged lists and for masked arrays."""
    if isinstance(values, np.ma.MaskedArray):
        raise LayoutError(f"{name} is a plain array, not a masked one")
    try:
        return np.asarray(values)
    except ValueError:
        raise LayoutError(f"{name} is an array of one shape, not {shown(values)}") from None


def need(name: str, kind: type | tuple[type, ...], value: object) -> None:
    """Raise LayoutError unless a value is of a kind."""
    if not isinstance(value, kind):
        kinds = kind if isinstance(kind, tuple) else (kind,)
        wanted = " or ".join(one.__name__ for one in kinds)
        article = "an" if wanted[0] in "AEIOUaeiou" else "a"
        raise LayoutError(f"{name} is {article} {wanted}, not {shown(value)}")
