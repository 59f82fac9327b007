"""Footprint beats for the combine stage, and what it makes of them in plain Python (spec 03)."""

from __future__ import annotations

import numpy as np

from minmip.hw.shapes import MemoryOp

__all__ = ["masked_data", "random_footprints", "scattered_footprints", "texels", "word_beats"]

OPS = {0: MemoryOp.OR, 1: MemoryOp.OR, 2: MemoryOp.MIN, 3: MemoryOp.MAX}
"""By linked type; a plain beat has no word, so its operation is looked at by nobody."""


def random_footprints(rng, count, cfg):
    """Lanes near one another: in one texel, beside it, at the borders of words, or far away.

    Mips, slices and values are few, so that they meet; some beats have nothing to write.
    """
    lanes = cfg.lanes
    shape = (count, lanes)
    spread = rng.choice([1, 2, 4, 40, 16384], (count, 1, 1))
    start = rng.choice([0, 14, 15, 16, 7, 16383, 1000], (count, 1, 2)) * rng.integers(
        0, 2, (count, 1, 2)
    )
    first = (start + rng.integers(0, 1 << 30, (*shape, 2)) % spread) % 16384
    # The second texel is the next one, the same (clamp, mirror), or the first of the row (wrap).
    second = np.choose(rng.integers(0, 8, (*shape, 2)) % 6, [first, 0 * first, *[first + 1] * 4])
    texel = np.stack([first, second % 16384], -1)
    texel = np.where(rng.random((*shape, 2, 1)) < 0.1, texel[..., ::-1], texel)
    touched = rng.choice([1, 2, 3, 3, 3], (*shape, 2))[..., None] >> np.arange(2) & 1
    linked = rng.integers(0, 4, count)
    flush = rng.random(count) < 0.02
    code = np.where(rng.random(count) < 0.05, rng.integers(1, 32, count), 0)
    active = np.where(rng.random(count) < 0.5, (1 << lanes) - 1, rng.integers(0, 1 << lanes, count))
    axes = np.zeros((*shape, cfg.axes, 2), np.int64)
    touches = np.zeros_like(axes)
    touches[..., 2:, 0] = 1
    axes[:, :, :2], touches[:, :, :2] = texel * touched, touched
    value = rng.integers(0, 256, shape)
    value = np.where(rng.random((count, 1)) < 0.3, value % 3 * 127, value)
    value = np.where(linked[:, None] == 1, 1, value)  # the flag of MipRegionUsed
    few = rng.random((2, count, 1)) < 0.9
    return {
        "context": rng.integers(0, cfg.descriptor_entries, count),
        "code": code,
        "flush": flush,
        "tag": np.arange(count) % 65536,
        "first_lane": np.zeros(count, np.int64),
        "tap": rng.integers(0, 16, count),
        "slot": rng.integers(0, 2, count),
        "last": rng.integers(0, 2, count),
        "active": np.where(flush | (code != 0), 0, active),
        "linked": linked,
        "lane": {
            "axis": {
                "texel": axes,
                "touched": touches,
                "weight": rng.integers(0, 256, (*shape, cfg.axes)),
            },
            "slice": np.where(
                few[0], rng.integers(0, 16384, (count, 1)), rng.integers(0, 3, shape)
            ),
            "mip": np.where(few[1], rng.integers(0, 16, (count, 1)), rng.integers(0, 16, shape)),
            "lod": rng.integers(-32768, 32768, shape),
            "value": value,
        },
    }


def scattered_footprints(rng, count, cfg, *, distance):
    """MinMip of whole quads: lane n is `distance` * n rows lower, with 2 x 2 texels."""
    beats = random_footprints(rng, count, cfg)
    zero = np.zeros((count, cfg.lanes), np.int64)
    texel = np.zeros((count, cfg.lanes, cfg.axes, 2), np.int64)
    corner = rng.integers(0, 8000, (2, count, 1))
    texel[:, :, 0] = (corner[0] + zero)[..., None] + [0, 1]
    texel[:, :, 1] = (corner[1] + distance * np.arange(cfg.lanes))[..., None] + [0, 1]
    lane = beats["lane"] | {"slice": zero, "mip": zero}
    lane["axis"] = lane["axis"] | {"texel": texel, "touched": np.ones_like(texel)}
    same = np.zeros(count, np.int64)
    live = {"active": same + (1 << cfg.lanes) - 1, "linked": same + 2}
    return beats | live | {"code": same, "flush": same, "lane": lane}


def texels(beats, lanes):
    """Every texel that is written: int64 columns beat, lane, row, column, mip, slice, y, x, value.

    In the order of beats and lanes, row 0 first.
    """
    axis, lane = beats["lane"]["axis"], beats["lane"]
    live = (beats["active"][:, None] >> np.arange(lanes) & 1) * (beats["linked"] != 0)[:, None]
    touched = axis["touched"][:, :, 1, :, None] & axis["touched"][:, :, 0, None, :]
    beat, number, row, column = np.nonzero(touched * live[..., None, None])
    mip = np.where(beats["linked"][:, None] == 1, lane["mip"], 0)
    return np.stack(
        [
            beat,
            number,
            row,
            column,
            mip[beat, number],
            lane["slice"][beat, number],
            axis["texel"][beat, number, 1, row],
            axis["texel"][beat, number, 0, column],
            lane["value"][beat, number],
        ]
    )


def word_beats(beats, cfg):
    """The rule of emission, one beat at a time: columns of `word_beat`.

    The first lane with a texel that has not left leads. Its words are tried in their order, and
    each takes every such texel that lies in it. Data without a mask bit is 0, and so are the words
    and the place of a beat that writes nothing.
    """
    count = len(beats["tag"])
    of_beat = [[] for _ in range(count)]
    for beat, *texel in texels(beats, cfg.lanes).T.tolist():
        of_beat[beat].append(texel)
    rows = []
    for beat, waiting in enumerate(of_beat):
        linked = int(beats["linked"][beat])
        merge = {1: lambda a, b: a | b, 2: min, 3: max}.get(linked)
        groups = []
        while waiting:
            group, waiting = _leave(waiting, cfg, merge)
            groups.append(group)
        groups = groups or [_nothing(cfg)]
        for n, group in enumerate(groups):
            rows.append((beat, n == len(groups) - 1, *group))
    source, final, place, valid, mask, data = (np.array(part) for part in zip(*rows, strict=True))
    head = {name: beats[name][source] for name in ("context", "code", "flush", "tag")}
    ops = np.array([OPS[linked] for linked in range(4)])
    lane = beats["lane"]["axis"]["texel"]
    nothing = ~valid.any(1)
    leader = place[:, 2]
    return head | {
        "last": beats["last"][source] & final,
        "op": ops[beats["linked"][source]],
        "mip": place[:, 0],
        "slice": place[:, 1],
        "x": np.where(nothing[:, None], 0, lane[source, leader, 0]),
        "y": np.where(nothing[:, None], 0, lane[source, leader, 1]),
        "word": {"valid": valid, "mask": mask, "data": data},
    }


def masked_data(columns):
    """Words with 0 where the data has no mask, and may be anything."""
    word = columns["word"]
    shown = word["mask"][..., None] >> np.arange(word["data"].shape[-1]) & 1
    return columns | {"word": word | {"data": word["data"] * shown}}


def _leave(waiting, cfg, merge):
    """The next group, and the texels that stay."""
    leader = waiting[0][0]
    own = {(row, column): key for lane, row, column, *key, _ in waiting if lane == leader}
    place = (*next(iter(own.values()))[:2], leader)
    valid, mask = [0] * 4, [0] * 4
    data = [[0] * cfg.word_bytes for _ in range(4)]
    for (row, column), (mip, slice_, y, x) in sorted(own.items()):
        word, stay = 2 * row + column, []
        for texel in waiting:
            *_, value = texel
            their_mip, their_slice, their_y, their_x = texel[3:7]
            if (their_mip, their_slice, their_y) != (mip, slice_, y) or (
                their_x // cfg.word_bytes != x // cfg.word_bytes
            ):
                stay.append(texel)
                continue
            byte = their_x % cfg.word_bytes
            old = data[word][byte] if mask[word] >> byte & 1 else value
            data[word][byte] = merge(old, value)
            mask[word] |= 1 << byte
            valid[word] = 1
        waiting = stay
    return (place, valid, mask, data), waiting


def _nothing(cfg):
    return (0, 0, 0), [0] * 4, [0] * 4, [[0] * cfg.word_bytes] * 4
