"""Memory words of a beat: addresses (spec 05, 1 to 4 and 8) and bytes."""

from amaranth.hdl import Cat, Module, Mux, Signal, signed, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.address_generator import AddressDatapath
from minmip.hw.beats import control_fields
from minmip.hw.config import UnitConfig
from minmip.hw.lib.delay import delay
from minmip.hw.lib.queue import Queue
from minmip.hw.lib.side_buffer import SideBuffer
from minmip.hw.shapes import ADDRESS_BITS
from minmip.hw.swizzle import NO_SLOT
from minmip.hw.word_beats import WORDS, addressed_beat, word_beat
from minmip.hw.word_expand import WordExpand

__all__ = ["WordAddressDatapath", "WordAddresses"]

SIDE = ("context", "code", "flush", "tag", "last", "read", "op", "lane", "kernel")
PLACE = ("mip", "slice", "x", "y")
BYTES = ("mask", "data")
KEPT = ("base", "chain", "mode", "volume")
CONTROL = (*KEPT, "columns", "mip_offset", "first_tail")


class WordAddressDatapath(wiring.Component):
    """Addresses of the memory words that hold four texels of a map, each of any mip and slice.

    One beat per clock: a clock for the mip level's place in the map, then an `AddressDatapath` for
    each word.

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
        self.latency = 1 + self.address[0].latency
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
        kept = {name: delay(m, self.i[name], 1, name=name) for name in KEPT}
        valid_q1 = delay(m, self.i_valid, 1, name="valid", reset_less=False)
        for n, datapath in enumerate(self.address):
            m.submodules[f"address{n}"] = datapath
            inputs = kept | self._word(m, n)
            m.d.comb += [datapath.i[name].eq(value) for name, value in inputs.items()]
            m.d.comb += [
                datapath.i_valid.eq(valid_q1),
                self.o[n].eq(datapath.o.address >> self.cfg.word_log2),
            ]
        m.d.comb += self.o_valid.eq(self.address[0].o_valid)
        return m

    def _word(self, m: Module, n: int) -> dict:
        """Texel of a word and the place of its mip level, a clock later."""
        i, word = self.i, self.i.word[n]
        behind = Signal(signed(6), name=f"behind{n}")
        m.d.comb += behind.eq(word.mip - i.first_tail)
        found = {
            "offset": i.mip_offset[word.mip],
            "columns": (i.columns >> word.mip)[: len(i.columns)],
            "slot": Mux(behind < 0, NO_SLOT, behind[:4]),
            "x": word.x,
            "y": word.y,
            "z": word.slice,
        }
        return {name: delay(m, value, 1, name=f"{name}{n}") for name, value in found.items()}


class WordAddresses(wiring.Component):
    """Give every memory word of a beat its address, mask and data.

    One beat per clock, latency 12, or 13 with blocks of 4 or 64 KB. No `ready` runs through it
    (`SideBuffer`). Bytes are made beside the addresses, in fewer clocks, and wait for them in a
    queue.

    Parameters
    ----------
    cfg : UnitConfig
        `lanes`, `swizzle_modes`, `resource_types`, `word_bytes`.

    Members
    -------
    i : In(stream.Signature(StructLayout({"beat": word_beat(cfg), "control": control_fields})))
        Of `control`: base, columns, chain, mip_offset, mode, first_tail and volume.
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
        side = {name: beat[name].shape for name in SIDE}
        side |= {"valid": unsigned(WORDS), "writes": unsigned(1), "ends": unsigned(1)}
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
            # Retire has much to decide in one clock: these two it need not find out.
            side.writes.eq(Cat(word.valid for word in beat.word).any() & ~beat.read),
            side.ends.eq(beat.flush & beat.last),
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
        m.d.comb += [answer[name].eq(found.side[name]) for name in (*SIDE, "writes", "ends")]
        for n, word in enumerate(answer.word):
            m.d.comb += [word.address.eq(found.beat[n]), word.valid.eq(found.side.valid[n])]
            m.d.comb += [word[name].eq(words.o.payload[n][name]) for name in BYTES]
        return m
