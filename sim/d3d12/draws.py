"""Recorded draws: checked arrays of quads, joined into one trace (spec 06, spec 08)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from minmip.sim.d3d12.arguments import as_array
from minmip.sim.d3d12.errors import D3D12Error
from minmip.sim.descriptor_words import S_WORDS, T_WORDS
from minmip.sim.trace import FLAG_CLAMP, SAMPLE_B, SAMPLE_D, SAMPLE_L, Trace

__all__ = ["Draw", "floats", "join", "lane_floats", "lane_masks", "lane_vectors", "whole_numbers"]

LANES = 4
INT64 = np.iinfo(np.int64)


@dataclass(eq=False, kw_only=True)
class Draw:
    """The quads of one call: descriptors, opcode, and lane operands as in a trace.

    `ddx`, `ddy`, `lod` and `clamp` are None where the operation has none.
    """

    t_sharp: np.ndarray
    s_sharp: np.ndarray
    opcode: int
    uvw: np.ndarray
    slice: np.ndarray
    exec_mask: np.ndarray
    helper_mask: np.ndarray
    ddx: np.ndarray | None = None
    ddy: np.ndarray | None = None
    lod: np.ndarray | None = None
    clamp: np.ndarray | None = None

    def __len__(self) -> int:
        """Return the number of quads."""
        return len(self.uvw)


def join(draws: list[Draw], memory_base: int, memory: np.ndarray) -> Trace:
    """Build one trace of all draws, in order, with every descriptor listed once.

    Parameters
    ----------
    draws : list of Draw
        May be empty.
    memory_base : int
        GPU address of the first byte of `memory`.
    memory : numpy.ndarray
        uint8 [bytes] as it is before the first draw; copied.

    Returns
    -------
    Trace
        Operands that no draw has are left out; where only some have them the others get 0.
    """
    images, t_index = _distinct([draw.t_sharp for draw in draws], T_WORDS)
    samplers, s_index = _distinct([draw.s_sharp for draw in draws], S_WORDS)
    counts = [len(draw) for draw in draws]

    def per_draw(values, dtype):
        return np.repeat(np.array(values, dtype), counts)

    def per_quad(name, dtype, *shape):
        arrays = [getattr(draw, name) for draw in draws]
        filled = [
            np.zeros((count, *shape), dtype) if array is None else array
            for array, count in zip(arrays, counts, strict=True)
        ]
        return np.concatenate([np.zeros((0, *shape), dtype), *filled])

    opcode = per_draw([draw.opcode for draw in draws], np.uint8)
    flags = per_draw([FLAG_CLAMP if d.clamp is not None else 0 for d in draws], np.uint8)
    given = np.isin(opcode, SAMPLE_D).any()
    return Trace(
        t_sharp=images,
        s_sharp=samplers,
        opcode=opcode,
        flags=flags,
        t_index=per_draw(t_index, np.uint32),
        s_index=per_draw(s_index, np.uint32),
        exec_mask=per_quad("exec_mask", np.uint8),
        helper_mask=per_quad("helper_mask", np.uint8),
        uvw=per_quad("uvw", np.float32, LANES, 3),
        slice=per_quad("slice", np.float32, LANES),
        ddx=per_quad("ddx", np.float32, LANES, 3) if given else None,
        ddy=per_quad("ddy", np.float32, LANES, 3) if given else None,
        lod=per_quad("lod", np.float32, LANES)
        if np.isin(opcode, (SAMPLE_B, SAMPLE_L)).any()
        else None,
        clamp=per_quad("clamp", np.float32, LANES) if flags.any() else None,
        memory_base=memory_base,
        memory=memory.copy(),
    )


def lane_vectors(name: str, values, axes: int, quads: int | None = None) -> np.ndarray:
    """Check one vector per lane, [Q, 4, axes], and widen it to float32 [Q, 4, 3]."""
    array = floats(name, values)
    wanted = f"[{'Q' if quads is None else quads}, {LANES}, {axes}]"
    if array.ndim != 3 or array.shape[1:] != (LANES, axes) or quads not in (None, len(array)):
        raise D3D12Error(f"{name} must have shape {wanted}, not {list(array.shape)}")
    wide = np.zeros((len(array), LANES, 3), np.float32)
    wide[..., :axes] = array
    return wide


def lane_floats(name: str, values, quads: int) -> np.ndarray:
    """Check one number per lane, [Q, 4] or one for all, and return float32 [Q, 4]."""
    array = floats(name, values)
    if array.shape not in ((), (quads, LANES)):
        raise D3D12Error(
            f"{name} must be a number or have shape [{quads}, {LANES}], not {list(array.shape)}"
        )
    return np.array(np.broadcast_to(array, (quads, LANES)))


def lane_masks(name: str, values, quads: int) -> np.ndarray:
    """Check one mask of four lanes per quad, [Q] or one for all, and return uint8 [Q]."""
    array = as_array(values)
    if array.dtype.kind not in "iu" or array.shape not in ((), (quads,)):
        raise D3D12Error(
            f"{name} must be an integer or integers of shape [{quads}], "
            f"not {array.dtype} {list(array.shape)}"
        )
    if array.size and not 0 <= array.min() <= array.max() < 1 << LANES:
        raise D3D12Error(f"{name} must be in 0..15, not {array.min()}..{array.max()}")
    return np.array(np.broadcast_to(array, (quads,)), np.uint8)


def floats(name: str, values) -> np.ndarray:
    """Check that something is a number or an array of them, and return float32 of its shape."""
    array = as_array(values)
    if array.dtype.kind not in "biuf":
        raise D3D12Error(f"{name} must be numbers, not {type(values).__name__}")
    with np.errstate(over="ignore"):  # beyond float32 is infinity, as on the GPU
        return array.astype(np.float32)


def whole_numbers(name: str, values, axes: int | None = None) -> np.ndarray:
    """Check whole numbers of any shape, or vectors [..., axes], and return int64."""
    array = as_array(values)
    if array.dtype.kind not in "iu" or (axes and array.shape[-1:] != (axes,)):
        wanted = f"whole numbers [..., {axes}]" if axes else "whole numbers"
        raise D3D12Error(f"{name} must be {wanted}, not {array.dtype} {list(array.shape)}")
    return np.clip(array, INT64.min, INT64.max).astype(np.int64)


def _distinct(words: list[np.ndarray], width: int) -> tuple[np.ndarray, list[int]]:
    """Return the distinct descriptors in order of appearance, and the row of each."""
    rows: dict[bytes, int] = {}
    index = [rows.setdefault(word.tobytes(), len(rows)) for word in words]
    table = np.frombuffer(b"".join(rows), np.uint32).reshape(-1, width)
    return table.copy(), index
