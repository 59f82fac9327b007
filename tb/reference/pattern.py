"""Spec 02 and 08: what one lane of a request samples, and the rows a plain request answers."""

from dataclasses import dataclass

from reference import lod as lods
from reference.footprint import footprint, major_component, request_coordinate, tap_coordinate
from reference.numbers import slice_index, subtract, to_lod

SAMPLE, SAMPLE_B, SAMPLE_D, SAMPLE_L, SAMPLE_LZ = range(5)


@dataclass(frozen=True)
class Quad:
    """One request. Lane lists have 4 entries; floats are float32 bits."""

    opcode: int
    flags: int
    live: tuple  # per lane: exec and not helper
    uvw: tuple
    slices: tuple
    ddx: tuple
    ddy: tuple
    lod: tuple
    clamp: tuple


@dataclass(frozen=True)
class LaneSample:
    """What one lane asks for, before any grid of texels is chosen."""

    lod: int  # after the clamps, before the limit to the view
    limited: int  # limited to 0 .. last level
    levels: list  # view levels
    linear: tuple  # per used axis
    taps: list  # positions per used axis, in 2^-37
    slice: int


def quad_gradients(quad, lane, axes):
    """The lane's gradients as float32 bits, or None when the level is given."""
    if quad.opcode == SAMPLE_D:
        return quad.ddx[lane][:axes], quad.ddy[lane][:axes]
    if quad.opcode in (SAMPLE, SAMPLE_B):
        u0, u1, u2 = (quad.uvw[i][:axes] for i in range(3))
        ddx = tuple(subtract(b, a) for a, b in zip(u0, u1, strict=True))
        ddy = tuple(subtract(b, a) for a, b in zip(u0, u2, strict=True))
        return ddx, ddy
    return None


def sample_lane(quad, lane, image, sampler):
    """LOD, filters, taps and slice of one lane."""
    axes = image.axes
    pair = quad_gradients(quad, lane, axes)
    if pair is not None:
        gradients = lods.from_gradients(*pair, image, sampler)
    else:
        level = to_lod(quad.lod[lane]) if quad.opcode == SAMPLE_L else 0
        gradients = lods.Gradients(level, 1, (0,) * axes)
    lod = lods.clamp_lod(
        gradients.lod,
        quad.lod[lane] if quad.opcode == SAMPLE_B else None,
        quad.clamp[lane] if quad.flags & 1 else None,
        image,
        sampler,
    )
    limited = lods.limit_to_view(lod, image)
    xy_filter = sampler.mag_filter if lod <= 0 else sampler.min_filter
    xy_linear = xy_filter & 1 == 1
    return LaneSample(
        lod=lod,
        limited=limited,
        levels=lods.levels(limited, image, sampler),
        linear=(xy_linear, xy_linear, sampler.z_linear)[:axes],
        taps=tap_positions(quad.uvw[lane][:axes], gradients, sampler),
        slice=slice_index(quad.slices[lane], image),
    )


def tap_positions(uvw, gradients, sampler):
    """Normalised position of every tap on every used axis."""
    n = gradients.taps
    coordinates = [request_coordinate(c, sampler.clamp[axis]) for axis, c in enumerate(uvw)]
    # One tap sits on the coordinate itself; a major axis that is not a number is never used.
    major = [major_component(c) for c in gradients.major] if n > 1 else [0] * len(coordinates)
    return [
        tuple(tap_coordinate(c, m, tap, n) for c, m in zip(coordinates, major, strict=True))
        for tap in range(n)
    ]


def row_weight(weights, axes):
    """Weight of a pattern row, 65536 = full."""
    wx, wy, wz = weights
    if axes == 1:
        return wx * 256
    if axes == 2:
        return wx * wy
    return wx * wy * wz // 256


def pattern_rows(quad, image, sampler):
    """Rows (lane, mip, x, y, z, weight, lod) of a plain request, by lane, tap, mip, z, y, x."""
    rows = []
    for lane in range(4):
        if not quad.live[lane]:
            continue
        sample = sample_lane(quad, lane, image, sampler)
        for position in sample.taps:
            for level in sample.levels:
                mip = image.base_level + level
                dims = [max(1, n >> mip) for n in image.size]
                for (x, y, z), weights in footprint(position, dims, sample.linear, sampler):
                    depth = z if image.axes == 3 else sample.slice
                    weight = row_weight(weights, image.axes)
                    rows.append((lane, mip, x, y, depth, weight, sample.lod))
    return rows
