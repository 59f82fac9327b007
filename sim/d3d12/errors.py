"""The one exception and the one warning of the driver layer, and how they are raised."""

from __future__ import annotations

import sys
import warnings
from enum import Enum
from operator import index
from pathlib import Path

__all__ = ["D3D12Error", "D3D12Warning", "shown", "warn", "whole_number"]

PACKAGE = Path(__file__).parent


class D3D12Error(ValueError):
    """A call that the API refuses; the text names the rule that was broken. Nothing has changed."""


class D3D12Warning(UserWarning):
    """A call that is carried out, though probably not with the effect its author had in mind."""


def warn(text: str) -> None:
    """Issue a D3D12Warning at the line that called into the driver layer."""
    depth, frame = 1, sys._getframe()
    while frame is not None and Path(frame.f_code.co_filename).parent == PACKAGE:
        depth, frame = depth + 1, frame.f_back
    warnings.warn(text, D3D12Warning, stacklevel=depth)


def shown(value: object) -> str:
    """Return a value as a message shows it: members of enumerations by their C names."""
    return value.name or repr(value) if isinstance(value, Enum) else repr(value)


def whole_number(name: str, value: object, low: int, high: int) -> int:
    """Return a whole number in low..high; D3D12Error, which names it, for anything else."""
    try:
        number = index(value)  # pyright: ignore[reportArgumentType]
    except TypeError:
        number = None
    if number is None or not low <= number <= high:
        raise D3D12Error(f"{name} must be a whole number in {low}..{high}, not {value!r}")
    return number
