"""Bench of the resolve engine: random parts of maps, an echo for a memory, plain loops as model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from amaranth.hdl import Array, Module, Mux
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out
from map_vectors import map_layouts

from minmip.hw.config import UnitConfig
from minmip.hw.lib.queue import Queue
from minmip.hw.resolve_engine import ResolveEngine
from minmip.hw.resolve_shapes import (
    resolve_request,
    resolve_result,
    run_bytes,
    texel_array,
    texel_run,
)
from minmip.hw.shapes import host_request, host_response
from minmip.sim.golden.address import map_layout, texel_address
from minmip.sim.golden.resolve import MapPart
from minmip.sim.runners.resolve import request_columns, runs_of_texels

__all__ = [
    "ResolveBench",
    "columns_of",
    "corner_parts",
    "decoded_columns",
    "echoed",
    "map_part",
    "random_part",
    "random_parts",
    "wanted",
]

D_MODES = (2, 6, 10, 18, 22, 26)
_END = 1 << 48


class ResolveBench(wiring.Component):
    """The engine and an echo: each word is answered with what `echoed` says of its address.

    Bytes that mean nothing are 0: of words those not written, of runs those beside the rectangle.
    """

    def __init__(self, cfg: UnitConfig):
        self.cfg = cfg
        super().__init__(
            {
                "i": In(stream.Signature(resolve_request(cfg))),
                "o": Out(stream.Signature(resolve_result())),
                "i_texels": In(stream.Signature(texel_array(cfg))),
                "o_texels": Out(stream.Signature(texel_run(cfg))),
                "o_request": Out(stream.Signature(host_request(cfg))),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.engine = engine = ResolveEngine(self.cfg)
        m.submodules.echo = echo = Queue(host_response(self.cfg), 4)
        for name in ("i", "i_texels"):
            wiring.connect(m, wiring.flipped(getattr(self, name)), getattr(engine, name))
        wiring.connect(m, engine.o, wiring.flipped(self.o))
        wiring.connect(m, echo.o, engine.i_response)
        request, run = engine.o_request, engine.o_texels
        m.d.comb += [
            self.o_request.payload.address.eq(request.payload.address),
            self.o_request.payload.mask.eq(request.payload.mask),
            self.o_request.valid.eq(request.valid & echo.i.ready),
            request.ready.eq(self.o_request.ready & echo.i.ready),
            echo.i.valid.eq(request.valid & self.o_request.ready),
            echo.i.payload.tag.eq(request.payload.tag),
            self.o_texels.payload.mask.eq(run.payload.mask),
            self.o_texels.payload.end_of_row.eq(run.payload.end_of_row),
            self.o_texels.payload.end.eq(run.payload.end),
            self.o_texels.valid.eq(run.valid),
            run.ready.eq(self.o_texels.ready),
        ]
        for lane, byte in enumerate(self.o_request.payload.data):
            m.d.comb += byte.eq(
                request.payload.data[lane] & request.payload.mask[lane].replicate(8)
            )
        for lane, texel in enumerate(self.o_texels.payload.texel):
            m.d.comb += texel.eq(run.payload.texel[lane] & run.payload.mask[lane].replicate(8))
        address = request.payload.address
        error = address[4:8] == 0
        m.d.comb += echo.i.payload.error.eq(error)
        for lane, byte in enumerate(echo.i.payload.data):
            kind = (address[:2] + lane)[:2]
            value = Array([0xFF, 0, (address[:8] + 37 * lane)[:8], address[3:11] ^ lane])[kind]
            m.d.comb += byte.eq(Mux(error, 0, value))
        return m


def echoed(word: int, lane: int) -> int:
    """Byte that the echo has in a word: 0, 0xFF and others."""
    if word >> 4 & 15 == 0:
        return 0
    return (0xFF, 0, (word + 37 * lane) & 255, (word >> 3 & 255) ^ lane)[(word + lane) % 4]


def map_part(
    sw_mode, size, corner, extent, *, kind=0, texels=None, volume=False, base=1 << 20, mips=1
) -> MapPart:
    """Part of the last mip level of a map; at byte 2**20 the echo refuses its first 16 words."""
    layout = map_layout(
        *(np.array([sw_mode]), np.array([base]), np.array([size])),
        *(np.array([mips]), np.array([volume])),
    )
    return MapPart(
        layout=layout, mip=mips - 1, corner=corner, size=extent, kind=kind, texels=texels
    )


def corner_parts(cfg: UnitConfig) -> list[MapPart]:
    """Few parts, in which each rule matters once."""
    found = []

    def both(*arguments, **options):
        extent = arguments[-1]
        texels = np.resize([5, 31, 32, 0, 255, 1, 40], extent[::-1]).astype(np.uint8)
        found.append(map_part(*arguments, **options))
        found.append(map_part(*arguments, texels=texels, **options))

    for kind in range(3):
        both(0, (40, 3, 1), (3, 0, 0), (21, 2, 1), kind=kind)
    both(0, (40, 3, 1), (5, 1, 0), (1, 2, 1), kind=2)
    if cfg.volumes:
        both(1, (40, 7, 6), (1, 2, 3), (10, 3, 2), kind=2, volume=True)
    if 2 in cfg.swizzle_modes:
        both(2, (40, 7, 1), (3, 2, 0), (16, 3, 1), kind=2)
    if 5 in cfg.swizzle_modes:  # in the mip tail
        both(5, (40, 40, 2), (3, 2, 0), (5, 2, 2), kind=2, mips=3)
    for corner, extent in (
        ((3, 1, 0), (0, 2, 1)),
        ((3, 1, 0), (2, 0, 1)),
        ((16380, 1, 0), (5, 1, 1)),
        ((200, 16383, 0), (3, 2, 1)),
    ):
        both(0, (16384, 16384, 1), corner, extent, kind=2)
    return found


def random_part(rng, cfg: UnitConfig, *, base: int | None = None, side: int = 16384) -> MapPart:
    """A part of a random map: small, at borders of runs, of a texel, of none, of too much."""
    size = np.minimum(2.0 ** rng.uniform(0, 14.01, 3), min(side, 8192)).astype(np.int64)
    mips = int(np.log2(size[:2].max())) + 1
    mips = int(rng.integers(1, mips + 1))
    sw_mode, volume = rng.choice(np.array(map_layouts(cfg), object))
    layout = map_layout(
        sw_mode=np.array([sw_mode]),
        base=np.array([int(rng.integers(0, 1 << 40)) << 8 if base is None else base]),
        size=size[None],
        mips=np.array([mips]),
        volume=np.array([volume]),
        xor_patterns=cfg.xor_patterns,
    )
    mip = int(rng.integers(0, mips))
    whole = [max(1, int(n) >> (mip if axis < 2 or volume else 0)) for axis, n in enumerate(size)]
    corner, extent = [], []
    for most, n in zip((70, 5, 3), whole, strict=True):
        at = int(rng.choice([0, rng.integers(0, n), rng.integers(0, n) // 16 * 16]))
        corner.append(at)
        extent.append(min(n - at, int(rng.choice([1, most, rng.integers(1, most + 1)]))))
    odd = rng.random()
    if odd < 0.05:  # none
        extent[rng.integers(0, 2)] = 0
    elif odd < 0.1:  # too much
        axis = int(rng.integers(0, 2))
        extent[axis] = 1 + int(rng.integers(0, 40))
        corner[axis] = 16384 - int(rng.integers(1, extent[axis] + 1)) + int(rng.random() < 0.5)
        corner[axis] = min(corner[axis], 16383)
    encode = rng.random() < 0.5
    texels = rng.choice([0, 31, 32, 0xFF, *rng.integers(0, 256, 8)], extent[::-1])
    return MapPart(
        layout=layout,
        mip=mip,
        corner=(corner[0], corner[1], corner[2]),
        size=(extent[0], extent[1], extent[2]),
        kind=int(rng.integers(0, 3)),
        texels=texels.astype(np.uint8) if encode else None,
    )


def random_parts(rng, cfg: UnitConfig, count: int, **options) -> list[MapPart]:
    return [random_part(rng, cfg, **options) for _ in range(count)]


def columns_of(rng, parts: list[MapPart], cfg: UnitConfig):
    """Columns of `i` and `i_texels`; lanes beside the rectangle hold rubbish."""
    requests = [request_columns(part) for part in parts]
    joined = {name: np.concatenate([one[name] for one in requests]) for name in requests[0]}
    joined["tag"] = rng.integers(0, 256, len(joined["tag"]))
    beats = []
    for part in parts:
        if part.texels is not None:
            given = runs_of_texels(part, cfg)
            rubbish = rng.integers(0, 256, given.shape)
            beats.append(np.where(_inside(part, cfg), given, rubbish))
    none = np.zeros((0, run_bytes(cfg)), np.int64)
    return {"i": joined, "i_texels": np.concatenate([none, *beats])}


def decoded_columns(parts: list[MapPart], answers, cfg: UnitConfig):
    """Columns `texel` and `mask` of `o_texels`, of what the golden model answered."""
    read = [
        (part, replace(part, texels=texels))
        for part, (texels, _) in zip(parts, answers, strict=True)
        if texels is not None
    ]
    none = np.zeros((0, run_bytes(cfg)), np.int64)
    texels = np.concatenate([none, *(runs_of_texels(part, cfg) for _, part in read)])
    marks = np.concatenate([none, *(_inside(part, cfg) for part, _ in read)])
    return {"texel": texels, "mask": (marks << np.arange(run_bytes(cfg))).sum(axis=1)}


def _inside(part: MapPart, cfg: UnitConfig) -> np.ndarray:
    """Which texels of the runs lie in the part: bool [runs, run_bytes]."""
    marks = replace(part, texels=np.ones(part.size[::-1], np.uint8))
    return runs_of_texels(marks, cfg) != 0


def wanted(parts: list[MapPart], tags, cfg: UnitConfig):
    """Columns of `o_request`, `o_texels` and `o`, texel by texel (spec 03, 05)."""
    words, runs, errors = [], [], []
    for part in parts:
        errors += [_slice(part, layer, cfg, words, runs) for layer in range(part.size[2])]
    lanes, width = run_bytes(cfg), cfg.word_bytes
    request = {
        "address": np.array([at for at, _ in words], np.int64),
        "data": np.array([[b.get(n, 0) for n in range(width)] for _, b in words]),
        "mask": np.array([sum(1 << n for n in b) for _, b in words], np.int64),
        "tag": np.zeros(len(words), np.int64),
    }
    texel = {
        "texel": np.array([[t.get(n, 0) for n in range(lanes)] for t, _, _ in runs]),
        "mask": np.array([sum(1 << n for n in t) for t, _, _ in runs], np.int64),
        "end_of_row": np.array([row for _, row, _ in runs], np.int64),
        "end": np.array([end for _, _, end in runs], np.int64),
    }
    request["data"] = request["data"].reshape(-1, width)
    texel["texel"] = texel["texel"].reshape(-1, lanes)
    return {
        "o_request": request,
        "o_texels": texel,
        "o": {"error": np.array(errors), "tag": np.asarray(tags)},
    }


def _slice(part: MapPart, layer: int, cfg: UnitConfig, words: list, runs: list) -> int:
    """Append the words and runs of one request; returns whether it is an error."""
    (left, top, first), (width, height, _) = part.corner, part.size
    outside = width and height and (left + width > 16384 or top + height > 16384)
    error = int(bool(outside))
    mode, thick = part.layout.sw_mode[0], part.layout.volume[0] and part.layout.sw_mode[0]
    step = min(cfg.word_bytes, 4 if thick else 8 if mode in D_MODES else 16)
    decode, encode = _CODES[part.kind]
    for row in range(height):
        start = left // step * step
        for run in range(start, left + width, step) if width else ():
            texels, bytes_ = {}, {}
            x, y, z = (np.array(n) for n in (run % 16384, (top + row) % 16384, first + layer))
            at = texel_address(part.layout, np.array(0), np.array(part.mip), x, y, z)
            word, byte = divmod(int(at) % _END, cfg.word_bytes)
            error |= word >> 4 & 15 == 0
            for x in range(max(run, left), min(run + step, left + width)) if not outside else ():
                lane = byte + x - run
                if part.texels is None:
                    texels[x - run] = decode(echoed(word, lane))
                else:
                    bytes_[lane] = encode(int(part.texels[layer, row, x - left]))
            end_of_row = run + step >= left + width
            words.append((word, bytes_))
            if part.texels is None:
                runs.append((texels, end_of_row, end_of_row and row == height - 1))
    return error


_CODES: tuple[tuple[Callable[[int], int], Callable[[int], int]], ...] = (
    (lambda b: 0xFF if b == 0xFF else b // 8, lambda v: v * 8 if v < 32 else 0xFF),
    (lambda b: 0xFF if b else 0, lambda v: 1 if v else 0),
    (lambda b: b, lambda v: v),
)
"""Decode and encode of a byte, by kind (spec 03)."""
