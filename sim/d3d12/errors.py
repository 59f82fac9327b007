"""The one exception and the one warning of the driver layer."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

__all__ = ["D3D12Error", "D3D12Warning", "warn"]

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
