"""Payload shapes of the streams between blocks; the first field of a struct is in the low bits.

Every payload carries a `tag`, handed on unchanged, so that answers find their request.
"""

from amaranth.hdl import signed, unsigned
from amaranth.lib import data, enum
from amaranth.utils import ceil_log2

from minmip.hw.config import UnitConfig

__all__ = [
    "ADDRESS_BITS",
    "AXIS_REQUEST",
    "AXIS_RESULT",
    "BLOCK_BITS",
    "CLIENT_BITS",
    "CODE_BITS",
    "FLOAT",
    "MODE_BITS",
    "PACKING_BITS",
    "SIZE_BITS",
    "SLICE_BITS",
    "TAG_BITS",
    "TEXEL_BITS",
    "MemoryOp",
    "address_request",
    "address_result",
    "clear_request",
    "clear_result",
    "context_index",
    "control",
    "coordinate_request",
    "coordinate_result",
    "descriptor_request",
    "gradient_request",
    "gradient_result",
    "host_request",
    "host_response",
    "lod_request",
    "lod_result",
    "memory_request",
    "rescale_request",
    "rescale_result",
]

FLOAT = unsigned(32)
"""A float32 bit pattern."""
SIZE_BITS = 15
"""A side in texels, 1 to 16384."""
TEXEL_BITS = 14
"""A texel coordinate, 0 to 16383."""
SLICE_BITS = 14
"""A slice or depth, 0 to 8191, or a count of them up to 8192."""
ADDRESS_BITS = 48
"""A byte address."""
BLOCK_BITS = ADDRESS_BITS - 8
"""An address in blocks of 256 bytes."""
CODE_BITS = 5
"""An error code, 0 to 31."""
MODE_BITS = 5
"""SW_MODE, a swizzle mode."""
PACKING_BITS = 2
"""Which texels share a memory word, a `Packing` of `hw/swizzle.py`."""
TAG_BITS = 8
CLIENT_BITS = 2
"""Which client of the host port asks; above the tag on the way to the memory port."""


class MemoryOp(enum.IntEnum, shape=unsigned(2)):
    """What an operation makes of a byte and its operand."""

    MIN = 0
    MAX = 1
    OR = 2
    SET = 3


def gradient_request(cfg: UnitConfig) -> data.StructLayout:
    """Coordinates of lanes 0, 1 and 2 of a quad."""
    lane = data.ArrayLayout(FLOAT, cfg.axes)
    return data.StructLayout({"uvw": data.ArrayLayout(lane, 3), "tag": TAG_BITS})


def gradient_result(cfg: UnitConfig) -> data.StructLayout:
    """Differences lane 1 - lane 0 and lane 2 - lane 0."""
    vector = data.ArrayLayout(FLOAT, cfg.axes)
    return data.StructLayout({"ddx": vector, "ddy": vector, "tag": TAG_BITS})


def lod_request(cfg: UnitConfig) -> data.StructLayout:
    """One lane's gradients; `size` of the view's first mip, `axes` in use (1 to 3).

    `aniso` allows anisotropy, up to `2**max_aniso_log2` (0 to 4).
    """
    vector = data.ArrayLayout(FLOAT, cfg.axes)
    return data.StructLayout(
        {
            "ddx": vector,
            "ddy": vector,
            "size": data.ArrayLayout(unsigned(SIZE_BITS), cfg.axes),
            "axes": unsigned(2),
            "aniso": unsigned(1),
            "max_aniso_log2": unsigned(3),
            "threshold": unsigned(3),
            "tag": unsigned(TAG_BITS),
        }
    )


def lod_result() -> data.StructLayout:
    """LOD in S7.8 before bias; `undefined` for NaN and infinite gradients (`docs/lod.md`)."""
    return data.StructLayout(
        {
            "lod": signed(16),
            "undefined": unsigned(1),
            "taps_log2": unsigned(3),
            "major_is_x": unsigned(1),
            "tag": unsigned(TAG_BITS),
        }
    )


AXIS_REQUEST = data.StructLayout(
    {
        "coordinate": FLOAT,
        "major": FLOAT,
        "size": unsigned(SIZE_BITS),
        "mode": unsigned(3),
        "linear": unsigned(1),
        "filter": unsigned(1),
    }
)
"""One axis of one lane and tap: coordinate, component of the line, grid size, address mode.

`filter`: for the MinMip filter, own texel and near neighbour.
"""

AXIS_RESULT = data.StructLayout(
    {
        "texel": data.ArrayLayout(unsigned(TEXEL_BITS), 2),
        "touched": data.ArrayLayout(unsigned(1), 2),
        "weight": unsigned(8),
    }
)
"""Texels t0 and t1 with their "is touched" bits, and the weight of t1 in 1/256.

For the MinMip filter t1 is the near neighbour of t0, and the weight the fraction of the position. A
texel that is not touched is 0.
"""


def coordinate_request(cfg: UnitConfig) -> data.StructLayout:
    """One axis set: tap `tap` of `2**taps_log2`, TRUNC_COORD, and every axis."""
    return data.StructLayout(
        {
            "axis": data.ArrayLayout(AXIS_REQUEST, cfg.axes),
            "tap": unsigned(4),
            "taps_log2": unsigned(3),
            "truncate": unsigned(1),
            "tag": unsigned(TAG_BITS),
        }
    )


def coordinate_result(cfg: UnitConfig) -> data.StructLayout:
    """Footprint of one axis set."""
    return data.StructLayout(
        {"axis": data.ArrayLayout(AXIS_RESULT, cfg.axes), "tag": unsigned(TAG_BITS)}
    )


def rescale_request(cfg: UnitConfig) -> data.StructLayout:
    """Paired `size`, log2 `scale` per axis, linked type (0 plain), absolute mip level.

    `limited_lod` is the LOD inside the view in 1/256, `base_level` the view's first level.
    """
    return data.StructLayout(
        {
            "size": data.ArrayLayout(unsigned(SIZE_BITS), cfg.axes),
            "scale": data.ArrayLayout(unsigned(4), cfg.axes),
            "linked": unsigned(3),
            "mip": unsigned(4),
            "limited_lod": unsigned(12),
            "base_level": unsigned(4),
            "tag": unsigned(TAG_BITS),
        }
    )


def rescale_result(cfg: UnitConfig) -> data.StructLayout:
    """Grid of the footprint, and the byte that the request writes."""
    return data.StructLayout(
        {
            "grid": data.ArrayLayout(unsigned(SIZE_BITS), cfg.axes),
            "value": unsigned(8),
            "tag": unsigned(TAG_BITS),
        }
    )


def address_request(cfg: UnitConfig) -> data.StructLayout:
    """A map texel and its map's layout at one mip level.

    `mode` is the SW_MODE. `base` counts 256 bytes; `chain` (one slice or slab) and `offset` count
    blocks of the mode, of 256 bytes, 4 KB or 64 KB. `columns` are the mip's block columns less one.
    `slot` is its place in the mip tail, from 0 for the largest, or 15. `z` is the slice or the
    depth.
    """
    return data.StructLayout(
        {
            "base": unsigned(BLOCK_BITS),
            "chain": unsigned(24),
            "offset": unsigned(24),
            "columns": unsigned(11),
            "slot": unsigned(4),
            "mode": unsigned(MODE_BITS),
            "volume": unsigned(1),
            "x": unsigned(TEXEL_BITS),
            "y": unsigned(TEXEL_BITS),
            "z": unsigned(SLICE_BITS),
            "tag": unsigned(TAG_BITS),
        }
    )


def address_result() -> data.StructLayout:
    """Byte address of the texel."""
    return data.StructLayout({"address": unsigned(ADDRESS_BITS), "tag": unsigned(TAG_BITS)})


def memory_request(cfg: UnitConfig) -> data.StructLayout:
    """One operation on the bytes of a memory word that `mask` names; no answer follows.

    `address` counts memory words from byte address 0.
    """
    return data.StructLayout(
        {
            "op": MemoryOp,
            "address": unsigned(ADDRESS_BITS - cfg.word_log2),
            "data": data.ArrayLayout(unsigned(8), cfg.word_bytes),
            "mask": unsigned(cfg.word_bytes),
        }
    )


def host_request(cfg: UnitConfig, client_bits: int = 0) -> data.StructLayout:
    """Read a memory word, after writing the bytes that `mask` names: 0 reads only.

    `tag` holds `client_bits` more bits between the clients' switch and the memory port.
    """
    return data.StructLayout(
        {
            "address": unsigned(ADDRESS_BITS - cfg.word_log2),
            "data": data.ArrayLayout(unsigned(8), cfg.word_bytes),
            "mask": unsigned(cfg.word_bytes),
            "tag": unsigned(TAG_BITS + client_bits),
        }
    )


def host_response(cfg: UnitConfig, client_bits: int = 0) -> data.StructLayout:
    """Word after the request; `error`: outside the memory, nothing written, `data` is 0."""
    return data.StructLayout(
        {
            "data": data.ArrayLayout(unsigned(8), cfg.word_bytes),
            "error": unsigned(1),
            "tag": unsigned(TAG_BITS + client_bits),
        }
    )


def clear_request() -> data.StructLayout:
    """Fill `length` bytes from byte address `start` with `value`."""
    return data.StructLayout(
        {
            "start": unsigned(ADDRESS_BITS),
            "length": unsigned(32),
            "value": unsigned(8),
            "tag": unsigned(TAG_BITS),
        }
    )


def clear_result() -> data.StructLayout:
    """Every byte is in memory; `error`: some lay outside it and were left out."""
    return data.StructLayout({"error": unsigned(1), "tag": unsigned(TAG_BITS)})


def descriptor_request() -> data.StructLayout:
    """The words of a T# and an S#, word 0 first, and two flags of the request (spec 01)."""
    return data.StructLayout(
        {
            "t_sharp": data.ArrayLayout(unsigned(32), 8),
            "s_sharp": data.ArrayLayout(unsigned(32), 4),
            "offset": unsigned(1),
            "gather": unsigned(1),
            "tag": unsigned(TAG_BITS),
        }
    )


def context_index(cfg: UnitConfig):
    """Number of a held descriptor pair, its *context*: a bit at least, as Verilog has no fewer."""
    return unsigned(max(1, ceil_log2(cfg.descriptor_entries)))


def control(cfg: UnitConfig) -> data.StructLayout:
    """A decoded descriptor pair, with what every later block needs of it.

    `code` is the error code; unless it is 0 the other fields but `tag`, `entry` and `fresh` mean
    nothing. `entry` is the place where the pair is held; `fresh` marks the first answer since the
    pair came there. `linked` is the linked type, 0 for a plain texture.

    The paired texture: `size` and `view_size` (of mip 0 and of the view's first mip; 1 on axes not
    in use), log2 `scale` to the map, coordinate `axes` (1 to 3), slices and levels of the view,
    `view_min_lod` in 1/256.

    The sampler: address modes `clamp`; `aniso` when gradients are anisotropic, with up to
    `2**max_aniso_log2` taps; LODs and bias in 1/256; `mip_filter` 0 none, 1 point, 2 or 3 linear.
    `filter_slope2` (twice the slope) and `filter_offset` (in 1/256): the MinMip filter's U and
    "V or W".

    The map, which only linked requests have: `mode` is its SW_MODE, `base` counts 256 bytes.
    `chain` (one slice or slab) and `mip_offset` count blocks of the mode: of 256 bytes, 4 KB or 64
    KB. `first_tail` is the first mip in the mip tail, 16 or more without one. Offsets of mips in
    the tail, and of those that the map has not, are 0. `columns` is the number of block columns of
    mip 0 less one, so a mip l before the tail is `(columns >> l) + 1` blocks wide.
    """
    axes = cfg.axes
    offset = address_request(cfg)["offset"].shape
    return data.StructLayout(
        {
            "code": unsigned(CODE_BITS),
            "entry": context_index(cfg),
            "fresh": unsigned(1),
            "linked": unsigned(3),
            "axes": unsigned(2),
            "is_array": unsigned(1),
            "size": data.ArrayLayout(unsigned(SIZE_BITS), axes),
            "view_size": data.ArrayLayout(unsigned(SIZE_BITS), axes),
            "scale": data.ArrayLayout(unsigned(4), axes),
            "first_slice": unsigned(SLICE_BITS),
            "last_slice": unsigned(SLICE_BITS),
            "base_level": unsigned(4),
            "last_level": unsigned(4),
            "view_min_lod": unsigned(12),
            "clamp": data.ArrayLayout(unsigned(3), axes),
            "aniso": unsigned(1),
            "max_aniso_log2": unsigned(3),
            "threshold": unsigned(3),
            "truncate": unsigned(1),
            "min_lod": unsigned(12),
            "max_lod": unsigned(12),
            "lod_bias": signed(14),
            "mag_linear": unsigned(1),
            "min_linear": unsigned(1),
            "z_linear": unsigned(1),
            "mip_filter": unsigned(2),
            "filter_slope2": data.ArrayLayout(unsigned(8), 2),
            "filter_offset": data.ArrayLayout(unsigned(7), 2),
            "mode": unsigned(MODE_BITS),
            "first_tail": unsigned(5),
            "volume": unsigned(1),
            "base": unsigned(BLOCK_BITS),
            "columns": unsigned(11),
            "chain": unsigned(24),
            "mip_offset": data.ArrayLayout(offset, 16),
            "tag": unsigned(TAG_BITS),
        }
    )
