"""The tile manager against a slow plain reading: residency, spread, pool, budget, eviction."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from streaming_objects import TEXTURES, random_feedback, tiled

from minmip.sim.frontend import Texture
from minmip.sim.streaming.errors import StreamError
from minmip.sim.streaming.manager import TileManager
from minmip.sim.streaming.requests import NOT_ASKED, missed_levels
from minmip.sim.streaming.spread import coarsened, refined
from minmip.sim.streaming.tiling import tile_textures
from minmip.sim.tiles import count_tiles, needs_from_levels

TILE_KB = 64 << 10

sides = st.integers(1, 1100)
wraps = st.sampled_from(["wrap", "mirror", "clamp"])
textures = st.lists(
    st.builds(Texture, name=st.just("t"), width=sides, height=sides, wrap_u=wraps, wrap_v=wraps),
    min_size=1,
    max_size=2,
)


def overlaps(tile, tiles_texels, region, regions):
    """Whether a tile of a level of `tiles_texels` lies over map texel `region` of `regions`."""
    start, end = Fraction(128 * tile, tiles_texels), Fraction(128 * (tile + 1), tiles_texels)
    return start < Fraction(region + 1, regions) and Fraction(region, regions) < min(end, 1)


def slow_finest(tiling, resident, x, y):
    """Finest level that is resident over a region with all coarser ones, tile by tile."""
    finest = len(tiling.levels)
    for level in reversed(tiling.levels):
        for row in range(level.rows):
            for column in range(level.columns):
                under = overlaps(column, level.width, x, tiling.map_size[0])
                under = under and overlaps(row, level.height, y, tiling.map_size[1])
                if under and not resident[level.first + row * level.columns + column]:
                    return finest
        finest -= 1
    return finest


def slow_spread(finest, spread, wraps):
    """Each texel against every other one: their distance, round the edges where it wraps."""
    rows, columns = finest.shape
    out = finest.copy()
    for y in range(rows):
        for x in range(columns):
            for j in range(rows):
                for i in range(columns):
                    across, down = abs(i - x), abs(j - y)
                    across = min(across, columns - across) if wraps[0] else across
                    down = min(down, rows - down) if wraps[1] else down
                    out[y, x] = max(out[y, x], finest[j, i] - spread * max(across, down))
    return out


@settings(max_examples=40, deadline=None)
@given(
    textures, st.integers(0, 2**32 - 1), st.integers(0, 40), st.integers(1, 9), st.integers(1, 3)
)
def test_whatever_is_asked_for(some, seed, room, budget, spread):
    rng = np.random.default_rng(seed)
    tilings, table = tile_textures(some, (128, 128))
    packed = sum(tiling.packed for tiling in tilings)
    pool = (packed + room) * TILE_KB + int(rng.integers(0, TILE_KB))
    manager = TileManager(tilings, table, pool_bytes=pool, budget=budget, spread=spread)
    before = manager.resident.copy()
    for frame in range(5):
        step = manager.step(frame, random_feedback(rng, tilings))
        assert len(step.loaded) <= budget
        assert not before[step.loaded].any()
        assert before[step.evicted].all()
        expected = before.copy()
        expected[step.evicted] = False
        expected[step.loaded] = True
        np.testing.assert_array_equal(manager.resident, expected)
        before = expected
        assert expected[-1]
        assert manager.resident_tiles() == packed + int(expected[:-1].sum())
        assert manager.resident_tiles() * TILE_KB <= pool
        for tiling, levels in zip(tilings, manager.maps(), strict=True):
            columns, rows = tiling.map_size
            finest = np.array(
                [[slow_finest(tiling, expected, x, y) for x in range(columns)] for y in range(rows)]
            )
            np.testing.assert_array_equal(levels, slow_spread(finest, spread, tiling.wraps))


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.tuples(st.integers(1, 9), st.integers(1, 9)),
    st.integers(1, 4),
    st.tuples(st.booleans(), st.booleans()),
)
def test_spread_is_kept_and_gives_away_nothing(seed, shape, spread, around):
    levels = np.random.default_rng(seed).integers(0, 9, shape)
    found = coarsened(levels, spread, around)
    np.testing.assert_array_equal(found, slow_spread(levels, spread, around))
    finer = refined(levels, spread, around)
    assert (finer <= levels).all()
    np.testing.assert_array_equal(coarsened(finer, spread, around), finer)


@pytest.mark.parametrize("spread", [1, 2, None])
def test_what_is_asked_for_comes(spread):
    rng = np.random.default_rng(5)
    tilings, table = tiled()
    manager = TileManager(tilings, table, pool_bytes=1 << 30, budget=100, spread=spread)
    recorded = random_feedback(rng, tilings)
    for frame in range(20):
        step = manager.step(frame, recorded)
    assert manager.resident[step.wanted].all()
    for levels, asked in zip(manager.maps(), recorded, strict=True):
        assert (levels <= asked).all()


def test_no_spread_asks_for_the_tiles_that_summary_counts():
    tilings, table = tiled()
    recorded = random_feedback(np.random.default_rng(6), tilings)
    asked = missed_levels(recorded, tilings, table, None) != NOT_ASKED
    for index, (tiling, levels) in enumerate(zip(tilings, recorded, strict=True)):
        texture = tiling.texture
        count = count_tiles(
            (texture.width, texture.height), (128, 128), 4, needs_from_levels(levels, texture.mips)
        )
        assert count.packed == tiling.packed
        assert count.needed - count.packed == int(asked[table.texture == index].sum())
        assert count.whole - count.packed == sum(level.count for level in tiling.levels)


def one_texture(pool_tiles, budget=100, spread=None, tail=None):
    tilings, table = tile_textures([Texture(name="t", width=1024, height=1024)], (128, 128))
    pool = (pool_tiles + 1) * TILE_KB
    return TileManager(tilings, table, pool_bytes=pool, budget=budget, spread=spread, tail=tail)


def asking(level, y=slice(None), x=slice(None)):
    levels = np.full((8, 8), 0xFF, np.uint8)
    levels[y, x] = level
    return [levels]


def test_coarse_tiles_come_first_and_go_last():
    manager = one_texture(pool_tiles=100, budget=4)
    levels = manager.table.level
    seen = [levels[manager.step(f, asking(0, 0, 0)).loaded].tolist() for f in range(2)]
    assert seen == [[3, 2, 1, 0], []]
    assert levels[manager.step(2, asking(1)).loaded].tolist() == [2, 2, 2, 1]
    assert manager.maps()[0].max() == 2


def test_the_longest_unused_goes_and_the_finest_of_those_first():
    manager = one_texture(pool_tiles=7)
    manager.step(0, asking(0, 0, 0))  # 4 tiles, of levels 3, 2, 1, 0
    manager.step(1, asking(0, 0, 7))  # 3 more, and level 3 again
    step = manager.step(2, asking(1, 7, 7))  # levels 2 and 1 in another corner
    assert manager.table.level[step.loaded].tolist() == [2, 1]
    assert manager.table.level[step.evicted].tolist() == [0, 1]
    assert step.evicted[0] == 0  # tile 0,0 of level 0: of frame 0
    assert manager.maps()[0][0, 0] == 2


def test_a_pool_too_small_settles():
    rng = np.random.default_rng(7)
    tilings, table = tiled()
    packed = sum(tiling.packed for tiling in tilings)
    manager = TileManager(tilings, table, pool_bytes=(packed + 30) * TILE_KB, budget=8, spread=1)
    recorded = random_feedback(rng, tilings)
    steps = [manager.step(frame, recorded) for frame in range(40)]
    assert len(steps[-1].wanted) > 30
    assert manager.resident_tiles() == manager.pool
    assert not any(len(step.loaded) + len(step.evicted) for step in steps[20:])
    # What is left out is missed no more than what is there.
    missed = missed_levels(recorded, tilings, table, 1)
    here = manager.resident[:-1]
    assert missed[~here].max() <= missed[here].min()


def test_the_tail_stays():
    manager = one_texture(pool_tiles=8, tail=2)
    assert manager.table.level[manager.resident[:-1]].tolist() == [2] * 4 + [3]
    for frame in range(4):
        step = manager.step(frame, asking(0, frame, frame))
        assert (manager.table.level[step.evicted] < 2).all()
        assert manager.maps()[0].max() <= 2


def test_refused():
    tilings, table = tiled()
    with pytest.raises(StreamError, match=r"0\.0625 MiB holds 1 tiles .*packed mips\) takes 7"):
        TileManager(tilings, table, pool_bytes=TILE_KB, budget=1, spread=1)
    with pytest.raises(StreamError, match="levels from 0 on"):
        one_texture(pool_tiles=84, tail=0)
    one_texture(pool_tiles=85, tail=0)
    for budget in (0, -1):
        with pytest.raises(StreamError, match=f"budget must be at least 1 .*not {budget}"):
            one_texture(pool_tiles=9, budget=budget)


def test_textures_cover_what_the_loop_must_know():
    tilings, _ = tiled()
    assert [len(tiling.levels) for tiling in tilings] == [6, 3, 3, 3, 0]
    assert {t.wrap_u for t in TEXTURES} == {"wrap", "mirror", "clamp"}
