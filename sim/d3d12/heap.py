"""GPU memory, and the heaps in it that resources are placed in (spec 06 "Resources")."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from minmip.sim.d3d12.arguments import whole_number
from minmip.sim.d3d12.errors import D3D12Error
from minmip.sim.d3d12.structures import D3D12_HEAP_DESC

if TYPE_CHECKING:
    from minmip.sim.d3d12.resource import Resource

__all__ = ["UNDEFINED_BYTE", "Heap", "ResourceHeap"]

ALIGNMENT = 256
ADDRESS_BITS = 48

UNDEFINED_BYTE = 0xCD
"""Placed memory holds it until somebody writes: neither cleared kind of map, nor zero."""


class Heap:
    """A flat piece of GPU memory, handed out from its start and never taken back.

    Parameters
    ----------
    base : int
        GPU byte address of the first byte, a multiple of 256.
    size : int
        Bytes available; the operating system provides them only as they are touched.
    flush : callable
        Carries out the recorded GPU work; called before something else touches the memory.
    finish : callable
        The same, and ends the command list; called before the CPU reads or writes.

    Raises
    ------
    D3D12Error
        When base or size do not fit the 48-bit address space of the descriptors.
    """

    def __init__(
        self,
        base: int,
        size: int,
        flush: Callable[[], object],
        finish: Callable[[], object],
    ):
        base = whole_number("memory_base", base, 0, 1 << ADDRESS_BITS)
        size = whole_number("memory_size", size, 0, 1 << ADDRESS_BITS)
        if base % ALIGNMENT:
            raise D3D12Error(f"the base address must be a multiple of {ALIGNMENT}, not {base}")
        if base + size > 1 << ADDRESS_BITS:
            raise D3D12Error(f"base + size must be within {ADDRESS_BITS} address bits")
        self.base = base
        self.flush = flush
        self.finish = finish
        try:
            self._bytes = np.zeros(size, np.uint8)
        except MemoryError:
            raise D3D12Error(f"memory_size {size} is more than this computer can give") from None
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

    def fill(self, address: int, size: int, value: int) -> None:
        """Set memory that was handed out to one byte value."""
        start = address - self.base
        self._bytes[start : start + size] = value


@dataclass(frozen=True, eq=False, kw_only=True)
class ResourceHeap:
    """Memory for placed resources, made by `Device.create_heap`.

    Attributes
    ----------
    desc : D3D12_HEAP_DESC
        The description, with its alignment filled in.
    address : int
        GPU byte address.
    heap : Heap
        The GPU memory it is part of.
    placed : list of Resource
        What was placed in it, in order.
    """

    desc: D3D12_HEAP_DESC
    address: int
    heap: Heap = field(repr=False)
    placed: list[Resource] = field(default_factory=list, repr=False)

    def add(self, resource: Resource) -> None:
        """Remember a placed resource; older ones over the same bytes become undefined."""
        end = resource.address + resource.size_in_bytes
        for older in self.placed:
            if older.address < end and resource.address < older.address + older.size_in_bytes:
                older.defined[:] = False
                older.aliases.append(resource)
                resource.aliases.append(older)
        self.placed.append(resource)
