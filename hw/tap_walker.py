"""Tap walker: a part of a quad becomes one beat per tap and mip (spec 02)."""

from functools import reduce
from operator import or_

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.beats import mip_beat, tap_beat
from minmip.hw.config import UnitConfig
from minmip.hw.lib.queue import Queue

__all__ = ["TAP_BITS", "TapWalker"]

TAP_BITS = 4
HEAD = ("context", "code", "flush", "tag", "first_lane")
KEPT = ("uvw", "line", "slice", "taps_log2", "lod", "limited", "linear")


def last_tap(taps_log2) -> Value:
    """Last of `2**taps_log2` taps: as many ones. A bitwise OR of such numbers is the largest."""
    return Cat(place < taps_log2 for place in range(TAP_BITS))


def largest(last_taps) -> Value:
    """Largest of several answers of `last_tap`."""
    return reduce(or_, last_taps)


class TapWalker(wiring.Component):
    """Visit the taps and mips of a part (spec 02 "Output": the pattern is by tap, then by mip).

    Tap 0, slot 0 and 1, then tap 1, and so on to the last tap of any live lane. A lane is active
    while it is live and has this tap, in slot 1 only if it has a second mip. A beat without an
    active lane is left out, but a part without live lanes makes one.

    One tap beat per clock, also from one part to the next; latency 3. `ready` follows no other
    `ready`: a queue of four beats stands at the output.

    Parameters
    ----------
    cfg : UnitConfig
        `lanes` and `axes`.

    Members
    -------
    i : In(stream.Signature(mip_beat(cfg)))
        `taps_log2` of live lanes at most 4; `mip` 14 at most where there is a second one.
    o : Out(stream.Signature(tap_beat(cfg)))
        Fields of lanes that are not active mean nothing.
    """

    i: stream.Interface
    o: stream.Interface

    def __init__(self, cfg: UnitConfig):
        self.cfg = cfg
        self.latency = 3
        self.queue = Queue(tap_beat(cfg), 4, early=True)
        super().__init__(
            {
                "i": In(stream.Signature(mip_beat(cfg))),
                "o": Out(stream.Signature(tap_beat(cfg))),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.queue = queue = self.queue
        wiring.connect(m, queue.o, wiring.flipped(self.o))

        part = Signal(mip_beat(self.cfg), reset_less=True)
        held = Signal()  # `part` is one
        tap, slot = Signal(TAP_BITS), Signal()
        final = Signal()  # the last beat of the part
        last = Signal(TAP_BITS)  # last tap of any lane
        last_second = Signal(TAP_BITS)  # and of the lanes with a second mip
        has_second = Signal()  # some lane has a second mip at this tap

        lanes = list(zip(self.i.payload.lane, self.i.payload.live, strict=True))
        taps = [last_tap(lane.taps_log2) & live.replicate(TAP_BITS) for lane, live in lanes]
        second = Cat(lane.second & live for lane, live in lanes)
        take = ~held | (final & queue.i.ready)
        m.d.comb += self.i.ready.eq(take)
        with m.If(take):
            m.d.sync += [
                held.eq(self.i.valid),
                part.eq(self.i.payload),
                tap.eq(0),
                slot.eq(0),
                last.eq(largest(taps)),
                last_second.eq(
                    largest(
                        one & two.replicate(TAP_BITS) for one, two in zip(taps, second, strict=True)
                    )
                ),
                has_second.eq(second.any()),
                final.eq(~(second.any() | Cat(one[0] for one in taps).any())),
            ]
        with m.Elif(queue.i.ready):
            with m.If(has_second & ~slot):
                m.d.sync += [slot.eq(1), final.eq(tap == last)]
            with m.Else():
                next_second = has_second & (tap != last_second)
                m.d.sync += [
                    tap.eq(tap + 1),
                    slot.eq(0),
                    has_second.eq(next_second),
                    # The last tap is odd: the one before differs in bit 0 only.
                    final.eq(((tap ^ last) == 1) & ~next_second),
                ]

        beat = queue.i.payload
        m.d.comb += [queue.i.valid.eq(held), beat.tap.eq(tap), beat.slot.eq(slot)]
        m.d.comb += beat.last.eq(final & part.last_part)
        m.d.comb += [beat[name].eq(part[name]) for name in HEAD]
        for n, (lane, o) in enumerate(zip(part.lane, beat.lane, strict=True)):
            has_tap = ~(tap & ~last_tap(lane.taps_log2)).any()
            m.d.comb += [
                beat.active[n].eq(part.live[n] & has_tap & Mux(slot, lane.second, 1)),
                o.mip.eq(lane.mip + (slot & lane.second)),
            ]
            m.d.comb += [o[name].eq(lane[name]) for name in KEPT]
        return m
