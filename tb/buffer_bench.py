"""Words for the write-combining buffer, and what they make of the memory."""

from __future__ import annotations

import numpy as np

from minmip.hw.shapes import ADDRESS_BITS, MemoryOp
from minmip.hw.word_beats import WORDS, word_data
from minmip.sim.golden import memory as golden
from minmip.sim.golden.combine import Writes

__all__ = ["KINDS", "apply_beats", "apply_operations", "places", "words"]

KINDS = ("random", "hot", "single", "op switches", "aliases", "one word")
"""What the words of a bench are like."""
OPS = (MemoryOp.MIN, MemoryOp.MAX, MemoryOp.OR)


def places(rng, cfg, count=48):
    """Word addresses in use: neighbours, and some that differ in one bit only."""
    bits = ADDRESS_BITS - cfg.word_log2
    start = int(rng.integers(1 << (bits - 2)))
    near = start + np.arange(count // 2)
    far = near ^ 1 << rng.integers(6, bits, len(near))
    return np.unique(np.concatenate([near, far]))


def words(rng, count, cfg, kind, where):
    """Columns of `count` beats for `words_request`; every beat has a valid word."""
    keys = rng.random((count, len(where)))
    hot = {"hot": 5, "op switches": 6, "one word": 1}.get(kind)
    if hot:
        keys[:, rng.choice(len(where), hot, replace=False)] -= rng.random((count, hot)) < 0.97
    if kind == "aliases":  # a few places and what differs from them in one bit
        keys[:, [0, 1, 2, -1, -2, -3]] -= 1
    chosen = np.argsort(keys, axis=1)[:, :WORDS]
    valid = rng.random((count, WORDS)) < (0.3 if kind == "random" else 0.7)
    if kind in ("single", "one word"):
        valid[:] = False
    valid[:, 0] |= ~valid.any(axis=1)
    runs = np.repeat(rng.integers(0, 3, count), rng.choice([1, 2, 50, 400], count))[:count]
    op = np.where(kind == "op switches", rng.integers(0, 3, count), runs)
    every = (1 << cfg.word_bytes) - 1
    mask = np.where(
        rng.random((count, WORDS)) < 0.3, every, rng.integers(0, every + 1, (count, WORDS))
    )
    data = rng.integers(0, 256, (count, WORDS, word_data(cfg).length))
    near = rng.choice([0, 1, 127, 128, 254, 255], data.shape)
    return {
        "op": np.array(OPS)[op],
        "word": {
            "valid": valid.astype(np.int64),
            "address": where[chosen],
            "mask": mask,
            "data": np.where(rng.random(data.shape) < 0.4, near, data),
        },
    }


def _apply(memory, where, op, address, mask, data):
    """Carry out operations in order on `memory`, uint8 [words, bytes]; runs of one op at once.

    `data` has a value for each byte of a word, or one for all.
    """
    data = np.broadcast_to(data, (len(data), memory.shape[1]))
    lanes = np.arange(data.shape[1])
    row = np.searchsorted(where, address)
    assert (where[np.minimum(row, len(where) - 1)] == address).all(), "an address nobody used"
    offset = row[:, None] * len(lanes) + lanes
    enabled = (mask[:, None] >> lanes & 1).astype(bool)
    flat = memory.reshape(-1)
    edges = np.flatnonzero(np.diff(op)) + 1
    for part in np.split(np.arange(len(op)), edges):
        if not len(part):
            continue
        at, value = offset[part][enabled[part]], data[part][enabled[part]]
        if op[part[0]] == MemoryOp.OR:
            np.bitwise_or.at(flat, at, value.astype(np.uint8))
        else:
            linked = {MemoryOp.MIN: golden.LINKED_MIN, MemoryOp.MAX: golden.LINKED_MAX}
            golden.apply(flat, linked[op[part[0]]], Writes(np.zeros(len(at)), at, value))


def apply_beats(memory, where, columns):
    """What beats of `words_request` make of the memory."""
    word = columns["word"]
    valid = np.asarray(word["valid"]).astype(bool)
    op = np.broadcast_to(np.asarray(columns["op"])[:, None], valid.shape)
    _apply(
        memory, where, op[valid], *(np.asarray(word[k])[valid] for k in ("address", "mask", "data"))
    )


def apply_operations(memory, where, columns):
    """What operations of `memory_request` make of it."""
    _apply(memory, where, *(np.asarray(columns[k]) for k in ("op", "address", "mask", "data")))
