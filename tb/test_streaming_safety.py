"""No sample of an absent tile: spec 04's condition over random maps, and what breaks it."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from streaming_objects import LARGEST, TEXTURES, quads_anywhere, random_feedback, tiled, unit

from minmip.sim.frontend import Texture
from minmip.sim.painting import visible
from minmip.sim.streaming.errors import StreamError
from minmip.sim.streaming.manager import TileManager
from minmip.sim.streaming.observe import absent_tiles, blur_of, count_jumps, hard_clamp
from minmip.sim.streaming.safety import OFFSETS, check_safe, offset_of_spread, unsafe_level
from minmip.sim.streaming.tiling import tile_textures

SEED = 20261130
ALL_LANES = 15


def sampled(
    filtering,
    *,
    textures=TEXTURES,
    spread=1,
    offset="1/4",
    slope="4",
    room=60,
    tail=None,
    aniso=1,
    stretch=1,
    clamp=None,
    feedback=random_feedback,
    quads=1500,
    steps=3,
):
    """Random tiles come and go; yields the absent samples of random quads after each step."""
    rng = np.random.default_rng(SEED)
    tilings, table = tiled(textures)
    always = sum(tiling.packed for tiling in tilings)
    always += 0 if tail is None else int((table.level >= tail).sum())
    pool = (always + room) << 16
    manager = TileManager(tilings, table, pool_bytes=pool, budget=room, spread=spread, tail=tail)
    hardware = unit(tilings, filtering, slope=slope, offset=offset, aniso=aniso)
    for frame in range(steps):
        manager.step(frame, feedback(rng, tilings))
        maps = manager.maps()
        hardware.write_maps(maps)
        frame_quads = quads_anywhere(rng, textures, quads, stretch)
        answers = hardware.filter_and_record(
            frame_quads, np.full(len(frame_quads), ALL_LANES, "u1")
        )
        chosen = answers.clamp if clamp is None else clamp(frame_quads, maps, tilings)
        rows = hardware.sample(frame_quads, chosen)
        assert len(rows.quad) >= 4 * len(frame_quads)
        yield absent_tiles(rows, frame_quads, table, manager.resident)


def count(found):
    return sum(len(rows) for rows, _ in found)


@pytest.mark.parametrize("filtering", ["point", "bilinear", "trilinear"])
@pytest.mark.parametrize(
    ("spread", "offset", "slope"), [(1, "1/4", "4"), (1, "1/4", "64"), (None, "1/4", "8")]
)
def test_no_sample_leaves_what_is_resident(filtering, spread, offset, slope):
    # Any spread: the offset alone keeps samples inside, the spread is what makes it small enough.
    assert count(sampled(filtering, spread=spread, offset=offset, slope=slope)) == 0


@pytest.mark.parametrize("filtering", ["point", "bilinear", "trilinear"])
def test_hard_borders_are_as_safe(filtering):
    assert count(sampled(filtering, spread=None, clamp=hard_clamp)) == 0


def test_without_a_clamp_samples_are_absent():
    nothing = lambda quads, maps, tilings: np.zeros((len(quads), 4), np.int64)  # noqa: E731
    assert count(sampled("trilinear", clamp=nothing, steps=1)) > 1000


@pytest.mark.parametrize("filtering", ["bilinear", "trilinear"])
def test_an_offset_too_small_is_seen(filtering):
    assert count(sampled(filtering, spread=None, offset="1/128", slope="64")) > 0


def test_a_map_that_promises_too_much_is_seen(monkeypatch):
    finer = lambda self: [np.maximum(r.map(1) - 1, 0) for r in self._residency]  # noqa: E731
    monkeypatch.setattr(TileManager, "maps", finer)
    assert count(sampled("point", steps=1)) > 0


def test_anisotropic_lines_may_leave():
    assert count(sampled("aniso", aniso=16, stretch=16, quads=100)) > 0


def one_tile_of(level):
    """Feedback that asks for one tile of a level, the others beside it stay away."""

    def feedback(_rng, tilings):
        tile = tilings[0].levels[level]
        levels = np.full(tilings[0].map_size[::-1], 0xFF, np.uint8)
        levels[(tile.y_from[0] + tile.y_to[0]) // 2, (tile.x_from[0] + tile.x_to[0]) // 2] = level
        return [levels]

    return feedback


@pytest.mark.parametrize(("offset", "tail"), [("1/32", 4), ("1/64", 3)])
def test_a_tail_makes_a_small_offset_safe(offset, tail):
    """Each offset with the tail that it needs, and with one level less."""
    textures = (Texture(name="t", width=4096, height=2048, wrap_v="mirror"),)
    tilings, _ = tiled(textures)
    assert unsafe_level(tilings[0], Fraction(offset), None)[0] >= tail
    assert unsafe_level(tilings[0], Fraction(offset), tail) is None
    assert unsafe_level(tilings[0], Fraction(offset), tail + 1)[0] == tail
    options = {"textures": textures, "spread": None, "offset": offset, "slope": "64"}
    options |= {"quads": 3000, "steps": 1}
    for coarsest, safe in ((tail - 1, True), (tail, False)):
        feedback = one_tile_of(coarsest)
        found = sampled("trilinear", tail=coarsest + 1, feedback=feedback, **options)
        assert (count(found) == 0) == safe


@pytest.mark.parametrize(("offset", "safe"), [("1/4", True), ("1/8", False)])
def test_the_largest_texture_just_fits(offset, safe):
    """Level 6 of 16384 texels reaches a quarter of a region."""
    options = {"textures": LARGEST, "offset": offset, "slope": "64", "quads": 10000, "steps": 1}
    assert (count(sampled("bilinear", feedback=one_tile_of(6), **options)) == 0) == safe


@pytest.mark.parametrize("size_log2", range(7, 15))
@pytest.mark.parametrize("spread", range(1, 7))
def test_the_condition_is_the_specifications(size_log2, spread):
    """n + d - 1 <= log2(W), n - 1 the coarsest level of more than one tile."""
    side = 1 << size_log2
    tilings, _ = tile_textures([Texture(name="t", width=side, height=side)], (128, 128))
    n = size_log2 - 7
    offset = offset_of_spread(spread)
    assert offset == f"1/{2 ** (spread + 1)}"
    found = unsafe_level(tilings[0], Fraction(offset), None)
    assert (n == 0 or n + spread - 1 <= 7) == (found is None)
    if found:
        assert found == (n - 1, Fraction(2 ** (n - 1), 256))
        with pytest.raises(StreamError, match=f"level {n - 1} may lie beside level {n}.*--tail"):
            check_safe(tilings, offset, spread, None)
        check_safe(tilings, offset, spread, n - spread)


def test_offsets():
    assert list(OFFSETS) == ["1/4", "1/8", "1/16", "1/32", "1/64", "1/128"]
    with pytest.raises(StreamError, match="spread of 7 asks for an offset of 1/256"):
        offset_of_spread(7)


@pytest.mark.parametrize("filtering", ["point", "bilinear", "trilinear"])
def test_nothing_is_missed_when_all_that_was_recorded_is_there(filtering):
    rng = np.random.default_rng(SEED)
    tilings, table = tiled()
    manager = TileManager(tilings, table, pool_bytes=1 << 30, budget=1 << 20, spread=1)
    hardware = unit(tilings, filtering)
    quads = quads_anywhere(rng, TEXTURES, 40)
    everything = np.full(len(quads), ALL_LANES, "u1")
    hardware.write_maps(manager.maps())
    before = hardware.filter_and_record(quads, everything)
    assert (blur_of(before.clamp, before.wanted) > 0).any()
    manager.step(0, hardware.recorded())
    hardware.write_maps(manager.maps())
    after = hardware.filter_and_record(quads, everything)
    np.testing.assert_array_equal(after.wanted, before.wanted)
    assert not blur_of(after.clamp, after.wanted).any()


def test_the_wanted_lod_is_the_samples_own():
    """Where no clamp is above it, the LOD of the sample's pattern is what was wanted."""
    rng = np.random.default_rng(SEED)
    tilings, _ = tiled()
    hardware = unit(tilings)
    quads = quads_anywhere(rng, TEXTURES, 200)
    hardware.write_maps([np.zeros(t.map_size[::-1], int) for t in tilings])
    answers = hardware.filter_and_record(quads, np.zeros(len(quads), "u1"))
    assert not answers.clamp.any()
    assert all((levels == 0xFF).all() for levels in hardware.recorded())
    rows = hardware.sample(quads, answers.clamp)
    finest = np.full(len(quads), 99)
    np.minimum.at(finest, rows.quad, rows.mip)
    np.testing.assert_array_equal(finest, answers.wanted >> 8)


def test_jumps_are_pairs_of_one_triangle():
    quads = quads_anywhere(np.random.default_rng(1), TEXTURES[:1], 2)
    quads = replace(quads, x=np.array([0, 2], np.int32), triangle=np.array([7, 7], np.int32))
    shown = visible(quads, (5, 3))
    np.testing.assert_array_equal(shown, [[0, 1, 4, 5, -1], [2, 3, 6, 7, -1], [-1] * 5])
    blur = np.zeros((2, 4), np.int64)
    blur[1] = 128  # half a level between two columns of pixels: not more than JUMP
    assert count_jumps(blur, quads, shown) == 0
    blur[1] = 129
    assert count_jumps(blur, quads, shown) == 2
    blur[1, 0] = 300  # against both neighbours of its quad and the one to the left
    assert count_jumps(blur, quads, shown) == 4
    apart = replace(quads, triangle=np.array([7, 8], np.int32))
    assert count_jumps(blur, apart, shown) == 2


def test_hard_borders_are_a_bilinear_sample_of_the_map():
    """Every texel that the unit's own pattern of the map names, the coarsest of them."""
    rng = np.random.default_rng(SEED)
    tilings, _ = tiled()
    maps = [rng.integers(0, 9, tiling.map_size[::-1]) for tiling in tilings]
    quads = quads_anywhere(rng, TEXTURES, 300)
    found = hard_clamp(quads, maps, tilings)
    for index, (tiling, levels) in enumerate(zip(tilings, maps, strict=True)):
        width, height = tiling.map_size
        texture = replace(tiling.texture, width=width, height=height)
        alone, _ = tile_textures([texture], (1, 1))
        mine = np.flatnonzero(quads.texture == index)
        one = replace(
            quads,
            **{name: getattr(quads, name)[mine] for name in ("x", "y", "uv", "live_mask", "depth")},
            texture=np.zeros(len(mine), np.int32),
            triangle=quads.triangle[mine],
        )
        # Gradients of zero: level 0, each lane where it is.
        for lane in range(4):
            still = replace(one, uv=np.repeat(one.uv[:, lane : lane + 1], 4, axis=1))
            rows = unit(alone, "bilinear").sample(still, np.zeros((len(mine), 4), np.uint16))
            assert not rows.mip.any()
            coarsest = np.zeros(len(mine), int)
            np.maximum.at(coarsest, rows.quad, levels[rows.y, rows.x])
            np.testing.assert_array_equal(found[mine, lane], coarsest << 8)
