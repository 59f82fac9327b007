"""The built-in scene: a valley made by code, so that the project runs without a download.

Grass, rock and snow on one height field, a road that runs away at a grazing angle, a
lake, signs and crates from near to far, a sky, and a ring that turns from frame to frame.
"""

from collections.abc import Sequence
from math import pi, radians

import numpy as np

from minmip.sim.frontend.camera import Camera, Perspective, look_at
from minmip.sim.frontend.scene import Primitive, Scene, Texture

__all__ = ["builtin_scene"]

TEXTURES = (
    Texture(name="grass", width=16384, height=16384),
    Texture(name="rock", width=8192, height=8192, wrap_u="mirror", wrap_v="mirror"),
    Texture(name="snow", width=1024, height=1024),
    Texture(name="road", width=1024, height=4096, wrap_u="clamp"),
    Texture(name="lake", width=1500, height=1000, wrap_u="mirror", wrap_v="mirror"),
    Texture(name="crate", width=2048, height=2048, wrap_u="clamp", wrap_v="clamp"),
    Texture(name="sign", width=1200, height=675, wrap_u="clamp", wrap_v="clamp"),
    Texture(name="ring", width=2048, height=512),
    Texture(name="sky", width=8192, height=4096, wrap_v="clamp"),
)
GRASS, ROCK, SNOW, ROAD, LAKE, CRATE, SIGN, RING, SKY = range(len(TEXTURES))

ROAD_WIDTH = 6.0
LAKE_CENTRE = np.array([21.0, -30.0])
LAKE_RADII = np.array([13.0, 17.0])
LAKE_LEVEL = -0.6


def builtin_scene() -> Scene:
    """Make the built-in scene; the same every time. Metres, y up, the camera looks along -z."""
    eye = np.array([-1.2, 3.0, 9.0])
    camera = Camera(
        view=look_at(eye, [1.8, 2.6, -20.0]),
        projection=Perspective(fov=radians(55), near=0.2, far=1500.0),
        pivot=eye,
        step=radians(1.5),
    )
    still = [*_land(), _road(), _lake(), _crates(), _signs(), _sky()]
    return Scene(name="builtin", textures=TEXTURES, primitives=still, camera=camera, animate=_ring)


def _height(x: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Height of the land in metres: flat along the road, hills beside it, mountains far away."""
    beside = np.clip((np.abs(x) - 5) / 60, 0, None)
    hills = (
        14
        * np.minimum(beside, 3) ** 1.5
        * (1.1 + np.sin(0.045 * x + 0.6) * np.cos(0.038 * z) + 0.35 * np.sin(0.11 * x - 0.13 * z))
    )
    away = np.clip((-z - 230) / 220, 0, 1) ** 1.6
    peaks = away * (
        75 + 38 * np.sin(0.021 * x + 0.4) + 22 * np.sin(0.047 * x + 0.02 * z) + 9 * np.sin(0.13 * x)
    )
    rough = 0.12 * np.minimum(beside * 20, 1) * (np.sin(0.9 * x) * np.cos(0.7 * z) - 1)
    shore = np.hypot((x - LAKE_CENTRE[0]) / LAKE_RADII[0], (z - LAKE_CENTRE[1]) / LAKE_RADII[1])
    land = hills + peaks + rough - 0.06
    basin = np.clip((1.25 - shore) / 0.5, 0, 1)
    return land * (1 - basin) + (LAKE_LEVEL - 0.8) * basin


def _land() -> list[Primitive]:
    """The height field, grass below, rock above it, snow on the peaks."""
    x = np.sinh(np.linspace(-3.4, 3.4, 161)) * 18.5
    z = 24 - np.geomspace(1, 475, 121) + 1
    x, z = np.meshgrid(x, z)
    y = _height(x, z)
    positions, triangles = _grid(x, y, z)

    height = positions[triangles, 1].mean(axis=1) + 4 * np.sin(0.02 * positions[triangles[:, 0], 2])
    ground = np.digitize(height, [20, 62])  # GRASS, ROCK, SNOW from low to high
    # Along slopes the height is added, or the textures would be stretched where it is steep.
    across = positions[:, 0] + np.tanh(positions[:, 0] / 40) * positions[:, 1]
    uv = np.column_stack([across, positions[:, 2] - positions[:, 1]])
    # One grass texture covers all the land, as a virtual texture would.
    metres = {GRASS: 640.0, ROCK: 240.0, SNOW: 60.0}
    return [
        _primitive(positions, uv / size + [0.5, 0.95], triangles[ground == texture], texture)
        for texture, size in metres.items()
    ]


def _road() -> Primitive:
    """A strip that runs to the foot of the mountains, in pieces so that it can follow the land."""
    z = 24 - np.geomspace(1, 270, 101) + 1
    x, z = np.meshgrid([-ROAD_WIDTH / 2, ROAD_WIDTH / 2], z)
    y = _height(np.zeros_like(x), z) + 0.08
    positions, triangles = _grid(x, y, z)
    uv = np.column_stack([positions[:, 0] / ROAD_WIDTH + 0.5, positions[:, 2] / (4 * ROAD_WIDTH)])
    return _primitive(positions, uv, triangles, ROAD)


def _lake() -> Primitive:
    """A fan of triangles around the lake's centre."""
    angle = np.linspace(0, 2 * pi, 49)[:-1]
    rim = np.column_stack([np.cos(angle), np.sin(angle)]) * LAKE_RADII * 1.2 + LAKE_CENTRE
    flat = np.vstack([LAKE_CENTRE, rim])
    positions = np.insert(flat, 1, LAKE_LEVEL, axis=1)
    here = np.arange(48)
    triangles = np.column_stack([np.zeros(48, int), 1 + (here + 1) % 48, 1 + here])
    return _primitive(positions, flat / [18.0, 12.0], triangles, LAKE)


def _crates() -> Primitive:
    """Boxes beside the road: one before the camera's feet, the rest going away."""
    boxes = [
        # x, z, edge, turn
        (-4.6, 2.6, 1.5, 0.5),
        (-4.9, -1.0, 1.1, 0.2),
        (-4.7, 2.7, 0.8, 0.9),
        (4.8, -9.0, 1.6, 0.3),
        (-5.0, -26.0, 2.0, 0.1),
        (4.7, -44.0, 2.0, 0.6),
        (-5.2, -90.0, 2.5, 0.4),
    ]
    height = [0.0, 0.0, 1.5, 0.0, 0.0, 0.0, 0.0]  # the third stands on the first
    parts = []
    for (x, z, edge, turn), base in zip(boxes, height, strict=True):
        corners, uv, triangles = _cube()
        corners = corners * edge @ _turn_y(turn) + [x, base + edge / 2, z]
        parts.append((corners, uv, triangles))
    return _primitive(*_joined(parts), CRATE)


def _signs() -> Primitive:
    """Boards beside the road, seen from both sides."""
    parts = []
    for z in (-6.0, -20.0, -38.0, -62.0, -100.0, -150.0):
        side = 1 if z in (-20.0, -62.0, -150.0) else -1
        across = np.array([[-1.6, 0, 0], [1.6, 0, 0], [-1.6, 1.8, 0], [1.6, 1.8, 0]])
        corners = across @ _turn_y(0.45 * side) + [side * 5.6, 1.1, z]
        uv = np.array([[0, 1], [1, 1], [0, 0], [1, 0]], float)
        parts.append((corners, uv, np.array([[0, 1, 3], [0, 3, 2]])))
    return _primitive(*_joined(parts), SIGN, double_sided=True)


def _sky() -> Primitive:
    """A dome around everything, seen from inside."""
    turn, up = np.meshgrid(np.linspace(0, 2 * pi, 49), np.linspace(pi / 2, -0.15, 17))
    radius = 900.0
    positions, triangles = _grid(
        radius * np.cos(up) * np.sin(turn),
        radius * np.sin(up),
        radius * np.cos(up) * np.cos(turn),
    )
    uv = np.column_stack([turn.ravel() / (2 * pi), 0.5 - up.ravel() / pi])
    return _primitive(positions, uv, triangles, SKY)


def _ring(phase: float) -> Sequence[Primitive]:
    """A torus that turns over the road, once round per period."""
    around, across = np.meshgrid(np.linspace(0, 2 * pi, 97), np.linspace(0, 2 * pi, 33))
    reach = 1.5 + 0.5 * np.cos(across)
    positions, triangles = _grid(
        reach * np.cos(around), reach * np.sin(around), 0.5 * np.sin(across)
    )
    positions = positions @ _turn_y(0.5 + 2 * pi * phase) + [1.7, 3.1, -5.5]
    uv = np.column_stack([around.ravel() * 6 / (2 * pi), across.ravel() * 2 / (2 * pi)])
    return [_primitive(positions, uv, triangles, RING)]


def _grid(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and triangles of a grid [rows, columns].

    Counter-clockwise where columns go right and rows go up, seen from the front.
    """
    rows, columns = x.shape
    corner = np.arange(rows * columns).reshape(rows, columns)
    a, b, c, d = corner[:-1, :-1], corner[:-1, 1:], corner[1:, :-1], corner[1:, 1:]
    triangles = np.stack([a, b, d, a, d, c], axis=-1).reshape(-1, 3)
    return np.column_stack([x.ravel(), y.ravel(), z.ravel()]), triangles


def _cube() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A cube of edge 1 around the origin, the whole texture on every face."""
    face = np.array([[-1, -1, 1], [1, -1, 1], [-1, 1, 1], [1, 1, 1]]) / 2
    uv = np.array([[0, 1], [1, 1], [0, 0], [1, 0]], float)
    tip = np.array([[1, 0, 0], [0, 0, 1], [0, -1, 0]])  # a quarter turn about x
    faces = [face @ _turn_y(k * pi / 2) for k in range(4)] + [face @ tip, face @ tip.T]
    return _joined([(corners, uv, np.array([[0, 1, 3], [0, 3, 2]])) for corners in faces])


def _turn_y(angle: float) -> np.ndarray:
    """Turn of row vectors about the vertical, float64 [3, 3]."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, 0, -s], [0, 1, 0], [s, 0, c]])


def _joined(parts):
    """Vertices, coordinates and triangles of several meshes as one."""
    starts = np.cumsum([0, *(len(corners) for corners, _, _ in parts)])
    return (
        np.concatenate([corners for corners, _, _ in parts]),
        np.concatenate([uv for _, uv, _ in parts]),
        np.concatenate([t + start for (_, _, t), start in zip(parts, starts[:-1], strict=True)]),
    )


def _primitive(positions, uv, triangles, texture, double_sided=False) -> Primitive:
    return Primitive(
        positions=positions.astype(np.float32),
        uv=uv.astype(np.float32),
        triangles=triangles.astype(np.int32),
        texture=texture,
        double_sided=double_sided,
    )
