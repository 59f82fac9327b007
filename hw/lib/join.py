"""Several streams to one, beat by beat."""

from amaranth.hdl import Module
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

__all__ = ["Join"]


class Join(wiring.Component):
    """Wait for a beat of every input and hand them on as one struct.

    One beat per clock, latency 0. `o.valid` and `o.payload` follow the inputs combinationally, and
    each `ready` follows `o.ready` and the other inputs' `valid`.

    Parameters
    ----------
    shapes : dict of str to ShapeLike
        Payload of each input by name.

    Members
    -------
    i_<name> : In(stream.Signature(shapes[name]))
    o : Out(stream.Signature(data.StructLayout(shapes)))
    """

    o: stream.Interface

    def __init__(self, shapes: dict):
        if len(shapes) < 2:
            raise ValueError(f"shapes must name 2 inputs or more, not {len(shapes)}")
        self.shapes = dict(shapes)
        super().__init__(
            {
                **{f"i_{name}": In(stream.Signature(shape)) for name, shape in shapes.items()},
                "o": Out(stream.Signature(data.StructLayout(shapes))),
            }
        )

    def elaborate(self, platform):
        m = Module()
        inputs = {name: getattr(self, f"i_{name}") for name in self.shapes}
        valid = 1
        for name, i in inputs.items():
            valid = i.valid & valid
            m.d.comb += [
                self.o.payload[name].eq(i.payload),
                i.ready.eq(self.o.valid & self.o.ready),
            ]
        m.d.comb += self.o.valid.eq(valid)
        return m
