# amaranth: UnusedElaboratable=no
"""Retire alone; and with the combining buffer and the map store behind it."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from amaranth.hdl import Module, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.sim import Simulator
from buffer_bench import apply_beats, words
from kit.cocotb_bench import run_cocotb
from kit.mutants import planted
from kit.packing import ints_of_beats, pack, random_columns
from kit.stream import check_simulated
from kit.vlib import LONG, TRAFFIC, VerilatedBlock
from memory_bench import BASE, BLOCKS
from mutants.retire import MUTANTS

from minmip.hw.combining_buffer import CombiningBuffer
from minmip.hw.config import SMALL
from minmip.hw.lib.queue import Queue
from minmip.hw.map_store import MapStore
from minmip.hw.retire import Retire
from minmip.hw.shapes import host_request, host_response
from minmip.hw.word_beats import addressed_beat, read_request, retired

TINY = replace(SMALL, word_bytes=4, memory_bytes=1 << 12, combine_age=64, descriptor_entries=4)
MIDDLE = replace(TINY, word_bytes=8, combine_entries=4, combine_age=1024)


class Alone(wiring.Component):
    """Retire and a memory that has everything some clocks after it was asked to.

    Releases leave as a stream, from a queue: it must be ready often enough. Answers and read
    requests tell whether their beat `asked` for a drain and was `early`: went on before all words
    were in the memory.
    """

    i: stream.Interface
    o_words: stream.Interface
    o_reads: stream.Interface
    o_answer: stream.Interface
    o_release: stream.Interface

    def __init__(self, cfg, clocks=9):
        self.cfg, self.clocks = cfg, clocks
        self.retire = Retire(cfg)
        members = self.retire.signature.members
        super().__init__(
            {name: members[name] for name in ("i", "o_words")}
            | {
                name: Out(stream.Signature(_told(members[name])))
                for name in ("o_reads", "o_answer")
            }
            | {"o_release": Out(stream.Signature(members["released"].shape))}
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.retire = retire = self.retire
        wiring.connect(m, wiring.flipped(self.i), retire.i)
        wiring.connect(m, retire.o_words, wiring.flipped(self.o_words))
        m.submodules.releases = releases = Queue(self.o_release.payload.shape(), 512)
        left = Signal(range(self.clocks + 1))
        with m.If(self.o_words.valid & self.o_words.ready):
            m.d.sync += left.eq(self.clocks)
        with m.Elif((left != 0) & retire.drain):
            m.d.sync += left.eq(left - 1)
        drained, asked, early = Signal(), Signal(), Signal()
        m.d.sync += drained.eq(drained | retire.drain)
        with m.If(self.i.valid & self.i.ready):
            m.d.sync += [
                drained.eq(0),
                asked.eq(drained | retire.drain),
                early.eq((left != 0) | self.o_words.valid),
            ]
        for inside, o in ((retire.o_reads, self.o_reads), (retire.o_answer, self.o_answer)):
            m.d.comb += [
                o.valid.eq(inside.valid),
                inside.ready.eq(o.ready),
                o.payload.beat.eq(inside.payload),
                o.payload.asked.eq(asked),
                o.payload.early.eq(asked & early),
            ]
        m.d.comb += [
            retire.drained.eq(left < 4),
            retire.memory_idle.eq(left == 0),
            releases.i.valid.eq(retire.released_valid),
            releases.i.payload.eq(retire.released),
        ]
        wiring.connect(m, releases.o, wiring.flipped(self.o_release))
        return m


def _told(member):
    """A stream's payload with what the bench has seen."""
    payload = member.signature.members["payload"].shape
    return data.StructLayout({"beat": payload, "asked": 1, "early": 1})


class Chain(wiring.Component):
    """Retire, combining buffer and map store, as in the unit; no filter behind the reads."""

    base: Signal
    limit: Signal
    i: stream.Interface
    o_answer: stream.Interface
    o_reads: stream.Interface
    i_host: stream.Interface
    o_host: stream.Interface

    def __init__(self, cfg):
        self.cfg = cfg
        self.store = MapStore(cfg)
        members = self.store.signature.members
        super().__init__(
            {
                "base": members["base"],
                "limit": members["limit"],
                "i": In(stream.Signature(addressed_beat(cfg))),
                "o_answer": Out(stream.Signature(retired())),
                "o_reads": Out(stream.Signature(read_request(cfg))),
                "i_host": In(stream.Signature(host_request(cfg))),
                "o_host": Out(stream.Signature(host_response(cfg))),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.retire = retire = Retire(self.cfg)
        m.submodules.buffer = buffer = CombiningBuffer(self.cfg)
        m.submodules.store = store = self.store
        flipped = wiring.flipped
        for source, sink in (
            (flipped(self.i), retire.i),
            (retire.o_words, buffer.i),
            (buffer.o, store.i),
            (retire.o_answer, flipped(self.o_answer)),
            (retire.o_reads, flipped(self.o_reads)),
            (flipped(self.i_host), store.i_host),
            (store.o_host, flipped(self.o_host)),
        ):
            wiring.connect(m, source, sink)
        m.d.comb += [
            store.base.eq(self.base),
            store.limit.eq(self.limit),
            store.o_clear.ready.eq(1),
            buffer.drain.eq(retire.drain),
            retire.drained.eq(buffer.drained),
            retire.memory_idle.eq(store.idle),
        ]
        return m


def beats_of(rng, count, cfg, where, *, flushes=0.05, reads=0.4) -> dict[str, Any]:
    """Columns of `addressed_beat`: quads of 1 to 4 beats, flushes between, runs of filter quads."""
    last = rng.random(count) < 0.5
    last[-1] = True
    flush = last & np.r_[True, last[:-1]] & (rng.random(count) < 2 * flushes)
    quad = np.cumsum(np.r_[0, last[:-1]])
    run = np.cumsum(rng.random(count) < 0.6)
    read = (rng.random(count + 1) < reads)[run][quad] & ~flush
    columns = words(rng, count, cfg, "hot", where)
    columns["word"]["valid"][flush | (rng.random(count) < 0.6)] = 0
    head = {
        "context": rng.integers(0, cfg.descriptor_entries, count),
        "code": np.where(rng.random(count) < 0.1, rng.integers(1, 32, count), 0),
        "flush": flush.astype(np.int64),
        "read": read.astype(np.int64),
        "tag": np.arange(count) % 65536,
        "last": last.astype(np.int64),
    }
    layout = addressed_beat(cfg)
    rest = {name: random_columns(rng, layout[name].shape, count) for name in ("lane", "kernel")}
    return with_flags(head | rest | columns)


def with_flags(columns):
    """Columns whose `writes` and `ends` say what the others do."""
    full = columns["word"]["valid"].any(axis=1)
    return columns | {
        "writes": full & (columns["read"] == 0),
        "ends": columns["flush"] & columns["last"],
    }


def picked(columns, chosen):
    """Some rows of columns."""
    if isinstance(columns, dict):
        return {name: picked(part, chosen) for name, part in columns.items()}
    return columns[chosen]


def drains_of(flush, read, full):
    """Whether each beat must wait for the memory: the rule, beat by beat."""
    unwritten, waits = False, []
    for flushes, reads, writes in zip(flush, read, full & ~read, strict=True):
        waits.append(flushes or (reads and unwritten))
        unwritten = writes or (unwritten and not waits[-1])
    return np.array(waits, np.int64)


def wanted_of(columns):
    """What must come out of `Alone`."""
    last, flush, read = (columns[name].astype(bool) for name in ("last", "flush", "read"))
    full = columns["word"]["valid"].any(axis=1)
    asked = drains_of(flush, read, full)
    word = {name: columns["word"][name] for name in ("valid", "address")}
    told = {"asked": asked, "early": np.zeros(len(asked))}
    request = {name: columns[name] for name in ("last", "lane", "kernel")} | {"word": word}
    answer = {name: columns[name] for name in ("code", "flush", "read", "tag")}
    return {
        "o_words": picked({name: columns[name] for name in ("op", "word")}, full & ~read),
        "o_reads": picked(told | {"beat": request}, read),
        "o_answer": picked(told | {"beat": answer}, last),
        "o_release": columns["context"][last & ~flush],
    }


@pytest.fixture(scope="module")
def alone():
    return VerilatedBlock(Alone(TINY), "retire_bench")


@pytest.mark.parametrize("traffic", TRAFFIC)
def test_traffic(alone, traffic):
    rng = np.random.default_rng(list(TRAFFIC).index(traffic))
    count = 1000 if traffic == "long stalls" else 1_000_000 if LONG else 25_000
    columns = beats_of(rng, count, TINY, np.arange(100, 140))
    alone.model.reset()
    stalls = dict.fromkeys(["i", "o_words", "o_reads", "o_answer"], TRAFFIC[traffic])
    alone.check({"i": columns}, wanted_of(columns), traffic=stalls)


@pytest.mark.parametrize("reads", [0, 1], ids=["writes", "reads"])
def test_rate(alone, reads):
    """A beat per clock, an answer one clock later."""
    rng = np.random.default_rng(5)
    columns = beats_of(rng, 2000, TINY, np.arange(100, 140), flushes=0, reads=reads)
    alone.model.reset()
    run = alone.check({"i": columns}, wanted_of(columns))
    np.testing.assert_array_equal(np.diff(run.input_stamps["i"]), 1)
    last = columns["last"].astype(bool)
    late = run.output_stamps["o_answer"] - run.input_stamps["i"][last]
    np.testing.assert_array_equal(late, 1)


def simulated(seed):
    columns = beats_of(np.random.default_rng(seed), 400, TINY, np.arange(100, 140))
    check_simulated(Alone(TINY), {"i": columns}, wanted_of(columns), traffic="both", seed=seed)


def test_pysim():
    simulated(1)


# ---- with the combining buffer and the map store ----

FIRST = BASE * 256


def places_of(cfg):
    """Words of the map: a few, so that they are hit often."""
    return FIRST // cfg.word_bytes + np.arange(24)


def reads(cfg):
    where = places_of(cfg)
    return {
        "address": where,
        "data": np.zeros((len(where), cfg.word_bytes)),
        "mask": np.zeros(len(where)),
        "tag": np.arange(len(where)),
    }


def segment(rng, count, cfg):
    """Beats that end with a flush, or with a filter quad."""
    columns = beats_of(rng, count, cfg, places_of(cfg))
    columns["last"][-2:] = 1
    flush = int(rng.integers(2))
    columns["flush"][-1], columns["read"][-1] = flush, 1 - flush
    columns["word"]["valid"][-1] &= 1 - flush
    return with_flags(columns)


def apply_writes(memory, where, columns):
    apply_beats(memory, where, picked(columns, columns["read"] == 0))


@pytest.mark.parametrize("cfg", [MIDDLE, TINY], ids=["middle", "tiny"])
def test_flush(cfg):
    """When a flush is answered or a filter quad goes on, the host reads every earlier write."""
    chain = VerilatedBlock(Chain(cfg), "chain")
    chain.model.set("base", BASE)
    chain.model.set("limit", BASE + BLOCKS)
    where = places_of(cfg)
    memory = np.zeros((len(where), cfg.word_bytes), np.uint8)
    first, _ = chain.run({"i_host": reads(cfg)}, {"o_host": len(where)})
    memory[:] = first["o_host"]["data"]
    rng = np.random.default_rng(6)
    waits = []
    for number in range(60 if not LONG else 3000):
        columns = segment(rng, int(rng.integers(1, 200)), cfg)
        answers = int(columns["last"].sum())
        traffic = list(TRAFFIC)[number % 4]
        run = chain.model.run(
            {"i": pack(chain.inputs["i"], columns)},
            {"o_answer": answers},
            traffic=TRAFFIC[traffic],
            seed=number,
            any_full=True,
        )
        assert run.given["o_answer"] == answers
        waits.append(int(run.output_stamps["o_answer"][-1] - run.input_stamps["i"][-1]))
        apply_writes(memory, where, columns)
        result, _ = chain.run({"i_host": reads(cfg)}, {"o_host": len(where)})
        np.testing.assert_array_equal(result["o_host"]["data"], memory, f"segment {number}")
    assert max(waits) < 60


def chain_simulated(seed, count=6):
    """The same in Amaranth's simulator: the host asks in the clock after the last answer."""
    block, cfg = Chain(TINY), TINY
    where = places_of(cfg)
    rng = np.random.default_rng(seed)
    segments = [segment(rng, int(rng.integers(3, 30)), cfg) for _ in range(count)]
    asked = ints_of_beats(pack(block.i_host.payload.shape(), reads(cfg)))

    async def testbench(ctx):
        ctx.set(block.base, BASE)
        ctx.set(block.limit, BASE + BLOCKS)
        ctx.set(block.o_answer.ready, 1)
        ctx.set(block.o_reads.ready, 1)
        ctx.set(block.o_host.ready, 1)
        memory = np.zeros((len(where), cfg.word_bytes), np.uint8)
        for columns in segments:
            sent, answers, clock = 0, 0, 0
            beats = ints_of_beats(pack(block.i.payload.shape(), columns))
            while answers < columns["last"].sum():
                ctx.set(block.i.valid, sent < len(beats))
                if sent < len(beats):
                    ctx.set(Value.cast(block.i.payload), beats[sent])
                sent += sent < len(beats) and ctx.get(block.i.ready)
                answers += ctx.get(block.o_answer.valid)
                await ctx.tick()
                clock += 1
                assert clock < 3000, "no answer"
            ctx.set(block.i.valid, 0)
            found, asking = [], 0
            while len(found) < len(where):
                ctx.set(block.i_host.valid, asking < len(asked))
                if asking < len(asked):
                    ctx.set(Value.cast(block.i_host.payload), asked[asking])
                asking += asking < len(asked) and ctx.get(block.i_host.ready)
                if ctx.get(block.o_host.valid):
                    found.append([ctx.get(byte) for byte in block.o_host.payload.data])
                await ctx.tick()
            apply_writes(memory, where, columns)
            np.testing.assert_array_equal(np.array(found), memory)

    simulator = Simulator(block)
    simulator.add_clock(1e-8)
    simulator.add_testbench(testbench)
    simulator.run()


def test_chain_pysim():
    chain_simulated(1)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_mutant_is_caught(mutant):
    with planted(mutant), pytest.raises(AssertionError):
        simulated_both()


def simulated_both():
    simulated(2)
    chain_simulated(2)


def test_cocotb():
    columns = beats_of(np.random.default_rng(4), 200, TINY, np.arange(100, 140))
    run_cocotb(Alone(TINY), "retire_bench", {"i": columns}, wanted_of(columns))
