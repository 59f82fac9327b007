"""A hostile user: whatever comes in, an answer or one D3D12Error in one line, and no traceback."""

import dataclasses
import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from d3d12_objects import (
    MIN_MIP,
    USED,
    buffer_desc,
    cleared_view,
    desc,
    map_desc,
    one_lane,
    plain_desc,
    sampler,
)

from minmip.hw.config import FULL
from minmip.sim import d3d12, golden
from minmip.sim.d3d12 import (
    D3D12_HEAP_DESC,
    D3D12_SAMPLER_DESC,
    D3D12_TEXTURE_COPY_LOCATION,
    D3D12XBOX_SAMPLER_DESC,
    D3D12Error,
    D3D12Warning,
    Device,
)

WHOLE = 0xFFFFFFFF
PLACED = d3d12.D3D12_TEXTURE_COPY_TYPE_PLACED_FOOTPRINT
NAN, INF = float("nan"), float("inf")
BAD: list[Any] = [None, NAN, INF, -INF, -1, 0, 1, 7, 2**31, 2**48, 2**63, 2**64, 2**70, 0.5, 1e300]
BAD += [10**400, 10**5000]
BAD += ["x", "62", b"x", [], {}, (), object(), True, 1j, [[1], [1, 2]], [None], int, range(4)]
BAD += [np.int64(3), np.uint8(255), np.array(1), np.array([1.5]), np.zeros((0,)), np.zeros((2, 3))]
BAD += [np.array(["a"]), np.array([2**63], np.uint64), np.ma.masked, np.datetime64("2020")]
BAD += [d3d12.D3D12_RECT(), d3d12.D3D12_FILTER_ANISOTROPIC, (NAN,) * 4, (1, 2, 3, 4), (1, 0)]
BAD += [Ellipsis, memoryview(b"abc"), lambda: 0, -(2**40), 65536, 16385]


def refused(call):
    """Whether a call is refused; anything but a D3D12Error passes on to the test."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", D3D12Warning)
        try:
            call()
            return False
        except D3D12Error as error:
            said = str(error)
    assert "\n" not in said
    assert 10 < len(said) < 350
    return True


def things():
    """A device in the debug layer, and sound arguments of every public call."""
    device = Device(debug=True, memory_size=1 << 20)

    def made(description):
        return device.create_committed_resource2(description)

    texture, held, other = (
        made(desc((64, 64), 5)),
        made(plain_desc((4, 4))),
        made(plain_desc((4, 4))),
    )
    feedback = made(map_desc(MIN_MIP, (64, 64), (16, 16), 5))
    buffers = [made(buffer_desc(4096)) for _ in range(2)]
    heap = device.create_heap(D3D12_HEAP_DESC(65536))
    view = device.create_sampler_feedback_unordered_access_view(texture, feedback)
    device.clear_unordered_access_view_uint(view)
    device.execute()
    filtering = device.create_min_mip_shader_resource_view_x(texture, None, held)
    point, uv = sampler(device), one_lane(0.3, 0.3)
    placed = device.get_copyable_footprints(held.desc).Layouts[0]
    draw = {"view": view, "sampler": point, "uv": uv}
    one = {"desc": plain_desc((4, 4))}
    read = {"view": filtering, "sampler": point, "uv": uv, "array_slice": None, "stage": 0}
    into, source = (D3D12_TEXTURE_COPY_LOCATION(r) for r in (held, other))
    from_buffer = D3D12_TEXTURE_COPY_LOCATION(buffers[0], PLACED, placed)
    corner = {"dst_x": 0, "dst_y": 0, "dst_z": 0}
    resolve = {"dst": held, "dst_subresource": 0, "dst_x": 0, "dst_y": 0, "src": feedback}
    resolve |= {"src_subresource": WHOLE, "src_rect": None, "format": 62, "mode": 5}
    lanes = {"exec_mask": 15, "helper_mask": 0, "texture": None, "array_slice": None, "stage": 0}
    return SimpleNamespace(
        device=device,
        calls=[
            (device.clear_unordered_access_view_uint, {"view": view}),
            (device.write_sampler_feedback, draw | lanes | {"clamp": None}),
            (device.write_sampler_feedback_bias, draw | {"bias": 0.0}),
            (device.write_sampler_feedback_grad, draw | {"ddx": uv, "ddy": uv}),
            (device.write_sampler_feedback_level, draw | {"level": 0.0}),
            (device.sample_min_mip, read),
            (device.load_min_mip, {"view": filtering, "texel": [0, 0], "array_slice": 0}),
            (device.decode_sampler_feedback, {"feedback": feedback, "raw": False}),
            (device.resource_barrier, {"resource": held, "before": 0, "after": 0}),
            (device.resolve_subresource_region, resolve),
            (device.copy_resource, {"dst": held, "src": other}),
            (
                device.copy_buffer_region,
                {"dst": buffers[0], "dst_offset": 0, "src": buffers[1]}
                | {"src_offset": 0, "num_bytes": 4},
            ),
            (
                device.copy_texture_region,
                {"dst": into, "src": source, "src_box": (0, 0, 0, 1, 1, 1)} | corner,
            ),
            (device.copy_texture_region, {"dst": into, "src": from_buffer} | corner),
            (
                device.get_copyable_footprints,
                one | {"first_subresource": 0, "num_subresources": 1, "base_offset": 0},
            ),
            (device.get_resource_tiling, {"resource": texture}),
            (device.get_resource_allocation_info2, {"descs": [plain_desc((4, 4))]}),
            (device.create_committed_resource2, one | {"initial_state": 0}),
            (device.create_heap, {"desc": D3D12_HEAP_DESC(65536)}),
            (
                device.create_placed_resource1,
                one | {"heap": heap, "heap_offset": 0, "initial_state": 0},
            ),
            (device.create_shader_resource_view, {"resource": held, "desc": None}),
            (
                device.create_sampler_feedback_unordered_access_view_x,
                {"target": texture, "feedback": feedback, "desc": None, "target_view": None},
            ),
            (
                device.create_min_mip_shader_resource_view_x,
                {"target": texture, "target_desc": None, "min_mip": held, "desc": None},
            ),
            (device.create_sampler, {"desc": D3D12_SAMPLER_DESC()}),
            (device.create_sampler_x, {"desc": D3D12XBOX_SAMPLER_DESC()}),
            (device.execute, {"backend": None}),
            (held.read_from_subresource, {"subresource": 0}),
            (held.write_to_subresource, {"texels": np.zeros((4, 4), np.uint8), "subresource": 0}),
            (Device, {"memory_base": 0, "memory_size": 1, "xbox": True, "debug": True, "tier": 90}),
            (Device, {"backend": golden.run, "config": FULL}),
            (d3d12.tile_shape, {"form": d3d12.DXGI_FORMAT_R8_UINT, "axes": 2}),
        ],
    )


NUMBERS = range(len(things().calls))


@pytest.mark.parametrize("number", NUMBERS)
def test_every_argument_of_every_call(number):
    call, sound = things().calls[number]
    refusals = 0
    assert not refused(lambda: call(**sound))
    for name in sound:
        call, sound = things().calls[number]
        for bad in BAD:
            arguments = {**sound, name: bad}
            refusals += refused(lambda arguments=arguments, call=call: call(**arguments))
    assert refusals > len(BAD) // 2


def test_every_public_call_is_attacked():
    attacked = {call.__name__ for call, _ in things().calls}
    public = {name for name in dir(Device) if not name.startswith("_")}
    harmless = {"memory", "build_trace", "sampler_feedback_tier"}
    same = {  # as another, without an argument
        "write_sampler_feedback_level_zero",
        "create_sampler_feedback_unordered_access_view",
    }
    assert public - harmless - same <= attacked


STRUCTURES = [
    (kind, base)
    for name in d3d12.__all__
    if dataclasses.is_dataclass(kind := getattr(d3d12, name)) and hasattr(kind, "__post_init__")
    for base in (
        [plain_desc((9, 5), 2, 3), map_desc(USED, (64, 64), (16, 16), 3), buffer_desc(100)]
        if name == "D3D12_RESOURCE_DESC1"
        else [None]
    )
]


@pytest.mark.parametrize(("kind", "base"), STRUCTURES)
def test_every_field_of_every_structure(kind, base):
    device = Device(memory_size=1 << 20)
    texture = device.create_committed_resource2(desc((64, 64), 5, 6))
    feedback = device.create_committed_resource2(map_desc(MIN_MIP, (64, 64), (16, 16), 5, 6))
    used: dict[str, Any] = {
        "D3D12_RESOURCE_DESC1": lambda s: Device(memory_size=1 << 18).create_committed_resource2(s),
        "D3D12_HEAP_DESC": lambda s: Device(memory_size=1 << 18).create_heap(s),
        "D3D12_SHADER_RESOURCE_VIEW_DESC": lambda s: device.create_shader_resource_view(texture, s),
        "D3D12_UNORDERED_ACCESS_VIEW_DESC": lambda s: (
            device.create_sampler_feedback_unordered_access_view_x(texture, feedback, s)
        ),
        "D3D12_SAMPLER_DESC": device.create_sampler,
        "D3D12XBOX_SAMPLER_DESC": device.create_sampler_x,
        "D3D12_RESOURCE_DESC1 footprints": device.get_copyable_footprints,
    }
    sound = (
        {} if base is None else {f.name: getattr(base, f.name) for f in dataclasses.fields(base)}
    )
    for field in dataclasses.fields(kind):
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            sound[field.name] = texture if field.name == "pResource" else 1
    for field in dataclasses.fields(kind):
        refusals = 0
        for bad in BAD:
            made = []

            def make(name=field.name, bad=bad, made=made):
                made.append(kind(**{**sound, name: bad}))

            if refused(make):
                refusals += 1
            for name, use in used.items():
                if made and name.startswith(kind.__name__) and not name.startswith("D3D12X"):
                    refused(lambda use=use, made=made: use(made[0]))
        assert refusals > len(BAD) // 3, field.name


@pytest.mark.parametrize(
    ("structure", "field", "value"),
    [
        (d3d12.D3D12_RESOURCE_DESC1, "SampleDesc", ""),
        (d3d12.D3D12_RESOURCE_DESC1, "SampleDesc", {}),
        (d3d12.D3D12_RESOURCE_DESC1, "Width", d3d12.DXGI_FORMAT_R8_UINT),
        (d3d12.D3D12_RESOURCE_DESC1, "Flags", -1),
        (D3D12_SAMPLER_DESC, "MinLOD", "2"),
        (D3D12_SAMPLER_DESC, "BorderColor", ("0", "0", "0", "0")),
        (D3D12_SAMPLER_DESC, "MaxLOD", d3d12.D3D12_FILTER_ANISOTROPIC),
    ],
)
def test_what_python_would_take_for_a_field(structure, field, value):
    with pytest.raises(D3D12Error, match=rf"\.{field}: wanted "):
        structure(**{field: value})


# ---- what belongs to nobody, or to two ----


def test_resources_over_the_same_bytes():
    device = Device()
    heap = device.create_heap(D3D12_HEAP_DESC(65536))
    first, second, beside = (
        device.create_placed_resource1(heap, offset, plain_desc((16, 16))) for offset in (0, 0, 256)
    )
    texels = np.zeros((16, 16), np.uint8)
    beside.write_to_subresource(texels)
    for writer, other in ((first, second), (second, first)):
        writer.write_to_subresource(texels)
        assert writer.defined.all()
        assert not other.defined.any()
        view = device.create_min_mip_shader_resource_view_x(None, desc((256, 256)), other)
        with pytest.raises(D3D12Error, match="contents are undefined"):
            device.sample_min_mip(view, sampler(device), one_lane(0, 0))
    device.copy_resource(first, beside)
    assert first.defined.all()
    assert beside.defined.all()
    assert not second.defined.any()


def test_a_released_texture_takes_no_feedback():
    device = Device()
    _, view = cleared_view(device, MIN_MIP, (64, 64), (16, 16))
    assert view.target is not None
    view.target.release()
    with pytest.raises(D3D12Error, match="R8G8B8A8_UNORM resource was released"):
        device.write_sampler_feedback_level_zero(view, sampler(device), one_lane(0, 0))


def test_a_view_of_the_map_is_no_texture_operand():
    device = Device(debug=True)
    _, view = cleared_view(device, MIN_MIP, (64, 64), (16, 16))
    with pytest.raises(D3D12Error, match="must be a view of the texture, not of its map"):
        device.write_sampler_feedback_level_zero(
            view, sampler(device), one_lane(0, 0), texture=view
        )


@pytest.mark.parametrize(
    "answer",
    [
        lambda trace: None,
        lambda trace: trace,
        lambda trace: dataclasses.replace(golden.run(trace), memory=trace.memory[:3]),
    ],
)
def test_a_backend_that_answers_nonsense(answer):
    device = Device()
    feedback, view = cleared_view(device, USED, (64, 64), (16, 16))
    device.write_sampler_feedback_level_zero(view, sampler(device), one_lane(0, 0))
    with pytest.raises(D3D12Error, match="the backend must return a Result"):
        device.execute(answer)
    assert len(device.build_trace()) == 1
    assert device.decode_sampler_feedback(feedback)[0].sum() == 255


def test_a_warning_made_an_error_changes_nothing():
    device = Device(debug=True)
    feedback, view = cleared_view(device, USED, (64, 64), (16, 16))
    device.write_sampler_feedback_level_zero(view, sampler(device), one_lane(0, 0))
    device.execute()
    before = device.memory.copy()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(D3D12Warning, match="throws away feedback"):
            device.clear_unordered_access_view_uint(view)
    assert feedback.promoted == 0
    assert feedback.unread
    np.testing.assert_array_equal(device.memory, before)


@pytest.mark.parametrize(
    "texel", [np.array([1, 0], np.uint8), np.array([1, 0], np.int8), np.array([1, 0], np.uint64)]
)
def test_texels_of_any_integer_type(texel):
    device = Device()
    held = device.create_committed_resource2(plain_desc((4, 4)))
    held.write_to_subresource(np.arange(16, dtype=np.uint8).reshape(4, 4) * 8)
    view = device.create_min_mip_shader_resource_view_x(None, desc((64, 64)), held)
    assert device.load_min_mip(view, texel) == 1
    with pytest.raises(D3D12Error, match="array_slice must be a number or have shape"):
        device.load_min_mip(view, [[0, 0], [1, 1]], [0, 0, 0])
    with pytest.raises(D3D12Error, match=r"texel x must be in 0\.\.3, not 9223372036854775807"):
        device.load_min_mip(view, np.array([2**63, 0], np.uint64))


def test_raw_bytes_are_an_xbox_extension():
    device = Device(xbox=False)
    texture = device.create_committed_resource2(desc((64, 64)))
    feedback = device.create_committed_resource2(map_desc(USED, (64, 64), (16, 16)))
    view = device.create_sampler_feedback_unordered_access_view(texture, feedback)
    device.clear_unordered_access_view_uint(view)
    with pytest.raises(D3D12Error, match="raw bytes of a feedback map, is an Xbox extension"):
        device.decode_sampler_feedback(feedback, raw=True)
    assert device.decode_sampler_feedback(feedback)[0].max() == 0
