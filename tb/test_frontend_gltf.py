"""What a glTF file may hold and how it must come out (spec 07 "Input assembly")."""

import zlib
from base64 import b64encode

import numpy as np
import pytest
from gltf_maker import SQUARE, SQUARE_INDICES, SQUARE_UV, Maker, png, textured_square

from minmip.sim.frontend import SceneError, Texture, load_gltf, render_quads
from minmip.sim.frontend.camera import BoxCamera, Camera, Orthographic, Perspective
from minmip.sim.frontend.gltf import DEFAULT_TEXTURE
from minmip.sim.frontend.scene import NO_TEXTURE


def only_primitive(path):
    (primitive,) = load_gltf(path).primitives
    return primitive


def test_a_textured_square(tmp_path):
    scene = load_gltf(textured_square().save(tmp_path))
    assert scene.textures == [Texture(name="image0", width=64, height=32)]
    (primitive,) = scene.primitives
    np.testing.assert_array_equal(primitive.positions, SQUARE)
    np.testing.assert_array_equal(primitive.uv, SQUARE_UV)
    np.testing.assert_array_equal(primitive.triangles, SQUARE_INDICES.reshape(-1, 3))
    assert (primitive.texture, primitive.double_sided) == (0, False)
    quads = render_quads(scene, 64, 64)
    assert len(quads) > 200
    assert quads.uv.min() > -0.1
    assert quads.uv.max() < 1.1


def test_json_file_with_data_uri_and_with_files(tmp_path):
    maker = textured_square()
    expected = only_primitive(maker.save(tmp_path))
    for uri in (None, "sub%20folder/all.bin"):
        (tmp_path / "sub folder").mkdir(exist_ok=True)
        (tmp_path / "sub folder" / "all.bin").write_bytes(maker.data)
        primitive = only_primitive(maker.save_json(tmp_path, uri))
        np.testing.assert_array_equal(primitive.positions, expected.positions)
        np.testing.assert_array_equal(primitive.uv, expected.uv)


@pytest.mark.parametrize("where", ["file", "data uri"])
def test_image_outside_the_buffer(tmp_path, where):
    maker = textured_square()
    (tmp_path / "wood.png").write_bytes(png(300, 7))
    data_uri = "data:image/png;base64," + b64encode(png(300, 7)).decode()
    maker.json["images"] = [{"uri": "wood.png" if where == "file" else data_uri}]
    (texture,) = load_gltf(maker.save(tmp_path)).textures
    assert (texture.width, texture.height) == (300, 7)
    assert texture.name == ("wood" if where == "file" else "image0")


def test_image_larger_than_pillow_would_decode(tmp_path):
    maker = textured_square()
    maker.json["images"] = [{"uri": "big.png"}]
    header = bytearray(png(1, 1))
    header[16:24] = (16384).to_bytes(4, "big") * 2
    header[29:33] = zlib.crc32(header[12:29]).to_bytes(4, "big")
    (tmp_path / "big.png").write_bytes(header)
    (texture,) = load_gltf(maker.save(tmp_path)).textures
    assert (texture.width, texture.height, texture.mips) == (16384, 16384, 15)


@pytest.mark.parametrize(
    ("sampler", "expected"),
    [
        ({}, ("wrap", "wrap", "linear", "linear", "linear")),
        (
            {"wrapS": 33071, "wrapT": 33648, "magFilter": 9728, "minFilter": 9728},
            ("clamp", "mirror", "point", "point", "none"),
        ),
        ({"wrapS": 33648, "minFilter": 9729}, ("mirror", "wrap", "linear", "linear", "none")),
        ({"wrapT": 33071, "minFilter": 9984}, ("wrap", "clamp", "linear", "point", "point")),
        ({"wrapS": 10497, "minFilter": 9985}, ("wrap", "wrap", "linear", "linear", "point")),
        ({"magFilter": 9729, "minFilter": 9986}, ("wrap", "wrap", "linear", "point", "linear")),
        ({"minFilter": 9987}, ("wrap", "wrap", "linear", "linear", "linear")),
    ],
)
def test_samplers(tmp_path, sampler, expected):
    maker = textured_square()
    maker.json["textures"][0]["sampler"] = maker.add("samplers", **sampler)
    (texture,) = load_gltf(maker.save(tmp_path)).textures
    filters = (texture.mag_filter, texture.min_filter, texture.mip_filter)
    assert (texture.wrap_u, texture.wrap_v, *filters) == expected


def test_one_texture_for_each_image_and_sampler(tmp_path):
    maker = Maker()
    first, second = maker.image(8, 8, name="a"), maker.image(16, 4, name="b")
    clamp = maker.add("samplers", wrapS=33071)
    maker.add("textures", source=first)
    maker.add("textures", source=first)  # the same again
    maker.add("textures", source=first, sampler=clamp)
    maker.add("textures", source=second)
    maker.image(1, 1)  # not used
    maker.add("textures", source=2)
    attributes = {"POSITION": maker.accessor(SQUARE), "TEXCOORD_0": maker.accessor(SQUARE_UV)}
    for index in range(4):
        material = maker.material({"index": index})
        maker.mesh({"attributes": attributes, "material": material, "mode": 5})
    scene = load_gltf(maker.save(tmp_path))
    assert [primitive.texture for primitive in scene.primitives] == [0, 0, 1, 2]
    assert [t.name for t in scene.textures] == ["a", "a-1", "b"]
    assert [t.width for t in scene.textures] == [8, 8, 16]


def test_texture_names_are_fit_for_a_line(tmp_path):
    maker = textured_square()
    for name, expected in (
        ("a\nb\0c", "abc"),
        ("x" * 99, "x" * 60),
        ("\n", "image0"),
        ("", "image0"),
    ):
        maker.json["images"][0]["name"] = name
        (texture,) = load_gltf(maker.save(tmp_path)).textures
        assert texture.name == expected


def test_other_textures_of_a_material(tmp_path):
    maker = textured_square()
    maker.image(2, 2)
    maker.add("textures", source=1)
    base = maker.json["materials"][0]
    diffuse = {"diffuseTexture": {"index": 1}}
    glossy = {"extensions": {"KHR_materials_pbrSpecularGlossiness": diffuse}}
    for material, width in (
        ({**base, "normalTexture": {"index": 1}}, 64),
        ({**base, **glossy}, 64),
        ({**glossy, "emissiveTexture": {"index": 0}}, 2),
        ({"normalTexture": {"index": 1}, "emissiveTexture": {"index": 0}}, 2),
    ):
        maker.json["materials"] = [material]
        (texture,) = load_gltf(maker.save(tmp_path)).textures
        assert texture.width == width


@pytest.mark.parametrize(
    ("mode", "indices", "triangles"),
    [
        (4, [0, 1, 2, 2, 1, 3, 0], [[0, 1, 2], [2, 1, 3]]),
        (5, [0, 1, 2, 3, 0], [[0, 1, 2], [1, 3, 2], [2, 3, 0]]),
        (6, [0, 1, 3, 2], [[1, 3, 0], [3, 2, 0]]),
        (5, None, [[0, 1, 2], [1, 3, 2]]),
        (4, None, [[0, 1, 2]]),
    ],
)
@pytest.mark.parametrize("dtype", ["u1", "u2", "u4"])
def test_modes_and_index_kinds(tmp_path, mode, indices, triangles, dtype):
    maker = Maker()
    attributes = {"POSITION": maker.accessor(SQUARE), "TEXCOORD_0": maker.accessor(SQUARE_UV)}
    primitive = {"attributes": attributes, "mode": mode}
    if indices is not None:
        primitive["indices"] = maker.accessor(np.array(indices, dtype))
    maker.mesh(primitive)
    result = only_primitive(maker.save(tmp_path)).triangles
    np.testing.assert_array_equal(result, triangles)


def test_points_and_lines_draw_nothing(tmp_path):
    maker = textured_square()
    for mode in range(4):
        maker.mesh({"attributes": {"POSITION": maker.accessor(SQUARE)}, "mode": mode})
    assert len(load_gltf(maker.save(tmp_path)).primitives) == 1


def test_uv_sets(tmp_path):
    maker = textured_square({"texCoord": 3})
    (primitive,) = maker.json["meshes"][0]["primitives"]
    primitive["attributes"]["TEXCOORD_3"] = maker.accessor(SQUARE_UV * 2)
    np.testing.assert_array_equal(only_primitive(maker.save(tmp_path)).uv, SQUARE_UV * 2)


@pytest.mark.parametrize(
    ("dtype", "scale"), [("u1", 255), ("u2", 65535), ("i1", 127), ("i2", 32767)]
)
def test_normalised_coordinates(tmp_path, dtype, scale):
    low = np.iinfo(dtype).min
    values = np.array([[0, scale], [scale, scale], [low, 0], [scale // 2, 1]], dtype)
    maker = textured_square(uv=values, normalized=True)
    expected = np.maximum(values.astype(np.float64) / scale, -1).astype(np.float32)
    np.testing.assert_array_equal(only_primitive(maker.save(tmp_path)).uv, expected)


def test_quantised_mesh(tmp_path):
    maker = textured_square(uv=(SQUARE_UV * 512).astype("u2"))
    maker.json["extensionsRequired"] = ["KHR_mesh_quantization", "KHR_texture_transform"]
    info = maker.json["materials"][0]["pbrMetallicRoughness"]["baseColorTexture"]
    info["extensions"] = {"KHR_texture_transform": {"scale": [1 / 512, 1 / 512]}}
    (primitive,) = maker.json["meshes"][0]["primitives"]
    primitive["attributes"]["POSITION"] = maker.accessor((SQUARE * 100).astype("i1"))
    maker.json["nodes"][0]["scale"] = [0.01, 0.01, 0.01]
    result = only_primitive(maker.save(tmp_path))
    np.testing.assert_array_equal(result.uv, SQUARE_UV)
    np.testing.assert_allclose(result.positions, SQUARE, rtol=1e-6)


def test_interleaved_vertices(tmp_path):
    maker = textured_square()
    mixed = np.hstack([SQUARE, SQUARE_UV, np.full((4, 2), np.nan, np.float32)])
    view = maker.view(mixed.tobytes(), byteStride=28)
    shared = {"bufferView": view, "componentType": 5126, "count": 4}
    maker.json["accessors"][0] = {**shared, "type": "VEC3"}
    maker.json["accessors"][1] = {**shared, "type": "VEC2", "byteOffset": 12}
    result = only_primitive(maker.save(tmp_path))
    np.testing.assert_array_equal(result.positions, SQUARE)
    np.testing.assert_array_equal(result.uv, SQUARE_UV)


@pytest.mark.parametrize("has_base", [True, False])
def test_sparse_accessors(tmp_path, has_base):
    maker = textured_square()
    where, values = np.array([1, 3], np.uint8), np.array([[7, 8, 9], [1, 2, 3]], np.float32)
    accessor = maker.json["accessors"][0]
    accessor["sparse"] = {
        "count": 2,
        "indices": {"bufferView": maker.view(where.tobytes()), "componentType": 5121},
        "values": {"bufferView": maker.view(values.tobytes())},
    }
    expected = SQUARE.copy() if has_base else np.zeros_like(SQUARE)
    expected[where] = values
    if not has_base:
        del accessor["bufferView"]
    np.testing.assert_array_equal(only_primitive(maker.save(tmp_path)).positions, expected)


def test_texture_transform(tmp_path):
    transform = {"offset": [0.25, -1], "rotation": np.pi / 6, "scale": [2, 3], "texCoord": 1}
    maker = textured_square({"extensions": {"KHR_texture_transform": transform}})
    (primitive,) = maker.json["meshes"][0]["primitives"]
    uv = np.random.default_rng(0).uniform(-2, 2, (4, 2)).astype(np.float32)
    primitive["attributes"]["TEXCOORD_1"] = maker.accessor(uv)
    cos, sin = np.sqrt(0.75), 0.5
    u, v = (uv * np.array([2.0, 3.0])).T
    expected = np.column_stack([cos * u + sin * v + 0.25, -sin * u + cos * v - 1])
    result = only_primitive(maker.save(tmp_path)).uv
    np.testing.assert_allclose(result, expected, rtol=1e-6, atol=1e-6)


def test_texture_transform_example_of_the_extension(tmp_path):
    """The lower left quarter of the image, in KHR_texture_transform's own words."""
    transform = {"offset": [0, 1], "rotation": np.pi / 2, "scale": [0.5, 0.5]}
    maker = textured_square({"extensions": {"KHR_texture_transform": transform}})
    uv = only_primitive(maker.save(tmp_path)).uv
    np.testing.assert_allclose([uv.min(axis=0), uv.max(axis=0)], [[0, 0.5], [0.5, 1]], atol=1e-6)


def test_node_transforms(tmp_path):
    maker = textured_square()
    half = np.sqrt(0.5)
    maker.json["nodes"] = [
        {"children": [1, 2], "translation": [10, 0, 0], "scale": [2, 2, 2]},
        {"mesh": 0, "rotation": [0, 0, half, half]},  # a quarter turn about z
        {"mesh": 0, "matrix": [1, 0, 0, 0, 0, 0, 1, 0, 0, -1, 0, 0, 5, 6, 7, 1]},  # about x
        {"mesh": 0},  # not in the scene
    ]
    maker.json["scenes"] = [{"nodes": [3]}, {"nodes": [0]}]
    maker.json["scene"] = 1
    first, second = load_gltf(maker.save(tmp_path)).primitives
    x, y, _ = SQUARE.T
    turned = np.column_stack([-y, x, 0 * x]) * 2 + [10, 0, 0]
    np.testing.assert_allclose(first.positions, turned, atol=1e-6)
    tipped = np.column_stack([x + 5, 0 * x + 6, y + 7]) * 2 + [10, 0, 0]
    np.testing.assert_allclose(second.positions, tipped, atol=1e-6)
    del maker.json["scene"]
    np.testing.assert_array_equal(only_primitive(maker.save(tmp_path)).positions, SQUARE)
    del maker.json["scenes"]  # all roots
    assert len(load_gltf(maker.save(tmp_path)).primitives) == 3


def test_mirroring_nodes_keep_the_front_in_front(tmp_path):
    maker = textured_square()
    plain = render_quads(load_gltf(maker.save(tmp_path)), 64, 64)
    maker.json["nodes"][0]["scale"] = [-1, 1, 1]
    mirrored = render_quads(load_gltf(maker.save(tmp_path)), 64, 64)
    live = [int(np.bitwise_count(quads.live_mask).sum()) for quads in (plain, mirrored)]
    assert live[0] == live[1] > 1000


def test_double_sided(tmp_path):
    maker = textured_square()
    maker.json["nodes"][0]["rotation"] = [0, 1, 0, 0]  # its back to the camera
    assert len(render_quads(load_gltf(maker.save(tmp_path)), 64, 64)) == 0
    maker.json["materials"][0]["doubleSided"] = True
    assert only_primitive(maker.save(tmp_path)).double_sided
    assert len(render_quads(load_gltf(maker.save(tmp_path)), 64, 64)) > 0


def test_primitives_without_texture_only_hide(tmp_path):
    maker = textured_square()
    maker.mesh({"attributes": {"POSITION": maker.accessor(SQUARE)}, "mode": 5})
    textured, plain = load_gltf(maker.save(tmp_path)).primitives
    assert (textured.texture, plain.texture) == (0, NO_TEXTURE)


def test_no_texture_at_all(tmp_path):
    maker = textured_square()
    maker.json["materials"] = [{}]
    maker.mesh({"attributes": {"POSITION": maker.accessor(SQUARE)}, "mode": 5})
    scene = load_gltf(maker.save(tmp_path))
    assert scene.textures == [DEFAULT_TEXTURE]
    assert [primitive.texture for primitive in scene.primitives] == [0, NO_TEXTURE]


def test_cameras(tmp_path):
    maker = textured_square()
    assert isinstance(load_gltf(maker.save(tmp_path)).camera, BoxCamera)
    maker.json["cameras"] = [{"type": "perspective", "perspective": {"yfov": 1.0, "znear": 0.5}}]
    maker.add("nodes", camera=0, translation=[0, 0, 4], scale=[3, 1, 2])
    camera = load_gltf(maker.save(tmp_path)).camera
    assert isinstance(camera, Camera)
    assert camera.projection == Perspective(fov=1.0, near=0.5)
    np.testing.assert_allclose(camera.pivot, 0, atol=1e-12)
    np.testing.assert_allclose(camera.view @ [1, 2, 3, 1], [1, 2, -1, 1])  # the scale is left out
    maker.json["cameras"] = [
        {
            "type": "orthographic",
            "orthographic": {"xmag": 1, "ymag": 2, "znear": 0, "zfar": 9},
        }
    ]
    maker.json["nodes"][1]["translation"] = [0.5, 0.5, 0]
    camera = load_gltf(maker.save(tmp_path)).camera
    assert isinstance(camera, Camera)
    assert camera.projection == Orthographic(ymag=2, near=0, far=9)
    np.testing.assert_array_equal(camera.pivot, [0.5, 0.5, 0])  # inside the box: it pans


@pytest.mark.parametrize("name", ["EXT_texture_webp", "MSFT_texture_dds"])
def test_image_formats_of_extensions(tmp_path, name):
    maker = textured_square()
    maker.json["extensionsRequired"] = [name]
    maker.json["textures"] = [{"extensions": {name: {"source": 0}}}]
    (texture,) = load_gltf(maker.save(tmp_path)).textures
    assert (texture.width, texture.height) == (64, 32)


def test_unsupported_image_is_refused_only_where_it_is_needed(tmp_path):
    maker = textured_square()
    maker.json["textures"][0]["extensions"] = {"KHR_texture_basisu": {"source": 0}}
    assert len(load_gltf(maker.save(tmp_path)).textures) == 1
    del maker.json["textures"][0]["source"]
    with pytest.raises(SceneError, match="KHR_texture_basisu"):
        load_gltf(maker.save(tmp_path))


def test_files_of_the_shared_folder(request):
    folder = request.config.rootpath.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"needs the meshes in {folder}")
    drawn = {"BoxTextured.glb": 256, "CesiumMilkTruck.glb": 2048, "Duck.glb": 512}
    drawn["nested.glb"] = DEFAULT_TEXTURE.width
    for name, width in drawn.items():
        scene = load_gltf(folder / name)
        assert [texture.width for texture in scene.textures] == [width]
        assert len(render_quads(scene, 320, 180)) > 500
    with pytest.raises(SceneError, match=r"empty_nodes.glb: wanted at least one triangle"):
        load_gltf(folder / "empty_nodes.glb")
    with pytest.raises(SceneError, match=r"Mesh_PrimitiveMode_04.bin does not exist"):
        load_gltf(folder / "Mesh_PrimitiveMode_04.gltf")
