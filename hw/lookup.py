"""A stage that fetches what it needs of a beat's descriptors."""

from amaranth.hdl import Module
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.beats import control_fields
from minmip.hw.config import UnitConfig
from minmip.hw.shapes import context_index

__all__ = ["Lookup"]


class Lookup(wiring.Component):
    """Put some fields of the control struct beside a beat, found by its context.

    One beat per clock, latency 1 or 0. `i.ready` follows `o.ready` combinationally; `context`
    follows the input and `control` must follow it in the same clock.

    Parameters
    ----------
    cfg : UnitConfig
    shape : data.StructLayout
        The beat, with a field `context`.
    fields : tuple of str
        Names of fields of `control`.
    registered : bool
        Latency 1; without, all is combinational, and the stage behind has an entry register.

    Members
    -------
    i : In(stream.Signature(shape))
    o : Out(stream.Signature(StructLayout({"beat": shape, "control": control_fields(...)})))
    context : Out(context_index(cfg))
    control : In(control_fields(cfg, *fields))
    """

    i: stream.Interface
    o: stream.Interface

    def __init__(
        self,
        cfg: UnitConfig,
        shape: data.StructLayout,
        fields: tuple[str, ...],
        *,
        registered: bool,
    ):
        self.cfg, self.shape, self.fields = cfg, shape, fields
        self.registered = registered
        control = control_fields(cfg, *fields)
        super().__init__(
            {
                "i": In(stream.Signature(shape)),
                "o": Out(stream.Signature(data.StructLayout({"beat": shape, "control": control}))),
                "context": Out(context_index(cfg)),
                "control": In(control),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.d.comb += self.context.eq(self.i.payload.context)
        if not self.registered:
            m.d.comb += [
                self.i.ready.eq(self.o.ready),
                self.o.valid.eq(self.i.valid),
                self.o.payload.beat.eq(self.i.payload),
                self.o.payload.control.eq(self.control),
            ]
            return m
        with m.If(~self.o.valid | self.o.ready):
            m.d.comb += self.i.ready.eq(1)
            m.d.sync += [
                self.o.valid.eq(self.i.valid),
                self.o.payload.beat.eq(self.i.payload),
                self.o.payload.control.eq(self.control),
            ]
        return m
