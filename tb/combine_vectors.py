"""Slab beats for the combine stage, and what it makes of them in plain Python (spec 03)."""

from __future__ import annotations

import numpy as np

from minmip.hw.config import VOLUME_MODES
from minmip.hw.shapes import MemoryOp

__all__ = ["PACKINGS", "boxes", "grouped", "random_slabs", "texel_of", "word_of"]

OPS = {1: MemoryOp.OR, 2: MemoryOp.MIN, 3: MemoryOp.MAX}
"""By linked type; nobody looks at the operation of the other beats."""
HEAD = ("context", "code", "flush", "tag")
FILTER = ("first_lane", "slab", "done", "ramp")
TEXELS = 4
PACKINGS = ROWS, D, THICK = range(3)
WORD_BITS = {ROWS: "x0 x1 x2 x3", D: "x0 x1 x2 y1", THICK: "x0 x1 z0 y0"}
"""Coordinate bits of a byte's number in its word, from the lowest, as far as the word goes."""


def random_slabs(rng, count, cfg):
    """Lanes near one another: in one texel, beside it, at the borders of words, or far away.

    Mips, slices and values are few, so that they meet; some beats have nothing to write.
    """
    lanes = cfg.lanes
    shape = (count, lanes)
    spread = rng.choice([1, 2, 4, 8, 40, 40, 16384, 16384], (count, 1, 1))
    start = rng.choice([0, 14, 15, 16, 7, 16383, 1000], (count, 1, 2)) * rng.integers(
        0, 2, (count, 1, 2)
    )
    first = (start + rng.integers(0, 1 << 30, (*shape, 2)) % spread) % 16384
    # The second texel is the next one, the same (clamp, mirror), the first of the row (wrap), or in
    # the words of another lane.
    rolled = np.roll(first, 1, 1)
    second = np.choose(
        rng.integers(0, 10, (*shape, 2)), [first, 0 * first, *[first + 1] * 4, *[rolled] * 4]
    )
    texel = np.stack([first, second % 16384], -1)
    texel = np.where(rng.random((*shape, 2, 1)) < 0.1, texel[..., ::-1], texel)
    some, all_of = rng.choice([0, 1, 2, *[3] * 9], (*shape, 2)), rng.random((count, 1, 1)) < 0.3
    touched = np.where(all_of, rng.integers(1, 4, (count, 1, 2)), some)
    linked = rng.choice([0, 1, 1, 2, 2, 3, 3, 4, 4], count)
    flush = rng.random(count) < 0.02
    code = np.where(rng.random(count) < 0.05, rng.integers(1, 32, count), 0)
    active = np.where(rng.random(count) < 0.7, (1 << lanes) - 1, rng.integers(0, 1 << lanes, count))
    value = rng.integers(0, 256, shape)
    value = np.where(rng.random((count, 1)) < 0.3, value % 3 * 127, value)
    value = np.where(linked[:, None] == 1, 1, value)  # the flag of MipRegionUsed
    packing = rng.choice(packings(cfg), count)
    few, mip = rng.random((2, count, 1)) < [[[0.9]], [[0.7]]], rng.integers(0, 16, (count, 1))
    near = (
        rng.integers(0, 16384, (count, 1)) + rng.integers(0, 2, shape) * (packing == THICK)[:, None]
    )
    return {
        "context": rng.integers(0, cfg.descriptor_entries, count),
        "code": code,
        "flush": flush,
        "tag": np.arange(count) % 65536,
        "first_lane": rng.integers(0, 4, count),
        "last": rng.integers(0, 2, count),
        "active": np.where(flush | (code != 0), 0, active),
        "linked": linked,
        "slab": rng.integers(0, 2, count),
        "done": rng.integers(0, 2, count),
        "packing": packing,
        "ramp": {
            "slope2": rng.integers(0, 256, (count, cfg.axes)),
            "offset": rng.integers(0, 128, (count, cfg.axes)),
        },
        "lane": {
            "x": texel[:, :, 0],
            "y": texel[:, :, 1],
            "x_touched": touched[:, :, 0],
            "y_touched": touched[:, :, 1],
            "fraction": rng.integers(0, 256, (*shape, cfg.axes)),
            "slice": np.where(few[0], near % 16384, rng.integers(0, 3, shape)),
            "mip": np.where(few[1], mip, mip ^ rng.integers(0, 2, shape)),
            "value": value,
        },
    }


def boxes(rng, count, cfg, *, words, apart):
    """MinMip of whole parts: each lane touches 1, 2 or 4 `words`, `apart` from the other lanes'.

    Those of one lane are in 1 or 2 rows and 1 or 2 columns of words.
    """
    beats = random_slabs(rng, count, cfg)
    zero = np.zeros((count, cfg.lanes), np.int64)
    number = np.arange(cfg.lanes) * apart
    corner = rng.integers(0, 100, (2, count, 1))
    rows, columns = {1: (1, 1), 2: (1, 2), 4: (2, 2)}[words]
    # The first row and column of a word of any kind.
    x = (16 * (corner[0] + 2 * number) + zero)[..., None] + [0, 16]
    y = (4 * corner[1] + zero)[..., None] + [0, 4]
    lane = beats["lane"] | {"x": x, "y": y, "slice": zero, "mip": zero}
    lane |= {"x_touched": zero + 2 * columns - 1, "y_touched": zero + 2 * rows - 1}
    same = np.zeros(count, np.int64)
    live = {"active": same + (1 << cfg.lanes) - 1, "linked": same + 2}
    return beats | live | {"code": same, "flush": same, "lane": lane}


def packings(cfg):
    """Kinds of memory words that a build has."""
    modes = cfg.swizzle_modes
    thick = cfg.volumes and modes & VOLUME_MODES - {0}
    return [
        *([ROWS] if any(mode & 3 != 2 for mode in modes) else []),
        *([D] if any(mode & 3 == 2 for mode in modes) else []),
        *([THICK] if thick else []),
    ]


def word_of(mip, slice_, y, x, packing, word_bytes):
    """Memory word of a texel, named by the first texel in it, and the texel's byte."""
    place, byte = {"x": x, "y": y, "z": slice_}, 0
    for n, (axis, bit) in enumerate(_word_bits(packing, word_bytes)):
        byte = byte | (place[axis] >> bit & 1) << n
        place[axis] = place[axis] & ~(1 << bit)
    return (mip, place["z"], place["y"], place["x"]), byte


def texel_of(word, byte, packing, word_bytes):
    """Texel of a byte of a memory word: the other way round."""
    mip, slice_, y, x = word
    (_, slice_, y, x), _ = word_of(mip, slice_, y, x, packing, word_bytes)
    place = {"x": x, "y": y, "z": slice_}
    for n, (axis, bit) in enumerate(_word_bits(packing, word_bytes)):
        place[axis] = place[axis] | (byte >> n & 1) << bit
    return mip, place["z"], place["y"], place["x"]


def _word_bits(packing, word_bytes):
    words = WORD_BITS[packing].split()[: word_bytes.bit_length() - 1]
    return [(word[0], int(word[1])) for word in words]


def grouped(beats, cfg):
    """The rule of emission, one beat at a time: beat of each group, and columns of `word_beat`.

    A lane joins while the group has four different words or fewer with it, else it leads the next
    group. Words are numbered as they come, and each is named by the first texel in it. What may be
    anything is 0; `value` and `rank` are left out.
    """
    lane, rows = beats["lane"], []
    columns = [lane[name].tolist() for name in ("mip", "slice", "y", "x")]
    touched = [lane[f"{axis}_touched"].tolist() for axis in ("y", "x")]
    for beat, (active, linked, packing) in enumerate(
        zip(*(beats[name].tolist() for name in ("active", "linked", "packing")), strict=True)
    ):
        groups = [_Group(cfg.lanes)]
        for number in range(cfg.lanes):
            if not active >> number & 1 or linked == 0:
                continue
            mip, slice_, y, x = (column[beat][number] for column in columns)
            mip = mip if linked == 1 else 0
            row, column = (part[beat][number] for part in touched)
            texels = {
                t: (mip, slice_, y[t >> 1], x[t & 1])
                for t in range(TEXELS)
                if row >> (t >> 1) & column >> (t & 1) & 1
            }
            places = {t: word_of(*texel, packing, cfg.word_bytes) for t, texel in texels.items()}
            if not groups[-1].joins(number, texels, places):
                groups.append(_Group(cfg.lanes))
                assert groups[-1].joins(number, texels, places)
        rows += [(beat, n == len(groups) - 1, *g.columns()) for n, g in enumerate(groups)]
    source, final, valid, texel, member, joins, slot, byte = (
        np.array(part) for part in zip(*rows, strict=True)
    )
    linked = beats["linked"][source]
    writes = (linked > 0) & (linked < 4) & valid.any(1)
    clean = (beats["code"][source] == 0) & (beats["flush"][source] == 0)
    ops = np.array([OPS.get(n, 0) for n in range(5)])
    return source, {
        **{name: beats[name][source] for name in HEAD},
        "last": beats["last"][source] & final,
        "read": (linked == 4) & clean,
        "op": np.where(writes, ops[linked], 0),
        "word": {"valid": valid}
        | {name: texel[..., n] for n, name in enumerate(("mip", "slice", "y", "x"))},
        "lane": {"member": member, "joins": joins, "slot": slot, "byte": byte},
        "kernel": {
            "first_lane": beats["first_lane"][source],
            "slab": beats["slab"][source],
            "done": beats["done"][source],
            "ramp": {name: part[source] for name, part in beats["ramp"].items()},
            "fraction": lane["fraction"][source],
        },
    }


class _Group:
    """Lanes and words of a group."""

    def __init__(self, lanes):
        self.words = {}
        self.texels = []
        self.lanes = [(0, 0, [0] * TEXELS, [0] * TEXELS) for _ in range(lanes)]

    def joins(self, number, texels, places):
        """Take a lane, if its texels fit."""
        new = {}
        for t, (word, _) in places.items():
            if word not in self.words:
                new.setdefault(word, texels[t])
        if len(self.words) + len(new) > 4:
            return False
        for word, texel in new.items():
            self.words[word] = len(self.words)
            self.texels.append(texel)
        slot = [self.words[places[t][0]] if t in places else 0 for t in range(TEXELS)]
        byte = [places[t][1] if t in places else 0 for t in range(TEXELS)]
        self.lanes[number] = (1, sum(1 << t for t in places), slot, byte)
        return True

    def columns(self):
        texels = self.texels + [(0, 0, 0, 0)] * (4 - len(self.texels))
        valid = [int(n < len(self.texels)) for n in range(4)]
        return (valid, texels, *map(list, zip(*self.lanes, strict=True)))
