"""Laws of the golden model's map layouts in every swizzle mode (spec 05, 4)."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from minmip.hw.config import PLAIN_MODES, VOLUME_MODES, XOR_MODES
from minmip.sim.golden.address import map_layout, texel_address
from minmip.sim.layout import ANACONDA, LOCKHART, NAVI21, xor_patterns

PARTS = [xor_patterns(part) for part in (ANACONDA, LOCKHART, NAVI21)]
KINDS = [(mode, False) for mode in sorted(PLAIN_MODES | XOR_MODES)]
KINDS += [(mode, True) for mode in sorted(VOLUME_MODES)]


def texels(size, slices, mips, volume):
    """Mip, x, y and z of every texel of a map."""
    found = []
    for mip in range(mips):
        width, height, depth = (max(1, side >> mip) for side in size)
        z, y, x = np.indices((depth if volume else slices, height, width)).reshape(3, -1)
        found.append(np.stack([np.full_like(x, mip), x, y, z]))
    return np.concatenate(found, axis=1)


@settings(max_examples=150, deadline=None)
@given(
    kind=st.sampled_from(KINDS),
    size=st.tuples(st.integers(1, 150), st.integers(1, 90), st.integers(1, 20)),
    slices=st.integers(1, 3),
    mips=st.integers(1, 16),
    base=st.integers(0, 1 << 20),
    part=st.sampled_from(PARTS),
)
def test_every_texel_has_its_own_byte_inside_the_map(kind, size, slices, mips, base, part):
    (mode, volume), address = kind, base << 8
    side = np.array([[*size[:2], size[2] if volume else 1]])
    layout = map_layout(
        *(np.array([mode]), np.array([address]), side, np.array([mips]), np.array([volume])), part
    )
    mip, x, y, z = texels(side[0], slices, mips, volume)
    found = texel_address(layout, np.zeros_like(x), mip, x, y, z)
    start, block = int(layout.base[0]), int(layout.block_bytes[0])
    assert start == (address if mode not in XOR_MODES else address // block * block)
    end = start + int(layout.total_bytes(np.array([side[0, 2] if volume else slices]))[0])
    assert found.min() >= start
    assert found.max() < end
    assert len(np.unique(found)) == len(found)
    # Whole blocks, and one for the tail.
    assert (end - start) % block == 0
    tail = mip >= layout.first_tail[0]
    chain = (found - start) % layout.chain_bytes[0]
    assert (chain[tail] < block).all()
    assert (chain[~tail] >= block * tail.any()).all()


@settings(max_examples=60, deadline=None)
@given(
    mode=st.sampled_from(sorted(XOR_MODES)),
    size=st.tuples(st.integers(1, 300), st.integers(1, 90)),
    mips=st.integers(1, 9),
    flip=st.integers(0, 255),
    part=st.sampled_from(PARTS),
)
def test_pipe_bank_xor_flips_bits_inside_blocks(mode, size, mips, flip, part):
    """And nothing else: the same block for each texel, the same 256 bytes."""
    sides = np.array([[*size, 1]])
    flip &= 15 if mode in (21, 22) else 255
    plain, flipped = (
        map_layout(
            *(np.array([mode]), np.array([1 << 20 | bits << 8]), sides, np.array([mips])),
            np.array([False]),
            part,
        )
        for bits in (0, flip)
    )
    mip, x, y, z = texels(sides[0], 1, mips, False)
    row = np.zeros_like(x)
    one, other = (texel_address(layout, row, mip, x, y, z) for layout in (plain, flipped))
    np.testing.assert_array_equal(one ^ other, flip << 8)
