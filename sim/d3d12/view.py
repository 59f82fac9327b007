"""The view object, and how its descriptor is built (spec 01 "T#", spec 06 "Views")."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite

import numpy as np

from minmip.sim.d3d12.enums import D3D12_SRV_DIMENSION
from minmip.sim.d3d12.errors import D3D12Error, warn
from minmip.sim.d3d12.resource import Resource
from minmip.sim.d3d12.resources import is_buffer, texture_axes, texture_size
from minmip.sim.d3d12.structures import (
    ALL,
    D3D12_RESOURCE_DESC1,
    D3D12_SHADER_RESOURCE_VIEW_DESC,
)
from minmip.sim.descriptor_words import T_FIELDS, T_WORDS, pack, unpack
from minmip.sim.golden.descriptor import (
    TYPE_1D,
    TYPE_1D_ARRAY,
    TYPE_2D,
    TYPE_2D_ARRAY,
    TYPE_3D,
    TYPE_CUBE,
)

__all__ = ["View", "build_view", "check_texture", "null_view", "view_field"]

# View dimension values are the same in SRV and UAV descriptions: (T# TYPE, axes of the texture,
# array). The faces of cubes are slices.
DIMENSIONS = {
    D3D12_SRV_DIMENSION.D3D12_SRV_DIMENSION_TEXTURE1D: (TYPE_1D, 1, False),
    D3D12_SRV_DIMENSION.D3D12_SRV_DIMENSION_TEXTURE1DARRAY: (TYPE_1D_ARRAY, 1, True),
    D3D12_SRV_DIMENSION.D3D12_SRV_DIMENSION_TEXTURE2D: (TYPE_2D, 2, False),
    D3D12_SRV_DIMENSION.D3D12_SRV_DIMENSION_TEXTURE2DARRAY: (TYPE_2D_ARRAY, 2, True),
    D3D12_SRV_DIMENSION.D3D12_SRV_DIMENSION_TEXTURE3D: (TYPE_3D, 3, False),
    D3D12_SRV_DIMENSION.D3D12_SRV_DIMENSION_TEXTURECUBE: (TYPE_CUBE, 2, False),
    D3D12_SRV_DIMENSION.D3D12_SRV_DIMENSION_TEXTURECUBEARRAY: (TYPE_CUBE, 2, True),
}
CUBE = D3D12_SRV_DIMENSION.D3D12_SRV_DIMENSION_TEXTURECUBE
CUBE_ARRAY = D3D12_SRV_DIMENSION.D3D12_SRV_DIMENSION_TEXTURECUBEARRAY
FACES = 6

# D3D12_SHADER_COMPONENT_MAPPING, 3 bits each, to DST_SEL: X to W, force 0, force 1.
DST_SEL = (4, 5, 6, 7, 0, 1)

LARGEST_MIN_LOD = 0xFFF


@dataclass(frozen=True, eq=False, kw_only=True)
class View:
    """An image descriptor and what the driver remembers of it.

    Attributes
    ----------
    words : numpy.ndarray
        The T#, uint32 [8], read-only; zero for a NULL view.
    linked_type : int
        0 a plain texture, 1 MipRegionUsed feedback, 2 MinMip feedback, 4 the MinMip filter.
    resource : Resource or None
        The texture of a plain view, the map of a linked one; None for a NULL view.
    axes : int
        Coordinates that an operation on the view takes, without the slice; 0 for a NULL view.
    is_array : bool
        Whether operations take an array slice.
    last_level : int
        Last mip level, counted from the view's first.
    target : Resource or None
        The paired texture of a feedback view.
    """

    words: np.ndarray = field(repr=False)
    linked_type: int
    resource: Resource | None = None
    axes: int = 0
    is_array: bool = False
    last_level: int = 0
    target: Resource | None = None

    @property
    def is_null(self) -> bool:
        """True for a NULL view, on which operations do nothing."""
        return self.resource is None


def view_field(view: View, name: str) -> int:
    """Return a field of a view's T#."""
    return int(unpack(T_FIELDS, view.words[None])[name][0])


def null_view(linked_type: int) -> View:
    """Return a view of nothing: writes vanish, reads give 0."""
    return View(words=_frozen(np.zeros(T_WORDS, np.uint32)), linked_type=linked_type)


def check_texture(desc: D3D12_RESOURCE_DESC1) -> None:
    """Raise D3D12Error for a buffer."""
    if is_buffer(desc):
        raise D3D12Error("these views are of textures, not of a buffer")


def build_view(
    resource: Resource,
    texture: D3D12_RESOURCE_DESC1,
    desc: D3D12_SHADER_RESOURCE_VIEW_DESC,
    linked_type: int,
    patch: dict[str, int],
) -> View:
    """Build the whole word from the (paired) texture and its view, then patch it.

    Raises
    ------
    D3D12Error
        When the view does not fit the texture, or is illegal on a linked resource (spec 01).
    """
    if texture.SampleDesc.Count != 1:
        raise D3D12Error("multisampled textures cannot be sampled or paired (spec 01, rule 2)")
    axes = texture_axes(texture)
    default = {1: 2, 2: 4, 3: 8}[axes] + (axes < 3 and texture.DepthOrArraySize > 1)
    dimension = desc.ViewDimension or D3D12_SRV_DIMENSION(default)
    kind, view_axes, is_array = DIMENSIONS.get(dimension, (0, 0, False))
    if view_axes != axes:
        raise D3D12Error(f"a {texture.Dimension.name} cannot be viewed as {dimension.name}")
    if linked_type and kind == TYPE_CUBE:
        raise D3D12Error(
            f"{dimension.name} is illegal on a linked resource (spec 01, rule 11): view the faces "
            "as TEXTURE2DARRAY"
        )
    if linked_type and desc.PlaneSlice:
        raise D3D12Error(
            f"PlaneSlice of a linked resource must be 0, the plane whose size the map follows, not "
            f"{desc.PlaneSlice}"
        )
    first, last = _range("mip", desc.MostDetailedMip, desc.MipLevels, texture.MipLevels)
    first_slice, last_slice = _slices(dimension, desc, texture, is_array)
    width, height, depth = texture_size(texture)
    selects = [desc.Shader4ComponentMapping >> 3 * i & 7 for i in range(4)]
    if max(selects) >= len(DST_SEL) or desc.Shader4ComponentMapping >> 13:
        raise D3D12Error(
            f"Shader4ComponentMapping {desc.Shader4ComponentMapping:#x} names no component"
        )
    fields = {
        "TYPE": kind,
        "WIDTH": width - 1,
        "HEIGHT": height - 1,
        "DEPTH": depth - 1 if axes == 3 else last_slice,
        "BASE_ARRAY": first_slice,
        "RESOURCE_LEVEL": 1,
        "DST_SEL_X": DST_SEL[selects[0]],
        "DST_SEL_Y": DST_SEL[selects[1]],
        "DST_SEL_Z": DST_SEL[selects[2]],
        "DST_SEL_W": DST_SEL[selects[3]],
        "BASE_LEVEL": first,
        "LAST_LEVEL": last,
        "MAX_MIP": texture.MipLevels - 1,
        "MIN_LOD": _min_lod(desc.ResourceMinLODClamp, first, last),
    }
    return View(
        words=_frozen(pack(T_FIELDS, T_WORDS, **(fields | patch))),
        linked_type=linked_type,
        resource=resource,
        axes=3 if kind == TYPE_CUBE else axes,
        is_array=is_array,
        last_level=last - first,
    )


def _slices(
    dimension: D3D12_SRV_DIMENSION,
    desc: D3D12_SHADER_RESOURCE_VIEW_DESC,
    texture: D3D12_RESOURCE_DESC1,
    is_array: bool,
) -> tuple[int, int]:
    """First and last slice of a view; the faces of cubes are slices."""
    cube = dimension in (CUBE, CUBE_ARRAY)
    if dimension != CUBE_ARRAY and (desc.First2DArrayFace, desc.NumCubes) != (0, ALL):
        raise D3D12Error(
            f"First2DArrayFace and NumCubes are for TEXTURECUBEARRAY, not for {dimension.name}"
        )
    if not cube:
        layers = texture.DepthOrArraySize if is_array else 1
        return _range("slice", desc.FirstArraySlice, desc.ArraySize, layers)
    if (desc.FirstArraySlice, desc.ArraySize) != (0, ALL):
        raise D3D12Error(
            "FirstArraySlice and ArraySize are not for cubes: TEXTURECUBEARRAY has "
            "First2DArrayFace and NumCubes"
        )
    if texture.Width != texture.Height:
        raise D3D12Error(
            f"the faces of a cube must be square, not {texture.Width}x{texture.Height}"
        )
    faces = texture.DepthOrArraySize - desc.First2DArrayFace
    if faces < FACES:
        raise D3D12Error(
            f"a cube from face {desc.First2DArrayFace} needs {FACES} slices, the texture has "
            f"{texture.DepthOrArraySize}"
        )
    whole = 1 if dimension == CUBE else faces // FACES
    cubes = whole if desc.NumCubes == ALL else desc.NumCubes
    if not 1 <= cubes <= whole:
        raise D3D12Error(f"NumCubes must be in 1..{whole}, not {desc.NumCubes}")
    return desc.First2DArrayFace, desc.First2DArrayFace + cubes * FACES - 1


def _range(what: str, first: int, count: int, total: int) -> tuple[int, int]:
    """First and last of a view's mips or slices; ALL counts to the end."""
    if first >= total:
        raise D3D12Error(f"the view's first {what} must be below {total}, not {first}")
    if count == ALL:
        return first, total - 1
    if not 1 <= count <= total - first:
        raise D3D12Error(
            f"a view from {what} {first} must have 1..{total - first} of {total}, not {count}"
        )
    return first, first + count - 1


def _min_lod(clamp: float, first: int, last: int) -> int:
    """ResourceMinLODClamp as U4.8 in view space, cut to 1/256."""
    if not isfinite(clamp) or clamp < 0:
        raise D3D12Error(f"ResourceMinLODClamp must be finite and at least 0, not {clamp}")
    if clamp > last:
        warn(f"ResourceMinLODClamp {clamp} is beyond the view's last mip {last}, which is used")
    return int(min(LARGEST_MIN_LOD, 256 * max(0.0, clamp - first)))


def _frozen(words: np.ndarray) -> np.ndarray:
    words.flags.writeable = False
    return words
