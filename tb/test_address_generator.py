# amaranth: UnusedElaboratable=no
"""Address generator against `sim.golden.address`.

MINMIP_LONG=1 sends 10^7 beats; MINMIP_FIRST_SEED (default 1) is printed on a failure.
"""

import numpy as np
import pytest
from kit.cocotb_bench import run_cocotb
from kit.mutants import planted
from kit.stream import check_simulated
from kit.vlib import LONG, SEED, TRAFFIC, VerilatedBlock
from mutants.address_generator import MUTANTS

from minmip.hw.address_generator import AddressGenerator
from minmip.hw.config import PRESETS, UnitConfig
from minmip.sim.golden.address import map_layout, texel_address

LIMITS = [16384, 16384, 8192]  # width, height, depth or slices of a map
CONFIGS = {name: PRESETS[name] for name in ("full", "small")} | {
    "linear": UnitConfig(swizzle_modes=frozenset({0})),
    "swizzled": UnitConfig(swizzle_modes=frozenset({1}), resource_types=frozenset({9, 13})),
}


def random_maps(rng, count, cfg):
    """Layouts of maps of any size, up to the largest, with every mip chain the build knows."""
    sides = [np.minimum(2.0 ** rng.uniform(0, 14.01, count), limit) for limit in LIMITS]
    size = np.stack(sides, axis=1).astype(np.int64)
    size = np.where(rng.random((count, 3)) < 0.2, np.array(LIMITS) - size % 3, size)
    longest = np.log2(size[:, :2].max(axis=1)).astype(np.int64) + 1
    mips = 1 + rng.integers(0, 1 << 30, count) % longest
    sw_mode = rng.choice(np.array(sorted(cfg.swizzle_modes)), count)
    volume = (rng.random(count) < 0.4) & (cfg.axes == 3)
    base = rng.integers(0, 1 << 40, count) << 8
    return map_layout(sw_mode, base, size, mips, volume), size, mips


def random_requests(rng, count, cfg):
    """(requests, golden columns): texels of random maps, half of them on a border."""
    rows = max(1, count // 64)
    layout, size, mips = random_maps(rng, rows, cfg)
    row = rng.integers(0, rows, count)
    mip = rng.integers(0, 1 << 30, count) % mips[row]
    texel = []
    for axis in range(3):
        level = mip if axis < 2 else np.where(layout.volume[row], mip, 0)
        last = np.maximum(1, size[row, axis] >> level) - 1
        inside = rng.integers(0, 1 << 30, count) % (last + 1)
        texel.append(np.choose(rng.integers(0, 4, count), [inside, inside, last, 0]))
    x, y, z = texel
    return columns(layout, row, mip, x, y, z, rng.integers(0, 256, count))


def columns(layout, row, mip, x, y, z, tag):
    """Request and result columns of texels; addresses count modulo 2**48."""
    request = {
        "base": layout.base[row] >> 8,
        "chain": layout.chain_bytes[row] >> 8,
        "offset": layout.offset[row, mip] >> 8,
        "pitch": layout.pitch[row, mip],
        "swizzled": layout.swizzled[row],
        "volume": layout.volume[row],
        "x": x,
        "y": y,
        "z": z,
        "tag": tag,
    }
    address = texel_address(layout, row, mip, x, y, z) & (1 << 48) - 1
    return request, {"address": address, "tag": tag}


def whole_map(sw_mode, volume, size=(37, 21, 19), mips=6):
    """Every texel of every mip of one map, which is no power of two."""
    layout = map_layout(*(np.array([part]) for part in (sw_mode, 0x12345600, size, mips, volume)))
    parts = []
    for mip in range(mips):
        extent = [
            max(1, side >> (mip if axis < 2 or volume else 0)) for axis, side in enumerate(size)
        ]
        z, y, x = (side.ravel() for side in np.indices(extent[::-1]))
        parts.append(np.stack([x, y, z, np.full(len(x), mip)]))
    x, y, z, mip = np.concatenate(parts, axis=1)
    return columns(layout, np.zeros_like(x), mip, x, y, z, np.arange(len(x)) % 256)


@pytest.fixture(scope="module", params=CONFIGS)
def unit(request):
    return VerilatedBlock(AddressGenerator(CONFIGS[request.param]), "address")


def check(unit, beats, traffic="full", seed=1):
    requests, wanted = beats
    return unit.check({"i": requests}, {"o": wanted}, traffic=traffic, seed=seed)


def test_whole_maps(unit):
    cfg = unit.block.cfg
    for mode in sorted(cfg.swizzle_modes):
        for volume in [False, True][: cfg.axes - 1]:
            requests, wanted = whole_map(mode, volume)
            assert len(np.unique(wanted["address"])) == len(wanted["address"])
            check(unit, (requests, wanted))


def test_random(unit):
    print("seed", SEED)
    count = 10_000_000 if LONG else 200_000
    run = check(unit, random_requests(np.random.default_rng(SEED), count, unit.block.cfg))
    assert run.cycles < count + 300  # one texel per clock
    assert run.output_stamps["o"][0] - run.input_stamps["i"][0] == 8


@pytest.mark.parametrize("traffic", TRAFFIC)
def test_traffic(unit, traffic):
    count = 300 if traffic == "long stalls" else 5000
    check(unit, random_requests(np.random.default_rng(2), count, unit.block.cfg), traffic, seed=3)


def simulated(traffic="full"):
    """A few texels in Amaranth's simulator."""
    cfg = PRESETS["full"]
    requests, wanted = random_requests(np.random.default_rng(4), 1000, cfg)
    check_simulated(AddressGenerator(cfg), {"i": requests}, {"o": wanted}, traffic=traffic)


def test_pysim():
    simulated("both")


def test_cocotb():
    cfg = PRESETS["full"]
    requests, wanted = random_requests(np.random.default_rng(5), 200, cfg)
    run_cocotb(AddressGenerator(cfg), "address", {"i": requests}, {"o": wanted})


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_mutant(mutant):
    with planted(mutant), pytest.raises(AssertionError, match="differ"):
        simulated()
