# amaranth: UnusedElaboratable=no
"""Rescale unit against `sim.golden.rescale`.

MINMIP_LONG=1 sends 10^7 beats; MINMIP_FIRST_SEED (default 1) is printed on a failure.
"""

import numpy as np
import pytest
from kit.cocotb_bench import run_cocotb
from kit.mutants import planted
from kit.stream import check_simulated
from kit.vlib import LONG, SEED, TRAFFIC, VerilatedBlock
from mutants.rescale import MUTANTS

from minmip.hw.config import PRESETS
from minmip.hw.rescale import RescaleUnit
from minmip.sim.golden.descriptor import Image
from minmip.sim.golden.rescale import footprint_grid, map_value


def random_requests(rng, count, axes):
    """Any size, scale, mip and LOD; every linked type."""
    shape = (count, axes)
    powers = 1 << rng.integers(0, 15, shape)
    near_powers = np.clip(powers + rng.integers(-2, 3, shape), 1, 16384)
    return {
        "size": np.where(rng.random(shape) < 0.5, near_powers, rng.integers(1, 16385, shape)),
        "scale": rng.integers(0, 16, shape),
        "linked": rng.integers(0, 5, count),
        "mip": rng.integers(0, 16, count),
        "limited_lod": rng.integers(0, 15 * 256 + 1, count),
        "base_level": rng.integers(0, 16, count),
        "tag": rng.integers(0, 256, count),
    }


def every_shift(axes):
    """Each linked type, scale and mip, on sizes of all bit lengths."""
    linked, scale, mip, power = (
        side.ravel() for side in np.meshgrid(*map(np.arange, (5, 16, 16, 15)), indexing="ij")
    )
    count = len(mip)
    number = np.arange(count)
    size = np.minimum((1 << power) + number % 3 * ((1 << power) - 1) // 2, 16384)
    return {
        "size": np.stack([np.roll(size, axis) for axis in range(axes)], 1),
        "scale": np.stack([scale] * axes, 1),
        "linked": linked,
        "mip": mip,
        "limited_lod": number * 7 % (15 * 256 + 1),
        "base_level": number % 16,
        "tag": number % 256,
    }


def golden(requests: dict[str, np.ndarray]):
    """Columns by the names of `rescale_result`."""
    size = requests["size"]
    columns: dict[str, np.ndarray] = {
        "size": size,
        "map_size": np.maximum(1, size >> requests["scale"]),
        "linked": requests["linked"],
        "base_level": requests["base_level"],
    }
    unused = dict.fromkeys(Image.__dataclass_fields__, requests["mip"] * 0)
    image = Image(**unused | columns)
    return {
        "grid": footprint_grid(image, requests["mip"]),
        "value": map_value(requests["limited_lod"], image),
        "tag": requests["tag"],
    }


@pytest.fixture(scope="module", params=("full", "small"))
def unit(request):
    return VerilatedBlock(RescaleUnit(PRESETS[request.param]), "rescale")


def check(unit, requests, traffic="full", seed=1):
    return unit.check({"i": requests}, {"o": golden(requests)}, traffic=traffic, seed=seed)


def test_every_shift(unit):
    check(unit, every_shift(unit.block.cfg.axes))


def test_random(unit):
    print("seed", SEED)
    count = 10_000_000 if LONG else 200_000
    run = check(unit, random_requests(np.random.default_rng(SEED), count, unit.block.cfg.axes))
    assert run.cycles < count + 300  # one request per clock
    assert run.output_stamps["o"][0] - run.input_stamps["i"][0] == 6


@pytest.mark.parametrize("traffic", TRAFFIC)
def test_traffic(unit, traffic):
    count = 300 if traffic == "long stalls" else 5000
    check(
        unit, random_requests(np.random.default_rng(2), count, unit.block.cfg.axes), traffic, seed=3
    )


def simulated(traffic="full"):
    """A few requests in Amaranth's simulator."""
    requests = random_requests(np.random.default_rng(4), 500, 3)
    block = RescaleUnit(PRESETS["full"])
    check_simulated(block, {"i": requests}, {"o": golden(requests)}, traffic=traffic)


def test_pysim():
    simulated("both")


def test_cocotb():
    requests = random_requests(np.random.default_rng(5), 200, 3)
    unit = RescaleUnit(PRESETS["full"])
    run_cocotb(unit, "rescale", {"i": requests}, {"o": golden(requests)})


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_mutant(mutant):
    with planted(mutant), pytest.raises(AssertionError, match="differ"):
        simulated()
