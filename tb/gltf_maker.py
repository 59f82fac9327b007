"""Making small glTF files for tests, from hand-written JSON and numpy arrays."""

import base64
import io
import json
import struct

import numpy as np
from PIL import Image

COMPONENTS = {"i1": 5120, "u1": 5121, "i2": 5122, "u2": 5123, "u4": 5125, "f4": 5126}
KINDS = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4"}

SQUARE = np.array([[-1, -1, 0], [1, -1, 0], [-1, 1, 0], [1, 1, 0]], np.float32)
SQUARE_UV = np.array([[0, 1], [1, 1], [0, 0], [1, 0]], np.float32)
SQUARE_INDICES = np.array([0, 1, 3, 0, 3, 2], np.uint16)


def png(width, height):
    """Bytes of a PNG file."""
    out = io.BytesIO()
    Image.new("RGB", (width, height)).save(out, "PNG")
    return out.getvalue()


class Maker:
    """A glTF file in the making: `json` is free to edit, `data` is buffer 0."""

    def __init__(self):
        self.data = bytearray()
        self.json: dict = {
            "asset": {"version": "2.0"},
            "buffers": [{"byteLength": 0}],
            "bufferViews": [],
            "accessors": [],
            "meshes": [],
            "nodes": [],
            "materials": [],
            "textures": [],
            "images": [],
            "samplers": [],
        }

    def view(self, data, **more):
        """Add a buffer view, return its index."""
        self.data += bytes(-len(self.data) % 4)
        entry = {"buffer": 0, "byteOffset": len(self.data), "byteLength": len(data), **more}
        self.json["bufferViews"].append(entry)
        self.data += data
        return len(self.json["bufferViews"]) - 1

    def add(self, kind, **entry):
        """Append to a top-level list, return the index."""
        self.json[kind].append(entry)
        return len(self.json[kind]) - 1

    def accessor(self, array, **more):
        """Add an array as a tightly packed accessor, return its index."""
        array = np.asarray(array)
        columns = array.reshape(len(array), -1)
        entry = {
            "bufferView": self.view(columns.astype(array.dtype.newbyteorder("<")).tobytes()),
            "componentType": COMPONENTS[array.dtype.str[1:]],
            "count": len(array),
            "type": KINDS[columns.shape[1]],
            **more,
        }
        return self.add("accessors", **{k: v for k, v in entry.items() if v is not None})

    def image(self, width=64, height=32, **more):
        """Add a PNG in a buffer view, return the image's index."""
        return self.add(
            "images", bufferView=self.view(png(width, height)), mimeType="image/png", **more
        )

    def material(self, texture=None, **more):
        """Add a material; `texture` is a textureInfo object."""
        entry = {"pbrMetallicRoughness": {"baseColorTexture": texture}} if texture else {}
        return self.add("materials", **entry, **more)

    def mesh(self, primitive):
        """Add a mesh of one primitive and a node that shows it, return the node's index."""
        mesh = self.add("meshes", primitives=[primitive])
        return self.add("nodes", mesh=mesh)

    def glb(self):
        """Bytes of the GLB file."""
        self.json["buffers"][0]["byteLength"] = len(self.data)
        text = json.dumps({k: v for k, v in self.json.items() if v != []}).encode()
        text += b" " * (-len(text) % 4)
        data = bytes(self.data) + bytes(-len(self.data) % 4)
        return (
            struct.pack("<4sII", b"glTF", 2, 12 + 8 + len(text) + 8 + len(data))
            + struct.pack("<I4s", len(text), b"JSON")
            + text
            + struct.pack("<I4s", len(data), b"BIN\0")
            + data
        )

    def save(self, folder, name="test.glb"):
        """Write the GLB file, return its path."""
        path = folder / name
        path.write_bytes(self.glb())
        return path

    def save_json(self, folder, buffer_uri=None):
        """Write a .gltf file with buffer 0 at a uri (default: a data uri), return its path."""
        data = base64.b64encode(self.data).decode()
        self.json["buffers"][0] = {
            "byteLength": len(self.data),
            "uri": buffer_uri or f"data:application/octet-stream;base64,{data}",
        }
        path = folder / "test.gltf"
        path.write_text(json.dumps({k: v for k, v in self.json.items() if v != []}))
        return path


def textured_square(texture=None, uv=SQUARE_UV, **uv_options):
    """A square with a 64x32 texture; `texture` adds to the textureInfo."""
    maker = Maker()
    maker.add("textures", source=maker.image())
    material = maker.material({"index": 0, **(texture or {})})
    maker.mesh(
        {
            "attributes": {
                "POSITION": maker.accessor(SQUARE),
                "TEXCOORD_0": maker.accessor(uv, **uv_options),
            },
            "indices": maker.accessor(SQUARE_INDICES),
            "material": material,
        }
    )
    return maker
