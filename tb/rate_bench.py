"""Long runs of one kind of quad through the whole unit: the share of a rate that is reached.

Pictures are in tiles of 8x8 pixels, 256 pixels wide, so that borders of map texels are as frequent
as in a large frame.
"""

import numpy as np
from unit_bench import unit_bench

from minmip.hw.config import UnitConfig
from minmip.sim.trace import Trace

__all__ = ["LEAST", "LENGTH", "QUADS", "WARM", "clocks_of", "share_of", "tiles"]

WARM, QUADS = 1000, 10_000
LENGTH = WARM + QUADS + 50
"""Quads of a run: a warm-up, what is measured, and some behind it."""
LEAST = 0.99
WIDTH = 256


def tiles() -> np.ndarray:
    """Pixels of the quads of a run, tile by tile: [LENGTH, 4, 2]."""
    tile, quad = np.divmod(np.arange(LENGTH), 16)
    row, column = np.divmod(tile, WIDTH // 8)
    corner = np.stack([8 * column + 2 * (quad % 4), 8 * row + 2 * (quad // 4)], axis=1)
    return corner[:, None] + [[0, 0], [1, 0], [0, 1], [1, 1]]


def clocks_of(cfg: UnitConfig, trace: Trace, name: str) -> tuple[int, dict[str, int]]:
    """Clocks that the measured quads take, and the counters of the whole run."""
    bench = unit_bench(cfg)
    done = bench.run(trace, name).output_stamps["o"].astype(np.int64)
    return int(done[WARM + QUADS] - done[WARM]), bench.counters


def share_of(clocks: int, name: str, clocks_per_quad: float, counters: dict[str, int]) -> float:
    """Which share of the rate is reached; printed with what held quads up."""
    share = QUADS * clocks_per_quad / clocks
    stalls = {name: n for name, n in counters.items() if name.startswith("stall_") and n}
    print(
        f"{name}: {clocks / QUADS:.4f} clocks per quad, {share:.4f} of the rate of one per "
        f"{clocks_per_quad:g}; {stalls}"
    )
    return share
