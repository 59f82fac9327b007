"""Memory words of a beat: addresses (spec 05, 1 to 4 and 8) and bytes."""

from amaranth.hdl import Cat, Const, Module, Mux, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.address_generator import AddressDatapath
from minmip.hw.beats import control_fields
from minmip.hw.config import UnitConfig
from minmip.hw.lib.delay import delay
from minmip.hw.lib.queue import Queue
from minmip.hw.lib.side_buffer import SideBuffer
from minmip.hw.shapes import ADDRESS_BITS, SIZE_BITS
from minmip.hw.word_beats import WORDS, addressed_beat, word_beat
from minmip.hw.word_expand import WordExpand

__all__ = ["WordAddressDatapath", "WordAddresses"]

SIDE = ("context", "code", "flush", "tag", "last", "read", "op", "lane", "kernel")
PLACE = ("mip", "slice", "x", "y")
BYTES = ("mask", "data")
CONTROL = ("base", "columns", "chain", "mip_offset", "swizzled", "volume")
ROW_LOG2, THIN_LOG2, THICK_LOG2 = 8, 4, 3
"""Log2 of the columns of a block of 256 bytes, in LINEAR, in 256B_S and in 256B_S volumes."""


class WordAddressDatapath(wiring.Component):
    """Addresses of the memory words that hold four texels of a map, each of any mip and slice.

    One beat per clock, latency 8: two clocks for the mip level's place in the map, then an
    `AddressDatapath`, for each word.

    Parameters
    ----------
    cfg : UnitConfig
        `swizzle_modes`, `resource_types`, `word_bytes`.

    Members
    -------
    i : In(StructLayout({"word": mip, slice, x, y of word_beat; base, ... of control}))
    i_valid : In(1)
    o : Out(ArrayLayout(unsigned, 4))
        In memory words from byte 0.
    o_valid : Out(1)
    """

    def __init__(self, cfg: UnitConfig):
        self.cfg = cfg
        self.address = [AddressDatapath(cfg) for _ in range(WORDS)]
        self.latency = 2 + self.address[0].latency
        word, control = word_beat(cfg)["word"].shape.elem_shape, control_fields(cfg, *CONTROL)
        place = data.StructLayout({name: word[name].shape for name in PLACE})
        layout = {name: control[name].shape for name in CONTROL}
        word_address = unsigned(ADDRESS_BITS - cfg.word_log2)
        super().__init__(
            {
                "i": In(data.StructLayout({"word": data.ArrayLayout(place, WORDS)} | layout)),
                "i_valid": In(1),
                "o": Out(data.ArrayLayout(word_address, WORDS)),
                "o_valid": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        thick = self.i.swizzled & (self.i.volume if self.cfg.volumes else Const(0, 1))
        thick_q1 = delay(m, thick, 1, name="thick")
        swizzled_q1 = delay(m, self.i.swizzled, 1, name="swizzled")
        map_q2 = {
            "base": delay(m, self.i.base, 2, name="base"),
            "chain": delay(m, self.i.chain, 2, name="chain"),
            "swizzled": delay(m, swizzled_q1, 1, name="swizzled_2"),
            "volume": delay(m, self.i.volume, 2, name="volume"),
        }
        valid_q2 = delay(m, self.i_valid, 2, name="valid", reset_less=False)
        for n, datapath in enumerate(self.address):
            m.submodules[f"address{n}"] = datapath
            inputs = map_q2 | self._word(m, n, swizzled_q1, thick_q1)
            m.d.comb += [datapath.i[name].eq(value) for name, value in inputs.items()]
            m.d.comb += [
                datapath.i_valid.eq(valid_q2),
                self.o[n].eq(datapath.o.address >> self.cfg.word_log2),
            ]
        m.d.comb += self.o_valid.eq(self.address[0].o_valid)
        return m

    def _word(self, m: Module, n: int, swizzled_q1, thick_q1) -> dict:
        """Texel of a word and its mip level, 2 clocks later."""
        i, word = self.i, self.i.word[n]
        # Clock 1: block columns of the level, and where it begins.
        offset_q1 = delay(m, i.mip_offset[word.mip], 1, name=f"offset{n}")
        columns_q1 = delay(m, (i.columns >> word.mip)[: len(i.columns)], 1, name=f"columns{n}")

        # Clock 2: its width in texels.
        blocks = columns_q1 + 1
        thin = Mux(swizzled_q1, blocks << THIN_LOG2, blocks << ROW_LOG2)
        pitch = Mux(thick_q1, blocks << THICK_LOG2, thin)[:SIZE_BITS]
        return {
            "offset": delay(m, offset_q1, 1, name=f"offset_2{n}"),
            "pitch": delay(m, pitch, 1, name=f"pitch{n}"),
            "x": delay(m, word.x, 2, name=f"x{n}"),
            "y": delay(m, word.y, 2, name=f"y{n}"),
            "z": delay(m, word.slice, 2, name=f"z{n}"),
        }


class WordAddresses(wiring.Component):
    """Give every memory word of a beat its address, mask and data.

    One beat per clock, latency 11. No `ready` runs through it (`SideBuffer`). Bytes are made beside
    the addresses, in fewer clocks, and wait for them in a queue.

    Parameters
    ----------
    cfg : UnitConfig
        `lanes`, `swizzle_modes`, `resource_types`, `word_bytes`.

    Members
    -------
    i : In(stream.Signature(StructLayout({"beat": word_beat(cfg), "control": control_fields})))
        Of `control`: base, columns, chain, mip_offset, swizzled and volume.
    o : Out(stream.Signature(addressed_beat(cfg)))
        Masks of read beats mean nothing.
    """

    i: stream.Interface
    o: stream.Interface

    control = CONTROL
    """Fields of the descriptors that a beat comes with."""

    def __init__(self, cfg: UnitConfig):
        self.cfg = cfg
        beat = word_beat(cfg)
        side = {name: beat[name].shape for name in SIDE} | {"valid": unsigned(WORDS)}
        self.buffer = SideBuffer(WordAddressDatapath(cfg), data.StructLayout(side), entry=1)
        self.expand = WordExpand(cfg)
        # Whatever is inside the buffer has a place here too.
        words = self.expand.signature.members["o"].shape
        self.words = Queue(words, self.buffer.queue.depth, never_full=True)
        self.latency = self.buffer.latency
        request = data.StructLayout({"beat": beat, "control": control_fields(cfg, *CONTROL)})
        super().__init__(
            {
                "i": In(stream.Signature(request)),
                "o": Out(stream.Signature(addressed_beat(cfg))),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.buffer = buffer = self.buffer
        m.submodules.expand = expand = self.expand
        m.submodules.words = words = self.words
        beat, control = self.i.payload.beat, self.i.payload.control
        place, side = buffer.i.payload.beat, buffer.i.payload.side
        m.d.comb += [
            buffer.i.valid.eq(self.i.valid),
            self.i.ready.eq(buffer.i.ready),
            expand.i_valid.eq(self.i.valid & buffer.i.ready),
            words.i.valid.eq(expand.o_valid),
            words.i.payload.eq(expand.o),
            side.valid.eq(Cat(word.valid for word in beat.word)),
        ]
        m.d.comb += [side[name].eq(beat[name]) for name in SIDE]
        m.d.comb += [place[name].eq(control[name]) for name in CONTROL]
        m.d.comb += [expand.i[name].eq(beat[name]) for name, _ in expand.i.shape()]
        for n in range(WORDS):
            m.d.comb += [place.word[n][name].eq(beat.word[n][name]) for name in PLACE]

        # The bytes are there first.
        answer, found = self.o.payload, buffer.o.payload
        m.d.comb += [
            self.o.valid.eq(buffer.o.valid),
            buffer.o.ready.eq(self.o.ready),
            words.o.ready.eq(self.o.ready & buffer.o.valid),
        ]
        m.d.comb += [answer[name].eq(found.side[name]) for name in SIDE]
        for n, word in enumerate(answer.word):
            m.d.comb += [word.address.eq(found.beat[n]), word.valid.eq(found.side.valid[n])]
            m.d.comb += [word[name].eq(words.o.payload[n][name]) for name in BYTES]
        return m
