"""The signals inside a block, by name: what proofs look at and the gateware need not hand out."""

from __future__ import annotations

from collections import Counter
from typing import Any

from amaranth.hdl import Signal

__all__ = ["named"]


def named(fragment: Any, *path: str) -> dict[str, Signal]:
    """Return what an elaborated block, or a part of it, drives; a name that two have is left out.

    Parameters
    ----------
    fragment : amaranth.hdl.Fragment
        The block.
    *path : str
        Names of submodules, from the outside in.
    """
    for name in path:
        fragment = next(part for part, known, *_ in fragment.subfragments if known == name)
    driven = {
        id(signal): signal
        for statements in fragment.statements.values()
        for statement in statements
        for signal in statement._lhs_signals()
    }
    times = Counter(signal.name for signal in driven.values())
    return {signal.name: signal for signal in driven.values() if times[signal.name] == 1}
