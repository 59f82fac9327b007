"""Which texels of the lanes of a beat lie in one memory word (spec 05)."""

from dataclasses import dataclass

from amaranth.hdl import Cat, Const, Module, Value

from minmip.hw import swizzle
from minmip.hw.config import UnitConfig
from minmip.hw.lib.delay import delay

__all__ = ["LaneComparison", "SameWords"]


@dataclass(frozen=True)
class SameWords:
    """Whether the texels of a lane and of another, or itself, lie in one memory word.

    `rows[2 * r + s]`: the words of row r of the first lane and of row s of the second are at one
    height; `columns` in the same way; `image`: the lanes have one mip, and words at one depth.
    """

    rows: tuple[Value, ...]
    columns: tuple[Value, ...]
    image: Value

    def texels(self, first: int, second: int) -> Value:
        """Texel `first` of the one lane and texel `second` of the other are in one word."""
        row = self.rows[2 * (first >> 1) + (second >> 1)]
        column = self.columns[2 * (first & 1) + (second & 1)]
        return self.image & row & column

    def later(self, m: Module, clocks: int, name: str) -> "SameWords":
        """The same, `clocks` clocks later."""

        def wait(value, what):
            # What is always so needs no registers.
            if isinstance(value, Const):
                return value
            return delay(m, value, clocks, name=f"{name}_{what}")

        return SameWords(
            tuple(wait(row, f"row{n}") for n, row in enumerate(self.rows)),
            tuple(wait(column, f"column{n}") for n, column in enumerate(self.columns)),
            wait(self.image, "image"),
        )


class LaneComparison:
    """Compares the lanes of a `texels_request` with each other: which texels share memory words.

    Words of each `Packing` are boxes: texels share one when all coordinate bits are equal but those
    that make the number of a byte in its word.

    Parameters
    ----------
    cfg : UnitConfig
        `lanes`, `word_bytes`, and what layouts are built in.
    """

    def __init__(self, cfg: UnitConfig):
        self.cfg = cfg
        self.kinds = swizzle.packings(cfg)
        self.inside = {kind: swizzle.word_bits(cfg, kind) for kind in self.kinds}

    def pairs(self, m: Module, request) -> dict[tuple[int, int], SameWords]:
        """Each lane with itself and every later lane, in 2 clocks."""
        pairs = {}
        for lane in range(self.cfg.lanes):
            second, one = request.lane[lane], Const(1, 1)
            rows, columns = (
                self._equal(m, request, axis, second[axis], f"{axis}{lane}") for axis in ("y", "x")
            )
            pairs[lane, lane] = SameWords((one, rows, rows, one), (one, columns, columns, one), one)
            for other in range(lane):
                first, name = request.lane[other], f"{other}{lane}"
                rows, columns = (
                    tuple(
                        self._equal(
                            m,
                            request,
                            axis,
                            (first[axis][n >> 1], second[axis][n & 1]),
                            f"{axis}{name}_{n}",
                        )
                        for n in range(4)
                    )
                    for axis in ("y", "x")
                )
                mip = delay(m, first.mip == second.mip, 2, name=f"mip{name}")
                slices = (first.slice, second.slice)
                depth = self._equal(m, request, "z", slices, f"slice{name}")
                pairs[other, lane] = SameWords(rows, columns, mip & depth)
        return pairs

    def _equal(self, m: Module, request, axis: str, places, name: str) -> Value:
        """Whether words at two places of an axis are at one place, in 2 clocks: first by parts."""
        a, b = places
        # Bits by the packings that have them inside a word.
        groups: dict[tuple[swizzle.Packing, ...], list[int]] = {}
        for bit in range(len(a)):
            kinds = tuple(kind for kind in self.kinds if (axis, bit) in self.inside[kind])
            groups.setdefault(kinds, []).append(bit)
        parts = []
        for kinds, bits in groups.items():
            middle = (len(bits) + 1) // 2 if not kinds else len(bits)
            halves = bits[:middle], bits[middle:]
            equal = [Cat(a[n] for n in half) == Cat(b[n] for n in half) for half in halves if half]
            inside = swizzle.told_apart(request.packing, kinds, set(self.kinds) - set(kinds))
            parts += [inside | one for one in equal]
        parts_q1 = delay(m, Cat(parts), 1, name=f"{name}_parts")
        return delay(m, parts_q1.all(), 1, name=name)
