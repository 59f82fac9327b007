"""DDS files, read and written without touching a texel: BC blocks, arrays, cubes, volumes, mips.

Decoders of other libraries give pixels where a texture tool wants the blocks. Files are read with
old and new (DX10) headers and written with the new one.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from minmip.sim.layout.arguments import need
from minmip.sim.layout.errors import LayoutError
from minmip.sim.layout.formats import Format, texel_format
from minmip.sim.layout.query import layout
from minmip.sim.layout.texture import Texture

__all__ = ["DdsImage", "read_dds", "write_dds"]

_MAGIC = b"DDS "
_HEADER, _DX10 = struct.Struct("<4s31I"), struct.Struct("<5I")
_HEADER_BYTES, _PIXEL_BYTES = 124, 32
# Header flags: caps, height, width, pixel format; mip count; linear size; depth.
_REQUIRED, _MIP_COUNT, _LINEAR_SIZE, _DEPTH = 0x1007, 0x20000, 0x80000, 0x800000
_PIXEL_ALPHA, _PIXEL_FOURCC, _PIXEL_RGB, _PIXEL_LUMINANCE = 0x2, 0x4, 0x40, 0x20000
_CAPS_COMPLEX, _CAPS_TEXTURE, _CAPS_MIPMAP = 0x8, 0x1000, 0x400000
_CAPS2_CUBE, _CAPS2_FACES, _CAPS2_VOLUME = 0x200, 0xFC00, 0x200000
_MISC_CUBE = 4
_DIMENSIONS = {2: "1D", 3: "2D", 4: "3D"}
_FACES = 6

_FOURCC = {
    b"DXT1": "BC1_UNORM",
    b"DXT2": "BC2_UNORM",
    b"DXT3": "BC2_UNORM",
    b"DXT4": "BC3_UNORM",
    b"DXT5": "BC3_UNORM",
    b"ATI1": "BC4_UNORM",
    b"BC4U": "BC4_UNORM",
    b"BC4S": "BC4_SNORM",
    b"ATI2": "BC5_UNORM",
    b"BC5U": "BC5_UNORM",
    b"BC5S": "BC5_SNORM",
}
# Numbers of Direct3D 9 formats in place of four characters.
_D3DFMT = {
    36: "R16G16B16A16_UNORM",
    110: "R16G16B16A16_SNORM",
    111: "R16_FLOAT",
    112: "R16G16_FLOAT",
    113: "R16G16B16A16_FLOAT",
    114: "R32_FLOAT",
    115: "R32G32_FLOAT",
    116: "R32G32B32A32_FLOAT",
}
# Bits of a texel and masks of red, green, blue and alpha, 0 where the flags name no such channel.
_MASKS: dict[tuple[int, ...], str] = {
    (32, 0xFF, 0xFF00, 0xFF0000, 0xFF000000): "R8G8B8A8_UNORM",
    (32, 0xFF0000, 0xFF00, 0xFF, 0xFF000000): "B8G8R8A8_UNORM",
    (32, 0xFF0000, 0xFF00, 0xFF, 0): "B8G8R8X8_UNORM",
    (32, 0x3FF, 0xFFC00, 0x3FF00000, 0xC0000000): "R10G10B10A2_UNORM",
    (32, 0xFFFF, 0xFFFF0000, 0, 0): "R16G16_UNORM",
    (16, 0xF800, 0x7E0, 0x1F, 0): "B5G6R5_UNORM",
    (16, 0x7C00, 0x3E0, 0x1F, 0x8000): "B5G5R5A1_UNORM",
    (16, 0xF00, 0xF0, 0xF, 0xF000): "B4G4R4A4_UNORM",
    (16, 0xFF, 0, 0, 0xFF00): "R8G8_UNORM",
    (16, 0xFFFF, 0, 0, 0): "R16_UNORM",
    (8, 0xFF, 0, 0, 0): "R8_UNORM",
    (8, 0, 0, 0, 0xFF): "A8_UNORM",
}


@dataclass(frozen=True, kw_only=True)
class DdsImage:
    """What a DDS file holds.

    Parameters
    ----------
    texture : Texture
        Its description, in LINEAR mode: files have no layout. A cube is an array of six slices.
    images : list of uint8 [slices or depth, rows, columns, bytes of an element]
        One for each mip; elements are texels or BC blocks.
    cube : bool
    """

    texture: Texture
    images: list[np.ndarray] = field(repr=False)
    cube: bool = False

    def __post_init__(self):
        need("texture", Texture, self.texture)
        need("images", (list, tuple), self.images)
        need("cube", bool, self.cube)
        for image in self.images:
            need("an image", np.ndarray, image)
        sizes = _mip_shapes(self.texture)
        if [image.shape for image in self.images] != sizes:
            shapes = [image.shape for image in self.images]
            raise LayoutError(f"wanted images of shapes {sizes}, not {shapes}")
        if any(image.dtype != np.uint8 for image in self.images):
            raise LayoutError("images of a DDS file are arrays of uint8")
        if self.cube and (self.texture.dimension != "2D" or self.texture.array_size % _FACES):
            raise LayoutError("a cube is a 2D array of six slices, or of a multiple")


def _mip_shapes(texture: Texture) -> list[tuple[int, int, int, int]]:
    plane, *others = layout(texture).Planes
    if others:
        raise LayoutError(f"a DDS file has one plane, {texture.format} has {1 + len(others)}")
    sizes = [plane.mip_size(mip) for mip in range(texture.mips)]
    return [(n, rows, columns, plane.BytesPerElement) for columns, rows, n in sizes]


def read_dds(path: str | Path) -> DdsImage:
    """Read a DDS file.

    Raises
    ------
    LayoutError
        For a file that is not one, is cut off, or has a format that cannot be laid out.
    """
    data = Path(path).read_bytes()
    try:
        return _parse(data)
    except LayoutError as error:
        raise LayoutError(f"{path}: {error}") from None


def _parse(data: bytes) -> DdsImage:
    if len(data) < _HEADER.size or data[:4] != _MAGIC:
        raise LayoutError("this is no DDS file: it does not begin with 'DDS ' and a header")
    words = _HEADER.unpack_from(data)
    size, flags, height, width, _, depth, mips = words[1:8]
    pixel, caps2 = words[19:27], words[28]
    if size != _HEADER_BYTES or pixel[0] != _PIXEL_BYTES:
        raise LayoutError(f"the header's sizes are 124 and 32, not {size} and {pixel[0]}")
    start, array_size = _HEADER.size, 1
    if pixel[1] & _PIXEL_FOURCC and pixel[2].to_bytes(4, "little") == b"DX10":
        if len(data) < start + _DX10.size:
            raise LayoutError("the file ends inside the DX10 header")
        number, dimension, misc, array_size, _ = _DX10.unpack_from(data, start)
        start += _DX10.size
        array_size = max(array_size, 1)  # Pillow writes 0 for one
        form, cube = texel_format(number), bool(misc & _MISC_CUBE)
        if dimension not in _DIMENSIONS:
            raise LayoutError(f"the resource dimension is 2, 3 or 4, not {dimension}")
        kind = _DIMENSIONS[dimension]
    else:
        form, cube = _old_format(pixel), bool(caps2 & _CAPS2_CUBE)
        kind = "3D" if caps2 & _CAPS2_VOLUME else "2D"
        if cube and caps2 & _CAPS2_FACES != _CAPS2_FACES:
            raise LayoutError("a cube has all six faces, this one lacks some")
    texture = Texture(
        width=width,
        height=height,
        depth=depth if kind == "3D" else 1,
        array_size=array_size * (_FACES if cube else 1),
        mips=max(mips, 1) if flags & _MIP_COUNT else 1,
        dimension=kind,
        format=form.name,
        mode="LINEAR",
    )
    return DdsImage(texture=texture, images=_images(data, start, texture), cube=cube)


def _old_format(pixel: tuple[int, ...]) -> Format:
    _, flags, code, bits, *masks = pixel
    if flags & _PIXEL_FOURCC:
        name = _FOURCC.get(code.to_bytes(4, "little")) or _D3DFMT.get(code)
        if name is None:
            raise LayoutError(f"the pixel format {code.to_bytes(4, 'little')!r} is not known")
        return texel_format(name)
    color = masks[:3] if flags & (_PIXEL_RGB | _PIXEL_LUMINANCE) else [0, 0, 0]
    if flags & _PIXEL_LUMINANCE:
        color[1:] = 0, 0
    # Alpha alone (0x2) and beside colours (0x1).
    alpha = masks[3] if flags & (_PIXEL_ALPHA | 0x1) else 0
    name = _MASKS.get((bits, *color, alpha))
    if name is None:
        listed = " ".join(f"{mask:#x}" for mask in (*color, alpha))
        raise LayoutError(f"the pixel format of {bits} bits with masks {listed} is not known")
    return texel_format(name)


def _images(data: bytes, start: int, texture: Texture) -> list[np.ndarray]:
    """Cut the texels up: slice by slice, mip 0 first; all depth slices of a mip together."""
    shapes = _mip_shapes(texture)
    volume = texture.dimension == "3D"
    wanted = sum(n * rows * columns * size for n, rows, columns, size in shapes)
    if len(data) - start != wanted:
        raise LayoutError(f"wanted {wanted} bytes of texels, the file has {len(data) - start}")
    texels = np.frombuffer(data, np.uint8, offset=start)
    if volume:
        ends = np.cumsum([np.prod(shape) for shape in shapes])
        return [
            part.reshape(s) for part, s in zip(np.split(texels, ends[:-1]), shapes, strict=True)
        ]
    chains = texels.reshape(texture.array_size, -1)
    ends = np.cumsum([np.prod(shape[1:]) for shape in shapes])
    parts = np.split(chains, ends[:-1], axis=1)
    return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]


def write_dds(path: str | Path, image: DdsImage) -> None:
    """Write a DDS file with a DX10 header."""
    texture, cube = image.texture, image.cube
    volume, mips = texture.dimension == "3D", texture.mips
    form = texel_format(texture.format)  # pyright: ignore[reportArgumentType]
    first = image.images[0]
    pixel = (_PIXEL_BYTES, _PIXEL_FOURCC, int.from_bytes(b"DX10", "little"), 0, 0, 0, 0, 0)
    many = mips > 1 or volume or cube
    caps = _CAPS_TEXTURE | many * _CAPS_COMPLEX | (mips > 1) * _CAPS_MIPMAP
    caps2 = cube * (_CAPS2_CUBE | _CAPS2_FACES) | volume * _CAPS2_VOLUME
    header = _HEADER.pack(
        _MAGIC,
        _HEADER_BYTES,
        _REQUIRED | _MIP_COUNT | _LINEAR_SIZE | volume * _DEPTH,
        texture.height,
        texture.width,
        first[0].nbytes,
        texture.depth,
        mips,
        *(0,) * 11,
        *pixel,
        caps,
        caps2,
        *(0,) * 3,
    )
    dimension = next(n for n, name in _DIMENSIONS.items() if name == texture.dimension)
    slices = texture.array_size // (_FACES if cube else 1)
    extension = _DX10.pack(form.number, dimension, cube * _MISC_CUBE, slices, 0)
    if volume:
        parts = [part.tobytes() for part in image.images]
    else:
        parts = [part[n].tobytes() for n in range(texture.array_size) for part in image.images]
    Path(path).write_bytes(b"".join([header, extension, *parts]))
