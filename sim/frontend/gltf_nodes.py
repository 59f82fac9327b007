"""glTF nodes: the hierarchy, transforms and cameras (glTF 2.0, 3.5 and 3.10)."""

from math import pi
from typing import Any

import numpy as np

from minmip.sim.frontend.camera import Camera, Orthographic, Perspective
from minmip.sim.frontend.errors import SceneError
from minmip.sim.frontend.gltf_document import Document, number, to_float32, vector

__all__ = ["file_camera", "placed_nodes"]


def placed_nodes(document: Document) -> list[tuple[Any, np.ndarray]]:
    """Nodes of the default scene, each with its transform to world space, float64 [4, 4].

    Depth first, in the order of the file. A file without scenes shows all its root nodes. Raises
    SceneError if a node is reached twice: nodes must be a strict tree.
    """
    gltf = document.gltf
    if gltf.scenes:
        scene = document.item("scenes", 0 if gltf.scene is None else gltf.scene, "scene")
        roots = _indices(scene.nodes, "nodes of the scene")
    else:
        nodes = gltf.nodes or []
        below = {
            child
            for index in range(len(nodes))
            for child in _indices(document.item("nodes", index, "the file").children, "children")
        }
        roots = [index for index in range(len(nodes)) if index not in below]

    placed = []
    seen = set()
    stack = [(root, np.eye(4)) for root in reversed(roots)]
    while stack:
        index, parent = stack.pop()
        node = document.item("nodes", index, "the scene")
        if index in seen:
            raise SceneError(f"nodes must be a tree, but nodes[{index}] is reached twice")
        seen.add(index)
        with np.errstate(over="ignore", invalid="ignore"):
            world = parent @ _local(node, f"nodes[{index}]")
        to_float32(world, f"nodes[{index}]: entries of its transform to world space")
        placed.append((node, world))
        children = _indices(node.children, f"nodes[{index}].children")
        stack.extend((child, world) for child in reversed(children))
    return placed


def _indices(value: Any, what: str) -> list:
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(item, int) for item in value):
        raise SceneError(f"{what} must be a list of node indices, not {value!r:.40}")
    return value


def _local(node: Any, what: str) -> np.ndarray:
    """Transform of a node to its parent's space, float64 [4, 4]."""
    if node.matrix is not None:
        return np.array(vector(node.matrix, 16, f"{what}.matrix")).reshape(4, 4).T
    local = np.eye(4)
    if node.rotation is not None:
        x, y, z, w = vector(node.rotation, 4, f"{what}.rotation")
        length = np.linalg.norm([x, y, z, w])
        if not 0 < length < np.inf:
            raise SceneError(f"{what}.rotation must be a quaternion of length 1, not {length:.9g}")
        x, y, z, w = np.array([x, y, z, w]) / length
        local[:3, :3] = [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    if node.scale is not None:
        local[:3, :3] *= vector(node.scale, 3, f"{what}.scale")
    if node.translation is not None:
        local[:3, 3] = vector(node.translation, 3, f"{what}.translation")
    return local


def file_camera(
    document: Document, nodes: list[tuple[Any, np.ndarray]], low: np.ndarray, high: np.ndarray
) -> Camera | None:
    """The first camera of the scene, None without any.

    From outside the box `low` to `high` it goes round the box's centre; inside it pans.
    """
    for node, world in nodes:
        if node.camera is not None:
            what = f"cameras[{node.camera}]"
            camera = document.item("cameras", node.camera, "a node")
            eye = world[:3, 3]
            inside = bool(((low <= eye) & (eye <= high)).all())
            return Camera(
                view=_view(world, what),
                projection=_projection(camera, what),
                pivot=eye if inside else (low.astype(np.float64) + high) / 2,
            )
    return None


def _view(world: np.ndarray, what: str) -> np.ndarray:
    """World space to the space of a camera whose node has the transform `world`, scale left out."""
    up, back = world[:3, 1], world[:3, 2]
    right = np.cross(up, back)
    axes = np.array([right, np.cross(back, right), back])
    lengths = np.linalg.norm(axes, axis=1, keepdims=True)
    if not ((lengths > 0) & np.isfinite(lengths)).all():
        raise SceneError(f"{what} must have a node that says where up and forward is")
    view = np.eye(4)
    view[:3, :3] = axes / lengths
    view[:3, 3] = -view[:3, :3] @ world[:3, 3]
    return view


def _projection(camera: Any, what: str) -> Perspective | Orthographic:
    """Projection of a camera. Its own aspect ratio gives way to the frame's."""
    if camera.type == "perspective" and camera.perspective is not None:
        shape = camera.perspective
        fov = number(shape.yfov, f"{what}.yfov")
        near = number(shape.znear, f"{what}.znear")
        far = float("inf") if shape.zfar is None else number(shape.zfar, f"{what}.zfar")
        if not (0 < fov / 2 < pi / 2 and 0 < near < far):
            raise SceneError(
                f"{what} must have 0 < yfov < pi and 0 < znear < zfar, not {fov}, {near}, {far}"
            )
        return _usable(Perspective(fov=fov, near=near, far=far), what)
    if camera.type == "orthographic" and camera.orthographic is not None:
        shape = camera.orthographic
        ymag = number(shape.ymag, f"{what}.ymag")
        near = number(shape.znear, f"{what}.znear")
        far = number(shape.zfar, f"{what}.zfar")
        if not (ymag > 0 and 0 <= near < far):
            raise SceneError(
                f"{what} must have ymag > 0 and 0 <= znear < zfar, not {ymag}, {near}, {far}"
            )
        return _usable(Orthographic(ymag=ymag, near=near, far=far), what)
    raise SceneError(f"{what} must be perspective or orthographic, not {camera.type!r:.40}")


def _usable(projection: Any, what: str) -> Any:
    """The projection, if its numbers are not so small or large that its matrix overflows."""
    with np.errstate(all="ignore"):
        to_float32(projection.matrix(1.0), f"{what}: entries of its projection matrix")
    return projection
