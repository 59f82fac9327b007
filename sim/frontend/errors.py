"""The one error of the front end, and what its sentences need."""

from math import isfinite
from numbers import Real
from typing import Any

__all__ = ["SceneError", "finite", "told"]


class SceneError(ValueError):
    """A scene or a file that cannot be drawn: one sentence with what was wanted and what came."""


def told(value: Any) -> str:
    """Anything in a sentence: in one line, and not too long."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else f"{text[:57]}..."


def finite(value: Any) -> bool:
    """Whether something is a number that a float can hold."""
    try:
        return isinstance(value, Real) and isfinite(value)
    except OverflowError:
        return False
