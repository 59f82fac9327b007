"""Map layouts and addresses of the golden model against AMD's address library."""

import numpy as np
import pytest
from oracle import addrlib

from minmip.sim.golden.address import map_layout, texel_address

SETS = ["excerpt", "full"]


@pytest.fixture(params=SETS)
def folder(request):
    found = addrlib.folders()
    if request.param not in found:
        pytest.skip(f"the full address library set is not at {addrlib.FULL}")
    return found[request.param]


def layout_of(surfaces):
    return map_layout(
        surfaces.column("sw"),
        np.zeros(len(surfaces.rows), np.int64),
        surfaces.size,
        surfaces.column("mips"),
        surfaces.volume,
    )


def test_surface_layouts(folder):
    surfaces = addrlib.surfaces(folder)
    layout = layout_of(surfaces)
    stored = np.arange(16) < surfaces.column("mips")[:, None]
    assert len(surfaces.rows) >= 150
    assert {"1D", "2D", "3D"} == set(surfaces.column("dim"))
    pitch, offset = surfaces.mip_column(0), surfaces.mip_column(addrlib.BLOCK_OFFSET)
    np.testing.assert_array_equal(layout.pitch[stored], pitch[stored])
    np.testing.assert_array_equal(layout.offset[stored], offset[stored])
    np.testing.assert_array_equal(layout.chain_bytes, surfaces.column("slice_size"))
    np.testing.assert_array_equal(layout.total_bytes(surfaces.slices), surfaces.column("surf_size"))
    print(f"\n{len(surfaces.rows)} surfaces, {int(stored.sum())} mips: all layouts equal")


def test_sampled_addresses(folder):
    surfaces = addrlib.surfaces(folder)
    table = addrlib.addresses(folder, surfaces)
    ours = texel_address(layout_of(surfaces), *table[:, :5].T)
    assert len(table) > 6000
    np.testing.assert_array_equal(ours, table[:, 5])
    print(f"\n{len(table)} addresses equal")


def test_whole_maps(folder):
    maps = list(addrlib.exhaustive(folder))
    assert len(maps) >= 6
    for surfaces, table in maps:
        ours = texel_address(layout_of(surfaces), *table[:, :5].T)
        np.testing.assert_array_equal(ours, table[:, 5])
    print(f"\n{len(maps)} whole maps, {sum(len(t) for _, t in maps)} addresses equal")


def test_a_wrong_layout_is_found():
    """Floor instead of ceiling in the mip sizes of a layout gives other offsets (spec 05, 5.1)."""
    surfaces = addrlib.surfaces(addrlib.EXCERPT)
    layout = layout_of(surfaces)
    level = np.arange(16)
    size, mips = surfaces.size, surfaces.column("mips")
    rows = np.maximum(size[:, 1, None] >> level, 1)
    linear = surfaces.column("sw") == 0
    bytes_by_floor = np.where(level < mips[:, None], layout.pitch * rows, 0).sum(axis=1)
    assert (bytes_by_floor != surfaces.column("slice_size"))[linear].any()
