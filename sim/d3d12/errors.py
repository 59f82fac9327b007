"""The one exception and the one warning of the driver layer."""

__all__ = ["D3D12Error", "D3D12Warning"]


class D3D12Error(ValueError):
    """A call that the API refuses; the text names the rule that was broken. Nothing has changed."""


class D3D12Warning(UserWarning):
    """A call that is carried out, though probably not with the effect its author had in mind."""
