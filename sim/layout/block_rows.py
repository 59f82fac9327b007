"""Moves one row of blocks between row-major and swizzled order, as fast as numpy goes.

A row of blocks lies in one piece of memory. Its elements are moved in units of 16 or 8 bytes by one
`take` with a table of addresses. Where fewer than 8 bytes of x stand together (Z modes, volumes),
the lowest y and z bits of the pattern are woven in first, row by row.

XOR is linear, and no address bit under the eighth has one: so what the bits above the block, the
slice and pipeBankXor flip is one constant for each row of blocks.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from minmip.sim.layout.surface import Surface

__all__ = ["BlockRow", "block_row"]

PIECE_BYTES = 1 << 18
"""Most that is moved at once where blocks are small; the calls cost more if it is less."""


@dataclass(frozen=True)
class _Weave:
    """Put units of row pairs side by side: `bit` of the row index goes, `unit` is in bytes."""

    unit: int
    bit: int

    def _views(self, rows: np.ndarray, woven: np.ndarray):
        below = 1 << self.bit
        pairs = rows.view(f"u{self.unit}").reshape(len(rows) // (2 * below), 2, below, -1)
        first, second = pairs[:, 0], pairs[:, 1]
        return first, second, woven.view(f"u{2 * self.unit}").reshape(first.shape)

    def weave(self, rows: np.ndarray, woven: np.ndarray) -> None:
        # Arithmetic on whole words is faster than stores to every other unit.
        first, second, target = self._views(rows, woven)
        np.left_shift(second, 8 * self.unit, out=target, dtype=target.dtype)
        np.bitwise_or(target, first, out=target)

    def unweave(self, woven: np.ndarray, rows: np.ndarray) -> None:
        first, second, source = self._views(rows, woven)
        np.copyto(first, source, casting="unsafe")
        np.copyto(second, source >> source.dtype.type(8 * self.unit), casting="unsafe")


class BlockRow:
    """The rows of blocks of one mip outside the tail, in a mode that is not LINEAR.

    Row-major rows are uint8 [block depth * `height`, pitch in bytes], z before y; `height` is a
    block's, or several of them.
    """

    def __init__(self, surface: Surface, mip: int):
        pattern = surface.pattern
        assert pattern is not None
        self.surface, self.pattern = surface, pattern
        self.pitch = surface.mips[mip].pitch
        _, height, depth = surface.block
        self.row_bytes = self.pitch << surface.element_log2
        self._beyond = any(
            1 << bit >= side
            for flips, side in zip(pattern.flips, surface.block, strict=True)
            for bit, _ in flips
        )
        # Small blocks: several of their rows at once, if they are alike and fill the mip.
        self.height = height
        while (
            not self._beyond
            and depth == 1
            and surface.mips[mip].rows % (2 * self.height) == 0
            and 2 * self.height * self.row_bytes <= PIECE_BYTES
        ):
            self.height *= 2
        height_log2 = self.height.bit_length() - 1
        self.rows = self.height * depth
        # Row index bits, lowest first, as (axis, bit): y, then z.
        bits = [(1, n) for n in range(height_log2)]
        bits += [(2, n) for n in range(depth.bit_length() - 1)]
        self._weaves: list[_Weave] = []
        columns_log2, unit_log2 = 0, surface.element_log2
        while unit_log2 < 4:
            masks = pattern.bits[unit_log2]
            axis = next(axis for axis in range(3) if masks[axis])
            if axis == 0:
                columns_log2 += 1
            elif unit_log2 == 3:
                break
            else:
                source = (axis, masks[axis].bit_length() - 1)
                self._weaves.append(_Weave(1 << unit_log2, bits.index(source)))
                bits.remove(source)
            unit_log2 += 1
        self._unit_log2, self._unit = unit_log2, np.dtype(f"V{1 << unit_log2}")
        rows = np.arange(1 << len(bits))[:, None]
        y, z = (
            sum((rows >> n & 1) << bit for n, (of, bit) in enumerate(bits) if of == axis)
            + np.zeros_like(rows)
            for axis in (1, 2)
        )
        x = np.arange(self.row_bytes << len(self._weaves) >> self._unit_log2) << columns_log2
        block = y // height * (self.pitch // surface.block[0]) + x // surface.block[0]
        self._address = (
            ((block << surface.block_log2) + self._in_block(pattern.offset(x, y, z)))
            >> self._unit_log2
        ).ravel()

    @cached_property
    def _places(self) -> np.ndarray:
        return np.arange(len(self._address))

    @cached_property
    def _source(self) -> np.ndarray:
        """The inverse of the addresses: which unit of the woven rows comes at each place."""
        source = np.empty_like(self._address)
        source[self._address] = self._places
        return source

    def scratch(self) -> list[np.ndarray]:
        """Return memory for `swizzle` and `unswizzle` to weave in."""
        return [
            np.empty((self.rows >> n, self.row_bytes << n), np.uint8)
            for n in range(1, len(self._weaves) + 1)
        ]

    def _in_block(self, address):
        return address & (1 << self.surface.block_log2) - 1

    def _flipped(self, table: np.ndarray, y: int, z: int, *, values: bool) -> np.ndarray:
        """Return a table for the row at y, z: XORed with what these flip, values or places."""
        flip = self.surface.flip
        if self._beyond:
            flip ^= self._in_block(self.pattern.offset(0, y, z))
        if not flip:
            return table
        moved = flip >> self._unit_log2
        return table ^ moved if values else table[self._places ^ moved]

    def swizzle(self, rows: np.ndarray, out: np.ndarray, y: int, z: int, scratch: list) -> None:
        """Write the row of blocks whose first element is (0, y, z) to `out`, flat uint8."""
        for weave, woven in zip(self._weaves, scratch, strict=True):
            weave.weave(rows, woven)
            rows = woven
        source = self._flipped(self._source, y, z, values=False)
        # "clip" because "raise" would buffer the output; no index is outside.
        np.take(rows.view(self._unit).ravel(), source, out=out.view(self._unit), mode="clip")

    def unswizzle(self, data: np.ndarray, out: np.ndarray, y: int, z: int, scratch: list) -> None:
        """Read the row of blocks at (0, y, z) from `data`, flat uint8, to row-major rows."""
        steps = [out, *scratch]
        address = self._flipped(self._address, y, z, values=True)
        woven = steps[-1].reshape(-1).view(self._unit)
        np.take(data.view(self._unit), address, out=woven, mode="clip")
        for n, weave in reversed(list(enumerate(self._weaves))):
            weave.unweave(steps[n + 1], steps[n])


@lru_cache(maxsize=8)
def block_row(surface: Surface, mip: int) -> BlockRow:
    """Make the mover of a mip; the last few are kept, as textures of a kind come together."""
    return BlockRow(surface, mip)
