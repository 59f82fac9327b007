"""Map layouts and addresses of the golden model against AMD's address library, in all modes."""

from dataclasses import replace

import numpy as np
import pytest
from oracle import addrlib

from minmip.hw.config import PLAIN_MODES, XOR_MODES
from minmip.sim.golden.address import map_layout, texel_address
from minmip.sim.layout import HARDWARE

SETS = ["excerpt", "full"]
START = 5 << 16
"""Where the maps lie: blocks of all sizes begin there."""


@pytest.fixture(params=SETS)
def folder(request):
    found = addrlib.folders()
    if request.param not in found:
        pytest.skip(f"the full address library set is not at {addrlib.FULL}")
    return found[request.param]


def layout_of(surfaces, folder, pipe_bank_xor=0):
    """Surfaces of one chip."""
    (chip,) = set(surfaces.column("chip"))
    return map_layout(
        surfaces.column("sw"),
        np.full(len(surfaces.rows), START + (pipe_bank_xor << 8)),
        surfaces.size,
        surfaces.column("mips"),
        surfaces.volume,
        addrlib.xor_patterns(folder).get(chip, ()),
    )


def assert_addresses(surfaces, folder, table, pipe_bank_xor=0):
    ours = texel_address(layout_of(surfaces, folder, pipe_bank_xor), *table[:, :5].T) - START
    np.testing.assert_array_equal(ours, table[:, 5], str(surfaces.rows[0]))


def test_surface_layouts(folder):
    surfaces = addrlib.surfaces(folder)
    assert set(surfaces.column("sw")) == PLAIN_MODES | XOR_MODES
    assert {"1D", "2D", "3D"} == set(surfaces.column("dim"))
    mips = tails = 0
    for part in surfaces.by_chip().values():
        layout = layout_of(part, folder)
        level, count = np.arange(16), part.column("mips")
        stored = level < count[:, None]
        first_tail = part.column("first_tail")
        np.testing.assert_array_equal(layout.first_tail, first_tail)
        # The library has tail mips' slots for their pitch.
        outside = stored & (level < first_tail[:, None])
        tail = stored & ~outside
        np.testing.assert_array_equal(layout.pitch[outside], part.mip_column(0)[outside])
        offset, shift = part.mip_column(addrlib.BLOCK_OFFSET), layout.shift
        np.testing.assert_array_equal(layout.offset[stored], offset[stored])
        for axis, place in enumerate(addrlib.TAIL_SHIFT):
            np.testing.assert_array_equal(shift[tail, axis], part.mip_column(place)[tail])
        assert not shift[outside].any()
        depth = np.array([block[2] for block in part.column("blk")])
        np.testing.assert_array_equal(layout.chain_bytes, part.column("slice_size") * depth)
        np.testing.assert_array_equal(layout.total_bytes(part.slices), part.column("surf_size"))
        mips, tails = mips + int(stored.sum()), tails + int(tail.sum())
    assert len(surfaces.rows) > 900
    assert tails > 2000
    print(f"\n{len(surfaces.rows)} surfaces, {mips} mips, {tails} in tails: all layouts equal")


def test_sampled_addresses(folder):
    count = 0
    for part in addrlib.surfaces(folder).by_chip().values():
        table = addrlib.addresses(folder, part)
        assert_addresses(part, folder, table)
        count += len(table)
    assert count > 35000
    print(f"\n{count} addresses equal")


def test_whole_maps(folder):
    maps = list(addrlib.exhaustive(folder))
    for surfaces, table in maps:
        assert_addresses(surfaces, folder, table)
    assert len(maps) >= 14
    print(f"\n{len(maps)} whole maps, {sum(len(t) for _, t in maps)} addresses equal")


def test_pipe_bank_xor(folder):
    """The base's bits inside the block, of which the library leaves out those beyond its mask."""
    rows = addrlib.pipe_bank_xors(folder)
    moved = 0
    for surfaces, table in rows:
        (row,) = surfaces.rows
        block_log2 = 12 if row["sw"] in (21, 22) else 16
        hardware = HARDWARE[row["chip"].removesuffix("_inf")]
        kept = hardware.xor_mask(row["pbx"], block_log2) >> 8
        assert_addresses(surfaces, folder, table, kept)
        moved += kept > 0
    assert len(rows) == 90
    assert moved > 60
    print(f"\n{len(rows)} addresses with a pipeBankXor equal, {moved} of them moved")


def test_a_wrong_layout_is_found():
    """Floor instead of ceiling in the mip sizes of a layout gives other offsets (spec 05, 5.1)."""
    surfaces = addrlib.surfaces(addrlib.EXCERPT).by_chip()["navi21"]
    layout = layout_of(surfaces, addrlib.EXCERPT)
    level = np.arange(16)
    size, mips = surfaces.size, surfaces.column("mips")
    rows = np.maximum(size[:, 1, None] >> level, 1)
    linear = surfaces.column("sw") == 0
    bytes_by_floor = np.where(level < mips[:, None], layout.pitch * rows, 0).sum(axis=1)
    assert (bytes_by_floor != surfaces.column("slice_size"))[linear].any()


def test_the_pipe_xor_of_another_chip_is_found():
    parts = addrlib.surfaces(addrlib.EXCERPT).by_chip()
    table = addrlib.addresses(addrlib.EXCERPT, parts["anaconda_inf"])
    layout = layout_of(parts["anaconda_inf"], addrlib.EXCERPT)
    other = replace(layout, blocks=layout_of(parts["navi21"], addrlib.EXCERPT).blocks)
    wrong = texel_address(other, *table[:, :5].T) - START != table[:, 5]
    assert wrong.sum() > len(table) // 10
