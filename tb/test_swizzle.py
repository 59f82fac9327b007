"""Swizzle and unswizzle against the address of each element, all modes, both directions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minmip.sim.layout import (
    HARDWARE,
    MODES,
    LayoutError,
    Texture,
    layout,
    natural_mips,
    swizzle,
    unswizzle,
)

SEED = 20261130
SHAPES = [(300, 77, 3, 5), (64, 64, 20, 1), (37, 130, 5, 8)]


def random_images(resource, rng):
    plane = resource.Planes[0]
    sizes = [plane.mip_size(mip) for mip in range(resource.MipLevels)]
    return [rng.integers(0, 256, (n, h, w, plane.BytesPerElement), np.uint8) for w, h, n in sizes]


def element_by_element(resource, images):
    """What swizzling means: each byte of each element at its address, 0 elsewhere."""
    plane = resource.Planes[0]
    data = np.zeros(plane.SizeBytes, np.uint8)
    for mip, image in enumerate(images):
        z, y, x = np.ogrid[tuple(slice(side) for side in image.shape[:3])]
        at = plane.offset(mip, x, y, z)
        for byte in range(plane.BytesPerElement):
            data[at + byte] = image[..., byte]
    return data


def check(texture, rng):
    resource = layout(texture)
    images = random_images(resource, rng)
    data = swizzle(resource, images)
    np.testing.assert_array_equal(data, element_by_element(resource, images), err_msg=str(texture))
    # What is not an element plays no part on the way back.
    mask = element_by_element(resource, [np.full_like(image, 255) for image in images])
    noise = rng.integers(0, 256, len(data), np.uint8)
    for back in (unswizzle(resource, data), unswizzle(resource, np.where(mask > 0, data, noise))):
        for image, found in zip(images, back, strict=True):
            np.testing.assert_array_equal(found.reshape(image.shape), image, err_msg=str(texture))


@pytest.mark.parametrize("mode", [mode for mode in MODES if mode.dimensions], ids=lambda m: m.name)
def test_every_mode(mode):
    rng = np.random.default_rng([SEED, mode.number])
    count = 0
    for dimension in mode.dimensions:
        for element_bytes in (1, 2, 4, 8, 16):
            if mode.micro == "Z" and element_bytes == 16:
                continue
            for n, (width, height, slices, mips) in enumerate(SHAPES):
                # Lockhart's VAR blocks are the smaller ones; Navi1x has other patterns.
                names = ["lockhart"] if mode.block == "VAR" else ["anaconda", "navi10"][: 2 - n % 2]
                for name in names:
                    height = 1 if dimension == "1D" else height
                    depth = slices if dimension == "3D" else 1
                    texture = Texture(
                        width=width,
                        height=height,
                        depth=depth,
                        array_size=1 if dimension == "3D" else min(slices, 3),
                        mips=min(mips, natural_mips(width, height, depth)),
                        dimension=dimension,
                        element_bytes=element_bytes,
                        mode=mode,
                        hardware=HARDWARE[name],
                        pipe_bank_xor=0x2B if mode.xor else 0,
                    )
                    check(texture, rng)
                    count += 1
    assert count >= 12


@settings(max_examples=60, deadline=None)
@given(
    width=st.integers(1, 700),
    height=st.integers(1, 300),
    slices=st.integers(1, 3),
    mips=st.integers(1, 10),
    log2=st.integers(0, 4),
    mode=st.sampled_from(["256B_D", "4KB_D_X", "64KB_S", "64KB_Z_X", "64KB_R_X", "64KB_S_T"]),
    name=st.sampled_from(["anaconda", "lockhart", "navi21", "navi10"]),
    xor=st.integers(0, 255),
    seed=st.integers(0, 1 << 32),
)
def test_random_images(width, height, slices, mips, log2, mode, name, xor, seed):
    texture = {
        "width": width,
        "height": height,
        "array_size": slices,
        "mips": min(mips, natural_mips(width, height)),
        "element_bytes": 1 << (min(log2, 3) if "Z" in mode else log2),
        "mode": mode,
        "hardware": HARDWARE[name],
        "pipe_bank_xor": xor if mode[-1] in "XT" else 0,
    }
    check(Texture(**texture), np.random.default_rng(seed))


def test_a_feedback_map_reads_as_rows_of_sixteen():
    """Seed 001's 8 x 16 map, in memory and back."""
    resource = layout(Texture(width=8, height=16, format="R8_UINT", mode="256B_S"))
    image = np.arange(128, dtype=np.uint8).reshape(16, 8)
    memory = swizzle(resource, [image])
    np.testing.assert_array_equal(memory.reshape(16, 16)[:, :8], image)
    assert not memory.reshape(16, 16)[:, 8:].any()
    np.testing.assert_array_equal(unswizzle(resource, memory)[0], image[None])


def test_kinds_of_images():
    resource = layout(Texture(width=20, height=10, element_bytes=8, mode="64KB_S"))
    texels = np.random.default_rng(SEED).integers(0, 1 << 63, (10, 20), np.uint64)
    wanted = swizzle(resource, [texels])
    halves = texels.view(np.float16).reshape(10, 20, 4)
    bytes_ = texels.view(np.uint8).reshape(1, 10, 20, 8)
    strided = np.repeat(np.repeat(texels, 2, 0), 3, 1)[::2, ::3]
    for same in (halves, bytes_, strided, texels.view(np.complex64), texels.view("V8")):
        np.testing.assert_array_equal(swizzle(resource, [same]), wanted)
    back = unswizzle(resource, wanted.tobytes(), dtype=np.uint64)[0]
    np.testing.assert_array_equal(back, texels[None])
    shorts = unswizzle(resource, wanted, dtype=np.uint16)[0]
    assert shorts.shape == (1, 10, 20, 4)
    np.testing.assert_array_equal(shorts, texels.view(np.uint16).reshape(1, 10, 20, 4))


def test_planes_are_swizzled_one_by_one():
    resource = layout(Texture(width=16, height=8, format="NV12", mode="64KB_R_X"))
    rng = np.random.default_rng(SEED)
    luma, chroma = (
        rng.integers(0, 256, (8, 16), np.uint8),
        rng.integers(0, 256, (4, 8, 2), np.uint8),
    )
    for plane, image in enumerate((luma, chroma)):
        data = swizzle(resource, [image], plane=plane)
        assert len(data) == resource.Planes[plane].SizeBytes
        back = unswizzle(resource, data, plane=plane)[0]
        np.testing.assert_array_equal(back.reshape(image.shape), image)


@pytest.mark.parametrize(
    ("images", "words"),
    [
        ([], "wanted 2 images, one for each mip, not 0"),
        ([np.zeros((5, 6), np.uint16)], "wanted 2 images"),
        (
            [np.zeros((5, 6), np.uint16), np.zeros((2, 4), np.uint16)],
            "mip 1 has 1 x 2 x 3 elements",
        ),
        (
            [np.zeros((5, 6), np.uint8), np.zeros((2, 3), np.uint8)],
            "elements of 2 bytes, not uint8",
        ),
        ([np.zeros((6, 5), np.uint16), np.zeros((2, 3), np.uint16)], "mip 0 has 1 x 5 x 6"),
        ([np.zeros((5, 6), object), np.zeros((2, 3), np.uint16)], "not object"),
        ([np.zeros(30, np.uint16), np.zeros((2, 3), np.uint16)], "mip 0 has"),
    ],
)
def test_images_that_are_refused(images, words):
    resource = layout(Texture(width=6, height=5, mips=2, element_bytes=2, mode="4KB_S"))
    with pytest.raises(LayoutError, match=words):
        swizzle(resource, images)


def test_bytes_that_are_refused():
    resource = layout(Texture(width=6, height=5, element_bytes=2, mode="4KB_S"))
    for data in (
        b"",
        bytes(4095),
        bytes(4097),
        np.zeros((2, 2048), np.uint8),
        np.zeros(2048, "u2"),
    ):
        with pytest.raises(LayoutError, match="wanted 4096 bytes"):
            unswizzle(resource, data)
    for dtype in (np.uint32, "V3", object):
        with pytest.raises(LayoutError, match="elements of 2 bytes do not divide"):
            unswizzle(resource, bytes(4096), dtype=dtype)
    with pytest.raises(LayoutError, match="plane 2 is outside"):
        unswizzle(resource, bytes(4096), plane=2)
