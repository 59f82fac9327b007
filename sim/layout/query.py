"""The XG-style layout query: resource, planes and mips under XG's field names (spec 06).

Sizes and offsets are in bytes, the other sizes in elements unless the name says texels.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from minmip.sim.layout.arguments import as_array, need, whole_number
from minmip.sim.layout.errors import LayoutError
from minmip.sim.layout.formats import PlaneFormat
from minmip.sim.layout.patterns import block_shape
from minmip.sim.layout.surface import Surface, lay_out_surface, round_up
from minmip.sim.layout.texture import MAX_BYTES, Texture

__all__ = ["MipLayout", "PlaneLayout", "ResourceLayout", "layout"]


@dataclass(frozen=True, kw_only=True)
class MipLayout:
    """One mip level, XG_MIPLEVEL_LAYOUT.

    `SizeBytes` is one array slice, or all depth slices of a volume; `OffsetBytes` counts from the
    start of the first slice's (slab's) chain. Of a tail mip it is where element (0, 0, 0) lies, and
    the padded sizes are whole 256-byte boxes. Range k of a volume's mip starts at SliceSizeBytes *
    k + OffsetBytes and is Slice2DSizeBytes * SliceDepthElements long.
    """

    SizeBytes: int
    OffsetBytes: int
    Slice2DSizeBytes: int
    AlignmentBytes: int
    WidthElements: int
    HeightElements: int
    DepthOrArraySize: int
    PaddedWidthElements: int
    PaddedHeightElements: int
    PaddedDepthOrArraySize: int
    SliceDepthElements: int
    PitchPixels: int
    PitchBytes: int
    SampleCount: int
    SwizzleMode: int
    IsMipTail: int


@dataclass(frozen=True, kw_only=True)
class PlaneLayout:
    """One plane, XG_PLANE_LAYOUT. `SliceSizeBytes` is a chain: of an array slice, or of a slab."""

    Usage: str
    BytesPerElement: int
    SizeBytes: int
    SliceSizeBytes: int
    BaseOffsetBytes: int
    BaseAlignmentBytes: int
    StandardMipCount: int
    MipTailMipCount: int
    MipLayout: tuple[MipLayout, ...]
    surface: Surface = field(repr=False)

    def mip_size(self, mip: int) -> tuple[int, int, int]:
        """Width, height and slices (or depth) in elements; LayoutError for a mip that is not."""
        if not 0 <= whole_number("mip", mip) < len(self.MipLayout):
            raise LayoutError(f"mip {mip} is outside mips 0 to {len(self.MipLayout) - 1}")
        level = self.MipLayout[mip]
        return level.WidthElements, level.HeightElements, level.DepthOrArraySize

    def offset(self, mip: int, x, y, z=0):
        """Byte offset from the start of the plane of elements of a mip.

        Parameters
        ----------
        mip : int
        x, y, z : int or array of int
            Element coordinates, z the array slice or depth. They broadcast.

        Raises
        ------
        LayoutError
            For coordinates outside the mip.
        """
        whole = []
        for name, at, size in zip("xyz", (x, y, z), self.mip_size(mip), strict=True):
            values = as_array(name, at)
            if values.dtype.kind not in "iu":
                raise LayoutError(f"{name} is a whole number, not {values.dtype}")
            outside = (values < 0) | (values >= size)
            if outside.any():
                wrong = int(values[outside].flat[0])
                raise LayoutError(f"{name} = {wrong} is outside 0 to {size - 1} of mip {mip}")
            # Narrow and unsigned types would overflow on the way, or turn to floats.
            whole.append(values.astype(np.int64) if values.ndim else int(values))
        return self.surface.offset(mip, *whole)


@dataclass(frozen=True, kw_only=True)
class ResourceLayout:
    """A whole resource, XG_RESOURCE_LAYOUT."""

    SizeBytes: int
    BaseAlignmentBytes: int
    MipLevels: int
    Dimension: str
    Planes: tuple[PlaneLayout, ...]
    texture: Texture = field(repr=False)

    def plane(self, plane: int) -> PlaneLayout:
        """Return a plane by its number; LayoutError if there is none."""
        if not 0 <= whole_number("plane", plane) < len(self.Planes):
            raise LayoutError(f"plane {plane} is outside planes 0 to {len(self.Planes) - 1}")
        return self.Planes[plane]

    def offset(self, mip: int, x, y, z=0, *, plane: int = 0):
        """Byte offset from the start of the resource, as `PlaneLayout.offset`.

        XG's GetTexelElementOffsetBytes.
        """
        place = self.plane(plane)
        return place.BaseOffsetBytes + place.offset(mip, x, y, z)


def layout(texture: Texture) -> ResourceLayout:
    """Lay a texture out.

    Raises
    ------
    LayoutError
        If it takes more than 2^48 bytes.
    """
    need("texture", Texture, texture)
    planes: list[PlaneLayout] = []
    end = 0
    for form in texture.planes:
        planes.append(_plane(texture, form, end))
        end = planes[-1].BaseOffsetBytes + planes[-1].SizeBytes
        if end > MAX_BYTES:
            raise LayoutError(f"the texture takes {end} bytes, more than 2^48")
    return ResourceLayout(
        SizeBytes=end,
        BaseAlignmentBytes=max(plane.BaseAlignmentBytes for plane in planes),
        MipLevels=texture.mips,
        Dimension=texture.dimension,
        Planes=tuple(planes),
        texture=texture,
    )


def _plane(texture: Texture, form: PlaneFormat, after: int) -> PlaneLayout:
    width, height = texture.width // form.divisor, texture.height // form.divisor
    surface = lay_out_surface(
        texture.swizzle,
        texture.dimension,
        (-(-width // form.texels[0]), -(-height // form.texels[1]), texture.slices),
        texture.mips,
        form.element_bytes,
        texture.hardware,
        texture.pipe_bank_xor,
    )
    alignment = 1 << surface.block_log2
    levels = range(texture.mips)
    return PlaneLayout(
        Usage=form.usage,
        BytesPerElement=form.element_bytes,
        SizeBytes=surface.total_bytes,
        SliceSizeBytes=surface.slab_bytes,
        BaseOffsetBytes=round_up(after, alignment),
        BaseAlignmentBytes=alignment,
        StandardMipCount=surface.first_tail,
        MipTailMipCount=texture.mips - surface.first_tail,
        MipLayout=tuple(_mip(texture, form, surface, (width, height), mip) for mip in levels),
        surface=surface,
    )


def _mip(texture, form: PlaneFormat, surface: Surface, size: tuple[int, int], mip: int):
    place = surface.mips[mip]
    volume, tail = texture.dimension == "3D", place.shift is not None
    unit = surface.block
    if tail:
        unit = block_shape(surface.element_log2, 8, thick=texture.swizzle.thick(texture.dimension))
    padded = [round_up(side, step) for side, step in zip(place.size, unit, strict=True)]
    slice_bytes = padded[0] * padded[1] * form.element_bytes
    # True sizes round down, and never below 1 (spec 05, 8.3).
    width, height = (
        -(-max(1, side >> mip) // texels) for side, texels in zip(size, form.texels, strict=True)
    )
    slices = max(1, texture.depth >> mip) if volume else texture.array_size
    return MipLayout(
        SizeBytes=slice_bytes * padded[2],
        OffsetBytes=int(surface.offset(mip, 0, 0, 0)),
        Slice2DSizeBytes=slice_bytes,
        AlignmentBytes=256 if tail else 1 << surface.block_log2,
        WidthElements=width,
        HeightElements=height,
        DepthOrArraySize=slices,
        PaddedWidthElements=padded[0],
        PaddedHeightElements=padded[1],
        PaddedDepthOrArraySize=padded[2] if volume else slices,
        SliceDepthElements=surface.block[2],
        PitchPixels=padded[0] * form.texels[0],
        PitchBytes=padded[0] * form.element_bytes,
        SampleCount=1,
        SwizzleMode=texture.swizzle.number,
        IsMipTail=int(tail),
    )
