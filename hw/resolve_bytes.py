"""Bytes of the resolve engine: decoded and encoded (spec 03), and runs of them in words."""

from collections.abc import Sequence

from amaranth.hdl import Array, Cat, Const, Module, Mux, Signal, Value

from minmip.hw.config import UnitConfig
from minmip.hw.resolve_shapes import ResolveKind, run_bytes, run_log2s

__all__ = ["decoded_byte", "encoded_byte", "repeated_run", "run_in_word"]


def decoded_byte(m: Module, kind: Value, byte: Value) -> Signal:
    """Return what a byte of a map says: a mip level or 0xFF; 0xFF for used or 0; or itself."""
    texel = Signal(8)
    with m.Switch(kind):
        with m.Case(ResolveKind.MIN_MIP):
            m.d.comb += texel.eq((byte >> 3) | byte.all().replicate(8))
        with m.Case(ResolveKind.MIP_REGION_USED):
            m.d.comb += texel.eq(byte.any().replicate(8))
        with m.Default():
            m.d.comb += texel.eq(byte)
    return texel


def encoded_byte(m: Module, kind: Value, texel: Value) -> Signal:
    """Return the byte of a map that says so: U5.3 or 0xFF; 1 for used or 0; or itself."""
    byte = Signal(8)
    with m.Switch(kind):
        with m.Case(ResolveKind.MIN_MIP):
            # 32 and above are no level.
            m.d.comb += byte.eq(Cat(Const(0, 3), texel[:5]) | texel[5:].any().replicate(8))
        with m.Case(ResolveKind.MIP_REGION_USED):
            m.d.comb += byte.eq(texel.any())
        with m.Default():
            m.d.comb += byte.eq(texel)
    return byte


def repeated_run(cfg: UnitConfig, run: Sequence[Value], size: Value) -> list[Value]:
    """Return the bytes of a memory word in which a run of `size` bytes stands in every part."""
    log2s = run_log2s(cfg)
    word = []
    for n in range(cfg.word_bytes):
        byte = run[n % (1 << log2s[-1])]
        for log2 in log2s[:-1]:
            byte = Mux(size[log2], run[n % (1 << log2)], byte)
        word.append(byte)
    return word


def run_in_word(cfg: UnitConfig, word: Sequence[Value], part: Value) -> list[Value]:
    """Return the bytes of a run that is a part of a memory word.

    `part` counts the least runs of the build. Bytes behind the end of a short run may be any.
    """
    log2s = run_log2s(cfg)
    run = []
    for n in range(run_bytes(cfg)):
        # Of the runs that have a byte n, the shortest: longer ones begin at fewer places.
        log2 = next(log2 for log2 in log2s if n < 1 << log2)
        run.append(Array(word[n :: 1 << log2])[part[log2 - log2s[0] :]])
    return run
