# amaranth: UnusedElaboratable=no
"""Address generator against AMD's address library itself: no model between (spec 05, 6 and 7).

Layouts, offsets and tails come from the library's rows. The committed excerpt, and the full set
where it lies beside the repo.
"""

from dataclasses import replace

import numpy as np
import pytest
from kit.vlib import VerilatedBlock
from map_vectors import NO_SLOT, Maps, map_layouts, with_pipe_xor
from oracle import addrlib, layouts

from minmip.hw.address_generator import AddressGenerator
from minmip.hw.config import FULL, XOR_MODES
from minmip.sim.golden.address import map_layout

PARTS = {"navi21": "navi21", "anaconda": "anaconda_inf"}
"""Name of a part here, and in the library's rows."""
BLOCK_LOG2 = {0: 8, 1: 8, 2: 8, 5: 12, 6: 12, 21: 12, 22: 12}


class Part:
    """An address generator with every mode, and the pipe XOR of a part."""

    def __init__(self, name):
        self.chip = PARTS[name]
        self.cfg = replace(FULL, **with_pipe_xor(name))
        self.block = VerilatedBlock(AddressGenerator(self.cfg), "address")
        self.kinds = map_layouts(self.cfg)

    def has(self, row) -> bool:
        """Whether a surface can be a map of this part."""
        kind = row["sw"], row["dim"] == "3D"
        chip = self.chip == row["chip"] or row["sw"] not in XOR_MODES
        return row["bpe"] == 1 and "refused" not in row and kind in self.kinds and chip

    def check(self, requests, address):
        wanted = {"address": address, "tag": requests["tag"]}
        self.block.check({"i": requests}, {"o": wanted})


def requests_of(surface, mip, x, y, z):
    """Columns of requests for texels of one mip, from the library's row of the surface."""
    block = BLOCK_LOG2.get(surface["sw"], 16)
    depth = surface["blk"][2]
    pitch, _, _, _, offset, *_ = surface["mip"][mip]
    tail = mip >= surface["first_tail"]
    same = {
        "base": 0,
        # Of an array slice or depth; the unit's are those of a slab.
        "chain": surface["slice_size"] * depth >> block,
        "offset": 0 if tail else offset >> block,
        "columns": 0 if tail else pitch // surface["blk"][0] - 1,
        "slot": mip - surface["first_tail"] if tail else NO_SLOT,
        "mode": surface["sw"],
        "volume": surface["dim"] == "3D",
    }
    columns = {name: np.full(len(x), value) for name, value in same.items()}
    return columns | {"x": x, "y": y, "z": z, "tag": np.arange(len(x)) & 255}


def joined(parts):
    """One set of columns of several."""
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


@pytest.fixture(scope="module", params=PARTS)
def part(request):
    return Part(request.param)


@pytest.fixture(params=["excerpt", "full"])
def folder(request):
    found = layouts.folders()
    if request.param not in found:
        pytest.skip(f"the full address library set is not at {addrlib.FULL}")
    return found[request.param]


def test_sampled_addresses(part, folder):
    sampled, parts, wanted, kinds = layouts.addresses(folder), [], [], set()
    for row in layouts.surfaces(folder):
        for mip in range(row["mips"] if part.has(row) else 0):
            texels = sampled.get((row["id"], mip), np.zeros((0, 4), np.int64))
            if len(texels):
                parts.append(requests_of(row, mip, *texels.T[:3]))
                wanted.append(texels[:, 3])
                kinds.add((row["sw"], row["dim"] == "3D"))
    requests = joined(parts)
    assert len(requests["x"]) > 500
    assert len(kinds) > 8
    part.check(requests, np.concatenate(wanted))
    print(f"\n{len(requests['x'])} addresses of {len(parts)} mips equal, {len(kinds)} layouts")


def test_whole_maps(part, folder):
    parts, wanted = [], []
    for row, mips in layouts.whole_maps(folder):
        for mip, addresses in enumerate(mips if part.has(row) else []):
            z, y, x = (side.ravel() for side in np.indices(addresses.shape))
            parts.append(requests_of(row, mip, x, y, z))
            wanted.append(addresses.ravel())
    requests = joined(parts)
    assert len(requests["x"]) > 5000
    part.check(requests, np.concatenate(wanted))
    print(f"\n{len(requests['x'])} addresses of {len(parts)} whole mips equal")


def test_patterns(part):
    """Every bit inside a block, of coordinates beyond the block too."""
    rng, found = np.random.default_rng(1), 0
    for row in layouts.patterns(layouts.EXCERPT):
        kind = row["sw"], row["dim"] == "3D"
        if row.get("chip") != part.chip or row["bpe"] != 1 or kind not in part.kinds:
            continue
        found += 1
        place = rng.integers(0, 1 << 14, (3, 300))
        parity = [
            sum(np.bitwise_count(at & mask) for at, mask in zip(place, masks, strict=True)) & 1
            for masks in row["bits"]
        ]
        inside = sum(bit.astype(np.int64) << n for n, bit in enumerate(parity))
        zero = np.zeros(300, np.int64)
        requests = dict.fromkeys(("base", "chain", "offset", "columns", "tag"), zero)
        requests |= {"mode": zero + kind[0], "volume": zero + kind[1], "slot": zero + NO_SLOT}
        requests |= dict(zip("xyz", place, strict=True))
        result, _ = part.block.run({"i": requests}, 300)
        address = result["o"]["address"] & (1 << row["block_log2"]) - 1
        np.testing.assert_array_equal(address, inside)
    assert found > 10


def test_pipe_bank_xor(part, folder):
    """Bits of the base inside a block are what the library calls pipeBankXor."""
    pipes = {"navi21": 4, "anaconda_inf": 5}[part.chip]
    parts, wanted = [], []
    for row in layouts.xor_rows(folder):
        if row["chip"] != part.chip or row["bpe"] != 1 or (row["sw"], False) not in part.kinds:
            continue
        block = BLOCK_LOG2.get(row["sw"], 16)
        banks = max(0, min(4, block - 10 - pipes))
        mask = (1 << pipes) - 1 | (1 << banks) - 1 << pipes + 2
        base = (row["pbx"] & mask) << 8 & (1 << block) - 1
        size, mips = np.array([[row["w"], row["h"], 1]]), np.array([row["mips"]])
        columns = (np.array([part_]) for part_ in (row["sw"], base))
        layout = map_layout(*columns, size, mips, np.array([False]), part.cfg.xor_patterns)
        places = (np.array([row[name]]) for name in ("mip", "x", "y", "z"))
        parts.append(Maps(layout, size, mips).requests(np.array([0]), *places, np.array([7])))
        wanted.append(row["addr"])
    part.check(joined(parts), np.array(wanted))
    assert len(wanted) > 3
