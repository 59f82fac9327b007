"""What the swizzle modes of a build cost in the address generator (ECP5, Yosys alone)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from minmip.hw.address_generator import AddressGenerator
from minmip.hw.config import FULL, PLAIN_MODES, SMALL, XOR_MODES, UnitConfig
from minmip.hw.levels import logic_levels
from minmip.hw.synth import netlist_of
from minmip.sim.layout import HARDWARE, xor_patterns

__all__ = ["ModeArea", "mode_area", "mode_sets"]


@dataclass(frozen=True)
class ModeArea:
    """Cells of an address generator: LUT4 and carry cells, registers without those of the ports.

    `levels` are those of `logic_levels`; `latency` is in clocks.
    """

    lut4: int
    carry: int
    ff: int
    dsp: int
    levels: int
    latency: int


def mode_sets() -> dict[str, UnitConfig]:
    """Builds by the modes that they have; volumes where nothing else is said."""

    def with_pipe_xor(part: str) -> UnitConfig:
        patterns = xor_patterns(HARDWARE[part])
        return replace(FULL, swizzle_modes=PLAIN_MODES | XOR_MODES, xor_patterns=patterns)

    return {
        "LINEAR": replace(FULL, swizzle_modes=frozenset({0})),
        "LINEAR, 256B_S": replace(FULL, swizzle_modes=frozenset({0, 1})),
        "all without XOR, no volumes": replace(SMALL, swizzle_modes=PLAIN_MODES),
        "all without XOR": FULL,
        "all, pipes of navi21": with_pipe_xor("navi21"),
        "all, pipes of anaconda": with_pipe_xor("anaconda"),
    }


def mode_area(cfg: UnitConfig) -> ModeArea:
    """Synthesise the address generator of a build."""
    block = AddressGenerator(cfg)
    latency = block.latency
    with netlist_of(block) as netlist:
        cells = netlist.cells
        return ModeArea(
            lut4=cells.get("LUT4", 0),
            carry=cells.get("CCU2C", 0),
            ff=cells.get("TRELLIS_FF", 0) - netlist.port_bits,
            dsp=cells.get("MULT18X18D", 0),
            levels=logic_levels(netlist.folder / "top.json"),
            latency=latency,
        )
