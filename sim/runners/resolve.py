"""Parts of maps through the resolve engine of a simulated unit (spec 06 "Resolve")."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from minmip.hw.config import UnitConfig
from minmip.hw.resolve_shapes import resolve_request, run_bytes, run_texels
from minmip.hw.swizzle import NO_SLOT
from minmip.sim.golden.resolve import MapPart
from minmip.sim.runners.unit_beats import words_of
from minmip.sim.runners.verilate import RunnerError
from minmip.sim.runners.verilator import Model, Traffic

__all__ = ["request_columns", "run_parts", "runs_of_texels", "texels_of_runs"]


class SimulatedUnit(Protocol):
    """What `run_parts` needs of a `VerilatedUnit`."""

    cfg: UnitConfig
    model: Model
    traffic: Traffic
    seed: int

    def reset(self, memory: np.ndarray, base: int, limit: int) -> None:
        """Reset the unit, with `memory` between two blocks of 256 bytes."""
        ...


def run_parts(
    unit: SimulatedUnit, memory: np.ndarray, base: int, parts: list[MapPart]
) -> list[tuple[np.ndarray | None, bool]]:
    """Decode and encode parts of maps on the resolve engine of a unit, which is reset first.

    Parameters and result are those of `sim.golden.resolve.resolve`; `base` is a multiple of 256.

    Raises
    ------
    RunnerError
        When the memory is too large, or the engine does not answer.
    """
    cfg = unit.cfg
    if len(memory) > cfg.memory_bytes:
        raise RunnerError(
            f"there are {len(memory)} bytes of map memory, the simulated unit holds up to "
            f"{cfg.memory_bytes}"
        )
    served = np.pad(memory, (0, -len(memory) % 256))
    unit.reset(served, base // 256, (base + len(served)) // 256)
    requests = [_requests(part, cfg) for part in parts]
    runs = [runs_of_texels(part, cfg) for part in parts]
    decode = [part.texels is None for part in parts]
    come = [len(beats) for beats, one in zip(runs, decode, strict=True) if one]
    taken = [beats for beats, one in zip(runs, decode, strict=True) if not one]
    lanes = np.concatenate([np.zeros((0, run_bytes(cfg)), np.uint8), *taken])
    due = {"o_resolve": sum(map(len, requests)), "o_texels": sum(come)}
    found = unit.model.run(
        {"i_resolve": np.concatenate(requests), "i_texels": lanes.view("<u4")},
        due,
        traffic=unit.traffic,
        seed=unit.seed,
    )
    if any(found.given[name] != count for name, count in due.items()):
        raise RunnerError(
            f"the resolve engine answered {found.given['o_resolve']} of {due['o_resolve']} "
            f"requests and gave {found.given['o_texels']} of {due['o_texels']} runs of texels"
        )
    memory[:] = served[: len(memory)]
    decoded = iter(np.split(_texels(found.results["o_texels"], cfg), np.cumsum(come)))
    errors = np.split(found.results["o_resolve"][:, 0] & 1, np.cumsum([*map(len, requests)]))
    return [
        (texels_of_runs(next(decoded), part, cfg) if one else None, bool(error.any()))
        for part, one, error in zip(parts, decode, errors, strict=False)
    ]


def _texels(rows: np.ndarray, cfg: UnitConfig) -> np.ndarray:
    """Texels of packed runs, 0 beside the mask: uint8 [runs, run_bytes]."""
    lanes = run_bytes(cfg)
    texels = np.ascontiguousarray(rows, "<u4").view(np.uint8)[:, :lanes]
    masks = rows[:, lanes // 4, None] >> np.arange(lanes, dtype=np.uint32) & 1
    return texels * masks.astype(np.uint8)


def _requests(part: MapPart, cfg: UnitConfig) -> np.ndarray:
    """Packed requests for each slice of a part: uint32 [slices, words]."""
    layout: Any = resolve_request(cfg)
    columns = request_columns(part)
    words = words_of(layout)
    raw = b"".join(
        layout.const({name: int(value[n]) for name, value in columns.items()})
        .as_value()
        .value.to_bytes(4 * words, "little")
        for n in range(part.size[2])
    )
    return np.frombuffer(raw, "<u4").reshape(-1, words).astype(np.uint32)


def request_columns(part: MapPart) -> dict[str, Any]:
    """Fields of `resolve_request` for each slice of a part."""
    layout, mip = part.layout, part.mip
    kind, first_tail = layout.kind[0], layout.first_tail[0]
    block, box = layout.blocks.bytes_log2[kind], layout.blocks.log2[kind, 0]
    one = {
        "base": layout.base[0] + layout.flip[0] >> 8,
        "chain": layout.chain_bytes[0] >> block,
        "offset": layout.offset[0, mip] >> block,
        "columns": (layout.pitch[0, 0] >> box) - 1 >> mip,
        "slot": mip - first_tail if mip >= first_tail else NO_SLOT,
        "mode": layout.sw_mode[0],
        "volume": layout.volume[0],
        "kind": part.kind,
        "encode": part.texels is not None,
        "x": part.corner[0],
        "y": part.corner[1],
        "width": part.size[0],
        "height": part.size[1],
    }
    slices = part.corner[2] + np.arange(part.size[2])
    columns = {name: np.full(len(slices), int(value)) for name, value in one.items()}
    return columns | {"z": slices, "tag": slices % 256}


def _runs(part: MapPart, cfg: UnitConfig) -> tuple[int, int, int, int]:
    """Texels of a run; texels of the first run of a row in front of the part; runs; rows."""
    layout = part.layout
    texels = run_texels(cfg, (int(layout.sw_mode[0]), bool(layout.volume[0])))
    before = part.corner[0] % texels
    return texels, before, -(-(before + part.size[0]) // texels), part.size[1] * part.size[2]


def runs_of_texels(part: MapPart, cfg: UnitConfig) -> np.ndarray:
    """Beats that a part takes, when it encodes, or gives: uint8 [runs, run_bytes]; 0 where none."""
    texels, before, runs, rows = _runs(part, cfg)
    if not all(part.size):
        return np.zeros((0, run_bytes(cfg)), np.uint8)
    padded = np.zeros((rows, runs * texels), np.uint8)
    if part.texels is not None:
        padded[:, before : before + part.size[0]] = part.texels.reshape(rows, -1)
    beats = np.zeros((rows * runs, run_bytes(cfg)), np.uint8)
    beats[:, :texels] = padded.reshape(-1, texels)
    return beats


def texels_of_runs(beats: np.ndarray, part: MapPart, cfg: UnitConfig) -> np.ndarray:
    """Inverse of `runs_of_texels`: uint8 [slices, height, width]."""
    texels, before, runs, rows = _runs(part, cfg)
    if not all(part.size):
        return np.zeros(part.size[::-1], np.uint8)
    padded = beats[:, :texels].reshape(rows, runs * texels)
    return padded[:, before : before + part.size[0]].reshape(part.size[::-1])
