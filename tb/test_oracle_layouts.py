"""Every layout, address and pattern of AMD's address library, all modes and chips (spec 05, 7).

Both sets have all kinds of files; the excerpt is a seeded sample of the full one.
"""

from dataclasses import replace

import numpy as np
import pytest
from oracle import layouts, xor_patterns

from minmip.sim.layout import HARDWARE, MODES, LayoutError, Texture, layout, swizzle_mode
from minmip.sim.layout.hardware import AddressConfig
from minmip.sim.layout.patterns import Pattern, block_pattern, block_shape
from minmip.sim.layout.surface import Surface

# Volumes and 1D textures in 256B_S: refused by the library, laid out here (spec 05, 8.1 and 8.2).
ADOPTED = {("1D", "256B_S"), ("3D", "256B_S")}


@pytest.fixture(params=["excerpt", "full"])
def folder(request):
    found = layouts.folders()
    if request.param not in found:
        pytest.skip(f"the full address library set is not at {layouts.FULL}")
    return found[request.param]


def texture(row):
    """What the row asked the library for; chains longer than natural are among the rows."""
    slices = {"depth" if row["dim"] == "3D" else "array_size": row["n"]}
    return Texture(
        width=row["w"],
        height=row["h"],
        dimension=row["dim"],
        mips=row["mips"],
        element_bytes=row["bpe"],
        mode=row["sw"],
        hardware=HARDWARE[row["chip"].removesuffix("_inf")],
        pipe_bank_xor=row.get("pbx", 0),
        excess_mips=True,
        **slices,
    )


def surface(row) -> Surface:
    return layout(texture(row)).Planes[0].surface


def figures(found: Surface, row):
    """Our layout in the library's terms, next to the library's."""
    width, height, depth = found.block
    ours = {
        "pitch": -(-row["w"] // width) * width,
        "height": -(-row["h"] // height) * height,
        "slices": found.slabs * depth,
        "slice_size": found.slab_bytes // depth,
        "surf_size": found.total_bytes,
        "base_align": 1 << found.block_log2,
        "blk": list(found.block),
        "first_tail": found.first_tail,
        "mip": [],
    }
    for mip in found.mips:
        deep = ours["slices"] if row["dim"] == "3D" else 1
        ours["mip"].append(
            [mip.pitch, mip.rows, deep, mip.offset, mip.slot, *(mip.shift or (0, 0))]
        )
    theirs = {name: row[name] for name in ours}
    # Place 3 is their descriptor's offset, not for addresses; the last is the tail's z, always 0.
    theirs["mip"] = [[*mip[:3], *mip[4:8]] for mip in row["mip"]]
    assert all(mip[8] == 0 for mip in row["mip"])
    return ours, theirs


def test_surfaces(folder):
    rows = layouts.surfaces(folder)
    answered = refused = 0
    for row in rows:
        if "refused" in row:
            if (row["dim"], MODES[row["sw"]].name) not in ADOPTED:
                with pytest.raises(LayoutError):
                    texture(row)
            refused += 1
            continue
        ours, theirs = figures(surface(row), row)
        assert ours == theirs, row
        answered += 1
    assert answered > 450
    assert refused > 10
    print(f"\n{answered} surfaces equal, {refused} refused")


def test_sampled_addresses(folder):
    rows = {row["id"]: row for row in layouts.surfaces(folder)}
    made: dict[int, Surface] = {}
    equal = unanswered = 0
    for (sid, mip), table in layouts.addresses(folder).items():
        if sid not in made:
            made[sid] = surface(rows[sid])
        x, y, z, theirs = table.T
        # The library has no answer where an address bit has more than three XOR terms.
        given = theirs >= 0
        ours = made[sid].offset(mip, x, y, z)
        np.testing.assert_array_equal(ours[given], theirs[given], err_msg=str(rows[sid]))
        if not given.all():
            pattern = made[sid].pattern
            assert max(sum(map(int.bit_count, masks)) for masks in pattern.bits) > 3
        equal += int(given.sum())
        unanswered += int((~given).sum())
    assert equal > 5000
    print(f"\n{equal} addresses equal, {unanswered} without an answer")


def test_whole_maps(folder):
    count = texels = 0
    for row, mips in layouts.whole_maps(folder):
        found = surface(row)
        for mip, theirs in enumerate(mips):
            z, y, x = np.ogrid[tuple(slice(side) for side in theirs.shape)]
            np.testing.assert_array_equal(found.offset(mip, x, y, z), theirs, err_msg=str(row))
            texels += theirs.size
        count += 1
    assert count >= 20
    print(f"\n{count} whole maps, {texels} addresses equal")


def test_pipe_bank_xor(folder):
    rows = layouts.xor_rows(folder)
    moved = 0
    for row in rows:
        row |= {"dim": "2D"}
        at = (row["mip"], row["x"], row["y"], row["z"])
        assert surface(row).offset(*at) == row["addr"], row
        moved += surface({**row, "pbx": 0}).offset(*at) != row["addr"]
    assert len(rows) >= 150
    assert moved > len(rows) // 2
    print(f"\n{len(rows)} addresses with a pipeBankXor equal, it moves {moved}")


def test_patterns_of_all_configurations(folder):
    count = 0
    for row in layouts.patterns(folder):
        if "chip" in row:
            config = HARDWARE[row["chip"].removesuffix("_inf")]
        else:
            config = AddressConfig(
                pipes_log2=row["pipes_log2"],
                packers_log2=row["pkrs_log2"],
                rb_plus=bool(row["rbplus"]),
            )
        mode = MODES[row["sw"]]
        ours = block_pattern(mode, row["dim"], row["bpe"].bit_length() - 1, config)
        assert ours.bits == tuple(map(tuple, row["bits"])), row
        assert ours.block_log2 == row["block_log2"] == mode.block_log2(config.var_log2)
        count += 1
    assert count == 2980 + 500
    print(f"\n{count} patterns equal")


def test_the_packaged_patterns_are_those_of_the_oracle(folder):
    assert xor_patterns.TARGET.read_text() == xor_patterns.reduced(folder)


def test_every_address_bit_of_a_block_is_its_own():
    """Each packaged pattern maps the elements of a block one to one."""
    lines = xor_patterns.TARGET.read_text().splitlines()
    lines = [line for line in lines if not line.startswith("#")]
    assert len(lines) > 1000
    for line in lines[::29]:
        dimension, mode, size = line.split()[:3]
        pattern = Pattern.parse(line.partition(":")[2])
        assert str(pattern).split() == line.partition(" : ")[2].split()
        thick = swizzle_mode(mode).thick(dimension)
        log2 = int(size).bit_length() - 1
        width, height, depth = block_shape(log2, pattern.block_log2, thick=thick)
        z, y, x = np.ogrid[:depth, :height, :width]
        order = pattern.offset(x, y, z).ravel() & (1 << pattern.block_log2) - 1
        assert len(np.unique(order)) == len(order), line


def test_a_wrong_layout_is_found(monkeypatch):
    """Sizes of mips rounded down instead of up, and a changed pattern, are seen."""
    rows = [row for row in layouts.surfaces(layouts.EXCERPT) if "refused" not in row]

    def rounded_down(size, level, dimension):
        width, height, depth = (max(1, side >> level) for side in size)
        return width, height, depth if dimension == "3D" else 1

    with monkeypatch.context() as patch:
        patch.setattr("minmip.sim.layout.surface._mip_size", rounded_down)
        wrong = sum(ours != theirs for ours, theirs in (figures(surface(r), r) for r in rows))
    assert wrong > 20
    row = next(row for row, _ in layouts.whole_maps(layouts.EXCERPT) if row["sw"] == 2)
    found = surface(row)
    y, x = np.ogrid[: row["h"], : row["w"]]
    words = str(found.pattern).split()
    words[-1], words[-2] = words[-2], words[-1]
    wrong = replace(found, pattern=Pattern.parse(" ".join(words)))
    assert (wrong.offset(0, x, y, 0) != found.offset(0, x, y, 0)).any()
