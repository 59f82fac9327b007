"""Depth bias: move triangles a little in depth (spec 07 "depth bias")."""

from dataclasses import dataclass

import numpy as np

from minmip.sim.frontend.errors import SceneError, finite, told

__all__ = ["NO_BIAS", "DepthBias", "depth_bias"]


@dataclass(frozen=True, kw_only=True)
class DepthBias:
    """Direct3D's three numbers; the depth buffer holds float32.

    Parameters
    ----------
    constant : int
        Steps of the depth buffer: of a float32 as large as the triangle's greatest depth.
    slope_scaled : float
        Times the steepest slope of the triangle, in depth per pixel along x or y.
    clamp : float
        Most that is added when above 0, least when below; 0 is no limit.
    """

    constant: int = 0
    slope_scaled: float = 0.0
    clamp: float = 0.0

    def __post_init__(self):
        for what in ("constant", "slope_scaled", "clamp"):
            number = getattr(self, what)
            if not finite(number):
                raise SceneError(f"depth bias: {what} must be a finite number, not {told(number)}")


NO_BIAS = DepthBias()
"""Adds nothing."""


def depth_bias(
    depth: np.ndarray, slope_x: np.ndarray, slope_y: np.ndarray, bias: np.ndarray
) -> np.ndarray:
    """What is added to the depth of each triangle, float64 [P].

    Parameters
    ----------
    depth : ndarray
        float64 [3, P], of the vertices.
    slope_x, slope_y : ndarray
        float64 [P], depth per pixel.
    bias : ndarray
        float64 [3, P]: constant, slope_scaled and clamp of `DepthBias`.
    """
    constant, slope_scaled, clamp = bias
    most = depth.max(axis=0).astype(np.float32)
    exponent = np.frexp(np.maximum(most, np.float32(2.0**-126)))[1] - 1
    added = np.ldexp(constant, exponent - 23)
    added = added + slope_scaled * np.maximum(np.abs(slope_x), np.abs(slope_y))
    added = np.where(clamp > 0, np.minimum(added, clamp), added)
    return np.where(clamp < 0, np.maximum(added, clamp), added)
