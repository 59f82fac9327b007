"""The MinMip filter: words of the map memory to the filtered values of a quad (spec 04)."""

from amaranth.hdl import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.config import UnitConfig
from minmip.hw.filter_fetch import FilterFetch
from minmip.hw.filter_gather import FilterGather, filtered_lanes
from minmip.hw.filter_lane import FilterLane
from minmip.hw.filter_ramp import FilterRamp
from minmip.hw.lib.credit import CreditBuffer
from minmip.hw.lib.delay import delay
from minmip.hw.map_memory import MapReadSignature
from minmip.hw.shapes import BLOCK_BITS
from minmip.hw.word_beats import WORDS, filter_result, read_request

__all__ = ["FilterDatapath", "FilterUnit"]


class FilterDatapath(wiring.Component):
    """Fetch the texels of a request's lanes, blend them.

    One request per clock; `latency` clocks, 20 to 27 with block RAM and words of 16 bytes.

    Parameters
    ----------
    cfg : UnitConfig
        Lanes, axes, and the memory.

    Members
    -------
    base : In(40)
        See `FilterFetch`.
    i : In(read_request(cfg))
    i_valid : In(1)
    o : Out(filtered_lanes(cfg))
        The lanes whose last depth this is.
    o_valid : Out(1)
    memory : Out(MapReadSignature(cfg)).array(4)
    """

    base: Signal
    i_valid: Signal
    o_valid: Signal
    memory: list[wiring.PureInterface]

    def __init__(self, cfg: UnitConfig):
        self.cfg = cfg
        self.fetch = FilterFetch(cfg)
        self.lanes = [FilterLane(cfg) for _ in range(cfg.lanes)]
        self.blend_at = max(self.fetch.latency, FilterRamp.latency)
        self.latency = self.blend_at + self.lanes[0].latency
        super().__init__(
            {
                "base": In(BLOCK_BITS),
                "i": In(read_request(cfg)),
                "i_valid": In(1),
                "o": Out(filtered_lanes(cfg)),
                "o_valid": Out(1),
                "memory": Out(MapReadSignature(cfg)).array(WORDS),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.fetch = fetch = self.fetch
        m.d.comb += [
            fetch.base.eq(self.base),
            fetch.i.eq(self.i),
            fetch.i_valid.eq(self.i_valid),
            self.o_valid.eq(delay(m, self.i_valid, self.latency, name="valid", reset_less=False)),
        ]
        for ours, port in zip(self.memory, fetch.memory, strict=True):
            wiring.connect(m, port, wiring.flipped(ours))
        for n, lane in enumerate(self.lanes):
            m.submodules[f"lane{n}"] = lane
            self._connect(m, n, lane)
        m.d.comb += [
            self.o.last.eq(delay(m, self.i.last, self.latency, name="last")),
            self.o.first_lane.eq(delay(m, self.i.kernel.first_lane, self.latency, name="lane")),
        ]
        return m

    def _connect(self, m, n, lane):
        kernel, member = self.i.kernel, self.i.lane[n].member
        texel_clocks = self.blend_at - self.fetch.latency
        m.d.comb += lane.texel.eq(delay(m, self.fetch.texel[n], texel_clocks, name=f"texel{n}"))
        for axis in range(self.cfg.axes):
            m.submodules[f"ramp{n}_{axis}"] = ramp = FilterRamp()
            clocks = self.blend_at - ramp.latency
            m.d.comb += [
                ramp.fraction.eq(kernel.fraction[n][axis]),
                ramp.slope2.eq(kernel.ramp.slope2[axis]),
                ramp.offset.eq(kernel.ramp.offset[axis]),
                lane.near[axis].eq(delay(m, ramp.near, clocks, name=f"near{n}_{axis}")),
            ]
        first, second = (
            delay(m, self.i_valid & member & slab, self.blend_at, name=f"{name}{n}")
            for name, slab in (("first", ~kernel.slab), ("second", kernel.slab))
        )
        given = delay(m, member & kernel.done, self.latency, name=f"given{n}")
        m.d.comb += [
            lane.first.eq(first),
            lane.second.eq(second),
            self.o.lane[n].given.eq(given),
            self.o.lane[n].value.eq(lane.o),
        ]


class FilterUnit(wiring.Component):
    """MinMip filter of quads whose words and texels are known.

    One request per clock: as many lanes as share it. Latency `latency` from the `last` request of
    a quad to its result. The words are read one clock after a request is taken, whatever `o.ready`
    says: a write of the memory is seen if it comes in the clock of the request or before, and not
    if it comes two clocks later. No `ready` runs through the datapath (`CreditBuffer`).

    Parameters
    ----------
    cfg : UnitConfig
        Lanes, axes, and the memory.

    Members
    -------
    base : In(40)
        First block of 256 bytes of the map memory. May change while no request is under way, one
        clock before the next one.
    i : In(stream.Signature(read_request(cfg)))
        All words are in the memory. The lanes of a volume come once with each of their depths,
        first all with the first one; each lane of a part is member of one group of a depth.
    o : Out(stream.Signature(filter_result()))
        One for each quad, in order.
    memory : Out(MapReadSignature(cfg)).array(4)
        Word n of a request is read at port n.
    """

    base: Signal
    i: stream.Interface
    o: stream.Interface
    memory: list[wiring.PureInterface]

    def __init__(self, cfg: UnitConfig):
        self.cfg = cfg
        self.datapath = FilterDatapath(cfg)
        self.buffer = CreditBuffer(self.datapath)
        self.latency = self.buffer.latency + 1
        super().__init__(
            {
                "base": In(BLOCK_BITS),
                "i": In(stream.Signature(read_request(cfg))),
                "o": Out(stream.Signature(filter_result())),
                "memory": Out(MapReadSignature(cfg)).array(WORDS),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.buffer = buffer = self.buffer
        m.submodules.gather = gather = FilterGather(self.cfg)
        m.d.comb += self.datapath.base.eq(self.base)
        for ours, port in zip(self.memory, self.datapath.memory, strict=True):
            wiring.connect(m, port, wiring.flipped(ours))
        wiring.connect(m, wiring.flipped(self.i), buffer.i)
        wiring.connect(m, buffer.o, gather.i)
        wiring.connect(m, gather.o, wiring.flipped(self.o))
        return m
