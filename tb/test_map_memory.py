# amaranth: UnusedElaboratable=no
"""Map memory: every read port gives what was written before, byte by byte."""

from dataclasses import replace

import numpy as np
import pytest
from amaranth.hdl import Module, Mux, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from kit.mutants import planted
from kit.stream import simulate
from kit.vlib import VerilatedBlock, assert_columns_equal
from memory_bench import SMALL as WITHOUT_FILTER
from mutants.map_memory import MUTANTS

from minmip.hw.config import FULL
from minmip.hw.lib.delay import delay
from minmip.hw.map_memory import MapMemory, OutsideMemory
from minmip.hw.word_beats import WORDS

SMALL = replace(WITHOUT_FILTER, linked_types=FULL.linked_types)
PORTS = 1 + WORDS
CONFIGS = {
    "full": FULL,
    "latency 5": replace(SMALL, memory_latency=5, word_bytes=8),
}


class Bench(wiring.Component):
    """A memory; each beat writes a word and reads one at every port, the answers are a stream.

    Always ready, as who takes the answers must be. `outside`: the ports go through `OutsideMemory`.
    """

    i: stream.Interface
    o: stream.Interface

    def __init__(self, cfg, *, outside=False):
        self.cfg = cfg
        self.outside = outside
        self.memory = MapMemory(cfg)
        port = self.memory.port
        word = port.read_data.shape()
        request = {
            "mask": port.write_mask.shape(),
            "write": port.write_addr.shape(),
            "data": word,
            "read": data.ArrayLayout(port.read_addr.shape(), PORTS),
        }
        answer = data.StructLayout({"data": data.ArrayLayout(word, PORTS), "spare": unsigned(1)})
        super().__init__(
            {
                "i": In(stream.Signature(data.StructLayout(request))),
                "o": Out(stream.Signature(answer)),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.memory = memory = self.memory
        ports = [memory.port, *memory.reads]
        if self.outside:
            m.submodules.outside = outside = OutsideMemory(self.cfg)
            wiring.connect(m, outside.outside, memory.port)
            for outer, inner in zip(outside.outside_reads, memory.reads, strict=True):
                wiring.connect(m, outer, inner)
            ports = [outside.port, *outside.reads]
        beat = self.i.payload
        for n, port in enumerate(ports):
            m.d.comb += [
                port.read_en.eq(self.i.valid),
                port.read_addr.eq(beat.read[n]),
                self.o.payload.data[n].eq(port.read_data),
            ]
        m.d.comb += [
            self.i.ready.eq(1),
            ports[0].write_mask.eq(Mux(self.i.valid, beat.mask, 0)),
            ports[0].write_addr.eq(beat.write),
            ports[0].write_data.eq(beat.data),
            self.o.valid.eq(
                delay(m, self.i.valid, self.cfg.memory_latency, name="valid", reset_less=False)
            ),
        ]
        return m


def beats_of(rng, count, cfg):
    """Writes and reads of a few words; no port reads the word that is written beside it."""
    words = cfg.memory_bytes // cfg.word_bytes
    hot = rng.choice(words, 7, replace=False)
    write = rng.integers(0, 7, count)
    read = (write[:, None] + rng.integers(1, 7, (count, PORTS))) % 7
    return {
        "mask": rng.integers(0, 1 << cfg.word_bytes, count),
        "write": hot[write],
        "data": rng.integers(0, 256, (count, cfg.word_bytes)),
        "read": hot[read],
    }


def answers_to(columns, cfg, memory):
    """What each beat reads, one after the other; `memory` has a row for each word."""
    enabled = (columns["mask"][:, None] >> np.arange(cfg.word_bytes) & 1).astype(bool)
    found = []
    for write, mask, word, read in zip(
        columns["write"], enabled, columns["data"], columns["read"], strict=True
    ):
        found.append(memory[read])
        memory[write, mask] = word[mask]
    return {"data": np.array(found), "spare": np.zeros(len(found), np.int64)}


def check(run, cfg, count, seed):
    rng = np.random.default_rng(seed)
    memory = np.zeros((cfg.memory_bytes // cfg.word_bytes, cfg.word_bytes), np.uint8)
    columns = beats_of(rng, count, cfg)
    assert_columns_equal(run(columns)["o"], answers_to(columns, cfg, memory))


@pytest.mark.parametrize("name", CONFIGS)
def test_ports(name):
    """Five ports, each at its own address, in clocks one after the other."""
    block = VerilatedBlock(Bench(CONFIGS[name]), "map_memory_bench")
    check(
        lambda columns: block.run({"i": columns}, len(columns["mask"]))[0],
        CONFIGS[name],
        20_000,
        seed=1,
    )


def simulated(bench, seed):
    """The same in Amaranth's simulator."""
    check(
        lambda columns: simulate(bench, {"i": columns}, len(columns["mask"])),
        bench.cfg,
        400,
        seed,
    )


@pytest.mark.parametrize("outside", [False, True])
def test_pysim(outside):
    simulated(Bench(SMALL, outside=outside), seed=2)


def test_without_the_filter():
    """No copies are built."""
    for block in (MapMemory(WITHOUT_FILTER), OutsideMemory(WITHOUT_FILTER)):
        assert not [name for name in block.signature.members if "reads" in name]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_mutant_is_caught(mutant):
    with planted(mutant), pytest.raises(AssertionError):
        simulated(Bench(SMALL, outside=True), seed=3)
