"""Random descriptions of views, samplers and commands: one clear refusal, or a legal descriptor.

What the driver lets through, the unit must take: no golden error code, no other exception.
"""

import numpy as np
import pytest
from d3d12_objects import MIN_MIP, USED, buffer_desc, desc, map_desc, plain_desc
from hypothesis import given, settings
from hypothesis import strategies as st

from minmip.sim import d3d12
from minmip.sim.d3d12 import (
    ALL,
    D3D12_RECT,
    D3D12_SAMPLER_DESC,
    D3D12_SHADER_RESOURCE_VIEW_DESC,
    D3D12_TEXTURE_COPY_LOCATION,
    D3D12_UNORDERED_ACCESS_VIEW_DESC,
    D3D12XBOX_SAMPLER_DESC,
    D3D12Error,
    Device,
)

ONE_SENTENCE = r"\A[^\n]+\Z"
few = st.sampled_from([0, 0, 0, 0, 1, 1, 2, 6])
counts = st.sampled_from([ALL, ALL, ALL, 0, 1, 1, 2, 5])
shapes = st.sampled_from([0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 8])

SRV = st.builds(
    D3D12_SHADER_RESOURCE_VIEW_DESC,
    Format=st.sampled_from([0, 0, 0, 0, 28, 62, 61]),
    ViewDimension=shapes | st.sampled_from([9, 10]),
    Shader4ComponentMapping=st.sampled_from([0x1688, 0x1688, 0x1688, 0, 0xFFFF]),
    MostDetailedMip=few,
    MipLevels=counts,
    FirstArraySlice=few,
    ArraySize=counts,
    ResourceMinLODClamp=st.sampled_from([0.0, 0.0, 0.5, 1.25, -1.0, float("nan")]),
    PlaneSlice=st.sampled_from([0] * 9 + [1]),
    First2DArrayFace=st.sampled_from([0] * 9 + [1]),
    NumCubes=st.sampled_from([ALL] * 9 + [1]),
)
UAVS = st.builds(
    D3D12_UNORDERED_ACCESS_VIEW_DESC,
    Format=st.sampled_from([0, 0, 0, 62, 189, 190, 189, 190]),
    ViewDimension=shapes,
    FirstArraySlice=few,
    ArraySize=counts,
    MipSlice=st.sampled_from([0] * 9 + [1]),
    PlaneSlice=st.sampled_from([0] * 9 + [1]),
    FirstWSlice=st.sampled_from([0] * 9 + [1]),
    WSize=st.sampled_from([ALL] * 6 + [9, 2, 1]),
)
MODES = st.integers(1, 5)
SAMPLERS = st.builds(
    D3D12XBOX_SAMPLER_DESC,
    Filter=st.sampled_from(list(d3d12.D3D12_FILTER)),
    AddressU=MODES,
    AddressV=MODES,
    AddressW=MODES,
    MipLODBias=st.sampled_from([0.0, 0.3, -0.7, 2.0, -16.0, 15.99, 16.0]),
    MaxAnisotropy=st.integers(1, 17),
    ComparisonFunc=st.sampled_from([0, 3]),
    BorderColor=st.sampled_from([(0.0, 0.0, 0.0, 0.0), (1.0, 1.0, 1.0, 1.0), (0.5, 0.0, 0.0, 1.0)]),
    MinLOD=st.sampled_from([0.0, 0.7, -3.0]),
    MaxLOD=st.sampled_from([1e30, 2.0, -1.0]),
    Flags=st.sampled_from([0, 0x100]),
    MinMipSlopeU=st.integers(0, 7),
    MinMipOffsetU=st.integers(0, 5),
    MinMipSlopeVOrW=st.integers(0, 7),
    MinMipOffsetVOrW=st.integers(0, 5),
)
SIZES = [(48,), (48, 20), (33, 32), (20, 12, 9)]


def tried(call):
    """Result of a call, or None when it was refused, in one sentence."""
    try:
        return call()
    except D3D12Error:
        with pytest.raises(D3D12Error, match=ONE_SENTENCE):
            call()
    return None


@pytest.mark.filterwarnings("ignore::minmip.sim.d3d12.D3D12Warning")
@settings(max_examples=300, deadline=None)
@given(
    size=st.sampled_from(SIZES),
    mips=st.integers(1, 4),
    layers=st.integers(1, 3),
    kind=st.sampled_from([MIN_MIP, USED, None]),
    target_view=st.none() | SRV,
    uav=st.none() | UAVS,
    described=SAMPLERS,
    seed=st.integers(0, 2**32 - 1),
)
def test_what_the_driver_takes_the_unit_takes(
    size, mips, layers, kind, target_view, uav, described, seed
):
    device = Device()
    layers = 1 if len(size) == 3 else layers
    texture = device.create_committed_resource2(desc(size, mips, layers))
    if kind is None:  # a plain map of the physical size
        small = tuple(max(1, side // 4) for side in size)
        plain = plain_desc(small, 1, layers)
        feedback = device.create_committed_resource2(plain)
    else:
        feedback = device.create_committed_resource2(
            map_desc(kind, size, (4,) * len(size), mips, layers)
        )
    view = tried(
        lambda: device.create_sampler_feedback_unordered_access_view_x(
            texture, feedback, uav, target_view=target_view
        )
    )
    filtered = tried(
        lambda: device.create_min_mip_shader_resource_view_x(texture, None, feedback, target_view)
    )
    sampler = tried(lambda: device.create_sampler_x(described))
    if sampler is None:
        return
    random = np.random.default_rng(seed)
    uv = random.uniform(-1.5, 2.5, (3, 4, len(size)))
    level = random.uniform(-2, 6, (3, 4))
    before = device.memory.copy()
    if view is not None:
        device.clear_unordered_access_view_uint(view)
        tried(lambda: device.write_sampler_feedback_level(view, sampler, uv, level))
        tried(lambda: device.write_sampler_feedback(view, sampler, uv, clamp=level))
        result = device.execute()
        assert result is None or not result.error.any()
    if filtered is not None:
        answer = tried(lambda: device.sample_min_mip(filtered, sampler, uv))
        assert answer is None or answer.shape == (3, 4)
    if view is None:
        np.testing.assert_array_equal(device.memory, before)


@settings(max_examples=60, deadline=None)
@given(described=SAMPLERS)
def test_plain_samplers_are_those_without_the_xbox_fields(described):
    device = Device()
    names = D3D12_SAMPLER_DESC.__dataclass_fields__
    plain = D3D12_SAMPLER_DESC(**{name: getattr(described, name) for name in names})
    ours = tried(lambda: device.create_sampler(plain))
    theirs = tried(lambda: device.create_sampler_x(described))
    if theirs is not None:
        assert ours is not None
        if not described.Flags:
            np.testing.assert_array_equal(ours.words, theirs.words)


# Sound arguments of a resolve, (dst, src, subresources, form, mode), of which some are spoilt.
DECODE, ENCODE = 5, 4
SOUND = [
    (2, 0, (0, ALL), 62, DECODE),
    (0, 2, (ALL, 0), 62, ENCODE),
    (5, 0, (0, 0), 62, DECODE),
    (0, 5, (0, 0), 60, ENCODE),
    (4, 0, (ALL, ALL), 60, DECODE),
    (3, 1, (ALL, ALL), 62, DECODE),
    (3, 1, (1, 1), 62, DECODE),
    (1, 3, (0, 0), 62, ENCODE),
    (1, 7, (0, 0), 62, ENCODE),
    (8, 1, (0, 0), 62, ENCODE),
    (7, 3, (1, 1), 62, ENCODE),
]
numbers = st.sampled_from([0, 1, 2, 5, ALL, -1, 1.5, None, "0"])
resources = st.integers(0, 8)
RECTS = [D3D12_RECT(0, 0, 2, 1), D3D12_RECT(1, 1, 2, 2), D3D12_RECT(3, 2, 5, 9), (0, 0, 1, 1)]
SPOILT = {
    "dst": resources,
    "src": resources,
    "subresources": st.tuples(numbers, numbers),
    "corner": st.tuples(numbers, numbers),
    "rect": st.sampled_from(RECTS),
    "form": st.sampled_from([60, 0, None]),
    "mode": st.sampled_from([DECODE, ENCODE, 0, 7, None, "decode"]),
}


@settings(max_examples=500, deadline=None)
@given(
    sound=st.sampled_from(SOUND), spoilt=st.just({}) | st.fixed_dictionaries({}, optional=SPOILT)
)
def test_random_commands_change_all_or_nothing(sound, spoilt):
    device = Device()
    made = [
        device.create_committed_resource2(description)
        for description in (
            map_desc(MIN_MIP, (40, 24), (8, 8), 2),
            map_desc(USED, (40, 24), (8, 8), 2),
            plain_desc((5, 3), 1),
            plain_desc((6, 4), 2),
            plain_desc((5, 3), 1, Format=60),
            buffer_desc(15),
            desc((5, 3)),
            plain_desc((6, 4), 2),
            map_desc(USED, (40, 24), (8, 8), 2),
        )
    ]
    for index, resource in enumerate(made):
        resource.defined[:] = True
        if resource.size_in_bytes:
            resource.map()[:] = index + 1
    names = ("dst", "src", "subresources", "form", "mode")
    given_values = dict(zip(names, sound, strict=True)) | {"corner": (0, 0), "rect": None} | spoilt
    dst, src = made[given_values["dst"]], made[given_values["src"]]
    subs, (x, y) = given_values["subresources"], given_values["corner"]
    rect, form, mode = (given_values[name] for name in ("rect", "form", "mode"))
    calls = [
        lambda: device.resolve_subresource_region(
            dst, subs[0], x, y, src, subs[1], rect, form, mode
        ),
        lambda: device.copy_resource(dst, src),
        lambda: device.copy_texture_region(
            D3D12_TEXTURE_COPY_LOCATION(dst, SubresourceIndex=subs[0]),
            x,
            y,
            0,
            D3D12_TEXTURE_COPY_LOCATION(src, SubresourceIndex=subs[1]),
        ),
    ]
    for call in calls:
        before = device.memory.copy()
        taken = tried(lambda call=call: call() or True)
        changed = np.flatnonzero(device.memory != before)
        if taken is None:
            assert not changed.size
        start = dst.address - made[0].address
        assert ((changed >= start) & (changed < start + dst.size_in_bytes)).all()
