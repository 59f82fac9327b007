"""Sampler descriptors (spec 01 "S#", spec 06 "Views and samplers")."""

from fractions import Fraction
from itertools import product

import pytest
from d3d12_objects import CLAMP, s_field, sampler

from minmip.sim import d3d12
from minmip.sim.d3d12 import (
    D3D12_FILTER,
    D3D12_SAMPLER_DESC,
    D3D12_TEXTURE_ADDRESS_MODE,
    D3D12XBOX_SAMPLER_DESC,
    D3D12Error,
    Device,
)
from minmip.sim.d3d12.enums import (
    D3D12XBOX_MINMIP_FILTER_OFFSET,
    D3D12XBOX_MINMIP_FILTER_SLOPE,
)
from minmip.sim.descriptor_words import S_FIELDS, pack

BORDER = d3d12.D3D12_TEXTURE_ADDRESS_MODE_BORDER
ENABLE = d3d12.D3D12XBOX_SAMPLER_FLAG_ENABLE_MINMIP_FILTER


def x_sampler(device=None, **fields):
    return (device or Device()).create_sampler_x(
        D3D12XBOX_SAMPLER_DESC(**{"Flags": ENABLE, **fields})
    )


def test_whole_words():
    made = Device().create_sampler(
        D3D12_SAMPLER_DESC(
            Filter=d3d12.D3D12_FILTER_MIN_LINEAR_MAG_POINT_MIP_LINEAR,
            AddressU=d3d12.D3D12_TEXTURE_ADDRESS_MODE_MIRROR,
            AddressV=d3d12.D3D12_TEXTURE_ADDRESS_MODE_MIRROR_ONCE,
            AddressW=d3d12.D3D12_TEXTURE_ADDRESS_MODE_BORDER,
            MipLODBias=-1.25,
            BorderColor=(1, 1, 1, 1),
            MinLOD=1.5,
            MaxLOD=7,
        )
    )
    wanted = pack(
        S_FIELDS,
        4,
        CLAMP_X=1,
        CLAMP_Y=3,
        CLAMP_Z=6,
        MIN_LOD=384,
        MAX_LOD=1792,
        LOD_BIAS=-320,
        XY_MAG_FILTER=0,
        XY_MIN_FILTER=1,
        Z_FILTER=2,
        MIP_FILTER=2,
        BORDER_COLOR_TYPE=2,
    )
    assert [f"{w:08x}" for w in made.words] == [f"{w:08x}" for w in wanted]
    assert not made.words.flags.writeable


@pytest.mark.parametrize(
    ("mode", "code"), [*zip(D3D12_TEXTURE_ADDRESS_MODE, [0, 1, 2, 6, 3], strict=True)]
)
def test_address_modes(mode, code):
    made = sampler(Device(), address=mode)
    assert [s_field(made, f"CLAMP_{axis}") for axis in "XYZ"] == [code] * 3


@pytest.mark.parametrize("chosen", D3D12_FILTER)
def test_every_filter_by_its_name(chosen):
    """The fields follow from the words of the name, not from the bits of the value."""
    compare = d3d12.D3D12_COMPARISON_FUNC_LESS_EQUAL
    made = sampler(Device(), filter=chosen, MaxAnisotropy=8, ComparisonFunc=compare)
    name = chosen.name.removeprefix("D3D12_FILTER_")
    reductions = {"COMPARISON_": 0, "MINIMUM_": 1, "MAXIMUM_": 2}
    mode = next((m for prefix, m in reductions.items() if name.startswith(prefix)), 0)
    compares = name.startswith("COMPARISON_")
    for prefix in reductions:
        name = name.removeprefix(prefix)
    # "MIN_MAG_POINT_MIP_LINEAR": a filter word holds for the parts before it.
    parts, waiting = {}, []
    for word in name.split("_"):
        if word in ("MIN", "MAG", "MIP"):
            waiting.append(word)
        else:
            parts |= dict.fromkeys(waiting or ["MIN", "MAG"], word)
            waiting = []
    parts.setdefault("MIP", "LINEAR")  # plain ANISOTROPIC
    codes = {"POINT": 0, "LINEAR": 1, "ANISOTROPIC": 3}
    assert s_field(made, "XY_MIN_FILTER") == codes[parts["MIN"]]
    assert s_field(made, "XY_MAG_FILTER") == codes[parts["MAG"]]
    assert s_field(made, "MIP_FILTER") == {"POINT": 1, "LINEAR": 2}[parts["MIP"]]
    assert s_field(made, "Z_FILTER") == (1 if parts["MIN"] == parts["MAG"] == "POINT" else 2)
    assert s_field(made, "FILTER_MODE") == mode
    assert s_field(made, "DEPTH_COMPARE_FUNC") == (3 if compares else 0)
    assert s_field(made, "MAX_ANISO_RATIO") == (3 if parts["MIN"] == "ANISOTROPIC" else 0)
    assert sum(map(bool, (s_field(made, "BORDER_COLOR_PTR"), s_field(made, "TRUNC_COORD")))) == 0


@pytest.mark.parametrize(
    ("ratio", "code"),
    [(1, 0), (2, 1), (3, 1), (4, 2), (7, 2), (8, 3), (15, 3), (16, 4)],
)
def test_anisotropy_rounds_down(ratio, code):
    made = sampler(Device(), filter=d3d12.D3D12_FILTER_ANISOTROPIC, MaxAnisotropy=ratio)
    assert s_field(made, "MAX_ANISO_RATIO") == code


@pytest.mark.parametrize(
    ("bias", "field"),
    [
        (0.49, 125),
        (0.25 / 256, 0),
        (-0.25 / 256, 0),
        (-1.5 / 256, -1),
        (1 / 256, 1),
        (255 / 256, 255),
        (15.99, 4093),
        (-16, -4096),
    ],
)
def test_bias_is_cut_toward_zero(bias, field):
    assert s_field(sampler(Device(), MipLODBias=bias), "LOD_BIAS") == field % (1 << 14)


@pytest.mark.parametrize(
    ("lod", "field"),
    [(-3, 0), (0.1, 25), (1, 256), (15.999, 4095), (1e30, 4095), (float("inf"), 4095)],
)
def test_lod_limits(lod, field):
    made = sampler(Device(), MinLOD=lod, MaxLOD=lod)
    assert (s_field(made, "MIN_LOD"), s_field(made, "MAX_LOD")) == (field, field)


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"MipLODBias": 16}, r"MipLODBias must be in -16\.0\.\.15\.99, not 16"),
        ({"MipLODBias": -16.01}, "MipLODBias"),
        ({"MipLODBias": float("nan")}, "MipLODBias"),
        ({"MinLOD": float("nan")}, "MinLOD"),
        ({"MaxLOD": float("nan")}, "MaxLOD"),
        ({"BorderColor": (0.0, float("nan"), 0.0, 1.0)}, "BorderColor must be numbers"),
        ({"filter": d3d12.D3D12_FILTER_ANISOTROPIC, "MaxAnisotropy": 0}, "MaxAnisotropy"),
        ({"filter": d3d12.D3D12_FILTER_ANISOTROPIC, "MaxAnisotropy": 17}, "MaxAnisotropy"),
        ({"filter": d3d12.D3D12_FILTER_COMPARISON_ANISOTROPIC}, "ComparisonFunc"),
    ],
)
def test_refused_samplers(fields, text):
    with pytest.raises(D3D12Error, match=text):
        sampler(Device(), **fields)


def test_border_colours():
    device = Device()
    colours = [(0, 0, 0, 0), (0, 0, 0, 1), (1, 1, 1, 1), (0.5, 0, 0, 1), (0, 1, 0, 1)]
    colours.append(colours[3])
    made = [sampler(device, address=BORDER, BorderColor=c) for c in colours]
    assert [s_field(m, "BORDER_COLOR_TYPE") for m in made] == [0, 1, 2, 3, 3, 3]
    assert [s_field(m, "BORDER_COLOR_PTR") for m in made] == [0, 0, 0, 0, 1, 0]
    assert [m.border_color for m in made[3:]] == colours[3:]
    # Without a border the colour does not matter.
    assert s_field(sampler(device, address=CLAMP, BorderColor=colours[3]), "BORDER_COLOR_TYPE") == 0


def test_palette_has_an_end():
    device = Device()
    for red in range(4096):
        sampler(device, address=BORDER, BorderColor=(red, 0, 0, 0.5))
    with pytest.raises(D3D12Error, match="palette has 4096 border colours, all taken"):
        sampler(device, address=BORDER, BorderColor=(4096, 0, 0, 0.5))
    known = sampler(device, address=BORDER, BorderColor=(4095, 0, 0, 0.5))
    assert s_field(known, "BORDER_COLOR_PTR") == 4095


SLOPES = [Fraction(5, 2), 3, 4, 5, 8, 16, 32, 64]
OFFSETS = [Fraction(1, 4 << code) for code in range(6)]


@pytest.mark.parametrize(("slope", "offset"), [*product(range(8), range(6))])
@pytest.mark.parametrize("axis", ["U", "VOrW"])
def test_min_mip_pairs(slope, offset, axis):
    """A pair is legal if the ramp reaches weight 1 at the texel centre, half a texel away."""
    fields = {f"MinMipSlope{axis}": slope, f"MinMipOffset{axis}": offset}
    if (Fraction(1, 2) - OFFSETS[offset]) * SLOPES[slope] < 1:
        with pytest.raises(D3D12Error, match=f"MinMipSlope{axis}"):
            x_sampler(**fields)
        return
    made = x_sampler(**fields)
    usual = (3, 3)
    u, v = ((slope, offset), usual) if axis == "U" else (usual, (slope, offset))
    names = ("MINMIP_SLOPE_U", "MINMIP_OFFSET_U", "MINMIP_SLOPE_V", "MINMIP_OFFSET_V")
    assert tuple(s_field(made, name) for name in names) == (*u, *v)
    assert D3D12XBOX_MINMIP_FILTER_SLOPE(slope).name.endswith(
        "2_5" if slope == 0 else f"_{SLOPES[slope]}"
    )
    assert D3D12XBOX_MINMIP_FILTER_OFFSET(offset).name.endswith(f"1_{OFFSETS[offset].denominator}")


def test_without_the_flag_the_field_is_0():
    made = x_sampler(Flags=0, MinMipSlopeU=0, MinMipOffsetU=0)
    assert s_field(made, "BORDER_COLOR_PTR") == 0
    plain = Device().create_sampler(D3D12_SAMPLER_DESC())
    assert made.words.tolist() == plain.words.tolist()


def test_filter_and_palette_exclude_each_other():
    colour = {"AddressU": BORDER, "BorderColor": (0.5, 0, 0, 0)}
    with pytest.raises(D3D12Error, match="exclude each other"):
        x_sampler(**colour)
    device = Device()
    x_sampler(device, AddressU=BORDER)
    assert s_field(x_sampler(device, **colour, Flags=0), "BORDER_COLOR_TYPE") == 3


def test_xbox_description_needs_the_xbox_method():
    with pytest.raises(D3D12Error, match="create_sampler_x"):
        Device().create_sampler(D3D12XBOX_SAMPLER_DESC(Flags=ENABLE))
