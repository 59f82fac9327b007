"""What the layout query refuses, rule by rule, and random descriptions of textures."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minmip.sim.layout import (
    HARDWARE,
    MODES,
    NAVI10,
    AddressConfig,
    LayoutError,
    Texture,
    layout,
    natural_mips,
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
        ((0.5, 0, 0), "mip 0.5 is outside"),
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
