"""Answers and pattern beats of the unit, as the runners read them."""

import numpy as np
import pytest
from kit.packing import pack

from minmip.hw.beats import pattern_beat
from minmip.hw.config import FULL, SMALL
from minmip.sim.runners.unit_beats import check_order, pattern_rows, words_of
from minmip.sim.runners.verilate import RunnerError


@pytest.mark.parametrize("cfg", [SMALL, FULL], ids=["two axes", "three axes"])
def test_pattern(cfg):
    """Beats by hand of a volume (three axes only), a 2D and a 1D array, one lane each."""
    lane = {
        # Weight n of a second texel is n/256; on axes not in use texel 0, touched once.
        "volume": ([[4, 5], [6, 7], [8, 9]], [[1, 1], [1, 0], [1, 1]], [1, 255, 64], 0),
        "2D": ([[4, 5], [6, 7], [0, 0]], [[1, 0], [1, 1], [1, 0]], [128, 1, 0], 3),
        "1D": ([[4, 5], [0, 0], [0, 0]], [[1, 1], [1, 0], [1, 0]], [1, 0, 0], 2),
    }
    names = [name for name in lane if name != "volume" or cfg.axes == 3]
    texel, touched, weight, slices = (
        np.array(column) for column in zip(*(lane[name] for name in names), strict=True)
    )
    count, axes = len(names), slice(cfg.axes)
    axis = {"texel": texel[:, axes], "touched": touched[:, axes], "weight": weight[:, axes]}

    def in_last_lane(column):
        """Of the lanes of a beat only the last is active; the others have the same."""
        return np.repeat(column[:, None], cfg.lanes, axis=1)

    number = np.arange(count)
    of_lanes = {"slice": slices, "mip": 1 + number, "lod": 256 - 512 * number}
    columns = {
        "tag": number,
        "tap": 0 * number,
        "slot": 0 * number,
        "first_lane": 0 * number + (4 - cfg.lanes),
        "active": 0 * number + (1 << cfg.lanes - 1),
        "lane": {name: in_last_lane(column) for name, column in of_lanes.items()}
        | {"axis": {name: in_last_lane(column) for name, column in axis.items()}},
    }
    start, rows = pattern_rows(pack(pattern_beat(cfg), columns), 1 + number, count, cfg)
    wanted = {  # lane, mip, x, y, z, weight, lod; the volume's 255 * 1 * 192 / 256 = 191.25 ...
        "volume": [(4, 6, 8, 191), (5, 6, 8, 0), (4, 6, 9, 63), (5, 6, 9, 0)],
        "2D": [(4, 6, 3, 128 * 255), (4, 7, 3, 128 * 1)],
        "1D": [(4, 0, 2, 255 * 256), (5, 0, 2, 1 * 256)],
    }
    assert rows.tolist() == [
        (3, 1 + n, x, y, z, weight, 256 - 512 * n)
        for n, name in enumerate(names)
        for x, y, z, weight in wanted[name]
    ]
    assert np.diff(start.astype(int)).tolist() == [len(wanted[name]) for name in names]


def test_wrong_answers_are_told():
    answers = np.zeros((2, 3), np.uint32)
    with pytest.raises(RunnerError, match=r"answer 1 has tag 0 and flush 0, wanted tag 1"):
        check_order(answers, 0, 5)
    beats = np.zeros((1, words_of(pattern_beat(FULL))), np.uint32)
    with pytest.raises(RunnerError, match="the tag of no quad"):
        pattern_rows(beats, np.array([0]), 1, FULL)
