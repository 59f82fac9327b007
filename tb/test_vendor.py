"""Generic twins against the ECP5 hard blocks.

Yosys ships no behaviour for these cells, only their ports. So the primitives are simulated with the
models of `ecp5_models.v`, ours, from Lattice's descriptions; and their pins and contents are
compared with those that Yosys itself chooses for the same memory or product, which many boards run.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from amaranth.hdl import Module, signed, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from kit.mutants import planted
from kit.vlib import VerilatedBlock, assert_columns_equal
from mutants.vendor import MUTANTS

from minmip.hw.build import rtlil, run_yosys
from minmip.hw.lib.delay import delay
from minmip.hw.vendor import ecp5
from minmip.hw.vendor.parts import BlockRam, Multiplier, Rom

MODELS = Path(__file__).with_name("ecp5_models.v").read_text()
RAM_SHAPES = [
    (40, 300, 1),
    (18, 600, 1),
    (13, 700, 1),
    (9, 1100, 1),
    (4, 2100, 1),
    (2, 4100, 1),
    # Parts: four, two, one in a block; a block for some bits of one; parts too wide to share.
    (48, 300, 6),
    (24, 700, 3),
    (18, 1100, 2),
    (16, 2100, 2),
    (40, 1000, 2),
]
"""Bits, rows, parts."""
OPERANDS = [
    (signed(18), signed(18)),
    (unsigned(18), unsigned(18)),
    (signed(17), unsigned(18)),
    (unsigned(1), signed(9)),
]


class Exercise(wiring.Component):
    """Pairs of parts, the generic twin and the hard block: `i_<name>` feeds both of a pair.

    `o_<name>` has their outputs side by side. Nothing ever stops.
    """

    def __init__(self, pairs):
        self.pairs = pairs
        members = {}
        for name, (part, _) in pairs.items():
            ports = part.signature.members
            sent, got = (
                data.StructLayout({p: ports[p].shape for p in ports if ports[p].flow == flow})
                for flow in (In, Out)
            )
            both = data.StructLayout({"twin": got, "hard": got})
            members[f"i_{name}"] = In(stream.Signature(sent))
            members[f"o_{name}"] = Out(stream.Signature(both))
        super().__init__(members)

    def elaborate(self, platform):
        m = Module()
        for name, parts in self.pairs.items():
            i, o = getattr(self, f"i_{name}"), getattr(self, f"o_{name}")
            latency = parts[0].latency
            valid = delay(m, i.valid, latency, name=f"{name}_valid", reset_less=False)
            m.d.comb += [i.ready.eq(1), o.valid.eq(valid)]
            for kind, part, vendor in zip(("twin", "hard"), parts, (None, ecp5), strict=True):
                m.submodules[f"{name}_{kind}"] = part.elaborate(vendor)
                for port in i.payload.shape().members:
                    value = i.payload[port]
                    # A beat that is not there writes nothing.
                    value = value & i.valid.replicate(len(value)) if port == "write_en" else value
                    m.d.comb += getattr(part, port).eq(value)
                for port in o.payload.shape().members[kind].members:
                    m.d.comb += o.payload[kind][port].eq(getattr(part, port))
        return m


def ram_traffic(width, depth, parts, count=20_000, seed=1):
    """Writes and reads of all rows, often close together, never of the same row at once."""
    rng = np.random.default_rng(seed)
    near = rng.integers(0, depth, count // 50).repeat(50) + rng.integers(0, 4, count)
    write = np.where(rng.random(count) < 0.5, near % depth, rng.integers(0, depth, count))
    read = np.where(rng.random(count) < 0.5, near % depth, rng.integers(0, depth, count))
    read = np.where(read == write, (read + 1) % depth, read)
    return {
        "write_en": rng.integers(0, 1 << parts, count),
        "write_addr": write,
        "write_data": rng.integers(0, 1 << width, count),
        "read_addr": read,
    }


def memory_reading(width, depth, parts, init, traffic):
    """`read_data` by a plain loop."""
    part = (1 << width // parts) - 1
    kept = [
        sum(part << n * (width // parts) for n in range(parts) if not on >> n & 1)
        for on in range(1 << parts)
    ]
    rows = [*init, *[0] * (depth - len(init))]
    found = []
    for enable, place, value, read in zip(*(traffic[n].tolist() for n in traffic), strict=True):
        found.append(rows[read])
        rows[place] = rows[place] & kept[enable] | value & ~kept[enable]
    return {"read_data": np.array(found)}


def operand(rng, shape, count=20_000):
    low = -(1 << shape.width - 1) if shape.signed else 0
    high = low + (1 << shape.width) - 1
    corners = [low, high, 0, min(1, high), -1 if shape.signed else high]
    return np.array(corners), rng.integers(low, high + 1, count)


def products(a, b):
    """Every pair of corners, then random operands."""
    rng = np.random.default_rng(5)
    (corners_a, random_a), (corners_b, random_b) = operand(rng, a), operand(rng, b)
    traffic = {
        "a": np.concatenate([np.repeat(corners_a, 5), random_a]),
        "b": np.concatenate([np.tile(corners_b, 5), random_b]),
    }
    return traffic, {"p": traffic["a"] * traffic["b"]}


def cases():
    """Name to (twin, hard block), what to send, and what must come."""
    found = {}
    for width, depth, count in RAM_SHAPES:
        init = np.random.default_rng(2).integers(0, 1 << width, depth - 5).tolist()
        parts = [BlockRam(width, depth, init, parts=count) for _ in range(2)]
        traffic = ram_traffic(width, depth, count)
        wanted = memory_reading(width, depth, count, init, traffic)
        name = f"ram{width}x{depth}" + (f"by{count}" if count > 1 else "")
        found[name] = parts, traffic, wanted
    table = np.random.default_rng(3).integers(0, 1 << 27, 257)
    traffic = {"addr": np.random.default_rng(4).integers(0, 257, 5000)}
    parts = [Rom(27, table.tolist()) for _ in range(2)]
    found["rom"] = parts, traffic, {"data": table[traffic["addr"]]}
    for n, (a, b) in enumerate(OPERANDS):
        for pipeline in (False, True):
            parts = [Multiplier(a, b, pipeline=pipeline) for _ in range(2)]
            found[f"product{n}{'p' * pipeline}"] = parts, *products(a, b)
    return found


CASES = cases()


CAUGHT_BY = {
    "halves_exchanged": "ram40x300",
    "ninth_bits_filled": "ram4x2100",
    "operand_without_sign": "product2",
    "no_output_register": "ram13x700",
    "first_enable_for_all": "ram48x300by6",
    "parts_without_ninth_bit": "ram24x700by3",
}
"""Case that shows each mutant."""


def exercise(names):
    """Outputs of some cases, from one simulation."""
    model = VerilatedBlock(
        Exercise({name: CASES[name][0] for name in names}), "vendor_parts", extra=MODELS
    )
    columns = {f"i_{name}": CASES[name][1] for name in names}
    expected = {f"o_{name}": len(next(iter(CASES[name][1].values()))) for name in names}
    return model.run(columns, expected)[0]


@pytest.fixture(scope="module")
def exercised():
    return exercise(CASES)


@pytest.mark.parametrize("name", CASES)
def test_twin_and_hard_block(exercised, name):
    wanted = CASES[name][2]
    assert_columns_equal(exercised[f"o_{name}"]["twin"], wanted)
    assert_columns_equal(exercised[f"o_{name}"]["hard"], wanted)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_mutant(mutant):
    name = CAUGHT_BY[mutant.name]
    with planted(mutant):
        found = exercise([name])[f"o_{name}"]
    assert_columns_equal(found["twin"], CASES[name][2])
    with pytest.raises(AssertionError, match="differ"):
        assert_columns_equal(found["hard"], CASES[name][2])


class PlainMemory(wiring.Component):
    """The ports of a BlockRam on a memory without output register, for Yosys to map."""

    def __init__(self, part):
        self.part = part
        super().__init__(part.signature)

    def elaborate(self, platform):
        m = Module()
        m.submodules.rows = rows = Memory(
            shape=self.part.width, depth=self.part.depth, init=self.part.init
        )
        write, read = rows.write_port(), rows.read_port(domain="comb")
        m.d.sync += self.read_data.eq(read.data)
        m.d.comb += [
            write.en.eq(self.write_en),
            write.addr.eq(self.write_addr),
            write.data.eq(self.write_data),
            read.addr.eq(self.read_addr),
        ]
        return m


class PlainProduct(wiring.Component):
    """The ports of a Multiplier on a product without registers."""

    def __init__(self, part):
        super().__init__(part.signature)

    def elaborate(self, platform):
        m = Module()
        m.d.comb += self.p.eq(self.a * self.b)
        return m


def hard_blocks(block, kind, folder):
    """Parameters, and pin to port bit, of every cell of a kind after synthesis."""
    (folder / "top.il").write_text(rtlil(block, "top", ecp5))
    run_yosys(["read_rtlil top.il", "synth_ecp5 -no-rw-check -top top -json top.json"], folder)
    top = json.loads((folder / "top.json").read_text())["modules"]["top"]
    names = {
        bit: f"{name}[{n}]"
        for name, port in top["ports"].items()
        for n, bit in enumerate(port["bits"])
    }
    found = [
        (
            cell["parameters"],
            # A net without a port is a number.
            {pin: names.get(bits[0], bits[0]) for pin, bits in cell["connections"].items() if bits},
        )
        for cell in top["cells"].values()
        if cell["type"] == kind
    ]
    return sorted(found, key=lambda cell: sorted(str(pin) for pin in cell[1].items()))


def bits_of(value):
    return int(value, 2) if set(value) <= {"0", "1"} else value


def different_pins(ours, theirs, pins):
    """Pins that Yosys ties to another port bit than we do; what it leaves open does not count."""
    return {
        pin: (ours.get(pin), theirs[pin])
        for pin in pins
        if isinstance(theirs.get(pin), str)
        and theirs[pin] != "x"
        and ours.get(pin, "0") != theirs[pin]
    }


@pytest.mark.parametrize(
    ("width", "depth"), [(36, 512), (18, 1024), (9, 2048), (4, 4096), (1, 16384)]
)
def test_block_ram_is_wired_as_yosys_does(width, depth, tmp_path):
    init = np.random.default_rng(6).integers(0, 1 << width, depth).tolist()
    part = BlockRam(width, depth, init)
    (ours,) = hard_blocks(BlockRam(width, depth, init), "DP16KD", tmp_path)
    (theirs,) = hard_blocks(PlainMemory(part), "DP16KD", tmp_path)
    for name in ("DATA_WIDTH_A", "DATA_WIDTH_B", *(f"INITVAL_{n:02X}" for n in range(64))):
        assert bits_of(ours[0][name]) == bits_of(theirs[0][name]), name
    pins = [f"{bus}{n}" for bus in ("ADA", "ADB") for n in range(14)]
    pins += [f"{bus}{n}" for bus in ("DIA", "DIB", "DOA", "DOB") for n in range(18)]
    assert not different_pins(ours[1], theirs[1], pins)
    assert ours[0]["REGMODE_B"].strip() == "OUTREG"
    assert theirs[0]["REGMODE_B"].strip() == "NOREG"  # why the part exists


@pytest.mark.parametrize(("a", "b"), OPERANDS[:3])
def test_multiplier_is_wired_as_yosys_does(a, b, tmp_path):
    part = Multiplier(a, b)
    (ours,) = hard_blocks(Multiplier(a, b), "MULT18X18D", tmp_path)
    (theirs,) = hard_blocks(PlainProduct(part), "MULT18X18D", tmp_path)
    pins = [f"{bus}{n}" for bus in ("A", "B") for n in range(18)] + ["SIGNEDA", "SIGNEDB"]
    pins += [f"P{n}" for n in range(36)]
    yosys = theirs[1]
    if yosys["A0"].startswith("b"):  # Yosys may exchange the operands
        turned = str.maketrans("AB", "BA")
        yosys = {pin.translate(turned) if pin in pins else pin: net for pin, net in yosys.items()}
    assert not different_pins(ours[1], yosys, pins)


def test_refusals():
    with pytest.raises(ValueError, match="depth must be 2 or more, not 1"):
        BlockRam(8, 1)
    with pytest.raises(ValueError, match="init must have at most 4 rows, not 5"):
        BlockRam(8, 4, [0] * 5)
    with pytest.raises(ValueError, match="init must be bit patterns of 8 bits"):
        BlockRam(8, 4, [256])
    with pytest.raises(ValueError, match="parts must divide the 8 bits of a row, not 3"):
        BlockRam(8, 4, parts=3)
    with pytest.raises(ValueError, match=r"a must have 1..18 bits, not 19"):
        Multiplier(unsigned(19), 3)
    with pytest.raises(ValueError, match="depth must be at most 16384 on ECP5, not 32768"):
        rtlil(BlockRam(8, 32768), "top", ecp5)
