"""Gradients of quads with an implicit opcode."""

from amaranth.hdl import Module, Mux
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.beats import quad_operands
from minmip.hw.config import UnitConfig
from minmip.hw.gradient import GradientDatapath
from minmip.hw.lib.side_buffer import SideBuffer
from minmip.hw.opcode import is_implicit

__all__ = ["QuadGradients"]


class QuadGradients(wiring.Component):
    """Put the differences of the coordinates in the place of lane 0's gradients (spec 02 "Inputs").

    For SAMPLE and SAMPLE_B: lane 1 - lane 0 and lane 2 - lane 0, whatever their exec bits. Quads
    with another opcode, and everything else in the beat, stay as they are.

    One quad per clock, latency `latency`. `i.ready` and `o.valid` are registers; `o.payload`
    follows registers through one look-up table; `o.ready` reaches nothing but registers.

    Parameters
    ----------
    cfg : UnitConfig
        Number of axes.

    Members
    -------
    i : In(stream.Signature(quad_operands(cfg)))
    o : Out(stream.Signature(quad_operands(cfg)))
    """

    i: stream.Interface
    o: stream.Interface

    def __init__(self, cfg: UnitConfig):
        self.cfg = cfg
        quad = quad_operands(cfg)
        self.side = SideBuffer(GradientDatapath(cfg), quad)
        self.latency = self.side.latency
        super().__init__({"i": In(stream.Signature(quad)), "o": Out(stream.Signature(quad))})

    def elaborate(self, platform):
        m = Module()
        m.submodules.side = side = self.side
        quad, result, o = side.o.payload.side, side.o.payload.beat, self.o.payload
        m.d.comb += [
            side.i.valid.eq(self.i.valid),
            self.i.ready.eq(side.i.ready),
            side.i.payload.side.eq(self.i.payload),
            self.o.valid.eq(side.o.valid),
            side.o.ready.eq(self.o.ready),
            o.eq(quad),
        ]
        for lane in range(3):
            m.d.comb += side.i.payload.beat.uvw[lane].eq(self.i.payload.uvw[lane])
        for name in ("ddx", "ddy"):
            for axis in range(self.cfg.axes):
                given, difference = quad[name][0][axis], result[name][axis]
                m.d.comb += o[name][0][axis].eq(Mux(is_implicit(quad.opcode), difference, given))
        return m
