import numpy as np

from minmip.sim.tiles import count_tiles, needs_from_levels

TILE = (128, 128)


def slow_count(size, needs):
    """Every texel of every tile, one by one."""
    needed = whole = packed = 0
    for level, regions in enumerate(needs):
        width, height = (max(1, side >> level) for side in size)
        if width < 128 or height < 128:
            packed += width * height * 4
            continue
        rows, columns = regions.shape
        for top in range(0, height, 128):
            for left in range(0, width, 128):
                whole += 1
                needed += any(
                    regions[y * rows // height, x * columns // width]
                    for y in range(top, min(top + 128, height), 1)
                    for x in range(left, min(left + 128, width), 1)
                )
    return needed + -(-packed // 65536), whole + -(-packed // 65536)


def test_one_region_of_a_square_texture():
    levels = np.full((8, 8), 0xFF, np.uint8)
    levels[2, 3] = 1
    count = count_tiles((1024, 1024), TILE, 4, needs_from_levels(levels, 11))
    # Mips 1, 2 and 3 need one tile each; 64x64 and smaller are packed.
    assert count.packed == 1
    assert (count.needed, count.whole) == (3 + 1, 64 + 16 + 4 + 1 + 1)


def test_nothing_sampled_needs_the_packed_mips_alone():
    levels = np.full((8, 8), 0xFF, np.uint8)
    count = count_tiles((1024, 1024), TILE, 4, needs_from_levels(levels, 11))
    assert count.needed == count.packed == 1


def test_against_a_slow_count_of_odd_sizes():
    rng = np.random.default_rng(3)
    for size, grid in (((300, 200), (3, 2)), ((256, 640), (9, 5)), ((500, 130), (1, 16))):
        mips = max(size).bit_length()
        levels = rng.choice([0, 1, 2, 5, 0xFF], grid).astype(np.uint8)
        needs = needs_from_levels(levels, mips)
        count = count_tiles(size, TILE, 4, needs)
        assert (count.needed, count.whole) == slow_count(size, needs)
