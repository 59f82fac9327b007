"""Memory words of a beat: addresses (spec 05, 1 to 4) and bytes."""

from amaranth.hdl import Module, Mux, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.address_generator import AddressDatapath
from minmip.hw.beats import WORDS, addressed_beat, control_fields, word_beat
from minmip.hw.config import UnitConfig
from minmip.hw.lib.delay import delay
from minmip.hw.lib.queue import Queue
from minmip.hw.lib.side_buffer import SideBuffer
from minmip.hw.shapes import ADDRESS_BITS, SIZE_BITS
from minmip.hw.word_expand import WordExpand

__all__ = ["WordAddressDatapath", "WordAddresses"]

HEAD = ("context", "code", "flush", "tag", "last", "op")
PLACE = ("mip", "slice", "x", "y")
CONTROL = ("base", "columns", "chain", "mip_offset", "swizzled")
ROW_LOG2, BLOCK_LOG2 = 8, 4
"""Log2 of the columns of a block of 256 bytes, in LINEAR and in 256B_S."""


class WordAddressDatapath(wiring.Component):
    """Addresses of the four words at two rows and two columns of one mip and slice of a map.

    One beat per clock, latency 8: two clocks for the mip level's place in the map, then an
    `AddressDatapath` for each word.

    Parameters
    ----------
    cfg : UnitConfig
        `swizzle_modes`, `word_bytes`.

    Members
    -------
    i : In(StructLayout({mip, slice, x, y of word_beat and base, ... of control}))
    i_valid : In(1)
    o : Out(ArrayLayout(unsigned, 4))
        In memory words from byte 0; word 2r + c is at row `y[r]` and column `x[c]`.
    o_valid : Out(1)
    """

    def __init__(self, cfg: UnitConfig):
        self.cfg = cfg
        self.address = [AddressDatapath(cfg) for _ in range(WORDS)]
        self.latency = 2 + self.address[0].latency
        beat, control = word_beat(cfg), control_fields(cfg, *CONTROL)
        place = {name: beat[name].shape for name in PLACE}
        layout = {name: control[name].shape for name in CONTROL}
        word_address = unsigned(ADDRESS_BITS - cfg.word_log2)
        super().__init__(
            {
                "i": In(data.StructLayout(place | layout)),
                "i_valid": In(1),
                "o": Out(data.ArrayLayout(word_address, WORDS)),
                "o_valid": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        i = self.i
        # Clock 1: block columns of the level, and where it begins.
        offset_q1 = delay(m, i.mip_offset[i.mip], 1, name="offset")
        columns_q1 = delay(m, (i.columns >> i.mip)[: len(i.columns)], 1, name="columns")
        swizzled_q1 = delay(m, i.swizzled, 1, name="swizzled")

        # Clock 2: its width in texels.
        blocks = columns_q1 + 1
        pitch = Mux(swizzled_q1, blocks << BLOCK_LOG2, blocks << ROW_LOG2)[:SIZE_BITS]
        level_q2 = {
            "base": delay(m, i.base, 2, name="base"),
            "chain": delay(m, i.chain, 2, name="chain"),
            "offset": delay(m, offset_q1, 1, name="offset_2"),
            "pitch": delay(m, pitch, 1, name="pitch"),
            "swizzled": delay(m, swizzled_q1, 1, name="swizzled_2"),
            "z": delay(m, i.slice, 2, name="slice"),
        }
        x_q2 = [delay(m, i.x[c], 2, name=f"x{c}") for c in range(2)]
        y_q2 = [delay(m, i.y[r], 2, name=f"y{r}") for r in range(2)]
        valid_q2 = delay(m, self.i_valid, 2, name="valid", reset_less=False)
        for n, datapath in enumerate(self.address):
            m.submodules[f"address{n}"] = datapath
            m.d.comb += [datapath.i[name].eq(value) for name, value in level_q2.items()]
            m.d.comb += [
                datapath.i.x.eq(x_q2[n & 1]),
                datapath.i.y.eq(y_q2[n >> 1]),
                datapath.i_valid.eq(valid_q2),
                self.o[n].eq(datapath.o.address >> self.cfg.word_log2),
            ]
        m.d.comb += self.o_valid.eq(self.address[0].o_valid)
        return m


class WordAddresses(wiring.Component):
    """Give every memory word of a beat its address, mask and data.

    One beat per clock, latency 10. No `ready` runs through it (`SideBuffer`). Bytes are made beside
    the addresses, in fewer clocks, and wait for them in a queue.

    Parameters
    ----------
    cfg : UnitConfig
        `lanes`, `swizzle_modes`, `word_bytes`.

    Members
    -------
    i : In(stream.Signature(StructLayout({"beat": word_beat(cfg), "control": control_fields})))
        Of `control`: base, columns, chain, mip_offset and swizzled, of a flat map.
    o : Out(stream.Signature(addressed_beat(cfg)))
    """

    i: stream.Interface
    o: stream.Interface

    control = CONTROL
    """Fields of the descriptors that a beat comes with."""

    def __init__(self, cfg: UnitConfig):
        self.cfg = cfg
        beat = word_beat(cfg)
        head = {name: beat[name].shape for name in HEAD}
        self.buffer = SideBuffer(WordAddressDatapath(cfg), data.StructLayout(head))
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
        place, head = buffer.i.payload.beat, buffer.i.payload.side
        m.d.comb += [
            buffer.i.valid.eq(self.i.valid),
            self.i.ready.eq(buffer.i.ready),
            expand.i_valid.eq(self.i.valid & buffer.i.ready),
            expand.i.lane.eq(beat.lane),
            expand.i.rank.eq(beat.rank),
            words.i.payload.eq(expand.o),
            words.i.valid.eq(expand.o_valid),
        ]
        m.d.comb += [place[name].eq(beat[name]) for name in PLACE]
        m.d.comb += [place[name].eq(control[name]) for name in CONTROL]
        m.d.comb += [head[name].eq(beat[name]) for name in HEAD]

        # The words are there first.
        m.d.comb += [
            self.o.valid.eq(buffer.o.valid),
            buffer.o.ready.eq(self.o.ready),
            words.o.ready.eq(self.o.ready & buffer.o.valid),
        ]
        m.d.comb += [self.o.payload[name].eq(buffer.o.payload.side[name]) for name in HEAD]
        for word, address, found in zip(
            self.o.payload.word, buffer.o.payload.beat, words.o.payload, strict=True
        ):
            m.d.comb += word.address.eq(address)
            m.d.comb += [word[name].eq(found[name]) for name in ("valid", "mask", "data")]
        return m
