"""The device: creates resources, views and samplers, and runs draws (seed 001, spec 06)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from minmip.sim import golden
from minmip.sim.d3d12.allocation import BUFFER_ALIGNMENT, allocation_info, size_and_alignment
from minmip.sim.d3d12.commands import CommandList
from minmip.sim.d3d12.enums import (
    D3D12_RESOURCE_STATES,
    D3D12_SAMPLER_FEEDBACK_TIER,
    D3D12_TEXTURE_LAYOUT,
)
from minmip.sim.d3d12.errors import D3D12Error
from minmip.sim.d3d12.heap import UNDEFINED_BYTE, Resource, ResourceHeap
from minmip.sim.d3d12.resources import MIP_REGION_USED, checked_description
from minmip.sim.d3d12.samplers import Sampler, sampler
from minmip.sim.d3d12.states import COMMON, checked_state
from minmip.sim.d3d12.structures import (
    D3D12_HEAP_DESC,
    D3D12_RESOURCE_ALLOCATION_INFO,
    D3D12_RESOURCE_ALLOCATION_INFO1,
    D3D12_RESOURCE_DESC1,
    D3D12_SAMPLER_DESC,
    D3D12_SHADER_RESOURCE_VIEW_DESC,
    D3D12_UNORDERED_ACCESS_VIEW_DESC,
    D3D12XBOX_SAMPLER_DESC,
    check_structure,
)
from minmip.sim.d3d12.tiers import TIER_0_9, TIER_1_0, check_tier_0_9_view, checked_tier
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

LAYOUT_UNKNOWN = D3D12_TEXTURE_LAYOUT.D3D12_TEXTURE_LAYOUT_UNKNOWN
LARGEST_HEAP_ALIGNMENT = 1 << 22


class Device(CommandList):
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
    debug : bool
        Whether the debug layer looks at resource states and at what users trip over: undefined
        use is refused, a hazard is a D3D12Warning.
    tier : D3D12_SAMPLER_FEEDBACK_TIER
        What `sampler_feedback_tier` answers. TIER_0_9 refuses feedback with address modes other
        than WRAP and CLAMP and for parts of a texture; the hardware is TIER_1_0.
    """

    def __init__(
        self,
        *,
        xbox: bool = True,
        memory_base: int = 1 << 32,
        memory_size: int = 1 << 28,
        backend: Callable[[Trace], Result] = golden.run,
        debug: bool = False,
        tier: D3D12_SAMPLER_FEEDBACK_TIER = TIER_1_0,
    ):
        super().__init__(
            memory_base, memory_size, backend, xbox=xbox, debug=debug, tier=checked_tier(tier)
        )
        self._palette: list[tuple[float, float, float, float]] = []

    @property
    def sampler_feedback_tier(self) -> D3D12_SAMPLER_FEEDBACK_TIER:
        """The tier that CheckFeatureSupport reports."""
        return self._tier

    def get_resource_allocation_info2(
        self, descs: Sequence[D3D12_RESOURCE_DESC1]
    ) -> tuple[D3D12_RESOURCE_ALLOCATION_INFO, list[D3D12_RESOURCE_ALLOCATION_INFO1]]:
        """Size and alignment that resources need in a heap, together and each (spec 05).

        Maps need 256 bytes of alignment, textures that of their layout, buffers 64 KB.
        """
        if not isinstance(descs, list | tuple):
            raise D3D12Error(f"wanted a list of descriptions, not {type(descs).__name__}")
        return allocation_info([self._checked(desc) for desc in descs])

    def create_committed_resource2(
        self,
        desc: D3D12_RESOURCE_DESC1,
        initial_state: D3D12_RESOURCE_STATES = COMMON,
    ) -> Resource:
        """Create a texture, a feedback map, a MinMip map or a buffer in memory of its own.

        Buffers, feedback maps and R8_UINT or R8_TYPELESS textures get zeroed memory, these in
        256B_S unless the layout says LINEAR; of other textures only the description exists.
        """
        checked = self._checked(desc)
        state = checked_state(checked, initial_state)
        return Resource.create(checked, self._heap, state)

    def create_heap(self, desc: D3D12_HEAP_DESC) -> ResourceHeap:
        """Take memory for placed resources; its contents are undefined (bytes of 0xCD)."""
        check_structure(D3D12_HEAP_DESC, desc)
        alignment = desc.Alignment or BUFFER_ALIGNMENT
        if alignment not in (BUFFER_ALIGNMENT, LARGEST_HEAP_ALIGNMENT):
            raise D3D12Error(f"Alignment of a heap must be 0, 64 KB or 4 MB, not {desc.Alignment}")
        if not desc.SizeInBytes:
            raise D3D12Error("SizeInBytes of a heap must be at least 1, not 0")
        address = self._heap.allocate(desc.SizeInBytes, alignment)
        self._heap.fill(address, desc.SizeInBytes, UNDEFINED_BYTE)
        return ResourceHeap(
            desc=replace(desc, Alignment=alignment), address=address, heap=self._heap
        )

    def create_placed_resource1(
        self,
        heap: ResourceHeap,
        heap_offset: int,
        desc: D3D12_RESOURCE_DESC1,
        initial_state: D3D12_RESOURCE_STATES = COMMON,
    ) -> Resource:
        """Create a resource in a heap. Its contents are undefined: bytes of 0xCD, never zero.

        Parameters
        ----------
        heap : ResourceHeap
            From `create_heap` of this device.
        heap_offset : int
            A multiple of the alignment that `get_resource_allocation_info2` gives, with room for
            the size behind it.
        desc : D3D12_RESOURCE_DESC1
            As for `create_committed_resource2`.
        initial_state : D3D12_RESOURCE_STATES
            For the checks of the debug layer.
        """
        if not isinstance(heap, ResourceHeap):
            raise D3D12Error(f"wanted a heap from create_heap, not {type(heap).__name__}")
        if heap.heap is not self._heap:
            raise D3D12Error("the heap belongs to another device")
        if not isinstance(heap_offset, int | np.integer):
            raise D3D12Error(f"HeapOffset must be a whole number, not {heap_offset!r}")
        checked = self._checked(desc)
        state = checked_state(checked, initial_state)
        size, alignment = size_and_alignment(checked)
        if alignment > heap.desc.Alignment:
            raise D3D12Error(
                f"the resource needs an alignment of {alignment}, the heap has one of "
                f"{heap.desc.Alignment}"
            )
        if heap_offset < 0 or heap_offset % alignment:
            raise D3D12Error(
                f"HeapOffset must be a multiple of the resource's alignment {alignment}, "
                f"not {heap_offset}"
            )
        if heap_offset + size > heap.desc.SizeInBytes:
            raise D3D12Error(
                f"{size} bytes at HeapOffset {heap_offset} pass the end of the heap's "
                f"{heap.desc.SizeInBytes} bytes"
            )
        made = Resource.create(checked, self._heap, state, heap.address + int(heap_offset))
        heap.add(made)
        return made

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
            texture = self._checked(target_desc)
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

    def _checked(self, desc: D3D12_RESOURCE_DESC1) -> D3D12_RESOURCE_DESC1:
        check_structure(D3D12_RESOURCE_DESC1, desc)
        checked = checked_description(desc, xbox=self._xbox)
        if checked.Layout != LAYOUT_UNKNOWN and checked.SampleDesc.Count == 1:
            size_and_alignment(checked)  # refuses swizzle modes that the texture cannot have
        return checked

    def _need_xbox(self, name: str) -> None:
        if not self._xbox:
            raise D3D12Error(f"{name} needs the Xbox extensions")


def _view_desc(desc: D3D12_SHADER_RESOURCE_VIEW_DESC | None) -> D3D12_SHADER_RESOURCE_VIEW_DESC:
    """The description of a view, that of a whole texture for None."""
    if desc is None:
        return D3D12_SHADER_RESOURCE_VIEW_DESC()
    check_structure(D3D12_SHADER_RESOURCE_VIEW_DESC, desc)
    return desc
