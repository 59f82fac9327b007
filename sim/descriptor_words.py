"""Bit positions of the T# and S# words, and packing and unpacking by field name (spec 01)."""

import numpy as np

__all__ = ["S_FIELDS", "S_WORDS", "T_FIELDS", "T_WORDS", "pack", "unpack"]

T_WORDS = 8
S_WORDS = 4

T_FIELDS: dict[str, tuple[int, int]] = {
    # name: (lowest bit, width)
    "BASE_ADDRESS": (0, 40),
    "MIN_LOD": (40, 12),
    "FORMAT": (52, 9),
    "WIDTH": (62, 16),
    "HEIGHT": (78, 16),
    "RESOURCE_LEVEL": (95, 1),
    "DST_SEL_X": (96, 3),
    "DST_SEL_Y": (99, 3),
    "DST_SEL_Z": (102, 3),
    "DST_SEL_W": (105, 3),
    "BASE_LEVEL": (108, 4),
    "LAST_LEVEL": (112, 4),
    "SW_MODE": (116, 5),
    "LINKED_RESOURCE_TYPE": (121, 3),
    "TYPE": (124, 4),
    "DEPTH": (128, 16),
    "BASE_ARRAY": (144, 16),
    "ARRAY_PITCH": (160, 4),
    "MAX_MIP": (164, 4),
    "DEPTH_SCALE": (168, 4),
    "HEIGHT_SCALE": (172, 4),
    "WIDTH_SCALE": (176, 4),
    "LINKED_RESOURCE": (184, 1),
    "PRT_DEFAULT": (186, 1),
    "BIG_PAGE": (191, 1),
    "COMPRESSION_EN": (213, 1),
}

S_FIELDS: dict[str, tuple[int, int]] = {
    "CLAMP_X": (0, 3),
    "CLAMP_Y": (3, 3),
    "CLAMP_Z": (6, 3),
    "MAX_ANISO_RATIO": (9, 3),
    "DEPTH_COMPARE_FUNC": (12, 3),
    "FORCE_UNNORMALIZED": (15, 1),
    "ANISO_THRESHOLD": (16, 3),
    "ANISO_BIAS": (21, 6),
    "TRUNC_COORD": (27, 1),
    "DISABLE_CUBE_WRAP": (28, 1),
    "FILTER_MODE": (29, 2),
    "MIN_LOD": (32, 12),
    "MAX_LOD": (44, 12),
    "PERF_MIP": (56, 4),
    "LOD_BIAS": (64, 14),
    "LOD_BIAS_SEC": (78, 6),
    "XY_MAG_FILTER": (84, 2),
    "XY_MIN_FILTER": (86, 2),
    "Z_FILTER": (88, 2),
    "MIP_FILTER": (90, 2),
    "ANISO_OVERRIDE": (93, 1),
    "DERIV_ADJUST_EN": (95, 1),
    "BORDER_COLOR_PTR": (96, 12),
    "MINMIP_SLOPE_U": (96, 3),
    "MINMIP_OFFSET_U": (99, 3),
    "MINMIP_SLOPE_V": (102, 3),
    "MINMIP_OFFSET_V": (105, 3),
    "BORDER_COLOR_TYPE": (126, 2),
}


def pack(fields: dict[str, tuple[int, int]], words: int, **values: int) -> np.ndarray:
    """Build one descriptor, uint32 [words], word 0 first.

    Fields not named are zero; fields that share bits (the linked meanings) are OR-ed. A value that
    does not fit its field raises ValueError; negative values are two's complement.
    """
    total = 0
    for name, value in values.items():
        low, width = fields[name]
        value = int(value)
        if not -(1 << (width - 1)) <= value < (1 << width):
            raise ValueError(f"{name} must fit {width} bits, not {value}")
        total |= (value & ((1 << width) - 1)) << low
    return np.array([(total >> (32 * i)) & 0xFFFFFFFF for i in range(words)], np.uint32)


def unpack(fields: dict[str, tuple[int, int]], words: np.ndarray) -> dict[str, np.ndarray]:
    """Split descriptors, uint32 [n, words], into int64 arrays [n] by field name, all unsigned."""
    wide = words.astype(np.uint64)
    out = {}
    for name, (low, width) in fields.items():
        word, shift = divmod(low, 32)
        value = wide[:, word] >> np.uint64(shift)
        if shift + width > 32:
            value = value | (wide[:, word + 1] << np.uint64(32 - shift))
        out[name] = (value & np.uint64((1 << width) - 1)).astype(np.int64)
    return out
