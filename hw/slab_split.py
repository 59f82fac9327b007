"""Slab split: a part of a volume's request becomes one beat for each depth (spec 02, 03, 04)."""

from amaranth.hdl import Cat, Module, Mux, Signal, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.beats import footprint_beat
from minmip.hw.config import UnitConfig
from minmip.hw.descriptor_words import LINKED_FILTER
from minmip.hw.shapes import TEXEL_BITS
from minmip.hw.word_beats import slab_beat

__all__ = ["SlabSplit"]

HEAD = ("context", "code", "flush", "tag", "first_lane", "linked", "packing", "ramp")
"""What goes through unchanged."""
HALF = TEXEL_BITS // 2
DEPTH = 2
"""The axis that is taken out."""


def _second(cfg: UnitConfig) -> data.StructLayout:
    """What the second slab has of its own."""
    lane = data.StructLayout(
        {
            "slice": unsigned(TEXEL_BITS),
            "x_touched": unsigned(2),
            "y_touched": unsigned(2),
        }
    )
    return data.StructLayout(
        {
            "active": unsigned(cfg.lanes),
            "last": unsigned(1),
            "lane": data.ArrayLayout(lane, cfg.lanes),
        }
    )


class SlabSplit(wiring.Component):
    """Take the depth out of a beat: what is left are two columns and two rows in a slice.

    A beat of a volume makes one for the first texel of its third axis, and a second one if any
    active lane touches another depth, too. Writing lanes are active where they touch the depth.
    Those of the MinMip filter (linked type 4) stay active, but have no texel elsewhere: it counts
    as 0 and changes no maximum. All other beats pass as they are, in their `slice`; a volume has
    slice 0.

    One beat per clock at the output. Latency 2: the depths are compared in the first clock.
    `i.ready` follows `o.ready` combinationally, through one gate; `o.valid` and `o.payload` are
    registers. Without volumes there is nothing to do: latency 0, the output follows the input.

    Parameters
    ----------
    cfg : UnitConfig
        `lanes` and `axes`.

    Members
    -------
    i : In(stream.Signature(footprint_beat(cfg)))
    o : Out(stream.Signature(slab_beat(cfg)))
        Fields of lanes that are not active mean nothing.
    """

    i: stream.Interface
    o: stream.Interface

    def __init__(self, cfg: UnitConfig):
        self.cfg = cfg
        self.latency = 2 * cfg.volumes
        super().__init__(
            {
                "i": In(stream.Signature(footprint_beat(cfg))),
                "o": Out(stream.Signature(slab_beat(cfg))),
            }
        )

    def elaborate(self, platform):
        m = Module()
        if self.cfg.volumes:
            payload = Signal(slab_beat(self.cfg), reset_less=True)
            m.d.comb += self.o.payload.eq(payload)
            self._volumes(m, payload)
        else:
            beat = self.i.payload
            self._flat(m.d.comb, self.o.payload, beat)
            m.d.comb += [
                self.i.ready.eq(self.o.ready),
                self.o.valid.eq(self.i.valid),
                self.o.payload.active.eq(beat.active),
                self.o.payload.last.eq(beat.last),
                self.o.payload.done.eq(1),
            ]
        return m

    def _flat(self, domain, payload, beat) -> None:
        """Fill in what a beat has without its depth."""
        domain += [payload[name].eq(beat[name]) for name in HEAD]
        domain += payload.slab.eq(0)
        for o, lane in zip(payload.lane, beat.lane, strict=True):
            domain += [
                o.x.eq(lane.axis[0].texel),
                o.y.eq(lane.axis[1].texel),
                o.x_touched.eq(lane.axis[0].touched),
                o.y_touched.eq(lane.axis[1].touched),
                o.slice.eq(lane.slice),
                o.mip.eq(lane.mip),
                o.value.eq(lane.value),
            ]
            domain += [o.fraction[n].eq(axis.weight) for n, axis in enumerate(lane.axis)]

    def _volumes(self, m: Module, payload) -> None:
        lanes = range(self.cfg.lanes)
        take = ~self.o.valid | (self.o.ready & payload.done)

        # Clock 1: is the second depth another one than that of the first slab? By halves.
        beat = Signal(footprint_beat(self.cfg), reset_less=True)
        held = Signal()  # `beat` is one
        filters = Signal(reset_less=True)
        differs = [Signal(2, name=f"differs{n}", reset_less=True) for n in lanes]
        m.d.comb += self.i.ready.eq(~held | take)
        with m.If(self.i.ready):
            m.d.sync += [
                held.eq(self.i.valid),
                beat.eq(self.i.payload),
                filters.eq(self.i.payload.linked == LINKED_FILTER),
            ]
            for n in lanes:
                depth = self.i.payload.lane[n].axis[DEPTH]
                either = depth.texel[0] ^ depth.texel[1]
                m.d.sync += differs[n].eq(
                    Cat(either[:HALF].any() | ~depth.touched[0], either[HALF:].any())
                )

        # Clock 2: the first slab goes out, what the second has of its own waits beside it.
        depths = [lane.axis[DEPTH] for lane in beat.lane]
        first = Cat(depth.touched[0] for depth in depths)
        second = Signal(self.cfg.lanes)
        m.d.comb += [
            second[n].eq(beat.active[n] & depths[n].touched[1] & differs[n].any()) for n in lanes
        ]
        waiting = Signal(_second(self.cfg), reset_less=True)
        with m.If(take):
            m.d.sync += self.o.valid.eq(held)
            self._flat(m.d.sync, payload, beat)
            m.d.sync += [
                payload.active.eq(beat.active & (first | filters.replicate(len(first)))),
                payload.done.eq(~second.any()),
                payload.last.eq(beat.last & ~second.any()),
                waiting.active.eq(Mux(filters, beat.active, second)),
                waiting.last.eq(beat.last),
            ]
            for n in lanes:
                near, far = depths[n].texel
                x, y = (beat.lane[n].axis[axis].touched.as_value() for axis in range(DEPTH))
                m.d.sync += [
                    # One of the two is 0: only volumes have depths, and they have no slices.
                    payload.lane[n].slice.eq(beat.lane[n].slice | near),
                    payload.lane[n].x_touched.eq(x & first[n].replicate(2)),
                    payload.lane[n].y_touched.eq(y & first[n].replicate(2)),
                    waiting.lane[n].slice.eq(far),
                    waiting.lane[n].x_touched.eq(x & second[n].replicate(2)),
                    waiting.lane[n].y_touched.eq(y & second[n].replicate(2)),
                ]
        with m.Elif(self.o.ready):
            m.d.sync += [
                payload.slab.eq(1),
                payload.done.eq(1),
                payload.last.eq(waiting.last),
                payload.active.eq(waiting.active),
            ]
            for o, own in zip(payload.lane, waiting.lane, strict=True):
                m.d.sync += [o[name].eq(own[name]) for name in ("slice", "x_touched", "y_touched")]
