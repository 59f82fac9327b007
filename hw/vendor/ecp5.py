"""Lattice ECP5: a platform that overrides the vendor parts with its hard blocks.

Pins and parameters follow Lattice's primitives (FPGA-TN-02204 memory, FPGA-TN-02205 DSP) as Yosys
and nextpnr use them.
"""

from amaranth.hdl import C, Cat, ClockSignal, Const, Instance, Module, Signal, Value

__all__ = ["get_block_ram", "get_multiplier"]

_SHAPES = ((512, 36), (1024, 18), (2048, 9), (4096, 4), (8192, 2), (16384, 1))
"""Rows and bits that one block RAM can have."""
_ADDRESS_SHIFT = {36: 5, 18: 4, 9: 3, 4: 2, 2: 1, 1: 0}
"""Address pins below the row number."""
_CELLS = 1024 * 18
"""Bits of a block RAM, as 1024 rows of two 9-bit bytes."""


def get_block_ram(part):
    """Build a `BlockRam` of DP16KD blocks side by side: port A writes, port B reads."""
    width = next((width for rows, width in _SHAPES if part.depth <= rows), None)
    if width is None:
        raise ValueError(f"depth must be at most 16384 on ECP5, not {part.depth}")
    m = Module()
    write_data, read_data = Value.cast(part.write_data), Value.cast(part.read_data)
    for number, slots in enumerate(_slots(part, width)):
        output = Signal(width, name=f"output{number}")
        data = []
        for place, (_, low, bits) in zip(range(0, width, 9), slots, strict=False):
            m.d.comb += read_data[low : low + bits].eq(output[place : place + bits])
            data += [write_data[low : low + bits], C(0, 9 - bits if bits < 9 else 0)]
        m.submodules[f"ram{number}"] = Instance(
            "DP16KD",
            p_DATA_WIDTH_A=width,
            p_DATA_WIDTH_B=width,
            # The lower half of a 36-bit read leaves by port A.
            p_REGMODE_A="OUTREG" if width == 36 else "NOREG",
            p_REGMODE_B="OUTREG",
            p_GSR="DISABLED",
            **_contents(part.init, width, slots),
            i_CLKA=ClockSignal(),
            i_CLKB=ClockSignal(),
            **{f"i_{name}": C(1) for name in ("CEA", "CEB", "OCEA", "OCEB")},
            **{f"i_{name}": C(0) for name in ("RSTA", "RSTB", "WEB")},
            **_pins("i_CSA", C(0, 3), 3),
            **_pins("i_CSB", C(0, 3), 3),
            **_write_pins(part, width, Cat(data), Cat(part.write_en[n] for n, *_ in slots)),
            **_pins("i_ADB", Cat(C(0, _ADDRESS_SHIFT[width]), part.read_addr), 14),
            **_pins("o_DOA" if width == 36 else "o_DOB", output, min(width, 18)),
            **(_pins("o_DOB", output[18:], 18) if width == 36 else {}),
        )
    return m


def _slots(part, width):
    """What is in each block: (write enable, lowest bit of the row, bits), one for each 9 bits.

    A write enable of the part has 9-bit bytes of its own, or one wide piece is a single slot.
    """
    own = part.width // part.parts
    if part.parts > 1 and own <= 9 <= width:
        slots = [(n, n * own, own) for n in range(part.parts)]
        return [slots[n : n + width // 9] for n in range(0, part.parts, width // 9)]
    return [
        [(n, low, min(width, (n + 1) * own - low))]
        for n in range(part.parts)
        for low in range(n * own, (n + 1) * own, width)
    ]


def _write_pins(part, width, data, enables):
    """Address, data and enable; from 18 bits on, the lowest address pins enable each byte."""
    low, enable = C(0, _ADDRESS_SHIFT[width]), enables[0]
    if width >= 18:
        bytes_on = enables if len(enables) > 1 else enables.replicate(width // 9)
        low, enable = Cat(bytes_on, C(0, _ADDRESS_SHIFT[width] - len(bytes_on))), C(1)
    data = Cat(data, C(0, 36 - len(data)))
    return {
        "i_WEA": enable,
        **_pins("i_ADA", Cat(low, part.write_addr), 14),
        **_pins("i_DIA", data[:18], 18),
        **_pins("i_DIB", data[18:], 18),
    }


def _pins(prefix, value, count):
    """One keyword argument of `Instance` per pin; pins above the value are 0."""
    value = Value.cast(value)
    return {f"{prefix}{n}": value[n] if n < len(value) else C(0) for n in range(count)}


def _contents(init, width, slots):
    """INITVAL parameters: 16 rows of 18 bits each, 20 bits apart.

    Rows narrower than 9 bits leave each byte's ninth bit empty.
    """
    cells = 0
    for address, row in enumerate(init):
        place = address * width
        if width < 9:
            place = place // 8 * 9 + place % 8
        for n, (_, low, bits) in enumerate(slots):
            cells |= (row >> low & ((1 << bits) - 1)) << (place + 9 * n)
    parameters = {}
    for index in range(_CELLS // (16 * 18)):
        rows = [cells >> 18 * (16 * index + row) & 0x3FFFF for row in range(16)]
        value = sum(row << 20 * n for n, row in enumerate(rows))
        parameters[f"p_INITVAL_{index:02X}"] = Const(value, 320)
    return parameters


def get_multiplier(part):
    """Build a `Multiplier` of one MULT18X18D."""
    m = Module()
    product = Signal(36)
    m.submodules.multiplier = Instance(
        "MULT18X18D",
        p_REG_INPUTA_CLK="CLK0",
        p_REG_INPUTB_CLK="CLK0",
        p_REG_PIPELINE_CLK="CLK0" if part.pipeline else "NONE",
        p_REG_OUTPUT_CLK="CLK0",
        p_GSR="DISABLED",
        i_CLK0=ClockSignal(),
        i_CE0=C(1),
        i_RST0=C(0),
        i_SIGNEDA=C(int(part.a_shape.signed)),
        i_SIGNEDB=C(int(part.b_shape.signed)),
        i_SOURCEA=C(0),
        i_SOURCEB=C(0),
        **_pins("i_A", _extended(part.a), 18),
        **_pins("i_B", _extended(part.b), 18),
        **_pins("o_P", product, 36),
    )
    m.d.comb += part.p.eq(product)
    return m


def _extended(value):
    """18 bits with the value's sign."""
    sign = value[-1] if value.shape().signed else C(0)
    return Cat(value, sign.replicate(18 - len(value)))
