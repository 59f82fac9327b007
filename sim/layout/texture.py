"""What a layout is asked for: a texture's description, checked (spec 05 and 06)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from minmip.sim.layout.arguments import need, whole_number
from minmip.sim.layout.errors import LayoutError
from minmip.sim.layout.formats import PlaneFormat, element_plane, texel_format
from minmip.sim.layout.hardware import ANACONDA, AddressConfig
from minmip.sim.layout.modes import SwizzleMode, check_legal, swizzle_mode

__all__ = ["MAX_BYTES", "Texture", "natural_mips"]

MAX_BYTES = 1 << 48
"""A resource is not larger than the address space."""
MAX_MIPS = 16
_WHOLE = ("width", "height", "depth", "array_size", "mips", "pipe_bank_xor")


def natural_mips(*sizes: int) -> int:
    """Return the levels of a whole chain: until every side is 1."""
    return max(whole_number("a size", size) for size in sizes).bit_length()


@dataclass(frozen=True, kw_only=True)
class Texture:
    """A texture to lay out. Everything is checked on construction.

    Parameters
    ----------
    width, height, depth : int
        Texels of mip 0 (elements, if no format is given). Height is 1 for 1D, depth 1 but for 3D.
    array_size : int
        Slices; 1 for 3D.
    mips : int
        Levels.
    dimension : str
        1D, 2D or 3D.
    format : str or int, optional
        DXGI name (BC1_UNORM, NV12) or number; gives the planes.
    element_bytes : int, optional
        In place of a format: one plane with elements of 1, 2, 4, 8 or 16 bytes.
    usage : str
        Usage of that one plane: DEFAULT, DEPTH, STENCIL, LUMA or CHROMA.
    mode : str or int
        Swizzle mode: name, number or Xbox layout value.
    hardware : AddressConfig
        Pipes and packers; only D modes of 4 bytes and XOR modes ask.
    pipe_bank_xor : int
        The surface's pipeBankXor, X and T modes only.
    excess_mips : bool
        Allow more levels than the natural chain, each of one texel. Maps of MipRegionUsed have the
        paired texture's number of levels (spec 05, 5.2).

    Raises
    ------
    LayoutError
        Saying which rule is broken.
    """

    width: int
    height: int = 1
    depth: int = 1
    array_size: int = 1
    mips: int = 1
    dimension: str = "2D"
    format: str | int | None = None
    element_bytes: int | None = None
    usage: str = "DEFAULT"
    mode: str | int | SwizzleMode = "64KB_S"
    hardware: AddressConfig = ANACONDA
    pipe_bank_xor: int = 0
    excess_mips: bool = False

    def __post_init__(self):
        self._check_numbers()
        self._check_dimension()
        need("hardware", AddressConfig, self.hardware)
        planes, mode = self.planes, self.swizzle
        for plane in planes:
            rb_plus = self.hardware.rb_plus
            check_legal(mode, self.dimension, plane.element_bytes, rb_plus=rb_plus)
            if self.width % plane.divisor or self.height % plane.divisor:
                raise LayoutError(
                    f"a {self.format} texture has an even width and height, not "
                    f"{self.width}x{self.height}"
                )
        if self.pipe_bank_xor and not mode.xor:
            raise LayoutError(f"pipeBankXor is for X and T modes, not for {mode.name}")
        if len(planes) > 1 and self.mips > 1 and planes[0].usage == "LUMA":
            raise LayoutError(f"a {self.format} texture has one mip level, not {self.mips}")

    def _check_numbers(self) -> None:
        for name in _WHOLE:
            value = getattr(self, name)
            # Numbers of numpy, which overflow, become Python's.
            if type(value) is not int or value >> 64:
                object.__setattr__(self, name, whole_number(name, value))
        need("dimension", str, self.dimension)
        need("usage", str, self.usage)
        need("excess_mips", bool, self.excess_mips)
        for name in _WHOLE[:-1]:
            if getattr(self, name) < 1:
                raise LayoutError(f"{name} is at least 1, not {getattr(self, name)}")
        if not 0 <= self.pipe_bank_xor < 1 << 16:
            raise LayoutError(f"pipeBankXor has 16 bits, not the value {self.pipe_bank_xor}")
        natural = natural_mips(self.width, self.height, self.depth)
        if self.mips > (MAX_MIPS if self.excess_mips else natural):
            limit = f"{MAX_MIPS} levels" if self.excess_mips else f"a whole chain of {natural}"
            raise LayoutError(
                f"{self.width}x{self.height}x{self.depth} texels have at most {limit}, not "
                f"{self.mips} mips"
            )

    def _check_dimension(self) -> None:
        if self.dimension == "1D" and self.height > 1:
            raise LayoutError(f"a 1D texture has height 1, not {self.height}")
        if self.dimension != "3D" and self.depth > 1:
            raise LayoutError(f"a {self.dimension} texture has depth 1, not {self.depth}")
        if self.dimension == "3D" and self.array_size > 1:
            raise LayoutError(f"there are no arrays of volumes, so no array_size {self.array_size}")
        if self.format is not None and self.element_bytes is not None:
            raise LayoutError("a texture has a format or element_bytes, not both")
        if self.format is None and self.element_bytes is None:
            raise LayoutError("a texture needs a format or element_bytes")
        if self.format is not None and self.usage != "DEFAULT":
            raise LayoutError(f"the format gives the planes; usage {self.usage} is one too many")

    @cached_property
    def planes(self) -> tuple[PlaneFormat, ...]:
        """Planes in memory order."""
        if self.format is not None:
            return texel_format(self.format).planes
        return (element_plane(self.usage, self.element_bytes),)  # pyright: ignore

    @cached_property
    def swizzle(self) -> SwizzleMode:
        """The swizzle mode, found."""
        return swizzle_mode(self.mode)

    @property
    def slices(self) -> int:
        """Array slices, or the depth of a volume."""
        return self.depth if self.dimension == "3D" else self.array_size
