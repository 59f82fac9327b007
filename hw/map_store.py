"""The map memory with everything that may touch it."""

from amaranth.hdl import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.atomic_memory import AtomicMemory
from minmip.hw.clear_engine import ClearEngine
from minmip.hw.config import UnitConfig
from minmip.hw.host_port import HostPort
from minmip.hw.map_memory import read_ports
from minmip.hw.resolve_engine import ResolveEngine
from minmip.hw.resolve_shapes import RESOLVE_STREAMS, resolve_ports
from minmip.hw.shapes import (
    BLOCK_BITS,
    clear_request,
    clear_result,
    host_request,
    host_response,
    memory_request,
)

__all__ = ["MapStore"]


class MapStore(wiring.Component):
    """`AtomicMemory`, host port, clear engine and resolve engine: wiring only.

    Rates and paths are those of `MemoryPort` (`i`), `HostPort` (`i_host`, `o_host`), `ClearEngine`
    (`i_clear`, `o_clear`) and `ResolveEngine` (the others).

    Parameters
    ----------
    cfg : UnitConfig
        Word, size and latency of the memory.
    memory : wiring.Component
        With the members of `MapMemory`; by default it is one, of block RAM.

    Members
    -------
    base, limit : In(40), In(41)
        The memory: its first block of 256 bytes, and the first one behind it.
    i : In(stream.Signature(memory_request(cfg)))
        Operations of the pipeline.
    idle, dropped : Out(1)
        As in `MemoryPort`.
    i_host : In(stream.Signature(host_request(cfg)))
    o_host : Out(stream.Signature(host_response(cfg)))
    i_clear : In(stream.Signature(clear_request()))
    o_clear : Out(stream.Signature(clear_result()))
    i_resolve, o_resolve, i_texels, o_texels
        Those of `ResolveEngine`, if built.
    reads : In(MapReadSignature(cfg)).array(4)
        Read ports of the MinMip filter, if built; they see no more than `idle` promises.
    """

    base: Signal
    limit: Signal
    idle: Signal
    dropped: Signal
    i: stream.Interface
    i_host: stream.Interface
    o_host: stream.Interface
    i_clear: stream.Interface
    o_clear: stream.Interface
    reads: list[wiring.PureInterface]

    def __init__(self, cfg: UnitConfig, memory=None):
        self.cfg = cfg
        self.memory = AtomicMemory(cfg, memory)
        super().__init__(
            {
                "base": In(BLOCK_BITS),
                "limit": In(BLOCK_BITS + 1),
                "i": In(stream.Signature(memory_request(cfg))),
                "idle": Out(1, init=1),  # pyright: ignore[reportCallIssue]
                "dropped": Out(1),
                "i_host": In(stream.Signature(host_request(cfg))),
                "o_host": Out(stream.Signature(host_response(cfg))),
                "i_clear": In(stream.Signature(clear_request())),
                "o_clear": Out(stream.Signature(clear_result())),
            }
            | resolve_ports(cfg)
            | read_ports(cfg, "reads")
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.memory = port = self.memory
        m.submodules.host = host = HostPort(self.cfg, clients=2 + self.cfg.resolves)
        m.submodules.clear = clear = ClearEngine(self.cfg)
        m.d.comb += [
            port.base.eq(self.base),
            port.limit.eq(self.limit),
            self.idle.eq(port.idle),
            self.dropped.eq(port.dropped),
            host.i_port.eq(port.o_host),
            host.i_port_valid.eq(port.o_host_valid),
        ]
        connections = (
            (wiring.flipped(self.i), port.i),
            (wiring.flipped(self.i_host), host.i[0]),
            (host.o[0], wiring.flipped(self.o_host)),
            (clear.o_request, host.i[1]),
            (host.o[1], clear.i_response),
            (wiring.flipped(self.i_clear), clear.i),
            (clear.o, wiring.flipped(self.o_clear)),
            (host.o_port, port.i_host),
        )
        for source, sink in connections:
            wiring.connect(m, source, sink)
        if self.cfg.resolves:
            m.submodules.resolve = resolve = ResolveEngine(self.cfg)
            wiring.connect(m, resolve.o_request, host.i[2])
            wiring.connect(m, host.o[2], resolve.i_response)
            for name, inside in RESOLVE_STREAMS.items():
                wiring.connect(m, wiring.flipped(getattr(self, name)), getattr(resolve, inside))
        if self.cfg.filters:
            for reader, read in zip(self.reads, port.reads, strict=True):
                wiring.connect(m, wiring.flipped(reader), read)
        return m
