"""A memory whose bytes can be changed by MIN, MAX and OR: the memory port and what is behind it."""

from amaranth.hdl import Module, Signal
from amaranth.lib import data, stream, wiring

from minmip.hw.config import UnitConfig
from minmip.hw.map_memory import MapMemory, read_ports
from minmip.hw.memory_port import MemoryPort

__all__ = ["AtomicMemory"]


class AtomicMemory(wiring.Component):
    """`MemoryPort` and a memory: wiring only.

    Parameters
    ----------
    cfg : UnitConfig
        Word, size and latency of the memory.
    memory : wiring.Component
        With the members of `MapMemory`; by default it is one, of block RAM.

    Attributes
    ----------
    latency : int
        From the acceptance of a host request to its answer.

    Members
    -------
    base, limit, i, idle, dropped, i_host, o_host, o_host_valid
        Those of `MemoryPort`.
    reads : In(MapReadSignature(cfg)).array(4)
        Read ports of the MinMip filter, if built: those of the memory, past everything else.
    """

    base: Signal
    limit: Signal
    idle: Signal
    dropped: Signal
    i: stream.Interface
    i_host: stream.Interface
    o_host: data.View
    o_host_valid: Signal
    reads: list[wiring.PureInterface]

    def __init__(self, cfg: UnitConfig, memory=None):
        self.cfg = cfg
        self.memory = memory or MapMemory(cfg)
        self.port = MemoryPort(cfg)
        self.latency = self.port.latency
        members = dict(self.port.signature.members)
        del members["memory"]
        super().__init__(members | read_ports(cfg, "reads"))

    def elaborate(self, platform):
        m = Module()
        m.submodules.port = port = self.port
        m.submodules.memory = self.memory
        wiring.connect(m, port.memory, self.memory.port)
        wiring.connect(m, wiring.flipped(self.i), port.i)
        wiring.connect(m, wiring.flipped(self.i_host), port.i_host)
        if self.cfg.filters:
            for reader, read in zip(self.reads, self.memory.reads, strict=True):
                wiring.connect(m, wiring.flipped(reader), read)
        m.d.comb += [
            port.base.eq(self.base),
            port.limit.eq(self.limit),
            self.idle.eq(port.idle),
            self.dropped.eq(port.dropped),
            self.o_host.eq(port.o_host),
            self.o_host_valid.eq(port.o_host_valid),
        ]
        return m
