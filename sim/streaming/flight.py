"""Where the camera is in each frame of a flight, and the camera cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import radians

import numpy as np

from minmip.sim.frontend import Scene
from minmip.sim.frontend.camera import AnyCamera, Perspective, look_at

__all__ = ["Orbit", "Tripod", "ValleyFlight", "fly", "stand_still"]

# Eye and what it looks at, metres: along the road of the built-in scene, round its lake, and up.
WAYPOINTS = np.array(
    [
        [-1.2, 3.0, 9.0, 1.8, 2.6, -20.0],
        [-1.0, 2.6, -4.0, 1.5, 2.4, -32.0],
        [0.5, 3.2, -16.0, 17.0, -0.5, -36.0],
        [5.0, 6.0, -40.0, 20.0, 2.0, -80.0],
        [3.0, 12.0, -72.0, 0.0, 14.0, -150.0],
        [-6.0, 24.0, -110.0, 0.0, 34.0, -220.0],
        [-10.0, 40.0, -150.0, 20.0, 60.0, -300.0],
    ]
)
PROJECTION = Perspective(fov=radians(55), near=0.2, far=1500.0)
HALF_TURN = 60
"""Frames of an orbiting camera, 3 degrees each."""


@dataclass(frozen=True, kw_only=True)
class ValleyFlight:
    """A flight through the built-in scene: `places` says by frame how far it is, 0 to 1."""

    places: Sequence[float]

    def matrix(self, aspect: float, frame: int) -> np.ndarray:
        """World space to clip space, float64 [4, 4], for a frame of width / height = `aspect`."""
        last = len(WAYPOINTS) - 1
        at = float(np.clip(self.places[frame], 0, 1)) * last
        leg = min(int(at), last - 1)
        before, start, end, after = WAYPOINTS[np.clip(np.arange(leg - 1, leg + 3), 0, last)]
        t = at - leg
        # Catmull-Rom: through every waypoint, without a kink.
        point = 0.5 * (
            2 * start
            + (end - before) * t
            + (2 * before - 5 * start + 4 * end - after) * t**2
            + (3 * start - before - 3 * end + after) * t**3
        )
        return PROJECTION.matrix(aspect) @ look_at(point[:3], point[3:])


@dataclass(frozen=True, kw_only=True)
class Orbit:
    """A scene's own camera, which goes round; `steps` says by frame how many steps it has gone."""

    camera: AnyCamera
    steps: Sequence[int]

    def matrix(self, aspect: float, frame: int) -> np.ndarray:
        """World space to clip space, float64 [4, 4], for a frame of width / height = `aspect`."""
        return self.camera.matrix(aspect, self.steps[frame])


def fly(scene: Scene, frames: int, cut: int | None = None) -> Scene:
    """Put a scene's camera on a flight.

    The built-in scene has one of its own, from end to end in `frames`; the cameras of others go
    round. From frame `cut` on the camera is half a flight, or half a turn, ahead.
    """
    ahead = [cut is not None and frame >= cut for frame in range(frames)]
    if scene.name == "builtin":
        step = 1 / max(frames - 1, 1)
        places = [
            (frame * step + 0.5 * cut) % 1.0 if cut else frame * step
            for frame, cut in enumerate(ahead)
        ]
        return replace(scene, camera=ValleyFlight(places=places))
    steps = [frame + HALF_TURN * cut for frame, cut in enumerate(ahead)]
    return replace(scene, camera=Orbit(camera=scene.camera, steps=steps))


@dataclass(kw_only=True)
class Tripod:
    """A camera of the built-in scene that stands still until somebody changes its `place`, 0..1."""

    place: float

    def matrix(self, aspect: float, frame: int) -> np.ndarray:
        """World space to clip space, float64 [4, 4], for a frame of width / height = `aspect`."""
        return ValleyFlight(places=[self.place]).matrix(aspect, 0)


def stand_still(scene: Scene, place: float) -> tuple[Scene, Tripod]:
    """Put the built-in scene's camera at a place of its flight, and keep everything still."""
    camera = Tripod(place=place)
    still = scene.animate(0.0)
    return replace(scene, camera=camera, animate=lambda _phase: still), camera
