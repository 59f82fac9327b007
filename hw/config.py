"""Every parameter of the unit, in plain Python: the gateware and the golden model both read it.

No Amaranth in this file, so that the simulator package can import it alone.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property
from math import log2

__all__ = [
    "DEFAULT",
    "FULL",
    "PLAIN_MODES",
    "PRESETS",
    "SMALL",
    "VOLUME_MODES",
    "XOR_MODES",
    "LodConfig",
    "UnitConfig",
    "XorPattern",
]

PLAIN_MODES = frozenset({0, 1, 2, 5, 6, 9, 10})
"""LINEAR, 256B_S, 256B_D, 4KB_S, 4KB_D, 64KB_S and 64KB_D: need no pipe XOR."""
XOR_MODES = frozenset({17, 18, 21, 22, 25, 26})
"""64KB_S_T, 64KB_D_T, 4KB_S_X, 4KB_D_X, 64KB_S_X and 64KB_D_X."""
VOLUME_MODES = frozenset({0, 1, 5, 9, 17, 21, 25})
"""What volumes may have: LINEAR and the S modes."""


@dataclass(frozen=True, kw_only=True)
class XorPattern:
    """Address bits 8 and up inside a block, of one mode with a pipe XOR (spec 05, 3.1).

    Parameters
    ----------
    mode : int
        SW_MODE, one of `XOR_MODES`.
    volume : bool
        The row of volumes, else that of 2D maps, where z is the array slice.
    bits : tuple of (int, int, int)
        For address bits 8, 9, ... the bits of x, y and z, as masks, whose parity each is: 4 in the
        4KB modes, 8 in the 64KB modes.
    """

    mode: int
    volume: bool
    bits: tuple[tuple[int, int, int], ...]

    def __post_init__(self):
        if self.mode not in XOR_MODES or (self.volume and self.mode not in VOLUME_MODES):
            kind = "a volume" if self.volume else "a 2D map"
            raise ValueError(f"there is no pipe XOR for {kind} in swizzle mode {self.mode}")
        count = 4 if self.mode in (21, 22) else 8
        if len(self.bits) != count:
            raise ValueError(
                f"the pattern of swizzle mode {self.mode} has {count} address bits above bit 7, "
                f"not {len(self.bits)}"
            )


@dataclass(frozen=True, kw_only=True)
class LodConfig:
    """Widths and table of the level-of-detail algorithm (`docs/lod.md`, spec 02 "LOD").

    Parameters
    ----------
    mantissa_bits : int
        Width of a scaled gradient component on the common exponent of its lane.
    index_bits : int
        Leading mantissa bits that address the log2 table.
    interpolation_bits : int
        Mantissa bits below the index that interpolate between two entries.
    log_fraction_bits : int
        Fraction bits of a logarithm.
    """

    mantissa_bits: int = 18
    index_bits: int = 8
    interpolation_bits: int = 11
    log_fraction_bits: int = 16

    def __post_init__(self):
        if not 8 <= self.mantissa_bits <= 24:
            raise ValueError(f"mantissa_bits must be in 8..24, not {self.mantissa_bits}")
        if not 4 <= self.index_bits <= 10:
            raise ValueError(f"index_bits must be in 4..10, not {self.index_bits}")
        if not 4 <= self.interpolation_bits <= 16:
            raise ValueError(f"interpolation_bits must be in 4..16, not {self.interpolation_bits}")
        if not 10 <= self.log_fraction_bits <= 20:
            raise ValueError(f"log_fraction_bits must be in 10..20, not {self.log_fraction_bits}")

    @cached_property
    def log_base(self) -> tuple[int, ...]:
        """`round(log2(1 + i / entries) * 2**log_fraction_bits)` for i in 0..entries."""
        entries = 1 << self.index_bits
        one = 1 << self.log_fraction_bits
        return tuple(round(log2(1 + i / entries) * one) for i in range(entries + 1))

    @cached_property
    def log_slope(self) -> tuple[int, ...]:
        """Difference from each entry of `log_base` to the next: keeps the logarithm monotonic."""
        return tuple(b - a for a, b in zip(self.log_base, self.log_base[1:], strict=False))


@dataclass(frozen=True, kw_only=True)
class UnitConfig:
    """What one build of the unit contains. The golden model takes the same object.

    A descriptor that asks for something left out is answered with error code 14 (spec 01).

    Parameters
    ----------
    swizzle_modes : frozenset of int
        Map SW_MODE values that the address generator knows, of `PLAIN_MODES` and `XOR_MODES`.
    xor_patterns : tuple of XorPattern
        The pipe XOR of the part that is built, for each of the `XOR_MODES` in `swizzle_modes`, and
        once more for volumes if they are built in and may have the mode.
    resource_types : frozenset of int
        T# TYPE values: 8 1D, 9 2D, 10 3D, 12 1D array, 13 2D array.
    linked_types : frozenset of int
        LINKED_RESOURCE_TYPE values: 1 OR, 2 MIN, 3 MAX, 4 the MinMip filter.
    lod : LodConfig
        Level-of-detail widths and table.
    lanes : int
        Lanes of a quad per clock: 1, 2 or 4 (a whole quad).
    lod_units : int
        Lanes per clock whose own gradients become LODs (SAMPLE_D): 1, 2 or 4, at most `lanes`.
    descriptor_entries : int
        Decoded descriptor pairs that are held; 1 to 16.
    combine_entries : int
        Memory words that the write-combining buffer holds; 2 to 32.
    combine_age : int
        Clocks that a word may stay in the write-combining buffer, a power of two from 16 to 65536.
    word_bytes : int
        Bytes of a memory word, a power of two from 4 to 32.
    memory_bytes : int
        Size of the map memory inside the unit, a power of two from 4 KiB.
    memory_latency : int
        Clocks from a read request of the map memory to its data: 2 is block RAM with its output
        register.
    resolves : bool
        Whether the resolve engine is built in.
    """

    swizzle_modes: frozenset[int] = PLAIN_MODES
    xor_patterns: tuple[XorPattern, ...] = ()
    resource_types: frozenset[int] = frozenset({8, 9, 10, 12, 13})
    linked_types: frozenset[int] = frozenset({1, 2, 3, 4})
    lod: LodConfig = field(default_factory=LodConfig)
    lanes: int = 4
    lod_units: int = 4
    descriptor_entries: int = 4
    combine_entries: int = 8
    combine_age: int = 1024
    word_bytes: int = 16
    memory_bytes: int = 1 << 16
    memory_latency: int = 2
    resolves: bool = True

    def __post_init__(self):
        for name, legal in (
            ("swizzle_modes", PLAIN_MODES | XOR_MODES),
            ("resource_types", {8, 9, 10, 12, 13}),
            ("linked_types", {1, 2, 3, 4}),
        ):
            unknown = set(getattr(self, name)) - legal
            if unknown:
                raise ValueError(f"{name} must be a subset of {sorted(legal)}, not {unknown}")
        for name, low, high, power in (
            ("lanes", 1, 4, True),
            ("lod_units", 1, 4, True),
            ("descriptor_entries", 1, 16, False),
            ("combine_entries", 2, 32, False),
            ("combine_age", 16, 1 << 16, True),
            ("word_bytes", 4, 32, True),
            ("memory_bytes", 1 << 12, 1 << 30, True),
            ("memory_latency", 1, 16, False),
        ):
            value = getattr(self, name)
            if not low <= value <= high or (power and value & (value - 1)):
                kind = "a power of two " if power else ""
                raise ValueError(f"{name} must be {kind}in {low}..{high}, not {value}")
        if self.lod_units > self.lanes:
            raise ValueError(f"lod_units must be at most lanes, {self.lanes}, not {self.lod_units}")

        given = {(pattern.mode, pattern.volume) for pattern in self.xor_patterns}
        for mode in sorted(self.swizzle_modes & XOR_MODES):
            for volume in (False, True)[: 1 + (self.volumes and mode in VOLUME_MODES)]:
                if (mode, volume) not in given:
                    kind = "volumes" if volume else "2D maps"
                    raise ValueError(f"swizzle mode {mode} needs its xor_patterns for {kind}")

    def xor_pattern(self, mode: int, *, volume: bool) -> XorPattern:
        """Pipe XOR of a mode that is built in."""
        return next(p for p in self.xor_patterns if (p.mode, p.volume) == (mode, volume))

    @property
    def axes(self) -> int:
        """Coordinate axes of the datapath: 3 when volumes are built in, else 2."""
        return 3 if self.volumes else 2

    @property
    def volumes(self) -> bool:
        """Whether volumes are built in."""
        return 10 in self.resource_types

    @property
    def filters(self) -> bool:
        """Whether the MinMip filter is built in."""
        return 4 in self.linked_types

    @property
    def word_log2(self) -> int:
        """Log2 of the bytes of a memory word."""
        return self.word_bytes.bit_length() - 1


FULL = UnitConfig()
"""The whole unit, a quad per clock. The golden model takes it unless it is told otherwise."""

DEFAULT = replace(FULL, lanes=2, lod_units=1, combine_entries=4)
"""Half the lanes, one LOD unit."""

SMALL = replace(
    FULL,
    swizzle_modes=frozenset({0, 1}),
    resource_types=FULL.resource_types - {10},
    lanes=1,
    lod_units=1,
    descriptor_entries=2,
    combine_entries=2,
    memory_bytes=1 << 14,
    memory_latency=5,
    resolves=False,
)
"""One lane per clock, LINEAR and 256B_S, no volumes, no resolve engine: the least area. The block
RAM of the map and of its copies for the filter lies all over a part: two more clocks for the way
there, one for the way back."""

PRESETS = {"small": SMALL, "default": DEFAULT, "full": FULL}
"""Builds of the unit by name."""
