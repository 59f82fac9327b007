"""Swizzle and unswizzle whole images: numpy arrays to the bytes of a resource and back."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from minmip.sim.layout.arguments import as_array, need, shown
from minmip.sim.layout.block_rows import block_row
from minmip.sim.layout.errors import LayoutError
from minmip.sim.layout.query import PlaneLayout, ResourceLayout
from minmip.sim.layout.surface import Surface

__all__ = ["swizzle", "unswizzle"]

ADDRESSES = 1 << 18
"""Elements of a tail that are moved at a time."""


def swizzle(layout: ResourceLayout, images: Sequence[np.ndarray], *, plane: int = 0) -> np.ndarray:
    """Put the texels of a plane where the hardware wants them.

    Parameters
    ----------
    layout : ResourceLayout
    images : sequence of array
        One for each mip: [slices or depth, rows, columns] elements, or [rows, columns] if there is
        one slice. An element is one item, or several along further axes, of BytesPerElement bytes
        in all.
    plane : int

    Returns
    -------
    uint8 [SizeBytes of the plane]
        Padding is 0.

    Raises
    ------
    LayoutError
        If the number, shape or element size of the images is not the layout's.
    """
    need("layout", ResourceLayout, layout)
    need("images", (list, tuple), images)
    place = layout.plane(plane)
    if len(images) != len(place.MipLayout):
        raise LayoutError(
            f"wanted {len(place.MipLayout)} images, one for each mip, not {len(images)}"
        )
    texels = [_as_bytes(image, place, mip) for mip, image in enumerate(images)]
    # Not zeros: fresh pages cost more than the move. Whatever a mip leaves out it clears itself.
    data = np.empty(place.SizeBytes, np.uint8)
    if place.MipTailMipCount:
        data.reshape(-1, place.SliceSizeBytes)[:, : place.BaseAlignmentBytes] = 0
    for mip, rows in enumerate(texels):
        _move(place.surface, mip, rows, data, into=True)
    return data


def unswizzle(
    layout: ResourceLayout, data: np.ndarray | bytes, *, plane: int = 0, dtype=np.uint8
) -> list[np.ndarray]:
    """Read the texels of a plane from its bytes, the inverse of `swizzle`.

    Parameters
    ----------
    layout : ResourceLayout
    data : uint8 [SizeBytes of the plane], or bytes
    plane : int
    dtype : dtype
        Of the result; its size divides BytesPerElement.

    Returns
    -------
    list of array [slices or depth, rows, columns, items]
        One for each mip; without the last axis if an element is one item.

    Raises
    ------
    LayoutError
        If the size of the data or of the items does not fit.
    """
    need("layout", ResourceLayout, layout)
    place = layout.plane(plane)
    try:
        item = np.dtype(dtype)
    except (TypeError, ValueError):
        raise LayoutError(f"dtype: wanted one of numpy, not {shown(dtype)}") from None
    if item.hasobject or not item.itemsize or place.BytesPerElement % item.itemsize:
        raise LayoutError(f"elements of {place.BytesPerElement} bytes do not divide into {item}")
    source = np.frombuffer(data, np.uint8) if isinstance(data, bytes) else as_array("data", data)
    if source.dtype != np.uint8 or source.shape != (place.SizeBytes,):
        raise LayoutError(
            f"wanted {place.SizeBytes} bytes, not {source.dtype} of shape {source.shape}"
        )
    source = np.ascontiguousarray(source)
    images = []
    for mip in range(len(place.MipLayout)):
        columns, rows, slices = place.mip_size(mip)
        texels = np.empty((slices, rows, columns * place.BytesPerElement), np.uint8)
        _move(place.surface, mip, texels, source, into=False)
        shape = (slices, rows, columns, place.BytesPerElement // item.itemsize)
        image = texels.view(item).reshape(shape)
        images.append(image[..., 0] if shape[-1] == 1 else image)
    return images


def _as_bytes(image: np.ndarray, place: PlaneLayout, mip: int) -> np.ndarray:
    """Return uint8 [slices, rows, bytes of a row]; LayoutError for any other image."""
    image = np.ascontiguousarray(as_array("an image", image))
    columns, rows, slices = place.mip_size(mip)
    shape = (slices, rows, columns)
    grid = shape if image.shape[:3] == shape else shape[1:]
    fits = image.shape[: len(grid)] == grid and (len(grid) == 3 or slices == 1)
    wanted = slices * rows * columns * place.BytesPerElement
    if not fits or image.dtype.hasobject or image.nbytes != wanted:
        raise LayoutError(
            f"mip {mip} has {slices} x {rows} x {columns} elements of {place.BytesPerElement} "
            f"bytes, not {image.dtype} of shape {image.shape}"
        )
    return image.reshape(-1).view(np.uint8).reshape(slices, rows, -1)


def _move(surface: Surface, mip: int, texels: np.ndarray, data: np.ndarray, *, into: bool) -> None:
    """Move a mip into the plane's bytes, or out of them."""
    if surface.pattern is None:
        _move_linear(surface, mip, texels, data, into)
    elif surface.mips[mip].shift is not None:
        _move_elements(surface, mip, texels, data, into)
    else:
        _move_blocks(surface, mip, texels, data, into)


def _move_linear(surface, mip, texels, data, into) -> None:
    place = surface.mips[mip]
    slices, rows, row_bytes = texels.shape
    pitch = place.pitch << surface.element_log2
    chains = data.reshape(-1, surface.slab_bytes)
    lines = chains[:, place.offset :][:, : place.rows * pitch].reshape(-1, place.rows, pitch)
    if into:
        lines[slices:] = 0
        lines[:slices, rows:] = 0
        lines[:slices, :rows, row_bytes:] = 0
        lines[:slices, :rows, :row_bytes] = texels
    else:
        texels[...] = lines[:slices, :rows, :row_bytes]


def _move_elements(surface, mip, texels, data, into) -> None:
    """One by one, for the mips of the tail; some slices at a time, to spare memory."""
    slices, rows, row_bytes = texels.shape
    element = np.dtype(f"V{1 << surface.element_log2}")
    columns = row_bytes >> surface.element_log2
    step = max(1, ADDRESSES // (rows * columns))
    for first in range(0, slices, step):
        z, y, x = np.ogrid[first : min(first + step, slices), :rows, :columns]
        place = surface.offset(mip, x, y, z) >> surface.element_log2
        part = texels[first : first + step].view(element)
        if into:
            data.view(element)[place] = part
        else:
            part[...] = data.view(element)[place]


def _move_blocks(surface, mip, texels, data, into) -> None:
    place = surface.mips[mip]
    row_bytes = texels.shape[2]
    mover = block_row(surface, mip)
    scratch = mover.scratch()
    height, depth = mover.height, surface.block[2]
    size = mover.rows * mover.row_bytes
    # Rows of blocks that are not just a piece of the image go through here.
    padded = np.zeros((depth, height, mover.row_bytes), np.uint8)
    whole = depth == 1 and row_bytes == mover.row_bytes
    for z in range(0, surface.slabs * depth, depth):
        start = z // depth * surface.slab_bytes + place.offset
        for y in range(0, place.rows, height):
            piece = data[start : start + size]
            start += size
            image = texels[z : z + depth, y : y + height]
            straight = whole and image.shape[:2] == (1, height)
            lines = image[0] if straight else padded.reshape(mover.rows, -1)
            inside = padded[: image.shape[0], : image.shape[1], :row_bytes]
            if into:
                if not straight:
                    if image.shape[:2] != padded.shape[:2]:
                        padded[...] = 0
                    inside[...] = image
                mover.swizzle(lines, piece, y, z, scratch)
            elif image.size:
                mover.unswizzle(piece, lines, y, z, scratch)
                if not straight:
                    image[...] = inside
