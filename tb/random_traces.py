"""Random traces over the whole input space, biased towards the places where rules meet.

One generator serves two drivers: a seeded `random.Random` for bulk runs, and the shrinkable one
that hypothesis hands out (`strategies.py`).
"""

import math
import random

import numpy as np
from random_descriptors import TYPES, chance, image_words, map_views, sampler_words
from random_floats import coordinates, gradient_pair, level, slice_operand
from reference.words import decode_image

from minmip.hw.config import FULL
from minmip.sim.trace import (
    FLAG_CLAMP,
    FLAG_GATHER,
    FLAG_OFFSET,
    SAMPLE_B,
    SAMPLE_D,
    SAMPLE_L,
    Trace,
)

KINDS = (
    *("mixed", "feedback", "used", "min", "max", "read", "plain", "anisotropic"),
    *("volumes", "hazards"),
)
_LINKED_TYPES = {  # None is a plain request
    "mixed": (1, 2, 3, 4, None),
    "feedback": (1, 2, 3),
    "used": (1,),
    "min": (2,),
    "max": (3,),
    "read": (2, 4, 4, 4),
    "plain": (None,),
    "anisotropic": (1, 2, None),
    "volumes": (1, 2, 3, 4, 4, None),
}
_MEMORIES = (4096, 16384, 16384, 65536, 1280)
_LARGE_MEMORIES = (1280, 4096, 16384, 65536, 1 << 17, 1 << 18)  # for blocks of 64 KB
_MASKS = ("opcode", "flags", "exec_mask", "helper_mask")
_FLOATS = ("uvw", "ddx", "ddy", "lod", "clamp", "slice")


def random_quad(r, grids, texels):
    """One request; `grids` are sizes whose ties are worth hitting, `texels` those of mip 0."""
    opcode = r.randint(0, 4)
    flags = FLAG_CLAMP if chance(r, 0.2) else 0
    flags |= r.choice([FLAG_OFFSET, FLAG_GATHER]) if chance(r, 0.04) else 0
    # Operands that the request does not read are left out, which keeps hypothesis' examples small.
    pairs = [([math.nan] * 3, [1.0] * 3)] * 4
    if opcode == SAMPLE_D:
        pairs = lanes(r, lambda: gradient_pair(r, texels))
    uvw = coordinates(r, grids, texels)
    bias = lanes(r, lambda: level(r)) if opcode in (SAMPLE_B, SAMPLE_L) else [3.0] * 4
    if opcode == SAMPLE_B and chance(r, 0.15):  # only a huge bias shows that none is added
        uvw, bias = [uvw[0]] * 4, [r.choice([math.inf, 128.0, r.uniform(96, 128)])] * 4
    return {
        "opcode": opcode,
        "flags": flags,
        "exec_mask": r.choice([15, 15, 15, r.randint(0, 15)]),
        "helper_mask": r.choice([0, 0, 0, r.randint(0, 15)]),
        "uvw": uvw,
        "ddx": [pair[0] for pair in pairs],
        "ddy": [pair[1] for pair in pairs],
        "lod": bias,
        "clamp": lanes(r, lambda: level(r)) if flags & FLAG_CLAMP else [5.0] * 4,
        "slice": lanes(r, lambda: slice_operand(r)),
    }


def lanes(r, draw):
    """One value for the quad, or four."""
    return [draw()] * 4 if chance(r, 0.4) else [draw() for _ in range(4)]


def random_trace(rng, quads, kind="mixed", modes=FULL.swizzle_modes):
    """A trace of `quads` requests on a few dozen descriptors that share a small memory.

    `rng` is a numpy Generator or a random.Random; `kind` is one of KINDS; `modes` are the swizzle
    modes of the build.
    """
    r = rng if isinstance(rng, random.Random) else random.Random(int(rng.integers(1 << 62)))
    memory_size = r.choice(_LARGE_MEMORIES if max(modes) > 8 else _MEMORIES)
    memory_base = r.choice([0, 0, 256, r.randint(0, 1 << 20) << 8, ((1 << 40) - 16) << 8])
    if kind == "hazards":
        images = map_views(r, memory_base, memory_size, modes)
        samplers = [sampler_words(r, faults=0.02) for _ in images]
        t_index = [r.randrange(len(images)) for _ in range(quads)]
        s_index = t_index  # few pairs: hardly a wait for descriptors between two quads
    else:
        anisotropic = kind == "anisotropic"
        types = {"anisotropic": (9, 9, 13), "volumes": (10,)}.get(kind, TYPES)
        images, samplers = [], []
        for _ in range(max(2, quads // 6)):
            linked = r.choice(_LINKED_TYPES[kind])
            images.append(image_words(r, linked, memory_base, memory_size, types, modes))
            samplers.append(sampler_words(r, anisotropic))
        t_index = [r.randrange(len(images)) for _ in range(quads)]
        s_index = [r.randrange(len(samplers)) for _ in range(quads)]
    requests = [random_quad(r, *sizes_of(decode_image(images[t]))) for t in t_index]
    if kind == "hazards":
        # A quad often comes back to where one of the last few was.
        for n in range(1, quads):
            if chance(r, 0.7):
                requests[n]["uvw"] = requests[max(0, n - r.randint(1, 6))]["uvw"]
    memory = np.random.default_rng(r.getrandbits(32)).integers(0, 256, memory_size, np.uint8)
    if kind not in ("read", "hazards") and chance(r, 0.5):
        memory = np.full(memory_size, r.choice([0, 0xFF]), np.uint8)
    masks = {name: np.array([quad[name] for quad in requests], np.uint8) for name in _MASKS}
    floats = {name: to_float32([quad[name] for quad in requests]) for name in _FLOATS}
    return Trace(
        t_sharp=np.stack(images),
        s_sharp=np.stack(samplers),
        t_index=np.array(t_index, np.uint32),
        s_index=np.array(s_index, np.uint32),
        memory_base=memory_base,
        memory=memory,
        meta={},
        **masks,
        **floats,
    )


def sizes_of(image):
    """(grids a footprint may be taken in, per axis; texels of the view's first mip, per axis)."""
    size = (image.width, image.height, image.depth + 1)
    grids = []
    for n, s in zip(size, image.scales, strict=True):
        mip = image.base_level
        m = max(1, n >> s)
        grids.append((n, max(1, n >> mip), m, max(1, m >> mip)))
    return grids, [max(1, n >> image.base_level) for n in size]


def to_float32(nested):
    """Round to float32; what is too large becomes infinite."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        return np.array(nested, np.float64).astype(np.float32)
