"""Quads to parts of as many lanes as the unit works on at once."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.beats import part_beat, quad_beat
from minmip.hw.config import UnitConfig
from minmip.hw.lib.queue import Queue
from minmip.hw.opcode import has_bias, is_explicit, is_implicit, is_level_zero

__all__ = ["LaneSplit"]

HEAD = ("context", "code", "flush", "tag")


class LaneSplit(wiring.Component):
    """Send a quad on in 4 / `lanes` parts, lane 0 first, with its opcode decoded (spec 02).

    SAMPLE and SAMPLE_B are `implicit`: lane 0 of every part has the quad's one pair of gradients.
    SAMPLE_L and SAMPLE_LZ are `explicit`, with the level of the operand or 0. SAMPLE_B
    `has_bias`. Opcodes 5 to 7 do not exist; they count as SAMPLE_LZ.

    One part per clock, latency 2. `i.ready`, `o.valid` and `o.payload` are registers, and `o.ready`
    reaches nothing but registers: a queue of two parts stands at the output, so that no `ready`
    goes on to the registers of whole quads in front.

    Parameters
    ----------
    cfg : UnitConfig
        `lanes`.

    Members
    -------
    i : In(stream.Signature(quad_beat(cfg)))
    o : Out(stream.Signature(part_beat(cfg)))
    """

    latency = 2

    i: stream.Interface
    o: stream.Interface

    def __init__(self, cfg: UnitConfig):
        self.cfg = cfg
        self.queue = Queue(part_beat(cfg), 2)
        super().__init__(
            {
                "i": In(stream.Signature(quad_beat(cfg))),
                "o": Out(stream.Signature(part_beat(cfg))),
            }
        )

    def elaborate(self, platform):
        m = Module()
        lanes = self.cfg.lanes
        parts = 4 // lanes
        part = Signal(range(max(parts, 2)))  # 0 bits are no Verilog
        last = Signal(init=parts == 1)  # a register: the whole quad waits for it
        m.submodules.queue = queue = self.queue
        wiring.connect(m, queue.o, wiring.flipped(self.o))
        beat = queue.i.payload
        m.d.comb += [
            queue.i.valid.eq(self.i.valid),
            self.i.ready.eq(queue.i.ready & last),
        ]
        self._quad(m, beat)
        m.d.comb += beat.last_part.eq(last)
        with m.Switch(part):
            for n in range(parts):
                with m.Case(n):
                    m.d.comb += beat.first_lane.eq(n * lanes)
                    self._lanes(m, beat, n * lanes)

        if parts > 1:
            with m.If(self.i.valid & queue.i.ready):
                m.d.sync += [part.eq(Mux(last, 0, part + 1)), last.eq(part == parts - 2)]
        return m

    def _quad(self, m, beat):
        """Fill in what all parts of a quad share."""
        quad = self.i.payload
        opcode = quad.opcode
        m.d.comb += [
            *(beat[name].eq(quad[name]) for name in HEAD),
            beat.implicit.eq(is_implicit(opcode)),
            beat.explicit.eq(is_explicit(opcode)),
            beat.has_bias.eq(has_bias(opcode)),
            beat.has_clamp.eq(quad.has_clamp),
        ]

    def _lanes(self, m, beat, first):
        """Fill in the lanes of the part that begins with lane `first`."""
        quad = self.i.payload
        m.d.comb += beat.live.eq(quad.live[first : first + self.cfg.lanes])
        for n, lane in enumerate(beat.lane):
            own = first + n
            m.d.comb += [
                lane.uvw.eq(quad.uvw[own]),
                lane.slice.eq(quad.slice[own]),
                lane.clamp.eq(quad.clamp[own]),
                lane.level.eq(Mux(is_level_zero(quad.opcode), 0, quad.lod[own])),
            ]
            for name in ("ddx", "ddy"):
                gradient = quad[name][own].as_value()
                if n == 0:
                    gradient = Mux(is_implicit(quad.opcode), quad[name][0].as_value(), gradient)
                m.d.comb += lane[name].as_value().eq(gradient)
