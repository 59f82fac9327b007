"""A resource in GPU memory: its bytes, its texels, and what is known of them (spec 05, spec 06)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from minmip.hw.config import XorPattern
from minmip.sim.d3d12.arguments import as_array, whole_number
from minmip.sim.d3d12.enums import D3D12_RESOURCE_STATES
from minmip.sim.d3d12.errors import D3D12Error
from minmip.sim.d3d12.heap import UNDEFINED_BYTE, Heap
from minmip.sim.d3d12.resources import (
    FEEDBACK_FORMATS,
    TEXTURE3D,
    is_buffer,
    is_stored,
    mip_size,
    stored_mips,
    stored_size,
    subresource_count,
    swizzle_number,
    texture_axes,
)
from minmip.sim.d3d12.structures import D3D12_RESOURCE_DESC1
from minmip.sim.golden.address import MapLayout, map_layout, texel_address
from minmip.sim.golden.resolve import MapPart

__all__ = ["Resource"]


@dataclass(eq=False, kw_only=True)
class Resource:
    """A texture, feedback map, MinMip map or buffer, made by the device's create methods.

    Attributes
    ----------
    desc : D3D12_RESOURCE_DESC1
        The description, with its mip count filled in.
    address : int
        GPU byte address; 0 when `size_in_bytes` is 0.
    size_in_bytes : int
        Bytes of memory; 0 for formats of which only the descriptor exists.
    mips : int
        Mip levels in memory: 1 for a MinMip feedback map, whatever the description said.
    sw_mode : int
        Swizzle mode for the descriptor.
    state : D3D12_RESOURCE_STATES
        What barriers have made of the initial state.
    promoted : D3D12_RESOURCE_STATES
        What uses have made of COMMON since the last `execute`; COMMON in another state.
    defined : numpy.ndarray
        bool [subresources]: False while the contents of one are undefined.
    paired : Resource or None
        The texture whose feedback the map holds since it was cleared.
    unread : bool
        Whether a feedback map holds what was written since it was cleared or decoded.
    aliases : list of Resource
        Resources placed over the same bytes of a heap.
    released : bool
        Whether `release` was called: nothing takes the resource any more.
    stale : numpy.ndarray
        bool [subresources]: whether it was decoded since the map was last changed.
    heap : Heap
        The memory that holds it.
    """

    desc: D3D12_RESOURCE_DESC1
    address: int
    size_in_bytes: int
    mips: int
    sw_mode: int
    state: D3D12_RESOURCE_STATES
    promoted: D3D12_RESOURCE_STATES = D3D12_RESOURCE_STATES.D3D12_RESOURCE_STATE_COMMON
    defined: np.ndarray = field(repr=False)
    paired: Resource | None = field(default=None, repr=False)
    unread: bool = False
    aliases: list[Resource] = field(default_factory=list, repr=False)
    released: bool = False
    stale: np.ndarray = field(repr=False)
    _layout: MapLayout | None = field(repr=False)
    heap: Heap = field(repr=False)

    @classmethod
    def create(
        cls,
        desc: D3D12_RESOURCE_DESC1,
        heap: Heap,
        state: D3D12_RESOURCE_STATES,
        place: int | None = None,
        *,
        xor_patterns: tuple[XorPattern, ...] = (),
    ) -> Resource:
        """Give a checked description its memory (spec 05, 4.1 and 8.1).

        Parameters
        ----------
        desc : D3D12_RESOURCE_DESC1
            Of a buffer or texture.
        heap : Heap
            GPU memory.
        state : D3D12_RESOURCE_STATES
            Initial state.
        place : int, optional
            GPU address in a `ResourceHeap`, where the contents become undefined; without it the
            memory is new and zero.
        xor_patterns : tuple of XorPattern
            The unit's pipe XOR.
        """
        layout, sw_mode, size = None, 0, desc.Width
        if not is_buffer(desc):
            sw_mode = swizzle_number(desc)
            volume = desc.Dimension == TEXTURE3D
            stored = stored_size(desc)
            layout = map_layout(
                sw_mode=np.array([sw_mode]),
                base=np.array([0]),
                size=np.array([stored]),
                mips=np.array([stored_mips(desc)]),
                volume=np.array([volume]),
                xor_patterns=xor_patterns,
            )
            slices = stored[2] if volume else desc.DepthOrArraySize
            size = int(layout.total_bytes(np.array([slices]))[0])
        address = total = 0
        if is_stored(desc):
            total = size
            # Under a pipe XOR the address bits inside a block would be a pipeBankXor.
            alignment = max(desc.Alignment, 1 if layout is None else int(layout.block_bytes[0]))
            address = heap.allocate(total, alignment) if place is None else place
            if place is not None:
                heap.flush()
                heap.fill(address, total, UNDEFINED_BYTE)
            if layout is not None:
                layout.base[:] = address - heap.base
        count = subresource_count(desc)
        return cls(
            desc=desc,
            address=address,
            size_in_bytes=total,
            mips=stored_mips(desc),
            sw_mode=sw_mode,
            state=state,
            stale=np.zeros(count, bool),
            defined=np.full(count, place is None and desc.Format not in FEEDBACK_FORMATS),
            _layout=layout,
            heap=heap,
        )

    @property
    def is_opaque(self) -> bool:
        """Whether it is a feedback map in one of the two opaque formats."""
        return self.desc.Format in FEEDBACK_FORMATS

    @property
    def slices(self) -> int:
        """Array slices; 1 for volumes and buffers."""
        return len(self.defined) // self.mips

    def map(self) -> np.ndarray:
        """Return the resource's bytes as they lie in memory, uint8 [size_in_bytes], after a flush.

        The array is the memory itself: what the CPU writes, the GPU sees, and the other way round.
        D3D12Error for a resource without memory.
        """
        self.need_memory()
        self.heap.finish()
        if not self.is_opaque:
            self.define(slice(None))  # nobody can tell what the CPU will write
        start = self.address - self.heap.base
        return self.heap.memory[start : start + self.size_in_bytes]

    def read_from_subresource(self, subresource: int = 0) -> np.ndarray:
        """Read the texels of one subresource (mip + slice * mips), unswizzled, after a flush.

        Returns
        -------
        numpy.ndarray
            uint8, shape [width] (also of a buffer), [height, width] or [depth, height, width].

        Raises
        ------
        D3D12Error
            For an opaque feedback map, a resource without memory or a subresource it has not.
        """
        mip, layer = self._subresource(subresource)
        self.need_memory()
        self.heap.finish()
        return self.texels(mip)[layer]

    def write_to_subresource(self, texels: np.ndarray, subresource: int = 0) -> None:
        """Write the texels of one subresource; shape and errors as in `read_from_subresource`."""
        mip, layer = self._subresource(subresource)
        addresses = self.byte_offsets(mip)[layer]
        texels = as_array(texels)
        if texels.dtype != np.uint8 or texels.shape != addresses.shape:
            raise D3D12Error(
                f"subresource {subresource} wants uint8 {list(addresses.shape)}, "
                f"not {texels.dtype} {list(texels.shape)}"
            )
        self.heap.finish()
        self.heap.memory[addresses] = texels
        self.define(subresource)

    def texels(self, mip: int) -> np.ndarray:
        """Read all slices of a mip as the hardware has them, uint8 [slices, ...], after a flush."""
        addresses = self.byte_offsets(mip)
        self.heap.flush()
        return self.heap.memory[addresses]

    def put_texels(self, mip: int, layer: int, where: tuple[slice, ...], texels) -> None:
        """Write part of a subresource of any stored resource, after a flush.

        Parameters
        ----------
        mip, layer : int
            Of the subresource; for volumes and buffers the layer is 0.
        where : tuple of slice
            Which texels, last axis x.
        texels : array
            uint8, of that shape.
        """
        addresses = self.byte_offsets(mip)[layer][where]
        self.heap.flush()
        self.heap.memory[addresses] = texels

    def map_part(
        self, mip: int, layer: int, where: tuple[slice, ...], kind: int, texels=None
    ) -> MapPart:
        """Part of a subresource of a texture for a resolver (`sim.golden.resolve`).

        Parameters
        ----------
        mip, layer, where
            As in `put_texels`.
        kind : int
            What its bytes mean.
        texels : array, optional
            uint8, of that shape, to encode.
        """
        assert self._layout is not None, "a buffer has no layout"
        ends = [(one.start, one.stop - one.start) for one in reversed(where)]
        ends += [(0, 1)] * (2 - len(ends)) + [(layer, 1)] * (len(ends) < 3)
        corner, size = zip(*ends, strict=True)
        if texels is not None:
            texels = np.reshape(texels, size[::-1])
        layout = replace(self._layout, base=self._layout.base + self.heap.base)
        return MapPart(layout=layout, mip=mip, corner=corner, size=size, kind=kind, texels=texels)

    def release(self) -> None:
        """Give the resource up, after all recorded draws: whatever names it later is refused.

        Its memory is not handed out again.
        """
        self.check_alive()
        self.heap.flush()
        self.released = True

    def check_alive(self) -> None:
        """Raise D3D12Error for a resource that was released."""
        if self.released:
            raise D3D12Error(f"the {self.desc.Format.name} resource was released")

    def define(self, subresources: int | slice, defined: bool | np.ndarray = True) -> None:
        """Note that subresources were written, or copied from others, defined or not.

        What lies over the same bytes of a heap is undefined from now on.
        """
        self.defined[subresources] = defined
        for other in self.aliases:
            other.defined[:] = False

    def need_memory(self) -> None:
        """Raise D3D12Error for a resource that was released or is a descriptor only."""
        self.check_alive()
        if not self.size_in_bytes:
            raise D3D12Error(f"a {self.desc.Format.name} texture has no memory in this model")

    def byte_offsets(self, mip: int) -> np.ndarray:
        """Offsets in the heap of all texels of a mip, int64 [slices, (depth, (height,)) width]."""
        self.need_memory()
        if self._layout is None:  # a buffer: one row
            return np.arange(self.size_in_bytes)[None] + (self.address - self.heap.base)
        width, height, depth = mip_size(stored_size(self.desc), mip)
        volume = self.desc.Dimension == TEXTURE3D
        layers = depth if volume else self.desc.DepthOrArraySize
        z, y, x = np.ogrid[:layers, :height, :width]
        addresses = texel_address(self._layout, np.array(0), np.array(mip), x, y, z)
        if volume:
            return addresses[None]
        return addresses if texture_axes(self.desc) == 2 else addresses[:, 0]

    def _subresource(self, subresource: int) -> tuple[int, int]:
        if self.is_opaque:
            raise D3D12Error("the CPU cannot read or write an opaque feedback map: decode it")
        index = whole_number("subresource", subresource, 0, len(self.defined) - 1)
        layer, mip = divmod(index, self.mips)
        return mip, layer
