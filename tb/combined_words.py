"""The combine stage with the bytes of its words, as one block for the benches."""

from amaranth.hdl import Module
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.beats import footprint_beat, word_beat
from minmip.hw.combine import Combine
from minmip.hw.lib.side_buffer import SideBuffer
from minmip.hw.word_expand import WordExpand

__all__ = ["CombinedWords"]


class CombinedWords(wiring.Component):
    """`Combine`, then `WordExpand` in a buffer; latency 12 + lanes."""

    def __init__(self, cfg):
        self.cfg = cfg
        expand = WordExpand(cfg)
        self.combine = Combine(cfg)
        into = expand.signature.members["i"].shape
        side = {name: field.shape for name, field in word_beat(cfg) if name not in dict(iter(into))}
        self.expand = SideBuffer(expand, data.StructLayout(side))
        words = {"word": expand.signature.members["o"].shape}
        super().__init__(
            {
                "i": In(stream.Signature(footprint_beat(cfg))),
                "o": Out(stream.Signature(data.StructLayout(side | words))),
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
            self.o.valid.eq(expand.o.valid),
            expand.o.ready.eq(self.o.ready),
            self.o.payload.word.eq(expand.o.payload.beat),
        ]
        taken = expand.i.payload
        m.d.comb += [taken.beat[name].eq(combine.o.payload[name]) for name, _ in taken.beat.shape()]
        for name, _ in taken.side.shape():
            m.d.comb += [
                taken.side[name].eq(combine.o.payload[name]),
                self.o.payload[name].eq(expand.o.payload.side[name]),
            ]
        return m
