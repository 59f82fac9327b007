"""Quads to parts of as many lanes as the unit works on at once."""

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.beats import part_beat, quad_beat
from minmip.hw.config import UnitConfig
from minmip.hw.lib.delay import delay
from minmip.hw.lib.queue import Queue
from minmip.hw.opcode import has_bias, is_explicit, is_implicit, is_level_zero

__all__ = ["LaneSplit"]

HEAD = ("context", "code", "flush", "tag")


class LaneSplit(wiring.Component):
    """Send a quad on in 4 / `lanes` parts, lane 0 first, with its opcode decoded (spec 02).

    SAMPLE and SAMPLE_B are `implicit`: lane 0 of every part has the quad's one pair of gradients.
    SAMPLE_L and SAMPLE_LZ are `explicit`, with the level of the operand or 0. SAMPLE_B
    `has_bias`. Opcodes 5 to 7 do not exist; they count as SAMPLE_LZ.

    One part per clock, latency 3. `i.ready`, `o.valid` and `o.payload` are registers, and `o.ready`
    reaches nothing but registers: a queue of parts stands at the output, so that no `ready` goes on
    to the registers of whole quads in front.

    Parameters
    ----------
    cfg : UnitConfig
        `lanes`.

    Attributes
    ----------
    queue, room
        The state that proofs look at: parts at the output, and whether one more may come.

    Members
    -------
    i : In(stream.Signature(quad_beat(cfg)))
    o : Out(stream.Signature(part_beat(cfg)))
    """

    latency = 3

    i: stream.Interface
    o: stream.Interface

    def __init__(self, cfg: UnitConfig):
        self.cfg = cfg
        self.queue = Queue(part_beat(cfg), 8)
        self.room = Signal()
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
        last = Signal(init=parts == 1)
        m.submodules.queue = queue = self.queue
        wiring.connect(m, queue.o, wiring.flipped(self.o))
        # A part goes if there is `room`, a quad with its last part: `go`. Registers say both, since
        # a thousand others wait for them. Three rows were free: one part may have been on its way
        # to the queue, another one went since.
        room, go, step = self.room, Signal(), Signal()
        beat = Signal(part_beat(self.cfg))
        m.d.comb += [step.eq(self.i.valid & room), self.i.ready.eq(go)]
        m.d.sync += room.eq(queue.free > 1)
        m.d.comb += [
            Value.cast(queue.i.payload).eq(delay(m, Value.cast(beat), 1, name="beat")),
            queue.i.valid.eq(delay(m, step, 1, name="step", reset_less=False)),
        ]
        self._quad(m, beat)
        m.d.comb += beat.last_part.eq(last)
        with m.Switch(part):
            for n in range(parts):
                with m.Case(n):
                    m.d.comb += beat.first_lane.eq(n * lanes)
                    self._lanes(m, beat, n * lanes)

        next_last = Signal()
        m.d.comb += next_last.eq(last)
        m.d.sync += [last.eq(next_last), go.eq(next_last & (queue.free > 1))]
        if parts > 1:
            with m.If(step):
                m.d.comb += next_last.eq(part == parts - 2)
                m.d.sync += part.eq(Mux(last, 0, part + 1))
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
