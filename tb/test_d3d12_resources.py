"""Resource descriptions, physical sizes and memory (spec 06 "Resources", spec 05)."""

import numpy as np
import pytest
from d3d12_objects import (
    LAYOUT_256B_S,
    LAYOUT_LINEAR,
    MIN_MIP,
    USED,
    desc,
    map_desc,
    one_lane,
    plain_desc,
    sampler,
)

from minmip.sim import d3d12
from minmip.sim.d3d12 import D3D12Error, Device


def create(description, xbox=True):
    return Device(xbox=xbox).create_committed_resource2(description)


def test_seed_example():
    minmip = create(map_desc(MIN_MIP, (4096, 4096), (512, 256), 12))
    assert (minmip.mips, minmip.size_in_bytes, minmip.sw_mode) == (1, 256, 1)
    assert minmip.texels(0).shape == (1, 16, 8)
    used = create(map_desc(USED, (4096, 4096), (512, 256), 12))
    assert (used.mips, used.size_in_bytes, used.sw_mode) == (12, 3072, 1)
    sizes = [used.texels(mip).shape[:0:-1] for mip in range(12)]
    assert sizes == [(8, 16), (4, 8), (2, 4), (1, 2), *[(1, 1)] * 8]
    assert create(map_desc(USED, (4096, 4096), (512, 256), 12, 5)).size_in_bytes == 5 * 3072


@pytest.mark.parametrize(
    ("description", "size"),
    [
        # spec 05, 5.1: 48x24 with 6 mips, and 5.2
        (plain_desc((48, 24), 6, Layout=LAYOUT_LINEAR), 12288),
        (plain_desc((48, 24), 6, Layout=LAYOUT_256B_S), 3072),
        (plain_desc((48, 24), 6), 3072),
        (plain_desc((8, 16), 1, Layout=LAYOUT_LINEAR), 4096),
        # spec 05, 5.3 and 8.1: volumes
        (plain_desc((48, 24, 12), 6, Layout=LAYOUT_LINEAR), 147456),
        (plain_desc((16, 16, 16), 5), 6656),
        # spec 05, 8.2: 1D is 2D of height 1
        (plain_desc((40,), 1, 3), 3 * 768),
        # 16384x16384 BC7, region 256x256: 4 x 4 blocks
        (map_desc(MIN_MIP, (16384, 16384), (256, 256), 15), 4096),
        # formats of which only the descriptor exists
        (desc((4096, 4096), 12, Format=d3d12.DXGI_FORMAT_BC1_UNORM), 0),
        (desc((64, 64), Format=d3d12.DXGI_FORMAT_R8_UINT, SampleDesc=(4, 0)), 0),
    ],
)
def test_size_in_memory(description, size):
    made = create(description)
    assert made.size_in_bytes == size
    assert (made.address == 0) == (size == 0)


def test_mip_count_zero_is_the_whole_chain():
    assert create(desc((100, 30), 0)).desc.MipLevels == 7
    assert create(desc((4, 4, 64), 0)).desc.MipLevels == 7
    assert create(map_desc(USED, (64, 64), (4, 4), 0)).mips == 7


PC = [
    ((32, 32), (16, 16), True),
    ((32, 32), (8, 8), True),
    ((32, 32), (4, 4), True),
    ((32, 32), (16, 4), True),
    ((32, 32), (4, 8), True),
    ((32, 32), (32, 32), False),
    ((32, 32), (2, 2), False),
    ((100, 100), (32, 32), True),
    ((100, 100), (16, 16), True),
    ((100, 100), (8, 8), True),
    ((100, 100), (4, 4), True),
    ((100, 100), (64, 64), False),
    ((9, 11), (8, 8), False),
    ((9, 11), (4, 4), True),
    ((32, 32), (5, 5), False),
    ((32, 32), (4, 4, 2), False),
    ((32, 32), (4, 4, 0), True),
    ((32, 32), (0, 0, 0), False),
]


@pytest.mark.parametrize(("size", "region", "accepted"), PC)
@pytest.mark.parametrize("kind", [MIN_MIP, USED])
def test_regions_by_the_pc_rules(size, region, accepted, kind):
    description = map_desc(kind, size, region)
    if accepted:
        create(description, xbox=False)
    else:
        with pytest.raises(D3D12Error, match="SamplerFeedbackMipRegion"):
            create(description, xbox=False)


XBOX = [
    ((32, 32), (1, 1), (32, 32)),
    ((32, 32), (32, 32), (1, 1)),
    ((100, 60), (128, 64), (1, 1)),
    ((100, 60), (64, 2), (1, 30)),
    ((16384, 1), (16384, 1), (1, 1)),
    ((64,), (16,), (4,)),
    ((64,), (16, 0, 0), (4,)),
    ((64, 32, 20), (16, 32, 8), (4, 1, 2)),
    ((32, 32), (64, 32), None),
    ((100, 60), (256, 64), None),
    ((32, 32), (3, 4), None),
    ((32, 32), (4, 4, 2), None),
    ((64,), (16, 2), None),
    ((64, 32, 20), (16, 32, 64), None),
    ((64, 32, 20), (16, 32, 0), None),
]


@pytest.mark.parametrize(("size", "region", "stored"), XBOX)
def test_regions_by_the_xbox_rules(size, region, stored):
    description = map_desc(MIN_MIP, size, region)
    if stored is None:
        with pytest.raises(D3D12Error, match="SamplerFeedbackMipRegion"):
            create(description)
    else:
        assert create(description).texels(0).shape[:0:-1] == stored


@pytest.mark.parametrize(
    ("description", "text"),
    [
        (desc((0, 4)), "Width must be in 1..16384, not 0"),
        (desc((16385, 4)), "Width"),
        (desc((4, 16385)), "Height"),
        (desc((4, 4), 1, 8193), "DepthOrArraySize"),
        (desc((4, 4), 1, 0), "DepthOrArraySize"),
        (desc((4,), Height=2), "Height of a TEXTURE1D must be 1"),
        (desc((4, 4), 4), "MipLevels of this size must be at most 3, not 4"),
        (desc((4, 4), Format=0), "DXGI_FORMAT_UNKNOWN"),
        (desc((4, 4), Alignment=3), "Alignment"),
        (desc((4, 4), SampleDesc=(3, 0)), "SampleDesc"),
        (desc((4, 4), SampleDesc=(4, 1)), "SampleDesc"),
        (desc((4, 4), 2, SampleDesc=(4, 0)), "multisampled"),
        (desc((4, 4), SamplerFeedbackMipRegion=(4, 4, 1)), "outside feedback formats"),
        (map_desc(MIN_MIP, (64, 64), (4, 4), Flags=0), "ALLOW_UNORDERED_ACCESS"),
        (map_desc(MIN_MIP, (64, 64), (4, 4), SampleDesc=(2, 0)), "SampleDesc of a feedback map"),
        (map_desc(MIN_MIP, (64, 64), (4, 4), Layout=LAYOUT_256B_S), "Layout of a feedback map"),
        (map_desc(MIN_MIP, (64, 64), (4, 4), 8), "MipLevels"),
    ],
)
def test_refused_descriptions(description, text):
    device = Device()
    with pytest.raises(D3D12Error, match=text):
        device.create_committed_resource2(description)
    assert device.memory.size == 0


@pytest.mark.parametrize(
    "description",
    [
        map_desc(MIN_MIP, (64,), (4,)),
        map_desc(MIN_MIP, (64, 64, 64), (4, 4, 4)),
        plain_desc((64, 64), Layout=LAYOUT_256B_S),
    ],
)
def test_xbox_extensions_are_refused_without_them(description):
    create(description)
    with pytest.raises(D3D12Error, match="Xbox extension"):
        create(description, xbox=False)


def test_maps_follow_each_other_in_memory():
    device = Device(memory_base=0x4000)
    first = device.create_committed_resource2(plain_desc((16, 16)))
    second = device.create_committed_resource2(plain_desc((17, 16), Alignment=4096))
    third = device.create_committed_resource2(map_desc(USED, (64, 64), (4, 4), 7))
    assert [first.address, second.address, third.address] == [0x4000, 0x5000, 0x5200]
    assert device.memory.size == 0x1200 + third.size_in_bytes
    assert not device.memory.any()


def test_memory_that_does_not_suffice():
    device = Device(memory_size=1000)
    device.create_committed_resource2(plain_desc((16, 32)))
    with pytest.raises(D3D12Error, match="out of GPU memory: 512 bytes wanted, 488 of 1000 left"):
        device.create_committed_resource2(plain_desc((16, 32)))
    assert device.memory.size == 512
    with pytest.raises(D3D12Error, match="multiple of 256"):
        Device(memory_base=128)
    with pytest.raises(D3D12Error, match="48 address bits"):
        Device(memory_base=(1 << 48) - 256, memory_size=512)


def test_bytes_of_a_map_are_the_memory_itself():
    device = Device()
    device.create_committed_resource2(plain_desc((16, 16)))
    made = device.create_committed_resource2(plain_desc((20, 3), 2, 2))
    bytes_of_map = made.map()
    for subresource in range(4):
        shape = (1, 10) if subresource % 2 else (3, 20)
        texels = np.arange(30 * subresource, 30 * subresource + shape[0] * shape[1])
        made.write_to_subresource(texels.astype(np.uint8).reshape(shape), subresource)
    # Mip 1 at 0, mip 0 at 256 (2 blocks of 16x16), slice 1 after 768 bytes (spec 05, 4.1).
    assert made.size_in_bytes == len(bytes_of_map) == 2 * 768
    assert bytes_of_map[9] == 30 + 9
    assert bytes_of_map[256 + 2 * 16 + 15] == 2 * 20 + 15
    assert bytes_of_map[256 + 256 + 2 * 16 + 3] == 2 * 20 + 19
    assert bytes_of_map[768 + 256] == 60
    bytes_of_map[768] = 77
    assert made.read_from_subresource(3)[0, 0] == 77
    assert made.read_from_subresource(2).tolist() == np.arange(60, 120).reshape(3, 20).tolist()


def test_cpu_writes_come_after_recorded_draws():
    device = Device()
    texture = device.create_committed_resource2(desc((64, 64)))
    made = device.create_committed_resource2(plain_desc((4, 4)))
    view = device.create_sampler_feedback_unordered_access_view_x(
        texture, made, d3d12.D3D12_UNORDERED_ACCESS_VIEW_DESC(Format=USED)
    )
    device.write_sampler_feedback_level_zero(view, sampler(device), one_lane(0.1, 0.1))
    made.write_to_subresource(np.full((4, 4), 8, np.uint8))
    assert (made.read_from_subresource() == 8).all()


def test_volume_texels():
    device = Device()
    for layout in (LAYOUT_LINEAR, LAYOUT_256B_S):
        made = device.create_committed_resource2(plain_desc((9, 5, 10), 2, Layout=layout))
        texels = np.arange(450, dtype=np.uint16).astype(np.uint8).reshape(10, 5, 9)
        made.write_to_subresource(texels)
        made.write_to_subresource(np.full((5, 2, 4), 9, np.uint8), 1)
        np.testing.assert_array_equal(made.read_from_subresource(), texels)
        assert (made.read_from_subresource(1) == 9).all()
    # 256B_S: two slabs of (2 x 2 + 1) blocks; texel (8, 4, 9) is (0, 0, 1) of the last block.
    slab = 256 + 4 * 256
    assert made.size_in_bytes == 2 * slab
    assert made.map()[slab + 256 + 3 * 256 + 4] == texels[9, 4, 8]


@pytest.mark.parametrize(
    ("description", "use", "text"),
    [
        (
            plain_desc((4, 4)),
            lambda r: r.read_from_subresource(1),
            "subresource must be a whole number in 0..0, not 1",
        ),
        (plain_desc((4, 4)), lambda r: r.read_from_subresource(-1), "subresource"),
        (
            plain_desc((4, 4)),
            lambda r: r.write_to_subresource(np.zeros((4, 5), np.uint8)),
            r"wants uint8 \[4, 4\], not uint8 \[4, 5\]",
        ),
        (plain_desc((4, 4)), lambda r: r.write_to_subresource(np.zeros((4, 4))), "float64"),
        (map_desc(USED, (8, 8), (4, 4)), lambda r: r.read_from_subresource(), "opaque"),
        (desc((4, 4)), lambda r: r.read_from_subresource(), "no memory"),
        (desc((4, 4)), lambda r: r.map(), "no memory"),
    ],
)
def test_refused_access_of_the_cpu(description, use, text):
    with pytest.raises(D3D12Error, match=text):
        use(create(description))


@pytest.mark.parametrize("use", ["RENDER_TARGET", "DEPTH_STENCIL", "UNORDERED_ACCESS"])
def test_shared_exponent_is_read_only(use):
    """Spec 07: the pipeline samples R9G9B9E5 and never writes it; R11G11B10 it may write."""
    flag = getattr(d3d12, f"D3D12_RESOURCE_FLAG_ALLOW_{use}")
    size, shared = (64, 64), d3d12.DXGI_FORMAT_R9G9B9E5_SHAREDEXP
    with pytest.raises(D3D12Error, match=f"R9G9B9E5_SHAREDEXP is read-only .* {flag.name}"):
        create(desc(size, Format=shared, Flags=flag))
    assert create(desc(size, Format=shared)).desc.Format == shared
    if use != "DEPTH_STENCIL":
        create(desc(size, Format=d3d12.DXGI_FORMAT_R11G11B10_FLOAT, Flags=flag))
