"""Which coordinate bits make each address bit inside a block (spec 05, 3).

Patterns without XOR follow from rules; those with a pipe XOR are read from `xor_patterns.txt`, one
line for each dimension, mode and element size: the address library's tables for every pipe and
packer configuration.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files

import numpy as np

from minmip.sim.layout.arguments import need, shown
from minmip.sim.layout.errors import LayoutError
from minmip.sim.layout.hardware import AddressConfig
from minmip.sim.layout.modes import SwizzleMode

__all__ = ["AXES", "Pattern", "block_pattern", "block_shape", "config_token", "element_pattern"]

AXES = "xyz"

# The low eight address bits by log2 of the element's bytes; "-" is a byte inside the element.
_THIN_MICRO = {
    "S": (
        "x0 x1 x2 x3 y0 y1 y2 y3",
        "- x0 x1 x2 y0 y1 y2 x3",
        "- - x0 x1 y0 y1 y2 x2",
        "- - - x0 y0 y1 x1 x2",
        "- - - - y0 y1 x0 x1",
    ),
    "D": (
        "x0 x1 x2 y1 y0 y2 x3 y3",
        "- x0 x1 x2 y0 y1 y2 x3",
        "- - x0 x1 y0 y1 x2 y2",
        "- - - x0 y0 x1 x2 y1",
        "- - - - x0 y0 x1 y1",
    ),
}
_THICK_MICRO = (
    "x0 x1 z0 y0 z1 y1 x2 z2",
    "- x0 z0 y0 z1 y1 x1 z2",
    "- - x0 y0 z0 y1 x1 z1",
    "- - - x0 z0 y0 x1 z1",
    "- - - - z0 y0 x0 z1",
)


@dataclass(frozen=True)
class Pattern:
    """The address bits of one block, lowest first.

    `bits` holds for each address bit the masks of the bits of x, y and z whose parity it is; all
    are 0 for a byte inside the element.
    """

    bits: tuple[tuple[int, int, int], ...]

    @classmethod
    def parse(cls, text: str) -> Pattern:
        """Read the notation of spec 05: `x0`, `x7^y4^z3` or `-` for each address bit."""
        need("text", str, text)
        return cls(tuple(_masks(word) for word in text.split()))

    def __str__(self):
        words = []
        for masks in self.bits:
            terms = [
                f"{axis}{bit}"
                for axis, mask in zip(AXES, masks, strict=True)
                for bit in _set_bits(mask)
            ]
            words.append("^".join(terms) or "-")
        return " ".join(words)

    @property
    def block_log2(self) -> int:
        """Bytes of a block as a power of two."""
        return len(self.bits)

    @cached_property
    def flips(self) -> tuple[tuple[tuple[int, int], ...], ...]:
        """For x, y and z: each coordinate bit in use and the address bits that it flips."""
        return tuple(
            tuple(
                (bit, sum(1 << n for n, masks in enumerate(self.bits) if masks[axis] >> bit & 1))
                for bit in _set_bits(_union(masks[axis] for masks in self.bits))
            )
            for axis in range(3)
        )

    def offset(self, x, y, z):
        """Byte offset inside the block of elements at whole coordinates, which broadcast.

        Bits beyond the block count too, as the X modes want. Ints give an int, arrays int64.
        """
        return self._part(0, x) ^ self._part(1, y) ^ self._part(2, z)

    def _part(self, axis: int, at):
        if isinstance(at, np.ndarray):
            at = at.astype(np.int64, copy=False)
        part = at & 0
        for bit, flipped in self.flips[axis]:
            part = part ^ (-(at >> bit & 1) & flipped)
        return part


def _union(masks: Iterable[int]) -> int:
    union = 0
    for mask in masks:
        union |= mask
    return union


def _set_bits(mask: int) -> list[int]:
    return [bit for bit in range(mask.bit_length()) if mask >> bit & 1]


def _masks(word: str) -> tuple[int, int, int]:
    if not re.fullmatch(r"-|[xyz]\d{1,2}(\^[xyz]\d{1,2})*", word):
        raise LayoutError(f"an address bit is -, x0 or x7^y4^z3, not {shown(word)}")
    terms = re.findall(r"([xyz])(\d+)", word)
    x, y, z = (sum(1 << int(bit) for axis, bit in terms if axis == a) for a in AXES)
    return x, y, z


@cache
def element_pattern(micro: str, element_log2: int, block_log2: int, *, thick: bool) -> Pattern:
    """Build the S or D pattern without XOR: the micro bits, then y, x in turn (thick: y, x, z)."""
    words = (_THICK_MICRO if thick else _THIN_MICRO[micro])[element_log2].split()
    used = {axis: sum(word.startswith(axis) for word in words) for axis in AXES}
    turns = "yxz" if thick else "yx"
    for n in range(block_log2 - 8):
        axis = turns[n % len(turns)]
        words.append(f"{axis}{used[axis]}")
        used[axis] += 1
    return Pattern.parse(" ".join(words))


@cache
def block_shape(element_log2: int, block_log2: int, *, thick: bool) -> tuple[int, int, int]:
    """Width, height and depth of a block in elements (spec 05, 2)."""
    if not thick:
        texels_log2 = block_log2 - element_log2
        return 1 << (texels_log2 + 1) // 2, 1 << texels_log2 // 2, 1
    bits = element_pattern("S", element_log2, block_log2, thick=True).bits
    x, y, z = (1 << sum(masks[axis] > 0 for masks in bits) for axis in range(3))
    return x, y, z


def config_token(config: AddressConfig) -> str:
    """Name of a configuration in `xor_patterns.txt`: p5k3 is 32 pipes, 8 packers; n4 a Navi1x."""
    if config.rb_plus:
        return f"p{config.pipes_log2}k{config.packers_log2}"
    return f"n{config.pipes_log2}"


@cache
def _xor_patterns() -> dict[tuple[str, str, int, str], str]:
    """Text of the patterns by dimension, mode, element bytes and configuration."""
    table = {}
    text = files("minmip.sim.layout").joinpath("xor_patterns.txt").read_text()
    for line in text.splitlines():
        if not line.startswith("#"):
            key, _, bits = line.partition(":")
            dimension, mode, element_bytes, *tokens = key.split()
            for token in tokens:
                table[dimension, mode, int(element_bytes), token] = bits
    return table


@cache
def block_pattern(
    mode: SwizzleMode, dimension: str, element_log2: int, config: AddressConfig
) -> Pattern:
    """Return the pattern of a legal mode that is not LINEAR. 1D surfaces use that of 2D."""
    thick = mode.thick(dimension)
    if not mode.xor:
        # gfx10.1 has the S row in the one place where D patterns differ between the chips.
        navi1x = mode.micro == "D" and element_log2 == 2 and not config.rb_plus
        micro = "S" if navi1x else mode.micro
        return element_pattern(micro, element_log2, mode.block_log2(config.var_log2), thick=thick)
    space = "3D" if dimension == "3D" else "2D"
    key = (space, mode.name, 1 << element_log2, config_token(config))
    return Pattern.parse(_xor_patterns()[key])
