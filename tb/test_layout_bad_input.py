"""What the layout query refuses, rule by rule, and random descriptions of textures."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minmip.sim.layout import (
    HARDWARE,
    MODES,
    NAVI10,
    AddressConfig,
    DdsImage,
    LayoutError,
    Pattern,
    Texture,
    layout,
    natural_mips,
    swizzle,
    swizzle_mode,
    unswizzle,
    xor_patterns,
)


@pytest.mark.parametrize("mode", [mode for mode in MODES if not mode.dimensions])
def test_reserved_modes_refuse_with_their_name(mode):
    with pytest.raises(LayoutError, match=rf"{mode.name} \({mode.number}\)"):
        Texture(width=4, element_bytes=1, mode=mode)


MAP = {"width": 8, "height": 16, "element_bytes": 1}


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"width": 0}, "width is at least 1, not 0"),
        ({"height": -3}, "height is at least 1, not -3"),
        ({"width": 2.5}, "width is a whole number"),
        ({"width": True}, "width is a whole number"),
        ({"mips": 0}, "mips is at least 1"),
        ({"mips": 6}, "a whole chain of 5, not 6 mips"),
        ({"mips": 17, "excess_mips": True}, "at most 16 levels, not 17"),
        ({"array_size": 0}, "array_size is at least 1"),
        ({"element_bytes": 3}, "1, 2, 4, 8 or 16 bytes, not 3"),
        ({"element_bytes": 0}, "1, 2, 4, 8 or 16 bytes, not 0"),
        ({"element_bytes": 32}, "1, 2, 4, 8 or 16 bytes, not 32"),
        ({"element_bytes": None}, "needs a format or element_bytes"),
        ({"format": "R8_UNORM"}, "a format or element_bytes, not both"),
        ({"element_bytes": None, "format": "R8_UMBRA"}, "'R8_UMBRA' is not one"),
        ({"element_bytes": None, "format": 999}, "999 is not one"),
        ({"element_bytes": None, "format": "R32G32B32_FLOAT"}, "elements of 12 bytes"),
        ({"element_bytes": None, "format": "NV12", "width": 9}, "even width and height, not 9x16"),
        ({"element_bytes": None, "format": "NV12", "mips": 2}, "one mip level, not 2"),
        ({"element_bytes": None, "format": "R8_UNORM", "usage": "DEPTH"}, "one too many"),
        ({"usage": "HTILE"}, "HTILE planes hold compression metadata"),
        ({"usage": "FMASK"}, "FMASK planes"),
        ({"usage": "CMASK"}, "CMASK planes"),
        ({"usage": "DELTA_COLOR_COMPRESSION"}, "DELTA_COLOR_COMPRESSION planes"),
        ({"usage": "COLOUR"}, "no plane usage 'COLOUR'"),
        ({"dimension": "4D"}, "one of 1D, 2D, 3D, not '4D'"),
        ({"dimension": "1D"}, "1D texture has height 1, not 16"),
        ({"depth": 2}, "2D texture has depth 1, not 2"),
        ({"dimension": "3D", "array_size": 2}, "no arrays of volumes"),
        ({"mode": "64KB"}, "no swizzle mode '64KB'"),
        ({"mode": None}, "a name or a number, not None"),
        ({"element_bytes": None, "format": 2.5}, "2.5 is not one"),
        ({"hardware": "anaconda"}, "hardware is an AddressConfig"),
        ({"mode": 32}, "0 to 31"),
        ({"mode": -1}, "0 to 31"),
        ({"mode": 0x120}, "0 to 31"),
        ({"mode": "64KB_D", "dimension": "3D"}, "64KB_D is for 2D textures, not 3D"),
        ({"mode": "64KB_S", "dimension": "1D", "height": 1}, "64KB_S is for 2D, 3D textures"),
        ({"mode": "64KB_Z_X", "element_bytes": 16}, "up to 8 bytes, not 16"),
        ({"mode": "VAR_R_X", "hardware": NAVI10}, "VAR_R_X needs an RB. part"),
        ({"pipe_bank_xor": 1}, "for X and T modes, not for 64KB_S"),
        ({"pipe_bank_xor": 1 << 16, "mode": "64KB_S_X"}, "16 bits"),
    ],
)
def test_descriptions_that_are_refused(wrong, words):
    with pytest.raises(LayoutError, match=words):
        Texture(**{**MAP, **wrong})


def test_more_than_the_address_space_is_refused():
    with pytest.raises(LayoutError, match="more than 2\\^48"):
        layout(Texture(width=1 << 24, height=1 << 24, element_bytes=2, mode="LINEAR"))
    whole = layout(Texture(width=1 << 24, height=1 << 24, element_bytes=1, mode="LINEAR"))
    assert whole.SizeBytes == 1 << 48
    assert whole.offset(0, (1 << 24) - 1, (1 << 24) - 1) == (1 << 48) - 1


@pytest.mark.parametrize(
    ("at", "words"),
    [
        ((5, 0, 0), "mip 5 is outside mips 0 to 4"),
        ((-1, 0, 0), "mip -1 is outside"),
        ((0, 8, 0), "x = 8 is outside 0 to 7 of mip 0"),
        ((0, 0, -1), "y = -1 is outside 0 to 15"),
        ((0.5, 0, 0), "mip is a whole number, not 0.5"),
        ((4, 1, 0), "x = 1 is outside 0 to 0 of mip 4"),
        ((0, 0, 0, 3), "z = 3 is outside 0 to 2"),
        ((0, np.array([0, 9]), 0), "x = 9 is outside"),
        ((0, 0.5, 0), "x is a whole number"),
    ],
)
def test_places_that_are_refused(at, words):
    resource = layout(Texture(**MAP, mips=5, array_size=3))
    with pytest.raises(LayoutError, match=words):
        resource.offset(*at)
    with pytest.raises(LayoutError, match="plane 1 is outside planes 0 to 0"):
        resource.offset(0, 0, 0, plane=1)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"pipes_log2": 7, "packers_log2": 6}, "1 to 64 pipes"),
        ({"pipes_log2": 6, "packers_log2": 6}, "at most 32 packers"),
        ({"pipes_log2": 5, "packers_log2": 2}, "packers <= pipes <= 4"),
        ({"pipes_log2": 2, "packers_log2": 3}, "packers <= pipes <= 4"),
        ({"pipes_log2": 1, "packers_log2": -1}, "packers"),
        ({"pipes_log2": 4, "packers_log2": 4, "rb_plus": False}, "no packers"),
    ],
)
def test_hardware_that_does_not_exist(fields, words):
    with pytest.raises(LayoutError, match=words):
        AddressConfig(**fields)
    with pytest.raises(LayoutError, match="interleave"):
        AddressConfig.from_register(0x344 | 1 << 3)


TEXTURES = st.fixed_dictionaries(
    {
        "width": st.integers(-1, 90),
        "height": st.integers(0, 70),
        "depth": st.sampled_from([1, 1, 2, 19]),
        "array_size": st.sampled_from([1, 1, 3]),
        "mips": st.integers(0, 8),
        "dimension": st.sampled_from(["1D", "2D", "3D"]),
        "element_bytes": st.sampled_from([1, 2, 4, 8, 16, 12]),
        "mode": st.sampled_from([m for m in range(33) if m not in (28, 31)]),
        "hardware": st.sampled_from(list(HARDWARE.values())),
        "pipe_bank_xor": st.sampled_from([0, 0, 5, 0xFFFF]),
    }
)


def assert_one_sentence(text):
    assert "\n" not in text
    assert 10 < len(text) < 200


@settings(max_examples=300, deadline=None)
@given(TEXTURES)
def test_random_descriptions(fields):
    """A texture is refused in one sentence, or every element has bytes of its own in it."""
    try:
        texture = Texture(**fields)
    except LayoutError as error:
        assert_one_sentence(str(error))
        return
    resource = layout(texture)
    plane = resource.Planes[0]
    places = []
    for mip in range(texture.mips):
        width, height, slices = plane.mip_size(mip)
        z, y, x = np.ogrid[:slices, :height, :width]
        places.append(np.broadcast_to(plane.offset(mip, x, y, z), (slices, height, width)))
    at = np.concatenate([place.ravel() for place in places])
    assert at.min() >= 0
    assert at.max() + texture.element_bytes <= resource.SizeBytes
    assert not (at % texture.element_bytes).any()
    assert len(np.unique(at)) == len(at)
    assert resource.SizeBytes % resource.BaseAlignmentBytes == 0
    assert [m.OffsetBytes for m in plane.MipLayout] == [int(p[0, 0, 0]) for p in places]
    natural = natural_mips(texture.width, texture.height, texture.depth)
    assert texture.mips <= natural


# ---- a hostile user: an answer or one LayoutError in one line, and no traceback ----

BAD: list[Any] = [None, float("nan"), float("inf"), -1, 0, 2**31, 2**63, 2**70, 10**400, 10**5000]
BAD += [
    0.5,
    "x",
    "62",
    "",
    b"x",
    [],
    {},
    (),
    object(),
    True,
    1j,
    [[1], [1, 2]],
    [None],
    int,
    range(4),
]
BAD += [np.int64(3), np.uint8(255), np.array(1), np.array([1.5]), np.zeros((0,)), np.zeros((2, 3))]
BAD += [
    np.array(["a"]),
    np.array([2**63], np.uint64),
    np.ma.masked,
    np.datetime64("2020"),
    Ellipsis,
]
BAD += ["BC1", "NV12", 28, 0x109, 0x120, "4KB_R_X", memoryview(b"abc"), lambda: 0]


def refused(call):
    try:
        call()
        return False
    except LayoutError as error:
        said = str(error)
    assert "\n" not in said
    assert 10 < len(said) < 350
    return True


def attacked():
    """Public calls with sound arguments."""
    texture = Texture(width=48, height=24, mips=2, element_bytes=4, mode="4KB_S")
    resource = layout(texture)
    images = [np.zeros((24, 48, 4), np.uint8), np.zeros((12, 24, 4), np.uint8)]
    data = swizzle(resource, images)
    one = {"texture": Texture(width=1, element_bytes=4, mode="LINEAR")}
    one |= {"images": [np.zeros((1, 1, 1, 4), np.uint8)], "cube": False}
    place = {"mip": 0, "x": 1, "y": 1, "z": 0, "plane": 0}
    return [
        (Texture, {"width": 48, "element_bytes": 4, "usage": "DEFAULT", "hardware": NAVI10}),
        (Texture, {"width": 48, "height": 24, "depth": 1, "array_size": 1, "mips": 1} | SOUND),
        (layout, {"texture": texture}),
        (resource.offset, place),
        (resource.plane, {"plane": 0}),
        (resource.Planes[0].mip_size, {"mip": 0}),
        (swizzle, {"layout": resource, "images": images, "plane": 0}),
        (unswizzle, {"layout": resource, "data": data, "plane": 0, "dtype": np.uint8}),
        (swizzle_mode, {"mode": 9}),
        (AddressConfig, {"pipes_log2": 4, "packers_log2": 4, "rb_plus": True}),
        (AddressConfig.from_register, {"gb_addr_config": 0x243}),
        (DdsImage, one),
        (Pattern.parse, {"text": "- x0 y0^x1"}),
        (xor_patterns, {"config": NAVI10}),
    ]


SOUND = {
    "dimension": "2D",
    "format": "R8_UINT",
    "mode": 9,
    "pipe_bank_xor": 0,
    "excess_mips": False,
}


@pytest.mark.parametrize("number", range(14))
def test_every_argument_of_every_call(number):
    call, sound = attacked()[number]
    assert not refused(lambda: call(**sound))
    for name in sound:
        refusals = 0
        for bad in BAD:
            refusals += refused(lambda name=name, bad=bad: call(**{**sound, name: bad}))
        assert refusals > len(BAD) // 3, name


def test_whole_numbers_of_numpy_are_taken():
    numbers: dict[str, Any] = {name: np.uint8(8) for name in ("width", "height")} | {
        "element_bytes": np.int64(4)
    }
    assert layout(Texture(**numbers | {"array_size": np.int16(3)})).SizeBytes == 3 * 65536
    assert Texture(**numbers) == Texture(width=8, height=8, element_bytes=4)


@pytest.mark.parametrize("text", ["foo", "x", "x0^", "x0 w1", "x100", "--"])
def test_patterns_that_are_none(text):
    with pytest.raises(LayoutError, match="an address bit is -, x0 or x7"):
        Pattern.parse(text)
