"""The front end: from a mesh to the 2x2 quads that the texture unit eats (spec 07)."""

from minmip.sim.frontend.builtin import builtin_scene
from minmip.sim.frontend.camera import Camera
from minmip.sim.frontend.depth_bias import DepthBias
from minmip.sim.frontend.errors import SceneError
from minmip.sim.frontend.gltf import load_gltf
from minmip.sim.frontend.gradients import coarse_gradients, fine_gradients
from minmip.sim.frontend.quads import Quads, check_frame, render_quads
from minmip.sim.frontend.raster_state import RasterCounters, RasterState
from minmip.sim.frontend.scene import Primitive, Scene, Texture
from minmip.sim.frontend.viewport import Viewport

__all__ = [
    "Camera",
    "DepthBias",
    "Primitive",
    "Quads",
    "RasterCounters",
    "RasterState",
    "Scene",
    "SceneError",
    "Texture",
    "Viewport",
    "builtin_scene",
    "check_frame",
    "coarse_gradients",
    "fine_gradients",
    "load_gltf",
    "render_quads",
]
