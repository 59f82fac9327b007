"""Cameras: world space to clip space, and how they move from frame to frame (spec 07).

Spaces are glTF's: right-handed, y up, the camera looks along its own -z. Clip space is Direct3D's:
visible is -w <= x <= w, -w <= y <= w, 0 <= z <= w. Matrices are float64 and multiply columns.
"""

from dataclasses import dataclass
from math import cos, isinf, radians, sin, tan

import numpy as np

__all__ = ["Camera", "Orthographic", "Perspective", "frame_box", "look_at"]

STEP = radians(3)
"""How far a camera goes round its pivot from one frame to the next."""


@dataclass(frozen=True, kw_only=True)
class Perspective:
    """A perspective projection.

    Parameters
    ----------
    fov : float
        Angle of view in radians: vertical, or of the frame's shorter side if `fit` is set.
    near, far : float
        Distances of the clip planes; `far` may be infinite.
    fit : bool
        Keep a square of angle `fov` in view whatever the shape of the frame.
    """

    fov: float
    near: float
    far: float = float("inf")
    fit: bool = False

    def matrix(self, aspect: float) -> np.ndarray:
        """View space to clip space, float64 [4, 4], for a frame of width / height = `aspect`."""
        scale = 1 / tan(self.fov / 2)
        if self.fit:
            scale *= min(1.0, aspect)
        depth = 1.0 if isinf(self.far) else self.far / (self.far - self.near)
        return np.array(
            [
                [scale / aspect, 0, 0, 0],
                [0, scale, 0, 0],
                [0, 0, -depth, -depth * self.near],
                [0, 0, -1, 0],
            ],
            np.float64,
        )


@dataclass(frozen=True, kw_only=True)
class Orthographic:
    """A parallel projection.

    Parameters
    ----------
    ymag : float
        Half the height of the view; its width follows the shape of the frame.
    near, far : float
        Distances of the clip planes.
    """

    ymag: float
    near: float
    far: float

    def matrix(self, aspect: float) -> np.ndarray:
        """View space to clip space, float64 [4, 4], for a frame of width / height = `aspect`."""
        depth = 1 / (self.far - self.near)
        return np.array(
            [
                [1 / (self.ymag * aspect), 0, 0, 0],
                [0, 1 / self.ymag, 0, 0],
                [0, 0, -depth, -depth * self.near],
                [0, 0, 0, 1],
            ],
            np.float64,
        )


@dataclass(frozen=True, kw_only=True)
class Camera:
    """A camera that goes round a pivot, 3 degrees a frame.

    Parameters
    ----------
    view : ndarray
        World space to view space in frame 0, float64 [4, 4].
    projection : Perspective or Orthographic
        View space to clip space.
    pivot : ndarray
        Point in world space, float64 [3]. The camera's own place makes it pan.
    step : float
        Radians round the vertical through the pivot, from one frame to the next.
    """

    view: np.ndarray
    projection: Perspective | Orthographic
    pivot: np.ndarray
    step: float = STEP

    def matrix(self, aspect: float, frame: int) -> np.ndarray:
        """World space to clip space, float64 [4, 4]."""
        angle = -self.step * frame
        turn = np.eye(4)
        turn[[0, 0, 2, 2], [0, 2, 0, 2]] = cos(angle), sin(angle), -sin(angle), cos(angle)
        turn[:3, 3] = self.pivot - turn[:3, :3] @ self.pivot
        return self.projection.matrix(aspect) @ self.view @ turn


def look_at(eye, target) -> np.ndarray:
    """World space to view space, float64 [4, 4], of an upright camera at `eye` facing `target`."""
    eye = np.asarray(eye, np.float64)
    back = eye - np.asarray(target, np.float64)
    back /= np.linalg.norm(back)
    right = np.cross([0.0, 1.0, 0.0], back)
    right /= np.linalg.norm(right)
    view = np.eye(4)
    view[:3, :3] = right, np.cross(back, right), back
    view[:3, 3] = -view[:3, :3] @ eye
    return view


def frame_box(low: np.ndarray, high: np.ndarray) -> Camera:
    """Camera that shows a whole box, from its front (+z), a little right and above.

    It stands as near as it can while every frame of its way round still shows the whole box.

    Parameters
    ----------
    low, high : ndarray
        Opposite corners, [3] each. A box of one point is taken to be 1 wide.
    """
    low, high = np.asarray(low, np.float64), np.asarray(high, np.float64)
    centre = low / 2 + high / 2
    radius = float(np.linalg.norm(high / 2 - low / 2)) or 0.5
    direction = np.array([0.45, 0.40, 1.0])
    direction /= np.linalg.norm(direction)
    fov = radians(40)

    # A corner at `up` and `side` from the axis and `ahead` of the centre is inside the square
    # pyramid of view if the eye is at least max(|up|, |side|) / tan(fov / 2) + ahead away. A corner
    # that turns round the vertical stays on a circle: 60 points of it stand for every frame.
    offsets = np.array(np.meshgrid(*zip(low, high, strict=True))).reshape(3, 8).T - centre
    angles = np.radians(np.arange(0, 360, 6))
    turned = np.stack(
        [
            np.outer(np.cos(angles), offsets[:, 0]) + np.outer(np.sin(angles), offsets[:, 2]),
            np.broadcast_to(offsets[:, 1], (60, 8)),
            np.outer(np.cos(angles), offsets[:, 2]) - np.outer(np.sin(angles), offsets[:, 0]),
        ],
        axis=-1,
    )
    axes = look_at(direction, np.zeros(3))[:3, :3]
    side, up, ahead = (turned @ axes.T).reshape(-1, 3).T
    reach = np.maximum(np.abs(side), np.abs(up)) / tan(fov / 2) + ahead
    distance = 1.05 * max(float(reach.max()), radius)
    eye = centre + distance * direction
    near = max(distance - 1.01 * radius, distance / 100)
    return Camera(
        view=look_at(eye, centre),
        projection=Perspective(fov=fov, near=near, far=distance + 1.01 * radius, fit=True),
        pivot=centre,
    )
