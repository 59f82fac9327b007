"""Texels of float formats as numbers, both ways, packed floats among them (spec 07 "Numbers").

What a DDS file holds are the bytes of elements; here they become colours and go back.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from minmip.sim.frontend.float_rules import from_float16, to_float16
from minmip.sim.frontend.packed_floats import (
    pack_r9g9b9e5,
    pack_r11g11b10,
    unpack_r9g9b9e5,
    unpack_r11g11b10,
)
from minmip.sim.layout.dds import DdsImage
from minmip.sim.layout.errors import LayoutError
from minmip.sim.layout.formats import texel_format

__all__ = ["convert_dds", "out_of_range", "pack_texels", "unpack_texels"]

ABSENT = (0.0, 0.0, 0.0, 1.0)
"""What Direct3D reads from the channels that a format lacks."""


@dataclass(frozen=True, kw_only=True)
class _Packing:
    """How texels of a format become float32 and come from it.

    `unpack` takes uint8 [..., bytes of a texel] and gives float32 [..., channels], `pack` is the
    way back. Finite numbers from `least` to `most` (by channel) are held, others become the
    nearest of them or infinite; so are NaN and infinities if `specials`.
    """

    channels: int
    unpack: Callable[[np.ndarray], np.ndarray]
    pack: Callable[[np.ndarray], np.ndarray]
    least: float
    most: tuple[float, ...]
    specials: bool = True


def _packed(unpack, pack, most: tuple[float, ...], *, specials: bool) -> _Packing:
    """One word of 32 bits for three channels without sign."""
    return _Packing(
        channels=3,
        unpack=lambda texels: unpack(np.ascontiguousarray(texels).view("<u4")[..., 0]),
        pack=lambda colours: pack(colours).astype("<u4")[..., None].view(np.uint8),
        least=0.0,
        most=most,
        specials=specials,
    )


def _half(channels: int) -> _Packing:
    return _Packing(
        channels=channels,
        unpack=lambda texels: from_float16(np.ascontiguousarray(texels).view("<f2")),
        pack=lambda colours: to_float16(colours).astype("<f2").view(np.uint8),
        least=-65504.0,
        most=(65504.0,),
    )


def _single(channels: int) -> _Packing:
    """Nothing is computed, so denormals and NaN patterns stay."""
    return _Packing(
        channels=channels,
        unpack=lambda texels: np.ascontiguousarray(texels).view("<f4").astype(np.float32),
        pack=lambda colours: np.ascontiguousarray(colours, "<f4").view(np.uint8),
        least=-np.inf,
        most=(np.inf,),
    )


_PACKINGS = {
    "R11G11B10_FLOAT": _packed(
        unpack_r11g11b10, pack_r11g11b10, (65024.0, 65024.0, 64512.0), specials=True
    ),
    "R9G9B9E5_SHAREDEXP": _packed(unpack_r9g9b9e5, pack_r9g9b9e5, (65408.0,), specials=False),
    "R16_FLOAT": _half(1),
    "R16G16_FLOAT": _half(2),
    "R16G16B16A16_FLOAT": _half(4),
    "R32_FLOAT": _single(1),
    "R32G32_FLOAT": _single(2),
    "R32G32B32A32_FLOAT": _single(4),
}


def _packing(form: str | int) -> _Packing:
    name = texel_format(form).name
    if name not in _PACKINGS:
        raise LayoutError(
            f"texels of {name} are not floats; formats whose are: {', '.join(_PACKINGS)}"
        )
    return _PACKINGS[name]


def unpack_texels(form: str | int, texels: np.ndarray) -> np.ndarray:
    """Colours of texels, exact.

    Parameters
    ----------
    form : str or int
        DXGI format, one of floats.
    texels : ndarray
        uint8 [..., bytes of a texel], as in `DdsImage.images`.

    Returns
    -------
    ndarray
        float32 [..., channels]. Denormals of 16 bits and less are kept, NaN is 0x7FC00000; texels
        of 32-bit floats stay bit for bit.

    Raises
    ------
    LayoutError
        For a format of other texels, and for an array of another type or shape.
    """
    packing = _packing(form)
    size = texel_format(form).planes[0].element_bytes
    if texels.dtype != np.uint8 or texels.shape[-1:] != (size,):
        raise LayoutError(
            f"texels must be uint8 [..., {size}], not {texels.dtype} {list(texels.shape)}"
        )
    return packing.unpack(texels)


def pack_texels(form: str | int, colours: np.ndarray) -> np.ndarray:
    """Texels of colours, rounded to nearest: the way back of `unpack_texels`.

    Parameters
    ----------
    form : str or int
        DXGI format, one of floats.
    colours : ndarray
        float32 [..., channels].

    Raises
    ------
    LayoutError
        For a format of other texels, and for an array of another type or shape.
    """
    packing = _packing(form)
    if colours.dtype != np.float32 or colours.shape[-1:] != (packing.channels,):
        raise LayoutError(
            f"colours must be float32 [..., {packing.channels}], "
            f"not {colours.dtype} {list(colours.shape)}"
        )
    return packing.pack(colours)


def out_of_range(form: str | int, colours: np.ndarray) -> np.ndarray:
    """Tell which colours a format cannot hold, bool [...]: one of their channels is limited.

    Negative numbers of formats without a sign, what is beyond the largest number, and (where there
    are none) infinities and NaN. Rounding does not count.
    """
    packing = _packing(form)
    with np.errstate(invalid="ignore"):
        held = (colours >= packing.least) & (colours <= np.array(packing.most))
    if packing.specials:
        held |= np.isnan(colours) | (colours == np.inf)
        if packing.least < 0:
            held |= colours == -np.inf
    return np.logical_not(held.all(axis=-1))


def convert_dds(image: DdsImage, form: str | int) -> tuple[DdsImage, int]:
    """Convert an image to another format of floats.

    Channels that the new format lacks are dropped; those that the old one lacks are 0, alpha 1.

    Returns
    -------
    image : DdsImage
        In the new format, else the same.
    limited : int
        How many texels it could not hold, see `out_of_range`.

    Raises
    ------
    LayoutError
        If one of the formats is not of floats.
    """
    name = texel_format(form).name
    source = image.texture.format
    if source is None:
        raise LayoutError("the image's texture has no format that says what its texels are")
    channels, images, limited = _packing(form).channels, [], 0
    for texels in image.images:
        colours = _with_channels(unpack_texels(source, texels), channels)
        limited += int(out_of_range(name, colours).sum())
        images.append(pack_texels(name, colours))
    texture = replace(image.texture, format=name)
    return replace(image, texture=texture, images=images), limited


def _with_channels(colours: np.ndarray, channels: int) -> np.ndarray:
    """Colours with so many channels, float32 [..., channels]."""
    have = colours.shape[-1]
    if have >= channels:
        return np.ascontiguousarray(colours[..., :channels])
    absent = np.array(ABSENT[have:channels], np.float32)
    more = np.broadcast_to(absent, (*colours.shape[:-1], channels - have))
    return np.concatenate([colours, more], axis=-1)
