"""Random command lists in the debug layer: a call is carried out, or changes nothing at all."""

import warnings

import numpy as np
import pytest
from d3d12_objects import (
    CLAMP,
    MIN_MIP,
    UAV,
    USED,
    WRAP,
    buffer_desc,
    desc,
    map_desc,
    plain_desc,
    sampler,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from minmip.sim import d3d12
from minmip.sim.d3d12 import (
    D3D12_HEAP_DESC,
    D3D12_PLACED_SUBRESOURCE_FOOTPRINT,
    D3D12_RECT,
    D3D12_TEXTURE_COPY_LOCATION,
    D3D12Error,
    D3D12Warning,
    Device,
)

DECODE = d3d12.D3D12_RESOLVE_MODE_DECODE_SAMPLER_FEEDBACK
SUBRESOURCE = d3d12.D3D12_TEXTURE_COPY_TYPE_SUBRESOURCE_INDEX
WHOLE = 0xFFFFFFFF
PLACED = d3d12.D3D12_TEXTURE_COPY_TYPE_PLACED_FOOTPRINT
R8 = d3d12.DXGI_FORMAT_R8_UINT
STATES = [0, 8, 0x40, 0x80, 0xC0, 0x400, 0x800, 0x1000, 0x2000, 0x408]


class World:
    """One device and a few things of each kind; every call chooses among them by number."""

    def __init__(self, *, xbox: bool):
        self.device = device = Device(xbox=xbox, debug=True)
        heap = device.create_heap(D3D12_HEAP_DESC(1 << 17))
        region = (8, 8)
        self.resources = [
            device.create_committed_resource2(map_desc(MIN_MIP, (40, 24), region, 2)),
            device.create_committed_resource2(map_desc(USED, (40, 24), region, 2, 2)),
            device.create_placed_resource1(heap, 256, map_desc(USED, (40, 24), region, 2, 2)),
            device.create_committed_resource2(plain_desc((5, 3))),
            device.create_committed_resource2(plain_desc((5, 3), 2, 2)),
            device.create_placed_resource1(heap, 512, plain_desc((6, 4), 2, 2)),
            device.create_committed_resource2(buffer_desc(2000)),
            device.create_committed_resource2(desc((40, 24), 2)),
            device.create_committed_resource2(desc((40, 24), 2, 2)),
            device.create_committed_resource2(buffer_desc(3000)),
        ]
        targets = self.resources[7], self.resources[8], self.resources[8]
        self.views = [
            device.create_sampler_feedback_unordered_access_view(target, feedback)
            for target, feedback in zip(targets, self.resources[:3], strict=True)
        ]
        other = device.create_committed_resource2(self.resources[7].desc)
        self.views.append(
            device.create_sampler_feedback_unordered_access_view(other, self.resources[0])
        )
        if xbox:
            self.views.append(
                device.create_min_mip_shader_resource_view_x(other, None, self.resources[3])
            )
        self.views.append(device.create_shader_resource_view(self.resources[3]))
        self.views.append(device.create_sampler_feedback_unordered_access_view(None, None))
        self.samplers = [sampler(device, address=address) for address in (CLAMP, WRAP)]
        for view in self.views[:2]:
            device.clear_unordered_access_view_uint(view)
        device.execute()

    def seen(self):
        """Everything that a call could change."""
        kept = [
            (r.state, r.promoted, r.paired, r.unread, r.released, *r.defined, *r.stale)
            for r in self.resources
        ]
        return self.device.memory.tobytes(), len(self.device.build_trace()), kept


ANYTHING = st.integers(0, 9)
ALIKE = (1, 2), (2, 1)  # resources that can be copied whole
SOUND = [(3, 0, 0, WHOLE, 5), (0, 3, WHOLE, 0, 4), (4, 1, 1, 1, 5), (1, 4, 2, 2, 4)]
SOUND += [(6, 0, 0, WHOLE, 5), (5, 1, WHOLE, WHOLE, 5), (2, 5, 0, 0, 4)]
small = st.sampled_from([0, 0, 0, 1, 2, 3])
subresource = st.sampled_from([0, 0, 0, 1, 2, WHOLE, WHOLE])
rects = st.none() | st.builds(D3D12_RECT, small, small, small, small)


def mostly(*sound):
    """One of the sound choices, now and then another: resources and views by number."""
    others = st.tuples(*[ANYTHING] * len(sound[0])) if isinstance(sound[0], tuple) else ANYTHING
    return st.integers(0, 3).flatmap(lambda n: st.sampled_from(sound) if n else others)


@st.composite
def calls(draw):
    """One call: its name in the report, and what it does with a world."""
    kind = draw(st.sampled_from(sorted(KINDS)))
    return kind, KINDS[kind](draw)


def barrier(draw):
    n, before, after = draw(ANYTHING), draw(st.none() | st.sampled_from(STATES)), draw(small)
    new = draw(st.sampled_from(STATES))

    def call(w):
        resource = w.resources[n]
        known = resource.state or resource.promoted
        w.device.resource_barrier(resource, known if before is None or after else before, new)

    return call


def clear(draw):
    v = draw(mostly(0, 1, 2))
    return lambda w: w.device.clear_unordered_access_view_uint(w.views[v % len(w.views)])


def write(draw):
    v, s, seed = draw(mostly(0, 1, 2)), draw(st.integers(0, 1)), draw(st.integers(0, 99))
    clamp, stage = draw(st.sampled_from([None, None, 1, 255])), draw(st.sampled_from([0, 0, 5]))
    explicit = draw(st.booleans())

    def call(w):
        view = w.views[v % len(w.views)]
        uv = np.random.default_rng(seed).uniform(-0.5, 1.5, (2, 4, view.axes or 2))
        if explicit:
            w.device.write_sampler_feedback_level(view, w.samplers[s], uv, clamp or 0, stage=stage)
        else:
            w.device.write_sampler_feedback(view, w.samplers[s], uv, clamp=clamp, stage=stage)

    return call


def sample(draw):
    v = draw(mostly(4))
    return lambda w: w.device.sample_min_mip(
        w.views[v % len(w.views)], w.samplers[0], np.full((1, 4, 2), 0.4)
    )


def load(draw):
    v, x, y = draw(mostly(4)), draw(st.integers(-1, 6)), draw(small)
    return lambda w: w.device.load_min_mip(w.views[v % len(w.views)], [x, y])


def resolve(draw):
    dst, src, to, start, mode = draw(mostly(*SOUND))
    x, y, rect = draw(st.sampled_from([(0, 0, None)] * 3) | st.tuples(small, small, rects))
    return lambda w: w.device.resolve_subresource_region(
        w.resources[dst], to, x, y, w.resources[src], start, rect, R8, mode
    )


def copy(draw):
    a, b = draw(mostly(*ALIKE))
    return lambda w: w.device.copy_resource(w.resources[a], w.resources[b])


def copy_region(draw):
    n, subs, at = (
        draw(mostly((3, 4), (4, 5), (5, 3))),
        (draw(small), draw(small)),
        (draw(small), draw(small)),
    )
    kinds = draw(st.tuples(*[st.booleans()] * 2))
    offset, width = draw(st.sampled_from([0, 512, 1024, 100])), draw(st.integers(0, 6))
    footprint = (R8, width, draw(small) + 1, 1, draw(st.sampled_from([256, 256, 256, 512, 3])))
    box = draw(st.none() | st.just((0, 0, 0, 1, 1, 1)) | st.tuples(*[small] * 6))

    def call(w):
        placed = D3D12_PLACED_SUBRESOURCE_FOOTPRINT(offset, footprint)  # pyright: ignore
        to, source = (
            D3D12_TEXTURE_COPY_LOCATION(
                w.resources[6] if buffer else w.resources[i],
                PLACED if buffer else SUBRESOURCE,
                placed,
                sub,
            )  # pyright: ignore
            for i, sub, buffer in zip(n, subs, kinds, strict=True)
        )
        w.device.copy_texture_region(to, *at, 0, source, box)

    return call


def copy_bytes(draw):
    a, b = draw(mostly((6, 9), (9, 6), (6, 6)))
    numbers = [draw(st.integers(-1, 1500)) for _ in range(3)]
    return lambda w: w.device.copy_buffer_region(
        w.resources[a], numbers[0], w.resources[b], numbers[1], numbers[2]
    )


def decode(draw):
    a = draw(mostly(0, 1, 2))
    return lambda w: w.device.decode_sampler_feedback(w.resources[a])


def cpu(draw):
    a, sub, how = (
        draw(mostly(3, 4, 6)),
        draw(small),
        draw(st.sampled_from(["read", "write", "map"])),
    )

    def call(w):
        resource = w.resources[a]
        if how == "read":
            resource.read_from_subresource(sub)
        elif how == "write":
            resource.write_to_subresource(np.full((3, 5), 8, np.uint8), sub)
        else:
            resource.map()

    return call


def execute(draw):
    return lambda w: w.device.execute()


def place(draw):
    offset, size = draw(st.sampled_from([0, 256, 100])), draw(st.sampled_from([4, 400]))
    state = draw(st.sampled_from(STATES))
    fields = {"Flags": draw(st.sampled_from([0, UAV]))}

    def call(w):
        heap = w.device.create_heap(D3D12_HEAP_DESC(1 << 16))
        before = w.seen()
        try:
            w.device.create_placed_resource1(
                heap, offset, plain_desc((size, size), **fields), state
            )
        except D3D12Error:
            assert w.seen() == before

    return call


KINDS = {
    f.__name__: f
    for f in (barrier, clear, clear, write, sample, load, resolve, copy, copy_region, copy_bytes)
} | {f.__name__: f for f in (decode, cpu, execute, place)}


@settings(max_examples=80, deadline=None)
@given(xbox=st.booleans(), script=st.lists(calls(), min_size=10, max_size=30))
def test_a_refused_call_changes_nothing(xbox, script):
    world = World(xbox=xbox)
    for _, call in script:
        before = world.seen()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", D3D12Warning)
            try:
                call(world)
                continue
            except D3D12Error as error:
                said = str(error)
        assert "\n" not in said
        assert len(said) < 400
        assert world.seen() == before


@settings(max_examples=30, deadline=None)
@given(script=st.lists(calls(), min_size=5, max_size=15))
def test_a_device_answers_the_same_twice(script):
    outcomes = []
    for _ in range(2):
        world = World(xbox=True)
        said = []
        for _, call in script:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", D3D12Warning)
                try:
                    call(world)
                    said.append("")
                except D3D12Error as error:
                    said.append(str(error))
        outcomes.append((said, world.device.memory.tobytes()))
    assert outcomes[0] == outcomes[1]


def test_a_refused_look_of_the_cpu_runs_nothing():
    world = World(xbox=True)
    device, view = world.device, world.views[0]
    device.write_sampler_feedback_level(view, world.samplers[0], np.full((1, 4, 2), 0.4), 1)
    before = world.seen()
    for resource, text in ((7, "no memory"), (0, "opaque"), (3, "subresource must be a whole")):
        with pytest.raises(D3D12Error, match=text):
            world.resources[resource].read_from_subresource(1)
    assert world.seen() == before


def test_scripts_do_something():
    """The kinds above are carried out too, not only refused: a frame of a program."""
    world = World(xbox=True)
    device, view = world.device, world.views[0]
    device.clear_unordered_access_view_uint(view)
    device.write_sampler_feedback_level(view, world.samplers[0], np.full((1, 4, 2), 0.4), 1)
    device.execute()
    device.resolve_subresource_region(
        world.resources[3], 0, 0, 0, world.resources[0], WHOLE, None, R8, DECODE
    )
    assert world.resources[3].read_from_subresource().min() == 1
    with pytest.raises(D3D12Error):
        device.copy_resource(world.resources[3], world.resources[4])
