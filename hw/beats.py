"""Payload shapes of the whole unit: its ports, and the beats from stage to stage up to the texels.

`word_beats.py` has the beats behind, `shapes.py` the payloads of the blocks that a beat is taken
apart for. A *quad* is 4 lanes, a *part*
the `lanes` of a quad that go through the unit in one clock; `first_lane` says which.
"""

from amaranth.hdl import signed, unsigned
from amaranth.lib import data

from minmip.hw.config import UnitConfig
from minmip.hw.shapes import (
    AXIS_RESULT,
    CODE_BITS,
    FLOAT,
    PACKING_BITS,
    SLICE_BITS,
    context_index,
    control,
)

__all__ = [
    "FILTERED_BITS",
    "LOD",
    "QUAD_TAG_BITS",
    "context_answer",
    "control_fields",
    "footprint_beat",
    "head",
    "lod_beat",
    "mip_beat",
    "part_beat",
    "pattern_beat",
    "quad_answer",
    "quad_beat",
    "quad_operands",
    "quad_request",
    "ramp",
    "tap_beat",
]

QUAD_TAG_BITS = 16
"""Tag of a request of the unit; wider than the number of quads that can be inside."""
LOD = signed(16)
"""S7.8: a level in 1/256."""
FILTERED_BITS = 13
"""A filtered value, U5.8."""


def control_fields(cfg: UnitConfig, *names: str) -> data.StructLayout:
    """Some fields of `control`."""
    layout = control(cfg)
    return data.StructLayout({name: layout[name].shape for name in names})


def quad_request(cfg: UnitConfig) -> data.StructLayout:
    """One quad, or a flush (spec 02 "Inputs", spec 08).

    `opcode` and the coordinates are those of the trace file; `lod` is bias or level; `offset` and
    `gather` are refused (codes 1 and 4). `flush`: answer when every earlier write is in memory; all
    other fields but `tag` are ignored.
    """
    lane = data.ArrayLayout(FLOAT, cfg.axes)
    return data.StructLayout(
        {
            "t_sharp": data.ArrayLayout(FLOAT, 8),
            "s_sharp": data.ArrayLayout(FLOAT, 4),
            "uvw": data.ArrayLayout(lane, 4),
            "slice": data.ArrayLayout(FLOAT, 4),
            "ddx": data.ArrayLayout(lane, 4),
            "ddy": data.ArrayLayout(lane, 4),
            "lod": data.ArrayLayout(FLOAT, 4),
            "clamp": data.ArrayLayout(FLOAT, 4),
            "opcode": unsigned(3),
            "has_clamp": unsigned(1),
            "offset": unsigned(1),
            "gather": unsigned(1),
            "flush": unsigned(1),
            "exec": unsigned(4),
            "helper": unsigned(4),
            "tag": unsigned(QUAD_TAG_BITS),
        }
    )


def quad_answer() -> data.StructLayout:
    """Answer to a quad or a flush, in the order of the requests: error code, U5.8 of each lane."""
    return data.StructLayout(
        {
            "code": unsigned(CODE_BITS),
            "flush": unsigned(1),
            "filtered": data.ArrayLayout(unsigned(FILTERED_BITS), 4),
            "tag": unsigned(QUAD_TAG_BITS),
        }
    )


def context_answer(cfg: UnitConfig) -> data.StructLayout:
    """Which context a request uses, and its error code."""
    return data.StructLayout({"context": context_index(cfg), "code": unsigned(CODE_BITS)})


def head(cfg: UnitConfig) -> dict:
    """What every beat of the unit begins with."""
    return {
        "context": context_index(cfg),
        "code": unsigned(CODE_BITS),
        "flush": unsigned(1),
        "tag": unsigned(QUAD_TAG_BITS),
    }


def quad_operands(cfg: UnitConfig) -> data.StructLayout:
    """A request without its descriptors: what waits while they are decoded."""
    layout = quad_request(cfg)
    left_out = ("t_sharp", "s_sharp", "offset", "gather")
    return data.StructLayout({name: field.shape for name, field in layout if name not in left_out})


def quad_beat(cfg: UnitConfig) -> data.StructLayout:
    """A quad with its context; `live` lanes write; implicit opcodes have `ddx[0]` and `ddy[0]`.

    Flushes and refused quads have no live lane.
    """
    operands = quad_operands(cfg)
    left_out = ("exec", "helper", "flush", "tag")
    rest = {name: field.shape for name, field in operands if name not in left_out}
    return data.StructLayout(head(cfg) | {"live": unsigned(4)} | rest)


def _part(cfg: UnitConfig) -> dict:
    """Which lanes of a quad these are, and the `live` ones among them."""
    return {
        "first_lane": unsigned(2),
        "last_part": unsigned(1),
        "live": unsigned(cfg.lanes),
    }


def part_beat(cfg: UnitConfig) -> data.StructLayout:
    """Part of a quad on its way to the LOD.

    `implicit`: lane 0 of the part has the one pair of gradients for all; `explicit`: `level` is the
    LOD; neither: each lane has its own gradients. `level` is the bias when `has_bias`.
    """
    vector = data.ArrayLayout(FLOAT, cfg.axes)
    lane = data.StructLayout(
        {
            "uvw": vector,
            "slice": FLOAT,
            "ddx": vector,
            "ddy": vector,
            "level": FLOAT,
            "clamp": FLOAT,
        }
    )
    return data.StructLayout(
        head(cfg)
        | _part(cfg)
        | {
            "implicit": unsigned(1),
            "explicit": unsigned(1),
            "has_bias": unsigned(1),
            "has_clamp": unsigned(1),
            "lane": data.ArrayLayout(lane, cfg.lanes),
        }
    )


def lod_beat(cfg: UnitConfig) -> data.StructLayout:
    """Part of a quad with the LOD of each lane before bias and clamps.

    `line` is the major gradient (u, v), looked at only when `taps_log2` is not 0. `slice` is the
    operand, rounded and limited to 0..16383. `clamp` is -32768 without a clamp operand.
    """
    lane = data.StructLayout(
        {
            "uvw": data.ArrayLayout(FLOAT, cfg.axes),
            "line": data.ArrayLayout(FLOAT, 2),
            "slice": unsigned(SLICE_BITS),
            "lod": LOD,
            "undefined": unsigned(1),
            "taps_log2": unsigned(3),
            "bias": LOD,
            "clamp": LOD,
        }
    )
    return data.StructLayout(head(cfg) | _part(cfg) | {"lane": data.ArrayLayout(lane, cfg.lanes)})


def _sampled(cfg: UnitConfig) -> dict:
    """Lane fields from the mip choice to the footprint."""
    return {
        "uvw": data.ArrayLayout(FLOAT, cfg.axes),
        "line": data.ArrayLayout(FLOAT, 2),
        "slice": unsigned(SLICE_BITS),
        "taps_log2": unsigned(3),
        "lod": LOD,
        "limited": unsigned(12),
        "mip": unsigned(4),
        "linear": unsigned(1),
    }


def mip_beat(cfg: UnitConfig) -> data.StructLayout:
    """Part of a quad with what its LOD selects.

    `lod` is after the clamps, `limited` inside the view (1/256); `mip` the first mip, absolute;
    `second`: mip + 1 is touched too; `linear`: x and y blend.
    """
    lane = data.StructLayout(_sampled(cfg) | {"second": unsigned(1)})
    return data.StructLayout(head(cfg) | _part(cfg) | {"lane": data.ArrayLayout(lane, cfg.lanes)})


def _place(cfg: UnitConfig) -> dict:
    """Which beat of a quad this is; `active` lanes touch something; `last` ends the quad."""
    return {
        "first_lane": unsigned(2),
        "tap": unsigned(4),
        "slot": unsigned(1),
        "last": unsigned(1),
        "active": unsigned(cfg.lanes),
    }


def tap_beat(cfg: UnitConfig) -> data.StructLayout:
    """One tap of one mip (`slot` 0 or 1) of a part; `mip` is that of the slot."""
    lane = data.StructLayout(_sampled(cfg))
    return data.StructLayout(head(cfg) | _place(cfg) | {"lane": data.ArrayLayout(lane, cfg.lanes)})


def _texels(cfg: UnitConfig) -> dict:
    """Lane fields of a footprint that the pattern stream shows too."""
    return {
        "axis": data.ArrayLayout(AXIS_RESULT, cfg.axes),
        "slice": unsigned(SLICE_BITS),
        "mip": unsigned(4),
        "lod": LOD,
    }


def ramp(cfg: UnitConfig) -> data.StructLayout:
    """The filter's ramp on each axis: twice the slope, and the offset in 1/256."""
    return data.StructLayout(
        {
            "slope2": data.ArrayLayout(unsigned(8), cfg.axes),
            "offset": data.ArrayLayout(unsigned(7), cfg.axes),
        }
    )


def footprint_beat(cfg: UnitConfig) -> data.StructLayout:
    """Texels of one tap and mip of a part; `slice` is absolute, `value` the byte to write.

    `linked` is the linked type, 0 for plain requests. Axes not in use have texel 0, touched once.
    For the MinMip filter texel 0 of an axis is the own texel, texel 1 the near neighbour, and
    `weight` the fraction of the position, 0 to 255. `packing`: which texels share a memory
    word of the map (`hw/swizzle.py`).
    """
    lane = data.StructLayout(_texels(cfg) | {"value": unsigned(8)})
    return data.StructLayout(
        head(cfg)
        | _place(cfg)
        | {"linked": unsigned(3), "packing": unsigned(PACKING_BITS), "ramp": ramp(cfg)}
        | {"lane": data.ArrayLayout(lane, cfg.lanes)}
    )


def pattern_beat(cfg: UnitConfig) -> data.StructLayout:
    """Sample pattern of a plain request: one tap and mip of the `active` lanes of a part.

    Lane n of the beat is lane `first_lane` + n of the quad.
    """
    lane = data.StructLayout(_texels(cfg))
    place = {name: shape for name, shape in _place(cfg).items() if name != "last"}
    return data.StructLayout(
        place | {"tag": unsigned(QUAD_TAG_BITS), "lane": data.ArrayLayout(lane, cfg.lanes)}
    )
