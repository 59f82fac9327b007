"""Checks of single arguments, and how messages show them."""

from __future__ import annotations

from enum import Enum, IntEnum, IntFlag
from operator import index
from typing import TypeVar

import numpy as np

from minmip.sim.d3d12.errors import D3D12Error

__all__ = ["as_array", "flag", "member", "shown", "whole_number"]

LONGEST = 80

AnyEnum = TypeVar("AnyEnum", bound=IntEnum | IntFlag)


def shown(value: object) -> str:
    """Return a value as a message shows it: members by their C names, all in one short line."""
    if isinstance(value, Enum):
        return value.name or repr(value)
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # Python prints no number of thousands of digits
        text = f"a huge {type(value).__name__}"
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


def whole_number(name: str, value: object, low: int, high: int) -> int:
    """Return a whole number in low..high; D3D12Error, which names it, for anything else."""
    try:
        number = index(value)  # pyright: ignore[reportArgumentType]
    except TypeError:
        number = None
    if number is None or not low <= number <= high:
        raise D3D12Error(f"{name} must be a whole number in {low}..{high}, not {shown(value)}")
    return number


def member(name: str, kind: type[AnyEnum], value: object, *choices: AnyEnum) -> AnyEnum:
    """Return a member of an enumeration, given as such or by its number.

    Raises
    ------
    D3D12Error
        For anything else, for members of other enumerations, and outside the `choices`, if any.
    """
    try:
        if isinstance(value, Enum) and not isinstance(value, kind):
            raise TypeError
        found = kind(index(value))  # pyright: ignore[reportArgumentType]
    except (ValueError, TypeError):
        found = None
    if found is None or (choices and found not in choices):
        wanted = " or ".join(choice.name or "" for choice in choices) or f"a {kind.__name__}"
        raise D3D12Error(f"{name} must be {wanted}, not {shown(value)}")
    return found


def as_array(values: object) -> np.ndarray:
    """Anything as an array; ragged lists and masked arrays, which are none, as one of objects."""
    if isinstance(values, np.ma.MaskedArray):
        return np.empty(values.shape, object)
    try:
        return np.asarray(values)
    except ValueError:
        return np.empty(1, object)


def flag(name: str, value: object) -> bool:
    """Return True or False; D3D12Error for anything else, which might be true by accident."""
    if not isinstance(value, bool):
        raise D3D12Error(f"{name} must be True or False, not {shown(value)}")
    return value
