"""The device: creates resources, views and samplers, and runs draws (seed 001, spec 06)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from minmip.hw.config import FULL, UnitConfig
from minmip.sim import golden
from minmip.sim.d3d12.allocation import (
    BUFFER_ALIGNMENT,
    allocation_info,
    checked_resource,
    size_and_alignment,
)
from minmip.sim.d3d12.arguments import whole_number
from minmip.sim.d3d12.enums import D3D12_RESOURCE_STATES, D3D12_SAMPLER_FEEDBACK_TIER
from minmip.sim.d3d12.errors import D3D12Error
from minmip.sim.d3d12.footprints import CopyableFootprints, copyable_footprints
from minmip.sim.d3d12.heap import UNDEFINED_BYTE, ResourceHeap
from minmip.sim.d3d12.resource import Resource
from minmip.sim.d3d12.states import COMMON, checked_state
from minmip.sim.d3d12.structures import (
    D3D12_HEAP_DESC,
    D3D12_RESOURCE_ALLOCATION_INFO,
    D3D12_RESOURCE_ALLOCATION_INFO1,
    D3D12_RESOURCE_DESC1,
    check_structure,
)
from minmip.sim.d3d12.tiers import TIER_1_0, checked_tier
from minmip.sim.d3d12.tiling import ResourceTiling, resource_tiling
from minmip.sim.d3d12.view_maker import ViewMaker
from minmip.sim.trace import Result, Trace

__all__ = ["Device"]

LARGEST_HEAP_ALIGNMENT = 1 << 22


class Device(ViewMaker):
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
        Runs a Trace and returns a Result; the golden model of `config` by default. One with an
        attribute `resolve`, as the verilated unit has, decodes and encodes maps too.
    debug : bool
        Whether the debug layer looks at resource states and at what users trip over: undefined
        use is refused, a hazard is a D3D12Warning.
    tier : D3D12_SAMPLER_FEEDBACK_TIER
        What `sampler_feedback_tier` answers. TIER_0_9 refuses feedback with address modes other
        than WRAP and CLAMP and for parts of a texture; the hardware is TIER_1_0.
    config : UnitConfig
        What the build of the unit contains; R8_UINT maps may have its swizzle modes.
    """

    def __init__(
        self,
        *,
        xbox: bool = True,
        memory_base: int = 1 << 32,
        memory_size: int = 1 << 28,
        backend: Callable[[Trace], Result] | None = None,
        debug: bool = False,
        tier: D3D12_SAMPLER_FEEDBACK_TIER = TIER_1_0,
        config: UnitConfig = FULL,
    ):
        super().__init__(
            memory_base,
            memory_size,
            partial(golden.run, config=config) if backend is None else backend,
            xbox=xbox,
            debug=debug,
            tier=checked_tier(tier),
            config=config,
        )

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

    def get_copyable_footprints(
        self,
        desc: D3D12_RESOURCE_DESC1,
        first_subresource: int = 0,
        num_subresources: int | None = None,
        base_offset: int = 0,
    ) -> CopyableFootprints:
        """Lay subresources of a texture out in a buffer, for `copy_texture_region`.

        `num_subresources` None is all from the first on. Rows are 256 bytes or a multiple apart,
        subresources begin at multiples of 512.
        """
        checked = self._checked(desc)
        return copyable_footprints(checked, first_subresource, num_subresources, base_offset)

    def get_resource_tiling(self, resource: Resource) -> ResourceTiling:
        """Cut a texture into 64 KB tiles; the region of a feedback map may be one of them."""
        self._check_owner(resource)
        return resource_tiling(resource.desc)

    def create_committed_resource2(
        self,
        desc: D3D12_RESOURCE_DESC1,
        initial_state: D3D12_RESOURCE_STATES = COMMON,
    ) -> Resource:
        """Create a texture, a feedback map, a MinMip map or a buffer in memory of its own.

        Buffers, feedback maps and R8_UINT or R8_TYPELESS textures get zeroed memory, these in
        256B_S unless the layout says otherwise; of other textures only the description exists.
        """
        checked = self._checked(desc)
        state = checked_state(checked, initial_state)
        return Resource.create(checked, self._heap, state, xor_patterns=self._config.xor_patterns)

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
        heap_offset = whole_number("HeapOffset", heap_offset, 0, heap.desc.SizeInBytes)
        checked = self._checked(desc)
        state = checked_state(checked, initial_state)
        size, alignment = size_and_alignment(checked)
        if alignment > heap.desc.Alignment:
            raise D3D12Error(
                f"the resource needs an alignment of {alignment}, the heap has one of "
                f"{heap.desc.Alignment}"
            )
        if heap_offset % alignment:
            raise D3D12Error(
                f"HeapOffset must be a multiple of the resource's alignment {alignment}, "
                f"not {heap_offset}"
            )
        if heap_offset + size > heap.desc.SizeInBytes:
            raise D3D12Error(
                f"{size} bytes at HeapOffset {heap_offset} pass the end of the heap's "
                f"{heap.desc.SizeInBytes} bytes"
            )
        made = Resource.create(
            checked,
            self._heap,
            state,
            heap.address + heap_offset,
            xor_patterns=self._config.xor_patterns,
        )
        heap.add(made)
        return made

    def _checked(self, desc: D3D12_RESOURCE_DESC1) -> D3D12_RESOURCE_DESC1:
        return checked_resource(desc, xbox=self._xbox, config=self._config)
