"""Trace columns to packed requests of the unit, and its packed answers and pattern back."""

from __future__ import annotations

from typing import Any

import numpy as np
from amaranth.hdl import Shape

from minmip.hw.beats import QUAD_TAG_BITS, pattern_beat, quad_answer, quad_request
from minmip.hw.config import UnitConfig
from minmip.sim.runners.verilate import RunnerError
from minmip.sim.trace import FLAG_CLAMP, FLAG_GATHER, FLAG_OFFSET, PATTERN_DTYPE, Trace

__all__ = ["check_order", "filtered_of", "flush_row", "pattern_rows", "request_rows", "words_of"]

ANSWER: Any = quad_answer()
TAGS = 1 << QUAD_TAG_BITS
_FLOATS = ("uvw", "ddx", "ddy", "slice", "lod", "clamp")
_FLAGS = {"has_clamp": FLAG_CLAMP, "offset": FLAG_OFFSET, "gather": FLAG_GATHER}


def words_of(layout) -> int:
    """32-bit words of a payload."""
    return (Shape.cast(layout).width + 31) // 32


def request_rows(trace: Trace, cfg: UnitConfig, first: int, last: int) -> np.ndarray:
    """Requests of quads `first` to `last` - 1: uint32 [quads, words], lowest word first."""
    layout: Any = quad_request(cfg)
    quads = slice(first, last)
    rows = np.zeros((last - first, words_of(layout)), np.uint32)
    if not len(rows):
        return rows

    def put_words(name: str, words: np.ndarray) -> None:
        at, bit = divmod(layout[name].offset, 32)
        assert not bit, f"{name} is not on a word"
        words = words.reshape(len(rows), -1)
        rows[:, at : at + words.shape[1]] = words

    def put_bits(name: str, values) -> None:
        at, bit = divmod(layout[name].offset, 32)
        assert bit + layout[name].width <= 32, f"{name} is in two words"
        rows[:, at] |= np.asarray(values).astype(np.uint32) << np.uint32(bit)

    put_words("t_sharp", trace.t_sharp[trace.t_index[quads]])
    put_words("s_sharp", trace.s_sharp[trace.s_index[quads]])
    for name in _FLOATS:
        column = getattr(trace, name)
        if column is not None:
            vectors = column[quads]
            vectors = vectors[:, :, : cfg.axes] if vectors.ndim == 3 else vectors
            put_words(name, np.ascontiguousarray(vectors).view(np.uint32))
    for name, flag in _FLAGS.items():
        put_bits(name, trace.flags[quads] & flag != 0)
    put_bits("opcode", trace.opcode[quads])
    put_bits("exec", trace.exec_mask[quads])
    put_bits("helper", trace.helper_mask[quads])
    put_bits("tag", np.arange(first, last) % TAGS)
    return rows


def flush_row(cfg: UnitConfig, tag: int) -> np.ndarray:
    """One flush request: uint32 [1, words]."""
    bits = quad_request(cfg).const({"flush": 1, "tag": tag % TAGS}).as_value().value
    words = words_of(quad_request(cfg))
    return np.frombuffer(bits.to_bytes(4 * words, "little"), "<u4")[None].astype(np.uint32)


def check_order(answers: np.ndarray, first: int, flush: int) -> None:
    """Raise unless the answers are those of quads `first`, `first` + 1 ..., and of the flush."""
    wanted = np.arange(first, first + len(answers))
    tag, flushed = _bits(answers, ANSWER["tag"]), _bits(answers, ANSWER["flush"])
    wrong = np.flatnonzero((tag != wanted % TAGS) | (flushed != (wanted == flush)))
    if wrong.size:
        at = int(wrong[0])
        raise RunnerError(
            f"answer {first + at} has tag {tag[at]} and flush {flushed[at]}, wanted tag "
            f"{(first + at) % TAGS} and flush {int(first + at == flush)}"
        )


def filtered_of(answers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Error codes uint8 [n] and filtered values uint16 [n, 4] of packed answers."""
    lanes = ANSWER["filtered"]
    filtered = [_bits(answers, field, lanes.offset) for field in _fields(lanes.shape)]
    return (
        _bits(answers, ANSWER["code"]).astype(np.uint8),
        np.stack(filtered, axis=1).astype(np.uint16),
    )


def pattern_rows(
    beats: np.ndarray, accepted: np.ndarray, quads: int, cfg: UnitConfig
) -> tuple[np.ndarray, np.ndarray]:
    """Sample pattern of spec 08: `pattern_start` and `pattern`.

    Parameters
    ----------
    beats : uint32 [n, words]
        Packed pattern beats, in the order in which they came.
    accepted : int64 [n]
        Quads that had been accepted when each came: its own is the last one with its tag.
    quads : int
        Quads of the trace.
    """
    layout: Any = pattern_beat(cfg)
    tag, tap, slot, first_lane, active = (
        _bits(beats, layout[name]) for name in ("tag", "tap", "slot", "first_lane", "active")
    )
    quad = accepted - 1 - (accepted - 1 - tag) % TAGS
    if beats.size and not (int(quad.min()) >= 0 and int(quad.max()) < quads):
        raise RunnerError("a beat of the sample pattern has the tag of no quad")
    keys, parts = [np.zeros(0, np.int64)], [np.zeros(0, PATTERN_DTYPE)]
    lanes = layout["lane"]
    for number, lane_field in enumerate(_fields(lanes.shape)):
        lane_at = lanes.offset + lane_field.offset
        lane = lane_field.shape
        axes = [
            _footprint(beats, axis.shape, lane_at + lane["axis"].offset + axis.offset)
            for axis in _fields(lane["axis"].shape)
        ]
        mip, slices, lod = (_bits(beats, lane[name], lane_at) for name in ("mip", "slice", "lod"))
        for corner in range(1 << len(axes)):
            sides = [corner >> axis & 1 for axis in range(len(axes))]
            hit = active >> number & 1
            weight = np.ones_like(hit)
            for (_, touched, weights), side in zip(axes, sides, strict=True):
                hit = hit & touched[side]
                weight = weight * weights[side]
            at = np.flatnonzero(hit)
            rows = np.empty(len(at), PATTERN_DTYPE)
            rows["lane"] = first_lane[at] + number
            rows["mip"], rows["lod"] = mip[at], lod[at]
            rows["weight"] = weight[at] >> 8 * (len(axes) - 2)
            texel = [axis[0][side][at] for axis, side in zip(axes, sides, strict=True)]
            rows["x"], rows["y"] = texel[:2]
            # Volumes have slice 0, all others depth 0.
            rows["z"] = slices[at] + (texel[2] if len(axes) > 2 else 0)
            # Rows by quad, lane, tap, mip, corner.
            key = (quad[at] << 2 | rows["lane"]) << 4 | tap[at]
            keys.append((key << 1 | slot[at]) << 3 | corner)
            parts.append(rows)
    key, rows = np.concatenate(keys), np.concatenate(parts)
    order = np.argsort(key, kind="stable")
    start = np.zeros(quads + 1, np.uint64)
    start[1:] = np.bincount(key >> 10, minlength=quads).cumsum()
    return start, rows[order]


def _fields(layout: Any) -> list[Any]:
    return [field for _, field in layout]


def _footprint(beats: np.ndarray, axis: Any, base: int):
    """Of both texels of an axis: place, whether touched, weight in 1/256."""
    second = _bits(beats, axis["weight"], base)

    def pair(name):
        return [_bits(beats, f, base + axis[name].offset) for f in _fields(axis[name].shape)]

    return pair("texel"), pair("touched"), (256 - second, second)


def _bits(rows: np.ndarray, field: Any, base: int = 0) -> np.ndarray:
    """A number of up to 32 bits of every row: int64 [n]."""
    shape = Shape.cast(field.shape)
    at, bit = divmod(base + field.offset, 32)
    low = rows[:, at].astype(np.int64)
    high = rows[:, at + 1].astype(np.int64) if bit + shape.width > 32 else 0
    value = (low | high << 32) >> bit & (1 << shape.width) - 1
    return value - (value >> shape.width - 1 << shape.width) if shape.signed else value
