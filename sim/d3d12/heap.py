"""GPU memory and the resources that live in it (spec 05, spec 06 "Resources")."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from minmip.sim.d3d12.enums import D3D12_TEXTURE_LAYOUT
from minmip.sim.d3d12.errors import D3D12Error
from minmip.sim.d3d12.resources import (
    FEEDBACK_FORMATS,
    MIN_MIP,
    STORED_FORMATS,
    TEXTURE3D,
    mip_size,
    stored_size,
    texture_axes,
)
from minmip.sim.d3d12.structures import D3D12_RESOURCE_DESC1
from minmip.sim.golden.address import SW_256B_S, SW_LINEAR, MapLayout, map_layout, texel_address

__all__ = ["Heap", "Resource"]

ALIGNMENT = 256
ADDRESS_BITS = 48
LAYOUT_LINEAR = D3D12_TEXTURE_LAYOUT.D3D12XBOX_TEXTURE_LAYOUT_SWIZZLE_MODE_LINEAR


class Heap:
    """A flat piece of GPU memory, handed out from its start and never taken back.

    Parameters
    ----------
    base : int
        GPU byte address of the first byte, a multiple of 256.
    size : int
        Bytes available; the operating system provides them only as they are touched.
    flush : callable
        Carries out the recorded GPU work; called before the CPU reads or writes.

    Raises
    ------
    D3D12Error
        When base or size do not fit the 48-bit address space of the descriptors.
    """

    def __init__(self, base: int, size: int, flush: Callable[[], object]):
        if base < 0 or base % ALIGNMENT:
            raise D3D12Error(f"the base address must be a multiple of {ALIGNMENT}, not {base}")
        if size < 0 or base + size > 1 << ADDRESS_BITS:
            raise D3D12Error(f"base + size must be within {ADDRESS_BITS} address bits")
        self.base = base
        self.flush = flush
        self._bytes = np.zeros(size, np.uint8)
        self._used = 0

    @property
    def memory(self) -> np.ndarray:
        """The part handed out so far, uint8 [bytes], a view: writes go to the memory itself."""
        return self._bytes[: self._used]

    def allocate(self, size: int, alignment: int) -> int:
        """Take `size` zeroed bytes; returns their GPU address. D3D12Error when none are left."""
        alignment = max(alignment, ALIGNMENT)
        address = -(-(self.base + self._used) // alignment) * alignment
        end = address - self.base + size
        if end > len(self._bytes):
            raise D3D12Error(
                f"out of GPU memory: {size} bytes wanted, "
                f"{len(self._bytes) - self._used} of {len(self._bytes)} left; "
                "larger regions or a larger memory_size help"
            )
        self._used = end
        return address


@dataclass(eq=False, kw_only=True)
class Resource:
    """A texture, feedback map or MinMip map, made by `Device.create_committed_resource2`.

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
        Swizzle mode for the descriptor: 0 LINEAR or 1 256B_S.
    initialised : bool
        False for an opaque feedback map that was never cleared.
    heap : Heap
        The memory that holds it.
    """

    desc: D3D12_RESOURCE_DESC1
    address: int
    size_in_bytes: int
    mips: int
    sw_mode: int
    initialised: bool
    _layout: MapLayout = field(repr=False)
    heap: Heap = field(repr=False)

    @classmethod
    def commit(cls, desc: D3D12_RESOURCE_DESC1, heap: Heap) -> Resource:
        """Give a checked description its memory (spec 05, 4.1 and 8.1)."""
        sw_mode = SW_LINEAR if desc.Layout == LAYOUT_LINEAR else SW_256B_S
        mips = 1 if desc.Format == MIN_MIP else desc.MipLevels
        size = stored_size(desc)
        volume = desc.Dimension == TEXTURE3D
        layout = map_layout(
            sw_mode=np.array([sw_mode]),
            base=np.array([0]),
            size=np.array([size]),
            mips=np.array([mips]),
            volume=np.array([volume]),
        )
        address = total = 0
        if desc.Format in STORED_FORMATS and desc.SampleDesc.Count == 1:
            slices = size[2] if volume else desc.DepthOrArraySize
            total = int(layout.total_bytes(np.array([slices]))[0])
            address = heap.allocate(total, desc.Alignment)
            layout.base[:] = address - heap.base
        return cls(
            desc=desc,
            address=address,
            size_in_bytes=total,
            mips=mips,
            sw_mode=sw_mode,
            initialised=desc.Format not in FEEDBACK_FORMATS,
            _layout=layout,
            heap=heap,
        )

    def map(self) -> np.ndarray:
        """Return the resource's bytes as they lie in memory, uint8 [size_in_bytes], after a flush.

        The array is the memory itself: what the CPU writes, the GPU sees, and the other way round.
        D3D12Error for a resource without memory.
        """
        if not self.size_in_bytes:
            raise D3D12Error(f"a {self.desc.Format.name} texture has no memory in this model")
        self.heap.flush()
        start = self.address - self.heap.base
        return self.heap.memory[start : start + self.size_in_bytes]

    def read_from_subresource(self, subresource: int = 0) -> np.ndarray:
        """Read the texels of one subresource (mip + slice * mips), unswizzled, after a flush.

        Returns
        -------
        numpy.ndarray
            uint8, shape [width], [height, width] or [depth, height, width].

        Raises
        ------
        D3D12Error
            For an opaque feedback map, a resource without memory or a subresource it has not.
        """
        mip, layer = self._subresource(subresource)
        return self.texels(mip)[layer]

    def write_to_subresource(self, texels: np.ndarray, subresource: int = 0) -> None:
        """Write the texels of one subresource; shape and errors as in `read_from_subresource`."""
        mip, layer = self._subresource(subresource)
        addresses = self._addresses(mip)[layer]
        texels = np.asarray(texels)
        if texels.dtype != np.uint8 or texels.shape != addresses.shape:
            raise D3D12Error(
                f"subresource {subresource} wants uint8 {list(addresses.shape)}, "
                f"not {texels.dtype} {list(texels.shape)}"
            )
        self.heap.flush()
        self.heap.memory[addresses] = texels

    def texels(self, mip: int) -> np.ndarray:
        """Read all slices of a mip as the hardware has them, uint8 [slices, ...], after a flush."""
        addresses = self._addresses(mip)
        self.heap.flush()
        return self.heap.memory[addresses]

    def _subresource(self, subresource: int) -> tuple[int, int]:
        desc = self.desc
        if desc.Format in FEEDBACK_FORMATS:
            raise D3D12Error("the CPU cannot read or write an opaque feedback map: decode it")
        if not isinstance(subresource, int | np.integer):
            raise D3D12Error(f"subresource must be a whole number, not {subresource!r}")
        slices = 1 if desc.Dimension == TEXTURE3D else desc.DepthOrArraySize
        if not 0 <= subresource < self.mips * slices:
            raise D3D12Error(
                f"subresource must be in 0..{self.mips * slices - 1}, not {subresource}"
            )
        layer, mip = divmod(subresource, self.mips)
        return mip, layer

    def _addresses(self, mip: int) -> np.ndarray:
        """Offsets in the heap of all texels of a mip, int64 [slices, (depth, (height,)) width]."""
        if not self.size_in_bytes:
            raise D3D12Error(f"a {self.desc.Format.name} texture has no memory in this model")
        width, height, depth = mip_size(stored_size(self.desc), mip)
        volume = self.desc.Dimension == TEXTURE3D
        layers = depth if volume else self.desc.DepthOrArraySize
        z, y, x = np.ogrid[:layers, :height, :width]
        addresses = texel_address(self._layout, np.array(0), np.array(mip), x, y, z)
        if volume:
            return addresses[None]
        return addresses if texture_axes(self.desc) == 2 else addresses[:, 0]
