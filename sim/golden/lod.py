"""Level of detail, anisotropy and mip choice (spec 02 "LOD"; the algorithm is `docs/lod.md`)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from minmip.hw.config import LodConfig
from minmip.sim.golden.descriptor import TYPE_2D, TYPE_2D_ARRAY, Image, Sampler
from minmip.sim.golden.numbers import (
    bit_length,
    float_to_fixed,
    is_nan,
    is_nan_or_inf,
    round_shift,
    significand,
)

__all__ = [
    "LOD_MAX",
    "LOD_MIN",
    "GradientLod",
    "MipChoice",
    "anisotropic",
    "choose_mips",
    "clamp_lod",
    "explicit_lod",
    "gradient_lod",
    "op_bias",
    "op_clamp",
]

LOD_MIN, LOD_MAX = -32768, 32767
"""S7.8 range of an LOD, in 1/256."""
MIP_NONE, MIP_POINT = 0, 1


@dataclass(eq=False)
class GradientLod:
    """LOD before bias and clamps, by lane or quad.

    `lod` counts 1/256; `undefined` marks a NaN or infinite gradient (the LOD becomes MAX_LOD);
    `taps_log2` is log2 of the tap count; `major_is_x` says which gradient the line follows.
    """

    lod: np.ndarray
    undefined: np.ndarray
    taps_log2: np.ndarray
    major_is_x: np.ndarray


def anisotropic(image: Image, sampler: Sampler) -> np.ndarray:
    """Whether gradients of these requests are anisotropic (spec 02), bool."""
    flat = (image.type == TYPE_2D) | (image.type == TYPE_2D_ARRAY)
    filters = (sampler.mag_filter | sampler.min_filter) & 2 != 0
    overridden = sampler.aniso_override & (image.base_level == image.last_level)
    return flat & filters & (sampler.max_aniso_log2 > 0) & ~overridden


def _scaled(gradients: np.ndarray, size: np.ndarray, config: LodConfig):
    """Steps 1.1 to 1.4: components on one exponent, int64 [n, 2k], and that exponent T [n]."""
    mantissa, exponent = significand(gradients)
    product = mantissa * size
    bits = bit_length(product)
    top = np.where(product > 0, exponent + bits, 0)
    block = top.max(axis=-1)
    width = config.mantissa_bits
    shift = np.where(product > 0, block[:, None] - exponent - width, 0)
    # A product has at most 39 bits: shifted right by 40 it rounds to zero.
    magnitude = np.minimum(round_shift(product, np.minimum(shift, 40)), (1 << width) - 1)
    return np.where(gradients >> 31 & 1, -magnitude, magnitude), block


def _log2(value: np.ndarray, config: LodConfig) -> np.ndarray:
    """Step 3: log2 with `log_fraction_bits` fraction bits of integers > 0."""
    width = config.index_bits + config.interpolation_bits
    place = bit_length(value) - 1
    # The leading one becomes bit `width`, whatever lies below it is cut.
    fraction = (value << np.maximum(width - place, 0)) >> np.maximum(place - width, 0)
    fraction = fraction & ((1 << width) - 1)
    index = fraction >> config.interpolation_bits
    low = fraction & ((1 << config.interpolation_bits) - 1)
    base = np.array(config.log_base[:-1], np.int64)[index]
    slope = np.array(config.log_slope, np.int64)[index]
    return (place << config.log_fraction_bits) + base + (slope * low >> config.interpolation_bits)


def gradient_lod(
    ddx: np.ndarray,
    ddy: np.ndarray,
    image: Image,
    sampler: Sampler,
    config: LodConfig,
) -> GradientLod:
    """LOD of gradients, `docs/lod.md` steps 1 to 5.

    Parameters
    ----------
    ddx, ddy : int64 [n, k]
        float32 patterns of the derivatives of u, v, w; k is at least the largest number of axes,
        and axes that a type does not use are ignored.
    image, sampler
        Rows for each of the n.
    config : LodConfig
        Widths and table.
    """
    count = ddx.shape[1]
    used = np.arange(count) < image.axes[:, None]
    gradients = np.where(np.tile(used, 2), np.concatenate([ddx, ddy], axis=-1), 0)
    undefined: np.ndarray = np.any(is_nan_or_inf(gradients), axis=-1)
    gradients = np.where(undefined[:, None], 0, gradients)

    q, block = _scaled(gradients, np.tile(image.view_size[:, :count], 2), config)
    square = q * q
    x2, y2 = square[:, :count].sum(axis=-1), square[:, count:].sum(axis=-1)
    major_is_x = x2 > y2
    length2 = np.maximum(x2, y2)
    flat = length2 == 0
    exponent2 = 2 * (block - 150 - config.mantissa_bits)
    scale = exponent2 << config.log_fraction_bits
    log_length2 = _log2(np.maximum(length2, 1), config) + scale

    doubled = log_length2
    taps_log2 = np.zeros_like(doubled)
    stretched = np.flatnonzero(anisotropic(image, sampler) & ~flat)
    if len(stretched):
        s = stretched
        doubled[s], taps_log2[s] = _stretched(
            np.abs(q[s, 0] * q[s, count + 1] - q[s, 1] * q[s, count]),
            length2[s],
            exponent2[s],
            log_length2[s],
            sampler.take(s),
            config,
        )
    # `doubled` counts 2**-log_fraction_bits of twice the LOD.
    lod = np.clip(round_shift(doubled, config.log_fraction_bits + 1 - 8), LOD_MIN, LOD_MAX)
    return GradientLod(
        lod=np.where(flat, LOD_MIN, lod),
        undefined=undefined,
        taps_log2=np.where(undefined, 0, taps_log2),
        major_is_x=major_is_x,
    )


def _stretched(det, length2, exponent2, log_length2, sampler: Sampler, config: LodConfig):
    """Step 5: twice log2 of the minor axis, and log2 of the tap count."""
    most = sampler.max_aniso_log2
    over = (det == 0) | (length2 > det << most)
    log_det = _log2(np.maximum(det, 1), config) + (exponent2 << config.log_fraction_bits)
    minor = np.where(
        over,
        log_length2 - (most << config.log_fraction_bits + 1),
        2 * log_det - log_length2,
    )
    # 64 * L2 * 2**exponent2 against squares of at most 14 bits: past a shift of 45 they all exceed.
    fine = minor < 0
    left = np.where(fine, 64 * length2, 8 * length2)
    taps_log2 = most.copy()
    for log2 in (3, 2, 1, 0):
        reach = (8 << log2) + sampler.aniso_threshold
        small = left <= (reach * reach) << np.clip(-exponent2, 0, 45)
        fits = np.where(fine, small & (exponent2 <= 0), ~over & (left <= det * reach))
        taps_log2 = np.where(fits & (log2 < taps_log2), log2, taps_log2)
    return minor, taps_log2


def explicit_lod(level: np.ndarray) -> GradientLod:
    """LOD of a level operand, float32 patterns of any shape: RNE to 1/256, NaN is undefined."""
    zero = np.zeros_like(level)
    return GradientLod(
        lod=float_to_fixed(level, 8, LOD_MIN, LOD_MAX),
        undefined=is_nan(level),
        taps_log2=zero,
        major_is_x=zero > 0,
    )


def op_bias(bias: np.ndarray) -> np.ndarray:
    """Bias operand in 1/256, RNE, saturating; NaN counts as 0."""
    return float_to_fixed(bias, 8, LOD_MIN, LOD_MAX)


def op_clamp(clamp: np.ndarray) -> np.ndarray:
    """Clamp operand in 1/256, RNE, saturating; NaN is no clamp."""
    return np.where(is_nan(clamp), LOD_MIN, float_to_fixed(clamp, 8, LOD_MIN, LOD_MAX))


def clamp_lod(
    lod: np.ndarray,
    undefined: np.ndarray,
    bias: np.ndarray,
    clamp: np.ndarray,
    image: Image,
    sampler: Sampler,
) -> np.ndarray:
    """Bias and clamps in the spec's order; everything counts 1/256, [n]."""
    at_end = (lod == LOD_MIN) | (lod == LOD_MAX)
    biased = lod + np.where(at_end, 0, sampler.lod_bias + bias)
    limited = np.where(undefined, sampler.max_lod, np.minimum(biased, sampler.max_lod))
    return np.maximum(np.maximum(limited, sampler.min_lod), np.maximum(image.min_lod, clamp))


@dataclass(eq=False)
class MipChoice:
    """What the clamped LOD selects, by lane.

    `limited` is the LOD inside the view, 1/256; `linear` whether x and y blend; `level` the first
    mip level, counted in the view; `second` whether the next level is touched too.
    """

    limited: np.ndarray
    linear: np.ndarray
    level: np.ndarray
    second: np.ndarray


def choose_mips(lod: np.ndarray, image: Image, sampler: Sampler) -> MipChoice:
    """Minification or magnification filter, and the mip levels (spec 02 "Mip choice")."""
    limited = np.clip(lod, 0, (image.last_level - image.base_level) << 8)
    chosen = np.where(lod <= 0, sampler.mag_filter, sampler.min_filter)
    nearest = (limited + 128) >> 8
    level = np.where(sampler.mip_filter == MIP_POINT, nearest, limited >> 8)
    return MipChoice(
        limited=limited,
        linear=chosen & 1 == 1,
        level=np.where(sampler.mip_filter == MIP_NONE, 0, level),
        second=(sampler.mip_filter > MIP_POINT) & (limited & 255 != 0),
    )
