"""Block RAM, ROM and multiplier with their hard registers.

Synthesis infers neither the output register of a block RAM nor the registers of a multiplier. These
parts elaborate to plain gateware, unless the platform overrides them with methods
`get_block_ram(part)` and `get_multiplier(part)`, as Amaranth's `Memory` does with `get_memory`. The
module `minmip.hw.vendor.ecp5` is such a platform. Latency and result are the same everywhere.
"""

from amaranth.hdl import Module, Shape, Signal, Value, signed, unsigned
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from minmip.hw.lib.delay import delay

__all__ = ["BlockRam", "Multiplier", "Rom"]


class BlockRam(wiring.Component):
    """Memory with one write port, one read port and an output register.

    One write and one read per clock, read latency 2: `read_addr` in clock t gives `read_data` in
    clock t + 2, with every write of clock t - 1 and before. A read of the row that is written in
    the same clock gives anything: callers forward or avoid it.

    Parameters
    ----------
    shape : ShapeLike
        One row.
    depth : int
        Rows, 2 or more.
    init : sequence of int
        Bit patterns of the first rows after power-up; the others are 0. Reset changes nothing.
    parts : int
        Equal parts of a row that are written or not, each by itself. On ECP5 up to four of at most
        9 bits share a block RAM.

    Members
    -------
    write_en : In(parts)
        Bit n: write part n of the row, lowest bits first.
    write_addr : In(unsigned)
    write_data : In(shape)
    read_addr : In(unsigned)
    read_data : Out(shape)
    """

    latency = 2

    def __init__(self, shape, depth: int, init=(), *, parts: int = 1):
        if depth < 2:
            raise ValueError(f"depth must be 2 or more, not {depth}")
        if len(init) > depth:
            raise ValueError(f"init must have at most {depth} rows, not {len(init)}")
        self.shape = shape
        self.depth = depth
        self.width = Shape.cast(shape).width
        self.init = tuple(init)
        self.parts = parts
        if parts < 1 or self.width % parts:
            raise ValueError(f"parts must divide the {self.width} bits of a row, not {parts}")
        if not all(0 <= row < 1 << self.width for row in self.init):
            raise ValueError(f"init must be bit patterns of {self.width} bits")
        address = unsigned(ceil_log2(depth))
        super().__init__(
            {
                "write_en": In(parts),
                "write_addr": In(address),
                "write_data": In(shape),
                "read_addr": In(address),
                "read_data": Out(shape),
            }
        )

    def elaborate(self, platform):
        if hasattr(platform, "get_block_ram"):
            return platform.get_block_ram(self)
        m = Module()
        m.submodules.rows = rows = Memory(
            shape=unsigned(self.width),
            depth=self.depth,
            init=self.init,
            attrs={"ram_style": "block"},
        )
        own = self.width // self.parts
        write, read = rows.write_port(granularity=own), rows.read_port()
        output = Signal(self.width, reset_less=True)
        m.d.sync += output.eq(read.data)
        m.d.comb += [
            write.en.eq(self.write_en),
            write.addr.eq(self.write_addr),
            write.data.eq(self.write_data),
            read.en.eq(1),
            read.addr.eq(self.read_addr),
            Value.cast(self.read_data).eq(output),
        ]
        return m


class Rom(wiring.Component):
    """Table in a block RAM.

    One read per clock, latency 2: `addr` in clock t gives `data` in clock t + 2.

    Parameters
    ----------
    shape : ShapeLike
        One row.
    init : sequence of int
        Bit patterns of the rows, two or more.

    Members
    -------
    addr : In(unsigned)
    data : Out(shape)
    """

    latency = 2

    def __init__(self, shape, init):
        self.memory = BlockRam(shape, len(init), init)
        super().__init__({"addr": In(unsigned(ceil_log2(len(init)))), "data": Out(shape)})

    def elaborate(self, platform):
        m = Module()
        m.submodules.memory = memory = self.memory
        m.d.comb += [memory.read_addr.eq(self.addr), self.data.eq(memory.read_data)]
        return m


class Multiplier(wiring.Component):
    """Product of two numbers of up to 18 bits, signed or unsigned each.

    One product per clock. Latency 3 (registers at the inputs, inside and at the output) or 2
    (without the inner one).

    Parameters
    ----------
    a, b : Shape
        Operands, up to 18 bits.
    pipeline : bool
        Use the inner register.

    Members
    -------
    a : In(a)
    b : In(b)
    p : Out(shape of a * b)
    """

    def __init__(self, a, b, *, pipeline: bool = True):
        self.a_shape, self.b_shape = Shape.cast(a), Shape.cast(b)
        for name, shape in (("a", self.a_shape), ("b", self.b_shape)):
            if not 1 <= shape.width <= 18:
                raise ValueError(f"{name} must have 1..18 bits, not {shape.width}")
        self.pipeline = pipeline
        self.latency = 3 if pipeline else 2
        width = self.a_shape.width + self.b_shape.width
        is_signed = self.a_shape.signed or self.b_shape.signed
        product = signed(width) if is_signed else unsigned(width)
        super().__init__({"a": In(self.a_shape), "b": In(self.b_shape), "p": Out(product)})

    def elaborate(self, platform):
        if hasattr(platform, "get_multiplier"):
            return platform.get_multiplier(self)
        m = Module()
        a = delay(m, self.a, 1, name="a")
        b = delay(m, self.b, 1, name="b")
        m.d.comb += self.p.eq(delay(m, a * b, self.latency - 1, name="p"))
        return m
