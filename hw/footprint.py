"""Footprint: one tap and mip of a part to texels, slice and byte of each lane (spec 02, 03)."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.beats import control_fields, footprint_beat, tap_beat
from minmip.hw.config import UnitConfig
from minmip.hw.coordinate import CoordinateDatapath
from minmip.hw.descriptor_words import LINKED_FILTER
from minmip.hw.lib.delay import delay
from minmip.hw.lib.less_than import less_than
from minmip.hw.lib.side_buffer import SideBuffer
from minmip.hw.rescale import RescaleDatapath
from minmip.hw.shapes import AXIS_RESULT, SLICE_BITS
from minmip.hw.swizzle import Packing, has_packing, is_layout

__all__ = ["CONTROL", "Footprint", "FootprintDatapath", "footprint_request"]

CONTROL = (
    *("size", "scale", "linked", "axes", "base_level", "clamp", "truncate", "z_linear"),
    *("first_slice", "last_slice", "is_array", "mode", "volume"),
    *("filter_slope2", "filter_offset"),
)
"""Fields of the control struct that footprints need."""

KEPT = ("context", "code", "flush", "tag", "first_lane", "tap", "slot", "last", "active")
LANE_KEPT = ("mip", "lod")
RAMP = {"slope2": "filter_slope2", "offset": "filter_offset"}
"""Fields of the filter's ramp, and of the descriptors."""


def footprint_request(cfg: UnitConfig) -> data.StructLayout:
    """A tap beat with what its descriptors say."""
    return data.StructLayout({"beat": tap_beat(cfg), "control": control_fields(cfg, *CONTROL)})


def _side(cfg: UnitConfig) -> data.StructLayout:
    """What goes to the footprint beat past the datapath; a build without the filter has no ramp."""
    whole = footprint_beat(cfg)
    of_lane = whole["lane"].shape.elem_shape
    lane = data.StructLayout({name: of_lane[name].shape for name in LANE_KEPT})
    return data.StructLayout(
        {name: whole[name].shape for name in (*KEPT, *_made(cfg))}
        | {"lane": data.ArrayLayout(lane, cfg.lanes)}
    )


def _made(cfg: UnitConfig) -> tuple[str, ...]:
    """Fields of the footprint beat that the control fields alone decide."""
    return ("linked", "packing", *(("ramp",) if cfg.filters else ()))


class FootprintDatapath(wiring.Component):
    """Texels, slice and byte of every lane.

    One beat per clock, latency 29: that of the coordinates. The grid is found beside the first
    steps of the coordinate, which do not need it.

    Parameters
    ----------
    cfg : UnitConfig
        `lanes` and `axes`.

    Members
    -------
    i : In(footprint_request(cfg))
    i_valid : In(1)
    o : Out(data.ArrayLayout(..., cfg.lanes))
        `axis`, `slice` and `value` of each lane, as in `footprint_beat`.
    o_valid : Out(1)
    """

    def __init__(self, cfg: UnitConfig):
        self.cfg = cfg
        lanes = range(cfg.lanes)
        self.rescales = [RescaleDatapath(cfg) for _ in lanes]
        self.coordinates = [
            CoordinateDatapath(cfg, size_after=rescale.latency) for rescale in self.rescales
        ]
        self.latency = self.coordinates[0].latency
        lane = data.StructLayout(
            {
                "axis": data.ArrayLayout(AXIS_RESULT, cfg.axes),
                "slice": SLICE_BITS,
                "value": 8,
            }
        )
        super().__init__(
            {
                "i": In(footprint_request(cfg)),
                "i_valid": In(1),
                "o": Out(data.ArrayLayout(lane, cfg.lanes)),
                "o_valid": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        beat, control = self.i.beat, self.i.control
        unused = [
            delay(m, control.axes <= axis, self.latency, name=f"unused{axis}")
            for axis in range(1, self.cfg.axes)
        ]
        filters = control.linked == LINKED_FILTER
        for n, (lane, o) in enumerate(zip(beat.lane, self.o, strict=True)):
            m.submodules[f"rescale{n}"] = rescale = self.rescales[n]
            m.submodules[f"coordinate{n}"] = coordinate = self.coordinates[n]
            m.d.comb += [
                rescale.i.linked.eq(control.linked),
                rescale.i.mip.eq(lane.mip),
                rescale.i.limited_lod.eq(lane.limited),
                rescale.i.base_level.eq(control.base_level),
                coordinate.i.tap.eq(beat.tap),
                coordinate.i.taps_log2.eq(lane.taps_log2),
                coordinate.i.truncate.eq(control.truncate),
            ]
            for axis, request in enumerate(coordinate.i.axis):
                m.d.comb += [
                    rescale.i.size[axis].eq(control.size[axis]),
                    rescale.i.scale[axis].eq(control.scale[axis]),
                    request.coordinate.eq(lane.uvw[axis]),
                    request.major.eq(lane.line[axis] if axis < 2 else 0),
                    request.size.eq(rescale.o.grid[axis]),
                    request.mode.eq(control.clamp[axis]),
                    request.linear.eq(
                        lane.linear if axis < 2 else Mux(filters, lane.linear, control.z_linear)
                    ),
                    request.filter.eq(filters),
                ]
                found = coordinate.o.axis[axis]
                m.d.comb += o.axis[axis].eq(found)
                if axis:  # the first is always in use
                    with m.If(unused[axis - 1]):
                        m.d.comb += o.axis[axis].eq(AXIS_RESULT.const({"touched": [1, 0]}))
            wait = self.latency - rescale.latency
            m.d.comb += [
                o.slice.eq(self._slice(m, lane.slice, control, n)),
                o.value.eq(delay(m, rescale.o.value, wait, name=f"value{n}")),
            ]
        m.d.comb += self.o_valid.eq(
            delay(m, self.i_valid, self.latency, name="valid", reset_less=False)
        )
        return m

    def _slice(self, m: Module, operand, control, n: int):
        """Absolute slice of lane `n`, at the output.

        The view's first plus `operand`, at most the last; 1D and 2D views have one.
        """
        slice_q1 = Signal(SLICE_BITS + 1, name=f"slice{n}", reset_less=True)
        m.d.sync += slice_q1.eq(control.first_slice + operand)
        last = Mux(control.is_array, control.last_slice, control.first_slice)
        last_q1 = delay(m, last, 1, name=f"last{n}")
        beyond_q3 = less_than(m, last_q1, slice_q1, name=f"beyond{n}")
        slice_q3 = delay(m, slice_q1, 2, name=f"slice{n}")
        chosen = Mux(beyond_q3, delay(m, last_q1, 2, name=f"last{n}"), slice_q3)
        return delay(m, chosen[:SLICE_BITS], self.latency - 3, name=f"chosen{n}")


class Footprint(wiring.Component):
    """Footprint of one tap and mip in the grid of the map, or of a plain texture's mip.

    Each lane has a rescale and a coordinate datapath. The array slice is the rounded operand plus
    the view's first one, at most the view's last. Axes not in use have texel 0, touched, weight 0.
    For the MinMip filter (linked type 4, spec 04) the texels are the own one and the near
    neighbour, the third axis blends like the others, and each axis has its ramp: a volume's V
    fields are those of w.

    One beat per clock, latency 31. `ready` is a register (`SideBuffer`).

    Parameters
    ----------
    cfg : UnitConfig
        `lanes` and `axes`.

    Members
    -------
    i : In(stream.Signature(footprint_request(cfg)))
    o : Out(stream.Signature(footprint_beat(cfg)))
        Fields of lanes that are not active mean nothing.
    """

    i: stream.Interface
    o: stream.Interface

    control = CONTROL
    """Fields of the descriptors that a beat comes with."""

    def __init__(self, cfg: UnitConfig):
        self.cfg = cfg
        self.buffer = SideBuffer(FootprintDatapath(cfg), _side(cfg))
        self.latency = self.buffer.latency
        super().__init__(
            {
                "i": In(stream.Signature(footprint_request(cfg))),
                "o": Out(stream.Signature(footprint_beat(cfg))),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.buffer = buffer = self.buffer
        taken, given = buffer.i.payload, buffer.o.payload
        m.d.comb += [
            self.i.ready.eq(buffer.i.ready),
            buffer.i.valid.eq(self.i.valid),
            taken.beat.eq(self.i.payload),
            self.o.valid.eq(buffer.o.valid),
            buffer.o.ready.eq(self.o.ready),
        ]
        self._shared(m, taken.side)
        m.d.comb += [self.o.payload[name].eq(given.side[name]) for name in _made(self.cfg)]
        for name in KEPT:
            m.d.comb += [
                taken.side[name].eq(self.i.payload.beat[name]),
                self.o.payload[name].eq(given.side[name]),
            ]
        for n, o in enumerate(self.o.payload.lane):
            for name in LANE_KEPT:
                m.d.comb += [
                    taken.side.lane[n][name].eq(self.i.payload.beat.lane[n][name]),
                    o[name].eq(given.side.lane[n][name]),
                ]
            m.d.comb += [o[name].eq(given.beat[n][name]) for name in ("axis", "slice", "value")]
        return m

    def _shared(self, m: Module, side) -> None:
        """Fill in what all lanes share."""
        control = self.i.payload.control
        m.d.comb += side.linked.eq(control.linked)
        for bit, kind in enumerate((Packing.D, Packing.THICK)):
            m.d.comb += side.packing[bit].eq(
                is_layout(self.cfg, control.mode, control.volume, has_packing(kind))
            )
        if not self.cfg.filters:
            return
        for name, field in RAMP.items():
            # Fields U, and "V or W".
            first, second = control[field]
            of_axis = (first, Mux(control.axes == 2, second, first), second)
            m.d.comb += [
                one.eq(value) for one, value in zip(side.ramp[name], of_axis, strict=False)
            ]
