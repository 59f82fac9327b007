"""Loading glTF 2.0 files into scenes (spec 07 "Input assembly").

What is drawn: all triangles, strips and fans of the default scene, with node transforms. Points and
lines draw nothing; animations, skins and morph targets stay at rest; alpha is taken as opaque.

A primitive without a texture samples nothing: it only hides what is behind it. If no primitive of
the file has a texture, those with coordinates share `DEFAULT_TEXTURE`, so that there is a result.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pygltflib

from minmip.sim.frontend.accessors import read_accessor
from minmip.sim.frontend.camera import BoxCamera
from minmip.sim.frontend.errors import SceneError
from minmip.sim.frontend.gltf_document import Document, to_float32, whole
from minmip.sim.frontend.gltf_nodes import file_camera, placed_nodes
from minmip.sim.frontend.gltf_textures import Binding, TextureTable, bind_material
from minmip.sim.frontend.scene import NO_TEXTURE, Primitive, Scene, Texture

__all__ = ["DEFAULT_TEXTURE", "load_gltf"]

DEFAULT_TEXTURE = Texture(name="default", width=1024, height=1024)
"""Stands in for all textures of a file that has none."""

TRIANGLES, TRIANGLE_STRIP, TRIANGLE_FAN = 4, 5, 6  # modes 0 to 3 are points and lines


def load_gltf(path: str | Path) -> Scene:
    """Load a .glb or .gltf file.

    Parameters
    ----------
    path : str or Path
        The file; what it refers to must be in its folder or below.

    Returns
    -------
    Scene
        With the file's first camera, or one that shows everything.

    Raises
    ------
    SceneError
        If the file is broken, needs what is not supported, or has nothing to draw: one sentence
        that starts with the file's name.
    """
    path = Path(path)
    try:
        return _load(path)
    except SceneError as error:
        raise SceneError(f"{path}: {error}") from error


@dataclass(frozen=True, kw_only=True)
class _Part:
    """One primitive of the file in the space of its mesh."""

    positions: np.ndarray
    triangles: np.ndarray
    uv: np.ndarray | None
    texture: int
    double_sided: bool


def _load(path: Path) -> Scene:
    document = Document(path)
    table = TextureTable(document)
    meshes: dict[int, list[_Part]] = {}
    drawn: list[tuple[_Part, np.ndarray]] = []
    nodes = placed_nodes(document)
    for node, world in nodes:
        if node.mesh is None:
            continue
        mesh = document.item("meshes", node.mesh, "a node")
        if int(node.mesh) not in meshes:
            meshes[int(node.mesh)] = list(_parts(document, table, mesh, f"meshes[{node.mesh}]"))
        drawn.extend((part, world) for part in meshes[int(node.mesh)])
    if not drawn:
        raise SceneError("wanted at least one triangle to draw, but the scene has none")
    if not table.textures and all(part.uv is None for part, _ in drawn):
        raise SceneError(
            "wanted a mesh with texture coordinates (TEXCOORD_0), but no mesh of the scene has any"
        )
    primitives = [_placed(part, world, bool(table.textures)) for part, world in drawn]
    low = np.min([primitive.positions.min(axis=0) for primitive in primitives], axis=0)
    high = np.max([primitive.positions.max(axis=0) for primitive in primitives], axis=0)
    return Scene(
        name=path.stem,
        textures=table.textures or [DEFAULT_TEXTURE],
        primitives=primitives,
        camera=file_camera(document, nodes, low, high) or BoxCamera(low=low, high=high),
    )


def _parts(document: Document, table: TextureTable, mesh: Any, what: str) -> Iterator[_Part]:
    """Primitives of a mesh that have triangles."""
    if not isinstance(mesh.primitives, list):
        raise SceneError(f"{what}.primitives must be a list, not {mesh.primitives!r:.40}")
    for index, primitive in enumerate(mesh.primitives):
        name = f"{what}.primitives[{index}]"
        if not isinstance(primitive, pygltflib.Primitive):
            raise SceneError(f"{name} must be a JSON object, not {primitive!r:.40}")
        document.refuse_compression(primitive.extensions)
        mode = TRIANGLES if primitive.mode is None else whole(primitive.mode, f"{name}.mode")
        if mode > TRIANGLE_FAN:
            raise SceneError(f"{name}.mode must be in 0..{TRIANGLE_FAN}, not {mode}")
        attributes = vars(primitive.attributes) if primitive.attributes else {}
        if mode < TRIANGLES or attributes.get("POSITION") is None:
            continue  # glTF: points, lines, and what has no positions by itself
        positions = read_accessor(document, attributes["POSITION"], "VEC3", f"{name}.POSITION")
        triangles = _triangles(document, primitive.indices, mode, len(positions), name)
        if not len(triangles):
            continue
        binding, double_sided = bind_material(document, table, primitive.material, name)
        yield _Part(
            positions=positions,
            triangles=triangles,
            uv=_coordinates(document, attributes, binding, len(positions), name),
            texture=NO_TEXTURE if binding is None else binding.texture,
            double_sided=double_sided,
        )


def _triangles(document: Document, indices: Any, mode: int, vertices: int, name: str) -> np.ndarray:
    """Vertex indices of the triangles, int32 [N, 3]; incomplete ones at the end are left out."""
    if indices is None:
        order = np.arange(vertices, dtype=np.int32)
    else:
        order = read_accessor(document, indices, "SCALAR", f"{name}.indices")[:, 0]
        if order.dtype.kind != "u":
            raise SceneError(f"{name}.indices must be an unsigned kind, not {order.dtype.name}")
        if order.size and order.max() >= vertices:
            raise SceneError(f"{name}.indices must be below {vertices}, not {order.max()}")
        order = order.astype(np.int32)
    if mode == TRIANGLES:
        return order[: len(order) // 3 * 3].reshape(-1, 3)
    step = np.arange(max(len(order) - 2, 0))
    if mode == TRIANGLE_FAN:
        return np.column_stack([order[step + 1], order[step + 2], np.full_like(step, order[0])])
    odd = step & 1  # every second triangle of a strip runs the other way round
    return np.column_stack([order[step], order[step + 1 + odd], order[step + 2 - odd]])


def _coordinates(
    document: Document, attributes: dict, binding: Binding | None, vertices: int, name: str
) -> np.ndarray | None:
    """Texture coordinates as the texture is sampled with, float32 [V, 2]; None without any."""
    uv_set = f"TEXCOORD_{0 if binding is None else binding.uv_set}"
    if attributes.get(uv_set) is None:
        if binding is not None:
            raise SceneError(f"{name} has a texture but not the {uv_set} to sample it with")
        return None
    uv = read_accessor(document, attributes[uv_set], "VEC2", f"{name}.{uv_set}")
    if len(uv) != vertices:
        raise SceneError(f"{name}.{uv_set} must have {vertices} elements, not {len(uv)}")
    if binding is not None and binding.moves:
        uv = uv @ binding.transform[:, :2].T + binding.transform[:, 2]
    return to_float32(uv, f"{name}.{uv_set}")


def _placed(part: _Part, world: np.ndarray, has_textures: bool) -> Primitive:
    """A part in world space, bound to its texture."""
    positions = part.positions.astype(np.float64) @ world[:3, :3].T + world[:3, 3]
    texture = part.texture if has_textures or part.uv is None else 0
    uv = np.zeros((len(positions), 2), np.float32) if part.uv is None else part.uv
    # A mirroring transform turns front faces to the back: glTF winds them the other way then.
    mirrored = np.linalg.det(world[:3, :3]) < 0
    triangles = part.triangles[:, ::-1] if mirrored else part.triangles
    return Primitive(
        positions=to_float32(positions, "vertices in world space"),
        uv=uv,
        triangles=triangles.astype(np.int32),
        texture=texture,
        double_sided=part.double_sided,
    )
