# amaranth: UnusedElaboratable=no
"""Rates of the whole unit with nothing in its way, over 10,000 quads after a warm-up.

Pixels in tiles of 8x8, one texel per pixel, regions of 128x128 texels. The picture is 256 pixels
wide, so that borders of map texels are as frequent as in a large frame: where a quad's lanes have
different rows of texels, it may take two clocks. Every run is compared with the golden model too.
"""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from kit.vlib import LONG
from traces import ANISO_LINEAR, LINEAR, MIN, POINT, USED, WRAP, image, sampler
from unit_bench import unit_bench

from minmip.hw.config import FULL, UnitConfig
from minmip.sim.trace import OPCODES, SAMPLE, SAMPLE_B, SAMPLE_D, SAMPLE_L, SAMPLE_LZ, Trace

WARM, QUADS, AFTER = 1000, 10_000, 50
LEAST = 0.99
SIZE, WIDTH = 4096, 256
BIAS = 100  # between two mips
NAMES = {MIN: "MinMip", USED: "MipRegionUsed", None: "plain"}


def picture(t, s, opcode, stretch):
    """Quads of a picture, tile by tile; SAMPLE_D has gradients `stretch` times longer in x."""
    quads = WARM + QUADS + AFTER
    tile, quad = np.divmod(np.arange(quads), 16)
    row, column = np.divmod(tile, WIDTH // 8)
    corner = np.stack([8 * column + 2 * (quad % 4), 8 * row + 2 * (quad // 4)], axis=1)
    pixel = corner[:, None] + [[0, 0], [1, 0], [0, 1], [1, 1]]
    uvw, ddx, ddy = np.zeros((3, quads, 4, 3), np.float32)
    uvw[:, :, :2] = (pixel + 0.5) / SIZE
    ddx[:, :, 0], ddy[:, :, 1] = stretch / SIZE, 1 / SIZE
    return Trace(
        t_sharp=t[None],
        s_sharp=s[None],
        opcode=np.full(quads, opcode, np.uint8),
        uvw=uvw,
        ddx=ddx,
        ddy=ddy,
        lod=np.zeros((quads, 4), np.float32),
        memory=np.arange(1 << 14).astype(np.uint8),
    )


@dataclass(frozen=True)
class Case:
    """A kind of quad, and the beats of one tap and mip that it makes."""

    name: str
    kind: int | None
    filter: int
    mip: int
    beats: int
    opcode: int = SAMPLE
    aniso: int = 0  # log2
    swizzle: int = 1

    def trace(self):
        mips = {"view": (0, 5), "mips": 6} if self.kind == USED else {"view": (0, 11)}
        scales = () if self.kind is None else (7, 7)
        t = image((SIZE, SIZE), kind=self.kind, scales=scales, SW_MODE=self.swizzle, **mips)
        s = sampler(
            *(WRAP, self.filter, self.filter, self.mip),
            LOD_BIAS=BIAS if self.mip == 2 else 0,
            MAX_ANISO_RATIO=self.aniso,
        )
        return picture(t, s, self.opcode, 1 << self.aniso)


CASES = [
    *(
        Case(f"{OPCODES[opcode]} {name} {NAMES[kind]}", kind, f, 1, 1, opcode)
        for opcode in (SAMPLE, SAMPLE_B, SAMPLE_L, SAMPLE_LZ)
        for f, name in ((POINT, "point"), (LINEAR, "bilinear"))
        for kind in (MIN, USED)
    ),
    Case("bilinear, LINEAR layout", MIN, LINEAR, 1, 1, swizzle=0),
    Case("trilinear MinMip", MIN, LINEAR, 2, 1),
    Case("trilinear MipRegionUsed", USED, LINEAR, 2, 2),
    Case("2x anisotropic MinMip", MIN, ANISO_LINEAR, 2, 2, SAMPLE_D, 1),
    Case("4x anisotropic MinMip", MIN, ANISO_LINEAR, 2, 4, SAMPLE_D, 2),
    Case("4x anisotropic MipRegionUsed", USED, ANISO_LINEAR, 2, 8, SAMPLE_D, 2),
    Case("SAMPLE_D, point", MIN, POINT, 1, 1, SAMPLE_D),
    Case("SAMPLE_D, bilinear", USED, LINEAR, 1, 1, SAMPLE_D),
    Case("plain, bilinear", None, LINEAR, 1, 1),
    Case("plain, trilinear", None, LINEAR, 2, 2),
    Case("plain, 4x anisotropic", None, ANISO_LINEAR, 2, 8, SAMPLE_D, 2),
    *(
        Case(f"16x anisotropic {NAMES[kind]}", kind, ANISO_LINEAR, 2, beats, SAMPLE_D, 4)
        for kind, beats in ((MIN, 16), (USED, 32), (None, 32))
        if LONG
    ),
]


def share_of(cfg: UnitConfig, case: Case, clocks_per_quad: float) -> float:
    """Which share of the rate is reached."""
    bench = unit_bench(cfg)
    trace = case.trace()
    run = bench.run(trace, case.name)
    counters = bench.counters
    assert counters["tap_beats"] == case.beats * len(trace) + 1, "the flush makes a beat too"
    done = run.output_stamps["o"].astype(np.int64)
    share = QUADS * clocks_per_quad / (done[WARM + QUADS] - done[WARM])
    stalls = {name: n for name, n in counters.items() if name.startswith("stall_") and n}
    print(f"{case.name}: {share:.4f} of the rate; {stalls}")
    return share


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_rate(case):
    assert share_of(FULL, case, case.beats) >= LEAST


@pytest.mark.parametrize("units", [1, 2, 4] if LONG else [4])
def test_rate_of_sample_d(units):
    """Lanes per clock are the LOD units; 1 and 2, each a build, wait for MINMIP_LONG."""
    case = Case("SAMPLE_D, bilinear", USED, LINEAR, 1, 1, SAMPLE_D)
    assert share_of(replace(FULL, lod_units=units), case, 4 / units) >= LEAST
