"""Payload shapes from the texels of a part to memory words, their reads and writes, and answers."""

from amaranth.hdl import unsigned
from amaranth.lib import data

from minmip.hw.beats import FILTERED_BITS, QUAD_TAG_BITS, head, ramp
from minmip.hw.config import UnitConfig
from minmip.hw.shapes import (
    ADDRESS_BITS,
    CODE_BITS,
    PACKING_BITS,
    SLICE_BITS,
    TEXEL_BITS,
    MemoryOp,
)

__all__ = [
    "TEXELS",
    "WORDS",
    "addressed_beat",
    "filter_result",
    "kernel",
    "read_request",
    "retired",
    "slab_beat",
    "word_beat",
    "word_data",
    "words_request",
]

TEXELS = 4
"""Texels of a lane in one slab: 2 * row + column."""
WORDS = 4
"""Memory words of a group: what one lane may touch, two rows of texels on both sides of an edge."""


def slab_beat(cfg: UnitConfig) -> data.StructLayout:
    """Texels of a part in one slice, or at one depth of a volume (a *slab*): two rows, two columns.

    `slab` is 1 for the second depth of a volume; `done`: no slab of these lanes follows. Texels of
    the filter that are not touched are in the border and count as 0.
    """
    pair = data.ArrayLayout(unsigned(TEXEL_BITS), 2)
    lane = data.StructLayout(
        {
            "x": pair,
            "y": pair,
            "x_touched": unsigned(2),
            "y_touched": unsigned(2),
            "fraction": data.ArrayLayout(unsigned(8), cfg.axes),
            "slice": unsigned(SLICE_BITS),
            "mip": unsigned(4),
            "value": unsigned(8),
        }
    )
    return data.StructLayout(
        head(cfg)
        | {
            "first_lane": unsigned(2),
            "last": unsigned(1),
            "active": unsigned(cfg.lanes),
            "linked": unsigned(3),
            "slab": unsigned(1),
            "done": unsigned(1),
            "packing": unsigned(PACKING_BITS),
            "ramp": ramp(cfg),
            "lane": data.ArrayLayout(lane, cfg.lanes),
        }
    )


def kernel(cfg: UnitConfig) -> data.StructLayout:
    """What the filter needs of a part beside its texels."""
    fractions = data.ArrayLayout(unsigned(8), cfg.axes)
    return data.StructLayout(
        {
            "first_lane": unsigned(2),
            "slab": unsigned(1),
            "done": unsigned(1),
            "ramp": ramp(cfg),
            "fraction": data.ArrayLayout(fractions, cfg.lanes),
        }
    )


def _members(cfg: UnitConfig) -> data.ArrayLayout:
    """Texels of each lane in a group of words: 2 * row + column.

    `member`: the lane is in the group. Of its texels, those that are touched `joins`; each is byte
    `byte` of word `slot`.
    """
    lane = data.StructLayout(
        {
            "member": unsigned(1),
            "joins": unsigned(TEXELS),
            "slot": data.ArrayLayout(unsigned(2), TEXELS),
            "byte": data.ArrayLayout(unsigned(cfg.word_log2), TEXELS),
        }
    )
    return data.ArrayLayout(lane, cfg.lanes)


def word_beat(cfg: UnitConfig) -> data.StructLayout:
    """A group of lanes whose texels lie in up to four memory words of a map.

    Each `valid` word is the one that holds the texel (x, y) of the map's `mip` and `slice`; valid
    words differ. `read`: for the filter, nothing is written. `value` is what each lane writes;
    `rank[q]` is the lane, one-hot, with the q-th strongest value: that of several for one byte.
    `last` ends the quad.
    """
    word = data.StructLayout(
        {
            "valid": unsigned(1),
            "mip": unsigned(4),
            "slice": unsigned(SLICE_BITS),
            "x": unsigned(TEXEL_BITS),
            "y": unsigned(TEXEL_BITS),
        }
    )
    return data.StructLayout(
        head(cfg)
        | {
            "last": unsigned(1),
            "read": unsigned(1),
            "op": MemoryOp,
            "word": data.ArrayLayout(word, WORDS),
            "lane": _members(cfg),
            "value": data.ArrayLayout(unsigned(8), cfg.lanes),
            "rank": data.ArrayLayout(unsigned(cfg.lanes), cfg.lanes),
            "kernel": kernel(cfg),
        }
    )


def word_data(cfg: UnitConfig) -> data.ArrayLayout:
    """What is written to the bytes of a word: with one lane one value, which all bytes share."""
    return data.ArrayLayout(unsigned(8), 1 if cfg.lanes == 1 else cfg.word_bytes)


def _addressed_words(cfg: UnitConfig) -> data.ArrayLayout:
    word = data.StructLayout(
        {
            "valid": unsigned(1),
            "address": unsigned(ADDRESS_BITS - cfg.word_log2),
            "mask": unsigned(cfg.word_bytes),
            "data": word_data(cfg),
        }
    )
    return data.ArrayLayout(word, WORDS)


def addressed_beat(cfg: UnitConfig) -> data.StructLayout:
    """Up to four different memory words with their bytes; addresses count words from byte 0.

    Addresses of words that are not valid, and data bytes without their mask bit, are anything. With
    `read`, `lane` and `kernel` say what the filter needs. `writes`: a word is valid, and it is not
    read. `ends`: the last beat of a flush.
    """
    return data.StructLayout(
        head(cfg)
        | {
            "last": unsigned(1),
            "read": unsigned(1),
            "writes": unsigned(1),
            "ends": unsigned(1),
            "op": MemoryOp,
            "word": _addressed_words(cfg),
            "lane": _members(cfg),
            "kernel": kernel(cfg),
        }
    )


def words_request(cfg: UnitConfig) -> data.StructLayout:
    """Up to four different words for the write-combining buffer."""
    return data.StructLayout({"op": MemoryOp, "word": _addressed_words(cfg)})


def read_request(cfg: UnitConfig) -> data.StructLayout:
    """Words that the filter reads, and the lanes whose texels they hold; `last` ends the quad."""
    word = data.StructLayout(
        {"valid": unsigned(1), "address": unsigned(ADDRESS_BITS - cfg.word_log2)}
    )
    return data.StructLayout(
        {
            "last": unsigned(1),
            "word": data.ArrayLayout(word, WORDS),
            "lane": _members(cfg),
            "kernel": kernel(cfg),
        }
    )


def filter_result() -> data.StructLayout:
    """Filtered values of a quad, U5.8; 0 for lanes that did not ask."""
    return data.StructLayout({"filtered": data.ArrayLayout(unsigned(FILTERED_BITS), 4)})


def retired() -> data.StructLayout:
    """A quad or flush that has left the pipeline; with `read` its `filter_result` follows."""
    return data.StructLayout(
        {
            "code": unsigned(CODE_BITS),
            "flush": unsigned(1),
            "read": unsigned(1),
            "tag": unsigned(QUAD_TAG_BITS),
        }
    )
