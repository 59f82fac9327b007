"""Resource states: which there are, and whether a use is allowed in one (spec 06 "Resolve")."""

from __future__ import annotations

from minmip.sim.d3d12.arguments import member
from minmip.sim.d3d12.enums import D3D12_RESOURCE_STATES
from minmip.sim.d3d12.errors import D3D12Error
from minmip.sim.d3d12.resource import Resource
from minmip.sim.d3d12.resources import FEEDBACK_FORMATS
from minmip.sim.d3d12.structures import D3D12_RESOURCE_DESC1

__all__ = [
    "COMMON",
    "COPY_DEST",
    "COPY_SOURCE",
    "RESOLVE_DEST",
    "RESOLVE_SOURCE",
    "SHADER_RESOURCE",
    "UNORDERED_ACCESS",
    "check_use",
    "checked_state",
    "named",
    "promote",
]

COMMON = D3D12_RESOURCE_STATES.D3D12_RESOURCE_STATE_COMMON
UNORDERED_ACCESS = D3D12_RESOURCE_STATES.D3D12_RESOURCE_STATE_UNORDERED_ACCESS
SHADER_RESOURCE = D3D12_RESOURCE_STATES.D3D12_RESOURCE_STATE_ALL_SHADER_RESOURCE
COPY_DEST = D3D12_RESOURCE_STATES.D3D12_RESOURCE_STATE_COPY_DEST
COPY_SOURCE = D3D12_RESOURCE_STATES.D3D12_RESOURCE_STATE_COPY_SOURCE
RESOLVE_DEST = D3D12_RESOURCE_STATES.D3D12_RESOURCE_STATE_RESOLVE_DEST
RESOLVE_SOURCE = D3D12_RESOURCE_STATES.D3D12_RESOURCE_STATE_RESOLVE_SOURCE

WRITES = (UNORDERED_ACCESS, COPY_DEST, RESOLVE_DEST)
ANY_WRITE = UNORDERED_ACCESS | COPY_DEST | RESOLVE_DEST


def checked_state(desc: D3D12_RESOURCE_DESC1, state: D3D12_RESOURCE_STATES | int):
    """Return a state that such a resource may be in; D3D12Error for any other."""
    state = member("a resource state", D3D12_RESOURCE_STATES, state)
    if any(state & write and state != write for write in WRITES):
        raise D3D12Error(f"a state that allows writing must stand alone, not {named(state)}")
    if desc.Format in FEEDBACK_FORMATS and state & SHADER_RESOURCE:
        raise D3D12Error(
            "a feedback map may be in COMMON, UNORDERED_ACCESS, RESOLVE_* and COPY_* only, not in "
            f"{named(state)}"
        )
    return state


def named(state: D3D12_RESOURCE_STATES) -> str:
    """Return the C names of a state, with | between them."""
    return state.name or str(state)


def check_use(resource: Resource, wanted: D3D12_RESOURCE_STATES, what: str) -> None:
    """Raise D3D12Error unless the state of a resource allows a use.

    From COMMON the first use promotes a resource to the state it needs, and reads to further
    states of reading; until the next `execute` it is then in that state.

    Parameters
    ----------
    resource : Resource
        The one used.
    wanted : D3D12_RESOURCE_STATES
        One of its bits must be set.
    what : str
        The use, for the message.
    """
    state = resource.state or resource.promoted
    if not state or state & wanted or (not resource.state and not (state | wanted) & ANY_WRITE):
        return
    how = "" if resource.state else ", to which an earlier use promoted it from COMMON"
    raise D3D12Error(f"{what} needs {named(wanted)}, the resource is in {named(state)}{how}")


def promote(resource: Resource, wanted: D3D12_RESOURCE_STATES) -> None:
    """Carry out the promotion of a checked use of a resource in COMMON."""
    if not resource.state:
        resource.promoted |= wanted
