"""What the front end draws: textures, primitives and a camera (spec 07 "Input assembly")."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from numbers import Integral

import numpy as np

from minmip.sim.frontend.camera import AnyCamera
from minmip.sim.frontend.depth_bias import NO_BIAS, DepthBias
from minmip.sim.frontend.errors import SceneError, told

__all__ = [
    "INTERPOLATIONS",
    "MAX_TEXTURE_SIZE",
    "NO_TEXTURE",
    "TILE_SIZE",
    "WRAP_MODES",
    "Primitive",
    "Scene",
    "Texture",
]

MAX_TEXTURE_SIZE = 16384
"""Largest width and height of a texture (T#.WIDTH and HEIGHT, rule 18 of spec 01)."""

NO_TEXTURE = -1
"""Texture index of a primitive that samples nothing and only hides what is behind it."""

TILE_SIZE = 128
"""Edge in texels of a 64 KB tile of RGBA8 (4 bytes a texel): the D3D standard tile shape."""

WRAP_MODES = ("wrap", "mirror", "clamp")
"""Address modes that a scene may ask for: glTF's REPEAT, MIRRORED_REPEAT and CLAMP_TO_EDGE."""

INTERPOLATIONS = ("constant", "linear", "perspective")
"""How texture coordinates go from the vertices to the pixels."""

MAX_DISTANCES = 8
"""Most clip and cull distances of a primitive, as in Direct3D."""


@dataclass(frozen=True, kw_only=True)
class Texture:
    """The texture of a material: its size and how it is sampled. Texels are never needed.

    Two uses of one image with different samplers are two textures. The format is taken to be RGBA8
    (4 bytes a texel), which fixes the 64 KB tile to 128x128 texels.

    Parameters
    ----------
    name : str
        For reports and file names.
    width, height : int
        Size of mip 0 in texels, 1..16384.
    wrap_u, wrap_v : str
        One of `WRAP_MODES`.
    mag_filter, min_filter : str
        "point" or "linear", inside one mip.
    mip_filter : str
        "none", "point" or "linear", between mips.
    """

    name: str
    width: int
    height: int
    wrap_u: str = "wrap"
    wrap_v: str = "wrap"
    mag_filter: str = "linear"
    min_filter: str = "linear"
    mip_filter: str = "linear"

    def __post_init__(self):
        if not isinstance(self.name, str):
            raise SceneError(f"a texture's name must be a text, not {told(self.name)}")
        for axis in ("width", "height"):
            size = getattr(self, axis)
            if not isinstance(size, int | np.integer) or not 1 <= size <= MAX_TEXTURE_SIZE:
                raise SceneError(
                    f"texture {self.name!r}: {axis} must be in 1..{MAX_TEXTURE_SIZE}, "
                    f"not {told(size)}"
                )
        for what, legal in (
            ("wrap_u", WRAP_MODES),
            ("wrap_v", WRAP_MODES),
            ("mag_filter", ("point", "linear")),
            ("min_filter", ("point", "linear")),
            ("mip_filter", ("none", "point", "linear")),
        ):
            value = getattr(self, what)
            if not isinstance(value, str) or value not in legal:
                raise SceneError(
                    f"texture {self.name!r}: {what} must be one of {', '.join(legal)}, "
                    f"not {told(value)}"
                )

    @property
    def mips(self) -> int:
        """Number of mip levels of the whole chain, down to 1x1."""
        return max(self.width, self.height).bit_length()

    def mip_size(self, level: int) -> tuple[int, int]:
        """Width and height of a mip level in texels: halved per step, rounded down, at least 1."""
        return max(1, self.width >> level), max(1, self.height >> level)


@dataclass(frozen=True, kw_only=True)
class Primitive:
    """Triangles that share one texture, in world space.

    Parameters
    ----------
    positions : ndarray
        float32 [V, 3], all finite.
    uv : ndarray
        float32 [V, 2], origin top left, v down (as in glTF).
    triangles : ndarray
        int32 [N, 3], vertex indices; front faces are counter-clockwise.
    texture : int
        Index in `Scene.textures`, or `NO_TEXTURE`.
    double_sided : bool
        Back faces are drawn too.
    interpolation : str
        One of `INTERPOLATIONS`, for the texture coordinates. "constant" takes those of a triangle's
        first vertex, "linear" goes straight across the frame, "perspective" across the triangle.
    centroid : bool
        With several samples a pixel: a lane whose centre lies outside takes its coordinates at the
        first sample that the triangle covers.
    slice : int or ndarray
        Slice of the target, one for all or int [N] by triangle.
    depth_bias : DepthBias
        Added to the depth of every triangle.
    clip_distances, cull_distances : ndarray, optional
        float32 [V, n], finite, 8 in all at most. A triangle is cut where a clip distance is
        negative; it is dropped if a cull distance is negative at all its vertices.
    """

    positions: np.ndarray
    uv: np.ndarray
    triangles: np.ndarray
    texture: int
    double_sided: bool = False
    interpolation: str = "perspective"
    centroid: bool = False
    slice: int | np.ndarray = 0
    depth_bias: DepthBias = NO_BIAS
    clip_distances: np.ndarray | None = None
    cull_distances: np.ndarray | None = None

    def __post_init__(self):
        for what in ("positions", "uv", "triangles", "clip_distances", "cull_distances"):
            array = getattr(self, what)
            given = array is not None or not what.endswith("distances")
            if given and (not isinstance(array, np.ndarray) or not array.ndim):
                raise SceneError(f"{what} must be an array, not {told(array)}")
        vertices = len(self.positions)
        for what, dtype, shape in (
            ("positions", np.float32, (vertices, 3)),
            ("uv", np.float32, (vertices, 2)),
            ("triangles", np.int32, (len(self.triangles), 3)),
        ):
            array = getattr(self, what)
            if array.dtype != dtype or array.shape != shape:
                raise SceneError(
                    f"{what} must be {np.dtype(dtype)} {list(shape)}, "
                    f"not {array.dtype} {list(array.shape)}"
                )
        if not np.isfinite(self.positions).all():
            raise SceneError("positions must be finite numbers, but some are NaN or infinite")
        if self.triangles.size and not (
            0 <= self.triangles.min() and self.triangles.max() < vertices
        ):
            raise SceneError(
                f"vertex indices must be in 0..{vertices - 1}, "
                f"not {self.triangles.min()}..{self.triangles.max()}"
            )
        if not isinstance(self.interpolation, str) or self.interpolation not in INTERPOLATIONS:
            raise SceneError(
                f"interpolation must be one of {', '.join(INTERPOLATIONS)}, "
                f"not {told(self.interpolation)}"
            )
        for what in ("double_sided", "centroid"):
            if not isinstance(getattr(self, what), bool | np.bool):
                raise SceneError(f"{what} must be True or False, not {told(getattr(self, what))}")
        if not isinstance(self.texture, Integral):
            raise SceneError(f"texture must be an index, not {told(self.texture)}")
        if not isinstance(self.depth_bias, DepthBias):
            raise SceneError(f"depth_bias must be a DepthBias, not {told(self.depth_bias)}")
        if not isinstance(self.slice, Integral | np.ndarray):
            raise SceneError(f"slice must be an integer or an array, not {told(self.slice)}")
        slices = np.asarray(self.slice)
        if slices.dtype.kind not in "iu" or slices.shape not in ((), (len(self.triangles),)):
            raise SceneError(
                f"slice must be an integer or {len(self.triangles)} of them, "
                f"not {slices.dtype} {list(slices.shape)}"
            )
        self._check_distances(vertices)

    def _check_distances(self, vertices: int) -> None:
        """Raise SceneError if clip or cull distances are not legal."""
        total = 0
        for what in ("clip_distances", "cull_distances"):
            array = getattr(self, what)
            if array is None:
                continue
            if array.dtype != np.float32 or array.ndim != 2 or len(array) != vertices:
                raise SceneError(
                    f"{what} must be float32 [{vertices}, n], not {array.dtype} {list(array.shape)}"
                )
            if not np.isfinite(array).all():
                raise SceneError(f"{what} must be finite numbers, but some are NaN or infinite")
            total += array.shape[1]
        if total > MAX_DISTANCES:
            raise SceneError(
                f"a primitive may have {MAX_DISTANCES} clip and cull distances, not {total}"
            )


def _nothing_moves(_phase: float) -> Sequence[Primitive]:
    return ()


@dataclass(frozen=True, kw_only=True)
class Scene:
    """Everything one picture needs.

    Parameters
    ----------
    name : str
        For reports.
    textures : sequence of Texture
        What the primitives refer to.
    primitives : sequence of Primitive
        The parts that stand still, in submission order.
    camera : Camera, BoxCamera or the like
        Where it is seen from, per frame.
    animate : callable
        Phase in 0..1 (periodic) to the primitives that move; they are drawn last.
    """

    name: str
    textures: Sequence[Texture]
    primitives: Sequence[Primitive]
    camera: AnyCamera
    animate: Callable[[float], Sequence[Primitive]] = field(default=_nothing_moves)

    def frame(self, frame: int, frames: int) -> list[Primitive]:
        """Primitives of one frame of `frames`, in submission order.

        Raises SceneError for a primitive whose texture is not in `textures`.
        """
        primitives = [*self.primitives, *self.animate(frame / frames)]
        for primitive in primitives:
            if not NO_TEXTURE <= primitive.texture < len(self.textures):
                raise SceneError(
                    f"scene {self.name!r}: texture index must be in -1..{len(self.textures) - 1}, "
                    f"not {primitive.texture}"
                )
        return primitives
