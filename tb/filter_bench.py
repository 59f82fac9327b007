"""Bench of the MinMip filter: it and copies of a memory as one block, random requests, values.

Requests are made as the stages before the filter make them: a quad has parts, a part one or two
depths, a depth groups of lanes whose texels lie in four memory words.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from amaranth.hdl import Module, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from memory_bench import CarelessMemory

from minmip.hw.config import UnitConfig
from minmip.hw.filter_unit import FilterUnit
from minmip.hw.map_memory import MapMemorySignature
from minmip.hw.shapes import BLOCK_BITS
from minmip.hw.word_beats import WORDS, filter_result, read_request
from minmip.sim.golden.minmip_filter import ONE, Kernel, filter_values

__all__ = ["BASE", "PAIRS", "FilterBench", "Quads", "load", "random_bytes", "random_quads"]

BASE = 0x89ABC
"""First 256-byte block of the memory in the benches."""
PAIRS = list(product((5, 6, 8, 10, 16, 32, 64, 128), (64, 32, 16, 8, 4, 2)))
"""Every 2 * slope and offset, those that a sampler may not have too."""


class FilterBench(wiring.Component):
    """`FilterUnit` over memories that promise no more than the signature; `i_write` writes all.

    `init` are bytes that they hold at the start.
    """

    base: Signal
    i: stream.Interface
    o: stream.Interface
    i_write: stream.Interface

    def __init__(self, cfg: UnitConfig, init: bytes = b""):
        self.cfg = cfg
        self.unit = FilterUnit(cfg)
        self.latency = self.unit.latency
        size = cfg.word_bytes
        words = [int.from_bytes(init[n : n + size], "little") for n in range(0, len(init), size)]
        self.memories = [CarelessMemory(cfg, words) for _ in range(WORDS)]
        port = MapMemorySignature(cfg).members
        write = {"address": port["write_addr"].shape, "data": port["write_data"].shape}
        super().__init__(
            {
                "base": In(BLOCK_BITS),
                "i": In(stream.Signature(read_request(cfg))),
                "o": Out(stream.Signature(filter_result())),
                "i_write": In(stream.Signature(data.StructLayout(write))),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.unit = unit = self.unit
        wiring.connect(m, wiring.flipped(self.i), unit.i)
        wiring.connect(m, unit.o, wiring.flipped(self.o))
        m.d.comb += [unit.base.eq(self.base), self.i_write.ready.eq(1)]
        for n, memory in enumerate(self.memories):
            m.submodules[f"memory{n}"] = memory
            port: Any = memory.port
            reads: Any = unit.memory[n]
            m.d.comb += [
                port.read_en.eq(reads.read_en),
                port.read_addr.eq(reads.read_addr),
                reads.read_data.eq(port.read_data),
                port.write_mask.eq(self.i_write.valid.replicate(self.cfg.word_bytes)),
                port.write_addr.eq(self.i_write.payload.address),
                port.write_data.eq(self.i_write.payload.data),
            ]
        return m


def load(memory, cfg):
    """Columns of `i_write` that fill the memory."""
    words = memory.reshape(-1, cfg.word_bytes)
    return {"i_write": {"address": np.arange(len(words)), "data": words}}


def random_bytes(rng, cfg):
    """Contents of the memory: any bytes, whole levels, and many of the smallest and largest."""
    count = cfg.memory_bytes
    kinds = np.stack(
        [
            rng.integers(0, 256, count),
            rng.integers(0, 15, count) << 3,
            rng.choice([0, 1, 254, 255], count),
        ]
    )
    return kinds[rng.integers(0, 3, count), np.arange(count)].astype(np.uint8)


@dataclass(eq=False)
class Quads:
    """Columns of requests, the number of the quad of each, and what the quads' results must be.

    `kernel` has the samples of every lane, in the golden model's form; `live` [quads, 4].
    """

    requests: dict
    quad: np.ndarray
    kernel: Kernel
    live: np.ndarray

    def texels(self, memory):
        """Values of the samples of every lane [quads, 4, 8], 0 in the border and of dead lanes."""
        values = np.where(self.kernel.inside, memory[self.kernel.offset], 0).reshape(-1, 4, 8)
        return np.where(self.live[..., None], values, 0).astype(int)

    def results(self, memory):
        """Columns of `filter_result`."""
        values = filter_values(self.kernel, memory).reshape(-1, 4)
        return {"filtered": np.where(self.live, values, 0)}


def random_quads(rng, count, cfg, *, deep=0.5, split=0.3, joins=0.8, pairs=PAIRS):
    """Quads with any texels in the memory.

    `deep` is the share of parts with two depths, `split` that of lanes that lead a group of their
    own, `joins` of kernels without border; ramps are of `pairs`.
    """
    lanes, parts = cfg.lanes, 4 // cfg.lanes
    live = rng.random((count, parts, lanes)) < rng.choice([0.25, 0.75, 1], (count, 1, 1))
    deep = (rng.random((count, parts)) < deep) & cfg.volumes

    # Groups: [quad, part, depth, group], and the group of each lane.
    group = np.cumsum(rng.random((count, parts, 2, lanes)) < split, -1)
    group -= group[..., :1]
    exists = np.arange(lanes) <= group[..., -1:]
    exists[:, :, 1] &= deep[..., None]
    start = rng.integers(0, cfg.memory_bytes // cfg.word_bytes, (*exists.shape, 1))
    steps = rng.integers(1, cfg.memory_bytes // cfg.word_bytes // 4, (*exists.shape, WORDS))
    steps = np.where(rng.random((*exists.shape, 1)) < 0.5, steps, 1)
    place = (start + np.cumsum(steps, -1)) % (cfg.memory_bytes // cfg.word_bytes)

    # Texels: [quad, part, depth, lane, corner].
    shape = (count, parts, 2, lanes, 4)
    slot, byte = rng.integers(0, WORDS, shape), rng.integers(0, cfg.word_bytes, shape)
    inside = (rng.random(shape) < 0.6) | (rng.random((*shape[:-1], 1)) < joins)
    inside[:, :, 1] &= deep[..., None, None]

    pairs = np.array(pairs)[rng.integers(0, len(pairs), (count, parts, cfg.axes))]
    fraction = rng.integers(0, 256, (count, parts, lanes, cfg.axes))
    special = rng.choice([0, 1, 2, 63, 64, 126, 127, 128, 129, 130, 254, 255], fraction.shape)
    fraction = np.where(rng.random(fraction.shape) < 0.5, fraction, special)

    own_words = np.take_along_axis(place, group[..., None], 3)  # of each lane
    wanted = Kernel(
        _corners(np.take_along_axis(own_words, slot, -1) * cfg.word_bytes + byte),
        _corners(inside),
        _weights(fraction, pairs),
    )
    # One row for each request; lanes [quad, part, depth, group, lane].
    member = live[:, :, None, None] & (group[..., None, :] == np.arange(lanes)[:, None])
    rows = np.nonzero(exists)
    quad, part, depth, _ = rows
    here = member[rows]
    joined = (inside[quad, part, depth] & here[..., None])[..., None]
    used = (joined & (slot[quad, part, depth][..., None] == np.arange(WORDS))).any((1, 2))
    address = BASE * 256 // cfg.word_bytes + place[rows]
    requests = {
        "last": np.diff(quad, append=count) != 0,
        "word": {
            "valid": used | (rng.random(used.shape) < 0.1),
            "address": np.where(used, address, rng.integers(0, 2**40, used.shape)),
        },
        "lane": {
            "member": here,
            "joins": (inside[quad, part, depth] << np.arange(4)).sum(-1),
            "slot": slot[quad, part, depth],
            "byte": byte[quad, part, depth],
        },
        "kernel": {
            "first_lane": part * lanes,
            "slab": depth,
            "done": (depth == 1) | ~deep[quad, part],
            "ramp": {"slope2": pairs[quad, part, :, 0], "offset": pairs[quad, part, :, 1]},
            "fraction": fraction[quad, part],
        },
    }
    return Quads(requests, quad, wanted, live.reshape(count, 4))


def _corners(texels):
    """[quad, part, depth, lane, corner] to [lane of all, 8]."""
    return texels.swapaxes(2, 3).reshape(-1, 8)


def _weights(fraction, pairs):
    """Own texel's weight [lane of all, 3] of fractions [quad, part, lane, axis] (spec 04)."""
    slope2, offset = pairs[:, :, None, :, 0], pairs[:, :, None, :, 1]
    distance = np.minimum(fraction, 256 - fraction)
    ramp = np.clip((distance - offset) * slope2, 0, ONE)
    ramp = ramp.reshape(-1, ramp.shape[-1])
    return np.pad(ramp, ((0, 0), (0, 3 - ramp.shape[1])), constant_values=ONE)
