"""The pipe XOR of a part, as a build of the unit takes it (`minmip.hw.config`)."""

from __future__ import annotations

from minmip.hw.config import VOLUME_MODES, XOR_MODES, XorPattern
from minmip.sim.layout.arguments import need
from minmip.sim.layout.hardware import AddressConfig
from minmip.sim.layout.modes import MODES
from minmip.sim.layout.patterns import block_pattern

__all__ = ["xor_patterns"]

MICRO_BITS = 8
"""Address bits that no pipe XOR touches."""


def xor_patterns(config: AddressConfig) -> tuple[XorPattern, ...]:
    """Patterns of one-byte maps, of all modes with a pipe XOR, for `UnitConfig.xor_patterns`."""
    need("config", AddressConfig, config)
    return tuple(
        XorPattern(
            mode=mode,
            volume=volume,
            bits=block_pattern(MODES[mode], "3D" if volume else "2D", 0, config).bits[MICRO_BITS:],
        )
        for mode in sorted(XOR_MODES)
        for volume in (False, True)
        if not volume or mode in VOLUME_MODES
    )
