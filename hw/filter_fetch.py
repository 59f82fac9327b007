"""First part of the MinMip filter: read the words of a request, pick the bytes of the kernels."""

from amaranth.hdl import Cat, Module, Mux, Signal, Value, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.config import UnitConfig
from minmip.hw.lib.delay import delay
from minmip.hw.map_memory import MapReadSignature
from minmip.hw.shapes import BLOCK_BITS
from minmip.hw.word_beats import TEXELS, WORDS, read_request

__all__ = ["FilterFetch"]


class FilterFetch(wiring.Component):
    """Four memory words to the texels of every lane's kernel.

    One request per clock. The words are read one clock after the request, so that a write of the
    memory shows if it comes in the clock of the request or before, and not if it comes two clocks
    later; one clock later it is seen or not.

    Parameters
    ----------
    cfg : UnitConfig
        Lanes, word, size and latency of the memory.

    Attributes
    ----------
    latency : int
        From the request to its texels.

    Members
    -------
    base : In(40)
        First block of 256 bytes of the memory. May change while no request is under way, one clock
        before the next one.
    i : In(read_request(cfg))
        All words are in the memory.
    i_valid : In(1)
    memory : Out(MapReadSignature(cfg)).array(4)
    texel : Out(ArrayLayout(ArrayLayout(8, 4), lanes))
        2 * row + column, 0 where the lane joins nothing.
    """

    base: Signal
    memory: list[wiring.PureInterface]

    def __init__(self, cfg: UnitConfig):
        self.cfg = cfg
        # Each clock looks at two bits of the byte's number among the words.
        self.latency = 1 + cfg.memory_latency + (cfg.word_log2 + 3) // 2
        super().__init__(
            {
                "base": In(BLOCK_BITS),
                "i": In(read_request(cfg)),
                "i_valid": In(1),
                "memory": Out(MapReadSignature(cfg)).array(WORDS),
                "texel": Out(
                    data.ArrayLayout(data.ArrayLayout(unsigned(8), TEXELS), cfg.lanes),
                ),
            }
        )

    def elaborate(self, platform):
        m = Module()
        self._read(m)
        read_clocks = 1 + self.cfg.memory_latency
        read = [byte for port in self.memory for byte in port.read_data]
        for n, lane in enumerate(self.i.lane):
            for corner in range(TEXELS):
                name = f"texel{n}_{corner}"
                number = Cat(lane.byte[corner], lane.slot[corner])
                number = delay(m, number, read_clocks, name=f"{name}_number")
                joins = delay(m, lane.joins[corner], read_clocks, name=f"{name}_joins")
                m.d.comb += self.texel[n][corner].eq(_picked(m, read, number, joins, name=name))
        return m

    def _read(self, m):
        """Drive the read ports: place in the memory, one clock after the request."""
        word_bits = 8 - self.cfg.word_log2  # of the words in a block
        base_q1 = delay(m, self.base, 1, name="base")
        for port, word in zip(self.memory, self.i.word, strict=True):
            block = word.address[word_bits:] - base_q1
            m.d.sync += [
                port.read_en.eq(self.i_valid & word.valid),
                port.read_addr.eq(Cat(word.address[:word_bits], block[: len(port.read_addr)])),
            ]


def _picked(m: Module, values: list, number: Value, joins: Value, *, name: str) -> Value:
    """Return value `number`, or 0 without `joins`; each clock looks at two bits of the number."""
    step = 0
    while True:
        for bit in number[:2]:
            pairs = zip(values[::2], values[1::2], strict=True)
            values = [Mux(bit, odd, even) for even, odd in pairs]
        number = number[2:]
        step += 1
        if not len(number):
            values = [Mux(joins, values[0], 0)]
        values = [delay(m, value, 1, name=f"{name}_{step}_{n}") for n, value in enumerate(values)]
        if not len(number):
            return values[0]
        number = delay(m, number, 1, name=f"{name}_number_{step}")
        joins = delay(m, joins, 1, name=f"{name}_joins_{step}")
