"""Map layout against `sim.golden.address`: mips, mip tail, chain and fit (spec 05, 4)."""

from dataclasses import replace

import numpy as np
import pytest
from amaranth.hdl import Cat
from amaranth.sim import Simulator
from kit.mutants import planted
from kit.vlib import LONG, assert_columns_equal
from layout_corners import corner_maps
from map_vectors import Maps, random_maps, with_pipe_xor
from mutants.map_layout import MUTANTS

from minmip.hw.config import FULL, PLAIN_MODES, UnitConfig
from minmip.hw.counted_mips import PAIRS
from minmip.hw.map_layout import MapLayout

PLAIN = replace(FULL, swizzle_modes=PLAIN_MODES)
EVERY = replace(FULL, **with_pipe_xor("anaconda"))
CONFIGS = {
    "plain": PLAIN,
    "every": EVERY,
    "flat": replace(EVERY, resource_types=frozenset({9, 13})),
    "first": replace(FULL, swizzle_modes=frozenset({0, 1})),
    "4KB": replace(FULL, swizzle_modes=frozenset({5})),
    "64KB": replace(FULL, swizzle_modes=frozenset({10})),
}
CHAIN_CLOCKS, FITS_CLOCKS = 14, 20
"""From y."""


def bounds(maps: Maps) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Memory of each map, base and limit in 256 bytes, and whether the map fits.

    By turns the memory is the map, and 256 bytes too small at its end or its start.
    """
    turn = np.arange(len(maps.mips)) % 3
    start = maps.layout.base >> 8
    end = start + (maps.layout.total_bytes(maps.size[:, 2]) >> 8)
    return start + (turn == 2), end - (turn == 1), turn == 0


def laid_out(cfg: UnitConfig, maps: Maps) -> dict:
    """What the block makes of maps, one after the other; the last side may come with y or later."""
    block, control = MapLayout(cfg), maps.control
    base, limit, _ = bounds(maps)
    loads = Cat(block.load_x, block.load_y, block.load_z)
    valids = Cat(block.offset_valid, block.chain_valid, block.fits_valid)
    found = {name: [] for name in ("columns", "chain", "first_tail", "mip_offset", "fits")}

    async def bench(ctx):
        for row in range(len(maps.mips)):
            side = (maps.size[row] - 1).tolist()
            volume = bool(control["volume"][row])
            for port, value in (
                (block.map.mode, control["mode"][row]),
                (block.map.volume, volume),
                (block.map.last_slice, 5 if volume else side[2]),
                (block.map.max_mip, maps.mips[row] - 1),
                (block.map.base, control["base"][row]),
                (block.memory_base, base[row]),
                (block.memory_limit, limit[row]),
            ):
                ctx.set(port, int(value))
            await ctx.tick().repeat(2)
            offsets = []
            for clock in range(-1, FITS_CLOCKS):
                if clock < 3:
                    ctx.set(block.side, side[clock + 1] if clock < 2 else 0x1555)
                    ctx.set(loads, 1 << clock + 1 & 7)
                await ctx.tick()
                valid = ctx.get(valids)
                assert valid >> PAIRS == (clock + 1 == CHAIN_CLOCKS) + 2 * (
                    clock + 1 == FITS_CLOCKS
                )
                if valid & 0xFF:
                    assert valid & 0xFF == 1 << 7 - len(offsets) // 2
                    offsets += [ctx.get(block.offset[1]), ctx.get(block.offset[0])]
                if valid >> PAIRS & 1:
                    for name in ("columns", "chain", "first_tail"):
                        found[name].append(ctx.get(getattr(block, name)))
            found["fits"].append(ctx.get(block.fits))
            found["mip_offset"].append(offsets[::-1])

    simulator = Simulator(block)
    simulator.add_clock(1e-8)
    simulator.add_testbench(bench)
    simulator.run()
    return {name: np.array(column) for name, column in found.items()}


def check(cfg: UnitConfig, maps: Maps):
    """Compare all that the block says of the maps."""
    found = laid_out(cfg, maps)
    wanted = {name: maps.control[name] for name in found if name != "fits"}
    assert_columns_equal(found, wanted | {"fits": bounds(maps)[2]}, "layout")


def some(maps: Maps, seed: int, count: int) -> Maps:
    """Maps drawn from many."""
    rows = np.random.default_rng(seed).choice(len(maps.mips), min(count, len(maps.mips)), False)
    taken = {name: part[rows] for name, part in vars(maps.layout).items() if name != "blocks"}
    return Maps(replace(maps.layout, **taken), maps.size[rows], maps.mips[rows])


@pytest.mark.parametrize("cfg", CONFIGS.values(), ids=CONFIGS)
def test_corners(cfg):
    """Mips that just fit the tail, the block and the slots, or just do not."""
    check(cfg, some(corner_maps(cfg), 1, 5000 if LONG else 60))


def test_random():
    """Maps of any size."""
    for seed in range(20 if LONG else 1):
        check(EVERY, random_maps(np.random.default_rng(seed), 60, EVERY))


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_mutant_is_caught(mutant):
    with planted(mutant), pytest.raises(AssertionError, match="differ"):
        check(EVERY, some(corner_maps(EVERY), 2, 80))
