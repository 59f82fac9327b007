"""LOD of each lane, and the other operands as fixed point (spec 02 "LOD")."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.beats import LOD, control_fields, lod_beat, part_beat
from minmip.hw.config import UnitConfig
from minmip.hw.lib.credit import CreditBuffer
from minmip.hw.lib.delay import delay
from minmip.hw.lib.queue import Queue
from minmip.hw.lod import LOD_MIN
from minmip.hw.lod_array import LodArray
from minmip.hw.operand_to_fixed import OperandToFixed
from minmip.hw.shapes import FLOAT, SLICE_BITS

__all__ = ["LaneLod"]

FLOATS = data.StructLayout({"level": FLOAT, "clamp": FLOAT, "slice": FLOAT})
"""Operands of a lane besides its coordinates and gradients."""
OPERAND = data.StructLayout(
    {
        "level": LOD,
        "level_nan": unsigned(1),
        "clamp": LOD,
        "clamp_nan": unsigned(1),
        "slice": unsigned(SLICE_BITS),
    }
)
"""The same as fixed point; a NaN is 0."""
HEAD = ("context", "code", "flush", "tag", "first_lane", "last_part", "live")
"""What a beat keeps as it is."""
KINDS = ("explicit", "has_bias", "has_clamp")
"""What says which operands count."""


class Operands(wiring.Component):
    """Turn the float operands of every lane to fixed point.

    Free running, one part per clock, latency `OperandToFixed.latency`.

    Parameters
    ----------
    lanes : int

    Members
    -------
    i : In(ArrayLayout(FLOATS, lanes))
    o : Out(ArrayLayout(OPERAND, lanes))
    """

    i: data.View
    o: data.View

    latency = OperandToFixed.latency

    def __init__(self, lanes: int):
        self.lanes = lanes
        super().__init__(
            {
                "i": In(data.ArrayLayout(FLOATS, lanes)),
                "o": Out(data.ArrayLayout(OPERAND, lanes)),
            }
        )

    def elaborate(self, platform):
        m = Module()
        for lane in range(self.lanes):
            level, clamp = (OperandToFixed(15, 8, negative=True) for _ in range(2))
            number = OperandToFixed(SLICE_BITS, 0, negative=False)
            m.submodules[f"level{lane}"] = level
            m.submodules[f"clamp{lane}"] = clamp
            m.submodules[f"slice{lane}"] = number
            result = self.o[lane]
            m.d.comb += [
                level.i.eq(self.i[lane].level),
                clamp.i.eq(self.i[lane].clamp),
                number.i.eq(self.i[lane].slice),
                result.level.eq(level.o),
                result.level_nan.eq(level.nan),
                result.clamp.eq(clamp.o),
                result.clamp_nan.eq(clamp.nan),
                result.slice.eq(number.o),
            ]
        return m


class LaneLod(wiring.Component):
    """LOD before bias and clamps, tap count, line and the other operands of each lane.

    One part per clock; a part whose lanes have their own gradients takes `lanes / lod_units`
    clocks. Latency `latency`, of every part. No `ready` runs through it: `i.ready` and `o.valid`
    follow registers, and so does `o.payload`, through one look-up table a bit.

    What the LODs do not need waits in two queues beside their credit buffer.

    Parameters
    ----------
    cfg : UnitConfig
        `lanes`, `lod_units`, number of axes, the algorithm's widths and table.

    Attributes
    ----------
    buffer : CreditBuffer
    operand_queue, side_queue : Queue
        The state that proofs look at.

    Members
    -------
    i : In(stream.Signature(StructLayout({"beat": part_beat(cfg), "control": control_fields(...)})))
        With `view_size`, `axes`, `aniso`, `max_aniso_log2` and `threshold`.
    o : Out(stream.Signature(lod_beat(cfg)))
    """

    i: stream.Interface
    o: stream.Interface

    control = ("view_size", "axes", "aniso", "max_aniso_log2", "threshold")
    """Fields of the descriptors that a beat comes with."""

    def __init__(self, cfg: UnitConfig):
        self.cfg = cfg
        lods = LodArray(cfg)
        self.steps = lods.steps
        self.buffer = CreditBuffer(lods, entry=1)
        self.latency = self.buffer.latency
        part = part_beat(cfg)
        pairs = data.ArrayLayout(data.ArrayLayout(FLOAT, 2), cfg.lanes)
        uvw = data.ArrayLayout(data.ArrayLayout(FLOAT, cfg.axes), cfg.lanes)
        side = data.StructLayout(
            {name: part[name].shape for name in (*HEAD, *KINDS)}
            | {"uvw": uvw, "ddx": pairs, "ddy": pairs}
        )
        # Whatever is inside the credit buffer has a place in the queues too.
        rows = self.buffer.queue.depth
        self.operands = Operands(cfg.lanes)
        self.operand_queue = Queue(self.operands.o.shape(), rows, never_full=True)
        self.side_queue = Queue(side, rows, never_full=True)
        control = control_fields(cfg, *self.control)
        super().__init__(
            {
                "i": In(stream.Signature(data.StructLayout({"beat": part, "control": control}))),
                "o": Out(stream.Signature(lod_beat(cfg))),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.buffer = buffer = self.buffer
        m.submodules.operands = self.operands
        m.submodules.operand_queue = operand_queue = self.operand_queue
        m.submodules.side_queue = side_queue = self.side_queue
        beat = self.i.payload.beat
        own, take = Signal(), Signal()
        free = self._pace(m, take & own)
        take_q1 = delay(m, take, 1, name="take", reset_less=False)
        m.d.comb += [
            own.eq(~beat.implicit & ~beat.explicit),
            take.eq(self.i.valid & self.i.ready),
            self.i.ready.eq(buffer.i.ready & free),
            buffer.i.valid.eq(self.i.valid & free),
            side_queue.i.valid.eq(take_q1),
            operand_queue.i.valid.eq(
                delay(m, take_q1, self.operands.latency, name="operands", reset_less=False)
            ),
        ]
        self._part(m, beat, own)

        # The LODs come last: operands and side data wait for them.
        m.d.comb += [
            self.o.valid.eq(buffer.o.valid),
            buffer.o.ready.eq(self.o.ready),
            operand_queue.o.ready.eq(self.o.ready & buffer.o.valid),
            side_queue.o.ready.eq(self.o.ready & buffer.o.valid),
        ]
        self._result(m, buffer.o.payload, operand_queue.o.payload, side_queue.o.payload)
        return m

    def _pace(self, m, slow):
        """1 when a part may come: gradients of the one before no longer enter the datapaths."""
        if self.steps == 1:
            return Const(1, 1)
        left = Signal(range(self.steps))
        with m.If(slow):
            m.d.sync += left.eq(self.steps - 1)
        with m.Elif(left.any()):
            m.d.sync += left.eq(left - 1)
        return ~left.any()

    def _part(self, m, beat, own):
        """Take a part asunder: for the LODs, for the other operands, and what stays as it is."""
        request, side = self.buffer.i.payload, self.side_queue.i.payload
        control = self.i.payload.control
        m.d.comb += [
            request.own.eq(own),
            request.size.eq(control.view_size),
            self.operand_queue.i.payload.eq(self.operands.o),
        ]
        m.d.comb += [request[name].eq(control[name]) for name in self.control[1:]]
        for n in range(self.cfg.lanes):
            m.d.comb += [request[name][n].eq(beat.lane[n][name]) for name in ("ddx", "ddy")]

        # The others have an entry register too, the same for what several need.
        beat = data.View(beat.shape(), delay(m, Value.cast(beat), 1, name="beat"))
        m.d.comb += [side[name].eq(beat[name]) for name in (*HEAD, *KINDS)]
        for n in range(self.cfg.lanes):
            lane = beat.lane[n]
            m.d.comb += side.uvw[n].eq(lane.uvw)
            m.d.comb += [self.operands.i[n][name].eq(lane[name]) for name, _ in FLOATS]
            for name in ("ddx", "ddy"):
                for axis in range(2):
                    pair, shared = lane[name][axis], beat.lane[0][name][axis]
                    m.d.comb += side[name][n][axis].eq(Mux(beat.implicit, shared, pair))

    def _result(self, m, lods, operands, side):
        """Put a beat together."""
        o = self.o.payload
        m.d.comb += [o[name].eq(side[name]) for name in HEAD]
        for n in range(self.cfg.lanes):
            lod, operand, lane = lods[n], operands[n], o.lane[n]
            line = (Mux(lod.major_is_x, side.ddx[n][axis], side.ddy[n][axis]) for axis in range(2))
            m.d.comb += [
                lane.uvw.eq(side.uvw[n]),
                lane.slice.eq(operand.slice),
                lane.lod.eq(Mux(side.explicit, operand.level, lod.lod)),
                lane.undefined.eq(Mux(side.explicit, operand.level_nan, lod.undefined)),
                lane.taps_log2.eq(Mux(side.explicit, 0, lod.taps_log2)),
                lane.line.as_value().eq(Cat(line)),
                lane.bias.eq(Mux(side.has_bias, operand.level, 0)),
                lane.clamp.eq(Mux(side.has_clamp & ~operand.clamp_nan, operand.clamp, LOD_MIN)),
            ]
