"""Requests for the descriptor decode, and what the golden model makes of them."""

import random
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from kit.vlib import assert_columns_equal
from map_vectors import Maps, with_pipe_xor
from random_descriptors import image_words, sampler_words

from minmip.hw.config import FULL, UnitConfig
from minmip.hw.descriptor_words import S_FIELDS as KEY_S_FIELDS
from minmip.hw.descriptor_words import T_FIELDS as KEY_T_FIELDS
from minmip.hw.descriptor_words import key_layout
from minmip.sim.descriptor_words import S_FIELDS, S_WORDS, T_FIELDS, T_WORDS, pack, unpack
from minmip.sim.golden.descriptor import decode_image, decode_sampler, legality
from minmip.sim.golden.lod import anisotropic
from minmip.sim.trace import FLAG_GATHER, FLAG_OFFSET

MEMORY_BASE, MEMORY_BYTES = 0x12_3456_7800, 1 << 16
"""Where the maps of `random_pairs` mostly fit."""
EVERY = replace(FULL, **with_pipe_xor("anaconda"))
"""A build with every swizzle mode."""


@dataclass
class Pairs:
    """Descriptor pairs: uint32 [n, 8] and [n, 4]."""

    image: np.ndarray
    sampler: np.ndarray

    def __len__(self):
        return len(self.image)


def random_pairs(
    seed: int, count: int, memory_bytes: int = MEMORY_BYTES, modes=FULL.swizzle_modes
) -> Pairs:
    """Legal, illegal and wholly random pairs, near the memory's ends too; `modes` of a build."""
    r = random.Random(seed)
    images, samplers = [], []
    for _ in range(count):
        if r.random() < 0.05:
            images.append(np.array([r.getrandbits(32) for _ in range(T_WORDS)], np.uint32))
        else:
            linked = r.choice([1, 1, 2, 3, 4, 4, None])
            size = memory_bytes if r.random() < 0.8 else r.choice([256, 1 << 30, 1 << 47])
            images.append(image_words(r, linked, MEMORY_BASE, size, modes=modes))
        samplers.append(sampler_words(r))
    return Pairs(np.stack(images), np.stack(samplers))


def map_pairs(maps: Maps) -> Pairs:
    """Pairs of type 1 whose maps these are, as 2D arrays or volumes, with a level per mip."""
    control, volume = maps.control, maps.layout.volume
    columns = {
        "SW_MODE": control["mode"],
        "TYPE": np.where(volume, 10, 13),
        "BASE_ADDRESS": control["base"],
        **dict(zip(("WIDTH", "HEIGHT", "DEPTH"), (maps.size - 1).T, strict=True)),
        "MAX_MIP": maps.mips - 1,
        "LAST_LEVEL": maps.mips - 1,
    }
    common = {"FORMAT": 5, "RESOURCE_LEVEL": 1, "LINKED_RESOURCE": 1, "LINKED_RESOURCE_TYPE": 1}
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    images = [
        pack(T_FIELDS, T_WORDS, **common, **dict(zip(columns, row, strict=True))) for row in rows
    ]
    sampler = pack(S_FIELDS, S_WORDS)[None]
    return Pairs(np.stack(images), np.repeat(sampler, len(images), axis=0))


def large_maps(modes: frozenset[int]) -> Pairs:
    """The largest and smallest maps of each layout and type, with few and many mips."""
    common = {"FORMAT": 5, "RESOURCE_LEVEL": 1, "LINKED_RESOURCE": 1, "LINKED_RESOURCE_TYPE": 1}
    kinds = ((8, 0), (9, 0), (10, 8191), (12, 8191), (13, 8191), (10, 0))
    sides = ((16383, 16383), (16383, 0), (0, 16383), (16382, 8191), (0, 0))
    names = ("SW_MODE", "TYPE", "DEPTH", "WIDTH", "HEIGHT", "MAX_MIP", "LAST_LEVEL")
    images = [
        dict(zip(names, (mode, *kind, *side, last, last), strict=True))
        for mode, kind, side, last in product(sorted(modes), kinds, sides, (0, 1, 6, 13, 14, 15))
    ]
    words = np.stack([pack(T_FIELDS, T_WORDS, **common, **fields) for fields in images])
    return Pairs(words, np.repeat(pack(S_FIELDS, S_WORDS)[None], len(words), axis=0))


_LEGAL = {
    "BASE_ADDRESS": MEMORY_BASE >> 8,
    "WIDTH": 1023,
    "HEIGHT": 511,
    "TYPE": 9,
    "FORMAT": 5,
    "RESOURCE_LEVEL": 1,
    "SW_MODE": 1,
    "LAST_LEVEL": 3,
    "LINKED_RESOURCE": 1,
    "LINKED_RESOURCE_TYPE": 2,
    "WIDTH_SCALE": 5,
    "HEIGHT_SCALE": 5,
}
_LEGAL_SAMPLER = {
    "MAX_LOD": 4095,
    "MINMIP_SLOPE_U": 2,
    "MINMIP_SLOPE_V": 2,
    "XY_MAG_FILTER": 1,
}
_READ = {"LINKED_RESOURCE_TYPE": 4}
_REGION_USED = {"LINKED_RESOURCE_TYPE": 1}
_BROKEN = [
    # code, changes of the T#, changes of the S#
    (0, {}, {}),
    (0, {"WIDTH": 999, "HEIGHT": 300, "BASE_LEVEL": 2}, {}),
    (0, {"LINKED_RESOURCE": 0, "FORMAT": 56, "SW_MODE": 9, "MAX_MIP": 15}, {}),
    *((2, {"TYPE": kind}, {}) for kind in (14, 15)),
    (3, {}, {"FORCE_UNNORMALIZED": 1}),
    *((5, {"LINKED_RESOURCE_TYPE": linked}, {}) for linked in (0, 5, 6, 7)),
    (6, {"COMPRESSION_EN": 1}, {}),
    (7, {}, {"BORDER_COLOR_TYPE": 3}),
    (0, _READ, {"MINMIP_OFFSET_U": 5}),
    (8, _READ, {"MINMIP_OFFSET_U": 6}),
    (8, _READ, {"MINMIP_OFFSET_V": 7}),
    (0, _READ, {"MINMIP_OFFSET_V": 7, "XY_MAG_FILTER": 2}),
    (0, _READ | {"TYPE": 8}, {"MINMIP_OFFSET_V": 7}),
    (8, _READ | {"TYPE": 10}, {"MINMIP_OFFSET_V": 7}),
    (9, _READ, {"MINMIP_SLOPE_U": 0, "MINMIP_OFFSET_U": 1}),
    (0, _READ, {"MINMIP_SLOPE_U": 0, "MINMIP_OFFSET_U": 2}),
    (9, _READ, {"MINMIP_SLOPE_V": 1, "XY_MAG_FILTER": 3}),
    (0, _READ, {"MINMIP_SLOPE_V": 1, "MINMIP_OFFSET_V": 1}),
    (0, _READ | {"TYPE": 12}, {"MINMIP_SLOPE_V": 0}),
    *((10, {"LINKED_RESOURCE_TYPE": linked, "MAX_MIP": 1}, {}) for linked in (2, 3, 4)),
    (11, {"TYPE": 11}, {}),
    (12, {"BASE_LEVEL": 4}, {}),
    *((13, {"TYPE": kind}, {}) for kind in (0, 1, 7)),
    *((13, {"TYPE": kind, "DEPTH": 2, "BASE_ARRAY": 3}, {}) for kind in (12, 13)),
    *((0, {"SW_MODE": mode, "TYPE": kind}, {}) for mode in (5, 9) for kind in (9, 10, 13)),
    *((0, {"SW_MODE": 2, "TYPE": kind}, {}) for kind in (9, 13)),
    *((0, {"SW_MODE": 1, "TYPE": kind}, {}) for kind in (8, 10, 12)),
    *((14, {"SW_MODE": mode}, {}) for mode in (3, 12, 23, 31)),
    *((14, {"SW_MODE": mode, "TYPE": 10}, {}) for mode in (2, 10, 22)),
    *((14, {"SW_MODE": mode, "TYPE": kind}, {}) for mode in (2, 5, 25) for kind in (8, 12)),
    (15, _REGION_USED | {"MAX_MIP": 2}, {}),
    (0, _REGION_USED | {"MAX_MIP": 3}, {}),
    *((16, {"FORMAT": number}, {}) for number in (0, 4, 7, 261)),
    (0, {"FORMAT": 1}, {}),
    (17, {}, {"DERIV_ADJUST_EN": 1}),
    *((18, {side: number}, {}) for side in ("WIDTH", "HEIGHT") for number in (16384, 65535)),
    (18, {"TYPE": 8, "HEIGHT": 16384}, {}),
    *((18, {"TYPE": kind, "DEPTH": 8192}, {}) for kind in (10, 12, 13)),
    (0, {"DEPTH": 65535}, {}),
    (18, {"BASE_ARRAY": 8192}, {}),
    (0, {"TYPE": 10, "BASE_ARRAY": 65535}, {}),
    (18, {"RESOURCE_LEVEL": 0}, {}),
    (31, {"BASE_ADDRESS": (MEMORY_BASE >> 8) - 1}, {}),
    (31, {"BASE_ADDRESS": MEMORY_BASE + MEMORY_BYTES >> 8}, {}),
    (31, {"BASE_ARRAY": 8191}, {}),
    (31, {"SW_MODE": 9, "BASE_ADDRESS": (MEMORY_BASE >> 8) + 1}, {}),
    (0, {"SW_MODE": 21, "BASE_ADDRESS": (MEMORY_BASE + 0x800 >> 8) + 5}, {}),
    # Under a pipe XOR the map starts with a block, here of 64 KB: before the memory.
    (31, {"SW_MODE": 25}, {}),
]


def _pair_words(image: dict, sampler: dict) -> tuple[np.ndarray, np.ndarray]:
    return (
        pack(T_FIELDS, T_WORDS, **_LEGAL | image),
        pack(S_FIELDS, S_WORDS, **_LEGAL_SAMPLER | sampler),
    )


def legal_pair() -> Pairs:
    """One pair that breaks no rule."""
    image, sampler = _pair_words({}, {})
    return Pairs(image[None], sampler[None])


def one_rule_broken() -> tuple[Pairs, np.ndarray]:
    """Pairs that break one rule at most, each rule at its edges, and their codes."""
    words = [_pair_words(image, sampler) for _, image, sampler in _BROKEN]
    images, samplers = (np.stack(part) for part in zip(*words, strict=True))
    return Pairs(images, samplers), np.array([code for code, _, _ in _BROKEN])


def edge_maps(memory_base: int, memory_bytes: int) -> tuple[Pairs, np.ndarray]:
    """Maps at both ends of the memory, and those one block farther out; their codes."""
    shapes = [
        {"SW_MODE": mode, "TYPE": kind, "DEPTH": depth, "MAX_MIP": mips} | _REGION_USED
        for mode, kind, depth, mips in (
            *((0, 9, 0, 3), (1, 9, 0, 6), (0, 10, 2, 3), (1, 10, 9, 3)),
            *((2, 13, 1, 3), (5, 13, 2, 6), (6, 9, 0, 3), (9, 13, 3, 3), (10, 9, 0, 15)),
            *((5, 10, 33, 3), (9, 10, 63, 3)),
        )
    ]
    shapes += [shape | {"WIDTH_SCALE": 15, "HEIGHT_SCALE": 9} for shape in shapes]
    first, end = memory_base >> 8, memory_base + memory_bytes >> 8
    images, codes = [], []
    for shape in shapes:
        words = _pair_words(shape | {"BASE_ADDRESS": 0}, {})[0]
        _, layout = decode_image(words[None], EVERY, 0, 1 << 48)
        depth = shape["DEPTH"] + 1 if shape["TYPE"] > 9 else 1
        blocks = int(layout.total_bytes(np.array([depth]))[0]) >> 8
        fits = blocks <= end - first
        places = [
            (first, fits),
            (end - blocks, fits),
            (first - 1, False),
            (end - blocks + 1, False),
        ]
        for place, inside in places:
            if 0 <= place < 1 << 40:
                images.append(_pair_words(shape | {"BASE_ADDRESS": place}, {})[0])
                codes.append(0 if inside else 31)
    sampler = _pair_words({}, {})[1]
    return Pairs(np.stack(images), np.repeat(sampler[None], len(images), axis=0)), np.array(codes)


def pair_keys(pairs: Pairs, config: UnitConfig) -> list[bytes]:
    """What tells pairs apart: the bits that have an effect."""
    masks = []
    for table, words in ((KEY_T_FIELDS, 8), (KEY_S_FIELDS, 4)):
        used = sum(
            ((1 << width) - 1) << low
            for name, (low, width) in table.items()
            if name in key_layout(config).members
        )
        masks.append(np.frombuffer(used.to_bytes(4 * words, "little"), "<u4"))
    kept = np.concatenate([pairs.image & masks[0], pairs.sampler & masks[1]], axis=1)
    return [row.tobytes() for row in kept]


class HeldPairs:
    """Which entry answers a request, in plain Python: the least recently used one is replaced."""

    def __init__(self, config: UnitConfig):
        self.config = config
        self.reset()

    def reset(self):
        self.order = list(range(self.config.descriptor_entries))  # least recently used first
        self.drop()

    def drop(self):
        """All pairs are decoded anew."""
        self.keys: list[bytes | None] = [None] * self.config.descriptor_entries

    def answers(self, pairs: Pairs, index: np.ndarray) -> dict:
        """Columns `entry` and `fresh` of the answers to requests."""
        keys = pair_keys(pairs, self.config)
        found = []
        for key in (keys[row] for row in index.tolist()):
            fresh = key not in self.keys
            entry = self.order[0] if fresh else self.keys.index(key)
            self.keys[entry] = key
            self.order.remove(entry)
            self.order.append(entry)
            found.append((entry, fresh))
        entry, fresh = np.array(found, np.int64).reshape(-1, 2).T
        return {"entry": entry, "fresh": fresh}


def request_columns(pairs: Pairs, index: np.ndarray, flags: np.ndarray) -> dict:
    """Columns of `descriptor_request` for pairs by index, with flags as in a trace."""
    return {
        "t_sharp": pairs.image[index],
        "s_sharp": pairs.sampler[index],
        "offset": flags & FLAG_OFFSET != 0,
        "gather": flags & FLAG_GATHER != 0,
        "tag": np.arange(len(index)) & 255,
    }


def golden_control(
    pairs: Pairs, config: UnitConfig, memory_base: int = MEMORY_BASE, memory_bytes=MEMORY_BYTES
) -> dict:
    """Columns of `control` without code and tag, by pair."""
    image, layout = decode_image(pairs.image, config, memory_base, memory_bytes)
    sampler = decode_sampler(pairs.sampler)
    axes = config.axes
    scales = unpack(T_FIELDS, pairs.image)
    maps = Maps(layout, image.map_size, scales["MAX_MIP"] + 1)
    return {
        "linked": image.linked,
        "axes": image.axes,
        "is_array": image.is_array,
        "size": image.size[:, :axes],
        "view_size": image.view_size[:, :axes],
        "scale": np.stack(
            [scales[f"{side}_SCALE"] for side in ("WIDTH", "HEIGHT", "DEPTH")[:axes]], axis=-1
        ),
        "first_slice": image.first_slice,
        "last_slice": image.last_slice,
        "base_level": image.base_level,
        "last_level": image.last_level,
        "view_min_lod": image.min_lod,
        "clamp": sampler.clamp[:, :axes],
        "aniso": anisotropic(image, sampler),
        "max_aniso_log2": sampler.max_aniso_log2,
        "threshold": sampler.aniso_threshold,
        "truncate": sampler.trunc_coord,
        "min_lod": sampler.min_lod,
        "max_lod": sampler.max_lod,
        "lod_bias": sampler.lod_bias,
        "mag_linear": sampler.mag_filter & 1,
        "min_linear": sampler.min_filter & 1,
        "z_linear": sampler.z_linear & (axes == 3),
        "mip_filter": sampler.mip_filter,
        "filter_slope2": sampler.slope2,
        "filter_offset": sampler.offset,
        **maps.control,
    }


MAP_FIELDS = ("mode", "first_tail", "volume", "base", "columns", "chain", "mip_offset", "scale")
"""What only linked requests have."""


def golden_codes(
    pairs: Pairs,
    index: np.ndarray,
    flags: np.ndarray,
    config: UnitConfig,
    memory_base: int = MEMORY_BASE,
    memory_bytes: int = MEMORY_BYTES,
) -> np.ndarray:
    """Error code of each request."""
    image, _ = decode_image(pairs.image, config, memory_base, memory_bytes)
    sampler = decode_sampler(pairs.sampler)
    return legality(image.take(index), sampler.take(index), flags)


def assert_control_equal(
    actual: dict, control: dict, index: np.ndarray, codes: np.ndarray, held: dict
) -> int:
    """Compare answers with `golden_control`, `golden_codes` and `HeldPairs.answers`.

    Return the number of legal ones.
    """
    assert_columns_equal(actual, {"code": codes, "tag": np.arange(len(index)) & 255} | held)
    legal = np.flatnonzero(codes == 0)
    rows = index[legal]
    linked = control["linked"][rows] > 0
    for name, column in control.items():
        chosen = linked if name in MAP_FIELDS else slice(None)
        assert_columns_equal(
            actual[name][legal][chosen], column[rows][chosen].astype(np.int64), name
        )
    return len(legal)
