"""The recorder of draws: GPU memory, what waits to be run, and who owns what."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from minmip.hw.config import UnitConfig
from minmip.sim.d3d12.arguments import flag, shown
from minmip.sim.d3d12.draws import Draw, join
from minmip.sim.d3d12.enums import D3D12_RESOURCE_STATES, D3D12_SAMPLER_FEEDBACK_TIER
from minmip.sim.d3d12.errors import D3D12Error
from minmip.sim.d3d12.heap import Heap
from minmip.sim.d3d12.resource import Resource
from minmip.sim.d3d12.states import COMMON, check_use, promote
from minmip.sim.d3d12.transcode import Resolver
from minmip.sim.d3d12.view import View
from minmip.sim.golden.resolve import resolve
from minmip.sim.trace import Result, Trace

__all__ = ["Recorder"]


class Recorder:
    """Records draws in order and runs them as one trace as soon as somebody looks at the result.

    Parameters
    ----------
    heap_base, heap_size : int
        GPU memory, see `Heap`.
    backend : callable
        Runs a Trace and returns a Result. One with an attribute `resolve`, a `Resolver`, decodes
        and encodes maps too; else the golden model does.
    xbox, debug : bool
        Whether the Xbox extensions and the debug layer are there.
    tier : D3D12_SAMPLER_FEEDBACK_TIER
        TIER_0_9 refuses what only TIER_1_0 allows.
    config : UnitConfig
        What the build of the unit contains.
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
        self._heap = Heap(heap_base, heap_size, self._flush, self.execute)
        self._backend = _callable(backend)
        self._xbox = flag("xbox", xbox)
        self._debug = flag("debug", debug)
        self._tier = tier
        if not isinstance(config, UnitConfig):
            raise D3D12Error(f"config must be a UnitConfig, not {shown(config)}")
        self._config = config
        self._resolver: Resolver = getattr(backend, "resolve", None) or resolve
        self._draws: list[Draw] = []
        self._promoted: list[Resource] = []

    @property
    def memory(self) -> np.ndarray:
        """GPU memory handed out so far, uint8 [bytes], as it is without the recorded draws."""
        return self._heap.memory

    def build_trace(self) -> Trace:
        """Return the draws recorded since the last `execute` as a trace, memory included."""
        return join(self._draws, self._heap.base, self._heap.memory)

    def execute(self, backend: Callable[[Trace], Result] | None = None) -> Result | None:
        """Run the recorded draws and put their writes into memory; the command list ends here.

        Resources that uses promoted from COMMON are in COMMON again.

        Parameters
        ----------
        backend : callable, optional
            Used instead of the device's own, once.

        Returns
        -------
        Result or None
            Of the draws recorded since the last `execute`, quads in order; None if there are none.

        Raises
        ------
        D3D12Error
            When the backend refuses a quad (a build of the unit that leaves something out); memory
            is unchanged then, and the draws are dropped.
        """
        chosen = self._backend if backend is None else _callable(backend)
        result = self._run(chosen) if self._draws else None
        for resource in self._promoted:
            resource.promoted = COMMON
        self._promoted.clear()
        return result

    def _flush(self) -> None:
        """Run the recorded draws for a command behind them in the same list."""
        if self._draws:
            self._run(self._backend)

    def _run(self, backend: Callable[[Trace], Result]) -> Result:
        trace = self.build_trace()
        result = backend(trace)
        if not isinstance(result, Result) or result.memory.shape != trace.memory.shape:
            raise D3D12Error("the backend must return a Result with the trace's memory")
        self._draws.clear()
        refused = np.flatnonzero(result.error)
        if refused.size:
            quad = int(refused[0])
            raise D3D12Error(
                f"{refused.size} of {len(trace)} quads refused, the first, quad {quad}, with "
                f"error code {result.error[quad]} of spec 01"
            )
        self._heap.memory[:] = result.memory
        return result

    def _use(
        self,
        *uses: tuple[Resource, D3D12_RESOURCE_STATES, str],
        look: Callable[[], None] | None = None,
    ) -> None:
        """Check the states of resources in the debug layer; the last check of a command.

        Each use is the resource, the state that it needs, and its name in a message. `look`
        warns of what the command may do unmeant, when the states are right.
        """
        if not self._debug:
            return
        for resource, state, what in uses:
            check_use(resource, state, what)
        if look:
            look()
        for resource, state, _ in uses:
            promote(resource, state)
            self._promoted.append(resource)

    def _map_of(self, view: View, linked_types: tuple[int, ...], maker: str) -> Resource | None:
        """Check the kind of a view; returns its map, None for a NULL view."""
        if not isinstance(view, View) or view.linked_type not in linked_types:
            raise D3D12Error(f"wanted a view from {maker}")
        if view.resource is not None:
            self._check_owner(view.resource)
        return view.resource

    def _check_owner(self, resource: Resource) -> None:
        if not isinstance(resource, Resource):
            raise D3D12Error(f"wanted a resource, not {type(resource).__name__}")
        if resource.heap is not self._heap:
            raise D3D12Error("the resource belongs to another device")
        resource.check_alive()


def _callable(backend: Callable[[Trace], Result]) -> Callable[[Trace], Result]:
    if not callable(backend):
        raise D3D12Error(f"backend must take a Trace and return a Result, not {shown(backend)}")
    return backend
