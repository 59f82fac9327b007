"""The debug layer: what the API leaves undefined is refused, what users trip over is said.

Undefined use is a D3D12Error, a hazard a D3D12Warning (spec 06, "What users ... trip over").
"""

from __future__ import annotations

import numpy as np

from minmip.sim.d3d12.decode import NONE_SAMPLED
from minmip.sim.d3d12.errors import D3D12Error, warn
from minmip.sim.d3d12.resource import Resource
from minmip.sim.d3d12.view import View, view_field

__all__ = [
    "check_gradients",
    "check_levels",
    "check_residency",
    "check_texture_operand",
    "warn_of_late_decode",
    "warn_of_lost_feedback",
]

LANES_X, LANES_Y = ((0, 1), (2, 3)), ((0, 2), (1, 3))
JUMP = 0.5
RANGE_FIELDS = ("BASE_LEVEL", "LAST_LEVEL", "MIN_LOD", "BASE_ARRAY", "DEPTH")


def check_texture_operand(view: View, texture: View | Resource | None, *, xbox: bool) -> None:
    """Compare the SampledTexture operand of a feedback write with what the view is linked to.

    Raises
    ------
    D3D12Error
        For another texture, on the PC; for a view of other mips, slices or LOD clamp, everywhere:
        the unit looks at the linked descriptor alone, so levels would be recorded for that range.
    """
    if texture is None:
        return
    if not isinstance(texture, View | Resource):
        raise D3D12Error(f"the texture operand must be a view, not {type(texture).__name__}")
    if isinstance(texture, View) and texture.linked_type:
        raise D3D12Error("the texture operand must be a view of the texture, not of its map")
    resource = texture.resource if isinstance(texture, View) else texture
    if resource is not view.target:
        if xbox:
            return  # ignored there
        raise D3D12Error("the texture operand must be the texture that the map is paired with")
    if isinstance(texture, View):
        for name in RANGE_FIELDS:
            recorded, sampled = view_field(view, name), view_field(texture, name)
            if recorded != sampled:
                raise D3D12Error(
                    f"the texture is sampled through a view with {name} {sampled}, but feedback "
                    f"is recorded for {name} {recorded}: give the view's range as target_view"
                )


def check_gradients(uvw: np.ndarray, live: np.ndarray) -> None:
    """Warn when coordinates were wrapped before the quad takes its gradients from them.

    Parameters
    ----------
    uvw : numpy.ndarray
        float32 [Q, 4, 3].
    live : numpy.ndarray
        bool [Q], quads with a lane that is executed.
    """
    with np.errstate(invalid="ignore"):
        jump = np.zeros(len(uvw), np.float32)
        for left, right in (*LANES_X, *LANES_Y):
            jump = np.maximum(jump, np.abs(uvw[:, right] - uvw[:, left]).max(axis=-1))
        inside = ((uvw >= 0) & (uvw < 1)).all(axis=(1, 2))
    wrapped = np.flatnonzero(inside & (jump > JUMP) & live)
    if wrapped.size:
        quad = int(wrapped[0])
        warn(
            f"uv jumps by {jump[quad]:.2f} of the texture inside quad {quad}: uv that the shader "
            "wraps or computes by pieces gives wrong gradients at quad edges; let the sampler "
            "wrap, or give the gradients"
        )


def check_levels(name: str, values: np.ndarray | None) -> None:
    """Raise D3D12Error if 0xFF, which a decoded map holds where nothing sampled, is a level."""
    if values is not None and (values == NONE_SAMPLED).any():
        raise D3D12Error(
            f"{name} 255 is no mip level: 0xFF in a decoded map says that nothing was sampled"
        )


def check_residency(min_mip: Resource, last_level: int) -> None:
    """Check what a MinMip map holds before the filter reads it.

    Raises
    ------
    D3D12Error
        For a level that the view has not, 0xFF above all.

    Warns
    -----
    D3D12Warning
        For neighbouring texels more than one level apart.
    """
    texels = min_mip.texels(0)
    beyond = texels[texels > last_level << 3]
    if beyond.size:
        raise D3D12Error(
            f"the MinMip map holds level {int(beyond[0]) / 8:g} ({int(beyond[0]):#04x}), the "
            f"view's last is {last_level}: 0xFF and decoded levels are no residency"
        )
    levels = texels.astype(np.int64) >> 3
    for axis in range(1, levels.ndim):
        apart = np.argwhere(np.abs(np.diff(levels, axis=axis)) > 1)
        if len(apart):
            place = apart[0]
            beside = place.copy()
            beside[axis] += 1
            pair = levels[tuple(place)], levels[tuple(beside)]
            warn(
                f"texels {_named(place)} and {_named(beside)} of the MinMip map are resident from "
                f"mips {pair[0]} and {pair[1]}: neighbours more than one mip apart show a crack"
            )
            return


def warn_of_late_decode(feedback: Resource, subresources: list[int]) -> None:
    """Warn when parts of a map are decoded that did not change since their last decode."""
    if feedback.stale[subresources].any():
        warn(
            "nothing was written since the map was last decoded: this is an earlier frame's "
            "feedback; decode after the draws of the frame"
        )


def warn_of_lost_feedback(feedback: Resource) -> None:
    """Warn when a clear throws away feedback that nobody decoded."""
    if feedback.unread:
        warn("the clear throws away feedback that was never decoded; decode first, then clear")


def _named(place: np.ndarray) -> str:
    """Coordinates of a texel, x first, without the slice."""
    return str(tuple(int(c) for c in place[:0:-1]))
