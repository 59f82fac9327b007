"""Cameras: world space to clip space, and how they move from frame to frame (spec 07).

Spaces are glTF's: right-handed, y up, the camera looks along its own -z. Clip space is Direct3D's:
visible is -w <= x <= w, -w <= y <= w, 0 <= z <= w. Matrices are float64 and multiply columns.
"""

from dataclasses import dataclass
from itertools import product
from math import cos, isinf, radians, sin, tan
from typing import Protocol

import numpy as np

__all__ = ["AnyCamera", "BoxCamera", "Camera", "Orthographic", "Perspective", "look_at"]

STEP = radians(3)
"""How far a camera goes round its pivot from one frame to the next."""


class AnyCamera(Protocol):
    """What a scene needs of a camera."""

    def matrix(self, aspect: float, frame: int) -> np.ndarray:
        """World space to clip space, float64 [4, 4], for a frame of width / height = `aspect`."""
        ...


@dataclass(frozen=True, kw_only=True)
class Perspective:
    """A perspective projection.

    Parameters
    ----------
    fov : float
        Vertical angle of view in radians.
    near, far : float
        Distances of the clip planes; `far` may be infinite.
    """

    fov: float
    near: float
    far: float = float("inf")

    def matrix(self, aspect: float) -> np.ndarray:
        """View space to clip space, float64 [4, 4], for a frame of width / height = `aspect`."""
        scale = 1 / tan(self.fov / 2)
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


@dataclass(frozen=True, kw_only=True)
class BoxCamera:
    """A camera that goes round a box, 3 degrees a frame, as near as shows all of it.

    Frame 0 is from the front (+z), a little right and above.

    Parameters
    ----------
    low, high : ndarray
        Opposite corners in world space, [3] each. A box of one point is taken to be 1 wide.
    """

    low: np.ndarray
    high: np.ndarray

    def matrix(self, aspect: float, frame: int) -> np.ndarray:
        """World space to clip space, float64 [4, 4], for a frame of width / height = `aspect`."""
        low, high = self.low.astype(np.float64), self.high.astype(np.float64)
        centre, half = (low + high) / 2, (high - low) / 2
        radius = float(np.linalg.norm(half)) or 0.5
        angle = STEP * frame
        direction = np.array([0.45 * cos(angle) + sin(angle), 0.4, cos(angle) - 0.45 * sin(angle)])
        direction /= np.linalg.norm(direction)

        # A corner `side` and `up` off the axis of view and `ahead` of the centre is in view of an
        # eye that is max(|side| / aspect, |up|) / tan(fov / 2) + ahead from the centre, or more.
        signs = np.array(list(product((-1, 1), repeat=3)))
        side, up, ahead = (half * signs @ look_at(direction, np.zeros(3))[:3, :3].T).T
        fov = radians(40)
        reach = np.maximum(np.abs(side) / aspect, np.abs(up)) / tan(fov / 2) + ahead
        distance = 1.05 * max(float(reach.max()), radius)
        near, far = max(distance - 1.01 * radius, distance / 100), distance + 1.01 * radius
        projection = Perspective(fov=fov, near=near, far=far)
        return projection.matrix(aspect) @ look_at(centre + distance * direction, centre)
