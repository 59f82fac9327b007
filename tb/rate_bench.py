"""Long runs of one kind of quad through the whole unit: the share of a rate that is reached."""

import numpy as np
from unit_bench import unit_bench

from minmip.hw.config import UnitConfig
from minmip.sim.trace import Trace

__all__ = ["LEAST", "LENGTH", "QUADS", "WARM", "clocks_of", "share_of"]

WARM, QUADS = 1000, 10_000
LENGTH = WARM + QUADS + 50
"""Quads of a run: a warm-up, what is measured, and some behind it."""
LEAST = 0.99


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
