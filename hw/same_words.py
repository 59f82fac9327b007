"""Which texels of the lanes of a beat lie in one memory word (spec 05)."""

from dataclasses import dataclass

from amaranth.hdl import Cat, Const, Module, Value
from amaranth.lib import data

from minmip.hw.config import UnitConfig
from minmip.hw.lib.delay import delay

__all__ = ["SameWords", "same_words"]


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


def same_words(m: Module, cfg: UnitConfig, request: data.View) -> dict[tuple[int, int], SameWords]:
    """Compare each lane of a `texels_request` with itself and every later lane, in 2 clocks.

    A word holds a run of x of one row; of a swizzled volume 4 texels in x, then 2 in z, then 2 in
    y, as far as the word goes.
    """
    thick = request.thick if cfg.volumes else Const(0, 1)
    # Place bits inside a word: of flat maps, of thick ones.
    axes = {
        "x": (cfg.word_log2, 2 if cfg.volumes else cfg.word_log2),
        "y": (0, int(cfg.volumes and cfg.word_log2 > 3)),
        "slice": (0, int(cfg.volumes and cfg.word_log2 > 2)),
    }

    def equal(axis, a, b, name):
        flat, deep = axes[axis]
        always, sometimes = min(flat, deep), max(flat, deep)
        inside = thick if deep > flat else ~thick
        middle = always + (len(a) - sometimes) // 2 + (sometimes - always)
        parts = [a[sometimes:middle] == b[sometimes:middle], a[middle:] == b[middle:]]
        if sometimes > always:
            parts.append(inside | (a[always:sometimes] == b[always:sometimes]))
        parts_q1 = delay(m, Cat(parts), 1, name=f"{name}_parts")
        return delay(m, parts_q1.all(), 1, name=name)

    pairs = {}
    one = Const(1, 1)
    for lane in range(cfg.lanes):
        second = request.lane[lane]
        rows, columns = (
            equal(axis, second[axis][0], second[axis][1], f"{axis}{lane}") for axis in ("y", "x")
        )
        pairs[lane, lane] = SameWords((one, rows, rows, one), (one, columns, columns, one), one)
        for other in range(lane):
            first, name = request.lane[other], f"{other}{lane}"
            rows, columns = (
                tuple(
                    equal(axis, first[axis][n >> 1], second[axis][n & 1], f"{axis}{name}_{n}")
                    for n in range(4)
                )
                for axis in ("y", "x")
            )
            mip = delay(m, first.mip == second.mip, 2, name=f"mip{name}")
            image = mip & equal("slice", first.slice, second.slice, f"slice{name}")
            pairs[other, lane] = SameWords(rows, columns, image)
    return pairs
