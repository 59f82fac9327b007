"""Parts of quads between mip choice and footprint: random ones, and what the golden model says.

Columns of beats are [beats] or, of lanes, [beats, lanes, ...]; `pair` [beats] says which of the
descriptor pairs a beat has.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from coordinate_vectors import golden_coordinates, random_coordinates, random_majors
from descriptor_vectors import MEMORY_BASE, MEMORY_BYTES, Pairs, golden_control, random_pairs

from minmip.hw.config import UnitConfig
from minmip.hw.footprint import CONTROL
from minmip.hw.shapes import context_index
from minmip.sim.golden.address import MapLayout
from minmip.sim.golden.coordinates import array_slice
from minmip.sim.golden.descriptor import (
    LINKED_FILTER,
    LINKED_OR,
    Image,
    Sampler,
    decode_image,
    decode_sampler,
    legality,
)
from minmip.sim.golden.lod import MipChoice, choose_mips
from minmip.sim.golden.minmip_filter import Kernel, filter_kernel
from minmip.sim.golden.numbers import bits_of, float_to_fixed
from minmip.sim.golden.pattern import Samples, sample_pattern
from minmip.sim.golden.rescale import footprint_grid, map_value

LANE_KEPT = ("uvw", "line", "slice", "taps_log2", "lod", "limited", "linear")
HEAD = ("context", "code", "flush", "tag", "first_lane")


@dataclass
class Descriptors:
    """Legal pairs, decoded, and their control fields by name."""

    image: Image
    sampler: Sampler
    layout: MapLayout
    control: dict


def legal_descriptors(
    cfg: UnitConfig,
    seed: int = 7,
    count: int = 1500,
    *,
    linked: Iterable[int] = range(LINKED_FILTER),
) -> Descriptors:
    """All legal ones among `count` random pairs of some linked types; 0 is a plain texture."""
    pairs = random_pairs(seed, count, modes=cfg.swizzle_modes)
    memory = MEMORY_BASE, MEMORY_BYTES
    image, _ = decode_image(pairs.image, cfg, *memory)
    code = legality(image, decode_sampler(pairs.sampler), np.zeros(count, np.int64))
    legal = np.flatnonzero((code == 0) & np.isin(image.linked, list(linked)))
    assert len(legal) > count // 20
    pairs = Pairs(pairs.image[legal], pairs.sampler[legal])
    control = golden_control(pairs, cfg, *memory)
    # A plain texture has no map, and may have a mode that the build does not know.
    control["mode"] = np.where(image.linked[legal] > 0, control["mode"], 0)
    return Descriptors(
        image.take(legal),
        decode_sampler(pairs.sampler),
        decode_image(pairs.image, cfg, *memory)[1],
        {name: control[name].astype(np.int64) for name in CONTROL},
    )


@dataclass
class Parts:
    """Random parts: columns of `mip_beat`, the pair of each, and `operand` [n, lanes], the slice
    as a float32 pattern."""

    columns: dict
    pair: np.ndarray
    operand: np.ndarray
    choice: MipChoice


def random_parts(rng, cfg: UnitConfig, descriptors: Descriptors, count: int) -> Parts:
    """Parts with any operands; all lanes of some have the same taps, or one mip only.

    Those of the MinMip filter have one tap and one mip, and the magnifying filter.
    """
    shape = (count, cfg.lanes)
    pair = rng.integers(0, len(descriptors.image.axes), count)
    each = np.repeat(pair, cfg.lanes)
    image, sampler = descriptors.image.take(each), descriptors.sampler.take(each)
    lod = np.where(
        rng.random(shape) < 0.5,
        rng.integers(-600, 16 * 256, shape),
        rng.integers(-1, 16, shape) * 128,
    )
    choice = choose_mips(lod.ravel(), image, sampler)
    filters = image.linked == LINKED_FILTER
    mip = image.base_level + choice.level
    grid = footprint_grid(image, mip)[:, : cfg.axes]
    operand = _slice_operands(rng, shape)
    fixed = float_to_fixed(operand, 0, 0, (1 << 14) - 1)
    taps_log2 = rng.choice(np.array([0, 0, 0, 1, 2, 3, 4]), shape)
    same = rng.random(count) < 0.6
    taps_log2[same] = taps_log2[same, :1]
    taps_log2[filters.reshape(shape)] = 0
    live = rng.integers(0, 1 << cfg.lanes, count)
    lane = {
        "uvw": random_coordinates(rng, grid, rng.integers(0, 9, grid.shape)),
        "line": random_majors(rng, grid[:, :2]),
        "limited": choice.limited,
        "mip": mip,
        "linear": np.where(filters, sampler.mag_filter & 1 == 1, choice.linear),
        "second": choice.second & (image.linked <= LINKED_OR),
    }
    columns = {
        "context": rng.integers(0, 1 << context_index(cfg).width, count),
        "code": rng.integers(0, 32, count),
        "flush": rng.integers(0, 2, count),
        "tag": rng.integers(0, 1 << 16, count),
        "first_lane": rng.integers(0, 4, count),
        "last_part": rng.integers(0, 2, count),
        "live": np.where(rng.random(count) < 0.6, (1 << cfg.lanes) - 1, live),
        "lane": {name: column.reshape(*shape, *column.shape[1:]) for name, column in lane.items()}
        | {"slice": fixed, "taps_log2": taps_log2, "lod": lod},
    }
    return Parts(columns, pair, operand, choice)


def lane_bits(bits: np.ndarray, cfg: UnitConfig) -> np.ndarray:
    """Bits of a lane mask [n], bool [n, lanes]."""
    return bits[:, None] >> np.arange(cfg.lanes) & 1 == 1


def golden_pattern(
    parts: Parts, descriptors: Descriptors, part: np.ndarray, lane: np.ndarray, **sampler
) -> Samples:
    """Sample pattern of lanes of parts; `sampler` are fields to put in place of the real ones."""
    lanes = parts.operand.shape[1]
    row = part * lanes + lane
    of_lane = {name: column[part, lane] for name, column in parts.columns["lane"].items()}
    image = descriptors.image.take(parts.pair[part])
    choice = {name: column[row] for name, column in vars(parts.choice).items()}
    uvw = np.zeros((len(row), 3), np.int64)
    uvw[:, : of_lane["uvw"].shape[1]] = of_lane["uvw"]
    return sample_pattern(
        uvw,
        array_slice(parts.operand.ravel()[row], image),
        of_lane["line"],
        of_lane["taps_log2"],
        MipChoice(**choice),
        image,
        replace(descriptors.sampler.take(parts.pair[part]), **sampler),
    )


def golden_kernel(
    parts: Parts, descriptors: Descriptors, part: np.ndarray, lane: np.ndarray
) -> Kernel:
    """Corners and weights of the MinMip filter, of lanes of parts."""
    pair = parts.pair[part]
    image = descriptors.image.take(pair)
    coordinates = parts.columns["lane"]["uvw"][part, lane]
    uvw = np.zeros((len(part), 3), np.int64)
    uvw[:, : coordinates.shape[1]] = coordinates
    return filter_kernel(
        uvw,
        array_slice(parts.operand[part, lane], image),
        pair,
        image,
        descriptors.sampler.take(pair),
        descriptors.layout,
    )


def golden_samples(parts, descriptors, part, lane) -> np.ndarray:
    """Rows of `samples_of`, as the golden model has them."""
    found = golden_pattern(parts, descriptors, part, lane)
    places = ("tap", "slot", "corner", "x", "y", "z", "mip", "weight")
    rows = [part[found.lane], lane[found.lane], *(getattr(found, name) for name in places)]
    return _sorted(np.stack(rows, axis=1))


def samples_of(
    footprints: dict, part: np.ndarray, volume: np.ndarray, cfg: UnitConfig
) -> np.ndarray:
    """Texel samples of footprint beats: rows of part, lane, tap, slot, corner, x, y, z, mip and
    weight, in this order. `volume` says which beats have a depth and no slice."""
    beat, lane = np.nonzero(lane_bits(footprints["active"], cfg))
    slices, mip = (footprints["lane"][name][beat, lane] for name in ("slice", "mip"))
    axis = {name: column[beat, lane] for name, column in footprints["lane"]["axis"].items()}
    sides = np.stack([256 - axis["weight"], axis["weight"]], axis=-1)
    place = [part[beat], lane, footprints["tap"][beat], footprints["slot"][beat]]
    rows = []
    for corner in range(1 << cfg.axes):
        side = [corner >> n & 1 for n in range(cfg.axes)]
        hit = np.all([axis["touched"][:, n, s] for n, s in enumerate(side)], axis=0)
        texel = [axis["texel"][:, n, s] for n, s in enumerate(side)]
        weight = sides[:, 0, side[0]] * sides[:, 1, side[1]]
        if cfg.axes > 2:
            weight = weight * sides[:, 2, side[2]] >> 8
        z = np.where(volume[beat], texel[-1], slices)
        columns = [*place, np.full_like(beat, corner), texel[0], texel[1], z, mip, weight]
        rows.append(np.stack(columns, axis=1)[hit])
    return _sorted(np.concatenate(rows))


def _sorted(rows: np.ndarray) -> np.ndarray:
    return rows[np.lexsort(rows.T[::-1])]


def _slice_operands(rng, shape):
    """float32 patterns of slices: whole, half-way, huge, any."""
    near = bits_of((rng.integers(-2, 24, shape) / 2).astype(np.float32))
    far = bits_of(rng.uniform(-3, 17000, shape).astype(np.float32))
    kind = rng.integers(0, 4, shape)
    return np.select([kind < 2, kind == 2], [near, far], rng.integers(0, 1 << 32, shape))


def walk(parts: dict) -> dict:
    """Visit taps and mips of parts, in words: columns `part`, `tap`, `slot`, `active` by beat."""
    live, lane = parts["live"].tolist(), parts["lane"]
    rows = []
    for part, (bits, logs, seconds) in enumerate(
        zip(live, lane["taps_log2"].tolist(), lane["second"].tolist(), strict=True)
    ):
        lanes = [n for n in range(len(logs)) if bits >> n & 1]
        first = len(rows)
        for tap in range(max((2 ** logs[n] for n in lanes), default=0)):
            for slot in (0, 1):
                found = [n for n in lanes if tap < 2 ** logs[n] and (slot == 0 or seconds[n])]
                if found:
                    rows.append((part, tap, slot, sum(1 << n for n in found)))
        if len(rows) == first:
            rows.append((part, 0, 0, 0))
    return dict(zip(("part", "tap", "slot", "active"), np.array(rows).T, strict=True))


def tap_columns(parts: dict, beats: dict) -> dict:
    """Columns of `tap_beat` for the beats of `walk`."""
    part, slot = beats["part"], beats["slot"]
    lane = {name: column[part] for name, column in parts["lane"].items()}
    final = np.append(np.diff(part) > 0, True)
    return (
        {name: parts[name][part] for name in HEAD}
        | {name: beats[name] for name in ("tap", "slot", "active")}
        | {"last": final & (parts["last_part"][part] == 1)}
        | {
            "lane": {name: lane[name] for name in LANE_KEPT}
            | {"mip": lane["mip"] + (slot[:, None] & lane["second"])}
        }
    )


def footprint_requests(taps: dict, descriptors: Descriptors, pair: np.ndarray) -> dict:
    """Columns of `footprint_request`. What the control says of missing slices must not matter."""
    control = {name: column[pair] for name, column in descriptors.control.items()}
    idle = np.arange(len(pair)) % (1 << 14)
    control["last_slice"] = np.where(control["is_array"], control["last_slice"], idle)
    return {"beat": taps, "control": control}


def golden_footprints(
    cfg: UnitConfig, taps: dict, descriptors: Descriptors, pair: np.ndarray, operand: np.ndarray
) -> dict:
    """Columns of `footprint_beat`; every lane must have the tap."""
    lane, shape = taps["lane"], taps["lane"]["mip"].shape
    each = np.repeat(pair, cfg.lanes)
    image, sampler = descriptors.image.take(each), descriptors.sampler.take(each)
    flat = {name: column.reshape(-1, *column.shape[2:]) for name, column in lane.items()}
    line, linear = np.zeros_like(flat["uvw"]), np.empty_like(flat["uvw"])
    line[:, :2] = flat["line"]
    linear[:] = flat["linear"][:, None]
    filters = image.linked == LINKED_FILTER
    linear[:, 2:] = np.where(filters, flat["linear"], sampler.z_linear)[:, None]
    requests = {
        "axis": {
            "coordinate": flat["uvw"],
            "major": line,
            "size": footprint_grid(image, flat["mip"])[:, : cfg.axes],
            "mode": sampler.clamp[:, : cfg.axes],
            "linear": linear,
            "filter": np.repeat(filters[:, None], cfg.axes, axis=1),
        },
        "tap": np.repeat(taps["tap"], cfg.lanes),
        "taps_log2": flat["taps_log2"],
        "truncate": sampler.trunc_coord,
        "tag": each,
    }
    axis = golden_coordinates(requests)["axis"]
    unused = image.axes[:, None] <= np.arange(cfg.axes)
    axis["texel"][unused] = 0
    axis["touched"][unused] = (1, 0)
    axis["weight"][unused] = 0
    kept = (*HEAD, "tap", "slot", "last", "active")
    control = {name: column[pair] for name, column in descriptors.control.items()}
    # Fields V are those of a volume's w.
    second = (np.arange(cfg.axes) == 2) | (
        (np.arange(cfg.axes) == 1) & (control["axes"] == 2)[:, None]
    )
    return {name: taps[name] for name in kept} | {
        "linked": control["linked"],
        "packing": np.where(
            control["mode"] & 3 == 2, 1, 2 * ((control["mode"] > 0) & control["volume"])
        ),
        "ramp": {
            name: np.where(second, control[field][:, 1:], control[field][:, :1])
            for name, field in (("slope2", "filter_slope2"), ("offset", "filter_offset"))
        },
        "lane": {
            "axis": {
                name: column.reshape(*shape, *column.shape[1:]) for name, column in axis.items()
            },
            "slice": array_slice(operand.ravel(), image).reshape(shape),
            "value": map_value(flat["limited"], image).reshape(shape),
            "mip": lane["mip"],
            "lod": lane["lod"],
        },
    }
