"""The one error of the front end."""

__all__ = ["SceneError"]


class SceneError(ValueError):
    """A scene or a file that cannot be drawn: one sentence with what was wanted and what came."""
