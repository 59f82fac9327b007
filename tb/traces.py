"""Small traces made by hand: descriptors by meaning instead of by field, quads by list."""

import numpy as np

from minmip.sim.descriptor_words import S_FIELDS, S_WORDS, T_FIELDS, T_WORDS, pack
from minmip.sim.trace import FLAG_CLAMP, Trace

USED, MIN, MAX, READ = 1, 2, 3, 4
WRAP, MIRROR, CLAMP, MIRROR_ONCE, BORDER, MIRROR_ONCE_BORDER = 0, 1, 2, 3, 6, 7
POINT, LINEAR, ANISO_POINT, ANISO_LINEAR = range(4)


def image(
    size, *, kind=None, type=9, scales: tuple = (), view=(0, 0), mips=1, slices=(0, 0), **t: int
):
    """T# words; `kind` is the linked type or None, `mips` those of the map, `view` levels.

    `slices` is the view's (first, last); other fields by their names in spec 01.
    """
    width, height, depth = (*size, 1, 1)[:3]
    fields = {
        "WIDTH": width - 1,
        "HEIGHT": height - 1,
        "DEPTH": depth - 1 if type == 10 else slices[1],
        "BASE_ARRAY": slices[0],
        "TYPE": type,
        "BASE_LEVEL": view[0],
        "LAST_LEVEL": view[1],
        "MAX_MIP": mips - 1,
        "FORMAT": 5,
        "RESOURCE_LEVEL": 1,
        "SW_MODE": 1,
    }
    if kind is not None:
        names = ("WIDTH_SCALE", "HEIGHT_SCALE", "DEPTH_SCALE")
        fields |= {"LINKED_RESOURCE": 1, "LINKED_RESOURCE_TYPE": kind}
        fields |= dict(zip(names, (*scales, 0, 0, 0), strict=False))
    return pack(T_FIELDS, T_WORDS, **(fields | t))


def sampler(address=CLAMP, mag=POINT, min=POINT, mip=0, *, max_lod=4095, min_lod=0, **s):
    """S# words; one address mode for all axes; LODs and bias in 1/256; other fields by name."""
    fields = {
        "CLAMP_X": address,
        "CLAMP_Y": address,
        "CLAMP_Z": address,
        "XY_MAG_FILTER": mag,
        "XY_MIN_FILTER": min,
        "MIP_FILTER": mip,
        "MIN_LOD": min_lod,
        "MAX_LOD": max_lod,
    }
    return pack(S_FIELDS, S_WORDS, **(fields | s))


def per_lane(values, width, fill=0.0):
    """One value for all lanes or four -> float32 [4, width]."""
    array = np.full((4, width), fill, np.float32)
    values = np.asarray(values, np.float32)
    if values.ndim < 2:
        values = np.broadcast_to(np.atleast_1d(values), (4, np.atleast_1d(values).shape[0]))
    array[:, : values.shape[1]] = values
    return array


def trace(t, s, quads, memory: int | np.ndarray = 4096, fill=0, memory_base=0):
    """Trace from one T#, one S# and a list of dicts, one per quad.

    Keys: opcode, uvw (one for all lanes or four), and optionally ddx, ddy, lod, clamp, slice (one
    number for all lanes), exec_mask, helper_mask, flags. `memory` is a size or the bytes.
    """
    count = len(quads)
    if isinstance(memory, int):
        memory = np.full(memory, fill, np.uint8)

    def floats(name, width):
        return np.stack([per_lane(quad.get(name, 0.0), width) for quad in quads])

    def ints(name, default):
        return np.array([quad.get(name, default) for quad in quads], np.uint8)

    flags = ints("flags", 0) | np.array([FLAG_CLAMP * ("clamp" in q) for q in quads], np.uint8)
    return Trace(
        t_sharp=np.atleast_2d(t),
        s_sharp=np.atleast_2d(s),
        opcode=ints("opcode", 4),
        uvw=floats("uvw", 3),
        flags=flags,
        exec_mask=ints("exec_mask", 1),
        helper_mask=ints("helper_mask", 0),
        slice=floats("slice", 1).reshape(count, 4),
        ddx=floats("ddx", 3),
        ddy=floats("ddy", 3),
        lod=floats("lod", 1).reshape(count, 4),
        clamp=floats("clamp", 1).reshape(count, 4),
        memory_base=memory_base,
        memory=np.asarray(memory, np.uint8),
    )
