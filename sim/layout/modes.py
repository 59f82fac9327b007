"""The 32 swizzle modes and what each is legal for (spec 05, 1)."""

from __future__ import annotations

from dataclasses import dataclass

from minmip.sim.layout.arguments import shown, whole_number
from minmip.sim.layout.errors import LayoutError

__all__ = ["DIMENSIONS", "MODES", "SwizzleMode", "check_legal", "swizzle_mode"]

DIMENSIONS = ("1D", "2D", "3D")
XG_LAYOUT = 0x100
"""D3D12 texture layout values on Xbox are this plus the mode's number."""

_BLOCKS = {"LINEAR": 8, "256B": 8, "4KB": 12, "64KB": 16, "VAR": None}

# Dimensions that the address library answers for each mode. A mode that is not here is reserved.
# 1D and 3D in 256B_S are choices of this project (spec 05, 8.1 and 8.2).
_LEGAL = {
    "LINEAR": "1D 2D 3D",
    "256B_S": "1D 2D 3D",
    "256B_D": "2D",
    "4KB_S": "2D 3D",
    "4KB_D": "2D",
    "64KB_S": "2D 3D",
    "64KB_D": "2D",
    "64KB_S_T": "2D 3D",
    "64KB_D_T": "2D",
    "4KB_S_X": "2D 3D",
    "4KB_D_X": "2D",
    "64KB_Z_X": "1D 2D 3D",
    "64KB_S_X": "2D 3D",
    "64KB_D_X": "2D 3D",
    "64KB_R_X": "1D 2D 3D",
    "VAR_Z_X": "1D 2D 3D",
    "VAR_R_X": "1D 2D 3D",
}


@dataclass(frozen=True, kw_only=True)
class SwizzleMode:
    """One of the 32 modes.

    `micro` is S, D, R or Z, or "" for LINEAR; `xor` is "X" (pipe bits from coordinates beyond the
    block and from the slice), "T" (from inside the block only) or ""; `dimensions` it is legal
    for, none if reserved.
    """

    number: int
    name: str
    micro: str
    xor: str
    dimensions: tuple[str, ...]

    @property
    def block(self) -> str:
        """LINEAR, 256B, 4KB, 64KB or VAR."""
        return self.name.partition("_")[0]

    @property
    def linear(self) -> bool:
        """Whether texels lie row by row."""
        return self.number == 0

    @property
    def xg_layout(self) -> int:
        """The D3D12 texture layout value on Xbox."""
        return XG_LAYOUT + self.number

    def block_log2(self, var_log2: int) -> int:
        """Bytes of a block as a power of two; `var_log2` is that of VAR modes."""
        log2 = _BLOCKS[self.block]
        return var_log2 if log2 is None else log2

    def thick(self, dimension: str) -> bool:
        """Whether blocks have a depth: volumes in S and D modes."""
        return dimension == "3D" and self.micro in ("S", "D")


def _numbered() -> list[str]:
    names = ["LINEAR", "256B_S", "256B_D", "256B_R"]
    for suffix, blocks in (("", ("4KB", "64KB", "VAR")), ("_T", ("64KB",))):
        names += [f"{block}_{micro}{suffix}" for block in blocks for micro in "ZSDR"]
    names += [f"{block}_{micro}_X" for block in ("4KB", "64KB", "VAR") for micro in "ZSDR"]
    return names


def _mode(number: int, name: str) -> SwizzleMode:
    _, micro, xor = [*name.split("_"), "", ""][:3]
    legal = tuple(_LEGAL.get(name, "").split())
    return SwizzleMode(number=number, name=name, micro=micro, xor=xor, dimensions=legal)


MODES = tuple(_mode(number, name) for number, name in enumerate(_numbered()))
"""All modes, by number."""

_BY_NAME = {mode.name: mode for mode in MODES}


def swizzle_mode(mode: str | int | SwizzleMode) -> SwizzleMode:
    """Find a mode: by name (64KB_S, SW_64KB_S), number (9) or Xbox layout value (0x109)."""
    if isinstance(mode, SwizzleMode):
        return mode
    if isinstance(mode, str):
        name = mode.upper().removeprefix("SW_")
        if name not in _BY_NAME:
            raise LayoutError(
                f"there is no swizzle mode {mode!r}; names look like 64KB_S or 64KB_R_X"
            )
        return _BY_NAME[name]
    if not hasattr(mode, "__index__"):
        raise LayoutError(f"a swizzle mode is a name or a number, not {shown(mode)}")
    number = whole_number("a swizzle mode without a name", mode)
    number = number - XG_LAYOUT if number >= XG_LAYOUT else number
    if not 0 <= number < len(MODES):
        raise LayoutError(f"swizzle modes are numbered 0 to 31 (or 0x100 to 0x11F), not {mode}")
    return MODES[number]


def check_legal(mode: SwizzleMode, dimension: str, element_bytes: int, *, rb_plus: bool) -> None:
    """Refuse a mode that the hardware has not, or not for such a surface.

    Raises
    ------
    LayoutError
        Naming the mode and the rule.
    """
    if dimension not in DIMENSIONS:
        raise LayoutError(f"a dimension is one of {', '.join(DIMENSIONS)}, not {dimension!r}")
    if mode.name == "4KB_R_X":
        raise LayoutError("swizzle mode 4KB_R_X (23) has a name but no address pattern")
    if not mode.dimensions:
        raise LayoutError(f"swizzle mode {mode.name} ({mode.number}) is reserved on this hardware")
    if dimension not in mode.dimensions:
        legal = ", ".join(mode.dimensions)
        raise LayoutError(f"swizzle mode {mode.name} is for {legal} textures, not {dimension}")
    if mode.block == "VAR" and not rb_plus:
        raise LayoutError(f"swizzle mode {mode.name} needs an RB+ part; Navi1x has no VAR block")
    if mode.micro == "Z" and element_bytes > 8:
        raise LayoutError(
            f"swizzle mode {mode.name} takes elements of up to 8 bytes, not {element_bytes}"
        )
