# amaranth: UnusedElaboratable=no
"""Address generator against `sim.golden.address`.

MINMIP_LONG=1 sends 10^7 beats; MINMIP_FIRST_SEED (default 1) is printed on a failure.
"""

from dataclasses import replace

import numpy as np
import pytest
from kit.cocotb_bench import run_cocotb
from kit.mutants import planted
from kit.stream import check_simulated
from kit.vlib import LONG, SEED, TRAFFIC, VerilatedBlock
from map_vectors import Maps, map_layouts, random_maps, random_texels, with_pipe_xor
from mutants.address_generator import MUTANTS

from minmip.hw.address_generator import AddressGenerator
from minmip.hw.config import FULL, SMALL
from minmip.sim.golden.address import map_layout

XOR = replace(FULL, **with_pipe_xor("navi21"))
CONFIGS = {
    "plain": FULL,
    "navi21": XOR,
    "anaconda, flat": replace(SMALL, **with_pipe_xor("anaconda")),
    "small": SMALL,
    "linear": replace(FULL, swizzle_modes=frozenset({0})),
    "one mode": replace(FULL, swizzle_modes=frozenset({9})),
}


def random_requests(rng, count, cfg):
    """(requests, golden columns): texels of random maps, half of them on a border."""
    rows = count // 4
    maps = random_maps(rng, rows, cfg)
    row = rng.integers(0, rows, count)
    return columns(maps, row, *random_texels(rng, maps, row), rng.integers(0, 256, count))


def columns(maps, row, mip, x, y, z, tag):
    """Request and result columns of texels."""
    address = maps.addresses(row, mip, x, y, z)
    return maps.requests(row, mip, x, y, z, tag), {"address": address, "tag": tag}


def whole_map(cfg, sw_mode, volume, size=(37, 21, 19), mips=6):
    """Every texel of every mip of one map, which is no power of two."""
    parts = (np.array([part]) for part in (sw_mode, 0x12345600, size, mips, volume))
    maps = Maps(map_layout(*parts, cfg.xor_patterns), np.array([size]), np.array([mips]))
    texels = []
    for mip in range(mips):
        extent = [
            max(1, side >> (mip if axis < 2 or volume else 0)) for axis, side in enumerate(size)
        ]
        z, y, x = (side.ravel() for side in np.indices(extent[::-1]))
        texels.append(np.stack([np.full(len(x), mip), x, y, z]))
    mip, x, y, z = np.concatenate(texels, axis=1)
    return columns(maps, np.zeros_like(x), mip, x, y, z, np.arange(len(x)) % 256)


@pytest.fixture(scope="module", params=CONFIGS)
def unit(request):
    return VerilatedBlock(AddressGenerator(CONFIGS[request.param]), "address")


def check(unit, beats, traffic="full", seed=1):
    requests, wanted = beats
    return unit.check({"i": requests}, {"o": wanted}, traffic=traffic, seed=seed)


def test_whole_maps(unit):
    cfg = unit.block.cfg
    for mode, volume in map_layouts(cfg):
        requests, wanted = whole_map(cfg, mode, volume)
        assert len(np.unique(wanted["address"])) == len(wanted["address"])
        check(unit, (requests, wanted))


def test_random(unit):
    print("seed", SEED)
    count = 10_000_000 if LONG else 200_000
    run = check(unit, random_requests(np.random.default_rng(SEED), count, unit.block.cfg))
    assert run.cycles < count + 300  # one texel per clock
    assert run.output_stamps["o"][0] - run.input_stamps["i"][0] == unit.block.latency


@pytest.mark.parametrize("traffic", TRAFFIC)
def test_traffic(unit, traffic):
    count = 300 if traffic == "long stalls" else 5000
    check(unit, random_requests(np.random.default_rng(2), count, unit.block.cfg), traffic, seed=3)


def simulated(traffic="full"):
    """A few texels in Amaranth's simulator."""
    requests, wanted = random_requests(np.random.default_rng(4), 500, XOR)
    check_simulated(AddressGenerator(XOR), {"i": requests}, {"o": wanted}, traffic=traffic)


def test_pysim():
    simulated("both")


def test_cocotb():
    requests, wanted = random_requests(np.random.default_rng(5), 200, XOR)
    run_cocotb(AddressGenerator(XOR), "address", {"i": requests}, {"o": wanted})


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_mutant(mutant):
    with planted(mutant), pytest.raises(AssertionError, match="differ"):
        simulated()
