"""How `minmip run` draws a scene: the rasteriser's state, and what it changes in every draw."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace

from minmip.sim.frontend import DepthBias, Primitive, RasterState, Scene, SceneError

__all__ = ["GRADIENTS", "Drawing"]

GRADIENTS = ("implicit", "coarse", "fine")
"""Who takes the gradients of a sample: the texture unit, or the shader, in one of two ways."""


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """How the frames of a scene are drawn.

    Parameters
    ----------
    state : RasterState
        Of every frame. With several slices primitives go to them in turn: the first to slice 0.
    interpolation : str or None
        For all primitives, see `Primitive`; None keeps each one's own, as with `depth_bias`.
    centroid : bool
        All primitives take their coordinates at centroids.
    depth_bias : DepthBias or None
        For all primitives.
    gradients : str
        One of `GRADIENTS`. "coarse" gives the sample what "implicit" has the unit take itself.
    """

    state: RasterState = field(default_factory=RasterState)
    interpolation: str | None = None
    centroid: bool = False
    depth_bias: DepthBias | None = None
    gradients: str = "implicit"

    def __post_init__(self):
        if self.gradients not in GRADIENTS:
            raise SceneError(
                f"gradients must be one of {', '.join(GRADIENTS)}, not {self.gradients!r}"
            )
        if self.centroid and self.state.samples == 1:
            raise SceneError("centroids need several samples a pixel: 2, 4 or 8, not 1")

    def apply(self, scene: Scene) -> Scene:
        """Return the scene with all its primitives drawn this way, the moving ones too."""
        still = len(scene.primitives)
        return replace(
            scene,
            primitives=self._changed(scene.primitives, 0),
            animate=lambda phase: self._changed(scene.animate(phase), still),
        )

    def _changed(self, primitives: Iterable[Primitive], first: int) -> list[Primitive]:
        """Primitives as they are drawn; `first` is the number of the first one in the frame."""
        changes = {"interpolation": self.interpolation, "depth_bias": self.depth_bias}
        changes = {name: value for name, value in changes.items() if value is not None}
        if self.centroid:
            changes["centroid"] = True
        if self.state.slices == 1:
            return [replace(p, **changes) for p in primitives]
        return [
            replace(p, **changes, slice=number % self.state.slices)
            for number, p in enumerate(primitives, first)
        ]

    def report(self) -> dict:
        """What `summary.json` says of it."""
        own = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "state"}
        state = {f.name: getattr(self.state, f.name) for f in fields(self.state)}
        for record in ("viewport", "depth_bias"):
            for where in (own, state):
                if where.get(record) is not None:
                    where[record] = vars(where[record])
        return state | own
