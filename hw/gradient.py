"""Gradients of a quad."""

from amaranth.hdl import Module
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.config import UnitConfig
from minmip.hw.float_sub import FloatSub
from minmip.hw.lib.credit import CreditBuffer
from minmip.hw.lib.delay import delay
from minmip.hw.shapes import gradient_request, gradient_result

__all__ = ["GradientDatapath", "GradientUnit"]


class GradientDatapath(wiring.Component):
    """Differences of lanes 1 and 2 to lane 0, every axis at once (spec 02 "LOD").

    Free running, one quad per clock, latency `FloatSub.latency`.

    Parameters
    ----------
    cfg : UnitConfig
        Number of axes.

    Members
    -------
    i : In(gradient_request(cfg))
    i_valid : In(1)
    o : Out(gradient_result(cfg))
    o_valid : Out(1)
    """

    i: data.View
    o: data.View

    latency = FloatSub.latency

    def __init__(self, cfg: UnitConfig):
        self.cfg = cfg
        super().__init__(
            {
                "i": In(gradient_request(cfg)),
                "i_valid": In(1),
                "o": Out(gradient_result(cfg)),
                "o_valid": Out(1),
            }
        )

    def subtractor(self):
        """One of the subtractors."""
        return FloatSub()

    def elaborate(self, platform):
        m = Module()
        for lane, result in ((1, self.o.ddx), (2, self.o.ddy)):
            for axis in range(self.cfg.axes):
                m.submodules[f"sub{lane}_axis{axis}"] = sub = self.subtractor()
                m.d.comb += [
                    sub.a.eq(self.i.uvw[lane][axis]),
                    sub.b.eq(self.i.uvw[0][axis]),
                    result[axis].eq(sub.o),
                ]
        m.d.comb += [
            self.o.tag.eq(delay(m, self.i.tag, self.latency, name="tag")),
            self.o_valid.eq(delay(m, self.i_valid, self.latency, name="valid", reset_less=False)),
        ]
        return m


class GradientUnit(CreditBuffer):
    """Stream block of `GradientDatapath`: one quad per clock, latency `latency`.

    Parameters
    ----------
    cfg : UnitConfig
        Number of axes.

    Members
    -------
    i : In(stream.Signature(gradient_request(cfg)))
    o : Out(stream.Signature(gradient_result(cfg)))
    """

    def __init__(self, cfg: UnitConfig):
        self.cfg = cfg
        super().__init__(GradientDatapath(cfg))
