"""Which texels of the lanes of a beat lie in one memory word (spec 05)."""

from dataclasses import dataclass

from amaranth.hdl import Cat, Const, Module, Value

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

    A word holds a run of x of one row; of a swizzled volume 4 texels in x, then 2 in z, then 2 in
    y, as far as the word goes.

    Parameters
    ----------
    cfg : UnitConfig
        `lanes`, `word_bytes`, `axes`.
    """

    def __init__(self, cfg: UnitConfig):
        self.cfg = cfg
        log2, volumes = cfg.word_log2, cfg.volumes
        # Bits of a place that are inside a word: of flat maps, of swizzled volumes.
        self.inside = {
            "x": (log2, 2 if volumes else log2),
            "y": (0, int(volumes and log2 > 3)),
            "slice": (0, int(volumes and log2 > 2)),
        }

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
                depth = self._equal(m, request, "slice", slices, f"slice{name}")
                pairs[other, lane] = SameWords(rows, columns, mip & depth)
        return pairs

    def _equal(self, m: Module, request, axis: str, places, name: str) -> Value:
        """Whether words at two places of an axis are at one place, in 2 clocks: first by parts."""
        a, b = places
        flat, thick = self.inside[axis]
        low, high = min(flat, thick), max(flat, thick)
        middle = high + (len(a) - high) // 2
        parts = [a[high:middle] == b[high:middle], a[middle:] == b[middle:]]
        if low < high:
            inside = request.packing[1] == (thick > flat)
            parts.append(inside | (a[low:high] == b[low:high]))
        parts_q1 = delay(m, Cat(parts), 1, name=f"{name}_parts")
        return delay(m, parts_q1.all(), 1, name=name)
