"""Which texture a glTF material samples, its real size and its sampler."""

import io
import warnings
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote

import numpy as np
import pygltflib
from PIL import Image

from minmip.sim.frontend.errors import SceneError
from minmip.sim.frontend.gltf_document import Document, extension, number, vector, whole
from minmip.sim.frontend.scene import Texture

__all__ = ["Binding", "TextureTable", "bind_material"]

WRAPS = {10497: "wrap", 33648: "mirror", 33071: "clamp"}
MAG_FILTERS = {9728: "point", 9729: "linear"}
MIN_FILTERS = {
    # inside a mip, between mips
    9728: ("point", "none"),
    9729: ("linear", "none"),
    9984: ("point", "point"),
    9985: ("linear", "point"),
    9986: ("point", "linear"),
    9987: ("linear", "linear"),
}
IMAGE_EXTENSIONS = ("EXT_texture_webp", "EXT_texture_avif", "MSFT_texture_dds")


@dataclass(frozen=True, kw_only=True)
class Binding:
    """How a material samples its texture.

    Parameters
    ----------
    texture : int
        Index in `TextureTable.textures`.
    uv_set : int
        n of the TEXCOORD_n it is sampled with.
    transform : ndarray
        float64 [2, 3]: coordinates (u, v, 1) of the mesh to those of the texture.
    """

    texture: int
    uv_set: int
    transform: np.ndarray

    @property
    def moves(self) -> bool:
        """False if the coordinates are those of the mesh."""
        return not np.array_equal(self.transform, np.eye(2, 3))


class TextureTable:
    """Textures that the drawn materials sample: one for each image and sampler, in order of use.

    Parameters
    ----------
    document : Document
        The file.

    Attributes
    ----------
    textures : list of Texture
        Filled by `index`.
    """

    def __init__(self, document: Document):
        self.document = document
        self.textures: list[Texture] = []
        self._known: dict[tuple, int] = {}
        self._sizes: dict[int, tuple[int, int]] = {}

    def index(self, texture_index: Any, user: str) -> int:
        """Index in `textures` of textures[texture_index] of the file."""
        texture = self.document.item("textures", texture_index, user)
        what = f"textures[{texture_index}]"
        image = self._image(texture, what)
        sampler = self._sampler(texture.sampler, what)
        key = (image, *sampler.values())
        if key not in self._known:
            width, height = self._size(image, what)
            name = self._name(image)
            if any(other.name == name for other in self.textures):
                name = f"{name}-{len(self.textures)}"
            self._known[key] = len(self.textures)
            self.textures.append(Texture(name=name, width=width, height=height, **sampler))
        return self._known[key]

    def _image(self, texture: Any, what: str) -> int:
        """Index of the image that a texture shows."""
        if texture.source is not None:
            return whole(texture.source, f"{what}.source")
        for name in IMAGE_EXTENSIONS:
            found = extension(texture, name)
            if found is not None:
                return whole(found.get("source"), f"{what}: source of {name}")
        if extension(texture, "KHR_texture_basisu") is not None:
            raise SceneError(
                f"{what} has only a KHR_texture_basisu image, which is not supported: "
                "wanted a PNG, JPEG, WebP, AVIF or DDS image"
            )
        raise SceneError(f"{what} must have an image (source), but has none")

    def _sampler(self, index: Any, what: str) -> dict[str, str]:
        """Fields of `Texture` that a sampler fixes; without one all is repeated and smooth."""
        wrap_u = wrap_v = "wrap"
        mag_filter, min_filter, mip_filter = "linear", "linear", "linear"
        if index is not None:
            sampler = self.document.item("samplers", index, what)
            user = f"samplers[{index}]"
            wrap_u = _choice(WRAPS, sampler.wrapS, "wrap", f"{user}.wrapS")
            wrap_v = _choice(WRAPS, sampler.wrapT, "wrap", f"{user}.wrapT")
            mag_filter = _choice(MAG_FILTERS, sampler.magFilter, "linear", f"{user}.magFilter")
            min_filter, mip_filter = _choice(
                MIN_FILTERS, sampler.minFilter, ("linear", "linear"), f"{user}.minFilter"
            )
        return {
            "wrap_u": wrap_u,
            "wrap_v": wrap_v,
            "mag_filter": mag_filter,
            "min_filter": min_filter,
            "mip_filter": mip_filter,
        }

    def _size(self, index: int, user: str) -> tuple[int, int]:
        """Width and height of an image, from its header."""
        if index not in self._sizes:
            image = self.document.item("images", index, user)
            what = f"images[{index}]"
            if image.uri is not None:
                data = self.document.resource(image.uri, what)
            elif image.bufferView is not None:
                data, _ = self.document.view(image.bufferView, what)
            else:
                raise SceneError(f"{what} has neither a uri nor a bufferView")
            self._sizes[index] = _image_size(data, what)
        return self._sizes[index]

    def _name(self, index: int) -> str:
        """A name fit for one line of a report: the image's, its file's, or its number."""
        image = self.document.gltf.images[index]
        name = image.name
        if not name and image.uri is not None and not image.uri.startswith("data:"):
            name = PurePosixPath(unquote(image.uri)).stem
        return "".join(filter(str.isprintable, name or ""))[:60] or f"image{index}"


def bind_material(
    document: Document, table: TextureTable, index: Any, user: str
) -> tuple[Binding | None, bool]:
    """The texture binding of a material, None if it has no texture, and whether it is double-sided.

    Feedback is recorded for one texture: the base colour, or the first the material has of diffuse
    (KHR_materials_pbrSpecularGlossiness), metallic-roughness, normal, occlusion and emissive.
    """
    if index is None:
        return None, False
    material = document.item("materials", index, user)
    what = f"materials[{index}]"
    metallic = material.pbrMetallicRoughness
    glossy = extension(material, "KHR_materials_pbrSpecularGlossiness") or {}
    candidates = [
        metallic and metallic.baseColorTexture,
        glossy.get("diffuseTexture"),
        metallic and metallic.metallicRoughnessTexture,
        material.normalTexture,
        material.occlusionTexture,
        material.emissiveTexture,
    ]
    info = next((candidate for candidate in candidates if candidate is not None), None)
    if info is None:
        return None, bool(material.doubleSided)
    if isinstance(info, dict):  # in an extension pygltflib leaves JSON as it is
        info = pygltflib.TextureInfo(
            index=info.get("index", -1),
            texCoord=info.get("texCoord"),
            extensions=info.get("extensions"),
        )
    moved = extension(info, "KHR_texture_transform") or {}
    uv_set = moved.get("texCoord", info.texCoord)
    binding = Binding(
        texture=table.index(info.index, what),
        uv_set=whole(uv_set or 0, f"{what}: texCoord"),
        transform=_uv_transform(moved, f"{what}: KHR_texture_transform"),
    )
    return binding, bool(material.doubleSided)


def _uv_transform(moved: dict[str, Any], what: str) -> np.ndarray:
    """Scale, then turn, then move: float64 [2, 3].

    The direction of the turn is that of the extension's worked example (offset 0, 1, a quarter
    turn and scale 0.5 give the lower left quarter of the image).
    """
    offset = vector(moved.get("offset", [0, 0]), 2, f"{what}.offset")
    scale = vector(moved.get("scale", [1, 1]), 2, f"{what}.scale")
    angle = number(moved.get("rotation", 0), f"{what}.rotation")
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    return np.column_stack([turn * scale, offset])


def _choice(table: dict, value: Any, default: Any, what: str) -> Any:
    if value is None:
        return default
    if isinstance(value, list | dict) or value not in table:
        raise SceneError(f"{what} must be one of {', '.join(map(str, table))}, not {value!r:.40}")
    return table[value]


def _image_size(data: bytes | memoryview, what: str) -> tuple[int, int]:
    """Width and height from the header of an image file; its texels are not decoded."""
    limit = Image.MAX_IMAGE_PIXELS
    try:
        # The limit guards against decoding: only the header is read here, whatever the size.
        Image.MAX_IMAGE_PIXELS = None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(io.BytesIO(data)) as image:
                return image.size
    # Each of pillow's formats raises errors of its own on broken files.
    except Exception as error:
        raise SceneError(f"{what} must be an image that can be read: {error!s:.80}") from error
    finally:
        Image.MAX_IMAGE_PIXELS = limit
