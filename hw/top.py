"""The whole unit: quads in; answers, sample pattern and map writes out. Wiring only."""

from amaranth.hdl import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from minmip.hw.answer_join import AnswerJoin
from minmip.hw.beats import (
    lod_beat,
    part_beat,
    pattern_beat,
    quad_answer,
    quad_request,
    tap_beat,
)
from minmip.hw.combine import Combine
from minmip.hw.combining_buffer import CombiningBuffer
from minmip.hw.config import UnitConfig
from minmip.hw.counters import Counters
from minmip.hw.filter_unit import FilterUnit
from minmip.hw.footprint import Footprint
from minmip.hw.lane_lod import LaneLod
from minmip.hw.lane_split import LaneSplit
from minmip.hw.lib.queue import Queue
from minmip.hw.lookup import Lookup
from minmip.hw.map_memory import MapMemorySignature, MapReadSignature, OutsideMemory
from minmip.hw.map_store import MapStore
from minmip.hw.mip_choice import MipChoice
from minmip.hw.pattern_router import PatternRouter
from minmip.hw.quad_front import QuadFront
from minmip.hw.resolve_shapes import RESOLVE_STREAMS, resolve_ports
from minmip.hw.retire import Retire
from minmip.hw.shapes import (
    BLOCK_BITS,
    clear_request,
    clear_result,
    host_request,
    host_response,
)
from minmip.hw.slab_split import SlabSplit
from minmip.hw.tap_walker import TapWalker
from minmip.hw.unit_counters import count_events, event_widths
from minmip.hw.word_addresses import WordAddresses
from minmip.hw.word_beats import WORDS, addressed_beat, filter_result, word_beat

__all__ = ["LOOKUPS", "TextureAddresser"]

LOOKUPS = {
    "lod": LaneLod.control,
    "mips": MipChoice.control,
    "footprint": Footprint.control,
    "addresses": WordAddresses.control,
}
"""Fields of the control struct that each stage fetches."""


class TextureAddresser(wiring.Component):
    """The unit: sampler feedback, sample pattern and MinMip filter of quads (spec 01 to 04).

    Quads are answered in the order of the requests. With `lanes` 4, one quad per clock when it has
    one tap and one map footprint; rates and latency of every stage: `docs/pipeline.md`. A flush is
    a request among the quads: its answer says that every earlier write is in memory. An answer to a
    quad says that its writes and its pattern are on their way; of the filter, it has the values.
    The filter sees every write of earlier quads and none of later ones.

    Parameters
    ----------
    cfg : UnitConfig
        Words of 4, 8 or 16 bytes.
    external_memory : bool
        The map memory is outside, at the member `memory`; else block RAM inside.

    Attributes
    ----------
    counter_names : tuple of str
        Event counters, by `counter_select`.

    Members
    -------
    memory_base, memory_limit : In(40), In(41)
        The map memory: its first block of 256 bytes, and the first one behind it. May change while
        nothing is under way.
    i : In(stream.Signature(quad_request(cfg)))
    o : Out(stream.Signature(quad_answer()))
    o_pattern : Out(stream.Signature(pattern_beat(cfg)))
    i_host, o_host, i_clear, o_clear, i_resolve, o_resolve, i_texels, o_texels
        Host port, clear engine and, if built, resolve engine, as in `MapStore`. They do not wait
        for quads: flush first.
    counter_clear : In(1)
        All counters become 0.
    counter_select : In(unsigned)
    counter_value : Out(48)
        `Counters.latency` clocks after `counter_select`.
    memory : Out(MapMemorySignature(cfg))
        With `external_memory` only.
    memory_reads : Out(MapReadSignature(cfg)).array(4)
        With `external_memory` only, if the filter is built in.
    """

    i: stream.Interface
    o: stream.Interface
    o_pattern: stream.Interface
    i_host: stream.Interface
    o_host: stream.Interface
    i_clear: stream.Interface
    o_clear: stream.Interface
    memory_base: Signal
    memory_limit: Signal
    counter_clear: Signal
    counter_select: Signal
    counter_value: Signal

    def __init__(self, cfg: UnitConfig, *, external_memory: bool = False):
        self.cfg = cfg
        self.external_memory = external_memory
        self.counters = Counters(event_widths(cfg))
        self.counter_names = self.counters.names
        members = {
            "memory_base": In(BLOCK_BITS),
            "memory_limit": In(BLOCK_BITS + 1),
            "i": In(stream.Signature(quad_request(cfg))),
            "o": Out(stream.Signature(quad_answer())),
            "o_pattern": Out(stream.Signature(pattern_beat(cfg))),
            "i_host": In(stream.Signature(host_request(cfg))),
            "o_host": Out(stream.Signature(host_response(cfg))),
            "i_clear": In(stream.Signature(clear_request())),
            "o_clear": Out(stream.Signature(clear_result())),
            "counter_clear": In(1),
            "counter_select": In(ceil_log2(len(self.counter_names))),
            "counter_value": Out(48),
        }
        members |= resolve_ports(cfg)
        if external_memory:
            members["memory"] = Out(MapMemorySignature(cfg))
            if cfg.filters:
                members["memory_reads"] = Out(MapReadSignature(cfg)).array(WORDS)
        super().__init__(members)

    def elaborate(self, platform):
        m = Module()
        cfg = self.cfg
        m.submodules.front = front = QuadFront(cfg, tuple(LOOKUPS.values()))
        m.submodules.split = split = LaneSplit(cfg)
        m.submodules.lod = lod = LaneLod(cfg)
        m.submodules.mips = mips = MipChoice(cfg)
        m.submodules.taps = taps = TapWalker(cfg)
        m.submodules.footprint = footprint = Footprint(cfg)
        m.submodules.router = router = PatternRouter(cfg)
        # Whether the user takes a pattern or an answer decides for much: their `ready` ends here.
        m.submodules.patterns = patterns = Queue(pattern_beat(cfg), 4, early=True)
        m.submodules.answered = answered = Queue(quad_answer(), 4, early=True)
        m.submodules.slabs = slabs = SlabSplit(cfg)
        m.submodules.combine = combine = Combine(cfg)
        m.submodules.addresses = addresses = WordAddresses(cfg)
        # What follows waits for several others at once: no `ready` goes through to the addresses.
        m.submodules.addressed = addressed = Queue(addressed_beat(cfg), 4, early=True)
        m.submodules.retire = retire = Retire(cfg)
        m.submodules.buffer = buffer = CombiningBuffer(cfg)
        outside = OutsideMemory(cfg) if self.external_memory else None
        m.submodules.store = store = MapStore(cfg, outside)
        m.submodules.answers = answers = AnswerJoin(cfg)
        lookups = {}
        shapes = (part_beat(cfg), lod_beat(cfg), tap_beat(cfg), word_beat(cfg))
        for n, ((name, fields), shape) in enumerate(zip(LOOKUPS.items(), shapes, strict=True)):
            # The other stages have an entry register.
            lookup = Lookup(cfg, shape, fields, registered=name == "footprint")
            m.submodules[f"lookup_{name}"] = lookups[name] = lookup
            m.d.comb += [
                getattr(front, f"context_{n}").eq(lookup.context),
                lookup.control.eq(getattr(front, f"control_{n}")),
            ]

        flipped = wiring.flipped
        for source, sink in (
            (flipped(self.i), front.i),
            (front.o, split.i),
            (split.o, lookups["lod"].i),
            (lookups["lod"].o, lod.i),
            (lod.o, lookups["mips"].i),
            (lookups["mips"].o, mips.i),
            (mips.o, taps.i),
            (taps.o, lookups["footprint"].i),
            (lookups["footprint"].o, footprint.i),
            (footprint.o, router.i),
            (router.o_pattern, patterns.i),
            (patterns.o, flipped(self.o_pattern)),
            (router.o, slabs.i),
            (slabs.o, combine.i),
            (combine.o, lookups["addresses"].i),
            (lookups["addresses"].o, addresses.i),
            (addresses.o, addressed.i),
            (addressed.o, retire.i),
            (retire.o_answer, answers.i),
            (answers.o, answered.i),
            (answered.o, flipped(self.o)),
            (retire.o_words, buffer.i),
            (buffer.o, store.i),
            (flipped(self.i_host), store.i_host),
            (store.o_host, flipped(self.o_host)),
            (flipped(self.i_clear), store.i_clear),
            (store.o_clear, flipped(self.o_clear)),
        ):
            wiring.connect(m, source, sink)
        if cfg.resolves:
            for name in RESOLVE_STREAMS:
                wiring.connect(m, flipped(getattr(self, name)), getattr(store, name))
        if outside:
            wiring.connect(m, outside.outside, flipped(self.memory))
        if cfg.filters:
            m.submodules.filter = filter_unit = FilterUnit(cfg)
            m.d.comb += filter_unit.base.eq(self.memory_base)
            wiring.connect(m, retire.o_reads, filter_unit.i)
            m.submodules.filtered = filtered = Queue(filter_result(), 4, early=True)
            wiring.connect(m, filter_unit.o, filtered.i)
            wiring.connect(m, filtered.o, answers.i_filter)
            for n in range(WORDS):
                wiring.connect(m, filter_unit.memory[n], store.reads[n])
                if outside:
                    wiring.connect(m, outside.outside_reads[n], flipped(self.memory_reads[n]))
        m.d.comb += [
            front.memory_base.eq(self.memory_base),
            front.memory_limit.eq(self.memory_limit),
            store.base.eq(self.memory_base),
            store.limit.eq(self.memory_limit),
            front.released_valid.eq(retire.released_valid),
            front.released.eq(retire.released),
            buffer.drain.eq(retire.drain),
            retire.drained.eq(buffer.drained),
            retire.memory_idle.eq(store.idle),
        ]

        waiting = {
            "front": self.i,
            "split": split.i,
            "lod": lod.i,
            "mips": mips.i,
            "taps": taps.i,
            "footprint": footprint.i,
            "router": router.i,
            "slabs": slabs.i,
            "combine": combine.i,
            "addresses": addresses.i,
            "retire": retire.i,
            "buffer": buffer.i,
            "memory": store.i,
            "filter": retire.o_reads,
            "pattern": self.o_pattern,
            "answer": self.o,
        }
        count_events(m, self, waiting, buffer, store)
        return m
