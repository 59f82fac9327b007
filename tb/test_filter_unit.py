# amaranth: UnusedElaboratable=no
"""MinMip filter against `sim.golden.minmip_filter`.

MINMIP_LONG=1 sends 10^6 lanes of each build; MINMIP_FIRST_SEED (default 1) is printed on a failure.
"""

from dataclasses import replace

import numpy as np
import pytest
from filter_bench import BASE, FilterBench, load, random_bytes, random_quads
from kit.cocotb_bench import run_cocotb
from kit.mutants import planted
from kit.stream import check_simulated
from kit.vlib import LONG, SEED, TRAFFIC, VerilatedBlock
from mutants.filter_unit import MUTANTS

from minmip.hw.blocks import PRESETS

CONFIGS = PRESETS | {
    "short words": replace(PRESETS["default"], word_bytes=4, memory_latency=1),
    "long words": replace(PRESETS["full"], word_bytes=32, memory_latency=3, memory_bytes=1 << 12),
}
del CONFIGS["everything"]


class Filter:
    """The verilated filter with its memory full of random bytes."""

    def __init__(self, cfg):
        self.cfg = cfg
        self.block = VerilatedBlock(FilterBench(cfg), "filter_unit")
        self.block.model.set("base", BASE)
        self.memory = random_bytes(np.random.default_rng(3), cfg)
        self.block.run(load(self.memory, cfg), 0)

    def check(self, quads, **options):
        results = {"o": quads.results(self.memory)}
        return self.block.check({"i": quads.requests}, results, **options)


@pytest.fixture(scope="module", params=CONFIGS)
def unit(request):
    return Filter(CONFIGS[request.param])


def test_random(unit):
    """Any lanes, groups, texels, borders, positions and ramps; one request per clock."""
    print("seed", SEED)
    for seed in range(10 if LONG else 1):
        rng = np.random.default_rng([SEED, seed])
        quads = random_quads(rng, 25_000, unit.cfg)
        run = unit.check(quads)
        requests = len(quads.quad)
        assert run.input_stamps["i"][-1] - run.input_stamps["i"][0] == requests - 1
        late = run.output_stamps["o"] - run.input_stamps["i"][quads.requests["last"]]
        assert (late == unit.block.block.latency).all()


@pytest.mark.parametrize("traffic", TRAFFIC)
def test_traffic(unit, traffic):
    count = 200 if traffic == "long stalls" else 3000
    unit.check(random_quads(np.random.default_rng(2), count, unit.cfg), traffic=traffic, seed=3)
