"""What the benches of the board share: the simulated build, faults of a line, a small trace."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
from traces import LINEAR, MIN, READ, USED, WRAP, image, sampler, trace

from minmip.hw.board.config import BoardConfig
from minmip.hw.config import SMALL
from minmip.sim.trace import Trace

SIMULATED = BoardConfig(
    unit=replace(
        SMALL,
        resource_types=frozenset({9}),
        linked_types=frozenset({2, 4}),
        swizzle_modes=frozenset({1}),
        descriptor_entries=1,
        memory_bytes=1 << 12,
    ),
    clock_hz=50_000_000,
    baud=12_500_000,
    gap_us=30,
    patience_us=2000,
)
"""The smallest unit that is worth a replay, on the fastest line that its clock allows."""


class Faults:
    """Spoils bytes of a line: flips a bit, loses a byte, invents one.

    Parameters
    ----------
    chance : float
        Faults per byte.
    seed : int
        Of the faults; every run with it is the same.
    """

    def __init__(self, chance: float, *, seed: int):
        self.chance, self.rng = chance, random.Random(seed)
        self.count = 0

    def spoil(self, data: bytes) -> bytes:
        out = bytearray()
        for byte in data:
            if self.rng.random() >= self.chance:
                out.append(byte)
                continue
            self.count += 1
            kind = self.rng.choice(("flip", "lose", "invent"))
            if kind == "flip":
                out.append(byte ^ 1 << self.rng.randrange(8))
            elif kind == "invent":
                out += bytes((self.rng.randrange(256), byte))
        return bytes(out)


def board_trace(seed: int, quads: int = 24) -> Trace:
    """Quads that write and read one MinMip map of 8x8, some that are refused, on mixed memory."""
    rng = np.random.default_rng(seed)
    base = 0x1000
    views = [
        image((64, 64), kind=kind, scales=(3, 3), mips=1, view=(0, 6), BASE_ADDRESS=base >> 8)
        for kind in (MIN, READ, USED)
    ]
    requests = []
    for _ in range(quads):
        corner, step = rng.uniform(-0.5, 1.5, 2), rng.uniform(-0.05, 0.05, (2, 2))
        lanes = [corner, corner + step[0], corner + step[1], corner + step.sum(axis=0)]
        opcode = int(rng.choice(5, p=(0.6, 0.1, 0.1, 0.1, 0.1)))
        requests.append(
            {
                "opcode": opcode,
                "uvw": lanes,
                "exec_mask": int(rng.choice([15, 15, rng.integers(1, 16)])),
                "lod": rng.uniform(0, 6, (4, 1)) if opcode in (1, 3) else 0.0,
                "ddx": step[:1] if opcode == 2 else [0.0],
                "ddy": step[1:] if opcode == 2 else [0.0],
            }
        )
    memory = np.full(512, 0xFF, np.uint8)
    memory[256:344] = rng.integers(0, 256, 88)
    ramp = {"MINMIP_SLOPE_U": 3, "MINMIP_OFFSET_U": 4, "MINMIP_SLOPE_V": 3, "MINMIP_OFFSET_V": 4}
    s = sampler(WRAP, LINEAR, LINEAR, **ramp)
    made = trace(views[0], s, requests, memory, memory_base=base)
    made.t_sharp = np.array(views, np.uint32)
    made.t_index = np.sort(rng.choice(3, (3, quads // 3), p=(0.6, 0.3, 0.1))).ravel().astype("u4")
    return made
