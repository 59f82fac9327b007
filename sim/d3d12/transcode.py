"""Checked resolves carried out by the golden model or the resolve engine (spec 06 "Resolve")."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np

from minmip.sim.d3d12.decode import map_kind, nothing_written
from minmip.sim.d3d12.errors import D3D12Error
from minmip.sim.d3d12.resolve import Transcode
from minmip.sim.d3d12.resources import is_buffer, mip_size, stored_size
from minmip.sim.golden.resolve import MapPart

__all__ = ["Resolver", "transcode"]

Resolver = Callable[[np.ndarray, int, list[MapPart]], list[tuple[np.ndarray | None, bool]]]
"""What decodes and encodes parts of maps in memory: as `sim.golden.resolve.resolve`."""
Texels = tuple[slice, ...]
"""Part of a mip, last axis x."""


def transcode(job: Transcode, resolver: Resolver) -> None:
    """Carry out a checked resolve: padding stays, texels that the hardware has not are lost.

    Raises
    ------
    D3D12Error
        When the resolver finds texels of the map outside the memory.
    """
    kind = map_kind(job.opaque, job.raw)
    sides = [job.parts(mip) for mip, _ in job.places]
    held = [
        _held(job, mip, source if job.decode else target)
        for (mip, _), (source, target) in zip(job.places, sides, strict=True)
    ]
    parts = []
    for (mip, layer), (source, _), where in zip(job.places, sides, held, strict=True):
        texels = None
        if not job.decode:
            cut = tuple(slice(one.stop - one.start) for one in where)
            texels = _plain_texels(job, mip, layer, source)[cut]
        parts.append(job.opaque.map_part(mip, layer, where, kind, texels))
    heap = job.opaque.heap
    heap.flush()
    answers = resolver(heap.memory, heap.base, parts)
    if any(error for _, error in answers):
        raise D3D12Error("the resolve found texels of the map outside the memory")
    if job.decode:
        for (mip, layer), (_, target), where, (texels, _) in zip(
            job.places, sides, held, answers, strict=True
        ):
            _put(job, mip, layer, target, where, texels)
    written = job.plain if job.decode else job.opaque
    if job.decode or job.rect is None:
        for index in job.subresources:
            written.define(index)


def _held(job: Transcode, mip: int, texels: Texels) -> Texels:
    """Those texels that the map has: its sides are rounded down."""
    sides = mip_size(stored_size(job.opaque.desc), mip)
    return tuple(
        slice(min(one.start, side), min(one.stop, side))
        for one, side in zip(texels, reversed(sides[: len(texels)]), strict=True)
    )


def _plain_texels(job: Transcode, mip: int, layer: int, source: Texels) -> np.ndarray:
    values = job.plain.texels(mip)[layer]
    if is_buffer(job.plain.desc):
        shape = tuple(part.stop for part in source)
        values = values[: prod(shape)].reshape(shape)
    return values[source]


def _put(job: Transcode, mip: int, layer: int, target: Texels, where: Texels, texels) -> None:
    """Put decoded texels to the plain side, and what stands for those that the map has not."""
    shape = [one.stop - one.start for one in target]
    values = np.full(shape, nothing_written(job.opaque), np.uint8)
    extent = [one.stop - one.start for one in where]
    values[tuple(map(slice, extent))] = texels.reshape(extent)
    if is_buffer(job.plain.desc):
        values, target = values.ravel(), (slice(0, values.size),)
    job.plain.put_texels(mip, layer, target, values)
