"""Small things to stream: textures of odd sizes, quads anywhere on them, a scene with a flight."""

import numpy as np

from minmip.sim import golden
from minmip.sim.frontend import Primitive, Quads, Scene, Texture
from minmip.sim.frontend.camera import Perspective, look_at
from minmip.sim.streaming.bindings import Bindings
from minmip.sim.streaming.tiling import tile_textures
from minmip.sim.streaming.unit import TextureUnit

ORDER = (0, 2, 1, 0, 3, 4, 2)
REGION = (128, 128)
TEXTURES = (
    Texture(name="large", width=4096, height=4096),
    Texture(name="odd", width=1500, height=1000, wrap_u="mirror", wrap_v="mirror"),
    Texture(name="strip", width=2048, height=512, wrap_v="clamp"),
    Texture(name="prime", width=1031, height=769, wrap_u="clamp"),
    Texture(name="packed", width=100, height=60),
)
LARGEST = (Texture(name="largest", width=16384, height=16384),)


def unit(tilings, filtering="trilinear", *, slope="4", offset="1/4", aniso=1, run=golden.run):
    bindings = Bindings(
        tilings,
        region=REGION,
        filtering=filtering,
        max_anisotropy=aniso,
        slope=slope,
        offset=offset,
    )
    return TextureUnit(tilings, bindings, run)


def quads_anywhere(rng, textures, count, stretch=1):
    """Quads on each texture: near borders of map texels and elsewhere, any LOD, any turn."""
    uv, texture = [], []
    for index, one in enumerate(textures):
        size = np.array([one.width, one.height])
        cells = np.maximum(1, size // 128)
        at = rng.integers(-1, cells + 1, (count, 2)) / cells
        near = rng.random((count, 2)) < 0.7
        reach = 2.0 ** rng.uniform(-10, -1, (count, 2)) * rng.choice((-1, 1), (count, 2))
        at += np.where(near, reach, rng.random((count, 2))) / cells
        step = 2.0 ** rng.uniform(-1, one.mips, (count, 1)) / size
        angle = rng.uniform(0, 2 * np.pi, count)
        turn = np.stack([np.cos(angle), np.sin(angle)], axis=1)
        across, down = stretch * turn * step, turn[:, ::-1] * [-1, 1] * step
        uv.append(np.stack([at, at + across, at + down, at + across + down], axis=1))
        texture.append(np.full(count, index))
    uv, texture = np.concatenate(uv), np.concatenate(texture)
    quads = len(texture)
    return Quads(
        x=np.zeros(quads, np.int32),
        y=np.zeros(quads, np.int32),
        uv=uv.astype(np.float32),
        live_mask=np.full(quads, 15, np.uint8),
        depth=np.zeros((quads, 4), np.float32),
        texture=texture.astype(np.int32),
        triangle=np.zeros(quads, np.int32),
        slice=np.zeros(quads, np.int32),
        front=np.ones(quads, bool),
        samples=np.ones((quads, 4), np.uint8),
    )


def random_feedback(rng, tilings):
    """Maps in which patches ask for some level, and the rest for nothing."""
    recorded = []
    for tiling in tilings:
        columns, rows = tiling.map_size
        levels = np.full((rows, columns), 0xFF, np.uint8)
        for _ in range(rng.integers(0, 6)):
            y, x = rng.integers(0, rows), rng.integers(0, columns)
            tall, wide = rng.integers(1, rows + 1), rng.integers(1, columns + 1)
            levels[y : y + tall, x : x + wide] = rng.integers(0, len(tiling.levels) + 2)
        recorded.append(levels)
    return recorded


class LowFlight:
    """A camera that flies low along a floor."""

    def matrix(self, aspect, frame):
        ahead = 2.0 - 0.8 * frame
        view = look_at([0.3 * frame - 1, 0.15, ahead], [0.3 * frame - 1, 0.0, ahead - 0.5])
        return Perspective(fov=1.0, near=0.1, far=100.0).matrix(aspect) @ view


def floor_scene():
    """A floor of tiles with the textures in turn, seen at a grazing angle."""
    corners = np.array([[-1, 0, 1], [1, 0, 1], [-1, 0, -1], [1, 0, -1]], float)
    uv = np.array([[0, 1], [1, 1], [0, 0], [1, 0]], float)
    primitives = []
    for place in range(18):
        at = np.array([3.0 * (place % 3 - 1), 0.0, -3.0 * (place // 3)])
        primitives.append(
            Primitive(
                positions=(1.5 * corners + at).astype(np.float32),
                uv=(uv * 0.8 - 0.3).astype(np.float32),
                triangles=np.array([[0, 1, 3], [0, 3, 2]], np.int32),
                texture=ORDER[place % len(ORDER)],
                double_sided=True,
            )
        )
    return Scene(name="floor", textures=TEXTURES, primitives=primitives, camera=LowFlight())


def tiled(textures=TEXTURES):
    return tile_textures(textures, REGION)
