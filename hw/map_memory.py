"""The memory behind the memory port: its interface, and block RAM that fits it."""

from amaranth.hdl import Module, Value, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.config import UnitConfig
from minmip.hw.lib.delay import delay
from minmip.hw.vendor.parts import BlockRam
from minmip.hw.word_beats import WORDS

__all__ = ["MapMemory", "MapMemorySignature", "MapReadSignature", "OutsideMemory", "read_ports"]


def _address(cfg: UnitConfig):
    """Memory word, counted from the start of the memory."""
    return unsigned((cfg.memory_bytes // cfg.word_bytes - 1).bit_length())


def _word(cfg: UnitConfig) -> data.ArrayLayout:
    """Bytes of a word, lowest address first."""
    return data.ArrayLayout(unsigned(8), cfg.word_bytes)


class MapMemorySignature(wiring.Signature):
    """What the memory port asks of a memory, seen from the port.

    One read and one write per clock, no wait states. A read of clock t answers in clock
    t + `memory_latency`, with every write of clock t - 1 and before. A read of the word that is
    written in the same clock may answer anything: the port never uses it.

    Parameters
    ----------
    cfg : UnitConfig
        Word, size and latency.

    Members
    -------
    read_en : Out(1)
        A read; without it the answer is not used.
    read_addr : Out(unsigned)
        Memory word, counted from the start of the memory.
    read_data : In(ArrayLayout(8, word_bytes))
        Bytes of the word, lowest address first.
    write_mask : Out(word_bytes)
        Bytes that are written; no others change.
    write_addr : Out(unsigned)
    write_data : Out(ArrayLayout(8, word_bytes))
    """

    def __init__(self, cfg: UnitConfig):
        self.cfg = cfg
        super().__init__(
            {
                "read_en": Out(1),
                "read_addr": Out(_address(cfg)),
                "read_data": In(_word(cfg)),
                "write_mask": Out(cfg.word_bytes),
                "write_addr": Out(_address(cfg)),
                "write_data": Out(_word(cfg)),
            }
        )


class MapReadSignature(wiring.Signature):
    """A port of the map memory that only reads, seen from who reads.

    One read per clock, beside whatever the others do, with the latency and rules of
    `MapMemorySignature`.

    Parameters
    ----------
    cfg : UnitConfig
        Word, size and latency.

    Members
    -------
    read_en : Out(1)
    read_addr : Out(unsigned)
    read_data : In(ArrayLayout(8, word_bytes))
    """

    def __init__(self, cfg: UnitConfig):
        self.cfg = cfg
        super().__init__(
            {
                "read_en": Out(1),
                "read_addr": Out(_address(cfg)),
                "read_data": In(_word(cfg)),
            }
        )


def read_ports(cfg: UnitConfig, name: str, flow=In) -> dict:
    """Member `name` of what holds a map memory: the read ports of the MinMip filter, if built."""
    return {name: flow(MapReadSignature(cfg)).array(WORDS)} if cfg.filters else {}


class MapMemory(wiring.Component):
    """Map memory of block RAM.

    Latency `cfg.memory_latency`, 2 or more: 2 is the block RAM with its output register; the third
    clock is a register in front of it, which helps many blocks far apart, the fourth one behind it,
    the fifth another one in front, and so on. Reset changes no byte. On ECP5 it holds up to 16384
    words.

    The MinMip filter reads four words at a time from anywhere, so each of its ports has a copy of
    the memory; all are written together. Banks would conflict: a pitch can be any number of words.

    Parameters
    ----------
    cfg : UnitConfig
        Word, size and latency; `linked_types` with the filter adds the copies.

    Members
    -------
    port : In(MapMemorySignature(cfg))
    reads : In(MapReadSignature(cfg)).array(4)
        With the filter only.
    """

    port: wiring.PureInterface
    reads: list[wiring.PureInterface]

    def __init__(self, cfg: UnitConfig):
        if cfg.memory_latency < BlockRam.latency:
            raise ValueError(
                f"memory_latency of block RAM must be {BlockRam.latency} or more, "
                f"not {cfg.memory_latency}"
            )
        self.cfg = cfg
        super().__init__({"port": In(MapMemorySignature(cfg))} | read_ports(cfg, "reads"))

    def elaborate(self, platform):
        m = Module()
        spare = self.cfg.memory_latency - BlockRam.latency
        before, behind = (spare + 1) // 2, spare // 2
        write_addr = delay(m, self.port.write_addr, before, name="write_addr")
        write_data = delay(m, self.port.write_data, before, name="write_data")
        # Reset must not write a byte.
        mask = delay(m, self.port.write_mask, before, name="write_mask", reset_less=False)
        rows = self.cfg.memory_bytes // self.cfg.word_bytes
        for copy, port in enumerate([self.port, *(self.reads if self.cfg.filters else ())]):
            ram = BlockRam(_word(self.cfg), rows, parts=self.cfg.word_bytes)
            m.submodules[f"copy{copy}"] = ram
            read_data = Value.cast(ram.read_data)
            m.d.comb += [
                ram.read_addr.eq(delay(m, port.read_addr, before, name=f"read_addr{copy}")),
                ram.write_en.eq(mask),
                ram.write_addr.eq(write_addr),
                ram.write_data.eq(write_data),
                Value.cast(port.read_data).eq(delay(m, read_data, behind, name=f"read{copy}")),
            ]
        return m


class OutsideMemory(wiring.Component):
    """Stands in the place of the map memory and leads its ports outside.

    Parameters
    ----------
    cfg : UnitConfig
        Word, size and latency; `linked_types` with the filter adds its read ports.

    Members
    -------
    port : In(MapMemorySignature(cfg))
    outside : Out(MapMemorySignature(cfg))
    reads : In(MapReadSignature(cfg)).array(4)
    outside_reads : Out(MapReadSignature(cfg)).array(4)
        Both with the filter only.
    """

    port: wiring.PureInterface
    outside: wiring.PureInterface
    reads: list[wiring.PureInterface]
    outside_reads: list[wiring.PureInterface]

    def __init__(self, cfg: UnitConfig):
        self.cfg = cfg
        signature = MapMemorySignature(cfg)
        super().__init__(
            {"port": In(signature), "outside": Out(signature)}
            | read_ports(cfg, "reads")
            | read_ports(cfg, "outside_reads", Out)
        )

    def elaborate(self, platform):
        m = Module()
        wiring.connect(m, wiring.flipped(self.port), wiring.flipped(self.outside))
        if self.cfg.filters:
            for inner, outer in zip(self.reads, self.outside_reads, strict=True):
                wiring.connect(m, wiring.flipped(inner), wiring.flipped(outer))
        return m
