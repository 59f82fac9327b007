"""Parameters of a board: the unit that it has, and the times of its host link."""

import json
from dataclasses import dataclass, fields, replace

from minmip.hw.board.protocol import MAX_PAYLOAD, PROTOCOL
from minmip.hw.config import SMALL, UnitConfig, XorPattern

__all__ = ["ULX3S", "BoardConfig", "identity", "unit_of"]


@dataclass(frozen=True, kw_only=True)
class BoardConfig:
    """A board with one unit and one serial line.

    Parameters
    ----------
    unit : UnitConfig
        The unit; its map memory is block RAM.
    clock_hz : int
        Clock of everything.
    baud : int
        Bits per second of the serial line, at most a quarter of the clock.
    gap_us : int
        Microseconds of silence after which half a packet is dropped.
    patience_us : int
        Microseconds that a command may take.
    """

    unit: UnitConfig
    clock_hz: int
    baud: int
    gap_us: int
    patience_us: int

    def __post_init__(self):
        if not 0 < 4 * self.baud <= self.clock_hz:
            raise ValueError(
                f"baud must be at most a quarter of the clock of {self.clock_hz} Hz, "
                f"not {self.baud}"
            )
        byte_us = 10 * 1e6 / self.baud
        if self.gap_us < 2 * byte_us:
            raise ValueError(
                f"gap_us must be at least two bytes, {2 * byte_us:.0f} us at {self.baud} baud, "
                f"not {self.gap_us}"
            )
        if self.patience_us <= 0:
            raise ValueError(f"patience_us must be above 0, not {self.patience_us}")
        if len(identity(self)) > MAX_PAYLOAD:
            raise ValueError(
                f"the description of the build must be {MAX_PAYLOAD} bytes or fewer, "
                f"not {len(identity(self))}: it has too many XOR patterns"
            )

    @property
    def gap_clocks(self) -> int:
        """`gap_us` in clocks."""
        return -(-self.gap_us * self.clock_hz // 1_000_000)

    @property
    def patience_clocks(self) -> int:
        """`patience_us` in clocks."""
        return -(-self.patience_us * self.clock_hz // 1_000_000)


def identity(cfg: BoardConfig) -> bytes:
    """Text that the board answers to a `hello`: JSON of the unit's parameters and the clock."""
    unit = {}
    for field in fields(UnitConfig):
        value = getattr(cfg.unit, field.name)
        if isinstance(value, frozenset):
            value = sorted(value)
        elif field.name == "xor_patterns":
            value = [[pattern.mode, pattern.volume, pattern.bits] for pattern in value]
        elif field.name == "lod":
            value = {part.name: getattr(value, part.name) for part in fields(value)}
        unit[field.name] = value
    build = {"minmip": PROTOCOL, "clock_hz": cfg.clock_hz, "unit": unit}
    return json.dumps(build, separators=(",", ":")).encode()


def unit_of(text: bytes) -> tuple[UnitConfig, int]:
    """Unit and clock of a board from its `identity`.

    Raises
    ------
    ValueError
        When the text is of another protocol, or of no board.
    """
    try:
        build = json.loads(text)
        version = build["minmip"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ValueError("the answer to hello describes no minmip board") from None
    if version != PROTOCOL:
        raise ValueError(f"the board speaks protocol {_short(version)}, wanted {PROTOCOL}")
    try:
        unit = dict(build["unit"])
        for name in ("swizzle_modes", "resource_types", "linked_types"):
            unit[name] = frozenset(unit[name])
        unit["lod"] = replace(SMALL.lod, **unit["lod"])
        unit["xor_patterns"] = tuple(
            XorPattern(mode=mode, volume=volume, bits=tuple(tuple(terms) for terms in bits))
            for mode, volume, bits in unit["xor_patterns"]
        )
        return UnitConfig(**unit), int(build["clock_hz"])
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise ValueError(
            f"the board has parameters that this minmip does not know: {_short(error)}"
        ) from None


def _short(found: object) -> str:
    """What a board said, fit for a sentence: no control characters, no more than a line."""
    text = "".join(char if char.isprintable() else "?" for char in str(found))
    return text if len(text) <= 100 else f"{text[:97]}..."


ULX3S = BoardConfig(
    unit=replace(SMALL, memory_bytes=1 << 15),
    clock_hz=50_000_000,
    baud=3_000_000,
    gap_us=50_000,
    patience_us=300_000,
)
"""ULX3S with an ECP5-85F: the small unit, 32 KiB of map memory, the fastest rate of its FT231X."""
