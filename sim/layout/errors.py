"""The one error of the layout library."""

__all__ = ["LayoutError"]


class LayoutError(ValueError):
    """A texture, file or position that cannot be laid out; the sentence says why."""
