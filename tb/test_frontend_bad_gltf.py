"""Broken glTF files end in one clear sentence, whatever is broken."""

import copy
import json
import os
import struct

import numpy as np
import pytest
from gltf_maker import SQUARE, Maker, textured_square

from minmip.sim.frontend import SceneError, load_gltf, render_quads


def refused(path):
    """The sentence with which a file is refused."""
    with pytest.raises(SceneError) as caught:
        load_gltf(path)
    text = str(caught.value)
    assert text.startswith(f"{path}: ")
    assert "\n" not in text
    assert len(text) < 400
    return text.removeprefix(f"{path}: ")


def test_files_that_are_none(tmp_path):
    assert refused(tmp_path / "missing.glb") == "does not exist"
    assert refused(tmp_path) == "is a folder, wanted a file"
    contents = {
        "empty.glb": (b"", "must start with the bytes b'glTF', not b''"),
        "png.glb": (b"\x89PNG....", "must start with the bytes b'glTF'"),
        "short.glb": (b"glTF\2\0", "must have 12 bytes, but only 6 came"),
        "old.glb": (b"glTF" + struct.pack("<II", 1, 12), "version must be 2, not 1"),
        "bare.glb": (b"glTF" + struct.pack("<II", 2, 12), "no JSON chunk"),
        "empty.gltf": (b"", "no readable glTF JSON"),
        "text.gltf": (b"hello", "no readable glTF JSON"),
        "cut.gltf": (b'{"asset": {"version": "2.0"', "no readable glTF JSON"),
        "latin.gltf": (b'{"asset": "\xff"}', "no readable glTF JSON"),
        "list.gltf": (b"[1, 2]", "no readable glTF JSON"),
        "deep.gltf": (b"[" * 100000, "no readable glTF JSON"),
        "nothing.gltf": (b"{}", "wanted at least one triangle"),
        "version.gltf": (b'{"asset": {"version": "1.0"}}', "asset.version must be 2.0, not '1.0'"),
    }
    for name, (data, text) in contents.items():
        path = tmp_path / name
        path.write_bytes(data)
        assert text in refused(path), name
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.glb")
        assert refused(tmp_path / "pipe.glb") == "is not an ordinary file"


def set_in(tree, path, value):
    """Set the value at a path such as "accessors.0.count" in JSON."""
    *way, last = path.split(".")
    for key in way:
        tree = tree[int(key)] if isinstance(tree, list) else tree[key]
    tree[int(last) if isinstance(tree, list) else last] = value


ROUNDS = int(os.environ.get("MINMIP_FUZZ_ROUNDS", "100"))
COLOUR = "materials.0.pbrMetallicRoughness.baseColorTexture"
PRIMITIVE = "meshes.0.primitives.0"


@pytest.mark.parametrize(
    ("path", "value", "text"),
    [
        (
            "accessors.0.count",
            5,
            r"accessors\[0\] wants 60 bytes of bufferViews\[1\], which has 48",
        ),
        ("accessors.0.count", -1, r"accessors\[0\].count must be a whole number from 0 up, not -1"),
        ("accessors.0.count", 2**60, r"accessors\[0\].count must be at most"),
        ("accessors.0.count", 1e99, r"accessors\[0\].count must be at most"),
        ("accessors.0.count", "many", "no readable GLB: ValueError: invalid literal"),
        ("accessors.0.count", None, "must be a whole number"),
        ("accessors.0.count", float("nan"), "no readable GLB"),
        ("accessors.0.byteOffset", 1, "wants 49 bytes"),
        ("accessors.0.byteOffset", 10**30, "wants 10+48 bytes"),
        ("accessors.0.type", "VEC2", "type must be VEC3, not 'VEC2'"),
        ("accessors.0.type", 7, "type must be VEC3, not '7'"),
        ("accessors.0.componentType", 5124, "componentType must be one of 5120"),
        ("accessors.0.componentType", [], "no readable GLB"),
        ("accessors.0.bufferView", 99, r"accessors\[0\] refers to bufferViews\[99\], but the file"),
        ("accessors.0.bufferView", -1, "index in bufferViews must be a whole number"),
        ("accessors.0", None, r"accessors\[0\] must be a JSON object"),
        ("accessors.1.count", 3, r"TEXCOORD_0 must have 4 elements, not 3"),
        ("accessors.2.componentType", 5122, "indices must be an unsigned kind, not int16"),
        ("accessors.0.sparse", {"count": 1}, "sparse must have indices and values"),
        ("bufferViews.1.byteOffset", 10**9, r"bufferViews\[1\] wants bytes"),
        ("bufferViews.1.byteLength", None, "byteLength must be a whole number"),
        ("bufferViews.1.byteStride", 2, "byteStride must be at least 12, not 2"),
        ("bufferViews.1.byteStride", 2**40, "which has 48"),
        ("bufferViews.1.buffer", 3, r"refers to buffers\[3\], but the file has 1 buffers"),
        ("bufferViews", 5, "no readable GLB"),
        ("buffers.0.byteLength", 10**7, r"buffers\[0\] must have 10000000 bytes, but only"),
        ("buffers.0.uri", "gone.bin", r"buffers\[0\]: gone.bin does not exist"),
        ("buffers.0.uri", "..", "must stay inside the folder"),
        ("buffers.0.uri", ".", "is a folder, wanted a file"),
        ("buffers.0.uri", "../secret.bin", "must stay inside the folder"),
        ("buffers.0.uri", "%2e%2e/secret.bin", "must stay inside the folder"),
        ("buffers.0.uri", "/etc/passwd", "must stay inside the folder"),
        ("buffers.0.uri", "http://x.org/a.bin", "must be a file beside the glTF file"),
        ("buffers.0.uri", "a\0b", "cannot be read"),
        ("buffers.0.uri", "data:nothing", "data uri without a comma"),
        ("buffers.0.uri", "data:;base64,abcde", "must hold base64 data"),
        ("buffers.0.uri", {}, "does not exist|no readable"),
        (f"{PRIMITIVE}.mode", 7, r"mode must be in 0..6, not 7"),
        (f"{PRIMITIVE}.mode", -4, "mode must be a whole number"),
        (f"{PRIMITIVE}.indices", 1, r"type must be SCALAR, not 'VEC2'"),
        (f"{PRIMITIVE}.attributes", [], "wanted at least one triangle"),
        (f"{PRIMITIVE}.attributes", {"TEXCOORD_0": 1}, "wanted at least one triangle"),
        (f"{PRIMITIVE}.attributes", {"POSITION": 0}, "not the TEXCOORD_0 to sample it with"),
        (f"{PRIMITIVE}.material", 4, r"refers to materials\[4\], but the file has 1 materials"),
        ("meshes.0.primitives", None, "primitives must be a list|no readable"),
        (f"{COLOUR}.index", 1, r"refers to textures\[1\], but the file has 1 textures"),
        (f"{COLOUR}.texCoord", 1, "not the TEXCOORD_1 to sample it with"),
        (f"{COLOUR}.texCoord", -1, "texCoord must be a whole number"),
        (
            f"{COLOUR}.extensions",
            {"KHR_texture_transform": {"scale": [1]}},
            r"KHR_texture_transform.scale must be a list of 2 numbers, not \[1\]",
        ),
        (f"{COLOUR}.extensions", {"KHR_texture_transform": 3}, "must be a JSON object, not 3"),
        (
            f"{COLOUR}.extensions",
            {"KHR_texture_transform": {"scale": [1e300, 1]}},
            "finite float32",
        ),
        ("textures.0.source", None, r"textures\[0\] must have an image"),
        ("textures.0.sampler", 0, r"refers to samplers\[0\], but the file has 0 samplers"),
        ("images.0", {}, "neither a uri nor a bufferView"),
        ("images.0", {"uri": "gone.png"}, "gone.png does not exist"),
        ("images.0", {"bufferView": 1}, r"images\[0\] must be an image that can be read"),
        ("nodes.0.children", [0], "wanted at least one triangle"),  # no root
        ("nodes.0.children", [7], r"refers to nodes\[7\], but the file has 1 nodes"),
        ("nodes.0.children", {"a": 1}, "no readable GLB"),
        ("nodes.0.children", "0", "wanted at least one triangle"),
        ("nodes.0.matrix", [1] * 15, "matrix must be a list of 16 numbers"),
        ("nodes.0.matrix", [float("nan")] * 16, "matrix must be a finite number, not nan"),
        ("nodes.0.translation", [1e39, 0, 0], "world space must be finite float32 numbers"),
        ("nodes.0.scale", [10**400, 1, 1], "no readable GLB: OverflowError"),
        ("nodes.0.scale", [1e308, 1, 1], "transform to world space must be finite float32"),
        ("nodes.0.rotation", [0, 0, 0, 0], "rotation must be a quaternion of length 1, not 0"),
        ("nodes.0.mesh", 1, r"a node refers to meshes\[1\], but the file has 1 meshes"),
        ("nodes.0.camera", 0, r"refers to cameras\[0\], but the file has 0 cameras"),
        ("scenes", [{"nodes": [0, 0]}], r"nodes\[0\] is reached twice"),
        ("scenes", [{}], "wanted at least one triangle"),
        ("cameras", [{"type": "fisheye"}], "must be perspective or orthographic, not 'fisheye'"),
        (
            "cameras",
            [{"type": "perspective", "perspective": {"yfov": 4, "znear": 1}}],
            "must have 0 < yfov < pi and 0 < znear < zfar",
        ),
        (
            "cameras",
            [{"type": "perspective", "perspective": {"yfov": 1e-300, "znear": 1}}],
            "entries of its projection matrix must be finite float32",
        ),
        (
            "cameras",
            [{"type": "perspective", "perspective": {"yfov": 5e-324, "znear": 1}}],
            "must have 0 < yfov",
        ),
        ("extensionsRequired", ["EXT_strange"], "requires extension 'EXT_strange'"),
        ("extensionsRequired", "EXT_strange", "requires extension 'E'"),
        ("extensionsRequired", [["a"]], "requires extension"),
    ],
)
def test_one_thing_wrong(tmp_path, path, value, text):
    maker = textured_square()
    original = maker.glb
    if path == "cameras":
        maker.json["nodes"][0]["camera"] = 0

    def broken():
        original()  # fills in the buffer's length
        set_in(maker.json, path, value)
        return pack(json.dumps(maker.json).encode(), bytes(maker.data))

    file = tmp_path / "broken.glb"
    file.write_bytes(broken())
    with pytest.raises(SceneError, match=text):
        load_gltf(file)
    refused(file)


def pack(text, data):
    """A GLB file of a JSON chunk and a binary chunk."""
    text += b" " * (-len(text) % 4)
    data += bytes(-len(data) % 4)
    return (
        struct.pack("<4sII", b"glTF", 2, 28 + len(text) + len(data))
        + struct.pack("<I4s", len(text), b"JSON")
        + text
        + struct.pack("<I4s", len(data), b"BIN\0")
        + data
    )


def test_wrong_values_in_the_buffer(tmp_path):
    for array, kind, text in (
        (np.where(SQUARE > 0, np.nan, SQUARE).astype(np.float32), "POSITION", "NaN or infinite"),
        (np.full((4, 2), np.inf, np.float32), "TEXCOORD_0", "NaN or infinite"),
        (np.array([0, 1, 4], np.uint8), "indices", "indices must be below 4, not 4"),
    ):
        maker = textured_square()
        (primitive,) = maker.json["meshes"][0]["primitives"]
        owner = primitive if kind == "indices" else primitive["attributes"]
        owner[kind] = maker.accessor(array)
        assert text in refused(maker.save(tmp_path))


def test_wrong_sparse_indices(tmp_path):
    maker = textured_square()
    sparse = {
        "count": 1,
        "indices": {"bufferView": maker.view(b"\4"), "componentType": 5121},
        "values": {"bufferView": maker.view(bytes(12))},
    }
    maker.json["accessors"][0]["sparse"] = sparse
    assert "sparse.indices must be below 4, not 4" in refused(maker.save(tmp_path))
    sparse["count"] = 5
    assert "sparse.count must be at most 4, not 5" in refused(maker.save(tmp_path))
    sparse["count"], sparse["indices"]["componentType"] = 1, 5120
    assert "must be an unsigned kind, not int8" in refused(maker.save(tmp_path))


@pytest.mark.parametrize(
    "name",
    ["KHR_draco_mesh_compression", "EXT_meshopt_compression", "KHR_meshopt_compression"],
)
def test_compressed_geometry_is_refused_by_name(tmp_path, name):
    maker = textured_square()
    maker.json["extensionsRequired"] = [name]
    assert name in refused(maker.save(tmp_path))
    del maker.json["extensionsRequired"]
    owner = (
        maker.json["meshes"][0]["primitives"][0]
        if "draco" in name
        else maker.json["bufferViews"][1]
    )
    owner["extensions"] = {name: {"bufferView": 0}}
    assert name in refused(maker.save(tmp_path))


def test_mesh_without_coordinates(tmp_path):
    maker = Maker()
    maker.mesh({"attributes": {"POSITION": maker.accessor(SQUARE)}, "mode": 5})
    assert "wanted a mesh with texture coordinates" in refused(maker.save(tmp_path))


def test_deep_and_branching_node_trees(tmp_path):
    maker = textured_square()
    maker.json["nodes"] = [{"children": [i + 1]} for i in range(5000)] + [{"mesh": 0}]
    assert len(load_gltf(maker.save(tmp_path)).primitives) == 1
    maker.json["scenes"] = [{"nodes": [0]}]
    set_in(maker.json, "nodes.5000.children", [3])
    assert "nodes must be a tree, but nodes[3] is reached twice" in refused(maker.save(tmp_path))
    # Each node twice the child of the one before: 2**40 paths, refused at the first repetition.
    maker.json["nodes"] = [{"children": [i + 1, i + 1]} for i in range(40)] + [{"mesh": 0}]
    assert "is reached twice" in refused(maker.save(tmp_path))


def test_image_too_large(tmp_path):
    maker = textured_square()
    header = b"P6 20000 1 255\n"
    maker.json["images"] = [{"bufferView": maker.view(header + bytes(60000))}]
    assert "width must be in 1..16384, not 20000" in refused(maker.save(tmp_path))


def rich_file():
    """A file that uses most of what can be in one."""
    transform = {"KHR_texture_transform": {"scale": [2, 2], "rotation": 1, "texCoord": 0}}
    maker = textured_square({"extensions": transform})
    maker.add("nodes", children=[0, 2], rotation=[0, 0, 0, 1], scale=[1, 2, 3])
    maker.add("nodes", camera=0, translation=[0, 0, 3])
    maker.add("nodes", mesh=0, matrix=np.eye(4).ravel().tolist())
    maker.json["scenes"] = [{"nodes": [1, 3]}]
    maker.json["scene"] = 0
    maker.json["cameras"] = [{"type": "perspective", "perspective": {"yfov": 1.0, "znear": 0.1}}]
    maker.json["textures"][0]["sampler"] = maker.add("samplers", wrapS=33071, minFilter=9987)
    maker.json["accessors"][1]["sparse"] = {
        "count": 1,
        "indices": {"bufferView": maker.view(b"\1"), "componentType": 5121},
        "values": {"bufferView": maker.view(bytes(8))},
    }
    maker.json["extensionsRequired"] = ["KHR_texture_transform"]
    return maker


def drawn_or_refused(path):
    """Load and draw a file; False if it is refused. Anything else raised is a fault."""
    try:
        scene = load_gltf(path)
    except SceneError:
        return False
    render_quads(scene, 16, 16)
    return True


@pytest.mark.parametrize("seed", range(4))
def test_damaged_bytes_are_refused_or_drawn(tmp_path, seed):
    """Flipped bits, random bytes and cuts anywhere in a file."""
    rng = np.random.default_rng(seed)
    print("seed", seed)
    whole = rich_file().glb()
    drawn = 0
    for _ in range(ROUNDS):
        data = bytearray(whole)
        for _ in range(rng.integers(1, 3)):
            place = int(rng.integers(len(data)))
            kind = rng.integers(6)
            if kind == 0:
                del data[max(place, 1) :]
            elif kind == 1:
                del data[max(place, 1) : place + int(rng.integers(1, 9))]
            elif kind == 2:
                data[place] = int(rng.integers(256))
            elif kind == 3:
                data[place] = int(rng.choice(list(b'0123456789-.eE"{}[],:nul')))
            else:
                data[place] ^= 1 << int(rng.integers(8))
        if len(data) >= 12 and rng.integers(2):
            data[8:12] = struct.pack("<I", len(data))  # let it get past the check of the length
        path = tmp_path / "damaged.glb"
        path.write_bytes(data)
        drawn += drawn_or_refused(path)
    assert drawn > ROUNDS // 50


def places(tree):
    """Every (container, key) in a JSON tree."""
    items = tree.items() if isinstance(tree, dict) else enumerate(tree)
    for key, value in items:
        yield tree, key
        if isinstance(value, dict | list):
            yield from places(value)


WEIRD = [
    *(None, True, False, 0, 1, -1, 2, 3, 7, 255, 2**31, 2**32, 2**63, 10**400, -(2**70)),
    *(0.5, -0.0, 1e-320, 1e39, 1e308, float("nan"), float("inf"), float("-inf")),
    *("", "0", "x", "VEC2", "..", "data:,", "\0", [], [0], [[]], [None], {}, {"index": 0}),
    *([1e30] * 3, [0.0] * 4, [1e300] * 16, ["a"] * 4, {"extensions": {"KHR_texture_transform": 1}}),
]


@pytest.mark.parametrize("seed", range(4))
def test_weird_json_values_are_refused_or_drawn(tmp_path, seed):
    rng = np.random.default_rng(seed)
    print("seed", seed)
    maker = rich_file()
    maker.glb()
    text = json.dumps({key: value for key, value in maker.json.items() if value != []})
    drawn = 0
    for _ in range(ROUNDS):
        tree = json.loads(text)
        for _ in range(rng.integers(1, 3)):
            found = list(places(tree))
            container, key = found[rng.integers(len(found))]
            if rng.integers(6) == 0:
                del container[key]
            else:
                container[key] = copy.deepcopy(WEIRD[rng.integers(len(WEIRD))])
        path = tmp_path / "weird.glb"
        path.write_bytes(pack(json.dumps(tree).encode(), bytes(maker.data)))
        drawn += drawn_or_refused(path)
    assert drawn > ROUNDS // 50
