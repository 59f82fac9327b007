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
from rate_bench import LEAST, LENGTH, clocks_of, share_of
from traces import ANISO_LINEAR, LINEAR, MIN, POINT, USED, WRAP, image, sampler

from minmip.hw.config import FULL, UnitConfig
from minmip.sim.trace import OPCODES, SAMPLE, SAMPLE_B, SAMPLE_D, SAMPLE_L, SAMPLE_LZ, Trace
from minmip.sim.workloads import tile_pixels

SIZE, WIDTH = 4096, 256
BIAS = 100  # between two mips
NAMES = {MIN: "MinMip", USED: "MipRegionUsed", None: "plain"}


def picture(t, s, opcode, stretch):
    """Quads of a picture, tile by tile; SAMPLE_D has gradients `stretch` times longer in x."""
    uvw, ddx, ddy = np.zeros((3, LENGTH, 4, 3), np.float32)
    uvw[:, :, :2] = (tile_pixels(LENGTH, WIDTH) + 0.5) / SIZE
    ddx[:, :, 0], ddy[:, :, 1] = stretch / SIZE, 1 / SIZE
    return Trace(
        t_sharp=t[None],
        s_sharp=s[None],
        opcode=np.full(LENGTH, opcode, np.uint8),
        uvw=uvw,
        ddx=ddx,
        ddy=ddy,
        lod=np.zeros((LENGTH, 4), np.float32),
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


def reached(cfg: UnitConfig, case: Case, clocks_per_quad: float) -> float:
    """Which share of the rate is reached."""
    trace = case.trace()
    clocks, counters = clocks_of(cfg, trace, case.name)
    assert counters["tap_beats"] == case.beats * len(trace) + 1, "the flush makes a beat too"
    return share_of(clocks, case.name, clocks_per_quad, counters)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_rate(case):
    assert reached(FULL, case, case.beats) >= LEAST


@pytest.mark.parametrize("units", [1, 2, 4] if LONG else [4])
def test_rate_of_sample_d(units):
    """Lanes per clock are the LOD units; 1 and 2, each a build, wait for MINMIP_LONG."""
    case = Case("SAMPLE_D, bilinear", USED, LINEAR, 1, 1, SAMPLE_D)
    assert reached(replace(FULL, lod_units=units), case, 4 / units) >= LEAST
