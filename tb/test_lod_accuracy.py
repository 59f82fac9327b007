"""The LOD algorithm against the spec's formulas: accuracy, powers of two, discrete choices."""

import os

import numpy as np
import pytest

from minmip.hw.config import FULL, LodConfig
from minmip.sim.descriptor_words import S_FIELDS, S_WORDS, T_FIELDS, T_WORDS, pack
from minmip.sim.golden.descriptor import decode_image, decode_sampler
from minmip.sim.golden.lod import gradient_lod
from minmip.sim.golden.numbers import bits_of
from minmip.sim.measure import lod_error, octave_error

LONG = bool(os.environ.get("MINMIP_LONG"))
SEED = 7


def lod_of(ddx, ddy, size=1, *, aniso_log2=0, threshold=0):
    """GradientLod of float32 gradients [n, 2] on a square texture."""
    words = pack(T_FIELDS, T_WORDS, TYPE=9, WIDTH=size - 1, HEIGHT=size - 1)
    filters = {"XY_MIN_FILTER": 3, "XY_MAG_FILTER": 3, "ANISO_THRESHOLD": threshold}
    sampler = pack(S_FIELDS, S_WORDS, MAX_ANISO_RATIO=aniso_log2, **filters)
    rows = np.zeros(len(ddx), np.int64)
    images, _ = decode_image(words[None], FULL, 0, 0)
    return gradient_lod(
        bits_of(np.ascontiguousarray(ddx, np.float32)),
        bits_of(np.ascontiguousarray(ddy, np.float32)),
        images.take(rows),
        decode_sampler(sampler[None]).take(rows),
        FULL.lod,
    )


@pytest.mark.parametrize("aniso_log2", [0, 1, 2, 3, 4])
def test_error_is_far_below_one_step(aniso_log2):
    count = 2_000_000 if LONG else 200_000
    figures = lod_error(count, SEED + aniso_log2, max_aniso_log2=aniso_log2)
    assert figures["worst"] < 0.56, (figures, SEED)  # the spec allows 1
    assert figures["correct"] > 0.995, (figures, SEED)


def test_every_significand_of_an_octave_along_an_axis():
    """Exhaustive over 2**23 significands (every 16th in the quick run): error and monotony."""
    figures = octave_error(step=1 if LONG else 16)
    assert figures["worst"] < 0.51
    assert figures["monotonic"]


def test_exact_at_powers_of_two_on_each_axis():
    exponent = np.arange(-126, 114)
    for size in (1, 2, 1024, 16384):
        power = np.ldexp(1.0, exponent).astype(np.float32)
        zero = np.zeros_like(power)
        for axis in range(2):
            vector = np.stack([power, zero] if axis == 0 else [zero, power], axis=-1)
            for pair in ((vector, vector * 0), (vector * 0, -vector)):
                lod = lod_of(*pair, size).lod
                wanted = 256 * (exponent + size.bit_length() - 1)
                np.testing.assert_array_equal(lod, np.clip(wanted, -32768, 32767))


@pytest.mark.parametrize("threshold", [0, 3, 7])
def test_discrete_choices_differ_from_the_exact_ones_only_at_their_borders(threshold):
    """Tap count and longer axis, where the exact values are not within 2**-12 of a border."""
    rng = np.random.default_rng(SEED)
    count = 400_000
    # Ellipses of every ratio 1..40, turned, so that the determinant cancels.
    angle = rng.uniform(0, 2 * np.pi, (2, count))
    ratio, major = 2 ** rng.uniform(0, 5.3, count), 2 ** rng.uniform(-3, 8, count)
    x = np.stack([np.cos(angle[0]), np.sin(angle[0])], -1) * major[:, None]
    across = np.stack([-np.sin(angle[0]), np.cos(angle[0])], -1) * (major / ratio)[:, None]
    y = across + x * np.cos(angle[1])[:, None] * 0.9
    swap = rng.random(count) < 0.5
    ddx, ddy = (np.where(swap[:, None], a, b).astype(np.float32) for a, b in ((x, y), (y, x)))

    result = lod_of(ddx, ddy, aniso_log2=4, threshold=threshold)
    a, b = ddx.astype(np.float64), ddy.astype(np.float64)
    length_x, length_y = np.hypot(*a.T), np.hypot(*b.T)
    longer = np.maximum(length_x, length_y)
    det = np.abs(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0])
    exact = np.minimum(longer**2 / np.maximum(det, 1e-30), 16)
    minor = longer / exact
    exact = np.where(minor < 1, longer, exact)
    raw = np.maximum(np.maximum(exact, 1) - threshold / 8, 1)
    near = 2.0**-12

    certain = np.abs(length_x / length_y - 1) > near
    assert certain.mean() > 0.99
    np.testing.assert_array_equal(result.major_is_x[certain], (length_x > length_y)[certain])

    taps = np.ceil(np.log2(raw)).astype(int).clip(0, 4)
    border = np.min([np.abs((exact - threshold / 8) / 2**k - 1) for k in range(4)], axis=0)
    certain = (border > near) & (np.abs(minor - 1) > near)
    assert certain.mean() > 0.98
    np.testing.assert_array_equal(result.taps_log2[certain], taps[certain])


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("mantissa_bits", 7),
        ("index_bits", 11),
        ("interpolation_bits", 3),
        ("log_fraction_bits", 21),
    ],
)
def test_widths_out_of_range_are_refused(field, value):
    with pytest.raises(ValueError, match=f"{field} must be in .*, not {value}"):
        LodConfig(**{field: value})
