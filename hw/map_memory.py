"""The memory behind the memory port: its interface, and block RAM that fits it."""

from amaranth.hdl import Module, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.config import UnitConfig
from minmip.hw.lib.delay import delay
from minmip.hw.vendor.parts import BlockRam

__all__ = ["MapMemory", "MapMemorySignature", "OutsideMemory"]


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
        address = unsigned((cfg.memory_bytes // cfg.word_bytes - 1).bit_length())
        word = data.ArrayLayout(unsigned(8), cfg.word_bytes)
        super().__init__(
            {
                "read_en": Out(1),
                "read_addr": Out(address),
                "read_data": In(word),
                "write_mask": Out(cfg.word_bytes),
                "write_addr": Out(address),
                "write_data": Out(word),
            }
        )


class MapMemory(wiring.Component):
    """Map memory of block RAM, one `BlockRam` per byte of a word.

    Latency `cfg.memory_latency`, 2 or more: 2 is the block RAM with its output register; the third
    clock is a register in front of it, which helps many blocks far apart, and every further one a
    register behind it. Reset changes no byte. On ECP5 it holds up to 16384 words.

    Parameters
    ----------
    cfg : UnitConfig
        Word, size and latency.

    Members
    -------
    port : In(MapMemorySignature(cfg))
    """

    port: wiring.PureInterface

    def __init__(self, cfg: UnitConfig):
        if cfg.memory_latency < BlockRam.latency:
            raise ValueError(
                f"memory_latency of block RAM must be {BlockRam.latency} or more, "
                f"not {cfg.memory_latency}"
            )
        self.cfg = cfg
        super().__init__({"port": In(MapMemorySignature(cfg))})

    def elaborate(self, platform):
        m = Module()
        spare = self.cfg.memory_latency - BlockRam.latency
        before, behind = min(spare, 1), max(spare - 1, 0)
        read_addr = delay(m, self.port.read_addr, before, name="read_addr")
        write_addr = delay(m, self.port.write_addr, before, name="write_addr")
        write_data = delay(m, self.port.write_data, before, name="write_data")
        # Reset must not write a byte.
        mask = delay(m, self.port.write_mask, before, name="write_mask", reset_less=False)
        for lane in range(self.cfg.word_bytes):
            ram = BlockRam(unsigned(8), self.cfg.memory_bytes // self.cfg.word_bytes)
            m.submodules[f"lane{lane}"] = ram
            m.d.comb += [
                ram.read_addr.eq(read_addr),
                ram.write_en.eq(mask[lane]),
                ram.write_addr.eq(write_addr),
                ram.write_data.eq(write_data[lane]),
                self.port.read_data[lane].eq(
                    delay(m, ram.read_data, behind, name=f"read_data{lane}")
                ),
            ]
        return m


class OutsideMemory(wiring.Component):
    """Stands in the place of the map memory and leads its port outside.

    Parameters
    ----------
    cfg : UnitConfig
        Word, size and latency.

    Members
    -------
    port : In(MapMemorySignature(cfg))
    outside : Out(MapMemorySignature(cfg))
    """

    port: wiring.PureInterface
    outside: wiring.PureInterface

    def __init__(self, cfg: UnitConfig):
        self.cfg = cfg
        signature = MapMemorySignature(cfg)
        super().__init__({"port": In(signature), "outside": Out(signature)})

    def elaborate(self, platform):
        m = Module()
        wiring.connect(m, wiring.flipped(self.port), wiring.flipped(self.outside))
        return m
