"""A glTF file with checked access: whatever is wrong in it ends in one sentence.

pygltflib parses the JSON and the GLB container but checks no types, ranges or lengths: that is done
here. Errors raised here do not name the file; `load_gltf` puts its name in front.
"""

import base64
import binascii
import math
import struct
import warnings
from pathlib import Path
from typing import Any
from urllib.parse import unquote, unquote_to_bytes

import numpy as np
import pygltflib

from minmip.sim.frontend.errors import SceneError

__all__ = ["Document", "extension", "number", "to_float32", "vector", "whole"]

GLB_HEADER = struct.Struct("<4sII")

COMPRESSION = ("KHR_draco_mesh_compression", "EXT_meshopt_compression", "KHR_meshopt_compression")
KNOWN_EXTENSIONS = {
    "KHR_texture_transform",
    "KHR_mesh_quantization",
    # Only the texture that needs one of these is looked at, and refused if it cannot be read.
    "KHR_texture_basisu",
    "EXT_texture_webp",
    "EXT_texture_avif",
    "MSFT_texture_dds",
    # These change no geometry, coordinates or texture sizes.
    "KHR_lights_punctual",
    "KHR_animation_pointer",
    "KHR_xmp",
    "KHR_xmp_json_ld",
}


def whole(value: Any, what: str) -> int:
    """The value if it is a whole number from 0 up, else SceneError."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # JSON does not tell 4.0 from 4
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise SceneError(f"{what} must be a whole number from 0 up, not {value!r:.40}")
    return value


def number(value: Any, what: str) -> float:
    """The value if it is a finite number, else SceneError."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not _fits_float(value):
        raise SceneError(f"{what} must be a finite number, not {value!r:.40}")
    return float(value)


def _fits_float(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # an int of hundreds of digits
        return False


def vector(value: Any, size: int, what: str) -> list[float]:
    """The value if it is a list of `size` finite numbers, else SceneError."""
    if not isinstance(value, list) or len(value) != size:
        raise SceneError(f"{what} must be a list of {size} numbers, not {value!r:.40}")
    return [number(item, what) for item in value]


def to_float32(values: np.ndarray, what: str) -> np.ndarray:
    """Values rounded to float32; SceneError if one is too large or not finite."""
    with np.errstate(over="ignore"):
        rounded = values.astype(np.float32)
    if not np.isfinite(rounded).all():
        raise SceneError(f"{what} must be finite float32 numbers, but some are not")
    return rounded


def extension(owner: Any, name: str) -> dict[str, Any] | None:
    """The object of an extension, or None if `owner` does not have it."""
    found = owner.extensions.get(name) if isinstance(owner.extensions, dict) else None
    if found is not None and not isinstance(found, dict):
        raise SceneError(f"extension {name} must be a JSON object, not {found!r:.40}")
    return found


class Document:
    """A parsed glTF file.

    Parameters
    ----------
    path : Path
        A .gltf or .glb file; the content tells which.

    Raises
    ------
    SceneError
        If the file cannot be read, is no glTF 2.0, or needs an extension that is not supported.
    """

    def __init__(self, path: Path):
        self.folder = path.parent
        self.gltf = _parse(_read(path), wants_glb=path.suffix.lower() == ".glb")
        self._buffers: dict[int, bytes] = {}
        version = self.gltf.asset.version if isinstance(self.gltf.asset, pygltflib.Asset) else None
        if not isinstance(version, str) or version.split(".")[0] != "2":
            raise SceneError(f"asset.version must be 2.0, not {version!r:.40}")
        required = self.gltf.extensionsRequired or []
        if not isinstance(required, list):
            raise SceneError(f"extensionsRequired must be a list of names, not {required!r:.40}")
        for name in required:
            self.refuse_compression([name])
            if not isinstance(name, str) or not (
                name in KNOWN_EXTENSIONS or name.startswith("KHR_materials_")
            ):
                raise SceneError(
                    f"the file requires extension {name!r:.60}, which is not supported"
                )

    @staticmethod
    def refuse_compression(names: Any) -> None:
        """Raise SceneError if a compressed geometry format is among the names of extensions."""
        for name in COMPRESSION:
            if name in (names or ()):
                raise SceneError(
                    f"the geometry is compressed with {name}, which is not supported: "
                    "wanted plain accessors (most glTF tools can decompress)"
                )

    def item(self, kind: str, index: Any, user: str) -> Any:
        """Element `index` of a top-level list such as "accessors", which `user` refers to."""
        items = getattr(self.gltf, kind)
        index = whole(index, f"{user}: index in {kind}")
        if not isinstance(items, list) or index >= len(items):
            count = len(items) if isinstance(items, list) else 0
            raise SceneError(f"{user} refers to {kind}[{index}], but the file has {count} {kind}")
        if not isinstance(items[index], pygltflib.Property):
            raise SceneError(f"{kind}[{index}] must be a JSON object, not {items[index]!r:.40}")
        return items[index]

    def view(self, index: Any, user: str) -> tuple[memoryview, int | None]:
        """Bytes of a buffer view and its byteStride, None if it gives none."""
        view = self.item("bufferViews", index, user)
        what = f"bufferViews[{index}]"
        self.refuse_compression(view.extensions)
        data = self._buffer(view.buffer, what)
        offset = whole(view.byteOffset or 0, f"{what}.byteOffset")
        length = whole(view.byteLength, f"{what}.byteLength")
        if offset + length > len(data):
            raise SceneError(
                f"{what} wants bytes {offset}..{offset + length} of buffers[{view.buffer}], "
                f"which has {len(data)}"
            )
        stride = None
        if view.byteStride is not None:
            stride = whole(view.byteStride, f"{what}.byteStride")
        return memoryview(data)[offset : offset + length], stride

    def _buffer(self, index: Any, user: str) -> bytes:
        """Bytes of a buffer, exactly as many as it declares."""
        buffer = self.item("buffers", index, user)
        index, what = int(index), f"buffers[{index}]"
        if index not in self._buffers:
            length = whole(buffer.byteLength, f"{what}.byteLength")
            if buffer.uri is not None:
                data = self.resource(buffer.uri, what)
            else:
                data = self.gltf.binary_blob() if index == 0 else None
                if data is None:
                    raise SceneError(f"{what} has neither a uri nor the binary chunk of a GLB file")
            if len(data) < length:
                raise SceneError(f"{what} must have {length} bytes, but only {len(data)} came")
            self._buffers[index] = data[:length]
        return self._buffers[index]

    def resource(self, uri: Any, user: str) -> bytes:
        """Bytes behind a uri: a data uri, or a file in the folder of the glTF file or below it."""
        if not isinstance(uri, str):
            raise SceneError(f"{user}.uri must be a text, not {uri!r:.40}")
        if uri.startswith("data:"):
            return _data_uri(uri, user)
        if "://" in uri:
            raise SceneError(f"{user}.uri must be a file beside the glTF file, not {uri:.60}")
        inside = Path(unquote(uri))
        if inside.is_absolute() or ".." in inside.parts:
            raise SceneError(
                f"{user}.uri must stay inside the folder of the glTF file, not {uri:.60}"
            )
        try:
            return _read(self.folder / inside)
        except SceneError as error:
            raise SceneError(f"{user}: {uri:.60} {error}") from error


def _read(path: Path) -> bytes:
    """All bytes of a file; SceneError continues a sentence that starts with the file's name."""
    try:
        if path.is_dir():
            raise SceneError("is a folder, wanted a file")
        if path.exists() and not path.is_file():
            raise SceneError("is not an ordinary file")
        return path.read_bytes()
    except FileNotFoundError as error:
        raise SceneError("does not exist") from error
    except (OSError, ValueError) as error:  # ValueError: a name with a zero byte
        if isinstance(error, SceneError):
            raise
        reason = getattr(error, "strerror", None) or error
        raise SceneError(f"cannot be read: {reason}") from error


def _parse(data: bytes, wants_glb: bool) -> pygltflib.GLTF2:
    """Parse a GLB container or glTF JSON."""
    is_glb = data[:4] == pygltflib.MAGIC
    if wants_glb and not is_glb:
        raise SceneError(f"a .glb file must start with the bytes b'glTF', not {data[:4]!r}")
    if is_glb:
        if len(data) < GLB_HEADER.size:
            raise SceneError(f"the GLB header must have 12 bytes, but only {len(data)} came")
        _, version, length = GLB_HEADER.unpack_from(data)
        if version != 2:
            raise SceneError(f"the GLB version must be 2, not {version}")
        if length > len(data):
            raise SceneError(f"the GLB header says {length} bytes, but only {len(data)} came")
        data = data[:length]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns of unknown chunks, which are legal
            if is_glb:
                gltf = pygltflib.GLTF2.load_from_bytes(data)
            else:
                gltf = pygltflib.GLTF2.from_json(data.decode("utf-8-sig"), infer_missing=True)
    # The library documents no exceptions: broken input raises whatever its parts happen to raise.
    except Exception as error:
        kind = "GLB" if is_glb else "glTF JSON"
        raise SceneError(
            f"this is no readable {kind}: {type(error).__name__}: {error!s:.120}"
        ) from error
    if not isinstance(gltf, pygltflib.GLTF2):
        raise SceneError("the GLB file has no JSON chunk")
    return gltf


def _data_uri(uri: str, user: str) -> bytes:
    """Bytes in a data uri."""
    head, comma, body = uri.partition(",")
    if not comma:
        raise SceneError(f"{user}.uri is a data uri without a comma: {uri:.40}")
    if not head.endswith(";base64"):
        return unquote_to_bytes(body)
    try:
        return base64.b64decode(unquote(body))
    except (binascii.Error, ValueError) as error:
        raise SceneError(f"{user}.uri must hold base64 data: {error}") from error
