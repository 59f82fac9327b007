"""Bias, clamps and mip levels of each lane (spec 02 "LOD" and "Mip choice")."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, signed, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.beats import LOD, control_fields, lod_beat, mip_beat
from minmip.hw.config import UnitConfig
from minmip.hw.descriptor_words import LINKED_FILTER, LINKED_MAX, LINKED_MIN
from minmip.hw.lib.arithmetic import add_carry
from minmip.hw.lib.delay import delay
from minmip.hw.lib.side_buffer import SideBuffer

__all__ = ["MipChoice", "MipDatapath"]

CONTROL = (
    "lod_bias",
    "min_lod",
    "max_lod",
    "view_min_lod",
    "base_level",
    "last_level",
    "mag_linear",
    "min_linear",
    "mip_filter",
    "linked",
)
"""Fields of the descriptors that a beat comes with."""
MIP_NONE, MIP_POINT = 0, 1
"""Mip filters; 2 and 3 are linear."""
ONE_LEVEL = (LINKED_MIN, LINKED_MAX, LINKED_FILTER)
"""Linked types whose map has one mip level: the second is never touched."""

CHOSEN = data.StructLayout(
    {
        "lod": LOD,
        "limited": unsigned(12),
        "mip": unsigned(4),
        "second": unsigned(1),
        "linear": unsigned(1),
    }
)
"""What the choice adds to a lane."""
KEPT = ("uvw", "line", "slice", "taps_log2")
"""What a lane keeps as it is."""


class MipDatapath(wiring.Component):
    """From the LOD before bias to the first mip, by lane.

    Free running, one part per clock, latency 10. Everything counts 1/256.

    The clamps are `max(min(LOD + biases, MAX_LOD), lower)` with `lower` the largest of the three
    lower limits. Those of the descriptors are not negative, and so the clamped LOD is not either.

    Parameters
    ----------
    cfg : UnitConfig
        `lanes`.

    Members
    -------
    i : In(StructLayout)
        `lod`, `undefined`, `bias`, `clamp` of each lane, and `control`.
    i_valid : In(1)
    o : Out(ArrayLayout(CHOSEN, lanes))
    o_valid : Out(1)
    """

    i: data.View
    i_valid: Signal
    o: data.View
    o_valid: Signal

    latency = 10

    def __init__(self, cfg: UnitConfig):
        self.cfg = cfg
        lane = {"lod": LOD, "undefined": unsigned(1), "bias": LOD, "clamp": LOD}
        lanes = data.ArrayLayout(data.StructLayout(lane), cfg.lanes)
        control = control_fields(cfg, *CONTROL)
        super().__init__(
            {
                "i": In(data.StructLayout({"lane": lanes, "control": control})),
                "i_valid": In(1),
                "o": Out(data.ArrayLayout(CHOSEN, cfg.lanes)),
                "o_valid": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        # The request of 0, 1, 2 ... clocks ago; synthesis drops what nobody looks at.
        past: list = [self.i]
        for age in range(1, self.latency):
            past.append(delay(m, past[-1], 1, name=f"request_age{age}"))
        lower_q2, span_q = self._shared(m, past)
        for n in range(self.cfg.lanes):
            lod_q7 = self._clamp(m, n, past, lower_q2)
            self._choose(m, n, past, lod_q7, span_q)
        m.d.comb += self.o_valid.eq(
            delay(m, self.i_valid, self.latency, name="valid", reset_less=False)
        )
        return m

    def _shared(self, m, past):
        """What all lanes share: the descriptors' lower limit, and the view's levels less one."""
        now, before = past[0].control, past[1].control
        less_q1 = Signal(reset_less=True)
        lower_q2 = Signal(12, reset_less=True)
        span_q1 = Signal(4, reset_less=True)
        m.d.sync += [
            less_q1.eq((now.min_lod - now.view_min_lod)[-1]),
            lower_q2.eq(Mux(less_q1, before.view_min_lod, before.min_lod)),
            span_q1.eq(now.last_level - now.base_level),
        ]
        return lower_q2, delay(m, span_q1, 6, name="span")

    def _clamp(self, m, n, past, lower_q2):
        """Clocks 1 to 7: the LOD after bias and clamps, 15 bits."""
        lane = [request.lane[n] for request in past]
        control = [request.control for request in past]

        def register(shape, name):
            return Signal(shape, name=f"{name}_{n}", reset_less=True)

        # A LOD at an end takes no bias.
        offset_q1 = register(signed(17), "offset_q1")
        ones_q1, zeros_q1 = register(4, "ones_q1"), register(4, "zeros_q1")
        at_end_q2 = register(1, "at_end_q2")
        biased_q3 = register(signed(18), "biased_q3")
        parts = [lane[0].lod[bit : min(bit + 4, 15)] for bit in range(0, 15, 4)]
        offset_q2 = delay(m, offset_q1, 1, name=f"offset_late_{n}")
        m.d.sync += [
            offset_q1.eq(control[0].lod_bias + lane[0].bias),
            ones_q1.eq(Cat(part.all() for part in parts)),
            zeros_q1.eq(Cat(~part.any() for part in parts)),
            at_end_q2.eq(Mux(lane[1].lod[-1], zeros_q1.all(), ones_q1.all())),
            biased_q3.eq(lane[2].lod + Mux(at_end_q2, 0, offset_q2)),
        ]

        # The lower limit beside it, not under 0.
        below_q3 = register(1, "below_q3")
        lower_q4 = register(15, "lower_q4")
        lower_q3 = delay(m, lower_q2, 1, name=f"lower_late_{n}")
        m.d.sync += [
            below_q3.eq((lane[2].clamp - lower_q2)[-1]),
            lower_q4.eq(Mux(below_q3, lower_q3, lane[3].clamp)),
        ]

        over_q4 = register(1, "over_q4")
        upper_q5 = register(signed(18), "upper_q5")
        less_q6 = register(1, "less_q6")
        lod_q7 = register(15, "lod_q7")
        biased_q4 = delay(m, biased_q3, 1, name=f"biased_late_{n}")
        upper_q6 = delay(m, upper_q5, 1, name=f"upper_late_{n}")
        lower_q5 = delay(m, lower_q4, 1, name=f"lower_q4_late_{n}")
        lower_q6 = delay(m, lower_q5, 1, name=f"lower_q5_late_{n}")
        m.d.sync += [
            over_q4.eq((control[3].max_lod - biased_q3)[-1]),
            upper_q5.eq(Mux(over_q4 | lane[4].undefined, control[4].max_lod, biased_q4)),
            less_q6.eq((upper_q5 - lower_q5)[-1]),
            lod_q7.eq(Mux(less_q6, lower_q6, upper_q6)),
        ]
        return lod_q7

    def _choose(self, m, n, past, lod_q7, span_q7):
        """Clocks 8 to 10: filter and mip levels."""
        control_q8, control_q9 = past[8].control, past[9].control

        def register(width, name):
            return Signal(width, name=f"{name}_{n}", reset_less=True)

        # The LOD is never negative: it magnifies at 0.
        inside_q8, zero_q8 = register(1, "inside_q8"), register(1, "zero_q8")
        limited_q9, linear_q9 = register(12, "limited_q9"), register(1, "linear_q9")
        # The MinMip filter has no LOD and takes the magnifying filter (spec 04).
        magnifies_q8 = zero_q8 | (control_q8.linked == LINKED_FILTER)
        lod_q8 = delay(m, lod_q7, 1, name=f"lod_late_{n}")
        span_q8 = delay(m, span_q7, 1, name=f"span_late_{n}")
        m.d.sync += [
            inside_q8.eq((lod_q7[8:] - span_q7)[-1]),
            zero_q8.eq(~lod_q7.any()),
            limited_q9.eq(Mux(inside_q8, lod_q8[:12], Cat(Const(0, 8), span_q8))),
            linear_q9.eq(Mux(magnifies_q8, control_q8.mag_linear, control_q8.min_linear)),
        ]

        mip_q10, second_q10 = register(4, "mip_q10"), register(1, "second_q10")
        some = control_q9.mip_filter != MIP_NONE
        up = (control_q9.mip_filter == MIP_POINT) & limited_q9[7]
        two = control_q9.mip_filter[1] & ~Cat(control_q9.linked == one for one in ONE_LEVEL).any()
        m.d.sync += [
            mip_q10.eq(add_carry(control_q9.base_level, Mux(some, limited_q9[8:], 0), up)),
            second_q10.eq(two & limited_q9[:8].any()),
        ]
        m.d.comb += [
            self.o[n].lod.eq(delay(m, lod_q8, 2, name=f"lod_later_{n}")),
            self.o[n].limited.eq(delay(m, limited_q9, 1, name=f"limited_late_{n}")),
            self.o[n].linear.eq(delay(m, linear_q9, 1, name=f"linear_late_{n}")),
            self.o[n].mip.eq(mip_q10),
            self.o[n].second.eq(second_q10),
        ]


class MipChoice(wiring.Component):
    """The LOD after bias and clamps, and the mips it selects, of each lane.

    The MinMip filter (linked type 4) has one tap and one mip, and blends if the sampler's
    magnifying filter does, whatever the LOD (spec 04).

    One part per clock, latency 13. No `ready` runs through it (`SideBuffer`).

    Parameters
    ----------
    cfg : UnitConfig
        `lanes`, number of axes.

    Members
    -------
    i : In(stream.Signature(StructLayout({"beat": lod_beat(cfg), "control": control_fields(...)})))
        With the fields that `control` names.
    o : Out(stream.Signature(mip_beat(cfg)))
    """

    i: stream.Interface
    o: stream.Interface

    control = CONTROL
    """Fields of the descriptors that a beat comes with."""

    def __init__(self, cfg: UnitConfig):
        self.cfg = cfg
        beat, result = lod_beat(cfg), mip_beat(cfg)
        lane = {name: field.shape for name, field in beat["lane"].shape.elem_shape if name in KEPT}
        self.head = {name: field.shape for name, field in beat if name != "lane"}
        lanes = data.ArrayLayout(data.StructLayout(lane), cfg.lanes)
        side = data.StructLayout(self.head | {"lane": lanes})
        self.buffer = SideBuffer(MipDatapath(cfg), side, entry=1)
        self.latency = self.buffer.latency
        control = control_fields(cfg, *CONTROL)
        super().__init__(
            {
                "i": In(stream.Signature(data.StructLayout({"beat": beat, "control": control}))),
                "o": Out(stream.Signature(result)),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.buffer = buffer = self.buffer
        beat, o = self.i.payload.beat, self.o.payload
        request, result = buffer.i.payload, buffer.o.payload
        m.d.comb += [
            buffer.i.valid.eq(self.i.valid),
            self.i.ready.eq(buffer.i.ready),
            self.o.valid.eq(buffer.o.valid),
            buffer.o.ready.eq(self.o.ready),
            request.beat.control.eq(self.i.payload.control),
        ]
        for name in self.head:
            m.d.comb += [request.side[name].eq(beat[name]), o[name].eq(result.side[name])]
        filters = self.i.payload.control.linked == LINKED_FILTER
        for n in range(self.cfg.lanes):
            lane = beat.lane[n]
            for name, _ in request.beat.lane[n].shape():
                m.d.comb += request.beat.lane[n][name].eq(lane[name])
            for name in KEPT:
                kept = Mux(filters, 0, lane.taps_log2) if name == "taps_log2" else lane[name]
                m.d.comb += [
                    request.side.lane[n][name].eq(kept),
                    o.lane[n][name].eq(result.side.lane[n][name]),
                ]
            for name, _ in CHOSEN:
                m.d.comb += o.lane[n][name].eq(result.beat[n][name])
        return m
