"""Tiers of sampler feedback: what TIER_0_9 does not allow (spec 06 "Views and samplers")."""

from __future__ import annotations

from minmip.sim.d3d12.arguments import member, shown
from minmip.sim.d3d12.enums import D3D12_SAMPLER_FEEDBACK_TIER, D3D12_TEXTURE_ADDRESS_MODE
from minmip.sim.d3d12.errors import D3D12Error
from minmip.sim.d3d12.resources import TEXTURE3D
from minmip.sim.d3d12.samplers import Sampler
from minmip.sim.d3d12.view import View, view_field

__all__ = ["TIER_0_9", "TIER_1_0", "check_tier_0_9_sampler", "check_tier_0_9_view", "checked_tier"]

TIER_0_9 = D3D12_SAMPLER_FEEDBACK_TIER.D3D12_SAMPLER_FEEDBACK_TIER_0_9
TIER_1_0 = D3D12_SAMPLER_FEEDBACK_TIER.D3D12_SAMPLER_FEEDBACK_TIER_1_0
ADDRESS_MODES = (
    D3D12_TEXTURE_ADDRESS_MODE.D3D12_TEXTURE_ADDRESS_MODE_WRAP,
    D3D12_TEXTURE_ADDRESS_MODE.D3D12_TEXTURE_ADDRESS_MODE_CLAMP,
)


def checked_tier(tier: D3D12_SAMPLER_FEEDBACK_TIER | int) -> D3D12_SAMPLER_FEEDBACK_TIER:
    """Return the tier of a device; D3D12Error for any but TIER_0_9 and TIER_1_0."""
    return member("tier", D3D12_SAMPLER_FEEDBACK_TIER, tier, TIER_0_9, TIER_1_0)


def check_tier_0_9_sampler(sampler: Sampler, axes: int) -> None:
    """Raise D3D12Error unless all address modes in use are WRAP and CLAMP."""
    desc = sampler.desc
    for mode in (desc.AddressU, desc.AddressV, desc.AddressW)[:axes]:
        if mode not in ADDRESS_MODES:
            raise D3D12Error(
                f"TIER_0_9 takes the address modes WRAP and CLAMP only, not {shown(mode)}"
            )


def check_tier_0_9_view(view: View) -> None:
    """Raise D3D12Error unless a feedback view is of the whole texture."""
    assert view.target is not None
    desc = view.target.desc
    last_slice = desc.DepthOrArraySize - 1
    whole = {"BASE_LEVEL": 0, "LAST_LEVEL": desc.MipLevels - 1, "MIN_LOD": 0}
    if desc.Dimension != TEXTURE3D:
        whole |= {"BASE_ARRAY": 0, "DEPTH": last_slice}
    for name, value in whole.items():
        if view_field(view, name) != value:
            raise D3D12Error(
                f"TIER_0_9 takes views of the whole texture only: {name} must be {value}, not "
                f"{view_field(view, name)}"
            )
