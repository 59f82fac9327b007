"""Descriptor decode and legality: T# and S# words to fields and an error code (spec 01)."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from minmip.hw.config import VOLUME_MODES, UnitConfig
from minmip.sim.descriptor_words import S_FIELDS, T_FIELDS, unpack
from minmip.sim.golden.address import MapLayout, map_layout
from minmip.sim.trace import FLAG_GATHER, FLAG_OFFSET

__all__ = [
    "LINKED_FILTER",
    "LINKED_MAX",
    "LINKED_MIN",
    "LINKED_OR",
    "TYPE_1D",
    "TYPE_1D_ARRAY",
    "TYPE_2D",
    "TYPE_2D_ARRAY",
    "TYPE_3D",
    "Image",
    "Sampler",
    "decode_image",
    "decode_sampler",
    "legality",
]

TYPE_1D, TYPE_2D, TYPE_3D, TYPE_CUBE, TYPE_1D_ARRAY, TYPE_2D_ARRAY = 8, 9, 10, 11, 12, 13
TYPE_2D_MSAA, TYPE_2D_MSAA_ARRAY = 14, 15
LINKED_OR, LINKED_MIN, LINKED_MAX, LINKED_FILTER = 1, 2, 3, 4
FORMAT_8_UNORM, FORMAT_8_UINT = 1, 5
BORDER_PALETTE = 3
ONE_AXIS_MODES = (0, 1)
"""LINEAR and 256B_S: what 1D maps and arrays of them may have."""

# 2 * slope, by slope code, and offset in 1/256, by offset code (spec 01; 6 and 7 are errors).
SLOPE_TIMES_2 = np.array([5, 6, 8, 10, 16, 32, 64, 128], np.int64)
OFFSET_256 = np.array([64, 32, 16, 8, 4, 2, 0, 0], np.int64)
# The largest offset, in 1/256, that lets each slope reach weight 1 at the texel centre.
LARGEST_OFFSET_256 = np.array([16, 32, 64, 64, 64, 64, 64, 64], np.int64)


@dataclass(eq=False)
class _Rows:
    """A struct of arrays over descriptors, from which rows can be taken."""

    def take(self, index):
        """Return the same struct for the rows in `index`."""
        return type(self)(**{f.name: getattr(self, f.name)[index] for f in fields(self)})


@dataclass(eq=False)
class Image(_Rows):
    """Decoded image descriptors; every attribute is an array over descriptors, int64 or bool.

    `size` is the paired texture's width, height and depth, 1 on unused axes; `view_size` that of
    the view's first mip; `map_size` that of the map's mip 0; `axes` the number of coordinate axes
    (1 to 3); `linked` is the linked type, 0 for a plain texture; `first_slice` and `last_slice`
    bound the view; `min_lod` counts 1/256; `code` is the lowest rule broken by the word alone.
    """

    type: np.ndarray
    axes: np.ndarray
    size: np.ndarray
    view_size: np.ndarray
    map_size: np.ndarray
    is_array: np.ndarray
    first_slice: np.ndarray
    last_slice: np.ndarray
    base_level: np.ndarray
    last_level: np.ndarray
    min_lod: np.ndarray
    linked: np.ndarray
    code: np.ndarray


@dataclass(eq=False)
class Sampler(_Rows):
    """Decoded sampler descriptors; every attribute is an array over descriptors.

    `clamp` [n, 3] are the address modes of x, y, z; LODs and bias count 1/256; XY and mip filters
    are the raw codes; `max_aniso_log2` is 0..4. For the MinMip filter, [n, 2] for its U and its "V
    or W" fields: `slope2` is 2 * slope, `offset` counts 1/256, `offset_code` is the raw code and
    `pair_broken` the pair rule.
    """

    clamp: np.ndarray
    max_aniso_log2: np.ndarray
    aniso_threshold: np.ndarray
    aniso_override: np.ndarray
    trunc_coord: np.ndarray
    min_lod: np.ndarray
    max_lod: np.ndarray
    lod_bias: np.ndarray
    mag_filter: np.ndarray
    min_filter: np.ndarray
    z_linear: np.ndarray
    mip_filter: np.ndarray
    slope2: np.ndarray
    offset: np.ndarray
    offset_code: np.ndarray
    pair_broken: np.ndarray
    unnormalized: np.ndarray
    palette_border: np.ndarray
    deriv_adjust: np.ndarray


def _lowest(rules: list[tuple[int, np.ndarray]], count: int) -> np.ndarray:
    """Lowest code whose mask is true, per row; 0 if none. `rules` is in ascending order."""
    code = np.zeros(count, np.int64)
    for number, broken in reversed(rules):
        code[broken] = number
    return code


def decode_image(
    words: np.ndarray, config: UnitConfig, memory_base: int, memory_bytes: int
) -> tuple[Image, MapLayout]:
    """Decode T# words, uint32 [n, 8], check the rules of the word alone, and lay out the maps."""
    f = unpack(T_FIELDS, words)
    kind = f["TYPE"]
    volume = kind == TYPE_3D
    is_array = (kind == TYPE_1D_ARRAY) | (kind == TYPE_2D_ARRAY)
    one_axis = (kind == TYPE_1D) | (kind == TYPE_1D_ARRAY)
    axes = np.where(one_axis, 1, np.where(volume, 3, 2))
    full = np.stack([f["WIDTH"] + 1, f["HEIGHT"] + 1, f["DEPTH"] + 1], axis=-1)
    used = np.arange(3) < axes[:, None]
    size = np.where(used, full, 1)
    scale = np.stack([f["WIDTH_SCALE"], f["HEIGHT_SCALE"], f["DEPTH_SCALE"]], axis=-1)
    map_size = np.maximum(1, size >> scale)
    linked = np.where(f["LINKED_RESOURCE"] == 1, f["LINKED_RESOURCE_TYPE"], 0)
    is_linked = f["LINKED_RESOURCE"] == 1
    last_slice = np.where(is_array, f["DEPTH"], np.where(volume, 0, f["BASE_ARRAY"]))

    layout = map_layout(
        sw_mode=f["SW_MODE"],
        base=f["BASE_ADDRESS"] << 8,
        size=map_size,
        mips=f["MAX_MIP"] + 1,
        volume=volume,
        xor_patterns=config.xor_patterns,
    )
    slices = np.where(volume, map_size[:, 2], last_slice + 1)
    inside = (layout.base >= memory_base) & (
        layout.base + layout.total_bytes(slices) <= memory_base + memory_bytes
    )

    left_out_type = ~np.isin(kind, list(config.resource_types))
    left_out_map = ~np.isin(linked, list(config.linked_types)) | _left_out_mode(
        f["SW_MODE"], volume, one_axis, config
    )
    rules = [
        (2, (kind == TYPE_2D_MSAA) | (kind == TYPE_2D_MSAA_ARRAY)),
        (5, is_linked & ((linked < LINKED_OR) | (linked > LINKED_FILTER))),
        (6, is_linked & (f["COMPRESSION_EN"] == 1)),
        (10, is_linked & (f["MAX_MIP"] != 0) & (linked >= LINKED_MIN) & (linked <= LINKED_FILTER)),
        (11, kind == TYPE_CUBE),
        (12, f["BASE_LEVEL"] > f["LAST_LEVEL"]),
        (13, (kind < TYPE_1D) | (is_array & (f["BASE_ARRAY"] > f["DEPTH"]))),
        (14, left_out_type | (is_linked & left_out_map)),
        (15, is_linked & (linked == LINKED_OR) & (f["LAST_LEVEL"] > f["MAX_MIP"])),
        (16, is_linked & (f["FORMAT"] != FORMAT_8_UNORM) & (f["FORMAT"] != FORMAT_8_UINT)),
        (
            18,
            (full[:, :2] > 16384).any(axis=-1)
            | (np.where(volume, f["DEPTH"], last_slice) > 8191)
            | (f["RESOURCE_LEVEL"] == 0),
        ),
        (31, is_linked & ~inside),
    ]
    image = Image(
        type=kind,
        axes=axes,
        size=size,
        view_size=np.maximum(1, size >> f["BASE_LEVEL"][:, None]),
        map_size=map_size,
        is_array=is_array,
        first_slice=np.where(volume, 0, f["BASE_ARRAY"]),
        last_slice=last_slice,
        base_level=f["BASE_LEVEL"],
        last_level=f["LAST_LEVEL"],
        min_lod=f["MIN_LOD"],
        linked=np.where(is_linked, linked, 0),
        code=_lowest(rules, len(kind)),
    )
    return image, layout


def _left_out_mode(
    sw_mode: np.ndarray, volume: np.ndarray, one_axis: np.ndarray, config: UnitConfig
) -> np.ndarray:
    """Maps in a mode that the build leaves out, or that is not for their type (decision D80)."""
    legal = np.where(
        volume,
        np.isin(sw_mode, list(VOLUME_MODES)),
        ~one_axis | np.isin(sw_mode, ONE_AXIS_MODES),
    )
    return ~legal | ~np.isin(sw_mode, list(config.swizzle_modes))


def decode_sampler(words: np.ndarray) -> Sampler:
    """Decode S# words, uint32 [n, 4]."""
    f = unpack(S_FIELDS, words)
    slope = np.stack([f["MINMIP_SLOPE_U"], f["MINMIP_SLOPE_V"]], axis=-1)
    offset = np.stack([f["MINMIP_OFFSET_U"], f["MINMIP_OFFSET_V"]], axis=-1)
    bias = f["LOD_BIAS"]
    return Sampler(
        clamp=np.stack([f["CLAMP_X"], f["CLAMP_Y"], f["CLAMP_Z"]], axis=-1),
        max_aniso_log2=np.minimum(f["MAX_ANISO_RATIO"], 4),
        aniso_threshold=f["ANISO_THRESHOLD"],
        aniso_override=f["ANISO_OVERRIDE"] == 1,
        trunc_coord=f["TRUNC_COORD"] == 1,
        min_lod=f["MIN_LOD"],
        max_lod=f["MAX_LOD"],
        lod_bias=np.where(bias >= 1 << 13, bias - (1 << 14), bias),
        mag_filter=f["XY_MAG_FILTER"],
        min_filter=f["XY_MIN_FILTER"],
        z_linear=f["Z_FILTER"] >= 2,
        mip_filter=f["MIP_FILTER"],
        slope2=SLOPE_TIMES_2[slope],
        offset=OFFSET_256[offset],
        offset_code=offset,
        pair_broken=OFFSET_256[offset] > LARGEST_OFFSET_256[slope],
        unnormalized=f["FORCE_UNNORMALIZED"] == 1,
        palette_border=f["BORDER_COLOR_TYPE"] == BORDER_PALETTE,
        deriv_adjust=f["DERIV_ADJUST_EN"] == 1,
    )


def legality(image: Image, sampler: Sampler, flags: np.ndarray) -> np.ndarray:
    """Error code of each request, int64 [q]: the lowest rule of spec 01 broken, 0 if none.

    `image` and `sampler` hold the rows of the requests, `flags` their trace flags.
    """
    linked = image.linked > 0
    bilinear_filter = (image.linked == LINKED_FILTER) & (sampler.mag_filter & 1 == 1)
    # 1D uses the U pair alone; every other type uses both (a volume's V fields belong to w).
    used = np.stack([np.ones_like(linked), image.axes >= 2], axis=-1) & bilinear_filter[:, None]
    rules = [
        (1, flags & FLAG_OFFSET != 0),
        (3, sampler.unnormalized),
        (4, flags & FLAG_GATHER != 0),
        (7, linked & sampler.palette_border),
        (8, (used & (sampler.offset_code >= 6)).any(axis=-1)),
        (9, (used & sampler.pair_broken).any(axis=-1)),
        (17, sampler.deriv_adjust),
    ]
    request = _lowest(rules, len(flags))
    return np.where(
        (image.code == 0) | ((request > 0) & (request < image.code)), request, image.code
    )
