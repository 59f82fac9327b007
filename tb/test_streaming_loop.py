"""The closed loop over a small scene: nothing absent is ever sampled, and the figures add up."""

from dataclasses import replace

import numpy as np
import pytest
from streaming_objects import floor_scene

from minmip.sim.backends import make_backend
from minmip.sim.frontend import builtin_scene
from minmip.sim.streaming.errors import StreamError
from minmip.sim.streaming.flight import ValleyFlight, fly, stand_still
from minmip.sim.streaming.loop import Loop, Settings
from minmip.sim.streaming.share import share_curve
from minmip.sim.streaming.stochastic import some_lanes

SMALL = Settings(size=(96, 64), frames=7, pool_bytes=12 << 16, budget=4, latency=2)
PLENTY = 1 << 30


def flight(settings=SMALL, scene=None, backend=None):
    loop = Loop(scene or floor_scene(), settings, backend or make_backend("golden"))
    return loop, list(loop.frames())


def figures(settings=SMALL, **others):
    return [frame.figures for frame in flight(settings, **others)[1]]


def column(rows, name):
    return [row[name] for row in rows]


@pytest.mark.parametrize("filtering", ["point", "bilinear", "trilinear"])
def test_a_pool_too_small_for_the_scene(filtering):
    settings = replace(SMALL, filtering=filtering)
    rows = figures(settings)
    assert max(column(rows, "missing_tiles")) > 0
    assert max(column(rows, "misses")) > 0
    assert sum(column(rows, "evictions")) > 0
    assert set(column(rows, "absent_texels")) == {0}
    assert max(column(rows, "resident_tiles")) <= 12
    assert max(column(rows, "uploads")) == 4


def test_feedback_is_late_by_the_latency():
    for latency in (1, 3):
        rows = figures(replace(SMALL, frames=5, latency=latency, pool_bytes=PLENTY, budget=999))
        first = next(row["frame"] for row in rows if row["uploads"])
        assert first == latency
        assert not any(row["wanted_tiles"] for row in rows[:latency])


def test_the_clamp_does_not_hide_what_is_wanted():
    """What a starved loop records is what a loop with everything resident records."""
    starved = flight(replace(SMALL, frames=4))[1]
    full = flight(replace(SMALL, frames=4, pool_bytes=PLENTY, tail=0))[1]
    assert starved[-1].figures["misses"] > 0 == full[-1].figures["misses"]
    for one, other in zip(starved, full, strict=True):
        np.testing.assert_array_equal(one.wanted, other.wanted)
        for poor, rich in zip(one.recorded, other.recorded, strict=True):
            np.testing.assert_array_equal(poor, rich)


def test_a_still_camera_converges_to_no_misses_and_no_jumps():
    scene, camera = stand_still(builtin_scene(), 0.0)
    settings = replace(SMALL, size=(120, 68), frames=12, pool_bytes=PLENTY, budget=40)
    loop = Loop(scene, settings, make_backend("golden"))
    cut, seen = 6, []
    for frame in loop.frames():
        seen.append(frame.figures)
        if frame.number == cut - 1:
            camera.place = 0.5
    for name in ("misses", "jumps", "hard_misses", "hard_jumps", "missing_tiles", "uploads"):
        assert seen[cut - 1][name] == seen[-1][name] == 0, name
    assert seen[cut]["misses"] > 0


def test_unsafe_is_refused_and_unsafe_is_seen():
    scene = fly(builtin_scene(), 4)
    settings = Settings(size=(240, 136), frames=4, offset="1/128")
    with pytest.raises(StreamError, match="'grass' is not safe with an offset of 1/128"):
        flight(settings, scene)
    found = r"frame \d+: \d+ of \d+ texel samples read tiles that are not resident"
    with pytest.raises(StreamError, match=found):
        flight(replace(settings, offset=None, unsafe=True), scene)


def test_anisotropy_is_counted():
    settings = replace(SMALL, filtering="aniso", max_anisotropy=16, size=(192, 128), frames=3)
    rows = figures(replace(settings, pool_bytes=2 << 20))
    assert sum(column(rows, "absent_texels")) > 0


def test_a_run_repeats_and_its_seed_replays():
    settings = replace(SMALL, frames=4, share=0.02, seed=3)
    rows = figures(settings)
    assert rows == figures(settings)
    assert rows != figures(replace(settings, seed=4))
    assert figures(replace(settings, share=1.0)) == figures(replace(SMALL, frames=4))


def test_lanes_by_chance():
    lanes = some_lanes(4000, 0.25, 1, 2)
    assert abs(np.bitwise_count(lanes).mean() - 1) < 0.06
    np.testing.assert_array_equal(lanes, some_lanes(4000, 0.25, 1, 2))
    assert (some_lanes(4000, 0.5, 1, 2) & lanes == lanes).all()
    assert (some_lanes(4000, 0.25, 1, 3) != lanes).any()
    assert (some_lanes(9, 1.0, 1, 3) == 15).all()


def test_a_larger_share_misses_no_more():
    loop = Loop(floor_scene(), replace(SMALL, frames=3), make_backend("golden"))
    curve = share_curve(loop, [1.0, 0.1, 0.003, 0.0003])
    missed = column(curve, "missed")
    assert missed[0] == 0 == curve[0]["missed_kept"]
    assert missed == sorted(missed)
    assert 0 < missed[2] <= missed[3] <= curve[0]["wanted"]
    assert all(row["missed_kept"] <= row["missed"] for row in curve)
    pixels = column(curve, "pixels")
    assert abs(pixels[1] / pixels[0] - 0.1) < 0.02


def test_any_spread_wants_an_offset():
    with pytest.raises(StreamError, match="want a named offset"):
        Settings(spread=None)
    figures(replace(SMALL, frames=3, spread=None, offset="1/4"))


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"latency": 0}, "latency must be at least 1 frame, not 0"),
        ({"spread": 0}, "spread must be at least 1 level, not 0"),
        ({"tail": -1}, "tail must begin at level 0 or a coarser one, not -1"),
        ({"share": 0.0}, "share of pixels .* above 0 and at most 1, not 0"),
        ({"share": 1.5}, "not 1.5"),
    ],
)
def test_settings_are_refused(changes, text):
    with pytest.raises(StreamError, match=text):
        replace(SMALL, **changes)


def test_a_build_without_the_filter_is_refused():
    backend = make_backend("golden", preset="full")
    bare = replace(backend, config=replace(backend.config, linked_types=(1, 2, 3)))
    with pytest.raises(StreamError, match="leaves out linked type 4"):
        flight(backend=bare)


@pytest.mark.parametrize("filtering", ["point", "trilinear"])
def test_the_gateware_gives_the_same_figures(filtering):
    settings = replace(SMALL, filtering=filtering)
    assert figures(settings, backend=make_backend("verilator")) == figures(settings)


def test_a_cut_goes_half_a_flight_ahead():
    scene = fly(builtin_scene(), 9, cut=5)
    assert isinstance(scene.camera, ValleyFlight)
    assert list(scene.camera.places) == [0, 0.125, 0.25, 0.375, 0.5, 0.125, 0.25, 0.375, 0.5]
    orbit = fly(floor_scene(), 4, cut=2).camera
    np.testing.assert_array_equal(orbit.matrix(1.0, 2), floor_scene().camera.matrix(1.0, 62))
    np.testing.assert_array_equal(orbit.matrix(1.0, 1), floor_scene().camera.matrix(1.0, 1))
