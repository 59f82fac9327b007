"""The byte-atomic map memory: MIN, MAX and OR on single bytes (spec 03 "Atomic write")."""

from __future__ import annotations

import numpy as np

from minmip.sim.golden.combine import Writes
from minmip.sim.golden.descriptor import LINKED_MAX, LINKED_MIN, LINKED_OR

__all__ = ["apply"]


def apply(memory: np.ndarray, kind: int, writes: Writes) -> None:
    """Carry out writes of one linked type on `memory`, uint8 [B], in place.

    Within one type the order does not matter: every operation commutes with itself.
    """
    value = writes.value.astype(np.uint8)
    if kind == LINKED_MIN:
        np.minimum.at(memory, writes.offset, value)
    elif kind == LINKED_MAX:
        np.maximum.at(memory, writes.offset, value)
    elif kind == LINKED_OR:
        # All values are the same flag, so that repeated addresses cannot lose a bit.
        memory[writes.offset] |= value
    else:
        raise ValueError(f"linked type must be 1, 2 or 3, not {kind}")
