"""Between golden columns (numpy) and packed beats, by the payload's shape.

Columns follow the layout: a struct is a dict by field name, an array adds one axis after the beat
axis, `unsigned(n)` and `signed(n)` are integers. `{"axis": array of 2 {"texel": array of 3}}` is
`{"axis": {"texel": int64 [beats, 2, 3]}}`. A field wider than 64 bits is uint32 words, on a last
axis. Beats are uint32 [beats, words], lowest word first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from amaranth.hdl import Shape
from amaranth.lib import data

__all__ = ["beats_of_ints", "ints_of_beats", "leaves", "pack", "random_columns", "unpack"]


class Leaf(NamedTuple):
    """A number in a payload: field names from outside in, array indices, place."""

    fields: tuple[str, ...]
    indices: tuple[int, ...]
    offset: int
    shape: Shape


def leaves(shape, fields=(), indices=(), offset=0) -> list[Leaf]:
    """Every number of a payload, in the order of the layout."""
    if isinstance(shape, type) and issubclass(shape, data.Struct):
        shape = shape.as_shape()
    if isinstance(shape, data.ArrayLayout):
        width = Shape.cast(shape.elem_shape).width
        found = [
            leaves(shape.elem_shape, fields, (*indices, n), offset + n * width)
            for n in range(shape.length)
        ]
    elif isinstance(shape, data.Layout):
        found = [
            leaves(field.shape, (*fields, str(name)), indices, offset + field.offset)
            for name, field in shape
        ]
    else:
        return [Leaf(fields, indices, offset, Shape.cast(shape))]
    return [leaf for part in found for leaf in part]


def pack(shape, columns) -> np.ndarray:
    """Pack columns to beats; a value that does not fit its field is an error."""
    parts = leaves(shape)
    count = len(_column(columns, parts[0]))
    words = np.zeros((count, (Shape.cast(shape).width + 31) // 32 + 3), np.uint32)
    used = {leaf.fields for leaf in parts}
    for name in _names(columns):
        if not any(fields[: len(name)] == name for fields in used):
            raise ValueError(f"the payload has no field {'.'.join(name)}")
    for leaf in parts:
        column = _column(columns, leaf)
        if leaf.shape.width > 64:
            pieces = list(np.asarray(column, np.uint32).T)
        else:
            low = -(1 << leaf.shape.width - 1) if leaf.shape.signed else 0
            high = low + (1 << leaf.shape.width)
            if count and not (int(column.min()) >= low and int(column.max()) < high):
                raise ValueError(
                    f"{'.'.join(leaf.fields)} must be in {low}..{high - 1}, "
                    f"not {int(column.min())}..{int(column.max())}"
                )
            bits = column.astype(np.uint64) & np.uint64((1 << leaf.shape.width) - 1)
            pieces = [bits & np.uint64(0xFFFFFFFF), bits >> np.uint64(32)]
        first, shift = divmod(leaf.offset, 32)
        for n, piece in enumerate(pieces):
            moved = piece.astype(np.uint64) << np.uint64(shift)
            words[:, first + n] |= moved.astype(np.uint32)
            words[:, first + n + 1] |= (moved >> np.uint64(32)).astype(np.uint32)
    return np.ascontiguousarray(words[:, :-3])


def unpack(shape, beats: np.ndarray):
    """Columns of beats, the inverse of `pack`: int64, or uint64 for 64-bit unsigned fields."""
    padded = np.pad(np.asarray(beats, np.uint32), ((0, 0), (0, 3))).astype(np.uint64)
    groups: dict[tuple[str, ...], list[tuple[tuple[int, ...], np.ndarray]]] = {}
    for leaf in leaves(shape):
        groups.setdefault(leaf.fields, []).append((leaf.indices, _read(padded, leaf)))
    columns: dict = {}
    for fields, found in groups.items():
        extent = tuple(max(i) + 1 for i in zip(*(indices for indices, _ in found), strict=True))
        sample = found[0][1]
        column = np.empty((len(sample), *extent, *sample.shape[1:]), sample.dtype)
        for indices, values in found:
            column[(slice(None), *indices)] = values
        if not fields:
            return column
        place = columns
        for name in fields[:-1]:
            place = place.setdefault(name, {})
        place[fields[-1]] = column
    return columns


def random_columns(rng: np.random.Generator, shape, count: int):
    """Columns of `count` beats of random bits."""
    words = (Shape.cast(shape).width + 31) // 32
    return unpack(shape, rng.integers(0, 1 << 32, (count, words), np.uint32))


def ints_of_beats(beats: np.ndarray) -> list[int]:
    """Each beat as one Python integer, for the simulators that take those."""
    return [int.from_bytes(row.tobytes(), "little") for row in np.asarray(beats, "<u4")]


def beats_of_ints(values: list[int], width: int) -> np.ndarray:
    """Inverse of `ints_of_beats`."""
    words = (width + 31) // 32
    raw = b"".join(value.to_bytes(4 * words, "little") for value in values)
    return np.frombuffer(raw, "<u4").reshape(len(values), words).astype(np.uint32)


def _names(columns, path=()):
    if not isinstance(columns, dict):
        return [path]
    return [name for key, value in columns.items() for name in _names(value, (*path, key))]


def _column(columns, leaf: Leaf) -> np.ndarray:
    for name in leaf.fields:
        if name not in columns:
            raise ValueError(f"the column {'.'.join(leaf.fields)} is missing")
        columns = columns[name]
    return np.asarray(columns)[(slice(None), *leaf.indices)]


def _read(words: np.ndarray, leaf: Leaf) -> np.ndarray:
    """One number of every beat; `words` are uint64 that hold 32 bits each."""
    first, shift = divmod(leaf.offset, 32)
    width = leaf.shape.width
    pieces = []
    for n in range((width + 31) // 32):
        pair = words[:, first + n] | words[:, first + n + 1] << np.uint64(32)
        rest = min(32, width - 32 * n)
        pieces.append(pair >> np.uint64(shift) & np.uint64((1 << rest) - 1))
    if width == 0:
        return np.zeros(len(words), np.int64)
    if width > 64:
        return np.stack(pieces, axis=1).astype(np.uint32)
    value = pieces[0] if len(pieces) == 1 else pieces[0] | pieces[1] << np.uint64(32)
    if width == 64 and not leaf.shape.signed:
        return value
    signed = value.astype(np.int64)
    if leaf.shape.signed and width < 64:
        signed -= (signed >> (width - 1)) << width
    return signed
