"""Payload shapes of the resolve engine, and how many texels of a row a memory word holds."""

from amaranth.hdl import Const, Mux, Value, unsigned
from amaranth.lib import data, enum, stream
from amaranth.lib.wiring import In, Out

from minmip.hw.config import UnitConfig
from minmip.hw.shapes import SIZE_BITS, SLICE_BITS, TAG_BITS, TEXEL_BITS, address_request

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
    "texel_array",
    "texel_run",
]

_ROW_LOG2, _THICK_LOG2 = 4, 2
"""Log2 of the texels of a row that lie side by side in memory: 256B_S and LINEAR; volumes of it."""

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

    `x` and `y` are its first texel. In a mip tail they count from the corner of the tail's block.
    The other fields are `map_fields`, `kind` is a `ResolveKind`; 3 counts as `RAW`.
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
    return min(cfg.word_bytes, 1 << _ROW_LOG2)


def run_log2s(cfg: UnitConfig) -> tuple[int, ...]:
    """Log2 of the texels that a run may have in this build, in rising order."""
    volumes = cfg.volumes and 1 in cfg.swizzle_modes
    kinds = (_THICK_LOG2, _ROW_LOG2) if volumes else (_ROW_LOG2,)
    return tuple(sorted({min(cfg.word_log2, texels) for texels in kinds}))


def run_log2(cfg: UnitConfig, place) -> Value:
    """Log2 of the texels of a run of the map that `place`, with `map_fields`, describes.

    A run of so many texels begins at a multiple of itself, and its bytes lie side by side in one
    memory word, also at a multiple of it.
    """
    least, *_, most = run_log2s(cfg) * 2
    if least == most:
        return Const(most, range(most + 1))
    swizzled = place.swizzled if 0 in cfg.swizzle_modes else Const(1, 1)
    return Mux(swizzled & place.volume, least, most)
