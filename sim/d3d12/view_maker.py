"""Creation of views and samplers (seed 001, spec 06 "Views and samplers")."""

from __future__ import annotations

from collections.abc import Callable

from minmip.hw.config import UnitConfig
from minmip.sim.d3d12.allocation import checked_resource
from minmip.sim.d3d12.commands import CommandList
from minmip.sim.d3d12.enums import D3D12_SAMPLER_FEEDBACK_TIER
from minmip.sim.d3d12.errors import D3D12Error
from minmip.sim.d3d12.resource import Resource
from minmip.sim.d3d12.resources import MIP_REGION_USED
from minmip.sim.d3d12.samplers import Sampler, sampler
from minmip.sim.d3d12.structures import (
    D3D12_RESOURCE_DESC1,
    D3D12_SAMPLER_DESC,
    D3D12_SHADER_RESOURCE_VIEW_DESC,
    D3D12_UNORDERED_ACCESS_VIEW_DESC,
    D3D12XBOX_SAMPLER_DESC,
    check_structure,
)
from minmip.sim.d3d12.tiers import TIER_0_9, check_tier_0_9_view
from minmip.sim.d3d12.view import View, null_view
from minmip.sim.d3d12.views import feedback_view, min_mip_view, shader_resource_view
from minmip.sim.golden.descriptor import LINKED_FILTER, LINKED_MIN, LINKED_OR
from minmip.sim.trace import Result, Trace

__all__ = ["ViewMaker"]


class ViewMaker(CommandList):
    """Makes the descriptors that draws take. Parameters are those of `Recorder`.

    Each method raises D3D12Error, with the rule that was broken, when it refuses a description.
    """

    def __init__(
        self,
        heap_base: int,
        heap_size: int,
        backend: Callable[[Trace], Result],
        *,
        xbox: bool,
        debug: bool,
        tier: D3D12_SAMPLER_FEEDBACK_TIER,
        config: UnitConfig,
    ):
        super().__init__(
            heap_base, heap_size, backend, xbox=xbox, debug=debug, tier=tier, config=config
        )
        self._palette: list[tuple[float, float, float, float]] = []

    def create_shader_resource_view(
        self, resource: Resource | None, desc: D3D12_SHADER_RESOURCE_VIEW_DESC | None = None
    ) -> View:
        """Describe a plain texture, or part of it; None gives a NULL view."""
        if resource is None:
            return null_view(0)
        self._check_owner(resource)
        return shader_resource_view(resource, _view_desc(desc))

    def create_sampler_feedback_unordered_access_view(
        self, target: Resource | None, feedback: Resource | None
    ) -> View:
        """Pair a texture with its feedback map; None for either gives a NULL view."""
        return self._feedback_view(target, feedback, None, None)

    def create_sampler_feedback_unordered_access_view_x(
        self,
        target: Resource | None,
        feedback: Resource | None,
        desc: D3D12_UNORDERED_ACCESS_VIEW_DESC | None = None,
        *,
        target_view: D3D12_SHADER_RESOURCE_VIEW_DESC | None = None,
    ) -> View:
        """Pair (part of) a texture with its feedback map; None for either gives a NULL view.

        Parameters
        ----------
        target, feedback : Resource or None
            `feedback` may also be a plain R8_UINT texture of the map's physical size.
        desc : D3D12_UNORDERED_ACCESS_VIEW_DESC, optional
            Slices of the map. `Format` must name the kind of a plain R8_UINT map.
        target_view : D3D12_SHADER_RESOURCE_VIEW_DESC, optional
            The view through which shaders sample the texture: its mips and LOD clamp go into the
            linked descriptor, since the hardware looks at nothing else. The seed's function has no
            such argument, though its descriptor has the fields.
        """
        self._need_xbox("CreateSamplerFeedbackUnorderedAccessViewX")
        return self._feedback_view(target, feedback, desc, target_view)

    def create_min_mip_shader_resource_view_x(
        self,
        target: Resource | None,
        target_desc: D3D12_RESOURCE_DESC1 | None,
        min_mip: Resource | None,
        desc: D3D12_SHADER_RESOURCE_VIEW_DESC | None = None,
    ) -> View:
        """Link a MinMip map to the texture whose residency it holds, for `sample_min_mip`.

        Parameters
        ----------
        target, target_desc : Resource or None, D3D12_RESOURCE_DESC1 or None
            The texture or its description; without both, or without a map, the view is NULL.
        min_mip : Resource or None
            R8_UINT, one mip, each side a power-of-two fraction of the texture's.
        desc : D3D12_SHADER_RESOURCE_VIEW_DESC, optional
            Mips and slices of the view.
        """
        self._need_xbox("CreateMinMipShaderResourceViewX")
        texture = None
        if target_desc is not None:
            texture = checked_resource(target_desc, xbox=self._xbox, config=self._config)
        if target is not None:
            self._check_owner(target)
            if texture not in (None, target.desc):
                raise D3D12Error("give the target or its description, not two that differ")
            texture = target.desc
        if min_mip is not None:
            self._check_owner(min_mip)
        if texture is None or min_mip is None:
            return null_view(LINKED_FILTER)
        return min_mip_view(texture, min_mip, _view_desc(desc))

    def create_sampler(self, desc: D3D12_SAMPLER_DESC) -> Sampler:
        """Create a sampler of standard Direct3D 12."""
        if isinstance(desc, D3D12XBOX_SAMPLER_DESC):
            raise D3D12Error("a D3D12XBOX_SAMPLER_DESC goes to create_sampler_x")
        return self._sampler(desc)

    def create_sampler_x(self, desc: D3D12XBOX_SAMPLER_DESC) -> Sampler:
        """Create a sampler that may carry the MinMip filter."""
        self._need_xbox("CreateSamplerX")
        return self._sampler(desc)

    def _feedback_view(self, target, feedback, desc, target_view) -> View:
        for resource in (target, feedback):
            if resource is not None:
                self._check_owner(resource)
        if target is None or feedback is None:
            used = feedback is not None and feedback.desc.Format == MIP_REGION_USED
            return null_view(LINKED_OR if used else LINKED_MIN)
        if desc is not None:
            check_structure(D3D12_UNORDERED_ACCESS_VIEW_DESC, desc)
        view = feedback_view(target, feedback, desc, _view_desc(target_view))
        if self._tier == TIER_0_9:
            check_tier_0_9_view(view)
        return view

    def _sampler(self, desc: D3D12_SAMPLER_DESC) -> Sampler:
        """Build a sampler; a border colour that needs the palette gets an entry there."""
        check_structure(D3D12_SAMPLER_DESC, desc)
        known = desc.BorderColor in self._palette
        index = self._palette.index(desc.BorderColor) if known else len(self._palette)
        made = sampler(desc, index)
        if made.border_color is not None and not known:
            self._palette.append(made.border_color)
        return made

    def _need_xbox(self, name: str) -> None:
        if not self._xbox:
            raise D3D12Error(f"{name} needs the Xbox extensions")


def _view_desc(desc: D3D12_SHADER_RESOURCE_VIEW_DESC | None) -> D3D12_SHADER_RESOURCE_VIEW_DESC:
    """The description of a view, that of a whole texture for None."""
    if desc is None:
        return D3D12_SHADER_RESOURCE_VIEW_DESC()
    check_structure(D3D12_SHADER_RESOURCE_VIEW_DESC, desc)
    return desc
