"""Spellings and values of seed 001, structures written as in C, the example of the package."""

import dataclasses
import doctest
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from minmip.sim import d3d12
from minmip.sim.d3d12 import (
    D3D12_RESOURCE_DESC1,
    D3D12_SHADER_RESOURCE_VIEW_DESC,
    D3D12XBOX_SAMPLER_DESC,
    DXGI_FORMAT,
    D3D12Error,
)
from minmip.sim.layout import MODES

SEED = """
D3D12XBOX_SAMPLER_FLAG_ENABLE_MINMIP_FILTER = 0x0100
D3D12XBOX_MINMIP_FILTER_SLOPE_2_5 = 0
D3D12XBOX_MINMIP_FILTER_SLOPE_3   = 1
D3D12XBOX_MINMIP_FILTER_SLOPE_4   = 2
D3D12XBOX_MINMIP_FILTER_SLOPE_5   = 3
D3D12XBOX_MINMIP_FILTER_SLOPE_8   = 4
D3D12XBOX_MINMIP_FILTER_SLOPE_16  = 5
D3D12XBOX_MINMIP_FILTER_SLOPE_32  = 6
D3D12XBOX_MINMIP_FILTER_SLOPE_64  = 7
D3D12XBOX_MINMIP_FILTER_OFFSET_1_4    = 0
D3D12XBOX_MINMIP_FILTER_OFFSET_1_8    = 1
D3D12XBOX_MINMIP_FILTER_OFFSET_1_16   = 2
D3D12XBOX_MINMIP_FILTER_OFFSET_1_32   = 3
D3D12XBOX_MINMIP_FILTER_OFFSET_1_64   = 4
D3D12XBOX_MINMIP_FILTER_OFFSET_1_128  = 5
D3D12XBOX_TEXTURE_LAYOUT_SWIZZLE_MODE_256B_S = 0x101
D3D12_RESOURCE_DIMENSION_TEXTURE2D = 3
D3D12_TEXTURE_LAYOUT_UNKNOWN = 0
D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS = 4
DXGI_FORMAT_SAMPLER_FEEDBACK_MIN_MIP_OPAQUE = 189
DXGI_FORMAT_SAMPLER_FEEDBACK_MIP_REGION_USED_OPAQUE = 190
DXGI_FORMAT_R8_UINT = 62
DXGI_FORMAT_BC1_UNORM = 71
D3D12_RESOLVE_MODE_ENCODE_SAMPLER_FEEDBACK = 4
D3D12_RESOLVE_MODE_DECODE_SAMPLER_FEEDBACK = 5
D3D12_RESOURCE_STATE_UNORDERED_ACCESS = 0x8
D3D12_RESOURCE_STATE_COPY_DEST = 0x400
D3D12_RESOURCE_STATE_RESOLVE_SOURCE = 0x2000
D3D12_SAMPLER_FEEDBACK_TIER_0_9 = 90
D3D12XBOX_TEXTURE_LAYOUT_SWIZZLE_MODE_64KB_R_X = 0x11B
"""


@pytest.mark.parametrize(("name", "value"), re.findall(r"(\w+)\s+= (\w+)", SEED))
def test_c_names_have_c_values(name, value):
    assert getattr(d3d12, name) == int(value, 0)
    assert getattr(d3d12, name).name == name


def test_preview_numbers_mean_the_released_formats():
    assert DXGI_FORMAT(187) is DXGI_FORMAT(189)
    assert DXGI_FORMAT(188) is DXGI_FORMAT(190)
    assert "189" in repr(DXGI_FORMAT(187))


def test_layouts_are_the_swizzle_modes_that_exist():
    prefix = "D3D12XBOX_TEXTURE_LAYOUT_SWIZZLE_MODE_"
    ours = {x.name.removeprefix(prefix): int(x) for x in d3d12.D3D12_TEXTURE_LAYOUT if x >= 0x100}
    assert ours == {mode.name: 0x100 + mode.number for mode in MODES if mode.dimensions}


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="DXGI_FORMAT_R7_UINT"):
        d3d12.DXGI_FORMAT_R7_UINT  # noqa: B018


def test_example_of_the_package():
    result = doctest.testmod(d3d12)
    assert result.attempted > 10
    assert result.failed == 0


def test_examples_of_the_page():
    page = Path(__file__).resolve().parent.parent / "docs" / "driver.md"
    result = doctest.testfile(str(page), module_relative=False)
    assert result.attempted > 60
    assert result.failed == 0


def test_the_page_names_everything_public():
    text = (Path(__file__).resolve().parent.parent / "docs" / "driver.md").read_text()
    prose = re.sub(r"```python.*?```", "", text, flags=re.S)
    calls = [name for name in dir(d3d12.Device) if not name.startswith("_")]
    fields = [f.name for f in dataclasses.fields(d3d12.View)]
    fields += ["desc", "address", "size_in_bytes", "mips", "slices", "state", "map", "release"]
    fields += ["read_from_subresource", "write_to_subresource", "border_color", "debug", "config"]
    assert [n for n in [*d3d12.__all__, *calls, *fields] if not re.search(rf"\b{n}\b", prose)] == []


def test_seed_initialiser_as_it_stands():
    seed: list[Any] = [
        d3d12.D3D12_RESOURCE_DIMENSION_TEXTURE2D,
        0,
        4096,
        4096,
        1,
        12,
        187,
        (1, 0),
        d3d12.D3D12_TEXTURE_LAYOUT_UNKNOWN,
        d3d12.D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS,
        (512, 256, 1),
    ]
    made = D3D12_RESOURCE_DESC1(*seed)
    assert made.Format == d3d12.DXGI_FORMAT_SAMPLER_FEEDBACK_MIN_MIP_OPAQUE
    assert made.SamplerFeedbackMipRegion == d3d12.D3D12_MIP_REGION(512, 256, 1)
    fields: dict[str, Any] = {"Width": np.int64(4096), "Format": 189, "Flags": 4}
    assert made == D3D12_RESOURCE_DESC1(
        Height=4096,
        MipLevels=12,
        SamplerFeedbackMipRegion=d3d12.D3D12_MIP_REGION(512, 256, 1),
        **fields,
    )


@pytest.mark.parametrize(
    ("structure", "field", "value", "text"),
    [
        (D3D12_RESOURCE_DESC1, "Width", 1.5, r"DESC1\.Width: wanted int, not 1\.5"),
        (D3D12_RESOURCE_DESC1, "Width", -1, "Width"),
        (D3D12_RESOURCE_DESC1, "Format", 186, "wanted DXGI_FORMAT, not 186"),
        (D3D12_RESOURCE_DESC1, "Flags", 0x4000, "wanted D3D12_RESOURCE_FLAGS, not 16384"),
        (D3D12_RESOURCE_DESC1, "SamplerFeedbackMipRegion", (4, 4, 1, 1), "MipRegion"),
        (
            D3D12_SHADER_RESOURCE_VIEW_DESC,
            "ViewDimension",
            d3d12.D3D12_UAV_DIMENSION_TEXTURE2D,
            "wanted D3D12_SRV_DIMENSION",
        ),
        (D3D12_SHADER_RESOURCE_VIEW_DESC, "ResourceMinLODClamp", "x", "wanted float"),
        (D3D12XBOX_SAMPLER_DESC, "MinMipSlopeU", 8, "MinMipSlopeU"),
        (D3D12XBOX_SAMPLER_DESC, "BorderColor", (0, 0, 0), "BorderColor"),
    ],
)
def test_wrong_field_is_refused_by_name(structure, field, value, text):
    with pytest.raises(D3D12Error, match=text):
        structure(**{field: value})
