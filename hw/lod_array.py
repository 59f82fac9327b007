"""LOD datapaths of the lanes of a part."""

from amaranth.hdl import Module, Mux, Signal, Value, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.config import UnitConfig
from minmip.hw.lib.delay import delay
from minmip.hw.lod import LodDatapath
from minmip.hw.shapes import lod_request, lod_result

__all__ = ["LodArray"]

CONTROL = ("size", "axes", "aniso", "max_aniso_log2", "threshold")
"""Fields of `lod_request` that all lanes share."""


class LodArray(wiring.Component):
    """LODs of a part: one pair of gradients for all lanes, or each lane with its `own`.

    Free running, latency `latency` for every part. A part may come in every clock, but with `own`
    gradients it takes `steps` clocks: none may come in the `steps - 1` after it.

    The gradients stand in a shift register, `lod_units` lanes of which feed the datapaths. Their
    results wait in delay lines until those of the last lanes are there.

    Parameters
    ----------
    cfg : UnitConfig
        `lanes`, `lod_units`, and the parameters of `LodDatapath`.

    Attributes
    ----------
    steps : int
        `lanes / lod_units`.

    Members
    -------
    i : In(StructLayout)
        `ddx` and `ddy` of each lane, `own`, and what `lod_request` has besides.
    i_valid : In(1)
    o : Out(ArrayLayout)
        `lod`, `undefined`, `taps_log2`, `major_is_x` of each lane.
    o_valid : Out(1)
    """

    i: data.View
    i_valid: Signal
    o: data.View
    o_valid: Signal

    def __init__(self, cfg: UnitConfig):
        self.cfg = cfg
        self.units = [LodDatapath(cfg) for _ in range(cfg.lod_units)]
        self.steps = cfg.lanes // cfg.lod_units
        self.latency = self.units[0].latency + self.steps
        request = lod_request(cfg)
        vectors = data.ArrayLayout(request["ddx"].shape, cfg.lanes)
        result = {name: field.shape for name, field in lod_result() if name != "tag"}
        super().__init__(
            {
                "i": In(
                    data.StructLayout(
                        {"ddx": vectors, "ddy": vectors, "own": unsigned(1)}
                        | {name: request[name].shape for name in CONTROL}
                    )
                ),
                "i_valid": In(1),
                "o": Out(data.ArrayLayout(data.StructLayout(result), cfg.lanes)),
                "o_valid": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        count = self.cfg.lod_units
        gradients_q = self._gradients(m)
        own_q = Signal(reset_less=True)
        with m.If(self.i_valid):
            m.d.sync += own_q.eq(self.i.own)
        results = []
        for n, unit in enumerate(self.units):
            m.submodules[f"unit{n}"] = unit
            ddx, ddy = gradients_q[n]
            m.d.comb += [unit.i.ddx.eq(ddx), unit.i.ddy.eq(ddy), unit.i.tag.eq(own_q)]
            results.append(Signal(self.o.shape().elem_shape, name=f"result{n}"))
            m.d.comb += [results[n][name].eq(unit.o[name]) for name, _ in results[n].shape()]
        for name in CONTROL:
            control_q = Signal(self.i[name].shape(), name=f"{name}_q", reset_less=True)
            with m.If(self.i_valid):
                m.d.sync += control_q.eq(self.i[name])
            m.d.comb += [unit.i[name].eq(control_q) for unit in self.units]

        # Of every result the ones of the clocks before too.
        aged = [[result] for result in results]
        for age in range(1, self.steps):
            for n, ages in enumerate(aged):
                ages.append(delay(m, ages[-1], 1, name=f"result{n}_age{age}"))
        last = self.steps - 1
        own = delay(m, self.units[0].o.tag[0], last, name="own_late")
        for lane in range(self.cfg.lanes):
            step, unit = divmod(lane, count)
            # The shared pair went through the datapaths in the first step.
            first, its_own = aged[unit][last], aged[unit][last - step]
            m.d.comb += Value.cast(self.o[lane]).eq(Mux(own, its_own, first) if step else first)
        m.d.comb += self.o_valid.eq(
            delay(m, self.i_valid, self.latency, name="valid", reset_less=False)
        )
        return m

    def _gradients(self, m):
        """The shift register: (ddx, ddy) by lane. A shared pair goes to every datapath."""
        count = self.cfg.lod_units
        registers = [
            tuple(
                Signal(self.i[name][0].shape(), name=f"{name}{lane}_q", reset_less=True)
                for name in ("ddx", "ddy")
            )
            for lane in range(self.cfg.lanes)
        ]
        for lane, pair in enumerate(registers):
            for name, register in zip(("ddx", "ddy"), pair, strict=True):
                vectors = self.i[name]
                with m.If(self.i_valid):
                    m.d.sync += register.eq(
                        Mux(self.i.own, vectors[lane], vectors[0])
                        if 0 < lane < count
                        else vectors[lane]
                    )
                if lane + count < self.cfg.lanes:
                    with m.Else():
                        m.d.sync += register.eq(registers[lane + count][name == "ddy"])
        return registers
