"""The resolve engine: decodes and encodes rectangles of a map (spec 03, spec 06 "Resolve")."""

from amaranth.hdl import Cat, Const, Module, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from minmip.hw import resolve_bytes
from minmip.hw.address_generator import AddressGenerator
from minmip.hw.config import UnitConfig
from minmip.hw.lib.stage import Stage
from minmip.hw.rect_walk import RUN_FLAGS, RectWalk
from minmip.hw.resolve_shapes import (
    resolve_request,
    resolve_result,
    run_log2s,
    texel_array,
    texel_run,
)
from minmip.hw.shapes import host_request, host_response

__all__ = ["ResolveEngine"]


class ResolveEngine(wiring.Component):
    """Stream the texels of a rectangle out of a map, decoded, or into it, encoded.

    A client of the host port. Texels go by row and x, in runs: those of a row that lie in one
    memory word, 16 of them in LINEAR and S modes, 8 in D modes, 4 in S volumes; fewer in shorter
    words. One run per clock, without a gap between rows. One rectangle at a time; its result comes
    when every word is answered: about `runs + memory latency + 27` clocks after the request. The
    last texels may still wait at `o_texels` then.

    Bytes beside the rectangle stay as they are. Encoding takes as many beats from `i_texels` as the
    rectangle has runs, and waits for them; lanes outside the rectangle are not used. Texels outside
    the memory are read as bytes of 0 and not written, and the result says `error`. So it does of a
    rectangle that reaches beyond texel 16383: all its masks are empty, and nothing is written. A
    rectangle of no texels has no runs.

    `i.ready` and every `valid` depend on registers alone; `i_texels.ready` follows
    `o_request.ready`, and `i_response.ready` follows `o_texels.ready`.

    Parameters
    ----------
    cfg : UnitConfig
        `swizzle_modes`, `resource_types`, `word_bytes`.

    Attributes
    ----------
    addresses : AddressGenerator
        Whose datapath proofs replace.

    Members
    -------
    i : In(stream.Signature(resolve_request(cfg)))
    o : Out(stream.Signature(resolve_result()))
    i_texels : In(stream.Signature(texel_array(cfg)))
        Decoded texels of a run, to encode: lane n is texel n of the run, as in `texel_run`.
    o_texels : Out(stream.Signature(texel_run(cfg)))
        Decoded texels.
    o_request : Out(stream.Signature(host_request(cfg)))
    i_response : In(stream.Signature(host_response(cfg)))
    """

    i: stream.Interface
    o: stream.Interface
    i_texels: stream.Interface
    o_texels: stream.Interface
    o_request: stream.Interface
    i_response: stream.Interface

    def __init__(self, cfg: UnitConfig):
        self.cfg = cfg
        self.addresses = AddressGenerator(cfg)
        super().__init__(
            {
                "i": In(stream.Signature(resolve_request(cfg))),
                "o": Out(stream.Signature(resolve_result())),
                "i_texels": In(stream.Signature(texel_array(cfg))),
                "o_texels": Out(stream.Signature(texel_run(cfg))),
                "o_request": Out(stream.Signature(host_request(cfg))),
                "i_response": In(stream.Signature(host_response(cfg))),
            }
        )

    def elaborate(self, platform):
        m = Module()
        cfg, request, result, answer = self.cfg, self.i.payload, self.o.payload, self.i_response
        m.submodules.walk = walk = RectWalk(cfg)
        m.submodules.addresses = addresses = self.addresses
        m.submodules.words = words = Stage(host_request(cfg))
        m.submodules.texels = texels = Stage(texel_run(cfg))
        for source, sink in (
            (walk.o, addresses.i),
            (words.o, wiring.flipped(self.o_request)),
            (texels.o, wiring.flipped(self.o_texels)),
        ):
            wiring.connect(m, source, sink)

        encode, kind = Signal(), Signal.like(request.kind, name="kind")
        m.d.comb += walk.i.payload.eq(request)
        with m.FSM():
            with m.State("wait"):
                m.d.comb += self.i.ready.eq(walk.i.ready)
                m.d.sync += [
                    encode.eq(request.encode),
                    kind.eq(request.kind),
                    result.tag.eq(request.tag),
                    result.error.eq(0),
                ]
                with m.If(self.i.valid & self.i.ready):
                    with m.If((request.width == 0) | (request.height == 0)):
                        m.next = "done"
                    with m.Else():
                        m.d.comb += walk.i.valid.eq(1)
                        m.next = "hear"
            with m.State("hear"):
                with m.If(answer.valid & answer.ready):
                    m.d.sync += result.error.eq(result.error | answer.payload.error | walk.outside)
                    with m.If(data.View(RUN_FLAGS, answer.payload.tag[: RUN_FLAGS.size]).end):
                        m.next = "done"
            with m.State("done"):
                m.d.comb += self.o.valid.eq(1)
                with m.If(self.o.ready):
                    m.next = "wait"

        # The tag of a word: flags of the run, and the part of the word that it is.
        least = run_log2s(cfg)[0]
        part = addresses.o.payload.address[least : cfg.word_log2]
        flags = data.View(RUN_FLAGS, addresses.o.payload.tag[: RUN_FLAGS.size])
        encoded = [resolve_bytes.encoded_byte(m, kind, texel) for texel in self.i_texels.payload]
        m.d.comb += [
            words.i.valid.eq(addresses.o.valid & (self.i_texels.valid | ~encode)),
            addresses.o.ready.eq(words.i.ready & (self.i_texels.valid | ~encode)),
            self.i_texels.ready.eq(words.i.ready & addresses.o.valid & encode),
            words.i.payload.address.eq(addresses.o.payload.address >> cfg.word_log2),
            words.i.payload.mask.eq(
                (_mask(walk, flags) & encode.replicate(len(walk.every_mask)))
                << Cat(Const(0, least), part)
            ),
            Value.cast(words.i.payload.data).eq(
                Cat(resolve_bytes.repeated_run(cfg, encoded, walk.size))
            ),
            words.i.payload.tag.eq(Cat(flags, part)),
        ]

        # Behind the answer.
        flags = data.View(RUN_FLAGS, answer.payload.tag[: RUN_FLAGS.size])
        part = answer.payload.tag[RUN_FLAGS.size :][: cfg.word_log2 - least]
        stored = resolve_bytes.run_in_word(cfg, list(answer.payload.data), part)
        m.d.comb += [
            texels.i.valid.eq(answer.valid & ~encode),
            answer.ready.eq(texels.i.ready | encode),
            texels.i.payload.mask.eq(_mask(walk, flags)),
            texels.i.payload.end_of_row.eq(flags.end_of_row),
            texels.i.payload.end.eq(flags.end),
        ]
        for texel, byte in zip(texels.i.payload.texel, stored, strict=True):
            m.d.comb += texel.eq(resolve_bytes.decoded_byte(m, kind, byte))
        return m


def _mask(walk: RectWalk, flags) -> Value:
    """Texels of a run that lie in the rectangle."""
    lanes = len(walk.every_mask)
    return (
        walk.every_mask
        & (walk.first_mask | ~flags.first.replicate(lanes))
        & (walk.last_mask | ~flags.end_of_row.replicate(lanes))
    )
