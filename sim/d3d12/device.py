"""The device: creates resources, views and samplers, and runs draws (seed 001, spec 06)."""

from __future__ import annotations

from collections.abc import Callable

from minmip.sim import golden
from minmip.sim.d3d12.context import Context
from minmip.sim.d3d12.errors import D3D12Error
from minmip.sim.d3d12.heap import Resource
from minmip.sim.d3d12.resources import MIP_REGION_USED, checked_description
from minmip.sim.d3d12.samplers import Sampler, sampler
from minmip.sim.d3d12.structures import (
    D3D12_RESOURCE_DESC1,
    D3D12_SAMPLER_DESC,
    D3D12_SHADER_RESOURCE_VIEW_DESC,
    D3D12_UNORDERED_ACCESS_VIEW_DESC,
    D3D12XBOX_SAMPLER_DESC,
    check_structure,
)
from minmip.sim.d3d12.views import (
    View,
    feedback_view,
    min_mip_view,
    null_view,
    shader_resource_view,
)
from minmip.sim.golden.descriptor import LINKED_FILTER, LINKED_MIN, LINKED_OR
from minmip.sim.trace import Result, Trace

__all__ = ["Device"]


class Device(Context):
    """A model of ID3D12Device8 with the Xbox extensions and of its one command list.

    Every method that takes a description raises D3D12Error, with the rule that was broken, when it
    refuses it; nothing has changed then.

    Parameters
    ----------
    xbox : bool
        Whether the Xbox extensions are there: the X methods, feedback maps of 1D and 3D textures,
        regions of any power of two up to the whole texture, swizzle modes as layouts.
    memory_base : int
        GPU address of the first map, a multiple of 256.
    memory_size : int
        Bytes of GPU memory for maps; only what is used is really taken.
    backend : callable
        Runs a Trace and returns a Result; the golden model by default.
    """

    def __init__(
        self,
        *,
        xbox: bool = True,
        memory_base: int = 1 << 32,
        memory_size: int = 1 << 28,
        backend: Callable[[Trace], Result] = golden.run,
    ):
        super().__init__(memory_base, memory_size, backend)
        self._xbox = xbox
        self._palette: list[tuple[float, float, float, float]] = []

    def create_committed_resource2(self, desc: D3D12_RESOURCE_DESC1) -> Resource:
        """Create a texture, a feedback map or a MinMip map.

        Feedback maps and R8_UINT or R8_TYPELESS textures get zeroed memory, in 256B_S unless the
        layout says LINEAR; of textures in other formats only the description exists.
        """
        check_structure(D3D12_RESOURCE_DESC1, desc)
        return Resource.commit(checked_description(desc, xbox=self._xbox), self._heap)

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
            check_structure(D3D12_RESOURCE_DESC1, target_desc)
            texture = checked_description(target_desc, xbox=self._xbox)
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
        return feedback_view(target, feedback, desc, _view_desc(target_view))

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
