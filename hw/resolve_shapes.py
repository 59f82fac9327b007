"""Payload shapes of the resolve engine, and how many texels of a row a memory word holds."""

from collections.abc import Callable

from amaranth.hdl import Const, Mux, Value, unsigned
from amaranth.lib import data, enum, stream
from amaranth.lib.wiring import In, Out

from minmip.hw.config import UnitConfig
from minmip.hw.shapes import SIZE_BITS, SLICE_BITS, TAG_BITS, TEXEL_BITS, address_request
from minmip.hw.swizzle import Layout, is_layout, layouts, packing, word_bits

__all__ = [
    "RESOLVE_STREAMS",
    "ResolveKind",
    "map_fields",
    "resolve_ports",
    "resolve_request",
    "resolve_result",
    "run_bytes",
    "run_log2",
    "run_log2s",
    "run_texels",
    "texel_array",
    "texel_run",
]

RESOLVE_STREAMS = {
    "i_resolve": "i",
    "o_resolve": "o",
    "i_texels": "i_texels",
    "o_texels": "o_texels",
}
"""Streams of what holds a resolve engine, and their names at the engine."""


class ResolveKind(enum.IntEnum, shape=unsigned(2)):
    """What the bytes of the map mean."""

    MIN_MIP = 0
    MIP_REGION_USED = 1
    RAW = 2


def map_fields(cfg: UnitConfig) -> dict:
    """Where the map and the mip level lie: the fields of `address_request` beside the texel."""
    return {
        name: field.shape
        for name, field in address_request(cfg)
        if name not in ("x", "y", "z", "tag")
    }


def resolve_request(cfg: UnitConfig) -> data.StructLayout:
    """Decode or `encode` the texels of a rectangle of one slice (or depth `z`) of a mip level.

    `x` and `y` are its first texel. `kind` is a `ResolveKind`; 3 counts as `RAW`. The other fields
    are `map_fields`.
    """
    return data.StructLayout(
        map_fields(cfg)
        | {
            "kind": unsigned(2),
            "encode": unsigned(1),
            "x": unsigned(TEXEL_BITS),
            "y": unsigned(TEXEL_BITS),
            "z": unsigned(SLICE_BITS),
            "width": unsigned(SIZE_BITS),
            "height": unsigned(SIZE_BITS),
            "tag": unsigned(TAG_BITS),
        }
    )


def resolve_result() -> data.StructLayout:
    """Every texel is given, or in memory; `error`: some lay outside it and were left out."""
    return data.StructLayout({"error": unsigned(1), "tag": unsigned(TAG_BITS)})


def texel_array(cfg: UnitConfig) -> data.ArrayLayout:
    """Decoded texels of a run, lowest x first."""
    return data.ArrayLayout(unsigned(8), run_bytes(cfg))


def texel_run(cfg: UnitConfig) -> data.StructLayout:
    """Decoded texels side by side in a row: those in one memory word.

    Only those of `mask` lie in the rectangle. `end_of_row` and `end` mark the last run of a row and
    of the rectangle.
    """
    return data.StructLayout(
        {
            "texel": texel_array(cfg),
            "mask": unsigned(run_bytes(cfg)),
            "end_of_row": unsigned(1),
            "end": unsigned(1),
        }
    )


def resolve_ports(cfg: UnitConfig) -> dict:
    """Members `RESOLVE_STREAMS` of what holds a resolve engine, if it is built."""
    if not cfg.resolves:
        return {}
    return {
        "i_resolve": In(stream.Signature(resolve_request(cfg))),
        "o_resolve": Out(stream.Signature(resolve_result())),
        "i_texels": In(stream.Signature(texel_array(cfg))),
        "o_texels": Out(stream.Signature(texel_run(cfg))),
    }


def run_bytes(cfg: UnitConfig) -> int:
    """Most texels of a run."""
    return 1 << run_log2s(cfg)[-1]


def run_texels(cfg: UnitConfig, layout: Layout) -> int:
    """Texels of a run of maps of a layout.

    A run begins at a multiple of itself, and its bytes lie side by side in one memory word, also at
    a multiple of it.
    """
    bits = word_bits(cfg, packing(layout))
    return 1 << next((n for n, bit in enumerate(bits) if bit != ("x", n)), len(bits))


def run_log2s(cfg: UnitConfig) -> tuple[int, ...]:
    """Log2 of the texels that a run may have in this build, in rising order."""
    return tuple(sorted({run_texels(cfg, layout).bit_length() - 1 for layout in layouts(cfg)}))


def run_log2(cfg: UnitConfig, place) -> Value:
    """Log2 of the texels of a run of the map that `place`, with `map_fields`, describes."""
    *shorter, most = run_log2s(cfg)
    found = Const(most, range(most + 1))
    for log2 in shorter:
        found = Mux(is_layout(cfg, place.mode, place.volume, _has_runs(cfg, log2)), log2, found)
    return found


def _has_runs(cfg: UnitConfig, log2: int) -> Callable[[Layout], bool]:
    return lambda layout: run_texels(cfg, layout) == 1 << log2
