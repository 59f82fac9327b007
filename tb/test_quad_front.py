# amaranth: UnusedElaboratable=no
"""Front of the pipeline, with a queue of quads behind it that release their context at its end.

Reference: `sim.golden.descriptor`, `numbers.float_sub`, and the least recently used rule for the
contexts. MINMIP_LONG=1 sends 10^6 quads; MINMIP_FIRST_SEED (default 1) is printed on a failure.
"""

import numpy as np
import pytest
from amaranth.hdl import Module
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from descriptor_vectors import (
    MEMORY_BASE,
    MEMORY_BYTES,
    HeldPairs,
    golden_codes,
    golden_control,
    random_pairs,
)
from kit.cocotb_bench import run_cocotb
from kit.mutants import planted
from kit.stream import check_simulated
from kit.vlib import LONG, SEED, TRAFFIC, VerilatedBlock
from mutants.quad_front import MUTANTS
from quad_vectors import quad_gradients, random_operands

from minmip.hw.beats import control_fields, quad_beat, quad_request
from minmip.hw.config import PRESETS
from minmip.hw.lib.queue import Queue
from minmip.hw.quad_front import QuadFront
from minmip.sim.trace import FLAG_GATHER, FLAG_OFFSET

READ = ("size", "base_level", "lod_bias")
"""Fields that are compared when a quad leaves."""


class Inside(wiring.Component):
    """The front and quads behind it; `o` has the control fields that each finds as it leaves."""

    i: stream.Interface
    o: stream.Interface

    def __init__(self, cfg):
        self.front = QuadFront(cfg, (READ,))
        self.queue = Queue(quad_beat(cfg), 64)
        leaving = data.StructLayout({"quad": quad_beat(cfg), "control": control_fields(cfg, *READ)})
        super().__init__(
            {"i": In(stream.Signature(quad_request(cfg))), "o": Out(stream.Signature(leaving))}
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.front = front = self.front
        m.submodules.queue = queue = self.queue
        wiring.connect(m, wiring.flipped(self.i), front.i)
        wiring.connect(m, front.o, queue.i)
        quad = queue.o.payload
        m.d.comb += [
            front.memory_base.eq(MEMORY_BASE >> 8),
            front.memory_limit.eq(MEMORY_BASE + MEMORY_BYTES >> 8),
            self.o.valid.eq(queue.o.valid),
            queue.o.ready.eq(self.o.ready),
            self.o.payload.quad.eq(quad),
            front.context_0.eq(quad.context),
            front.released_valid.eq(self.o.valid & self.o.ready & ~quad.flush),
            front.released.eq(quad.context),
        ]
        with m.If(~quad.flush & (quad.code == 0)):
            m.d.comb += self.o.payload.control.eq(front.control_0)
        return m


class Requests:
    """Random requests, a flush last: `columns`, and what must come of them, `wanted`."""

    def __init__(self, rng, count, cfg, *, pairs=None, index=None, flush=0.05, flags=0.05):
        if pairs is None:
            pairs = random_pairs(int(rng.integers(1 << 30)), 200, modes=cfg.swizzle_modes)
        if index is None:
            few = np.repeat(rng.integers(0, len(pairs) - 8, count // 100 + 1), 100)[:count]
            few += (rng.random(count) ** 2 * 8).astype(np.int64)
            index = np.where(rng.random(count) < 0.02, rng.integers(0, len(pairs), count), few)
        bits = np.where(rng.random(count) < flags, rng.integers(0, 8, count), 0)
        operands = random_operands(rng, count, cfg)
        flush = operands["flush"] = (rng.random(count) < flush).astype(np.int64)
        flush[-1] = 1
        self.columns = operands | {
            "t_sharp": pairs.image[index],
            "s_sharp": pairs.sampler[index],
            "offset": bits & FLAG_OFFSET != 0,
            "gather": bits & FLAG_GATHER != 0,
        }
        quads = np.flatnonzero(flush == 0)
        codes = np.zeros(count, np.int64)
        codes[quads] = golden_codes(pairs, index, bits, cfg)[quads]
        context = np.zeros(count, np.int64)
        context[quads] = HeldPairs(cfg).answers(pairs, index[quads])["entry"]
        touches = (codes == 0) & (flush == 0)
        beat = quad_gradients(operands)
        live = np.where(touches, beat.pop("exec") & ~beat.pop("helper"), 0)
        control = golden_control(pairs, cfg)
        fields = {name: control[name][index].astype(np.int64) for name in READ}
        for column in fields.values():
            column[~touches] = 0
        self.wanted = {
            "quad": beat | {"context": context, "code": codes, "live": live},
            "control": fields,
        }
        self.codes = codes


class Unit:
    """The verilated bench and its parameters."""

    def __init__(self, name):
        self.cfg = PRESETS[name]
        bench = Inside(self.cfg)
        self.latency = bench.front.latency
        self.block = VerilatedBlock(bench, "quad_front")

    def check(self, requests, traffic="full", seed=1):
        self.block.model.reset()
        run = self.block.check(
            {"i": requests.columns}, {"o": requests.wanted}, traffic=traffic, seed=seed
        )
        return run.input_stamps["i"].astype(np.int64), run.output_stamps["o"].astype(np.int64)


@pytest.fixture(scope="module", params=("small", "full"))
def unit(request):
    return Unit(request.param)


def test_random(unit):
    print("seed", SEED)
    rng = np.random.default_rng(SEED)
    for _ in range(40 if LONG else 1):
        requests = Requests(rng, 30_000, unit.cfg)
        unit.check(requests)
        assert {0, 1, 4, 31} < set(requests.codes.tolist())


@pytest.mark.parametrize("traffic", TRAFFIC)
def test_traffic(unit, traffic):
    count = 500 if traffic == "long stalls" else 5000
    unit.check(Requests(np.random.default_rng(2), count, unit.cfg), traffic, seed=3)


def test_rate(unit):
    """Pairs that are held: one quad per clock, flushes with any descriptors among them."""
    rng = np.random.default_rng(4)
    pairs, count = random_pairs(5, 60), 5000
    index = np.arange(count) % 2
    requests = Requests(rng, count, unit.cfg, pairs=pairs, index=index, flush=0.3)
    flush = requests.columns["flush"] == 1
    other = rng.integers(0, 60, count)
    for name, words in (("t_sharp", pairs.image), ("s_sharp", pairs.sampler)):
        requests.columns[name] = np.where(flush[:, None], words[other], requests.columns[name])
    taken, left = unit.check(requests)
    assert (np.diff(left)[20:] == 1).all()  # after the first two misses
    # Alone, a flush has the latency of the gradients; 2 clocks are the queue's.
    alone = Requests(rng, 1, unit.cfg, flush=1)
    taken, left = unit.check(alone)
    assert left[0] - taken[0] == unit.latency + 2


def simulated(traffic="full"):
    """Some requests in Amaranth's simulator."""
    cfg = PRESETS["full"]
    requests = Requests(np.random.default_rng(6), 80, cfg, flush=0.2, flags=0.2)
    assert (requests.codes[requests.columns["flush"] == 0] == 0).sum() > 10
    check_simulated(
        Inside(cfg),
        {"i": requests.columns},
        {"o": requests.wanted},
        traffic=traffic,
        timeout=3500,
    )


def test_pysim():
    simulated("both")


def test_cocotb():
    cfg = PRESETS["small"]
    requests = Requests(np.random.default_rng(7), 100, cfg, flush=0.1, flags=0.1)
    run_cocotb(Inside(cfg), "quad_front", {"i": requests.columns}, {"o": requests.wanted})


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_mutant(mutant):
    with planted(mutant), pytest.raises(AssertionError, match=r"differ|beats|no end"):
        simulated()
