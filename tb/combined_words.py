"""The combine stage with the bytes of its words, as one block for the benches."""

from amaranth.hdl import Module
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.combine import Combine
from minmip.hw.lib.side_buffer import SideBuffer
from minmip.hw.word_beats import slab_beat, word_beat
from minmip.hw.word_expand import WordExpand

__all__ = ["CombinedWords"]


class CombinedWords(wiring.Component):
    """`Combine`, then `WordExpand` in a buffer; latency 18 + lanes."""

    i: stream.Interface
    o: stream.Interface

    def __init__(self, cfg):
        self.cfg = cfg
        expand = WordExpand(cfg)
        self.combine = Combine(cfg)
        self.expand = SideBuffer(expand, word_beat(cfg))
        self.latency = self.combine.latency + self.expand.latency
        together = {"group": word_beat(cfg), "bytes": expand.signature.members["o"].shape}
        super().__init__(
            {
                "i": In(stream.Signature(slab_beat(cfg))),
                "o": Out(stream.Signature(data.StructLayout(together))),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.combine = combine = self.combine
        m.submodules.expand = expand = self.expand
        wiring.connect(m, wiring.flipped(self.i), combine.i)
        m.d.comb += [
            expand.i.valid.eq(combine.o.valid),
            combine.o.ready.eq(expand.i.ready),
            expand.i.payload.side.eq(combine.o.payload),
            self.o.valid.eq(expand.o.valid),
            expand.o.ready.eq(self.o.ready),
            self.o.payload.group.eq(expand.o.payload.side),
            self.o.payload.bytes.eq(expand.o.payload.beat),
        ]
        taken = expand.i.payload.beat
        m.d.comb += [taken[name].eq(combine.o.payload[name]) for name, _ in taken.shape()]
        return m
